/* audit.c - pawl audit: who did what. */
#include "base/uuid.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/term.h"

/* What it was done to, short: the end of an id is enough for other commands. */
static struct str audit_target(struct arena *mem, struct value item)
{
    struct str target = client_text(item, "target");
    struct uuid id;

    (void)mem;
    return uuid_read(target, &id) ? list_id_end(target) : target;
}

static struct str audit_details(struct arena *mem, struct value item)
{
    struct value details = value_map_get_str(item, STR("details"));
    struct buf text;

    buf_init_arena(&text, mem);
    if (details.kind == VALUE_MAP)
        format_short(mem, &text, details, term_width());
    return buf_view(&text);
}

int command_audit(struct client *c, const struct options *o)
{
    static const struct list_column columns[] = {
        COLUMN("AT", MOMENT, "at"),         COLUMN("USER", TEXT, "user.name"),
        COLUMN("ACTION", TEXT, "action"),   {"TARGET", .make = audit_target},
        {"DETAILS", .make = audit_details},
    };

    if (o->argc != 1)
        return options_usage(o);
    return list_print(c, o,
                      &(struct list){.route = "/audit",
                                     .filters = "user action target from to",
                                     LIST_COLUMNS(columns),
                                     .none = "nothing of that kind was done"});
}
