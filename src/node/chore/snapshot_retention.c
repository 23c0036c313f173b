/*
 * snapshot_retention.c - snapshots that no execution has are deleted, once a day.
 *
 * A sweep first reads which snapshots were not kept for long: usually none, or
 * those of executions that live long. Then it walks all executions by their
 * key, a window at a time with pauses, and strikes out the snapshots they have,
 * until none is left or all were seen. What is left is deleted in small members.
 *
 *     resting --a day--> choosing --old ones--> walking --end--> deleting
 *        ^                  |  ^                                     |
 *        +------ none ------+  +---------- more old ones ------------+
 *
 * No lock is held meanwhile. An execution that begins, or moves to another
 * version, during the sweep keeps its snapshot anew with the same commit,
 * unless it was kept within the last day (SQL_SNAPSHOT_KEEP); the deletion says
 * again how old a snapshot must be, as of the beginning of the sweep.
 */
#include "base/log.h"
#include "base/map.h"
#include "node/cache/load.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "store/change_retention.h"

enum {
    OLD_MAX = 10000,   /* snapshots that one sweep looks at */
    WINDOW_ROWS = 500, /* executions read at once */
    DELETE_MAX = 100,  /* snapshots in one member */
    HASH_MAX = 64,
};

#define SWEEP_EVERY_US INT64_C(86400000000)
#define FIRST_SWEEP_US INT64_C(600000000)
#define TROUBLE_US INT64_C(3600000000)
#define PAUSE_MIN_US INT64_C(50000)
#define PAUSE_FACTOR 4

enum sweep_state { SWEEP_CHOOSING, SWEEP_WALKING, SWEEP_DELETING };

struct snapshot_retention {
    struct chore chore; /* first: see chore.h */
    enum sweep_state state;
    struct map unseen; /* old snapshots that no execution has, as far as was walked */
    int64_t before_us; /* wall; older ones are old */
    int64_t after_row; /* where the walk is */
    bool is_full;      /* there are more old ones, behind `last_hash` */
    char last_hash[HASH_MAX];
    size_t last_hash_len;
    int64_t asked_us; /* monotonic */
    struct str batch[DELETE_MAX];
    struct snapshot_purge purge;
};

static bool snapshot_retention_open(struct chore *c, struct err *err)
{
    (void)err;
    ASSERT(c->node->options.keep_snapshots_us >= 2 * SWEEP_EVERY_US);
    chore_rest(c, FIRST_SWEEP_US);
    map_init(&((struct snapshot_retention *)c)->unseen, &c->mem);
    return true;
}

static void sweep_go_on(struct snapshot_retention *t, enum sweep_state state, int64_t in_us)
{
    t->state = state;
    chore_rest(&t->chore, in_us);
}

/* What was asked for took a time: four times as long nothing is asked. */
static int64_t sweep_pause_us(const struct snapshot_retention *t)
{
    int64_t us = (clock_mono_us(t->chore.node->clock) - t->asked_us) * PAUSE_FACTOR;

    return us < PAUSE_MIN_US ? PAUSE_MIN_US : us;
}

static void sweep_forget(struct snapshot_retention *t)
{
    arena_reset(&t->chore.mem);
    map_init(&t->unseen, &t->chore.mem);
}

static void sweep_end(struct snapshot_retention *t)
{
    bool has_more = t->is_full;

    sweep_forget(t);
    if (!has_more)
        t->last_hash_len = 0;
    sweep_go_on(t, SWEEP_CHOOSING, has_more ? sweep_pause_us(t) : SWEEP_EVERY_US);
}

static void sweep_fail(struct snapshot_retention *t, const struct err *err)
{
    log_write(LOG_WARN, "unused snapshots cannot be deleted",
              LOG_FIELDS(log_str("reason", str_of(err->message))));
    sweep_forget(t);
    t->last_hash_len = 0;
    sweep_go_on(t, SWEEP_CHOOSING, TROUBLE_US);
}

/* --- deleting --- */

static void sweep_deleted(struct node_request *r)
{
    struct snapshot_retention *t = r->owner;

    if (!r->ok) {
        sweep_fail(t, &r->err);
        return;
    }
    for (size_t i = 0; i < t->purge.count; i++)
        (void)map_remove(&t->unseen, t->batch[i]);
    if (t->unseen.count == 0)
        sweep_end(t);
    else
        sweep_go_on(t, SWEEP_DELETING, sweep_pause_us(t));
}

