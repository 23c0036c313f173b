/* cancel.c - pawl cancel: end an execution before it ends by itself. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/where.h"
#include "value/json.h"

#include <stdio.h>

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

int command_cancel(int argc, char **argv)
{
    const char *reason = NULL, *where = NULL;
    bool as_json = false, dry_run = false;
    const struct option_spec specs[] = {
        {.name = "reason", .value = &reason},
        {.name = "where", .value = &where},
        {.name = "dry-run", .flag = &dry_run},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct reply reply;
    struct str id;
    int status = EXIT_FAILED;

    if (!options_read("cancel", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) ||
        argc != (where != NULL ? 1 : 2) || (dry_run && where == NULL))
        return command_usage("cancel");
    client_open(&c);
    if (where != NULL) {
        struct where w = {.action = "cancel", .done = "cancelled", .conditions = where};

        struct str body = make_body(&c, reason);

        w.fields = body.len > 0 ? str_slice(body, 1, body.len - 1) : STR_NONE;
        w.is_dry_run = dry_run;
        w.as_json = as_json;
        status = where_run(&c, &w);
    } else if (client_find(&c, argv[1], &id) &&
               client_call(&c, "POST", str_printf(&c.mem, "/executions/%.*s/cancel", STR_ARG(id)),
                           make_body(&c, reason), &reply)) {
        status = EXIT_OK;
        if (as_json)
            printf("%.*s\n", STR_ARG(reply.text));
        else
            printf("%.*s is being cancelled\n", STR_ARG(id));
    }
    client_close(&c);
    return status;
}
