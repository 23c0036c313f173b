/* wake.c - see wake.h. */
#include "node/wake.h"

#include "base/crash.h"
#include "base/log.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "node/cache/entry.h"
#include "node/cache/load.h"
#include "node/cluster/cluster.h"
#include "node/guard/guard.h"
#include "node/guard/park.h"
#include "node/inner.h"
#include "node/outside/calls.h"
#include "node/timers.h"
#include "node/work.h"

/* In flight at once, so that a million due executions fill nothing. */
enum { WAKES_MAX = 2048 };

void wake(struct node *n, struct uuid id)
{
    struct entry *e = entry_get(n, id);

    if (e->wake_queued)
        return;
    e->wake_queued = true;
    n->wake->count++;
    entry_queue(n, e, work_new(n, &work_wake));
}

void wake_with_events(struct node *n, struct uuid id)
{
    struct entry *e = entry_find(n, id);

    /* One that is not in memory is loaded with its events. */
    if (e != NULL)
        e->events.is_unread = true;
    wake(n, id);
}

/* Everything due up to this time is in the heap, or will be read into it. */
static int64_t horizon_us(const struct node *n)
{
    int64_t us = clock_wall_us(n->clock) + TIMER_WINDOW_US;

    /* These lie beyond right after the clock was set back. */
    if (n->wake->filled_until_us > us)
        us = n->wake->filled_until_us;
    return n->wake->refill.is_busy && n->wake->filling_until_us > us ? n->wake->filling_until_us
                                                                     : us;
}

void wake_or_notify(struct node *n, struct uuid id)
{
    if (cluster_owns(n, id))
        wake(n, id);
    else
        cluster_note_due(n, id);
}

void wake_events_or_notify(struct node *n, struct uuid id)
{
    if (cluster_owns(n, id))
        wake_with_events(n, id);
    else
        cluster_note_due(n, id);
}

void wake_read_again(struct node *n)
{
    n->wake->filled_until_us = 0;
    n->wake->filled_id = (struct uuid){.bytes = {0}};
    n->wake->is_taking = true;
    chore_hurry(&n->wake->refill, 0);
    chore_hurry(&n->wake->events, 0);
}

void wake_arm(struct node *n, const struct execution *x)
{
    bool is_soon =
        x->wake_at_us > 0 && x->wake_at_us <= horizon_us(n) && x->crash_count < CRASHES_MAX;

    if (is_soon && !cluster_owns(n, x->id))
        cluster_note_due(n, x->id);
    else if (is_soon)
        timers_set(&n->wake->timers, x->id, x->wake_at_us);
    else
        timers_remove(&n->wake->timers, x->id);
}

void wake_later(struct node *n, struct uuid id, int64_t delay_us)
{
    timers_set(&n->wake->timers, id, clock_wall_us(n->clock) + delay_us);
}

bool wake_may_fire(const struct node *n)
{
    return n->is_recovered && !n->is_draining && !n->options.is_paused &&
           n->wake->count < WAKES_MAX && cluster_may_act(n);
}

bool wake_fire(struct node *n)
{
    int64_t now_us = clock_wall_us(n->clock);
    struct uuid id;
    bool any = false;

    while (wake_may_fire(n) && timers_take(&n->wake->timers, now_us, &id)) {
        CRASH_POINT(TIMER_FIRED);
        wake(n, id);
        any = true;
    }
    return any;
}

int64_t wake_in_us(const struct node *n)
{
    int64_t next_us = timers_next_us(&n->wake->timers);

    return next_us != INT64_MAX && wake_may_fire(n) ? next_us - clock_wall_us(n->clock) : INT64_MAX;
}

/* --- a wake as a work --- */

static enum guard_subject wake_subject(const struct work *w)
{
    (void)w;
    return GUARD_WAKE;
}

static enum work_begun wake_begin(struct node *n, struct entry *e, struct work *w, struct err *err)
{
    (void)err;
    if (!e->events.is_unread)
        return WORK_ADVANCES;
    /* Rows that an earlier commit of it has applied must be gone. */
    if (e->pins == 0) {
        /* Children that were read before the event of their end would be seen alive. */
        work_forget_reads(w);
        load_events(n, e);
    }
    return WORK_WAITS;
}

