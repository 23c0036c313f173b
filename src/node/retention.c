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
#include "node/inner.h"

#include "base/log.h"
#include "store/change_execution.h"

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
    struct node *node;
    int64_t next_us; /* monotonic; when to go on */
    bool is_busy;    /* a read or a request is under way */
    int64_t after_row;
    bool is_last;       /* the page reached those that are too young */
    struct arena mem;   /* of the page */
    struct uuid *ids;   /* those to be deleted */
    size_t count, done; /* of them */
    int64_t before_us;
    int64_t asked_us; /* monotonic; when the request was made */
    bool gives_back;  /* nothing is left to be deleted, but the file has free pages */
    int64_t purged;
    struct execution_purge purge;
    struct node_request request;
};

void retention_open(struct node *n)
{
    if (n->options.keep_ended_us <= 0)
        return;
    n->retention = ARENA_NEW(&n->mem, struct retention);
    n->retention->node = n;
    arena_init(&n->retention->mem);
}

void retention_close(struct node *n)
{
    if (n->retention != NULL)
        arena_fini(&n->retention->mem);
}

int64_t retention_purged(const struct node *n)
{
    return n->retention == NULL ? 0 : n->retention->purged;
}

static void go_on_in(struct retention *t, int64_t us)
{
    t->is_busy = false;
    t->next_us = clock_mono_us(t->node->clock) + us;
}

/* Until the next sweep: a tenth of what is kept, within reason. */
static int64_t rest_us(const struct retention *t)
{
    int64_t us = t->node->options.keep_ended_us / 10;

    return us > REST_MAX_US ? REST_MAX_US : us < REST_MIN_US ? REST_MIN_US : us;
}

/* The page is dealt with. */
static void finish_page(struct retention *t, int64_t pause_us)
{
    t->count = t->done = 0;
    if (t->is_last) {
        t->after_row = 0;
        go_on_in(t, rest_us(t));
    } else {
        go_on_in(t, pause_us);
    }
}

/* --- deleting --- */

static void deleted(struct node_request *r)
{
    struct retention *t = r->owner;
    int64_t took_us = clock_mono_us(t->node->clock) - t->asked_us;
    int64_t pause_us = took_us * PAUSE_FACTOR;

    if (pause_us < PAUSE_MIN_US)
        pause_us = PAUSE_MIN_US;
    if (!r->ok) {
        log_write(LOG_WARN, "old executions cannot be deleted",
                  LOG_FIELDS(log_str("reason", str_of(r->err.message))));
        go_on_in(t, TROUBLE_US);
        return;
    }
    t->purged += (int64_t)t->purge.deleted;
    t->done += t->purge.looked_at;
    t->gives_back = t->done == t->count && t->purge.free_pages > FREE_PAGES_KEPT;
    if (t->done < t->count || t->gives_back)
        go_on_in(t, pause_us);
    else
        finish_page(t, pause_us);
}

static void delete_some(struct retention *t)
{
    struct err err;

    t->purge = (struct execution_purge){
        .change = {.apply = execution_purge_apply, .now_us = clock_wall_us(t->node->clock)},
        .ids = t->ids + t->done,
        .count = t->count - t->done,
        .before_us = t->before_us,
    };
    t->request = (struct node_request){.kind = NODE_CHANGE,
                                       .change = &t->purge.change,
                                       .mem = &t->mem,
                                       .done = deleted,
                                       .owner = t};
    t->is_busy = true;
    t->asked_us = clock_mono_us(t->node->clock);
    if (!node_submit(t->node, &t->request, &err))
        go_on_in(t, TROUBLE_US);
}

/* --- finding --- */

static void run_ended(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_ended(reader, &l->mem, l->ended.after_row, PAGE_ROWS, &l->ended.rows, &l->err);
}

static void take_page(struct retention *t, const struct ended_executions *rows)
{
    arena_reset(&t->mem);
    t->ids = ARENA_ARRAY(&t->mem, rows->count + 1, struct uuid);
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

static void done_ended(struct node_read *read)
{
    struct load *l = read->owner;
    struct retention *t = l->node->retention;

    if (l->ok)
        take_page(t, &l->ended.rows);
    if (!l->ok)
        go_on_in(t, TROUBLE_US);
    else if (t->count == 0)
        finish_page(t, PAUSE_MIN_US);
    else
        go_on_in(t, 0);
    load_free(l);
}

static void read_page(struct retention *t)
{
    struct load *l = load_new(t->node, run_ended, done_ended);

    t->before_us = clock_wall_us(t->node->clock) - t->node->options.keep_ended_us;
    t->is_busy = true;
    l->ended.after_row = t->after_row;
    load_send(l);
}

int64_t retention_in_us(const struct node *n)
{
    const struct retention *t = n->retention;
    int64_t us;

    if (t == NULL || t->is_busy || n->is_draining)
        return INT64_MAX;
    us = t->next_us - clock_mono_us(n->clock);
    return us > 0 ? us : 0;
}

void retention_run(struct node *n)
{
    struct retention *t = n->retention;

    if (t == NULL || !n->is_recovered || retention_in_us(n) > 0)
        return;
    if (t->done < t->count || t->gives_back)
        delete_some(t);
    else
        read_page(t);
}
