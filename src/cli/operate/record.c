/* record.c - pawl record: look at records and change them by hand. */
#include "cli/command.h"
#include "cli/file.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/options.h"

#include <stdio.h>

/* The path of records of an object, of one of them, or of what belongs to it. */
static struct str record_path(struct client *c, const char *object, const char *id,
                              const char *rest)
{
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/records/");
    url_encode(&path, str_of(object));
    if (id != NULL) {
        buf_char(&path, '/');
        url_encode(&path, str_of(id));
    }
    buf_text(&path, rest);
    return buf_view(&path);
}

/* --- ls --- */

/* A record as a line: its id and the rest of it. */
static void record_print_line(struct arena *mem, struct value record)
{
    struct value_entry *rest = ARENA_ARRAY(mem, record.len + 1u, struct value_entry);
    size_t count = 0, duplicate;

    for (uint32_t i = 0; i < record.len; i++)
        if (!str_eq(value_text(record.map->entries[i].key), STR("id")) &&
            !str_eq(value_text(record.map->entries[i].key), STR("version")))
            rest[count++] = record.map->entries[i];
    format_print_member(mem, client_text(record, "id"), "  ",
                        value_map_make(mem, rest, count, &duplicate));
}

static int record_list_objects(struct client *c, const struct options *o)
{
    static const struct list_column columns[] = {
        COLUMN("OBJECT", TEXT, "object"),
        COLUMN("RECORDS", NUMBER, "count"),
    };

    if (options_has(o, "where") || options_has(o, "order-by"))
        return options_usage(o);
    return list_print(
        c, o,
        &(struct list){.route = "/records", LIST_COLUMNS(columns), .none = "there are no records"});
}

static int record_list(struct client *c, const struct options *o, char **words)
{
    if (words[0] == NULL)
        return record_list_objects(c, o);
    return list_print(
        c, o,
        &(struct list){.route = str_copy(&c->mem, record_path(c, words[0], NULL, "")).ptr,
                       .filters = "where order-by=orderBy",
                       .print = record_print_line,
                       .none = str_printf(&c->mem, "no records of %s", words[0]).ptr});
}

/* --- one record --- */

static int record_get(struct client *c, const struct options *o, char **words)
{
    struct reply reply;

    (void)o;
    if (!client_call(c, "GET", record_path(c, words[0], words[1], ""), STR_NONE, &reply))
        return EXIT_FAILED;
    return client_print_json(&reply);
}

/* --version and --new become headers. */
static void set_header(struct client *c, const struct options *o)
{
    if (options_has(o, "new"))
        c->header = "If-None-Match: *";
    else if (options_has(o, "version"))
        c->header = str_printf(&c->mem, "If-Match: \"%s\"", options_get(o, "version")).ptr;
}

static int record_set(struct client *c, const struct options *o, char **words)
{
    struct reply reply;
    struct value v;
    struct str text;

    if (options_has(o, "new") && options_has(o, "version"))
        return options_usage(o);
    if (!file_argument_json(&c->mem, "record", words[2], &text, &v))
        return EXIT_FAILED;
    set_header(c, o);
    if (!client_call(c, options_has(o, "merge") ? "PATCH" : "PUT",
                     record_path(c, words[0], words[1], ""), text, &reply))
        return EXIT_FAILED;
    return client_print_json(&reply);
}

static int record_erase(struct client *c, const struct options *o, char **words)
{
    struct reply reply;

    set_header(c, o);
    if (!client_call(c, "DELETE", record_path(c, words[0], words[1], ""), STR_NONE, &reply))
        return EXIT_FAILED;
    reply.text = STR("{\"deleted\":true}");
    return client_answer(c, &reply, "%s %s is deleted", words[0], words[1]);
}

/* --- executions that wrote it --- */

/* A line for each version that an execution made. */
static int record_executions(struct client *c, const struct options *o, char **words)
{
    const char *limit = options_get(o, "limit");
    struct reply reply;
    struct value items;
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_str(&path, record_path(c, words[0], words[1], "/executions?limit="));
    url_encode(&path, str_of(limit != NULL ? limit : "20"));
    if (!client_page(c, buf_view(&path), NULL, &reply, &items))
        return EXIT_FAILED;
    if (c->as_json || items.len == 0)
        return client_answer(c, &reply, "no execution has changed %s %s", words[0], words[1]);
    for (uint32_t i = 0; i < items.len; i++) {
        struct value item = items.items[i];
        bool is_undo = str_eq(client_text(item, "stepKind"), STR("rollback"));

        printf("version %lld  %.*s  %.*s  %.*s  %.*s%s  %.*s  %.*s\n",
               (long long)client_int(item, "recordVersion", 0),
               STR_ARG(client_text(item, "action")), STR_ARG(client_text(item, "executionId")),
               STR_ARG(client_text(item, "code")), STR_ARG(client_text(item, "step")),
               is_undo ? " (rollback)" : "", STR_ARG(client_text(item, "status")),
               STR_ARG(client_text(item, "at")));
    }
    return EXIT_OK;
}

/* --- actions --- */

/* What the card of a record offers: a line for each. */
static int record_actions(struct client *c, const struct options *o, char **words)
{
    struct reply reply;
    struct value items;

    (void)o;
    if (!client_page(c, record_path(c, words[0], words[1], "/actions"), NULL, &reply, &items))
        return EXIT_FAILED;
    if (c->as_json || items.len == 0)
        return client_answer(c, &reply, "nothing can be started from %s %s", words[0], words[1]);
    for (uint32_t i = 0; i < items.len; i++)
        printf("%.*s  %.*s\n", STR_ARG(client_text(items.items[i], "code")),
               STR_ARG(client_text(items.items[i], "label")));
    return EXIT_OK;
}

static int record_act(struct client *c, const struct options *o, char **words)
{
    struct buf path, body;
    struct reply reply;

    buf_init_arena(&path, &c->mem);
    buf_init_arena(&body, &c->mem);
    buf_str(&path, record_path(c, words[0], words[1], "/actions/"));
    url_encode(&path, str_of(words[2]));
    if (options_has(o, "input")) {
        buf_char(&body, '{');
        if (!client_add_json(c, &body, "input", "record", options_get(o, "input")))
            return EXIT_FAILED;
        buf_char(&body, '}');
    }
    if (!client_call(c, "POST", buf_view(&path), buf_view(&body), &reply))
        return EXIT_FAILED;
    return client_answer(c, &reply, "%.*s  %.*s", STR_ARG(client_text(reply.json, "id")),
                         STR_ARG(client_text(reply.json, "status")));
}

int command_record(struct client *c, const struct options *o)
{
    static const struct cli_verb verbs[] = {
        {"ls", 0, 1, .run = record_list},
        {"get", 2, 2, .run = record_get},
        {"set", 3, 3, .run = record_set},
        {"rm", 2, 2, .run = record_erase},
        {"executions", 2, 2, .run = record_executions},
        {"actions", 2, 2, .run = record_actions},
        {"do", 3, 3, .run = record_act},
    };

    return client_verb(c, o, o->argv + 1, verbs, ARRAY_SIZE(verbs));
}
