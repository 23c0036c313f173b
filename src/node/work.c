/* work.c - from events to commits; see inner.h. */
#include "node/inner.h"

#include "base/crash.h"

#include <stdlib.h>

struct work *work_new(struct node *n, enum work_kind kind)
{
    struct work *w = n->free_works;

    if (w != NULL)
        n->free_works = w->next;
    else if ((w = malloc(sizeof(*w))) == NULL)
        PANIC("out of memory");
    *w = (struct work){.kind = kind};
    n->wakes += kind == WORK_WAKE;
    return w;
}

void work_free(struct node *n, struct work *w)
{
    n->wakes -= w->kind == WORK_WAKE;
    w->next = n->free_works;
    n->free_works = w;
}

void work_push(struct work_queue *q, struct work *w)
{
    w->next = NULL;
    if (q->last != NULL)
        q->last->next = w;
    else
        q->first = w;
    q->last = w;
}

struct work *work_pop(struct work_queue *q)
{
    struct work *w = q->first;

    if (w == NULL)
        return NULL;
    q->first = w->next;
    if (q->first == NULL)
        q->last = NULL;
    w->next = NULL;
    return w;
}

void wake(struct node *n, struct uuid id)
{
    struct entry *e = entry_get(n, id);
    struct work *w;

    if (e->wake_queued)
        return;
    e->wake_queued = true;
    w = work_new(n, WORK_WAKE);
    entry_queue(n, e, w);
}

static void make_event(struct work *w, struct event *ev)
{
    struct node_request *r = w->request;

    *ev = (struct event){.records = &w->records, .objects = &w->objects};
    ev->config = value_map_empty();
    if (w->kind == WORK_WAKE) {
        ev->kind = EVENT_WAKE;
        return;
    }
    switch (r->kind) {
    case NODE_START:
        ev->kind = EVENT_START;
        return;
    case NODE_SIGNAL:
        ev->kind = EVENT_SIGNAL;
        ev->signal_id = r->signal_id;
        ev->signal_type = r->signal_type;
        ev->signal_payload = r->payload;
        ev->signal_by = r->signal_by;
        return;
    case NODE_CANCEL:
        ev->kind = EVENT_CANCEL;
        ev->reason = r->reason;
        return;
    case NODE_WAIT:
    case NODE_DEFINITION:
        break;
    }
    PANIC("this request makes no event");
}

/* An event that does not apply: it is refused, once what it met is durable. */
static bool refuse(struct node *n, struct entry *e, struct work *w, const struct err *err)
{
    if (e->pins > 0)
        return false;
    (void)work_pop(&e->works);
    if (w->kind == WORK_WAKE)
        e->wake_queued = false;
    else
        request_refuse(n, w->request, err->code, "%s", err->message);
    work_free(n, w);
    return true;
}

/* A wait is no event: it is answered at once or joins those who wait. */
static void join_waiters(struct node *n, struct entry *e, struct work *w)
{
    struct node_request *r = w->request;

    (void)work_pop(&e->works);
    work_free(n, w);
    if (e->pins == 0 && status_is_terminal(e->x->status)) {
        r->next = NULL;
        e->waiters = r;
        n->waiting++;
        request_answer_waiters(n, e, e->x);
    } else {
        request_wait(n, e, r);
    }
}

static bool is_parked(const struct entry *e)
{
    return e->x->crash_count >= CRASHES_MAX;
}

/* Advance by the first work of an entry. False: it cannot go on now. */
static bool advance_first(struct node *n, struct entry *e)
{
    struct work *w = e->works.first;
    struct event ev;
    struct commit *commit;
    struct err err;
    bool ok;

    if (w->kind == WORK_REQUEST && w->request->kind == NODE_WAIT) {
        join_waiters(n, e, w);
        return true;
    }
    if (w->kind == WORK_WAKE && is_parked(e)) {
        err_set(&err, ERR_CONFLICT, "the execution is parked");
        return refuse(n, e, w, &err);
    }
    make_event(w, &ev);
    commit = arena_alloc(&e->mem, sizeof(*commit));
    poison_set(&n->poison, e->id);
    CRASH_POINT(BEFORE_ADVANCE);
    ok = engine_advance(&e->mem, e->x, &ev, clock_wall_us(n->clock), commit, &err);
    poison_clear(&n->poison);
    CRASH_POINT(AFTER_ADVANCE);
    if (!ok)
        return refuse(n, e, w, &err);
    if (commit->result == ADVANCE_NEED) {
        /* Reads must see the execution's own earlier commits. */
        if (e->pins > 0)
            return false;
        w->commit = commit;
        CRASH_POINT(NEED_READS);
        load_records(n, e, w);
        return false;
    }
    (void)work_pop(&e->works);
    if (w->kind == WORK_WAKE)
        e->wake_queued = false;
    w->commit = commit;
    e->x = commit->after;
    e->pins++;
    batch_add(n, w);
    return true;
}

static void fail_all(struct node *n, struct entry *e)
{
    struct work *w;

    while ((w = work_pop(&e->works)) != NULL) {
        if (w->kind == WORK_REQUEST)
            request_refuse(n, w->request, ERR_NOT_FOUND, "there is no such execution");
        work_free(n, w);
    }
    request_refuse_waiters(n, e, ERR_NOT_FOUND, "there is no such execution");
    e->wake_queued = false;
}

static void run_entry(struct node *n, struct entry *e)
{
    if (e->state == ENTRY_GONE)
        fail_all(n, e);
    if (e->is_stale && e->pins == 0 && !e->is_needing)
        entry_forget_state(n, e);
    while (e->state == ENTRY_READY && !e->is_stale && !e->is_needing && e->works.first != NULL &&
           n->current->members.count < BATCH_MEMBERS_MAX)
        if (!advance_first(n, e))
            break;
    entry_touch(n, e);
}

void works_run(struct node *n)
{
    struct entry *e;
    struct entry *last = n->ready_last;

    if (clock_mono_us(n->clock) < n->pause_until_us)
        return;
    while ((e = n->ready_first) != NULL && n->current->members.count < BATCH_MEMBERS_MAX) {
        bool is_last = e == last;
        n->ready_first = e->next_ready;
        if (n->ready_first == NULL)
            n->ready_last = NULL;
        e->in_ready_list = false;
        run_entry(n, e);
        entry_release_if_idle(n, e);
        if (is_last)
            break;
    }
}