static void sweep_delete_some(struct snapshot_retention *t)
{
    size_t count = 0;
    struct err err;

    for (const struct map_entry *e = NULL;
         count < DELETE_MAX && (e = map_next(&t->unseen, e)) != NULL;)
        t->batch[count++] = e->key;
    t->purge = (struct snapshot_purge){
        .change = {.apply = snapshot_purge_apply},
        .hashes = t->batch,
        .count = count,
        .before_us = t->before_us,
    };
    if (!chore_change(&t->chore, &t->purge.change, sweep_deleted, &err))
        sweep_fail(t, &err);
}

/* --- walking --- */

struct pinned_load {
    struct load load; /* first: see load.h */
    struct snapshot_retention *sweep;
    int64_t after_row;
    struct pinned_snapshots pinned;
};

static void run_pinned(struct load *load, struct reader *reader)
{
    struct pinned_load *l = (struct pinned_load *)load;

    load->ok = read_pinned(reader, &load->mem, l->after_row, WINDOW_ROWS, &l->pinned, &load->err);
}

static void done_pinned(struct load *load)
{
    struct pinned_load *l = (struct pinned_load *)load;
    struct snapshot_retention *t = l->sweep;
    const struct pinned_snapshots *pinned = &l->pinned;

    if (!load->ok) {
        sweep_fail(t, &load->err);
    } else {
        for (size_t i = 0; i < pinned->hashes.count; i++)
            (void)map_remove(&t->unseen, pinned->hashes.items[i]);
        t->after_row = pinned->last_row;
        if (t->unseen.count == 0)
            sweep_end(t);
        else
            sweep_go_on(t, pinned->seen < WINDOW_ROWS ? SWEEP_DELETING : SWEEP_WALKING,
                        sweep_pause_us(t));
    }
    load_free(load);
}

static void sweep_walk(struct snapshot_retention *t)
{
    struct pinned_load *l = LOAD_NEW(t->chore.node, struct pinned_load, run_pinned, done_pinned);

    l->load.read.lane = LANE_CLIENT_SEARCH;
    l->sweep = t;
    l->after_row = t->after_row;
    load_send(&l->load);
}

/* --- choosing --- */

struct old_load {
    struct load load; /* first: see load.h */
    struct snapshot_retention *sweep;
    int64_t before_us;
    struct str after_hash;
    struct snapshot_hashes old;
};

static void run_old(struct load *load, struct reader *reader)
{
    struct old_load *l = (struct old_load *)load;

    load->ok = read_old_snapshots(reader, &load->mem, l->before_us, l->after_hash, OLD_MAX, &l->old,
                                  &load->err);
}

static void take_old(struct snapshot_retention *t, const struct snapshot_hashes *old)
{
    for (size_t i = 0; i < old->count; i++)
        (void)map_add(&t->unseen, str_copy(&t->chore.mem, old->items[i]), NULL);
    t->is_full = old->count == OLD_MAX;
    if (t->is_full) {
        struct str last = old->items[old->count - 1];

        t->last_hash_len = last.len < HASH_MAX ? last.len : HASH_MAX;
        memcpy(t->last_hash, last.ptr, t->last_hash_len);
    }
    t->after_row = 0;
    if (old->count == 0)
        sweep_end(t);
    else
        sweep_go_on(t, SWEEP_WALKING, 0);
}

static void done_old(struct load *load)
{
    struct old_load *l = (struct old_load *)load;
    struct snapshot_retention *t = l->sweep;

    if (load->ok)
        take_old(t, &l->old);
    else
        sweep_fail(t, &load->err);
    load_free(load);
}

static void sweep_choose(struct snapshot_retention *t)
{
    struct old_load *l = LOAD_NEW(t->chore.node, struct old_load, run_old, done_old);

    t->before_us = clock_wall_us(t->chore.node->clock) - t->chore.node->options.keep_snapshots_us;
    l->load.read.lane = LANE_CLIENT_SEARCH;
    l->sweep = t;
    l->before_us = t->before_us;
    l->after_hash = str_from(t->last_hash, t->last_hash_len);
    load_send(&l->load);
}

/* --- the loop --- */

static void snapshot_retention_run(struct chore *c)
{
    struct snapshot_retention *t = (struct snapshot_retention *)c;

    c->is_busy = true;
    t->asked_us = clock_mono_us(c->node->clock);
    switch (t->state) {
    case SWEEP_CHOOSING:
        sweep_choose(t);
        break;
    case SWEEP_WALKING:
        sweep_walk(t);
        break;
    case SWEEP_DELETING:
        sweep_delete_some(t);
        break;
    }
}

const struct chore_kind chore_snapshot_retention = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY | CHORE_IS_DUTY,
    .size = sizeof(struct snapshot_retention),
    .open = snapshot_retention_open,
    .run = snapshot_retention_run,
};
