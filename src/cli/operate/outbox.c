/* outbox.c - pawl outbox: messages that are not delivered yet. */
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"

static const struct list_column outbox_columns[] = {
    COLUMN("ID", ID, "id"),
    COLUMN("KIND", TEXT, "kind"),
    COLUMN("TO", TEXT, "destination"),
    COLUMN("NAME", TEXT, "name"),
    COLUMN("STATUS", TEXT, "status"),
    COLUMN("TRIED", NUMBER, "attempts"),
    COLUMN("WAITS", AGE, "createdAt"),
    COLUMN("WHY", TEXT, "error.message"),
};

static const struct list outbox_list = {.route = "/outbox",
                                        .filters = "status kind destination @execution",
                                        LIST_COLUMNS(outbox_columns),
                                        .none = "nothing waits for its delivery"};

static int outbox_retry(struct client *c, const struct options *o, char **words)
{
    struct str id;

    (void)o;
    if (!list_find(c, "message", "pawl outbox", "/outbox?limit=500", words[0], &id))
        return EXIT_FAILED;
    return client_send(c, "POST", client_path(c, "/outbox/", id, "/retry"), STR_NONE,
                       "%.*s is tried now", STR_ARG(id));
}

int command_outbox(struct client *c, const struct options *o)
{
    static const struct cli_verb verbs[] = {{"ls", 0, 0, .list = &outbox_list},
                                            {"retry", 1, 1, .run = outbox_retry}};

    return client_verb(c, o, o->argv + 1, verbs, ARRAY_SIZE(verbs));
}
