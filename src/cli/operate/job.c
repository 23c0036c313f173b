/* job.c - pawl job: what waits for workers or is with one, and endpoints that do jobs. */
#include "base/time/clock.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/options.h"
#include "value/object.h"

/* --- jobs --- */

/* How long a lease still lasts, or that it is over and nobody has acted on it. */
static struct str lease_left(struct arena *mem, struct value job)
{
    int64_t until_us = client_time(job, "leaseUntil"), now_us = clock_wall_us(&clock_system);
    struct buf out;

    if (value_map_get_str(job, STR("leaseUntil")).kind != VALUE_STRING)
        return STR_NONE;
    if (until_us <= now_us)
        return STR("over");
    buf_init_arena(&out, mem);
    format_duration(&out, until_us - now_us);
    return buf_view(&out);
}

static const struct list_column job_columns[] = {
    COLUMN("ID", ID, "id"),
    COLUMN("TYPE", TEXT, "type"),
    COLUMN("STATUS", TEXT, "status"),
    COLUMN("SINCE", AGE, "createdAt"),
    COLUMN("WORKER", TEXT, "worker"),
    {"LEASE", .make = lease_left},
    COLUMN("EXECUTION", ID, "executionId"),
    COLUMN("STEP", TEXT, "step"),
};

static const struct list job_list = {.route = "/jobs",
                                     .filters = "type status",
                                     LIST_COLUMNS(job_columns),
                                     .none = "no job waits for a worker or is with one"};

/* --- endpoints --- */

static int endpoint_list(struct client *c, const struct options *o, char **words)
{
    static const struct list_column columns[] = {COLUMN("NAMESPACE", TEXT, "namespace"),
                                                 COLUMN("URL", TEXT, "url"),
                                                 COLUMN("CREDENTIAL", TEXT, "credential")};
    struct reply reply;
    struct value items;

    (void)o;
    (void)words;
    if (!client_page(c, STR("/workers"), NULL, &reply, &items))
        return EXIT_FAILED;
    if (c->as_json || items.len == 0)
        return client_answer(c, &reply,
                             "no endpoints: all jobs wait for workers that ask for them");
    list_table(&c->mem, columns, ARRAY_SIZE(columns), items);
    return EXIT_OK;
}

static int endpoint_set(struct client *c, const struct options *o, char **words)
{
    struct buf body;

    object_begin(&body, &c->mem);
    client_add_text(&body, "url", words[1]);
    client_add_text(&body, "credential", options_get(o, "credential"));
    return client_send(c, "PUT", client_path(c, "/workers/", str_of(words[0]), ""),
                       object_end(&body), "jobs of %s.* are sent to %s", words[0], words[1]);
}

static int endpoint_remove(struct client *c, const struct options *o, char **words)
{
    (void)o;
    return client_send(c, "DELETE", client_path(c, "/workers/", str_of(words[0]), ""), STR_NONE,
                       "jobs of %s.* wait for workers again", words[0]);
}

static int job_endpoint(struct client *c, const struct options *o, char **words)
{
    static const struct cli_verb verbs[] = {{"ls", 0, 0, .run = endpoint_list},
                                            {"set", 2, 2, .run = endpoint_set},
                                            {"rm", 1, 1, .run = endpoint_remove}};

    return client_verb(c, o, words, verbs, ARRAY_SIZE(verbs));
}

int command_job(struct client *c, const struct options *o)
{
    static const struct cli_verb verbs[] = {{"ls", 0, 0, .list = &job_list},
                                            {"endpoint", 0, 3, .run = job_endpoint}};

    return client_verb(c, o, o->argv + 1, verbs, ARRAY_SIZE(verbs));
}
