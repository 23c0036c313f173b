/* metrics.c - figures about this node, for Prometheus; the table of them is node/meters.def. */
#include "api/api.h"
#include "api/lookup.h"
#include "store/read_job.h"

struct counts {
    int64_t executions[STATUS_COUNT];
    int64_t open_letters, kept_signals;
    int64_t outbox_pending, outbox_oldest_at_us;
    struct job_counts jobs;
};

/* Of the jobs that have no end so many are counted, and so many types have series of their own. */
enum { JOBS_COUNTED_MAX = 10000, JOB_TYPES_MAX = 100 };

static bool run_metrics(struct lookup *q, struct reader *reader, struct err *err)
{
    struct counts *counts = q->args;

    return read_counts(reader, counts->executions, err) &&
           read_open_letters(reader, &counts->open_letters, err) &&
           read_kept_count(reader, &counts->kept_signals, err) &&
           read_outbox_figures(reader, &counts->outbox_pending, &counts->outbox_oldest_at_us,
                               err) &&
           read_job_counts(reader, q->mem, JOBS_COUNTED_MAX, &counts->jobs, err);
}

static void show(struct meters *m, enum meter_id id, int64_t value)
{
    meter_set(m, id, STR_NONE, STR_NONE, STR_NONE, value);
}

static void show_node(struct meters *m, const struct node_stats *s)
{
    show(m, METER_BATCHES, s->batches);
    show(m, METER_BATCHES_REFUSED, s->batches_refused);
    show(m, METER_COMMITS, s->members_applied);
    show(m, METER_COMMITS_REFUSED, s->members_refused);
    show(m, METER_PURGED, s->purged);
    show(m, METER_REQUESTS_PENDING, (int64_t)s->pending);
    show(m, METER_REQUESTS_WAITING, (int64_t)s->waiting);
    show(m, METER_CACHED, (int64_t)s->cached);
    show(m, METER_CACHED_BYTES, (int64_t)s->cached_bytes);
    show(m, METER_TIMERS, (int64_t)s->timers);
    show(m, METER_MAILBOX, (int64_t)s->mailbox);
    show(m, METER_CALLS_UNDER_WAY, (int64_t)s->calls_under_way);
    show(m, METER_CALLS_QUEUED, (int64_t)s->calls_queued);
    show(m, METER_WORKERS_WAITING, (int64_t)s->workers_waiting);
}

/* What the node knows by itself; then the answer is complete. */
static void answer_with_node(struct call *c, struct meters *m)
{
    struct http_answer answer = {.status = 200,
                                 .content_type = "text/plain; version=0.0.4; charset=utf-8"};
    struct node_stats stats;
    const char *why;
    struct buf out;

    node_stats(c->node, &stats);
    show_node(m, &stats);
    show(m, METER_READY, node_is_ready(c->node, &why));
    show(m, METER_STORE_SILENT, node_store_silent_us(c->node));
    show(m, METER_REQUESTS, (int64_t)c->http->number);
    buf_init_arena(&out, c->mem);
    meters_write(m, &out);
    answer.body = buf_view(&out);
    http_answer(c->http, &answer);
}

/* The types with the most jobs; all others are one. */
static void show_jobs(struct meters *m, const struct job_counts *counts)
{
    int64_t others[JOB_STATUS_COUNT] = {0};

    meter_hide(m, METER_JOBS);
    for (size_t i = 0; i < counts->count; i++) {
        const struct job_count *c = &counts->items[i];

        if (i < JOB_TYPES_MAX)
            meter_set(m, METER_JOBS, c->type, str_of(job_status_name(c->status)), STR_NONE,
                      c->count);
        else
            others[c->status] += c->count;
    }
    for (unsigned i = 0; i < JOB_STATUS_COUNT; i++)
        if (others[i] > 0)
            meter_set(m, METER_JOBS, STR("other"), str_of(job_status_name((enum job_status)i)),
                      STR_NONE, others[i]);
}

static void answer_metrics(struct lookup *q)
{
    const struct counts *counts = q->args;
    struct meters *m = node_meters(q->call->node);
    int64_t age_us;

    for (unsigned i = 0; i < STATUS_COUNT; i++)
        meter_set(m, METER_EXECUTIONS, str_of(status_name((enum execution_status)i)), STR_NONE,
                  STR_NONE, counts->executions[i]);
    show(m, METER_DEAD_LETTERS, counts->open_letters);
    show(m, METER_KEPT_SIGNALS, counts->kept_signals);
    show(m, METER_OUTBOX_PENDING, counts->outbox_pending);
    age_us = counts->outbox_oldest_at_us > 0
                 ? api_now_us(q->call->api) - counts->outbox_oldest_at_us
                 : 0;
    show(m, METER_OUTBOX_AGE, age_us > 0 ? age_us : 0);
    show_jobs(m, &counts->jobs);
    answer_with_node(q->call, m);
}

/* While the store is silent nobody can tell how many executions there are. */
static void answer_without_store(struct call *c)
{
    struct meters *m = node_meters(c->node);

    meter_hide(m, METER_EXECUTIONS);
    meter_hide(m, METER_DEAD_LETTERS);
    meter_hide(m, METER_KEPT_SIGNALS);
    meter_hide(m, METER_OUTBOX_PENDING);
    meter_hide(m, METER_OUTBOX_AGE);
    meter_hide(m, METER_JOBS);
    answer_with_node(c, m);
}

void metrics_get(struct call *c)
{
    /* Whoever watches this machine needs no token; others do, and what a proxy passes on is theirs. */
    if (!http_is_local(c->http) && c->user.id.len == 0)
        call_refuse_text(c, ERR_UNAUTHORIZED, "from another machine this needs a token");
    else if (node_meters(c->node) == NULL)
        call_refuse_text(c, ERR_NOT_FOUND, "this server measures nothing");
    else if (node_store_silent_us(c->node) >= STORE_LATE_US)
        answer_without_store(c);
    else
        lookup_start(c, ARENA_NEW(c->mem, struct counts), run_metrics, answer_metrics);
}
