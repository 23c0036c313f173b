/*
 * wake.c - when executions are due; see inner.h.
 *
 * The column wake_at is the truth. The heap holds what is due up to
 * filled_until_us, read from the store a page at a time, and what commits of
 * this node have set since. A timer may be of an older state: waking an
 * execution that is not due does nothing, and arms the timer anew. Now and then
 * the store is asked for what is overdue and should have been in the heap, and
 * for executions that were told something: these are due, too.
 */
#include "node/inner.h"

#include "base/crash.h"
#include "base/log.h"

void wake(struct node *n, struct uuid id)
{
    struct entry *e = entry_get(n, id);

    if (e->wake_queued)
        return;
    e->wake_queued = true;
    n->wakes++;
    entry_queue(n, e, work_new(n, &work_wake));
}

void wake_told(struct node *n, struct uuid id)
{
    struct entry *e = entry_find(n, id);

    /* One that is not in memory is loaded with what it was told. */
    if (e != NULL)
        e->has_news = true;
    wake(n, id);
}

/* Everything due up to this time is in the heap, or will be read into it. */
static int64_t horizon_us(const struct node *n)
{
    int64_t us = clock_wall_us(n->clock) + TIMER_WINDOW_US;

    /* These lie beyond right after the clock was set back. */
    if (n->filled_until_us > us)
        us = n->filled_until_us;
    return n->is_refilling && n->filling_until_us > us ? n->filling_until_us : us;
}

void wake_arm(struct node *n, const struct execution *x)
{
    if (x->wake_at_us > 0 && x->wake_at_us <= horizon_us(n) && x->crash_count < CRASHES_MAX)
        timers_set(&n->timers, x->id, x->wake_at_us);
    else
        timers_remove(&n->timers, x->id);
}

void wake_later(struct node *n, struct uuid id, int64_t delay_us)
{
    timers_set(&n->timers, id, clock_wall_us(n->clock) + delay_us);
}

bool wake_may_fire(const struct node *n)
{
    return n->is_recovered && !n->is_draining && n->wakes < WAKES_MAX;
}

bool wake_fire(struct node *n)
{
    int64_t now_us = clock_wall_us(n->clock);
    struct uuid id;
    bool any = false;

    while (wake_may_fire(n) && timers_take(&n->timers, now_us, &id)) {
        CRASH_POINT(TIMER_FIRED);
        wake(n, id);
        any = true;
    }
    return any;
}

/* --- a wake as a work --- */

static enum work_begun wake_begin(struct node *n, struct entry *e, struct work *w, struct err *err)
{
    if (!entry_is_parked(e) && !e->has_news)
        return WORK_ADVANCES;
    if (!entry_is_parked(e)) {
        /* Rows that an earlier commit of it has applied must be gone. */
        if (e->pins == 0) {
            /* Children that were read before it was told of their end would be seen alive. */
            work_forget_reads(w);
            load_told(n, e);
        }
        return WORK_WAITS;
    }
    err_set(err, ERR_CONFLICT, "the execution is parked");
    return WORK_FUTILE;
}

static void wake_event(const struct node *n, const struct work *w, struct event *ev)
{
    const struct entry *e = w->entry;

    (void)n;
    ev->kind = EVENT_WAKE;
    ev->tasks = e->tasks.count > 0 ? &e->tasks : NULL;
    if (e->told.count == 0 || !e->is_told_to_cancel)
        return;
    ev->kind = EVENT_CANCEL;
    ev->is_by_parent = true;
    ev->parent = e->cancel.parent;
    ev->cancel_rollback = e->cancel.cancel_rollback;
    ev->reason = e->cancel.reason;
}

static void wake_applied(struct node *n, struct work *w)
{
    park_forget(n, w->entry->id);
    work_free(n, w);
}

static void wake_again(struct node *n, struct work *w);

/* Whether what it was told is kept until it goes on. */
static bool wake_keeps_told(const struct entry *e)
{
    return e->x->pause != NULL || entry_is_parked(e);
}

