/* inbox.c - pawl inbox, pawl answer, pawl assign: what waits for people. */
#include "base/clock.h"
#include "base/uuid.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

enum { INBOX_COLUMNS = 5, UUID_END = 12 };

/* --- inbox --- */

/* The end of the execution's id, the step and, from the second on, the visit. */
static struct str item_end(struct str id)
{
    return id.len > UUID_TEXT_LEN ? str_slice(id, UUID_TEXT_LEN - UUID_END, id.len) : id;
}

/* ID TITLE PROCESS WAITS LEFT */
static void print_inbox(struct arena *mem, struct value items, void *context)
{
    static const char *const head[INBOX_COLUMNS] = {"ID", "TITLE", "PROCESS", "WAITS", "LEFT"};
    struct table table = {.columns = INBOX_COLUMNS};
    int64_t now_us = clock_wall_us(&clock_system);

    (void)context;
    for (unsigned i = 0; i < INBOX_COLUMNS; i++)
        table_add(mem, &table, str_of(head[i]));
    for (uint32_t i = 0; i < items.len; i++) {
        struct value item = items.items[i];
        int64_t until_us = tell_time_of(item, "until");
        struct buf age, left;

        buf_init_arena(&age, mem);
        buf_init_arena(&left, mem);
        tell_duration(&age, now_us - tell_time_of(item, "since"));
        if (until_us > 0)
            tell_duration(&left, until_us > now_us ? until_us - now_us : 0);
        table_add(mem, &table, item_end(client_text(item, "id")));
        table_add(mem, &table, client_text(item, "title"));
        table_add(mem, &table, client_text(item, "code"));
        table_add(mem, &table, buf_view(&age));
        table_add(mem, &table, buf_view(&left));
    }
    table_print(&table);
}

int command_inbox(int argc, char **argv)
{
    const char *limit = NULL;
    bool all = false, as_json = false;
    const struct option_spec specs[] = {
        {.name = "limit", .value = &limit},
        {.name = "all", .flag = &all},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct buf path;
    int status;

    if (!options_read("inbox", specs, ARRAY_SIZE(specs), &argc, argv) || argc != 1)
        return command_usage("inbox");
    client_open(&c, as_json);
    buf_init_arena(&path, &c.mem);
    buf_text(&path, "/inbox?limit=");
    client_escape(&path, str_of(limit != NULL ? limit : all ? "500" : "20"));
    status = list_print(&c, &(struct list){.path = buf_view(&path),
                                           .all = all,
                                           .as_json = as_json,
                                           .print = print_inbox,
                                           .none = "nothing waits for you"});
    client_close(&c);
    return status;
}

/* --- answer --- */

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
    if (answer_body(&c, type, argc > 2 ? argv[2] : NULL, &body) &&
        list_find(&c, "item", "pawl inbox", "/inbox?limit=500", argv[1], &id)) {
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

/* --- assign --- */

int command_assign(int argc, char **argv)
{
    const char *step = NULL, *visit = NULL;
    bool as_json = false;
    int64_t visit_number = 0;
    const struct option_spec specs[] = {
        {.name = "step", .value = &step},
        {.name = "visit", .value = &visit},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct reply reply;
    struct buf body;
    struct str id;
    int status = EXIT_FAILED;

    if (!options_read("assign", specs, ARRAY_SIZE(specs), &argc, argv) || argc < 3 ||
        !options_number("assign", "visit", visit, &visit_number))
        return command_usage("assign");
    client_open(&c, as_json);
    buf_init_arena(&body, &c.mem);
    buf_char(&body, '{');
    if (step != NULL)
        object_text(&body, "step", str_of(step));
    if (visit != NULL)
        object_int(&body, "visit", visit_number);
    object_name(&body, "assignee");
    buf_char(&body, '[');
    for (int i = 2; i < argc; i++) {
        object_next(&body);
        json_write_string(&body, str_of(argv[i]));
    }
    buf_text(&body, "]}");
    if (client_find(&c, argv[1], &id) &&
        client_call(&c, "POST", str_printf(&c.mem, "/executions/%.*s/assign", STR_ARG(id)),
                    buf_view(&body), &reply)) {
        status = EXIT_OK;
        if (as_json)
            printf("%.*s\n", STR_ARG(reply.text));
        else
            printf("%.*s is assigned to %s%s\n", STR_ARG(id), argv[2],
                   argc > 3 ? " and others" : "");
    }
    client_close(&c);
    return status;
}
