/* version.c - pawl version. */
#include "cli/version.h"

#include "cli/command.h"
#include "cli/options.h"

#include <stdio.h>

int command_version(int argc, char **argv)
{
    bool as_json = false;
    const struct option_spec specs[] = {{.name = "json", .flag = &as_json}};

    if (!options_read("version", specs, 1, &argc, argv) || argc != 1)
        return command_usage("version");
    printf(as_json ? "{\"version\":\"%s\"}\n" : "pawl %s\n", PAWL_VERSION);
    return EXIT_OK;
}
