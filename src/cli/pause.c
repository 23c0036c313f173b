/* pause.c - pawl pause: an execution stops where it is. */
#include "cli/act.h"
#include "cli/command.h"
#include "cli/options.h"

int command_pause(int argc, char **argv)
{
    const char *reason = NULL;
    struct act act = {.action = "pause", .done = "paused"};
    const struct option_spec specs[] = {{.name = "reason", .value = &reason},
                                        {.name = "where", .value = &act.where},
                                        {.name = "dry-run", .flag = &act.is_dry_run},
                                        {.name = "json", .flag = &act.as_json},
                                        CLIENT_OPTIONS};
    struct client c;
    int status;

    if (!options_read("pause", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) ||
        !act_fits(&act, argc))
        return command_usage("pause");
    client_open(&c);
    status = act_run(&c, &act, argv, act_reason(&c, reason));
    client_close(&c);
    return status;
}
