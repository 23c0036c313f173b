/* answer.c - pawl answer: answer what waits for the user of the token. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/options.h"
#include "value/object.h"

#include <stdio.h>
#include <string.h>

static bool answer_body(struct client *c, const char *type, const char *payload, struct buf *out)
{
    struct value v;
    struct str text;

    buf_init_arena(out, &c->mem);
    buf_char(out, '{');
    if (type != NULL)
        object_text(out, "type", str_of(type));
    if (payload != NULL) {
        if (!file_argument_json(&c->mem, "payload", payload, &text, &v))
            return false;
        object_json(out, "payload", text);
    }
    buf_char(out, '}');
    return true;
}

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

static void tell_answer(const struct reply *reply)
{
    struct value step = value_map_get_str(reply->json, STR("step"));

    printf("answered: signal %.*s\n", STR_ARG(client_text(reply->json, "id")));
    if (step.kind == VALUE_MAP)
        printf("the step %.*s took it and %.*s\n", STR_ARG(client_text(step, "step")),
               STR_ARG(client_text(step, "status")));
}

int command_answer(int argc, char **argv)
{
    const char *type = NULL, *wait_for = NULL;
    bool wait = false, as_json = false;
    const struct option_spec specs[] = {
        {.name = "type", .value = &type},
        {.name = "wait", .value = &wait_for, .flag = &wait},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct reply reply;
    struct buf body, path;
    struct str id;
    int status = EXIT_FAILED;

    if (!options_read("answer", specs, ARRAY_SIZE(specs), &argc, argv) || argc < 2 || argc > 3)
        return command_usage("answer");
    client_open(&c, as_json);
    buf_init_arena(&path, &c.mem);
    if (answer_body(&c, type, argc > 2 ? argv[2] : NULL, &body) && find_item(&c, argv[1], &id)) {
        buf_text(&path, "/inbox/");
        client_escape(&path, id);
        if (wait) {
            buf_text(&path, "?wait=");
            client_escape(&path, str_of(wait_for != NULL ? wait_for : "10s"));
        }
        if (client_call(&c, "POST", buf_view(&path), buf_view(&body), &reply)) {
            status = EXIT_OK;
            if (as_json)
                printf("%.*s\n", STR_ARG(reply.text));
            else
                tell_answer(&reply);
        }
    }
    client_close(&c);
    return status;
}
