/* answer.c - pawl answer: answer what waits for the user of the token. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "value/object.h"

#include <string.h>

/* Whether an item of the inbox is the one that a person named by its id, or by its execution's. */
static bool is_named(struct value item, struct str end)
{
    return str_ends_with(client_text(item, "id"), end) ||
           str_ends_with(client_text(item, "executionId"), end);
}

/*
 * The item of the inbox that `name` means: its id or that of its execution, an
 * end of either, @last or key:K.
 */
static bool find_item(struct client *c, const char *name, struct str *out)
{
    struct str cursor = STR_NONE, end = str_of(name);
    struct reply reply;
    struct value items;
    unsigned found = 0;

    if ((strcmp(name, "@last") == 0 || strncmp(name, "key:", 4) == 0) &&
        !client_find(c, name, &end))
        return false;
    do {
        if (!client_page(c, STR("/inbox?limit=500"), &cursor, &reply, &items))
            return false;
        for (uint32_t i = 0; i < items.len; i++)
            if (is_named(items.items[i], end)) {
                *out = client_text(items.items[i], "id");
                found++;
            }
    } while (cursor.len > 0);
    if (found == 1)
        return true;
    if (found == 0)
        client_fail(c, "not_found", "nothing of %s waits for you; pawl inbox lists what does",
                    name);
    else
        client_fail(c, "invalid", "%u items of your inbox are meant by %s; give the id of one",
                    found, name);
    return false;
}

int command_answer(struct client *c, const struct options *o)
{
    struct buf body, path, answer;
    struct reply reply;
    struct value step;
    struct str id;

    if (o->argc < 2 || o->argc > 3)
        return options_usage(o);
    object_begin(&body, &c->mem);
    client_add_text(&body, "type", options_get(o, "type"));
    if (!client_add_json(c, &body, "payload", "payload", o->argv[2]) ||
        !find_item(c, o->argv[1], &id))
        return EXIT_FAILED;
    buf_char(&body, '}');
    buf_init_arena(&path, &c->mem);
    buf_str(&path, client_path(c, "/inbox/", id, ""));
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
