/*
 * due.c - which executions are due, read from the store: those of the next
 * minute into the heap of timers, those that are overdue and not in it, and
 * those that have rows in execution_events. See wake.h.
 */
#include "base/crash.h"
#include "base/log.h"
#include "node/cache/load.h"
#include "node/chore/chore.h"
#include "node/cluster/cluster.h"
#include "node/inner.h"
#include "node/node.h"
#include "node/timers.h"
#include "node/wake.h"

enum { DUE_PAGE = 1000 }; /* rows read at once */

#define REFILL_EVERY_US INT64_C(20000000)
#define LOOK_BACK_US INT64_C(5000000) /* what is overdue by this is looked for, this often */
#define LOOK_BACK_SHARED_US INT64_C(1000000)
#define EVENTS_PAGE_REST_US INT64_C(100000)
#define EVENTS_REST_MAX_US INT64_C(50000000) /* nobody sleeps for longer than a minute */

/* A page of executions that are due. */
struct due_load {
    struct load load; /* first: see load.h */
    struct shard_set shards;
    int64_t changes; /* of the shards that this node owns, when it was sent */
    int64_t after_us, until_us;
    struct uuid after_id;
    struct dues dues;
};

static void due_run(struct load *load, struct reader *reader)
{
    struct due_load *l = (struct due_load *)load;

    load->ok = read_due(reader, &load->mem, &l->shards, l->after_us, l->after_id, l->until_us,
                        DUE_PAGE, &l->dues, &load->err);
}

static struct due_load *due_load_new(struct node *n, load_done_fn *done)
{
    struct due_load *l = LOAD_NEW(n, struct due_load, due_run, done);

    l->shards = n->cluster->owned;
    l->changes = n->cluster->changes;
    return l;
}

/* --- the next minute --- */

/* Whoever waited for capacity when the server ended is in no queue: it looks for itself at once. */
static int64_t first_look_us(const struct node *n, const struct due *due)
{
    return due->waits_for_call && (!n->is_recovered || n->wake->is_taking) ? 0 : due->wake_at_us;
}

static void timers_were_read(struct load *load)
{
    struct due_load *l = (struct due_load *)load;
    const struct dues *dues = &l->dues;
    struct node *n = load->node;
    struct wake *w = n->wake;

    if (!n->is_recovered)
        CRASH_POINT(RECOVERING);
    for (size_t i = 0; load->ok && i < dues->count; i++)
        if (cluster_owns(n, dues->items[i].id))
            timers_set_sooner(&w->timers, dues->items[i].id, first_look_us(n, &dues->items[i]));
    if (load->ok && l->changes != n->cluster->changes) {
        chore_rest(&w->refill, 0); /* shards have come since: see wake_read_again() */
    } else if (!load->ok) {
        log_write(LOG_ERROR, "timers cannot be read",
                  LOG_FIELDS(log_str("reason", str_of(load->err.message))));
        w->refill_pause_us = clock_mono_us(n->clock) + RETRY_SOON_US;
        w->refill.is_busy = false;
    } else if (dues->is_cut) {
        w->filled_until_us = dues->items[dues->count - 1].wake_at_us;
        w->filled_id = dues->items[dues->count - 1].id;
        chore_rest(&w->refill, 0);
    } else {
        w->filled_until_us = l->until_us;
        w->filled_id = (struct uuid){.bytes = {0}};
        chore_rest(&w->refill, REFILL_EVERY_US);
        if (!n->is_recovered)
            CRASH_POINT(RECOVERED);
        n->is_recovered = true;
        w->is_taking = false;
    }
    load_free(load);
}

/* Until a page is to be read. */
static int64_t refill_left_us(const struct node *n)
{
    int64_t now_us = clock_mono_us(n->clock), at_us = n->wake->refill.next_us;

    if (clock_wall_us(n->clock) >= n->wake->filled_until_us)
        at_us = now_us; /* the clock was set forward */
    if (at_us < n->wake->refill_pause_us)
        at_us = n->wake->refill_pause_us;
    return at_us > now_us ? at_us - now_us : 0;
}

static bool is_clock_set_back(const struct node *n)
{
    return n->wake->filled_until_us > clock_wall_us(n->clock) + TIMER_WINDOW_US;
}

static int64_t refill_in_us(const struct chore *c)
{
    return is_clock_set_back(c->node) ? 0 : refill_left_us(c->node);
}

static void refill_run(struct chore *c)
{
    struct node *n = c->node;
    struct wake *w = n->wake;
    int64_t until_us = clock_wall_us(n->clock) + TIMER_WINDOW_US;
    struct due_load *l;

    /*
     * The clock was set back: what lies beyond the window is read again in time.
     * A wake that was to be tried again would wait for the old time.
     */
    if (is_clock_set_back(n)) {
        timers_remove_after(&w->timers, until_us);
        w->filled_until_us = until_us;
        w->filled_id = (struct uuid){.bytes = {0}};
    }
    if (refill_left_us(n) > 0)
        return;
    w->filling_until_us = until_us;
    c->is_busy = true;
    l = due_load_new(n, timers_were_read);
    l->after_us = w->filled_until_us;
    l->after_id = w->filled_id;
    l->until_us = until_us;
    load_send(&l->load);
}

const struct chore_kind chore_timers = {
    .needs = CHORE_NEEDS_RUNNING,
    .run = refill_run,
    .in_us = refill_in_us,
};

