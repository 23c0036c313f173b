/* help.c - pawl help: what the program can do. */
#include "cli/command.h"

#include <stdio.h>

int command_help(int argc, char **argv)
{
    const struct cli_command *c;

    if (argc > 2)
        return command_usage("help");
    if (argc == 2) {
        c = command_find(argv[1]);
        if (c == NULL)
            return EXIT_USAGE;
        printf("pawl %s - %s\n\nusage: pawl %s%s", c->name, c->summary, c->name, c->usage);
        return EXIT_OK;
    }
    printf("pawl - runs business processes that must not get lost\n\nusage: pawl COMMAND ...\n\n");
    for (size_t i = 0; i < command_count; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    printf("\n`pawl help COMMAND` explains one. Those that talk to a server take --url URL "
           "(PAWL_URL),\n"
           "--token TOKEN (PAWL_TOKEN) and --ca FILE (PAWL_CA).\n");
    return EXIT_OK;
}