static void wake_event(const struct work *w, struct event *ev)
{
    const struct entry *e = w->entry;

    ev->kind = EVENT_WAKE;
    ev->tasks = e->events.tasks.count > 0 ? &e->events.tasks : NULL;
    ev->children = e->events.children.count > 0 ? &e->events.children : NULL;
    if (e->events.numbers.count == 0 || !e->events.cancels)
        return;
    ev->kind = EVENT_CANCEL;
    ev->is_by_parent = true;
    ev->parent = e->events.parent;
    ev->cancel_rollback = e->events.cancel_rollback;
    ev->reason = e->events.reason;
}

static void wake_applied(struct node *n, struct work *w)
{
    park_forget(n, w->entry->id);
    if (w->entry->events.is_cut)
        wake_with_events(n, w->entry->id);
    work_free(n, w);
}

/* Whether its events wait until it goes on. */
static bool wake_keeps_events(const struct entry *e)
{
    return e->x->pause != NULL || entry_is_parked(e);
}

/* Too early: the clock was set back, or the timer is of an older state. */
static void wake_rejected(struct node *n, struct work *w, const struct err *err,
                          const struct findings *found)
{
    const struct entry *e = w->entry;

    (void)found;
    if (err->code == ERR_INTERNAL) { /* it is being parked: see advance() in work.c */
        work_free(n, w);
        return;
    }
    park_forget(n, e->id);
    wake_arm(n, w->met);
    /* The time of a call that is in flight is up: its answer is what wakes it. */
    if (w->met->wake_at_us > 0 && w->met->wake_at_us <= clock_wall_us(n->clock) &&
        w->met->crash_count < CRASHES_MAX)
        wake_later(n, e->id, RETRY_SOON_US);
    calls_queue(n, w->met);
    if (w->assertion.notices.count == JOINERS_MAX || e->events.is_cut)
        wake_with_events(n, e->id);
    if (e->events.numbers.count > 0 && !wake_keeps_events(e))
        work_again(n, w);
    else
        work_free(n, w);
}

/*
 * A wake hears everything that its events say: they go with its member, also when it changes
 * nothing. A cancel that does not apply to it has heard nothing: the same rows are left to another
 * wake. One that has ended notifies those who have joined it.
 */
static void wake_member(struct node *n, struct work *w)
{
    struct entry *e = w->entry;

    (void)n;
    if (w->asserts == ASSERTS_NOTHING) {
        w->commit->consumed = e->events.numbers;
    } else if (e->events.joins.count > 0 && status_is_terminal(e->x->status)) {
        w->assertion.consumed = e->events.joins;
        w->assertion.notices = e->events.joiners;
    } else if (e->events.numbers.count > 0 && e->events.cancels) {
        e->events.cancels = false;
        return;
    } else if (wake_keeps_events(e)) {
        return;
    } else {
        w->assertion.consumed = e->events.numbers;
    }
    entry_forget_events(e);
}

/* A wake that cannot be committed is not forgotten. */
static void wake_refused(struct node *n, struct work *w)
{
    const struct member *m = &w->member;

    if (m->result == MEMBER_FAILED)
        park_or_wake_later(n, w->entry->id, "internal_write", &m->err);
    else if (m->result != MEMBER_GONE)
        wake_later(n, w->entry->id, RETRY_SOON_US); /* it changes all the time */
    work_free(n, w);
}

static void wake_again(struct node *n, struct work *w)
{
    struct entry *e = w->entry;

    if (e->wake_queued) {
        work_free(n, w);
        return;
    }
    e->wake_queued = true;
    entry_queue(n, e, w);
}

static void wake_taken(const struct work *w)
{
    w->entry->wake_queued = false;
}

static void wake_freed(struct node *n, struct work *w)
{
    (void)w;
    n->wake->count--;
}

/*
 * What is due stays due, whatever became of the batch. Why an execution cannot be
 * loaded is in the log: it is tried again, or it is parked.
 */
const struct work_kind work_wake = {
    .subject = wake_subject,
    .begin = wake_begin,
    .event = wake_event,
    .member = wake_member,
    .applied = wake_applied,
    .rejected = wake_rejected,
    .refused = wake_refused,
    .again = wake_again,
    .taken = wake_taken,
    .freed = wake_freed,
};
