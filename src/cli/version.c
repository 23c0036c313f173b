/* version.c - pawl version. */
#include "cli/version.h"

#include "cli/command.h"

#include <stdio.h>

int command_version(int argc, char **argv)
{
    (void)argv;
    if (argc != 1)
        return command_usage("version");
    printf("pawl %s\n", PAWL_VERSION);
    return EXIT_OK;
}
