/* record.c - pawl record: look at records and change them by hand. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/tell.h"

#include <stdio.h>

struct record_options {
    const char *where, *order_by, *limit, *version, *input;
    bool all, merge, is_new, as_json;
};

/* /records/OBJECT or /records/OBJECT/ID */
static struct str path_of(struct client *c, const char *object, const char *id)
{
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/records/");
    client_escape(&path, str_of(object));
    if (id != NULL) {
        buf_char(&path, '/');
        client_escape(&path, str_of(id));
    }
    return buf_view(&path);
}

/* --- ls --- */

/* A record as a line: its id and the rest of it. */
static void print_line(struct arena *mem, struct value record)
{
    struct value_entry *rest = ARENA_ARRAY(mem, record.len + 1u, struct value_entry);
    size_t count = 0, duplicate;

    for (uint32_t i = 0; i < record.len; i++)
        if (!str_eq(value_text(record.map->entries[i].key), STR("id")) &&
            !str_eq(value_text(record.map->entries[i].key), STR("version")))
            rest[count++] = record.map->entries[i];
    tell_member(mem, client_text(record, "id"), "  ", value_map_make(mem, rest, count, &duplicate));
}

static void print_page(struct arena *mem, struct value items)
{
    for (uint32_t i = 0; i < items.len; i++)
        print_line(mem, items.items[i]);
}

static int list(struct client *c, const char *object, const struct record_options *o)
{
    struct buf path;

    list_begin(c, &path, path_of(c, object, NULL), o->limit, o->all);
    list_filter(&path, "where", o->where);
    list_filter(&path, "orderBy", o->order_by);
    return list_print(c,
                      &(struct list){.path = buf_view(&path),
                                     .all = o->all,
                                     .as_json = o->as_json,
                                     .print = print_page,
                                     .none = str_printf(&c->mem, "no records of %s", object).ptr});
}

/* --- one record --- */

static int get(struct client *c, const char *object, const char *id)
{
    struct reply reply;

    if (!client_call(c, "GET", path_of(c, object, id), STR_NONE, &reply))
        return EXIT_FAILED;
    printf("%.*s\n", STR_ARG(reply.text));
    return EXIT_OK;
}

/* --version and --new become headers. */
static void set_header(struct client *c, const struct record_options *o)
{
    if (o->is_new)
        c->header = "If-None-Match: *";
    else if (o->version != NULL)
        c->header = str_printf(&c->mem, "If-Match: \"%s\"", o->version).ptr;
}

static int set(struct client *c, const char *object, const char *id, const char *json,
               const struct record_options *o)
{
    struct reply reply;
    struct value v;
    struct str text;

    if (!file_argument_json(&c->mem, "record", json, &text, &v))
        return EXIT_FAILED;
    set_header(c, o);
    if (!client_call(c, o->merge ? "PATCH" : "PUT", path_of(c, object, id), text, &reply))
        return EXIT_FAILED;
    printf("%.*s\n", STR_ARG(reply.text));
    return EXIT_OK;
}

static int erase(struct client *c, const char *object, const char *id,
                 const struct record_options *o)
{
    struct reply reply;

    set_header(c, o);
    if (!client_call(c, "DELETE", path_of(c, object, id), STR_NONE, &reply))
        return EXIT_FAILED;
    if (o->as_json)
        printf("{\"deleted\":true}\n");
    else
        printf("%s %s is deleted\n", object, id);
    return EXIT_OK;
}

/* --- executions that wrote it --- */

/* A line for each version that an execution made. */
static int executions(struct client *c, const char *object, const char *id,
                      const struct record_options *o)
{
    struct buf path;
    struct reply reply;
    struct value items;

    buf_init_arena(&path, &c->mem);
    buf_str(&path, path_of(c, object, id));
    buf_text(&path, "/executions?limit=");
    client_escape(&path, str_of(o->limit != NULL ? o->limit : "20"));
    if (!client_call(c, "GET", buf_view(&path), STR_NONE, &reply))
        return EXIT_FAILED;
    if (o->as_json) {
        printf("%.*s\n", STR_ARG(reply.text));
        return EXIT_OK;
    }
    items = value_map_get_str(reply.json, STR("items"));
    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len; i++) {
        struct value item = items.items[i];
        struct value version = value_map_get_str(item, STR("recordVersion"));
        bool is_undo = str_eq(client_text(item, "stepKind"), STR("rollback"));

        printf("version %lld  %.*s  %.*s  %.*s  %.*s%s  %.*s  %.*s\n", (long long)version.i,
               STR_ARG(client_text(item, "action")), STR_ARG(client_text(item, "executionId")),
               STR_ARG(client_text(item, "code")), STR_ARG(client_text(item, "step")),
               is_undo ? " (rollback)" : "", STR_ARG(client_text(item, "status")),
               STR_ARG(client_text(item, "at")));
    }
    if (items.len == 0)
        printf("no execution has changed %s %s\n", object, id);
    return EXIT_OK;
}

