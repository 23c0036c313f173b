/* minutes.c - see minutes.h. */
#include "node/chore/minutes.h"

#include "base/log.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "node/request.h"
#include "store/change_retention.h"
#include "store/read_executions.h"
#include "store/read_outbox.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

struct minute_org {
    struct minute_org *next;
    struct str org_id;
    struct minute counted;
};

struct minutes {
    struct chore chore;       /* first: see chore.h; its memory is that of what is written */
    struct arena counted_mem; /* of the current minute */
    int64_t at_us;            /* wall: when it began */
    struct minute_org *orgs;
    size_t org_count;

    /* the minute that is being written */
    struct stats_rows rows;
    int64_t writing_us;
    struct node_read read;
    bool has_waiting;
    struct minute_waiting waiting;
    struct err err;
    struct stats_change change;
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
    object_nested(out, "latency");
    for (int i = 0; i < LATENCY_BUCKETS; i++) {
        if (m->latency[i] == 0)
            continue;
        (void)snprintf(name, sizeof(name), "%d", i);
        object_int(out, name, m->latency[i]);
    }
    buf_text(out, "}}");
}

bool minute_read(struct arena *mem, struct str data_json, struct minute *out)
{
    struct value data, latency;
    struct err err;

    if (!json_read(mem, data_json, &data, &err) || data.kind != VALUE_MAP)
        return false;
    out->started += value_map_int(data, STR("started"));
    out->completed += value_map_int(data, STR("completed"));
    out->failed += value_map_int(data, STR("failed"));
    out->cancelled += value_map_int(data, STR("cancelled"));
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
        out->executions[i] =
            waiting.kind == VALUE_MAP
                ? value_map_int(waiting, str_of(waiting_kind_name((enum waiting_kind)i)))
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
    o = ARENA_NEW(&t->counted_mem, struct minute_org);
    *o = (struct minute_org){.next = t->orgs, .org_id = str_copy(&t->counted_mem, org_id)};
    t->orgs = o;
    t->org_count++;
    return o;
}

void minutes_count(struct node *n, const struct commit *commit, bool is_end)
{
    const struct execution *x = commit->after;
    struct minutes *t = (struct minutes *)n->chores[CHORE_MINUTES];
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
    const struct minutes *t = (const struct minutes *)n->chores[CHORE_MINUTES];

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
    t->chore.is_busy = false;
    arena_reset(&t->chore.mem);
}

static void minute_write(struct minutes *t)
{
    struct buf waiting;
    struct err err;

    buf_init_arena(&waiting, &t->chore.mem);
    if (t->has_waiting) {
        buf_text(&waiting, "{\"waiting\":{");
        for (unsigned i = 1; i < WAITING_COUNT; i++)
            if (t->waiting.executions[i] > 0)
                object_int(&waiting, waiting_kind_name((enum waiting_kind)i),
                           t->waiting.executions[i]);
        buf_char(&waiting, '}');
        object_int(&waiting, "outboxLagUs", t->waiting.outbox_lag_us);
        buf_char(&waiting, '}');
        *VEC_ADD(&t->chore.mem, &t->rows) =
            (struct stats_row){.at_us = t->writing_us, .data_json = buf_view(&waiting)};
    }
    t->change = (struct stats_change){
        .change = {.apply = stats_change_apply},
        .rows = &t->rows,
        .before_us = t->writing_us - STATS_KEPT_US,
    };
    if (!chore_change(&t->chore, &t->change.change, minute_written, &err))
        t->chore.is_busy = false;
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

    if (t->chore.node->is_draining)
        t->chore.is_busy = false;
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

        buf_init_arena(&out, &t->chore.mem);
        write_minute(&out, &o->counted);
        *VEC_ADD(&t->chore.mem, &t->rows) =
            (struct stats_row){.at_us = t->at_us,
                               .org_id = str_copy(&t->chore.mem, o->org_id),
                               .data_json = buf_view(&out)};
    }
    t->orgs = NULL;
    t->org_count = 0;
    arena_reset(&t->counted_mem);
    t->at_us = clock_wall_us(t->chore.node->clock) / MINUTE_US * MINUTE_US;
}

static int64_t minutes_in_us(const struct chore *c)
{
    int64_t us = ((const struct minutes *)c)->at_us + MINUTE_US - clock_wall_us(c->node->clock);

    /* The clock may have been set back: the minute goes on. */
    return us > MINUTE_US ? MINUTE_US : us;
}

static void minutes_run(struct chore *c)
{
    struct minutes *t = (struct minutes *)c;
    struct err err;

    minute_close(t);
    c->is_busy = true;
    t->has_waiting = false;
    t->read = (struct node_read){
        .lane = LANE_CLIENT_SEARCH, .run = waiting_run, .done = waiting_done, .owner = t};
    if (!node_read(c->node, &t->read, &err))
        minute_write(t);
}

static bool minutes_open(struct chore *c, struct err *err)
{
    struct minutes *t = (struct minutes *)c;

    (void)err;
    t->at_us = clock_wall_us(c->node->clock) / MINUTE_US * MINUTE_US;
    arena_init(&t->counted_mem);
    return true;
}

static void minutes_close(struct chore *c)
{
    arena_fini(&((struct minutes *)c)->counted_mem);
}

const struct chore_kind chore_minutes = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY,
    .size = sizeof(struct minutes),
    .open = minutes_open,
    .run = minutes_run,
    .in_us = minutes_in_us,
    .close = minutes_close,
};
