/* act.c - see act.h. */
#include "cli/act.h"

#include "cli/command.h"
#include "cli/where.h"
#include "value/json.h"

#include <stdio.h>

bool act_fits(const struct act *act, int argc)
{
    return argc == (act->where != NULL ? 1 : 2) && (!act->is_dry_run || act->where != NULL);
}

static int act_on_many(struct client *c, const struct act *act, struct str body)
{
    return where_run(
        c, &(struct where){.action = act->action,
                           .done = act->done,
                           .conditions = act->where,
                           .fields = body.len > 2 ? str_slice(body, 1, body.len - 1) : STR_NONE,
                           .is_dry_run = act->is_dry_run,
                           .as_json = act->as_json});
}

int act_run(struct client *c, const struct act *act, char **argv, struct str body)
{
    struct reply reply;
    struct str id;

    if (act->where != NULL)
        return act_on_many(c, act, body);
    if (!client_find(c, argv[1], &id) ||
        !client_call(c, "POST",
                     str_printf(&c->mem, "/executions/%.*s/%s", STR_ARG(id), act->action), body,
                     &reply))
        return EXIT_FAILED;
    if (act->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("%.*s is %s\n", STR_ARG(id), act->begun != NULL ? act->begun : act->done);
    return EXIT_OK;
}

struct str act_reason(struct client *c, const char *reason)
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
