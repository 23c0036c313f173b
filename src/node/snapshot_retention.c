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
#include "node/inner.h"

#include "base/log.h"
#include "store/change_snapshot.h"

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
    struct node *node;
    enum sweep_state state;
    int64_t next_us; /* monotonic; when to go on */
    bool is_busy;    /* a read or a request is under way */
    struct arena mem;
    struct map unseen; /* old snapshots that no execution has, as far as was walked */
    int64_t before_us; /* wall; older ones are old */
    int64_t after_row; /* where the walk is */
    bool is_full;      /* there are more old ones, behind `last_hash` */
    char last_hash[HASH_MAX];
    size_t last_hash_len;
    int64_t asked_us; /* monotonic */
    struct str batch[DELETE_MAX];
    struct snapshot_purge purge;
    struct node_request request;
};

void snapshot_retention_open(struct node *n)
{
    struct snapshot_retention *t;

    if (n->options.keep_snapshots_us <= 0)
        return;
    ASSERT(n->options.keep_snapshots_us >= 2 * SWEEP_EVERY_US);
    t = n->snapshot_retention = ARENA_NEW(&n->mem, struct snapshot_retention);
    t->node = n;
    t->next_us = clock_mono_us(n->clock) + FIRST_SWEEP_US;
    arena_init(&t->mem);
    map_init(&t->unseen, &t->mem);
}

void snapshot_retention_close(struct node *n)
{
    if (n->snapshot_retention != NULL)
        arena_fini(&n->snapshot_retention->mem);
}

static void sweep_go_on(struct snapshot_retention *t, enum sweep_state state, int64_t in_us)
{
    t->state = state;
    t->is_busy = false;
    t->next_us = clock_mono_us(t->node->clock) + in_us;
}

/* What was asked for took a time: four times as long nothing is asked. */
static int64_t sweep_pause_us(const struct snapshot_retention *t)
{
    int64_t us = (clock_mono_us(t->node->clock) - t->asked_us) * PAUSE_FACTOR;

    return us < PAUSE_MIN_US ? PAUSE_MIN_US : us;
}

static void sweep_forget(struct snapshot_retention *t)
{
    arena_reset(&t->mem);
    map_init(&t->unseen, &t->mem);
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
        .change = {.apply = snapshot_purge_apply, .now_us = clock_wall_us(t->node->clock)},
        .hashes = t->batch,
        .count = count,
        .before_us = t->before_us,
    };
    t->request = (struct node_request){.kind = NODE_CHANGE,
                                       .change = &t->purge.change,
                                       .mem = &t->mem,
                                       .done = sweep_deleted,
                                       .owner = t};
    if (!node_submit(t->node, &t->request, &err))
        sweep_fail(t, &err);
}

/* --- walking --- */

static void run_pinned(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_pinned(reader, &l->mem, l->snapshots.after_row, WINDOW_ROWS, &l->snapshots.pinned,
                        &l->err);
}

static void done_pinned(struct node_read *read)
{
    struct load *l = read->owner;
    struct snapshot_retention *t = l->node->snapshot_retention;
    const struct pinned_snapshots *pinned = &l->snapshots.pinned;

    if (!l->ok) {
        sweep_fail(t, &l->err);
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
    load_free(l);
}

static void sweep_walk(struct snapshot_retention *t)
{
    struct load *l = load_new(t->node, run_pinned, done_pinned);

    l->read.lane = LANE_CLIENT_SEARCH;
    l->snapshots.after_row = t->after_row;
    load_send(l);
}

/* --- choosing --- */

static void run_old(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_old_snapshots(reader, &l->mem, l->snapshots.before_us, l->snapshots.after_hash,
                               OLD_MAX, &l->snapshots.old, &l->err);
}

static void take_old(struct snapshot_retention *t, const struct snapshot_hashes *old)
{
    for (size_t i = 0; i < old->count; i++)
        (void)map_add(&t->unseen, str_copy(&t->mem, old->items[i]), NULL);
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

static void done_old(struct node_read *read)
{
    struct load *l = read->owner;
    struct snapshot_retention *t = l->node->snapshot_retention;

    if (l->ok)
        take_old(t, &l->snapshots.old);
    else
        sweep_fail(t, &l->err);
    load_free(l);
}

static void sweep_choose(struct snapshot_retention *t)
{
    struct load *l = load_new(t->node, run_old, done_old);

    t->before_us = clock_wall_us(t->node->clock) - t->node->options.keep_snapshots_us;
    l->read.lane = LANE_CLIENT_SEARCH;
    l->snapshots.before_us = t->before_us;
    l->snapshots.after_hash = str_from(t->last_hash, t->last_hash_len);
    load_send(l);
}

/* --- the loop --- */

int64_t snapshot_retention_in_us(const struct node *n)
{
    const struct snapshot_retention *t = n->snapshot_retention;
    int64_t us;

    if (t == NULL || t->is_busy || n->is_draining || !n->is_recovered)
        return INT64_MAX;
    us = t->next_us - clock_mono_us(n->clock);
    return us > 0 ? us : 0;
}

void snapshot_retention_run(struct node *n)
{
    struct snapshot_retention *t = n->snapshot_retention;

    if (snapshot_retention_in_us(n) > 0)
        return;
    t->is_busy = true;
    t->asked_us = clock_mono_us(n->clock);
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
