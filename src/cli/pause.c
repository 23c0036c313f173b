/* pause.c - pawl pause: an execution stops where it is. */
#include "cli/act.h"
#include "cli/command.h"
#include "cli/options.h"
#include "value/json.h"

static struct str make_body(struct client *c, const char *reason)
{
    struct buf body;

    if (reason == NULL)
        return STR_NONE;
    buf_init_arena(&body, &c->mem);
    buf_text(&body, "{\"reason\":");
    json_write_string(&body, str_of(reason));
    buf_char(&body, '}');
    return buf_view(&body);
}

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
    status = act_run(&c, &act, argv, make_body(&c, reason));
    client_close(&c);
    return status;
}
