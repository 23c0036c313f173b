/* task.c - pawl task: the pool of tasks, and what is done with them. */
#include "base/time/clock.h"
#include "base/uuid.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/options.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

/* --- lists --- */

static const struct list_column task_columns[] = {
    COLUMN("ID", ID, "id"),
    COLUMN("STATUS", TEXT, "status"),
    COLUMN("PRIO", NUMBER, "priority"),
    COLUMN("TRADE", TEXT, "required_trade"),
    COLUMN("OWNER", ID, "assigned_to"),
    COLUMN("DUE", NEAR, "due_at"),
    COLUMN("TITLE", TEXT, "title"),
};

static const struct list task_list = {
    .route = "/tasks",
    .filters = "project=project_id status owner=assigned_to trade=required_trade q overdue "
               "attention=needs_attention",
    LIST_COLUMNS(task_columns),
    .none = "no tasks"};

static const struct list task_pool = {.route = "/tasks/pool",
                                      .filters = "project=project_id",
                                      LIST_COLUMNS(task_columns),
                                      .none = "nothing in the pool that you could take"};

/* --- one --- */

static void task_print_lines(struct client *c, struct value task)
{
    for (uint32_t i = 0; i < task.len; i++) {
        const struct value_entry *e = &task.map->entries[i];
        bool is_empty =
            e->value.kind == VALUE_NULL || (e->value.kind == VALUE_LIST && e->value.len == 0);

        if (!is_empty)
            format_print_member(&c->mem, value_text(e->key), ": ", e->value);
    }
}

/* The log as a person reads it, the oldest first. */
static void print_log(struct arena *mem, struct value items)
{
    if (items.len > 0)
        printf("\n");
    for (uint32_t i = items.len; i-- > 0;) {
        struct value row = items.items[i];
        struct str moment = list_moment(mem, row, "created_at");

        printf("%.*s  %.*s -> %.*s  %.*s by %.*s %.*s\n", STR_ARG(moment),
               STR_ARG(client_text(row, "from_status")), STR_ARG(client_text(row, "to_status")),
               STR_ARG(client_text(row, "action")), STR_ARG(client_text(row, "actor_role")),
               STR_ARG(list_id_end(client_text(row, "actor_id"))));
    }
}

/* The path of the task that a person named, and of what belongs to it. */
static bool task_path(struct client *c, const char *name, struct str *out)
{
    struct str id;

    if (!list_find(c, "task", "pawl task", "/tasks?limit=500", name, &id))
        return false;
    *out = str_printf(&c->mem, "/tasks/%.*s", STR_ARG(id));
    return true;
}

static int task_show(struct client *c, const struct options *o, char **words)
{
    struct str path;
    struct reply reply;
    struct value items;

    (void)o;
    if (!task_path(c, words[0], &path) || !client_call(c, "GET", path, STR_NONE, &reply))
        return EXIT_FAILED;
    if (c->as_json)
        return client_print_json(&reply);
    task_print_lines(c, reply.json);
    path = str_printf(&c->mem, "%.*s/transitions?limit=500", STR_ARG(path));
    if (!client_page(c, path, NULL, &reply, &items))
        return EXIT_FAILED;
    print_log(&c->mem, items);
    return EXIT_OK;
}

/* --- doing something --- */

static struct str new_event_id(struct arena *mem)
{
    struct uuid_gen gen;

    uuid_gen_init(&gen, NULL, NULL);
    return uuid_text(mem, uuid_gen_next(&gen, clock_wall_us(&clock_system) / 1000));
}

/* The payload: JSON that was given, with the options laid over it. */
static bool make_payload(struct client *c, const struct options *o, const char *json,
                         struct buf *out)
{
    struct value v = value_map_empty();
    struct str text;
    struct err err;

    if (json != NULL && !file_argument_json(&c->mem, "task", json, &text, &v))
        return false;
    if (v.kind != VALUE_MAP) {
        client_fail(c, "bad_value", "the payload is a JSON object");
        return false;
    }
    buf_char(out, '{');
    for (uint32_t i = 0; i < v.len; i++) {
        object_name(out, str_copy(&c->mem, value_text(v.map->entries[i].key)).ptr);
        if (!json_write(out, v.map->entries[i].value, &err))
            return false;
    }
    client_add_text(out, "reason", options_get(o, "reason"));
    client_add_text(out, "assign_to", options_get(o, "to"));
    client_add_text(out, "kind", options_get(o, "kind"));
    client_add_text(out, "message", options_get(o, "message"));
    buf_char(out, '}');
    return true;
}

/* words: the action, the task, and its payload or nothing. */
static int task_do(struct client *c, const struct options *o, char **words)
{
    struct buf payload, body;
    struct reply reply;
    struct value task;
    struct str path;

    if (!task_path(c, words[1], &path) || !client_call(c, "GET", path, STR_NONE, &reply))
        return EXIT_FAILED;
    buf_init_arena(&payload, &c->mem);
    if (!make_payload(c, o, words[2], &payload))
        return EXIT_FAILED;
    object_begin(&body, &c->mem);
    client_add_text(&body, "action", words[0]);
    object_text(&body, "client_event_id", new_event_id(&c->mem));
    object_int(&body, "expected_row_version", client_int(reply.json, "row_version", 0));
    object_json(&body, "payload", buf_view(&payload));
    if (!client_call(c, "POST", str_printf(&c->mem, "%.*s/transitions", STR_ARG(path)),
                     object_end(&body), &reply))
        return EXIT_FAILED;
    task = value_map_get_str(reply.json, STR("task"));
    return client_answer(c, &reply, "%.*s is %.*s", STR_ARG(client_text(task, "title")),
                         STR_ARG(client_text(task, "status")));
}

int command_task(struct client *c, const struct options *o)
{
    static const struct cli_verb verbs[] = {{"ls", 0, 0, .list = &task_list},
                                            {"pool", 0, 0, .list = &task_pool},
                                            {"show", 1, 1, .run = task_show},
                                            {"do", 2, 3, .run = task_do}};

    return client_verb(c, o, o->argv + 1, verbs, ARRAY_SIZE(verbs));
}
