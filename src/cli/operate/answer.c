/* answer.c - pawl answer: answer what waits for the user of the token. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/operate/inbox.h"
#include "cli/options.h"
#include "value/object.h"

int command_answer(struct client *c, const struct options *o)
{
    struct buf body, path, answer;
    struct reply reply;
    struct value step, item;

    if (o->argc < 2 || o->argc > 3)
        return options_usage(o);
    object_begin(&body, &c->mem);
    client_add_text(&body, "type", options_get(o, "type"));
    if (!client_add_json(c, &body, "payload", "payload", o->argv[2]) ||
        !inbox_find(c, o->argv[1], &item))
        return EXIT_FAILED;
    buf_char(&body, '}');
    buf_init_arena(&path, &c->mem);
    buf_str(&path, client_path(c, "/inbox/", client_text(item, "id"), ""));
    client_add_wait(&path, o);
    if (!client_call(c, "POST", buf_view(&path), buf_view(&body), &reply))
        return EXIT_FAILED;
    buf_init_arena(&answer, &c->mem);
    buf_printf(&answer, "answered: signal %.*s", STR_ARG(client_text(reply.json, "id")));
    step = value_map_get_str(reply.json, STR("step"));
    if (step.kind == VALUE_MAP)
        buf_printf(&answer, "\nthe step %.*s took it and %.*s", STR_ARG(client_text(step, "step")),
                   STR_ARG(client_text(step, "status")));
    return client_answer(c, &reply, "%.*s", STR_ARG(buf_view(&answer)));
}
