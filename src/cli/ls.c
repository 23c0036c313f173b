/* ls.c - pawl ls: the newest executions as a table. */
#include "base/clock.h"
#include "base/utf8.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "cli/term.h"

#include <stdio.h>

/* The end of an id is unlike any other's, and enough for other commands. */
enum { ID_SHOWN = 12, COLUMNS = 6, COLUMN_MIN = 8, COLUMN_MAX = 40 };

static void add_filter(struct buf *path, const char *name, const char *value)
{
    if (value == NULL)
        return;
    buf_printf(path, "&%s=", name);
    client_escape(path, str_of(value));
}

/* "failed: no_luck", "waiting: held" */
static struct str status_text(struct arena *mem, struct value x)
{
    struct str status = client_text(x, "status");
    struct value error = value_map_get_str(x, STR("error"));
    struct value wait = value_map_get_str(x, STR("waitingFor"));

    if (wait.kind == VALUE_MAP && str_eq(client_text(wait, "kind"), STR("incident")))
        return str_printf(mem, "%.*s: held", STR_ARG(status));
    if (error.kind == VALUE_MAP && client_text(error, "code").len > 0)
        return str_printf(mem, "%.*s: %.*s", STR_ARG(status), STR_ARG(client_text(error, "code")));
    return status;
}

/* Columns of what people name get narrower until the table fits. */
static void fit_widths(size_t widths[COLUMNS])
{
    size_t all = 2 * (COLUMNS - 1);

    for (int i = 0; i < COLUMNS; i++)
        all += widths[i];
    for (size_t width = term_width(); all > width; all--) {
        int widest = 1;

        for (int i = 1; i < COLUMNS - 1; i++)
            if (widths[i] > widths[widest])
                widest = i;
        if (widths[widest] <= COLUMN_MIN)
            return;
        widths[widest]--;
    }
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
    row[2] = status_text(mem, x);
    row[3] = client_text(x, "currentStep");
    row[4] = client_text(x, "key");
    row[5] = buf_view(&age);
}

static void print_row(struct str row[COLUMNS], const size_t widths[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        struct str text = row[i].len > 0 ? row[i] : STR("-");
        size_t width = utf8_count(text);
        if (width > widths[i] && widths[i] > 0) {
            text = str_slice(text, 0, utf8_offset(text, widths[i]));
            width = widths[i];
        }
        printf("%.*s%*s", STR_ARG(text),
               i + 1 < COLUMNS ? (int)(widths[i] > width ? widths[i] - width : 0) + 2 : 0, "");
    }
    putchar('\n');
}

/* The widths are those of the first page, and what is longer is cut. */
static void print_table(struct arena *mem, struct value items, size_t widths[COLUMNS])
{
    struct str head[COLUMNS] = {STR("ID"),   STR("CODE"), STR("STATUS"),
                                STR("STEP"), STR("KEY"),  STR("STARTED")};
    struct str(*rows)[COLUMNS] = arena_array(mem, items.len + 1, sizeof(*rows));
    int64_t now_us = clock_wall_us(&clock_system);
    bool is_first = widths[0] == 0;

    memcpy(rows[0], head, sizeof(head));
    for (uint32_t i = 0; i < items.len; i++)
        fill_row(mem, items.items[i], now_us, rows[i + 1]);
    for (uint32_t i = 0; i <= items.len; i++)
        for (int k = 0; k < COLUMNS; k++) {
            size_t width = utf8_count(rows[i][k]);
            if (width > COLUMN_MAX)
                width = COLUMN_MAX;
            if (width > widths[k] && is_first)
                widths[k] = width;
        }
    if (is_first)
        fit_widths(widths);
    for (uint32_t i = is_first ? 0 : 1; i <= items.len; i++)
        print_row(rows[i], widths);
}

/* One page after the other. */
static int list(struct client *c, struct str path, bool is_filtered, bool all, bool as_json)
{
    size_t widths[COLUMNS] = {0};
    struct str cursor = STR_NONE;
    uint64_t shown = 0;

    do {
        struct value items;
        struct reply reply;

        if (!client_page(c, path, &cursor, &reply, &items))
            return EXIT_FAILED;
        if (as_json) {
            client_print_items(c, items, &shown);
            continue;
        }
        if (items.len > 0)
            print_table(&c->mem, items, widths);
        shown += items.len;
    } while (cursor.len > 0 && (all || shown == 0));
    if (as_json)
        client_print_end(shown, cursor);
    else if (shown == 0)
        printf(is_filtered ? "no execution matches\n"
                           : "no executions; start one with: pawl start CODE\n");
    else if (cursor.len > 0) {
        (void)fflush(stdout);
        fprintf(stderr, "there are more: --all lists them, --limit sets how many\n");
    }
    return EXIT_OK;
}

int command_ls(int argc, char **argv)
{
    const char *limit = NULL;
    const char *filters[8] = {0};
    bool as_json = false, all = false, is_filtered = false;
    /* The first are conditions, and parameters of the same name. */
    const struct option_spec specs[] = {
        {.name = "status", .value = &filters[0]}, {.name = "code", .value = &filters[1]},
        {.name = "key", .value = &filters[2]},    {.name = "step", .value = &filters[3]},
        {.name = "kind", .value = &filters[4]},   {.name = "from", .value = &filters[5]},
        {.name = "to", .value = &filters[6]},     {.name = "q", .value = &filters[7]},
        {.name = "limit", .value = &limit},       {.name = "all", .flag = &all},
        {.name = "json", .flag = &as_json},       CLIENT_OPTIONS,
    };
    struct client c;
    struct buf path;
    int status;

    if (!options_read("ls", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) || argc != 1)
        return command_usage("ls");
    client_open(&c, as_json);
    buf_init_arena(&path, &c.mem);
    buf_text(&path, "/executions?limit=");
    client_escape(&path, str_of(limit != NULL ? limit : all ? "500" : "20"));
    for (size_t i = 0; i < 8; i++) {
        add_filter(&path, specs[i].name, filters[i]);
        is_filtered |= filters[i] != NULL;
    }
    status = list(&c, buf_view(&path), is_filtered, all, as_json);
    client_close(&c);
    return status;
}