/* --- what is overdue --- */

/* Others may commit what is due here, and the notice of it may be lost. */
static int64_t look_back_us(const struct node *n)
{
    return node_is_shared(n) ? LOOK_BACK_SHARED_US : LOOK_BACK_US;
}

static void overdue_was_read(struct load *load)
{
    struct wake *w = load->node->wake;
    const struct dues *dues = &((struct due_load *)load)->dues;
    bool has_more = load->ok && dues->is_cut;

    w->overdue.is_busy = false;
    for (size_t i = 0; load->ok && i < dues->count; i++)
        timers_set_new(&w->timers, dues->items[i].id, dues->items[i].wake_at_us);
    w->overdue_after_us = has_more ? dues->items[dues->count - 1].wake_at_us : 0;
    w->overdue_after_id = has_more ? dues->items[dues->count - 1].id : (struct uuid){.bytes = {0}};
    load_free(load);
}

/*
 * Rows may come to be that this node has not written and that were due before
 * it looked: a database may finish a commit of a process that was killed after
 * the next one has started.
 */
static void overdue_run(struct chore *c)
{
    struct node *n = c->node;
    struct due_load *l = due_load_new(n, overdue_was_read);
    int64_t back_us = look_back_us(n);

    chore_rest(c, back_us);
    c->is_busy = true;
    l->after_us = n->wake->overdue_after_us;
    l->after_id = n->wake->overdue_after_id;
    l->until_us = clock_wall_us(n->clock) - back_us;
    load_send(&l->load);
}

const struct chore_kind chore_overdue = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY,
    .run = overdue_run,
};

/* --- rows of execution_events --- */

/* A page of executions that have such rows. */
struct events_page_load {
    struct load load; /* first: see load.h */
    int64_t after;    /* the last execution that was seen */
    struct noticed_executions rows;
};

static void events_page_run(struct load *load, struct reader *reader)
{
    struct events_page_load *l = (struct events_page_load *)load;

    load->ok =
        read_noticed_executions(reader, &load->mem, l->after, DUE_PAGE, &l->rows, &load->err);
}

/* How long to rest after all were looked at: most of them may be paused, and many. */
static int64_t events_rest_us(const struct node *n)
{
    int64_t us = look_back_us(n) + n->wake->events_pages * EVENTS_PAGE_REST_US;

    return us < EVENTS_REST_MAX_US ? us : EVENTS_REST_MAX_US;
}

static void orphans_purged(struct node_request *r)
{
    struct chore *c = r->owner;
    struct wake *w = c->node->wake;

    log_write(LOG_WARN,
              r->ok ? "events of executions that are gone were deleted"
                    : "events of executions that are gone cannot be deleted",
              LOG_FIELDS(log_int("executions", (int64_t)w->orphans.count)));
    chore_rest(c, w->events_rest_us);
    arena_reset(&c->mem);
}

/* Rows that nobody will ever hear of would be read again with every look. */
static void orphans_purge(struct node *n, const struct noticed_executions *rows, size_t count)
{
    struct wake *w = n->wake;
    struct notice_purge *p = &w->orphans;
    struct err err;

    *p = (struct notice_purge){.change = {.apply = notice_purge_apply, .leaves_executions = true}};
    p->rows = ARENA_ARRAY(&w->events.mem, count + 1, int64_t);
    for (size_t i = 0; i < count; i++)
        if (rows->items[i].is_gone)
            p->rows[p->count++] = rows->items[i].row;
    if (p->count > 0 && chore_change(&w->events, &p->change, orphans_purged, &err))
        return;
    chore_rest(&w->events, w->events_rest_us);
    arena_reset(&w->events.mem);
}

/* Pages follow at once as long as they are full, but for the wakes that may be in flight. */
static void events_page_done(struct load *load)
{
    const struct noticed_executions *rows = &((struct events_page_load *)load)->rows;
    struct node *n = load->node;
    struct wake *w = n->wake;
    size_t i = 0;

    for (; load->ok && i < rows->count && wake_may_fire(n); i++) {
        if (rows->items[i].is_due && cluster_owns(n, rows->items[i].id))
            wake_with_events(n, rows->items[i].id);
        w->events_after = rows->items[i].row;
    }
    w->events_rest_us = RETRY_SOON_US;
    if (load->ok && (i < rows->count || rows->count == DUE_PAGE)) {
        w->events_pages++;
        w->events_rest_us = 0;
    } else if (load->ok) {
        w->events_rest_us = events_rest_us(n);
        w->events_after = w->events_pages = 0;
    }
    orphans_purge(n, rows, load->ok ? rows->count : 0);
    load_free(load);
}

/* A row is also there when whoever wrote it did not come to wake the execution in memory. */
static void events_run(struct chore *c)
{
    struct node *n = c->node;
    struct events_page_load *l =
        LOAD_NEW(n, struct events_page_load, events_page_run, events_page_done);

    c->is_busy = true;
    l->after = n->wake->events_after;
    load_send(&l->load);
}

/* While too many wakes are in flight, more of them are not looked for. */
static int64_t events_in_us(const struct chore *c)
{
    return wake_may_fire(c->node) ? chore_left_us(c) : INT64_MAX;
}

const struct chore_kind chore_events = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY,
    .run = events_run,
    .in_us = events_in_us,
};
