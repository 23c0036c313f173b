/* audit.c - pawl audit: who did what. */
#include "base/uuid.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "cli/term.h"

#include <stdio.h>

/* What it was done to, short: the end of an id is enough for other commands. */
static struct str end_of(struct str target)
{
    struct uuid id;

    return uuid_read(target, &id) ? list_id_end(target) : target;
}

/* AT USER ACTION TARGET DETAILS */
static void fill_row(struct arena *mem, struct value item, int64_t now_us, struct str *row)
{
    struct value details = value_map_get_str(item, STR("details"));
    struct buf at, text;

    (void)now_us;
    buf_init_arena(&at, mem);
    buf_init_arena(&text, mem);
    if (details.kind == VALUE_MAP)
        tell_short(mem, &text, details, term_width());
    tell_moment(&at, tell_time_of(item, "at"));
    row[0] = buf_view(&at);
    row[1] = client_text(value_map_get_str(item, STR("user")), "name");
    row[2] = client_text(item, "action");
    row[3] = end_of(client_text(item, "target"));
    row[4] = buf_view(&text);
}

int command_audit(int argc, char **argv)
{
    static const char *const head[] = {"AT", "USER", "ACTION", "TARGET", "DETAILS", NULL};
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
                                           .head = head,
                                           .row = fill_row,
                                           .none = "nothing of that kind was done"});
    client_close(&c);
    return status;
}
