/* outbox.c - pawl outbox: messages that are not delivered yet, and what is done about them. */
#include "cli/command.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/where.h"
#include "value/object.h"

#include <stdio.h>

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

static bool outbox_find(struct client *c, const char *word, struct str *id)
{
    return list_find(c, "message", "pawl outbox", "/outbox?limit=500", word, id);
}

static int outbox_show(struct client *c, const struct options *o, char **words)
{
    struct reply reply;
    struct str id;

    (void)o;
    if (!outbox_find(c, words[0], &id) ||
        !client_call(c, "GET", client_path(c, "/outbox/", id, ""), STR_NONE, &reply))
        return EXIT_FAILED;
    return client_print_json(&reply);
}

/* The messages of --where, or all of them. */
static int outbox_many(struct client *c, const struct options *o, const char *action,
                       const char *done, struct str fields)
{
    static const struct many messages = {"/outbox/bulk", "messages", "status=all"};
    const char *where = options_get(o, "where");

    return where_run(c, &(struct where){.of = &messages,
                                        .action = action,
                                        .done = done,
                                        .conditions = where != NULL ? where : messages.all,
                                        .fields = fields,
                                        .is_dry_run = options_has(o, "dry-run")});
}

static bool outbox_is_for_many(const struct options *o)
{
    return options_has(o, "where") || options_has(o, "all");
}

static int outbox_retry(struct client *c, const struct options *o, char **words)
{
    struct str id;

    if (outbox_is_for_many(o) != (words[0] == NULL) || options_has(o, "note"))
        return options_usage(o);
    if (words[0] == NULL)
        return outbox_many(c, o, "retry", "tried now", STR_NONE);
    if (!outbox_find(c, words[0], &id))
        return EXIT_FAILED;
    return client_send(c, "POST", client_path(c, "/outbox/", id, "/retry"), STR_NONE,
                       "%.*s is tried now", STR_ARG(id));
}

static int outbox_resolve(struct client *c, const struct options *o, char **words)
{
    struct buf body;
    struct str id;

    if (outbox_is_for_many(o) != (words[0] == NULL) || !options_need(o, "note"))
        return options_usage(o);
    object_begin(&body, &c->mem);
    client_add_text(&body, "note", options_get(o, "note"));
    if (words[0] == NULL)
        return outbox_many(c, o, "resolve", "given up", str_slice(buf_view(&body), 1, body.len));
    if (!outbox_find(c, words[0], &id))
        return EXIT_FAILED;
    return client_send(c, "POST", client_path(c, "/outbox/", id, "/resolve"), object_end(&body),
                       "%.*s is given up", STR_ARG(id));
}

int command_outbox(struct client *c, const struct options *o)
{
    static const struct cli_verb verbs[] = {{"ls", 0, 0, .list = &outbox_list},
                                            {"show", 1, 1, .run = outbox_show},
                                            {"retry", 0, 1, .run = outbox_retry},
                                            {"resolve", 0, 1, .run = outbox_resolve}};

    return client_verb(c, o, o->argv + 1, verbs, ARRAY_SIZE(verbs));
}
