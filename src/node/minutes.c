/* minutes.c - see minutes.h. */
#include "node/minutes.h"

#include "base/log.h"
#include "node/inner.h"
#include "store/change_stats.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>
#include <stdlib.h>

struct minute_org {
    struct minute_org *next;
    struct str org_id;
    struct minute counted;
};

struct minutes {
    struct node *node;
    struct arena mem; /* of the minute under way */
    int64_t at_us;    /* wall: when it began */
    struct minute_org *orgs;
    size_t org_count;

    /* the minute that is being written */
    bool is_busy;
    struct arena writing;
    struct stats_rows rows;
    int64_t writing_us;
    struct node_read read;
    bool has_waiting;
    struct minute_waiting waiting;
    struct err err;
    struct stats_change change;
    struct node_request request;
};

/* --- buckets --- */

/* The bucket of a time: four for each time it doubles. */
static int latency_bucket(int64_t us)
{
    uint64_t n = us > 0 ? (uint64_t)us : 0;
    int octave = 0, bucket;

    if (n < 4)
        return (int)n;
    while (n >> octave >= 8)
        octave++;
    /* 4 to 7 remain of it. */
    bucket = 4 * octave + (int)(n >> octave);
    return bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1;
}

/* The middle of a bucket. */
static int64_t latency_middle(int bucket)
{
    int octave = bucket / 4 - 1;
    int64_t low, high;

    if (bucket < 4)
        return bucket;
    low = (int64_t)(4 + bucket % 4) << octave;
    high = (int64_t)(5 + bucket % 4) << octave;
    return low + (high - low) / 2;
}

int64_t minute_quantile(const struct minute *m, int percent)
{
    int64_t all = 0, below = 0;

    for (int i = 0; i < LATENCY_BUCKETS; i++)
        all += m->latency[i];
    for (int i = 0; i < LATENCY_BUCKETS; i++) {
        below += m->latency[i];
        if (below > 0 && below * 100 >= all * percent)
            return latency_middle(i);
    }
    return -1;
}

/* --- rows --- */

static void write_minute(struct buf *out, const struct minute *m)
{
    char name[16];

    buf_char(out, '{');
    object_int(out, "started", m->started);
    object_int(out, "completed", m->completed);
    object_int(out, "failed", m->failed);
    object_int(out, "cancelled", m->cancelled);
    object_name(out, "latency");
    buf_char(out, '{');
    for (int i = 0; i < LATENCY_BUCKETS; i++) {
        if (m->latency[i] == 0)
            continue;
        (void)snprintf(name, sizeof(name), "%d", i);
        object_int(out, name, m->latency[i]);
    }
    buf_text(out, "}}");
}

static int64_t member_int(struct value map, const char *name)
{
    struct value v = value_map_get_str(map, str_of(name));

    return v.kind == VALUE_INT ? v.i : 0;
}

bool minute_read(struct arena *mem, struct str data_json, struct minute *out)
{
    struct value data, latency;
    struct err err;

    if (!json_read(mem, data_json, &data, &err) || data.kind != VALUE_MAP)
        return false;
    out->started += member_int(data, "started");
    out->completed += member_int(data, "completed");
    out->failed += member_int(data, "failed");
    out->cancelled += member_int(data, "cancelled");
    latency = value_map_get_str(data, STR("latency"));
    for (uint32_t i = 0; latency.kind == VALUE_MAP && i < latency.map->count; i++) {
        const struct value_entry *e = &latency.map->entries[i];
        int64_t bucket;

        if (str_to_int64(value_text(e->key), &bucket) && bucket >= 0 && bucket < LATENCY_BUCKETS &&
            e->value.kind == VALUE_INT)
            out->latency[bucket] += e->value.i;
    }
    return true;
}

bool minute_read_waiting(struct arena *mem, struct str data_json, struct minute_waiting *out)
{
    struct value data, waiting, lag;
    struct err err;

    if (!json_read(mem, data_json, &data, &err) || data.kind != VALUE_MAP)
        return false;
    waiting = value_map_get_str(data, STR("waiting"));
    for (unsigned i = 0; i < WAITING_COUNT; i++)
        out->executions[i] = waiting.kind == VALUE_MAP
                                 ? member_int(waiting, waiting_kind_name((enum waiting_kind)i))
                                 : -1;
    lag = value_map_get_str(data, STR("outboxLagUs"));
    out->outbox_lag_us = lag.kind == VALUE_INT ? lag.i : -1;
    return true;
}

bool minute_count_waiting(struct reader *r, struct str org_id, int64_t now_us,
                          struct minute_waiting *out, struct err *err)
{
    int64_t oldest_us;

    if (!read_waiting_counts(r, org_id, out->executions, err) ||
        !read_outbox_oldest(r, org_id, &oldest_us, err))
        return false;
    /* The clock of the node that wrote the message may be ahead. */
    out->outbox_lag_us = oldest_us > 0 && oldest_us < now_us ? now_us - oldest_us : 0;
    return true;
}

/* --- counting --- */

static struct minute_org *org_get(struct minutes *t, struct str org_id)
{
    struct minute_org *o;

    for (o = t->orgs; o != NULL; o = o->next)
        if (str_eq(o->org_id, org_id))
            return o;
    if (t->org_count == MINUTE_ORGS_MAX)
        return NULL;
    o = ARENA_NEW(&t->mem, struct minute_org);
    *o = (struct minute_org){.next = t->orgs, .org_id = str_copy(&t->mem, org_id)};
    t->orgs = o;
    t->org_count++;
    return o;
}

