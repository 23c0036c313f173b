/* inbox.c - pawl inbox: what waits for the user of the token. */
#include "base/uuid.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"

enum { UUID_END = 12 };

/* The end of the execution's id, the step and, from the second on, the visit. */
static struct str item_end(struct arena *mem, struct value item)
{
    struct str id = client_text(item, "id");

    (void)mem;
    return id.len > UUID_TEXT_LEN ? str_slice(id, UUID_TEXT_LEN - UUID_END, id.len) : id;
}

int command_inbox(struct client *c, const struct options *o)
{
    static const struct list_column columns[] = {
        {"ID", .make = item_end},        COLUMN("TITLE", TEXT, "title"),
        COLUMN("PROCESS", TEXT, "code"), COLUMN("WAITS", AGE, "since"),
        COLUMN("LEFT", LEFT, "until"),
    };

    if (o->argc != 1)
        return options_usage(o);
    return list_print(
        c, o,
        &(struct list){.route = "/inbox", LIST_COLUMNS(columns), .none = "nothing waits for you"});
}
