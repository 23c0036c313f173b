/* schedule.c - pawl schedule: when processes start by themselves. */
#include "cli/command.h"
#include "cli/last.h"
#include "cli/list.h"
#include "cli/options.h"

#include <stdio.h>

static const struct list_column schedule_columns[] = {
    COLUMN("ID", ID, "id"),           COLUMN("CODE", TEXT, "code"),
    COLUMN("CRON", TEXT, "cron"),     COLUMN("ZONE", TEXT, "timezone"),
    COLUMN("STATUS", TEXT, "status"), COLUMN("NEXT", MOMENT, "nextAt"),
    COLUMN("LAST", MOMENT, "lastAt"), COLUMN("WHY", TEXT, "lastError.message"),
};

static const struct list schedule_list = {.route = "/schedules",
                                          .filters = "code",
                                          LIST_COLUMNS(schedule_columns),
                                          .none = "no process has a schedule"};

/* --- acting on one --- */

static bool schedule_call(struct client *c, const char *name, const char *action,
                          struct reply *reply)
{
    struct str id;

    return list_find(c, "schedule", "pawl schedule", "/schedules?limit=500", name, &id) &&
           client_call(c, "POST", str_printf(&c->mem, "/schedules/%.*s/%s", STR_ARG(id), action),
                       STR_NONE, reply);
}

/* Pause it or resume it: the word before its name says which. */
static int schedule_switch(struct client *c, const struct options *o, char **words)
{
    struct reply reply;
    struct str next;

    (void)o;
    if (!schedule_call(c, words[0], words[-1], &reply))
        return EXIT_FAILED;
    next = list_moment(&c->mem, reply.json, "nextAt");
    return client_answer(
        c, &reply, "%.*s '%.*s' is %.*s%s%.*s", STR_ARG(client_text(reply.json, "code")),
        STR_ARG(client_text(reply.json, "cron")), STR_ARG(client_text(reply.json, "status")),
        next.len > 0 ? ", next " : "", STR_ARG(next));
}

static int schedule_run(struct client *c, const struct options *o, char **words)
{
    struct reply reply;

    (void)o;
    if (!schedule_call(c, words[0], "run", &reply))
        return EXIT_FAILED;
    last_remember(&c->mem, c->url, client_text(reply.json, "id"));
    return client_answer(c, &reply, "%.*s is started", STR_ARG(client_text(reply.json, "id")));
}

/* --- preview --- */

static int schedule_preview(struct client *c, const struct options *o, char **words)
{
    struct value items;
    struct reply reply;
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/schedules/preview?cron=");
    url_encode(&path, str_of(words[0]));
    list_filter(&path, "timezone", options_get(o, "timezone"));
    if (!client_page(c, buf_view(&path), NULL, &reply, &items))
        return EXIT_FAILED;
    if (c->as_json)
        return client_print_json(&reply);
    for (uint32_t i = 0; i < items.len; i++)
        printf("%.*s\n", STR_ARG(client_text(items.items[i], "local")));
    return EXIT_OK;
}

int command_schedule(struct client *c, const struct options *o)
{
    static const struct cli_verb verbs[] = {
        {"ls", 0, 0, .list = &schedule_list},       {"pause", 1, 1, .run = schedule_switch},
        {"resume", 1, 1, .run = schedule_switch},   {"run", 1, 1, .run = schedule_run},
        {"preview", 1, 1, .run = schedule_preview},
    };

    return client_verb(c, o, o->argv + 1, verbs, ARRAY_SIZE(verbs));
}
