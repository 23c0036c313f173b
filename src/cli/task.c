/* task.c - pawl task: the pool of tasks, and what is done with them. */
#include "base/clock.h"
#include "base/uuid.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

struct task_options {
    const char *status, *project, *owner, *trade, *q, *limit, *reason, *to, *kind, *message;
    bool overdue, attention, all, as_json;
};

/* --- lists --- */

/* ID STATUS PRIO TRADE OWNER DUE TITLE */
static void task_row(struct arena *mem, struct value task, int64_t now_us, struct str *row)
{
    int64_t due_us = tell_time_of(task, "due_at");
    struct buf due;

    buf_init_arena(&due, mem);
    if (due_us > 0) {
        if (due_us >= now_us)
            buf_text(&due, "in ");
        tell_duration(&due, due_us >= now_us ? due_us - now_us : now_us - due_us);
        if (due_us < now_us)
            buf_text(&due, " ago");
    }
    row[0] = list_id_end(client_text(task, "id"));
    row[1] = client_text(task, "status");
    row[2] = str_printf(mem, "%lld", (long long)tell_int_of(task, "priority", 0));
    row[3] = client_text(task, "required_trade");
    row[4] = list_id_end(client_text(task, "assigned_to"));
    row[5] = buf_view(&due);
    row[6] = client_text(task, "title");
}

static int list_tasks(struct client *c, const struct task_options *o, bool is_pool)
{
    static const char *const head[] = {"ID",    "STATUS", "PRIO",  "TRADE",
                                       "OWNER", "DUE",    "TITLE", NULL};
    struct buf path;

    list_begin(c, &path, is_pool ? STR("/tasks/pool") : STR("/tasks"), o->limit, o->all);
    list_filter(&path, "project_id", o->project);
    if (!is_pool) {
        list_filter(&path, "status", o->status);
        list_filter(&path, "assigned_to", o->owner);
        list_filter(&path, "required_trade", o->trade);
        list_filter(&path, "q", o->q);
        list_filter(&path, "overdue", o->overdue ? "true" : NULL);
        list_filter(&path, "needs_attention", o->attention ? "true" : NULL);
    }
    return list_print(c, &(struct list){.path = buf_view(&path),
                                        .all = o->all,
                                        .as_json = o->as_json,
                                        .head = head,
                                        .row = task_row,
                                        .none = is_pool ? "nothing in the pool that you could take"
                                                        : "no tasks"});
}

/* --- one --- */

static void print_lines(struct client *c, struct value task)
{
    for (uint32_t i = 0; i < task.len; i++) {
        const struct value_entry *e = &task.map->entries[i];
        bool is_empty =
            e->value.kind == VALUE_NULL || (e->value.kind == VALUE_LIST && e->value.len == 0);

        if (!is_empty)
            tell_member(&c->mem, value_text(e->key), ": ", e->value);
    }
}

/* The log as a person reads it, the oldest first. */
static void print_log(struct value items)
{
    if (items.len > 0)
        printf("\n");
    for (uint32_t i = items.len; i-- > 0;) {
        struct value row = items.items[i];
        struct buf when;

        buf_init(&when);
        tell_moment(&when, tell_time_of(row, "created_at"));
        printf("%.*s  %.*s -> %.*s  %.*s by %.*s %.*s\n", STR_ARG(buf_view(&when)),
               STR_ARG(client_text(row, "from_status")), STR_ARG(client_text(row, "to_status")),
               STR_ARG(client_text(row, "action")), STR_ARG(client_text(row, "actor_role")),
               STR_ARG(list_id_end(client_text(row, "actor_id"))));
        buf_fini(&when);
    }
}

static int show_task(struct client *c, const char *name, const struct task_options *o)
{
    struct str id, cursor = STR_NONE, path;
    struct reply reply;
    struct value items;

    if (!list_find(c, "task", "pawl task", "/tasks?limit=500", name, &id))
        return EXIT_FAILED;
    path = str_printf(&c->mem, "/tasks/%.*s", STR_ARG(id));
    if (!client_call(c, "GET", path, STR_NONE, &reply))
        return EXIT_FAILED;
    if (o->as_json) {
        printf("%.*s\n", STR_ARG(reply.text));
        return EXIT_OK;
    }
    print_lines(c, reply.json);
    path = str_printf(&c->mem, "/tasks/%.*s/transitions?limit=500", STR_ARG(id));
    if (!client_page(c, path, &cursor, &reply, &items))
        return EXIT_FAILED;
    print_log(items);
    return EXIT_OK;
}

