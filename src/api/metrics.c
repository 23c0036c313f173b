/* metrics.c - figures about this node, for Prometheus. */
#include "api/lookup.h"

struct counts {
    int64_t executions[STATUS_COUNT];
    int64_t open_letters, kept_signals;
};

static bool run_metrics(struct lookup *q, struct reader *reader, struct err *err)
{
    struct counts *counts = q->args;

    return read_counts(reader, counts->executions, err) &&
           read_open_letters(reader, &counts->open_letters, err) &&
           read_kept_count(reader, &counts->kept_signals, err);
}

static void metric(struct buf *out, const char *type, const char *name, const char *help,
                   int64_t value)
{
    buf_printf(out, "# HELP pawl_%s %s\n# TYPE pawl_%s %s\npawl_%s %lld\n", name, help, name, type,
               name, (long long)value);
}

static void write_node(struct buf *out, const struct node_stats *s)
{
    metric(out, "counter", "batches_total", "Batches that were handed to the store.", s->batches);
    metric(out, "counter", "batches_refused_total",
           "Batches that the store did not take: a full disk, a lost connection.",
           s->batches_refused);
    metric(out, "counter", "commits_total", "Changes that became durable.", s->members_applied);
    metric(out, "counter", "commits_refused_total",
           "Changes that were refused: outdated, repeated, or not allowed.", s->members_refused);
    metric(out, "counter", "executions_purged_total",
           "Executions that were deleted because of their age.", s->purged);
    metric(out, "gauge", "requests_pending", "Requests for changes under way.",
           (int64_t)s->pending);
    metric(out, "gauge", "requests_waiting", "Requests that wait for the end of an execution.",
           (int64_t)s->waiting);
    metric(out, "gauge", "cache_executions", "Executions in memory.", (int64_t)s->cached);
    metric(out, "gauge", "cache_bytes", "Memory of executions.", (int64_t)s->cached_bytes);
    metric(out, "gauge", "timers_pending", "Executions that are due within a minute.",
           (int64_t)s->timers);
    metric(out, "gauge", "mailbox_depth", "Answers of the store that wait for the loop.",
           (int64_t)s->mailbox);
}

/* What the node knows by itself; then the answer is complete. */
static void answer_with_node(struct call *c, struct buf *out)
{
    struct http_answer answer = {.status = 200,
                                 .content_type = "text/plain; version=0.0.4; charset=utf-8"};
    struct node_stats stats;
    const char *why;

    node_stats(c->node, &stats);
    metric(out, "gauge", "ready", "1 while requests are taken.", node_is_ready(c->node, &why));
    metric(out, "gauge", "store_silent_seconds", "How long the store has owed an answer.",
           node_store_silent_us(c->node) / 1000000);
    metric(out, "counter", "http_requests_total", "Requests that were received.",
           (int64_t)c->http->number);
    write_node(out, &stats);
    if (node_meters(c->node) != NULL)
        meters_write(node_meters(c->node), out);
    answer.body = buf_view(out);
    http_answer(c->http, &answer);
}

static void answer_metrics(struct lookup *q)
{
    const struct counts *counts = q->args;

    buf_text(&q->answer, "# HELP pawl_executions Executions by status.\n"
                         "# TYPE pawl_executions gauge\n");
    for (unsigned i = 0; i < STATUS_COUNT; i++)
        buf_printf(&q->answer, "pawl_executions{status=\"%s\"} %lld\n",
                   status_name((enum execution_status)i), (long long)counts->executions[i]);
    metric(&q->answer, "gauge", "dead_letters", "Dead letters that are open.",
           counts->open_letters);
    metric(&q->answer, "gauge", "kept_signals",
           "Signals with a correlation that wait for their wait.", counts->kept_signals);
    answer_with_node(q->call, &q->answer);
}

/* While the store is silent nobody can tell how many executions there are. */
static void answer_without_store(struct call *c)
{
    struct buf out;

    buf_init_arena(&out, c->mem);
    answer_with_node(c, &out);
}

void metrics_get(struct call *c)
{
    /* Whoever watches this machine needs no token; others do, and what a proxy passes on is theirs. */
    if (!http_is_local(c->http) && c->user.id.len == 0)
        call_refuse_text(c, ERR_UNAUTHORIZED, "from another machine this needs a token");
    else if (node_store_silent_us(c->node) >= STORE_LATE_US)
        answer_without_store(c);
    else
        lookup_start(c, ARENA_NEW(c->mem, struct counts), run_metrics, answer_metrics);
}
