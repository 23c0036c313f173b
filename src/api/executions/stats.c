/*
 * stats.c - GET /stats: series for charts, from the minutes that nodes have counted.
 *
 * Minutes that are over are rows of the store, of all nodes; the current one
 * is that of this node alone. What executions wait for is counted now, and once
 * a minute for all organisations together: where there are several, nobody is
 * shown the past of that.
 */
#include "api/api.h"
#include "api/lookup.h"
#include "node/chore/minutes.h"
#include "store/org.h"
#include "store/read_executions.h"
#include "store/read_stats.h"
#include "value/object.h"
#include "value/timefmt.h"

enum { POINTS_MAX = 1500 };

#define WINDOW_MAX_US (INT64_C(7) * 86400 * 1000000)

struct stats_point {
    struct minute counted;
    bool has_waiting;
    struct minute_waiting waiting;
    int64_t outbox_lag_us; /* the longest; -1 = nobody has counted */
};

struct stats_series {
    int64_t first_us, step_us, now_us;
    size_t count;
    struct stats_point *points;
    bool shows_past_waiting;
};

/* --- reading --- */

static struct stats_point *point_at(const struct stats_series *s, int64_t at_us)
{
    int64_t i = (at_us - s->first_us) / s->step_us;

    return at_us >= s->first_us && i < (int64_t)s->count ? &s->points[i] : NULL;
}

/* A point may be many minutes: what the worst of them says is shown. */
static void take_longer_lag(struct stats_point *p)
{
    if (p->waiting.outbox_lag_us > p->outbox_lag_us)
        p->outbox_lag_us = p->waiting.outbox_lag_us;
}

static bool take_row(void *context, struct arena *mem, int64_t at_us, bool is_of_all,
                     struct str data_json)
{
    struct stats_series *s = context;
    struct stats_point *p = point_at(s, at_us);
    bool ok;

    if (p == NULL || (is_of_all && !s->shows_past_waiting))
        return true;
    if (!is_of_all)
        return minute_read(mem, data_json, &p->counted);
    p->has_waiting = true;
    ok = minute_read_waiting(mem, data_json, &p->waiting);
    take_longer_lag(p);
    return ok;
}

static void write_waiting(struct buf *out, const struct stats_point *p)
{
    int64_t shown[WAITING_COUNT] = {0};

    if (!p->has_waiting) {
        object_json(out, "waiting", STR("null"));
        return;
    }
    /* Kinds of waits that clients see under one name are one figure. */
    for (unsigned i = 1; i < WAITING_COUNT; i++)
        for (unsigned k = 1; k <= i; k++)
            if (strcmp(waiting_kind_shown((enum waiting_kind)k),
                       waiting_kind_shown((enum waiting_kind)i)) == 0) {
                shown[k] += p->waiting.executions[i];
                break;
            }
    object_nested(out, "waiting");
    for (unsigned i = 1; i < WAITING_COUNT; i++)
        if (shown[i] > 0)
            object_int(out, waiting_kind_shown((enum waiting_kind)i), shown[i]);
    buf_char(out, '}');
}

static void write_outbox_lag(struct buf *out, const struct stats_point *p)
{
    if (p->outbox_lag_us < 0)
        object_json(out, "outboxLagMs", STR("null"));
    else
        object_int(out, "outboxLagMs", p->outbox_lag_us / 1000);
}

static void write_latency(struct buf *out, const struct minute *m)
{
    static const struct {
        const char *name;
        int percent;
    } quantiles[] = {{"p50", 50}, {"p95", 95}, {"p99", 99}};

    object_name(out, "latencyMs");
    if (minute_quantile(m, 50) < 0) {
        buf_text(out, "null");
        return;
    }
    buf_char(out, '{');
    for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
        int64_t us = minute_quantile(m, quantiles[i].percent);

        object_name(out, quantiles[i].name);
        buf_printf(out, "%lld.%03lld", (long long)(us / 1000), (long long)(us % 1000));
    }
    buf_char(out, '}');
}