/* --- actions --- */

/* What the card of a record offers: a line for each. */
static int actions(struct client *c, const char *object, const char *id,
                   const struct record_options *o)
{
    struct buf path;
    struct reply reply;
    struct value items;

    buf_init_arena(&path, &c->mem);
    buf_str(&path, path_of(c, object, id));
    buf_text(&path, "/actions");
    if (!client_call(c, "GET", buf_view(&path), STR_NONE, &reply))
        return EXIT_FAILED;
    if (o->as_json) {
        printf("%.*s\n", STR_ARG(reply.text));
        return EXIT_OK;
    }
    items = value_map_get_str(reply.json, STR("items"));
    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len; i++)
        printf("%.*s  %.*s\n", STR_ARG(client_text(items.items[i], "code")),
               STR_ARG(client_text(items.items[i], "label")));
    if (items.len == 0)
        printf("nothing can be started from %s %s\n", object, id);
    return EXIT_OK;
}

static int act(struct client *c, const char *object, const char *id, const char *code,
               const struct record_options *o)
{
    struct buf path, body;
    struct reply reply;
    struct value v;
    struct str text;

    buf_init_arena(&path, &c->mem);
    buf_init_arena(&body, &c->mem);
    buf_str(&path, path_of(c, object, id));
    buf_text(&path, "/actions/");
    client_escape(&path, str_of(code));
    if (o->input != NULL) {
        if (!file_argument_json(&c->mem, "record", o->input, &text, &v))
            return EXIT_FAILED;
        buf_printf(&body, "{\"input\":%.*s}", STR_ARG(text));
    }
    if (!client_call(c, "POST", buf_view(&path), buf_view(&body), &reply))
        return EXIT_FAILED;
    if (o->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("%.*s  %.*s\n", STR_ARG(client_text(reply.json, "id")),
               STR_ARG(client_text(reply.json, "status")));
    return EXIT_OK;
}

/* EXIT_USAGE when the words make no sense. */
static int run(struct client *c, int argc, char **argv, const struct record_options *o)
{
    if (argc == 3 && strcmp(argv[1], "ls") == 0)
        return list(c, argv[2], o);
    if (argc == 4 && strcmp(argv[1], "get") == 0)
        return get(c, argv[2], argv[3]);
    if (argc == 5 && strcmp(argv[1], "set") == 0 && !(o->is_new && o->version != NULL))
        return set(c, argv[2], argv[3], argv[4], o);
    if (argc == 4 && strcmp(argv[1], "rm") == 0)
        return erase(c, argv[2], argv[3], o);
    if (argc == 4 && strcmp(argv[1], "executions") == 0)
        return executions(c, argv[2], argv[3], o);
    if (argc == 4 && strcmp(argv[1], "actions") == 0)
        return actions(c, argv[2], argv[3], o);
    if (argc == 5 && strcmp(argv[1], "do") == 0)
        return act(c, argv[2], argv[3], argv[4], o);
    return EXIT_USAGE;
}

int command_record(int argc, char **argv)
{
    struct record_options o = {0};
    const struct option_spec specs[] = {
        {.name = "where", .value = &o.where}, {.name = "order-by", .value = &o.order_by},
        {.name = "limit", .value = &o.limit}, {.name = "version", .value = &o.version},
        {.name = "input", .value = &o.input}, {.name = "all", .flag = &o.all},
        {.name = "merge", .flag = &o.merge},  {.name = "new", .flag = &o.is_new},
        {.name = "json", .flag = &o.as_json}, CLIENT_OPTIONS,
    };
    struct client c;
    int status;

    if (!options_read("record", specs, ARRAY_SIZE(specs), &argc, argv))
        return command_usage("record");
    client_open(&c, o.as_json);
    status = run(&c, argc, argv, &o);
    client_close(&c);
    return status == EXIT_USAGE ? command_usage("record") : status;
}
