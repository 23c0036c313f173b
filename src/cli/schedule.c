/* schedule.c - pawl schedule: when processes start by themselves. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/last.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/tell.h"

#include <stdio.h>

struct schedule_options {
    const char *code, *timezone, *limit;
    bool all, as_json;
};

/* --- ls --- */

static struct str moment_of(struct arena *mem, struct value schedule, const char *name)
{
    int64_t us = tell_time_of(schedule, name);
    struct buf out;

    buf_init_arena(&out, mem);
    if (us > 0)
        tell_moment(&out, us);
    return buf_view(&out);
}

/* ID CODE CRON ZONE STATUS NEXT LAST WHY */
static void fill_row(struct arena *mem, struct value schedule, int64_t now_us, struct str *row)
{
    struct value error = value_map_get_str(schedule, STR("lastError"));

    (void)now_us;
    row[0] = list_id_end(client_text(schedule, "id"));
    row[1] = client_text(schedule, "code");
    row[2] = client_text(schedule, "cron");
    row[3] = client_text(schedule, "timezone");
    row[4] = client_text(schedule, "status");
    row[5] = moment_of(mem, schedule, "nextAt");
    row[6] = moment_of(mem, schedule, "lastAt");
    row[7] = error.kind == VALUE_MAP ? client_text(error, "message") : STR_NONE;
}

static int list_schedules(struct client *c, const struct schedule_options *o)
{
    static const char *const head[] = {"ID",   "CODE", "CRON", "ZONE", "STATUS",
                                       "NEXT", "LAST", "WHY",  NULL};
    struct buf path;

    list_begin(c, &path, STR("/schedules"), o->limit, o->all);
    list_filter(&path, "code", o->code);
    return list_print(c, &(struct list){.path = buf_view(&path),
                                        .all = o->all,
                                        .as_json = o->as_json,
                                        .head = head,
                                        .row = fill_row,
                                        .none = "no process has a schedule"});
}

/* --- acting on one --- */

static bool call_one(struct client *c, const char *name, const char *action, struct reply *reply)
{
    struct str id;

    return list_find(c, "schedule", "pawl schedule", "/schedules?limit=500", name, &id) &&
           client_call(c, "POST", str_printf(&c->mem, "/schedules/%.*s/%s", STR_ARG(id), action),
                       STR_NONE, reply);
}

static int pause_or_resume(struct client *c, const char *name, const char *action,
                           const struct schedule_options *o)
{
    struct reply reply;
    struct str next;

    if (!call_one(c, name, action, &reply))
        return EXIT_FAILED;
    if (o->as_json) {
        printf("%.*s\n", STR_ARG(reply.text));
        return EXIT_OK;
    }
    next = moment_of(&c->mem, reply.json, "nextAt");
    printf("%.*s '%.*s' is %.*s%s%.*s\n", STR_ARG(client_text(reply.json, "code")),
           STR_ARG(client_text(reply.json, "cron")), STR_ARG(client_text(reply.json, "status")),
           next.len > 0 ? ", next " : "", STR_ARG(next));
    return EXIT_OK;
}

static int run_now(struct client *c, const char *name, const struct schedule_options *o)
{
    struct reply reply;

    if (!call_one(c, name, "run", &reply))
        return EXIT_FAILED;
    last_remember(&c->mem, c->url, client_text(reply.json, "id"));
    if (o->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("%.*s is started\n", STR_ARG(client_text(reply.json, "id")));
    return EXIT_OK;
}

/* --- preview --- */

static int preview(struct client *c, const char *cron, const struct schedule_options *o)
{
    struct value items;
    struct reply reply;
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/schedules/preview?cron=");
    client_escape(&path, str_of(cron));
    list_filter(&path, "timezone", o->timezone);
    if (!client_call(c, "GET", buf_view(&path), STR_NONE, &reply))
        return EXIT_FAILED;
    items = value_map_get_str(reply.json, STR("items"));
    if (o->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    for (uint32_t i = 0; !o->as_json && items.kind == VALUE_LIST && i < items.len; i++)
        printf("%.*s\n", STR_ARG(client_text(items.items[i], "local")));
    return EXIT_OK;
}

int command_schedule(int argc, char **argv)
{
    struct schedule_options o = {0};
    const struct option_spec specs[] = {
        {.name = "code", .value = &o.code},   {.name = "timezone", .value = &o.timezone},
        {.name = "limit", .value = &o.limit}, {.name = "all", .flag = &o.all},
        {.name = "json", .flag = &o.as_json}, CLIENT_OPTIONS,
    };
    struct client c;
    int status = EXIT_USAGE;
    const char *word;

    if (!options_read("schedule", specs, ARRAY_SIZE(specs), &argc, argv))
        return command_usage("schedule");
    word = argc > 1 ? argv[1] : "ls";
    client_open(&c, o.as_json);
    if (argc <= 2 && strcmp(word, "ls") == 0)
        status = list_schedules(&c, &o);
    else if (argc == 3 && (strcmp(word, "pause") == 0 || strcmp(word, "resume") == 0))
        status = pause_or_resume(&c, argv[2], word, &o);
    else if (argc == 3 && strcmp(word, "run") == 0)
        status = run_now(&c, argv[2], &o);
    else if (argc == 3 && strcmp(word, "preview") == 0)
        status = preview(&c, argv[2], &o);
    client_close(&c);
    return status == EXIT_USAGE ? command_usage("schedule") : status;
}