/* --- doing something --- */

static struct str new_event_id(struct arena *mem)
{
    struct uuid_gen gen;
    char *text = arena_alloc(mem, UUID_TEXT_LEN + 1);

    uuid_gen_init(&gen, NULL, NULL);
    uuid_write(uuid_gen_next(&gen, clock_wall_us(&clock_system) / 1000), text);
    return str_from(text, UUID_TEXT_LEN);
}

/* The payload: JSON that was given, with the options laid over it. */
static bool make_payload(struct client *c, const struct task_options *o, const char *json,
                         struct str to, struct buf *out)
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
    if (o->reason != NULL)
        object_text(out, "reason", str_of(o->reason));
    if (to.len > 0)
        object_text(out, "assign_to", to);
    if (o->kind != NULL)
        object_text(out, "kind", str_of(o->kind));
    if (o->message != NULL)
        object_text(out, "message", str_of(o->message));
    buf_char(out, '}');
    return true;
}

static int do_action(struct client *c, const char *action, const char *name, const char *json,
                     const struct task_options *o)
{
    struct str id, to = o->to != NULL ? str_of(o->to) : STR_NONE;
    struct reply reply;
    struct buf payload, body;

    if (!list_find(c, "task", "pawl task", "/tasks?limit=500", name, &id) ||
        !client_call(c, "GET", str_printf(&c->mem, "/tasks/%.*s", STR_ARG(id)), STR_NONE, &reply))
        return EXIT_FAILED;
    buf_init_arena(&payload, &c->mem);
    if (!make_payload(c, o, json, to, &payload))
        return EXIT_FAILED;
    buf_init_arena(&body, &c->mem);
    buf_char(&body, '{');
    object_text(&body, "action", str_of(action));
    object_text(&body, "client_event_id", new_event_id(&c->mem));
    object_int(&body, "expected_row_version", tell_int_of(reply.json, "row_version", 0));
    object_json(&body, "payload", buf_view(&payload));
    buf_char(&body, '}');
    if (!client_call(c, "POST", str_printf(&c->mem, "/tasks/%.*s/transitions", STR_ARG(id)),
                     buf_view(&body), &reply))
        return EXIT_FAILED;
    if (o->as_json) {
        printf("%.*s\n", STR_ARG(reply.text));
    } else {
        struct value task = value_map_get_str(reply.json, STR("task"));
        printf("%.*s is %.*s\n", STR_ARG(client_text(task, "title")),
               STR_ARG(client_text(task, "status")));
    }
    return EXIT_OK;
}

/* EXIT_USAGE when the words make no sense. */
static int run_task(struct client *c, int argc, char **argv, const struct task_options *o)
{
    if (argc == 1 || (argc == 2 && strcmp(argv[1], "ls") == 0))
        return list_tasks(c, o, false);
    if (argc == 2 && strcmp(argv[1], "pool") == 0)
        return list_tasks(c, o, true);
    if (argc == 3 && strcmp(argv[1], "show") == 0)
        return show_task(c, argv[2], o);
    if ((argc == 4 || argc == 5) && strcmp(argv[1], "do") == 0)
        return do_action(c, argv[2], argv[3], argc == 5 ? argv[4] : NULL, o);
    return EXIT_USAGE;
}

int command_task(int argc, char **argv)
{
    struct task_options o = {0};
    const struct option_spec specs[] = {
        {.name = "status", .value = &o.status},
        {.name = "project", .value = &o.project},
        {.name = "owner", .value = &o.owner},
        {.name = "trade", .value = &o.trade},
        {.name = "q", .value = &o.q},
        {.name = "overdue", .flag = &o.overdue},
        {.name = "attention", .flag = &o.attention},
        {.name = "reason", .value = &o.reason},
        {.name = "to", .value = &o.to},
        {.name = "kind", .value = &o.kind},
        {.name = "message", .value = &o.message},
        {.name = "limit", .value = &o.limit},
        {.name = "all", .flag = &o.all},
        {.name = "json", .flag = &o.as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    int status;

    if (!options_read("task", specs, ARRAY_SIZE(specs), &argc, argv))
        return command_usage("task");
    client_open(&c, o.as_json);
    status = run_task(&c, argc, argv, &o);
    client_close(&c);
    return status == EXIT_USAGE ? command_usage("task") : status;
}
