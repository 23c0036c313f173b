/* job.c - pawl job: what waits for workers or is with one, and endpoints that do jobs. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"
#include "value/object.h"

#include <stdio.h>

struct job_options {
    const char *type, *status, *limit, *credential;
    bool all, as_json;
};

/* --- jobs --- */

/* How long a lease still lasts, or that it is over and nobody has acted on it. */
static struct str lease_left(struct arena *mem, struct value job, int64_t now_us)
{
    int64_t until_us = tell_time_of(job, "leaseUntil");
    struct buf out;

    if (value_map_get_str(job, STR("leaseUntil")).kind != VALUE_STRING)
        return STR_NONE;
    if (until_us <= now_us)
        return STR("over");
    buf_init_arena(&out, mem);
    tell_duration(&out, until_us - now_us);
    return buf_view(&out);
}

/* ID TYPE STATUS WAITS WORKER LEASE EXECUTION STEP */
static void job_row(struct arena *mem, struct value job, int64_t now_us, struct str *row)
{
    struct buf age;

    buf_init_arena(&age, mem);
    tell_duration(&age, now_us - tell_time_of(job, "createdAt"));
    row[0] = list_id_end(client_text(job, "id"));
    row[1] = client_text(job, "type");
    row[2] = client_text(job, "status");
    row[3] = buf_view(&age);
    row[4] = client_text(job, "worker");
    row[5] = lease_left(mem, job, now_us);
    row[6] = list_id_end(client_text(job, "executionId"));
    row[7] = client_text(job, "step");
}

static int job_list(struct client *c, const struct job_options *o)
{
    static const char *const head[] = {"ID",    "TYPE",      "STATUS", "SINCE", "WORKER",
                                       "LEASE", "EXECUTION", "STEP",   NULL};
    struct buf path;

    list_begin(c, &path, STR("/jobs"), o->limit, o->all);
    list_filter(&path, "type", o->type);
    list_filter(&path, "status", o->status);
    return list_print(c, &(struct list){.path = buf_view(&path),
                                        .all = o->all,
                                        .as_json = o->as_json,
                                        .head = head,
                                        .row = job_row,
                                        .none = "no job waits for a worker or is with one"});
}

/* --- endpoints --- */

static void print_endpoints(struct arena *mem, struct value items)
{
    static const char *const head[] = {"NAMESPACE", "URL", "CREDENTIAL"};
    struct table table = {.columns = ARRAY_SIZE(head)};

    for (size_t i = 0; i < ARRAY_SIZE(head); i++)
        table_add(mem, &table, str_of(head[i]));
    for (uint32_t i = 0; i < items.len; i++) {
        table_add(mem, &table, client_text(items.items[i], "namespace"));
        table_add(mem, &table, client_text(items.items[i], "url"));
        table_add(mem, &table, client_text(items.items[i], "credential"));
    }
    table_print(&table);
}

static bool endpoint_list(struct client *c, const struct job_options *o)
{
    struct reply reply;
    struct value items;

    if (!client_call(c, "GET", STR("/workers"), STR_NONE, &reply))
        return false;
    items = value_map_get_str(reply.json, STR("items"));
    if (o->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else if (items.len == 0)
        printf("no endpoints: all jobs wait for workers that ask for them\n");
    else
        print_endpoints(&c->mem, items);
    return true;
}

static struct str endpoint_path(struct client *c, const char *name)
{
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/workers/");
    client_escape(&path, str_of(name));
    return buf_view(&path);
}

static bool endpoint_set(struct client *c, const struct job_options *o, const char *name,
                         const char *url)
{
    struct reply reply;
    struct buf body;

    buf_init_arena(&body, &c->mem);
    buf_char(&body, '{');
    object_text(&body, "url", str_of(url));
    if (o->credential != NULL)
        object_text(&body, "credential", str_of(o->credential));
    buf_char(&body, '}');
    if (!client_call(c, "PUT", endpoint_path(c, name), buf_view(&body), &reply))
        return false;
    if (o->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("jobs of %s.* are sent to %s\n", name, url);
    return true;
}

static bool endpoint_remove(struct client *c, const struct job_options *o, const char *name)
{
    struct reply reply;

    if (!client_call(c, "DELETE", endpoint_path(c, name), STR_NONE, &reply))
        return false;
    if (o->as_json)
        printf("{}\n");
    else
        printf("jobs of %s.* wait for workers again\n", name);
    return true;
}

/* The words behind "endpoint". */
static int job_endpoint(struct client *c, const struct job_options *o, int argc, char **argv)
{
    const char *word = argc > 0 ? argv[0] : "ls";
    bool ok;

    if (argc <= 1 && strcmp(word, "ls") == 0)
        ok = endpoint_list(c, o);
    else if (argc == 3 && strcmp(word, "set") == 0)
        ok = endpoint_set(c, o, argv[1], argv[2]);
    else if (argc == 2 && strcmp(word, "rm") == 0)
        ok = endpoint_remove(c, o, argv[1]);
    else
        return EXIT_USAGE;
    return ok ? EXIT_OK : EXIT_FAILED;
}

int command_job(int argc, char **argv)
{
    struct job_options o = {0};
    const struct option_spec specs[] = {
        {.name = "type", .value = &o.type},
        {.name = "status", .value = &o.status},
        {.name = "limit", .value = &o.limit},
        {.name = "credential", .value = &o.credential},
        {.name = "all", .flag = &o.all},
        {.name = "json", .flag = &o.as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    int status = EXIT_USAGE;
    const char *word;

    if (!options_read("job", specs, ARRAY_SIZE(specs), &argc, argv))
        return command_usage("job");
    word = argc > 1 ? argv[1] : "ls";
    client_open(&c, o.as_json);
    if (argc <= 2 && strcmp(word, "ls") == 0)
        status = job_list(&c, &o);
    else if (strcmp(word, "endpoint") == 0)
        status = job_endpoint(&c, &o, argc - 2, argv + 2);
    client_close(&c);
    return status == EXIT_USAGE ? command_usage("job") : status;
}
