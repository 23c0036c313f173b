/* ls.c - pawl ls: the newest executions as a table. */
#include "base/clock.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"

#include <stdio.h>

/* The end of an id is unlike any other's, and enough for other commands. */
enum { ID_SHOWN = 12 };

static void add_filter(struct buf *path, const char *name, const char *value)
{
    if (value == NULL)
        return;
    buf_printf(path, "&%s=", name);
    client_escape(path, str_of(value));
}

static void add_row(struct arena *mem, struct table *t, struct value x, int64_t now_us)
{
    struct str id = client_text(x, "id");
    struct buf age;

    buf_init_arena(&age, mem);
    tell_duration(&age, now_us - tell_time_of(x, "createdAt"));
    buf_text(&age, " ago");
    table_add(mem, t, id.len > ID_SHOWN ? str_slice(id, id.len - ID_SHOWN, id.len) : id);
    table_add(mem, t, client_text(x, "code"));
    table_add(mem, t, client_text(x, "status"));
    table_add(mem, t, client_text(x, "currentStep"));
    table_add(mem, t, client_text(x, "key"));
    table_add(mem, t, buf_view(&age));
}

static void print_table(struct arena *mem, struct value items)
{
    static const char *const head[] = {"ID", "CODE", "STATUS", "STEP", "KEY", "STARTED"};
    int64_t now_us = clock_wall_us(&clock_system);
    struct table t = {.columns = sizeof(head) / sizeof(head[0])};

    for (size_t i = 0; i < t.columns; i++)
        table_add(mem, &t, str_of(head[i]));
    for (uint32_t i = 0; i < items.len; i++)
        add_row(mem, &t, items.items[i], now_us);
    table_print(&t);
}

int command_ls(int argc, char **argv)
{
    const char *status_name = NULL, *code = NULL, *limit = "20", *key = NULL, *query = NULL;
    bool as_json = false;
    const struct option_spec specs[] = {
        {.name = "status", .value = &status_name},
        {.name = "code", .value = &code},
        {.name = "limit", .value = &limit},
        {.name = "key", .value = &key},
        {.name = "q", .value = &query},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct reply reply;
    struct value items;
    struct buf path;
    int status = EXIT_FAILED;

    if (!options_read("ls", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) || argc != 1)
        return command_usage("ls");
    client_open(&c);
    buf_init_arena(&path, &c.mem);
    buf_text(&path, "/executions?limit=");
    client_escape(&path, str_of(limit));
    add_filter(&path, "status", status_name);
    add_filter(&path, "code", code);
    add_filter(&path, "key", key);
    add_filter(&path, "q", query);
    if (client_call(&c, "GET", buf_view(&path), STR_NONE, &reply)) {
        status = EXIT_OK;
        items = value_map_get_str(reply.json, STR("items"));
        if (as_json)
            printf("%.*s\n", STR_ARG(reply.text));
        else if (items.kind == VALUE_LIST && items.len > 0)
            print_table(&c.mem, items);
        else
            printf("no executions; start one with: pawl start CODE\n");
    }
    client_close(&c);
    return status;
}
