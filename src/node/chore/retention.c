/*
 * retention.c - executions that ended long ago are deleted, a little at a time.
 *
 * A sweep walks all executions from the oldest on, a page of rows at a time,
 * and ends where they are too young to have ended long ago: no index is needed
 * for that, and what lives long is only walked past. What is found is deleted
 * by members of a bounded size, like any other change. After each one there is
 * a pause of four times what it took, so that at most a fifth of the store's
 * time goes into this.
 *
 *     resting --time--> reading --ids--> deleting --all gone--> reading ...
 *        ^                 |                                       |
 *        +--- too young ---+---------------------------------------+
 */
#include "node/chore/retention.h"

#include "base/log.h"
#include "node/cache/load.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "store/change_retention.h"

enum {
    PAGE_ROWS = 500,
    FREE_PAGES_KEPT = 200, /* of the file: new executions will need them */
};

#define PAUSE_MIN_US INT64_C(50000)
#define PAUSE_FACTOR 4
#define REST_MAX_US INT64_C(60000000)
#define REST_MIN_US INT64_C(1000000)
#define TROUBLE_US INT64_C(5000000)

struct retention {
    struct chore chore; /* first: see chore.h; its memory is that of the page */
    int64_t after_row;
    bool is_last;       /* the page reached those that are too young */
    struct uuid *ids;   /* those to be deleted */
    size_t count, done; /* of them */
    int64_t before_us;
    int64_t asked_us; /* monotonic; when the request was made */
    bool gives_back;  /* nothing is left to be deleted, but the file has free pages */
    int64_t purged;
    int64_t spared, spared_before; /* for their dead letters: of this sweep, of the last one */
    struct execution_purge purge;
};

int64_t retention_purged(const struct node *n)
{
    const struct retention *t = (const struct retention *)n->chores[CHORE_RETENTION];

    return t == NULL ? 0 : t->purged;
}

int64_t retention_spared(const struct node *n)
{
    const struct retention *t = (const struct retention *)n->chores[CHORE_RETENTION];

    return t == NULL ? 0 : t->spared_before;
}

/* Until the next sweep: a tenth of what is kept, within reason. */
static int64_t rest_us(const struct retention *t)
{
    int64_t us = t->chore.node->options.keep_ended_us / 10;

    return us > REST_MAX_US ? REST_MAX_US : us < REST_MIN_US ? REST_MIN_US : us;
}

/* The sweep has seen all of them. */
static void finish_sweep(struct retention *t)
{
    if (t->spared > 0 && t->spared != t->spared_before)
        log_write(LOG_WARN, "old executions are kept because their dead letters are open",
                  LOG_FIELDS(log_int("executions", t->spared)));
    t->spared_before = t->spared;
    t->spared = 0;
    t->after_row = 0;
}

/* The page is dealt with. */
static void finish_page(struct retention *t, int64_t pause_us)
{
    t->count = t->done = 0;
    if (t->is_last) {
        finish_sweep(t);
        chore_rest(&t->chore, rest_us(t));
    } else {
        chore_rest(&t->chore, pause_us);
    }
}

/* --- deleting --- */

static void executions_purged(struct node_request *r)
{
    struct retention *t = r->owner;
    int64_t took_us = clock_mono_us(t->chore.node->clock) - t->asked_us;
    int64_t pause_us = took_us * PAUSE_FACTOR;

    if (pause_us < PAUSE_MIN_US)
        pause_us = PAUSE_MIN_US;
    if (!r->ok) {
        log_write(LOG_WARN, "old executions cannot be deleted",
                  LOG_FIELDS(log_str("reason", str_of(r->err.message))));
        chore_rest(&t->chore, TROUBLE_US);
        return;
    }
    t->purged += (int64_t)t->purge.deleted;
    t->spared += (int64_t)t->purge.spared;
    t->done += t->purge.looked_at;
    t->gives_back = t->done == t->count && t->purge.free_pages > FREE_PAGES_KEPT;
    if (t->done < t->count || t->gives_back)
        chore_rest(&t->chore, pause_us);
    else
        finish_page(t, pause_us);
}

static void delete_some(struct retention *t)
{
    struct err err;

    t->purge = (struct execution_purge){
        .change = {.apply = execution_purge_apply},
        .ids = t->ids + t->done,
        .count = t->count - t->done,
        .before_us = t->before_us,
    };
    t->asked_us = clock_mono_us(t->chore.node->clock);
    if (!chore_change(&t->chore, &t->purge.change, executions_purged, &err))
        chore_rest(&t->chore, TROUBLE_US);
}

/* --- finding --- */

struct ended_load {
    struct load load; /* first: see load.h */
    struct retention *retention;
    int64_t after_row;
    struct ended_executions rows;
};

static void ended_run(struct load *load, struct reader *reader)
{
    struct ended_load *l = (struct ended_load *)load;

    load->ok = read_ended(reader, &load->mem, l->after_row, PAGE_ROWS, &l->rows, &load->err);
}

static void take_page(struct retention *t, const struct ended_executions *rows)
{
    arena_reset(&t->chore.mem);
    t->ids = ARENA_ARRAY(&t->chore.mem, rows->count + 1, struct uuid);
    t->is_last = rows->count < PAGE_ROWS;
    for (size_t i = 0; i < rows->count; i++) {
        const struct ended_execution *x = &rows->items[i];

        /* What began later has not ended before. */
        if (x->created_at_us >= t->before_us) {
            t->is_last = true;
            break;
        }
        t->after_row = x->row;
        if (x->completed_at_us > 0 && x->completed_at_us < t->before_us)
            t->ids[t->count++] = x->id;
    }
}

static void ended_done(struct load *load)
{
    struct ended_load *l = (struct ended_load *)load;
    struct retention *t = l->retention;

    if (load->ok)
        take_page(t, &l->rows);
    if (!load->ok)
        chore_rest(&t->chore, TROUBLE_US);
    else if (t->count == 0)
        finish_page(t, PAUSE_MIN_US);
    else
        chore_rest(&t->chore, 0);
    load_free(load);
}

static void read_page(struct retention *t)
{
    struct node *n = t->chore.node;
    struct ended_load *l = LOAD_NEW(n, struct ended_load, ended_run, ended_done);

    t->before_us = clock_wall_us(n->clock) - n->options.keep_ended_us;
    t->chore.is_busy = true;
    l->retention = t;
    l->after_row = t->after_row;
    load_send(&l->load);
}

static void retention_run(struct chore *c)
{
    struct retention *t = (struct retention *)c;

    if (t->done < t->count || t->gives_back)
        delete_some(t);
    else
        read_page(t);
}

const struct chore_kind chore_retention = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY | CHORE_IS_DUTY,
    .size = sizeof(struct retention),
    .run = retention_run,
};
