/* audit.c - pawl audit: who did what. */
#include "base/uuid.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"
#include "cli/term.h"

#include <stdio.h>

enum { COLUMNS = 4 };

/* What it was done to, short: the end of an id is enough for other commands. */
static struct str end_of(struct str target)
{
    struct uuid id;

    return uuid_read(target, &id) ? list_id_end(target) : target;
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

static void print_table(struct arena *mem, struct value items, void *context)
{
    static const char *const head[] = {"AT", "USER", "ACTION", "TARGET", "DETAILS"};
    struct table t = {.columns = COLUMNS + 1};

    (void)context;
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

int command_audit(int argc, char **argv)
{
    const char *user = NULL, *action = NULL, *target = NULL, *from = NULL, *to = NULL;
    const char *limit = NULL;
    bool all = false, as_json = false;
    const struct option_spec specs[] = {
        {.name = "user", .value = &user},
        {.name = "action", .value = &action},
        {.name = "target", .value = &target},
        {.name = "from", .value = &from},
        {.name = "to", .value = &to},
        {.name = "limit", .value = &limit},
        {.name = "all", .flag = &all},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct buf path;
    int status;

    if (!options_read("audit", specs, ARRAY_SIZE(specs), &argc, argv) || argc != 1)
        return command_usage("audit");
    client_open(&c, as_json);
    list_begin(&c, &path, STR("/audit"), limit, all);
    list_filter(&path, "user", user);
    list_filter(&path, "action", action);
    list_filter(&path, "target", target);
    list_filter(&path, "from", from);
    list_filter(&path, "to", to);
    status = list_print(&c, &(struct list){.path = buf_view(&path),
                                           .all = all,
                                           .as_json = as_json,
                                           .print = print_table,
                                           .none = "nothing of that kind was done"});
    client_close(&c);
    return status;
}
