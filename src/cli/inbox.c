/* inbox.c - pawl inbox: what waits for the user of the token. */
#include "base/clock.h"
#include "base/uuid.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"

#include <stdio.h>

enum { INBOX_COLUMNS = 5, UUID_END = 12 };

/* The end of the execution's id, the step and, from the second on, the visit. */
static struct str item_end(struct str id)
{
    return id.len > UUID_TEXT_LEN ? str_slice(id, UUID_TEXT_LEN - UUID_END, id.len) : id;
}

/* ID TITLE PROCESS WAITS LEFT */
static void print_inbox(struct arena *mem, struct value items, void *context)
{
    static const char *const head[INBOX_COLUMNS] = {"ID", "TITLE", "PROCESS", "WAITS", "LEFT"};
    struct table table = {.columns = INBOX_COLUMNS};
    int64_t now_us = clock_wall_us(&clock_system);

    (void)context;
    for (unsigned i = 0; i < INBOX_COLUMNS; i++)
        table_add(mem, &table, str_of(head[i]));
    for (uint32_t i = 0; i < items.len; i++) {
        struct value item = items.items[i];
        int64_t until_us = tell_time_of(item, "until");
        struct buf age, left;

        buf_init_arena(&age, mem);
        buf_init_arena(&left, mem);
        tell_duration(&age, now_us - tell_time_of(item, "since"));
        if (until_us > 0)
            tell_duration(&left, until_us > now_us ? until_us - now_us : 0);
        table_add(mem, &table, item_end(client_text(item, "id")));
        table_add(mem, &table, client_text(item, "title"));
        table_add(mem, &table, client_text(item, "code"));
        table_add(mem, &table, buf_view(&age));
        table_add(mem, &table, buf_view(&left));
    }
    table_print(&table);
}

int command_inbox(int argc, char **argv)
{
    const char *limit = NULL;
    bool all = false, as_json = false;
    const struct option_spec specs[] = {
        {.name = "limit", .value = &limit},
        {.name = "all", .flag = &all},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct buf path;
    int status;

    if (!options_read("inbox", specs, ARRAY_SIZE(specs), &argc, argv) || argc != 1)
        return command_usage("inbox");
    client_open(&c, as_json);
    list_begin(&c, &path, STR("/inbox"), limit, all);
    status = list_print(&c, &(struct list){.path = buf_view(&path),
                                           .all = all,
                                           .as_json = as_json,
                                           .print = print_inbox,
                                           .none = "nothing waits for you"});
    client_close(&c);
    return status;
}
