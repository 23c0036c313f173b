/* version.c - pawl version. */
#include "cli/version.h"

#include "cli/command.h"
#include "cli/options.h"

#include <stdio.h>

int command_version(const struct options *o)
{
    if (o->argc != 1)
        return options_usage(o);
    printf(options_has(o, "json") ? "{\"version\":\"%s\"}\n" : "pawl %s\n", PAWL_VERSION);
    return EXIT_OK;
}
