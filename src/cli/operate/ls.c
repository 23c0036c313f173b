/* ls.c - pawl ls: executions as a table, or how many there are. */
#include "base/text/ascii.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"

#include <stdio.h>

/* "failed: no_luck", "held: no_luck" */
static struct str status_text(struct arena *mem, struct value x)
{
    struct str status = client_text(x, "status");
    struct value error = value_map_get_str(x, STR("error"));
    struct value wait = value_map_get_str(x, STR("waitingFor"));

    if (wait.kind == VALUE_MAP && str_eq(client_text(wait, "kind"), STR("incident")))
        return str_printf(mem, "held: %.*s",
                          STR_ARG(client_text(value_map_get_str(wait, STR("error")), "code")));
    if (error.kind == VALUE_MAP && client_text(error, "code").len > 0)
        return str_printf(mem, "%.*s: %.*s", STR_ARG(status), STR_ARG(client_text(error, "code")));
    return status;
}

/* The step that it stands at, or the one that failed. */
static struct str step_text(struct arena *mem, struct value x)
{
    struct str step = client_text(x, "currentStep");

    (void)mem;
    return step.len > 0 ? step : client_text(value_map_get_str(x, STR("error")), "step");
}

/* --- how many --- */

static void print_counts(struct arena *mem, const char *by, struct value items)
{
    char *heading = arena_copy(mem, by, strlen(by));
    const struct list_column count = COLUMN("COUNT", NUMBER, "count");
    const struct list_column value = COLUMN(heading, TEXT, "value");

    for (char *p = heading; *p != '\0'; p++)
        *p = ascii_upper(*p);
    if (strcmp(by, "status") == 0)
        list_table(mem, (const struct list_column[]){count, value}, 2, items);
    else
        list_table(mem,
                   (const struct list_column[]){count, COLUMN("STATUS", TEXT, "status"), value,
                                                COLUMN("SERVICE SAYS", TEXT, "serviceCode")},
                   strcmp(by, "error") == 0 ? 4 : 3, items);
}

static int ls_count(struct client *c, const struct options *o, const char *filters)
{
    const char *by = options_get(o, "count-by");
    struct buf path;
    struct str since;
    struct reply reply;
    unsigned count;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/executions/summary?by=");
    url_encode(&path, str_of(by));
    if (!list_filters(c, o, filters, &path, &count) ||
        !client_call(c, "GET", buf_view(&path), STR_NONE, &reply))
        return EXIT_FAILED;
    if (c->as_json)
        return client_print_json(&reply);
    print_counts(&c->mem, by, value_map_get_str(reply.json, STR("items")));
    since = list_moment(&c->mem, reply.json, "since");
    if (since.len > 0) {
        (void)fflush(stdout);
        fprintf(stderr, "of what has ended, only what was started since %.*s is counted\n",
                STR_ARG(since));
    }
    return EXIT_OK;
}

/* The options that choose executions, as struct list has them. */
#define LS_FILTERS                                                                                 \
    "status code key step @parent error waiting held=waiting:incident kind from to q "             \
    "deadline-before=deadlineBefore"

int command_ls(struct client *c, const struct options *o)
{
    static const struct list_column columns[] = {
        COLUMN("ID", ID, "id"),          COLUMN("CODE", TEXT, "code"),
        {"STATUS", .make = status_text}, {"STEP", .make = step_text},
        COLUMN("KEY", TEXT, "key"),      COLUMN("STARTED", AGO, "createdAt"),
    };

    if (o->argc != 1)
        return options_usage(o);
    if (options_has(o, "count-by"))
        return ls_count(c, o, LS_FILTERS);
    return list_print(c, o,
                      &(struct list){.route = "/executions",
                                     .filters = LS_FILTERS " oldest=order:oldest",
                                     LIST_COLUMNS(columns),
                                     .none = "no executions; start one with: pawl start CODE",
                                     .none_match = "no execution matches"});
}
