/* inbox.c - pawl inbox: what waits for the user of the token. */
#include "base/uuid.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/tell.h"

#include <stdio.h>

enum { UUID_END = 12 };

/* The end of the execution's id, the step and, from the second on, the visit. */
static struct str item_end(struct str id)
{
    return id.len > UUID_TEXT_LEN ? str_slice(id, UUID_TEXT_LEN - UUID_END, id.len) : id;
}

/* ID TITLE PROCESS WAITS LEFT */
static void inbox_row(struct arena *mem, struct value item, int64_t now_us, struct str *row)
{
    int64_t until_us = tell_time_of(item, "until");
    struct buf age, left;

    buf_init_arena(&age, mem);
    buf_init_arena(&left, mem);
    tell_duration(&age, now_us - tell_time_of(item, "since"));
    if (until_us > 0)
        tell_duration(&left, until_us > now_us ? until_us - now_us : 0);
    row[0] = item_end(client_text(item, "id"));
    row[1] = client_text(item, "title");
    row[2] = client_text(item, "code");
    row[3] = buf_view(&age);
    row[4] = buf_view(&left);
}

int command_inbox(int argc, char **argv)
{
    static const char *const head[] = {"ID", "TITLE", "PROCESS", "WAITS", "LEFT", NULL};
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
                                           .head = head,
                                           .row = inbox_row,
                                           .none = "nothing waits for you"});
    client_close(&c);
    return status;
}
