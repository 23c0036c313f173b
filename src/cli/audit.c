/* audit.c - pawl audit: who did what. */
#include "base/uuid.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"
#include "cli/term.h"

#include <stdio.h>

enum { COLUMNS = 4, ID_SHOWN = 12 };

static void add_filter(struct buf *path, const char *name, const char *value)
{
    if (value == NULL)
        return;
    buf_printf(path, "&%s=", name);
    client_escape(path, str_of(value));
}

/* What it was done to, short: the end of an id is enough for other commands. */
static struct str end_of(struct str target)
{
    struct uuid id;

    return uuid_read(target, &id) ? str_slice(target, target.len - ID_SHOWN, target.len) : target;
}

/* Everything but the details. */
static void fill_row(struct arena *mem, struct value item, struct str row[COLUMNS])
{
    struct buf at;

    buf_init_arena(&at, mem);
    tell_moment(&at, tell_time_of(item, "at"));
    row[0] = buf_view(&at);
    row[1] = client_text(value_map_get_str(item, STR("user")), "name");
    row[2] = client_text(item, "action");
    row[3] = end_of(client_text(item, "target"));
}

static void print_table(struct arena *mem, struct value items)
{
    static const char *const head[] = {"AT", "USER", "ACTION", "TARGET", "DETAILS"};
    struct table t = {.columns = COLUMNS + 1};

    for (size_t i = 0; i < t.columns; i++)
        table_add(mem, &t, str_of(head[i]));
    for (uint32_t i = 0; i < items.len; i++) {
        struct value details = value_map_get_str(items.items[i], STR("details"));
        struct str row[COLUMNS];
        struct buf text;

        fill_row(mem, items.items[i], row);
        for (size_t k = 0; k < COLUMNS; k++)
            table_add(mem, &t, row[k]);
        buf_init_arena(&text, mem);
        if (details.kind == VALUE_MAP)
            tell_short(mem, &text, details, term_width());
        table_add(mem, &t, buf_view(&text));
    }
    table_print(&t);
}

/* The first page that has something. */
static int list(struct client *c, struct str path, bool as_json)
{
    struct str cursor = STR_NONE;
    struct reply reply;
    struct value items;
    uint64_t shown = 0;

    do {
        if (!client_page(c, path, &cursor, &reply, &items))
            return EXIT_FAILED;
    } while (items.len == 0 && cursor.len > 0);
    if (as_json) {
        client_print_items(c, items, &shown);
        client_print_end(shown, cursor);
    } else if (items.len > 0) {
        print_table(&c->mem, items);
    } else {
        printf("nothing of that kind was done\n");
    }
    return EXIT_OK;
}

int command_audit(int argc, char **argv)
{
    const char *user = NULL, *action = NULL, *target = NULL, *from = NULL, *to = NULL;
    const char *limit = "20";
    bool as_json = false;
    const struct option_spec specs[] = {
        {.name = "user", .value = &user},     {.name = "action", .value = &action},
        {.name = "target", .value = &target}, {.name = "from", .value = &from},
        {.name = "to", .value = &to},         {.name = "limit", .value = &limit},
        {.name = "json", .flag = &as_json},   CLIENT_OPTIONS,
    };
    struct client c;
    struct buf path;
    int status;

    if (!options_read("audit", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) || argc != 1)
        return command_usage("audit");
    client_open(&c, as_json);
    buf_init_arena(&path, &c.mem);
    buf_text(&path, "/audit?limit=");
    client_escape(&path, str_of(limit));
    add_filter(&path, "user", user);
    add_filter(&path, "action", action);
    add_filter(&path, "target", target);
    add_filter(&path, "from", from);
    add_filter(&path, "to", to);
    status = list(&c, buf_view(&path), as_json);
    client_close(&c);
    return status;
}
