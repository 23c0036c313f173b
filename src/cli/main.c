/* main.c - finds the command that was asked for and runs it. */
#include "cli/command.h"

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

int main(int argc, char **argv)
{
    const struct cli_command *c;
    int status;

    if (argc < 2) {
        (void)command_help(1, argv);
        return EXIT_USAGE;
    }
    c = command_find(command_name(argv[1]));
    if (c == NULL)
        return EXIT_USAGE;
    status = c->run(argc - 1, argv + 1);
    /* Output that did not arrive (a full disk, a closed pipe) is a failure too. */
    if (fflush(stdout) != 0 || ferror(stdout))
        return status == EXIT_OK ? EXIT_FAILED : status;
    return status;
}
