/* metrics.c - figures about this node, for Prometheus; the table of them is node/meters.def. */
#include "api/api.h"
#include "api/lookup.h"
#include "node/meter.h"
#include "node/node.h"
#include "store/read_executions.h"
#include "store/read_job.h"
#include "store/read_letter.h"
#include "store/read_node.h"
#include "store/read_outbox.h"
#include "store/read_signal.h"

#include <string.h>

struct counts {
    int64_t executions[STATUS_COUNT];
    int64_t open_letters, buffered_signals;
    int64_t outbox_pending, outbox_oldest_at_us;
    int64_t store_bytes;
    struct job_counts jobs;
};

/* How many open jobs are counted, and how many types have series of their own. */
enum { JOBS_COUNTED_MAX = 10000, JOB_TYPES_MAX = 100 };

static bool run_metrics(struct lookup *q, struct reader *reader, struct err *err)
{
    struct counts *counts = q->args;

    return read_counts(reader, counts->executions, err) &&
           read_open_letters(reader, &counts->open_letters, err) &&
           read_buffered_count(reader, &counts->buffered_signals, err) &&
           read_outbox_figures(reader, &counts->outbox_pending, &counts->outbox_oldest_at_us,
                               err) &&
           read_store_bytes(reader, &counts->store_bytes, err) &&
           read_job_counts(reader, q->mem, JOBS_COUNTED_MAX, &counts->jobs, err);
}

static void metrics_show(struct meters *m, enum meter_id id, int64_t value)
{
    meter_set(m, id, STR_NONE, STR_NONE, STR_NONE, value);
}

static void show_node(struct meters *m, const struct node_stats *s)
{
    metrics_show(m, METER_BATCHES, s->batches);
    metrics_show(m, METER_BATCHES_REFUSED, s->batches_refused);
    metrics_show(m, METER_COMMITS, s->members_applied);
    metrics_show(m, METER_COMMITS_REFUSED, s->members_refused);
    metrics_show(m, METER_PURGED, s->purged);
    metrics_show(m, METER_SPARED, s->spared);
    metrics_show(m, METER_REQUESTS_PENDING, (int64_t)s->pending);
    metrics_show(m, METER_REQUESTS_WAITING, (int64_t)s->waiting);
    metrics_show(m, METER_CACHED, (int64_t)s->cached);
    metrics_show(m, METER_CACHED_BYTES, (int64_t)s->cached_bytes);
    metrics_show(m, METER_TIMERS, (int64_t)s->timers);
    metrics_show(m, METER_MAILBOX, (int64_t)s->mailbox);
    metrics_show(m, METER_CALLS_IN_FLIGHT, (int64_t)s->calls_in_flight);
    metrics_show(m, METER_CALLS_QUEUED, (int64_t)s->calls_queued);
    metrics_show(m, METER_WORKERS_WAITING, (int64_t)s->workers_waiting);
}

static void show_sent(struct meters *m, const char *outcome, int64_t messages)
{
    meter_set(m, METER_BROKER_MESSAGES, str_of(outcome), STR_NONE, STR_NONE, messages);
}

static void show_taken(struct meters *m, const char *outcome, int64_t messages)
{
    meter_set(m, METER_BROKER_INTAKE, str_of(outcome), STR_NONE, STR_NONE, messages);
}

static void show_broker(struct meters *m, const struct node *n)
{
    struct node_broker broker;

    node_broker(n, &broker);
    if (broker.state == NULL)
        return;
    metrics_show(m, METER_BROKER_UP, strcmp(broker.state, "up") == 0);
    metrics_show(m, METER_BROKER_CONNECTS, broker.connects);
    show_sent(m, "confirmed", broker.confirmed);
    show_sent(m, "unroutable", broker.unroutable);
    show_sent(m, "refused", broker.refused);
    show_sent(m, "unsent", broker.unsent);
    metrics_show(m, METER_BROKER_TAKES, broker.takes);
    show_taken(m, "taken", broker.taken);
    show_taken(m, "repeated", broker.repeated);
    show_taken(m, "refused", broker.intake_refused);
}

/* Add the figures that the node has in memory, and answer. */
static void answer_with_node(struct call *c, struct meters *m)
{
    struct http_answer answer = {.status = 200,
                                 .content_type = "text/plain; version=0.0.4; charset=utf-8"};
    struct node_stats stats;
    struct buf out;

    node_stats(c->node, &stats);
    show_node(m, &stats);
    show_broker(m, c->node);
    metrics_show(m, METER_DATA_FREE, stats.data.free_bytes);
    metrics_show(m, METER_DATA_SIZE, stats.data.size_bytes);
    metrics_show(m, METER_READY, node_readiness(c->node) == NODE_READY);
    metrics_show(m, METER_NODES, (int64_t)stats.nodes);
    metrics_show(m, METER_SHARDS, (int64_t)stats.shards);
    metrics_show(m, METER_BEAT_AGE, stats.beat_age_us);
    metrics_show(m, METER_CLOCK_SKEW, stats.skew_us);
    metrics_show(m, METER_STORE_AWAY, node_store_away_us(c->node));
    metrics_show(m, METER_REQUESTS, (int64_t)c->http->number);
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
    metrics_show(m, METER_DEAD_LETTERS, counts->open_letters);
    metrics_show(m, METER_BUFFERED_SIGNALS, counts->buffered_signals);
    metrics_show(m, METER_OUTBOX_PENDING, counts->outbox_pending);
    age_us = counts->outbox_oldest_at_us > 0
                 ? api_now_us(q->call->api) - counts->outbox_oldest_at_us
                 : 0;
    metrics_show(m, METER_OUTBOX_AGE, age_us > 0 ? age_us : 0);
    metrics_show(m, METER_STORE_BYTES, counts->store_bytes);
    show_jobs(m, &counts->jobs);
    answer_with_node(q->call, m);
}

/* While the store does not answer, the number of executions is not known. */
static void answer_without_store(struct call *c)
{
    struct meters *m = node_meters(c->node);

    meter_hide(m, METER_EXECUTIONS);
    meter_hide(m, METER_DEAD_LETTERS);
    meter_hide(m, METER_BUFFERED_SIGNALS);
    meter_hide(m, METER_OUTBOX_PENDING);
    meter_hide(m, METER_OUTBOX_AGE);
    meter_hide(m, METER_JOBS);
    meter_hide(m, METER_STORE_BYTES);
    answer_with_node(c, m);
}

void metrics_get(struct call *c)
{
    /* A request from this machine needs no token; one that a proxy passes on does. */
    bool is_local = http_is_local(c->http);

    /* Labels name the processes, steps and jobs of all organisations. */
    if (!is_local && !c->is_known)
        call_refuse_text(c, ERR_UNAUTHORIZED, "from another machine this needs a token");
    else if (!is_local && (!right_has(RIGHT_VIEWER, c->role) || call_scope(c).len > 0))
        call_refuse_text(c, ERR_FORBIDDEN, "figures are for viewers of the default organisation");
    else if (node_meters(c->node) == NULL)
        call_refuse_text(c, ERR_NOT_FOUND, "this server measures nothing");
    else if (node_store_away_us(c->node) >= STORE_LATE_US)
        answer_without_store(c);
    else
        lookup_start(c, ARENA_NEW(c->mem, struct counts), run_metrics, answer_metrics);
}