static void write_series(struct buf *out, const struct stats_series *s)
{
    buf_char(out, '{');
    object_time(out, "from", s->first_us);
    object_time(out, "to", s->now_us);
    object_int(out, "stepSeconds", s->step_us / 1000000);
    object_list(out, "points");
    for (size_t i = 0; i < s->count; i++) {
        const struct stats_point *p = &s->points[i];

        object_item(out);
        object_time(out, "at", s->first_us + (int64_t)i * s->step_us);
        object_int(out, "started", p->counted.started);
        object_int(out, "completed", p->counted.completed);
        object_int(out, "failed", p->counted.failed);
        object_int(out, "cancelled", p->counted.cancelled);
        write_latency(out, &p->counted);
        write_waiting(out, p);
        write_outbox_lag(out, p);
        buf_char(out, '}');
    }
    buf_text(out, "]}");
}

static bool run_stats(struct lookup *q, struct reader *reader, struct err *err)
{
    struct stats_series *s = q->args;
    struct stats_point *last = &s->points[s->count - 1];
    struct str org_id = q->call->user.org_id;
    bool has_others;

    if (!read_has_other_orgs(reader, &has_others, err))
        return false;
    s->shows_past_waiting = !has_others && str_eq(org_id, ORG_DEFAULT);
    /* The current minute is in memory. */
    if (!read_stats(reader, q->mem, s->first_us, s->now_us / MINUTE_US * MINUTE_US, org_id,
                    take_row, s, err) ||
        !minute_count_waiting(reader, s->shows_past_waiting ? STR_NONE : org_id, s->now_us,
                              &last->waiting, err))
        return false;
    last->has_waiting = true;
    take_longer_lag(last);
    write_series(&q->answer, s);
    return true;
}

/* --- the call --- */

/* A duration in whole minutes; refused when it is none, or not within the bounds. */
static bool read_minutes(struct call *c, const char *name, const char *fallback, int64_t max_us,
                         int64_t *out_us)
{
    struct str text = http_query(c->http, name);
    struct value v;

    if (text.len == 0)
        text = str_of(fallback);
    if (duration_read(text, &v) && v.nanos == 0 && v.seconds >= 60 &&
        v.seconds <= max_us / 1000000 && v.seconds % 60 == 0) {
        *out_us = v.seconds * 1000000;
        return true;
    }
    return call_refuse_text(c, ERR_BAD_REQUEST,
                            "%s is a number of minutes, such as 1m, 15m or 1h, up to %s", name,
                            max_us == WINDOW_MAX_US ? "7d" : "the window");
}

void stats_get(struct call *c)
{
    struct stats_series *s = ARENA_NEW(c->mem, struct stats_series);
    struct stats_point *now;
    int64_t window_us, at_us, last_us;
    struct minute counted = {0};

    if (!read_minutes(c, "window", "1h", WINDOW_MAX_US, &window_us) ||
        !read_minutes(c, "step", "1m", window_us, &s->step_us))
        return;
    s->count = (size_t)((window_us + s->step_us - 1) / s->step_us);
    if (s->count > POINTS_MAX) {
        call_refuse_text(c, ERR_BAD_REQUEST, "that is more than 1500 points: take a larger step");
        return;
    }
    s->now_us = api_now_us(c->api);
    last_us = s->now_us / s->step_us * s->step_us;
    s->first_us = last_us - (int64_t)(s->count - 1) * s->step_us;
    s->points = arena_zalloc(c->mem, s->count * sizeof(*s->points));
    for (size_t i = 0; i < s->count; i++)
        s->points[i].outbox_lag_us = -1;
    minutes_now(c->node, c->user.org_id, &at_us, &counted);
    now = point_at(s, at_us);
    if (now != NULL)
        now->counted = counted;
    lookup_start_long(c, s, run_stats, NULL);
}
