/* main.c - finds the command that was asked for and runs it. */
#include "cli/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The habits of other programs: pawl --help, pawl -h, pawl --version. */
static const char *command_name(const char *arg)
{
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0)
        return "help";
    if (strcmp(arg, "--version") == 0)
        return "version";
    return arg;
}

/* pawl show --help is pawl help show. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    const struct cli_command *c;
    int status;

    if (argc < 2) {
        (void)command_execute(command_named("help"), 1, (char *[]){argv[0], NULL});
        return EXIT_USAGE;
    }
    c = command_find(command_name(argv[1]));
    if (c == NULL)
        return EXIT_USAGE;
    if (asks_for_help(argc, argv))
        status = command_execute(command_named("help"), 2, (char *[]){argv[0], argv[1], NULL});
    else
        status = command_execute(c, argc - 1, argv + 1);
    /* Output that did not arrive (a full disk, a closed pipe) is a failure too. */
    if (fflush(stdout) != 0 || ferror(stdout))
        return status == EXIT_OK ? EXIT_FAILED : status;
    return status;
}
