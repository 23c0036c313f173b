/* ls.c - pawl ls: the newest executions as a table. */
#include "base/clock.h"
#include "base/utf8.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/tell.h"

#include <stdio.h>

/* The end of an id is unlike any other's, and enough for other commands. */
enum { ID_SHOWN = 12, COLUMNS = 6, COLUMN_MAX = 40 };

static void add_filter(struct buf *path, const char *name, const char *value)
{
    if (value == NULL)
        return;
    buf_printf(path, "&%s=", name);
    client_escape(path, str_of(value));
}

/* One row of the table: ID CODE STATUS STEP KEY STARTED. */
static void fill_row(struct arena *mem, struct value x, int64_t now_us, struct str row[COLUMNS])
{
    struct str id = client_text(x, "id");
    struct buf age;

    buf_init_arena(&age, mem);
    tell_duration(&age, now_us - tell_time_of(x, "createdAt"));
    buf_text(&age, " ago");
    row[0] = id.len > ID_SHOWN ? str_slice(id, id.len - ID_SHOWN, id.len) : id;
    row[1] = client_text(x, "code");
    row[2] = client_text(x, "status");
    row[3] = client_text(x, "currentStep");
    row[4] = client_text(x, "key");
    row[5] = buf_view(&age);
}

static void print_row(struct str row[COLUMNS], const size_t widths[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        struct str text = row[i].len > 0 ? row[i] : STR("-");
        size_t width = utf8_count(text);
        if (width > COLUMN_MAX) {
            text = str_slice(text, 0, utf8_offset(text, COLUMN_MAX));
            width = COLUMN_MAX;
        }
        printf("%.*s%*s", STR_ARG(text), i + 1 < COLUMNS ? (int)(widths[i] - width) + 2 : 0, "");
    }
    putchar('\n');
}

static void print_table(struct arena *mem, struct value items)
{
    struct str head[COLUMNS] = {STR("ID"),   STR("CODE"), STR("STATUS"),
                                STR("STEP"), STR("KEY"),  STR("STARTED")};
    struct str(*rows)[COLUMNS] = arena_array(mem, items.len + 1, sizeof(*rows));
    int64_t now_us = clock_wall_us(&clock_system);
    size_t widths[COLUMNS] = {0};

    memcpy(rows[0], head, sizeof(head));
    for (uint32_t i = 0; i < items.len; i++)
        fill_row(mem, items.items[i], now_us, rows[i + 1]);
    for (uint32_t i = 0; i <= items.len; i++)
        for (int k = 0; k < COLUMNS; k++) {
            size_t width = utf8_count(rows[i][k]);
            if (width > COLUMN_MAX)
                width = COLUMN_MAX;
            if (width > widths[k])
                widths[k] = width;
        }
    for (uint32_t i = 0; i <= items.len; i++)
        print_row(rows[i], widths);
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