void minutes_count(struct node *n, const struct commit *commit, bool is_end)
{
    const struct execution *x = commit->after;
    struct minutes *t = n->minutes;
    struct minute_org *o;

    if (t == NULL || (!commit->is_start && commit->starts.count == 0 && !is_end))
        return;
    o = org_get(t, x->org_id);
    if (o == NULL)
        return;
    o->counted.started += commit->is_start + (int64_t)commit->starts.count;
    if (!is_end)
        return;
    o->counted.completed += x->status == STATUS_COMPLETED;
    o->counted.failed += x->status == STATUS_FAILED;
    o->counted.cancelled += x->status == STATUS_CANCELLED;
    o->counted.latency[latency_bucket(x->completed_at_us - x->created_at_us)]++;
}

void minutes_now(const struct node *n, struct str org_id, int64_t *at_us, struct minute *out)
{
    const struct minutes *t = n->minutes;

    *at_us = t != NULL ? t->at_us : 0;
    for (const struct minute_org *o = t != NULL ? t->orgs : NULL; o != NULL; o = o->next) {
        if (!str_eq(o->org_id, org_id))
            continue;
        out->started += o->counted.started;
        out->completed += o->counted.completed;
        out->failed += o->counted.failed;
        out->cancelled += o->counted.cancelled;
        for (int i = 0; i < LATENCY_BUCKETS; i++)
            out->latency[i] += o->counted.latency[i];
    }
}

/* --- a minute is over --- */

static void minute_written(struct node_request *r)
{
    struct minutes *t = r->owner;

    if (!r->ok)
        log_write(LOG_WARN, "the figures of a minute cannot be stored",
                  LOG_FIELDS(log_str("reason", str_of(r->err.message))));
    t->is_busy = false;
    arena_reset(&t->writing);
}

static void minute_write(struct minutes *t)
{
    struct node *n = t->node;
    struct buf waiting;
    struct err err;

    buf_init_arena(&waiting, &t->writing);
    if (t->has_waiting) {
        buf_text(&waiting, "{\"waiting\":{");
        for (unsigned i = 1; i < WAITING_COUNT; i++)
            if (t->waiting.executions[i] > 0)
                object_int(&waiting, waiting_kind_name((enum waiting_kind)i),
                           t->waiting.executions[i]);
        buf_char(&waiting, '}');
        object_int(&waiting, "outboxLagUs", t->waiting.outbox_lag_us);
        buf_char(&waiting, '}');
        *VEC_ADD(&t->writing, &t->rows) =
            (struct stats_row){.at_us = t->writing_us, .data_json = buf_view(&waiting)};
    }
    t->change = (struct stats_change){
        .change = {.apply = stats_change_apply, .now_us = clock_wall_us(n->clock)},
        .rows = &t->rows,
        .before_us = t->writing_us - STATS_KEPT_US,
    };
    t->request = (struct node_request){.kind = NODE_CHANGE,
                                       .change = &t->change.change,
                                       .mem = &t->writing,
                                       .done = minute_written,
                                       .owner = t};
    if (!node_submit(n, &t->request, &err))
        t->is_busy = false;
}

static void waiting_run(struct node_read *read, struct reader *reader)
{
    struct minutes *t = read->owner;

    t->has_waiting =
        minute_count_waiting(reader, STR_NONE, t->writing_us + MINUTE_US, &t->waiting, &t->err);
}

static void waiting_done(struct node_read *read)
{
    struct minutes *t = read->owner;

    if (t->node->is_draining)
        t->is_busy = false;
    else
        minute_write(t);
}

/* What was counted becomes rows, and the next minute begins. */
static void minute_close(struct minutes *t)
{
    t->rows = (struct stats_rows){0};
    t->writing_us = t->at_us;
    for (const struct minute_org *o = t->orgs; o != NULL; o = o->next) {
        struct buf out;

        buf_init_arena(&out, &t->writing);
        write_minute(&out, &o->counted);
        *VEC_ADD(&t->writing, &t->rows) =
            (struct stats_row){.at_us = t->at_us,
                               .org_id = str_copy(&t->writing, o->org_id),
                               .data_json = buf_view(&out)};
    }
    t->orgs = NULL;
    t->org_count = 0;
    arena_reset(&t->mem);
    t->at_us = clock_wall_us(t->node->clock) / MINUTE_US * MINUTE_US;
}

int64_t minutes_in_us(const struct node *n)
{
    const struct minutes *t = n->minutes;
    int64_t us;

    if (t == NULL || t->is_busy || n->is_draining || !n->is_recovered)
        return INT64_MAX;
    us = t->at_us + MINUTE_US - clock_wall_us(n->clock);
    /* The clock may have been set back: the minute goes on. */
    return us <= 0 ? 0 : us > MINUTE_US ? MINUTE_US : us;
}

void minutes_run(struct node *n)
{
    struct minutes *t = n->minutes;
    struct err err;

    if (minutes_in_us(n) > 0)
        return;
    minute_close(t);
    t->is_busy = true;
    t->has_waiting = false;
    t->read = (struct node_read){
        .lane = LANE_CLIENT_SEARCH, .run = waiting_run, .done = waiting_done, .owner = t};
    if (!node_read(n, &t->read, &err))
        minute_write(t);
}

void minutes_open(struct node *n)
{
    struct minutes *t;

    if (n->options.meters == NULL)
        return;
    t = n->minutes = ARENA_NEW(&n->mem, struct minutes);
    *t = (struct minutes){.node = n, .at_us = clock_wall_us(n->clock) / MINUTE_US * MINUTE_US};
    arena_init(&t->mem);
    arena_init(&t->writing);
}

void minutes_close(struct node *n)
{
    if (n->minutes == NULL)
        return;
    arena_fini(&n->minutes->mem);
    arena_fini(&n->minutes->writing);
}
