/* resume.c - pawl resume: a paused execution goes on. */
#include "cli/act.h"
#include "cli/command.h"
#include "cli/options.h"

int command_resume(int argc, char **argv)
{
    struct act act = {.action = "resume", .done = "going on"};
    const struct option_spec specs[] = {{.name = "where", .value = &act.where},
                                        {.name = "dry-run", .flag = &act.is_dry_run},
                                        {.name = "json", .flag = &act.as_json},
                                        CLIENT_OPTIONS};
    struct client c;
    int status;

    if (!options_read("resume", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) ||
        !act_fits(&act, argc))
        return command_usage("resume");
    client_open(&c);
    status = act_run(&c, &act, argv, STR_NONE);
    client_close(&c);
    return status;
}
