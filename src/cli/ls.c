/* ls.c - pawl ls: the newest executions as a table. */
#include "base/clock.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"

#include <stdio.h>

/* The end of an id is unlike any other's, and enough for other commands. */
enum { ID_SHOWN = 12, COLUMNS = 6 };

static void add_filter(struct buf *path, const char *name, const char *value)
{
    if (value == NULL)
        return;
    buf_printf(path, "&%s=", name);
    client_escape(path, str_of(value));
}

/* One row of the table: ID CODE STATUS STEP KEY STARTED. */
static void fill_row(struct arena *mem, struct value x, int64_t now_us, struct str *row)
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

static void print_table(struct arena *mem, struct value items, struct table *table)
{
    struct str *cells = ARENA_ARRAY(mem, items.len * (size_t)COLUMNS + 1, struct str);
    int64_t now_us = clock_wall_us(&clock_system);

    for (uint32_t i = 0; i < items.len; i++)
        fill_row(mem, items.items[i], now_us, cells + i * (size_t)COLUMNS);
    table_print(table, cells, items.len);
}

/* One page after the other. */
static int list(struct client *c, struct str query, bool all, bool as_json)
{
    const struct str head[COLUMNS] = {STR("ID"),   STR("CODE"), STR("STATUS"),
                                      STR("STEP"), STR("KEY"),  STR("STARTED")};
    struct table table = {.head = head, .columns = COLUMNS};
    struct str cursor = STR_NONE;
    uint64_t shown = 0;

    do {
        struct value items;
        struct reply reply;
        struct str path = str_printf(&c->mem, "/executions?%.*s%s%.*s", STR_ARG(query),
                                     cursor.len > 0 ? "&cursor=" : "", STR_ARG(cursor));

        if (!client_call(c, "GET", path, STR_NONE, &reply))
            return EXIT_FAILED;
        items = value_map_get_str(reply.json, STR("items"));
        if (items.kind != VALUE_LIST)
            return EXIT_FAILED;
        cursor = client_text(reply.json, "nextCursor");
        if (as_json && !all)
            printf("%.*s\n", STR_ARG(reply.text));
        for (uint32_t i = 0; as_json && all && i < items.len; i++)
            printf("%s%.*s", shown + i == 0 ? "{\"items\":[" : ",",
                   STR_ARG(client_json(&c->mem, items.items[i])));
        if (!as_json && items.len > 0)
            print_table(&c->mem, items, &table);
        shown += items.len;
    } while (cursor.len > 0 && (all || shown == 0));
    if (as_json && all)
        printf("%s],\"nextCursor\":null}\n", shown == 0 ? "{\"items\":[" : "");
    else if (!as_json && shown == 0)
        printf("no executions; start one with: pawl start CODE\n");
    else if (!as_json && cursor.len > 0) {
        (void)fflush(stdout);
        fprintf(stderr, "there are more: --all lists them, --limit sets how many\n");
    }
    return EXIT_OK;
}

int command_ls(int argc, char **argv)
{
    const char *limit = NULL;
    const char *filters[8] = {0};
    static const char *const names[] = {"status", "code", "key", "step", "kind", "from", "to", "q"};
    bool as_json = false, all = false;
    struct option_spec specs[11];
    struct client c;
    struct buf query;
    int status;

    for (size_t i = 0; i < 8; i++)
        specs[i] = (struct option_spec){.name = names[i], .value = &filters[i]};
    specs[8] = (struct option_spec){.name = "limit", .value = &limit};
    specs[9] = (struct option_spec){.name = "all", .flag = &all};
    specs[10] = (struct option_spec){.name = "json", .flag = &as_json};
    if (!options_read("ls", specs, 11, &argc, argv) || argc != 1)
        return command_usage("ls");
    client_open(&c);
    buf_init_arena(&query, &c.mem);
    buf_text(&query, "limit=");
    client_escape(&query, str_of(limit != NULL ? limit : all ? "500" : "20"));
    for (size_t i = 0; i < 8; i++)
        add_filter(&query, names[i], filters[i]);
    status = list(&c, buf_view(&query), all, as_json);
    client_close(&c);
    return status;
}