/* Too early: the clock was set back, or the timer is of an older state. */
static void wake_futile(struct node *n, struct entry *e, struct work *w, const struct err *err,
                        const struct findings *found)
{
    (void)err;
    (void)found;
    park_forget(n, e->id);
    wake_arm(n, w->met);
    calls_queue(n, w->met);
    if (w->assertion.tells.count == JOINERS_MAX)
        wake_told(n, e->id);
    if (e->told.count > 0 && !wake_keeps_told(e))
        work_again(n, w);
    else
        work_free(n, w);
}

/*
 * A wake looks at every child that it waits for: what it was told goes with its
 * member, also when it changes nothing. A cancel that does not apply to it has
 * looked at none: the same rows are left to another wake. One that has ended
 * tells those who have joined it.
 */
static void wake_member(struct node *n, struct work *w)
{
    struct entry *e = w->entry;

    (void)n;
    if (!w->asserts) {
        w->commit->consumed = e->told;
    } else if (e->joins.count > 0 && status_is_terminal(e->x->status)) {
        w->assertion.consumed = e->joins;
        w->assertion.tells = e->joiners;
    } else if (e->told.count > 0 && e->is_told_to_cancel) {
        e->is_told_to_cancel = false;
        return;
    } else if (wake_keeps_told(e)) {
        return;
    } else {
        w->assertion.consumed = e->told;
    }
    entry_forget_told(e);
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

/* What is due stays due, whatever became of the batch. */
static void wake_unknown(struct node *n, struct work *w, const struct batch *b)
{
    (void)b;
    work_again(n, w);
}

/* Why it cannot be loaded was told already: it is tried again, or it is parked. */
static void wake_gone(struct node *n, struct entry *e, struct work *w, const struct err *err)
{
    (void)e;
    (void)err;
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

static void wake_taken(struct node *n, struct entry *e, struct work *w)
{
    (void)n;
    (void)w;
    e->wake_queued = false;
}

static void wake_freed(struct node *n, struct work *w)
{
    (void)w;
    n->wakes--;
}

const struct work_kind work_wake = {
    .name = "wake",
    .begin = wake_begin,
    .event = wake_event,
    .member = wake_member,
    .applied = wake_applied,
    .futile = wake_futile,
    .refused = wake_refused,
    .unknown = wake_unknown,
    .gone = wake_gone,
    .again = wake_again,
    .taken = wake_taken,
    .freed = wake_freed,
};

/* --- filling the heap --- */

static void run_due(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_due(reader, &l->mem, l->due.after_us, l->due.after_id, l->due.until_us, TIMER_PAGE,
                     &l->due.dues, &l->err);
}

/* Whoever waited for room when the server ended is in no queue: it looks for itself at once. */
static int64_t first_look_us(const struct node *n, const struct due *due)
{
    return due->waits_for_call && !n->is_recovered ? 0 : due->wake_at_us;
}

static void done_due(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    const struct dues *dues = &l->due.dues;
    int64_t now_us = clock_mono_us(n->clock);

    if (!n->is_recovered)
        CRASH_POINT(RECOVERING);
    n->is_refilling = false;
    for (size_t i = 0; l->ok && i < dues->count; i++)
        timers_set_sooner(&n->timers, dues->items[i].id, first_look_us(n, &dues->items[i]));
    if (!l->ok) {
        log_write(LOG_ERROR, "timers cannot be read",
                  LOG_FIELDS(log_str("reason", str_of(l->err.message))));
        n->refill_pause_us = now_us + RETRY_SOON_US;
    } else if (dues->count == TIMER_PAGE) {
        n->filled_until_us = dues->items[dues->count - 1].wake_at_us;
        n->filled_id = dues->items[dues->count - 1].id;
        n->next_refill_us = now_us;
    } else {
        n->filled_until_us = l->due.until_us;
        n->filled_id = (struct uuid){.bytes = {0}};
        n->next_refill_us = now_us + REFILL_EVERY_US;
        if (!n->is_recovered)
            CRASH_POINT(RECOVERED);
        n->is_recovered = true;
    }
    load_free(l);
}

int64_t wake_refill_in_us(const struct node *n)
{
    int64_t now_us = clock_mono_us(n->clock), at_us = n->next_refill_us;

    if (n->is_refilling || n->is_draining)
        return INT64_MAX;
    if (clock_wall_us(n->clock) >= n->filled_until_us)
        at_us = now_us; /* the clock was set forward */
    if (at_us < n->refill_pause_us)
        at_us = n->refill_pause_us;
    return at_us > now_us ? at_us - now_us : 0;
}

void wake_refill(struct node *n)
{
    int64_t until_us = clock_wall_us(n->clock) + TIMER_WINDOW_US;
    struct load *l;

    /*
     * The clock was set back: what lies beyond the window is read again in time.
     * A wake that was to be tried again would wait for the old time.
     */
    if (n->filled_until_us > until_us) {
        timers_remove_after(&n->timers, until_us);
        n->filled_until_us = until_us;
        n->filled_id = (struct uuid){.bytes = {0}};
    }
    if (wake_refill_in_us(n) > 0)
        return;
    n->filling_until_us = until_us;
    n->is_refilling = true;
    l = load_new(n, run_due, done_due);
    l->due.after_us = n->filled_until_us;
    l->due.after_id = n->filled_id;
    l->due.until_us = n->filling_until_us;
    load_send(l);
}

/* --- looking back --- */

static void done_overdue(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    const struct dues *dues = &l->due.dues;
    bool has_more = l->ok && dues->count == TIMER_PAGE;

    n->is_looking_back = false;
    for (size_t i = 0; l->ok && i < dues->count; i++)
        timers_set_new(&n->timers, dues->items[i].id, dues->items[i].wake_at_us);
    n->looked_back_us = has_more ? dues->items[dues->count - 1].wake_at_us : 0;
    n->looked_back_id = has_more ? dues->items[dues->count - 1].id : (struct uuid){.bytes = {0}};
    load_free(l);
}

/*
 * Rows may come to be that this node has not written and that were due before
 * it looked: a database may finish a commit of a process that was killed after
 * the next one has started.
 */
void wake_look_back(struct node *n)
{
    int64_t now_us = clock_mono_us(n->clock);
    struct load *l;

    if (!n->is_recovered || n->is_looking_back || now_us < n->next_look_back_us)
        return;
    n->next_look_back_us = now_us + LOOK_BACK_US;
    n->is_looking_back = true;
    l = load_new(n, run_due, done_overdue);
    l->due.after_us = n->looked_back_us;
    l->due.after_id = n->looked_back_id;
    l->due.until_us = clock_wall_us(n->clock) - LOOK_BACK_US;
    load_send(l);
}

/* --- what executions were told --- */

static void run_told(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok =
        read_told_executions(reader, &l->mem, l->told.after, TIMER_PAGE, &l->told.rows, &l->err);
}

static void done_told(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    const struct told_executions *rows = &l->told.rows;
    bool has_more = l->ok && rows->count == TIMER_PAGE;

    n->is_looking_for_told = false;
    for (size_t i = 0; l->ok && i < rows->count; i++)
        if (wake_may_fire(n))
            wake_told(n, rows->items[i].id);
    n->told_after = has_more ? rows->items[rows->count - 1].n : 0;
    if (!l->ok)
        n->next_look_for_told_us = clock_mono_us(n->clock) + RETRY_SOON_US;
    load_free(l);
}

/* A row is also there when whoever wrote it did not come to wake the execution in memory. */
void wake_look_for_told(struct node *n)
{
    int64_t now_us = clock_mono_us(n->clock);
    struct load *l;

    if (!wake_may_fire(n) || n->is_looking_for_told || now_us < n->next_look_for_told_us)
        return;
    n->next_look_for_told_us = now_us + LOOK_BACK_US;
    n->is_looking_for_told = true;
    l = load_new(n, run_told, done_told);
    l->told.after = n->told_after;
    load_send(l);
}
