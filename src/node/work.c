/* work.c - from events to commits; see inner.h. */
#include "node/inner.h"

#include "base/crash.h"
#include "define/access.h"

struct work *work_new(struct node *n, enum work_kind kind)
{
    struct work *w = n->free_works;

    if (w != NULL)
        n->free_works = w->next;
    else
        w = arena_alloc(&n->mem, sizeof(*w));
    *w = (struct work){.kind = kind, .number = ++n->work_number, .input = value_absent()};
    n->wakes += kind == WORK_WAKE;
    return w;
}

void work_forget_reads(struct work *w)
{
    for (size_t i = 0; i < w->programs.count; i++)
        program_read_release(&w->programs.items[i]);
    w->programs = (struct program_reads){0};
    w->records = (struct record_reads){0};
    w->searches = (struct search_reads){0};
    w->processes = (struct process_reads){0};
    w->kept = (struct kept_reads){0};
    w->children = (struct child_reads){0};
    w->has_history = false;
}

void work_free(struct node *n, struct work *w)
{
    work_forget_reads(w);
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

static void make_event(const struct node *n, struct work *w, struct event *ev)
{
    struct node_request *r = w->request;

    *ev = (struct event){
        .config = n->config,
        .records = &w->records,
        .searches = &w->searches,
        .history = w->has_history ? &w->history : NULL,
        .processes = &w->processes,
        .children = w->children.count > 0 ? &w->children : NULL,
        .kept = &w->kept,
        .gives_up_on_records = w->record_tries > TRIES_MAX,
        .traces = n->options.meters != NULL,
    };
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
        ev->signal_correlation = r->correlation;
        return;
    case NODE_CANCEL:
        ev->kind = EVENT_CANCEL;
        ev->reason = r->reason;
        /* What crashes the server when it is evaluated is not rolled back either. */
        ev->cancel_rollback =
            w->entry->x->crash_count >= CRASHES_MAX ? CANCEL_LEAVES : r->cancel_rollback;
        return;
    case NODE_RETRY:
    case NODE_SKIP:
    case NODE_MIGRATE:
        ev->kind = repair_event(r->kind);
        ev->from = r->from;
        ev->held = r->held;
        ev->program = w->program != NULL ? w->program->program : NULL;
        ev->input = w->input;
        ev->output = r->output;
        return;
    case NODE_RESOLVE:
        ev->kind = EVENT_RESOLVE;
        ev->letter = r->letter;
        ev->said = r->said;
        ev->output = r->output;
        ev->note = r->note;
        return;
    case NODE_UNDO:
        ev->kind = EVENT_UNDO;
        ev->letter = r->letter;
        return;
    case NODE_PAUSE:
    case NODE_RESUME:
        ev->kind = r->kind == NODE_PAUSE ? EVENT_PAUSE : EVENT_RESUME;
        ev->reason = r->reason;
        ev->by = r->signal_by;
        return;
    case NODE_WAIT:
    case NODE_DEFINITION:
    case NODE_CHANGE:
        break;
    }
    PANIC("this request makes no event");
}

/* --- events that make no commit --- */

static void take_first(struct entry *e, struct work *w)
{
    struct work *first = work_pop(&e->works);

    ASSERT(first == w);
    if (w->kind == WORK_WAKE)
        e->wake_queued = false;
}

/* An event that does not apply: it is refused, once what it met is durable. */
static bool refuse(struct node *n, struct entry *e, struct work *w, const struct err *err)
{
    if (e->pins > 0)
        return false;
    take_first(e, w);
    if (w->kind == WORK_WAKE)
        wake_arm(n,
                 e->x); /* too early: the clock was set back, or the timer is of an older state */
    else if (correlate_goes_on(n, w, err->code))
        return true;
    else
        request_refuse(n, w->request, err->code, "%s", err->message);
    work_free(n, w);
    return true;
}

/* A wait is no event: it is answered at once or joins those who wait. */
static bool join_waiters(struct node *n, struct entry *e, struct work *w)
{
    struct node_request *r = w->request;

    bool is_for_signal = r->signal_seq > 0;
    bool may_be_taken = is_for_signal && !taken_not_yet(e->x, r->signal_seq);

    /* What took it may not be durable; once it is, the history can be asked. */
    if (may_be_taken && e->pins > 0)
        return false;
    take_first(e, w);
    work_free(n, w);
    r->ok = is_for_signal;
    r->taken_before = may_be_taken;
    if (may_be_taken)
        request_done(n, r);
    else if (e->pins == 0 && status_is_terminal(e->x->status))
        request_answer(n, r, e->x);
    else
        request_wait(n, e, r);
    return true;
}

/* A signal that was received before is answered like the first time, or refused. */
static bool repeat_signal(struct node *n, struct entry *e, struct work *w, enum signal_known known)
{
    struct node_request *r = w->request;
    struct err err;

    if (known == SIGNAL_DIFFERS) {
        err_set(&err, ERR_CONFLICT, "a signal with this id has other content");
        return refuse(n, e, w, &err);
    }
    if (e->pins > 0)
        return false;
    take_first(e, w);
    work_free(n, w);
    r->ok = true;
    r->signal_id_out = r->signal_id;
    r->taken_before = true;
    request_done(n, r);
    return true;
}

/* --- advancing --- */

/* Cancelling evaluates nothing, and operators may know better; anything else might crash again. */
static bool is_parked(const struct entry *e, const struct work *w)
{
    return e->x->crash_count >= CRASHES_MAX &&
           (w->kind == WORK_WAKE || w->request->kind == NODE_SIGNAL);
}

static void commit_first(struct node *n, struct entry *e, struct work *w, struct commit *commit)
{
    take_first(e, w);
    w->commit = commit;
    e->x = commit->after;
    e->pins++;
    batch_add(n, w);
}

/* Findings are answered from the request's memory; that of the execution may go before. */
static void take_findings(struct node_request *r, const struct findings *from)
{
    r->findings = (struct findings){0};
    for (size_t i = 0; i < from->count; i++) {
        struct finding f = from->items[i];

        f.pointer = str_copy(r->mem, f.pointer);
        f.step = str_copy(r->mem, f.step);
        f.code = str_copy(r->mem, f.code);
        f.message = str_copy(r->mem, f.message);
        f.hint = str_copy(r->mem, f.hint);
        *VEC_ADD(r->mem, &r->findings) = f;
    }
}

/* Let the engine decide. False: it cannot go on now. */
static bool advance(struct node *n, struct entry *e, struct work *w)
{
    struct commit *commit = arena_alloc(&e->mem, sizeof(*commit));
    struct event ev;
    struct err err;
    bool ok;

    if (w->now_us == 0)
        w->now_us = clock_wall_us(n->clock);
    /* While pinned the store may be reading it. */
    if (e->pins == 0)
        e->x->row = e->row;
    make_event(n, w, &ev);
    poison_set(&n->poison, e->id);
    CRASH_POINT(BEFORE_ADVANCE);
    ok = engine_advance(&e->mem, e->x, &ev, w->now_us, commit, &err);
    poison_clear(&n->poison);
    CRASH_POINT(AFTER_ADVANCE);
    if (!ok && w->kind == WORK_REQUEST)
        take_findings(w->request, &commit->findings);
    if (!ok)
        return refuse(n, e, w, &err);
    if (commit->result == ADVANCE_COMMIT) {
        commit_first(n, e, w, commit);
        return true;
    }
    /* Reads must see the execution's own earlier commits. */
    if (e->pins == 0) {
        w->commit = commit;
        CRASH_POINT(NEED_READS);
        load_records(n, e, w);
    }
    return false;
}

/* What an operator asks for may need another program first. */
static bool repair(struct node *n, struct entry *e, struct work *w)
{
    struct err err;

    switch (repair_prepare(n, e, w, &err)) {
    case REPAIR_READY:
        return advance(n, e, w);
    case REPAIR_REFUSED:
        return refuse(n, e, w, &err);
    case REPAIR_WAITS:
        take_first(e, w);
        repair_wait(n, e, w);
        return true;
    }
    PANIC("unknown state of a repair");
}

/* Whether a request may have to do with this execution; else *err says what it is told. */
static bool is_allowed(const struct entry *e, const struct work *w, struct err *err)
{
    const struct node_request *r = w->request;
    struct value access = e->x->program->access;

    if (w->kind != WORK_REQUEST)
        return true;
    if (r->kind == NODE_START)
        return !w->joins || access_allows(access, "view", r->user.role, r->user.groups) ||
               err_set(err, ERR_FORBIDDEN,
                       "an execution with this key is running, and you may not view it");
    if (!str_eq(r->user.org_id, e->x->org_id))
        return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
    /* Only who has just started or signalled it waits for it. */
    if (r->kind == NODE_WAIT)
        return true;
    if (!access_allows(access, "view", r->user.role, r->user.groups))
        return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
    return access_allows(access, "operate", r->user.role, r->user.groups) ||
           err_set(err, ERR_FORBIDDEN, "its definition lets others operate it, not you");
}

/* The first work of an entry. False: it cannot go on now. */
static bool run_first(struct node *n, struct entry *e)
{
    struct work *w = e->works.first;
    struct node_request *r = w->request;
    enum signal_known known;
    struct err err;

    if (!is_allowed(e, w, &err))
        return refuse(n, e, w, &err);
    if (w->kind == WORK_REQUEST && (w->joins || r->kind == NODE_WAIT))
        return join_waiters(n, e, w);
    if (w->kind == WORK_REQUEST && r->kind == NODE_SIGNAL) {
        known = engine_signal_known(e->x, r->signal_id, r->signal_type, r->payload);
        if (known != SIGNAL_NEW)
            return repeat_signal(n, e, w, known);
    }
    if (is_parked(e, w)) {
        err_set(&err, ERR_CONFLICT,
                "the execution is parked: advancing it ended the server %d times",
                e->x->crash_count);
        return refuse(n, e, w, &err);
    }
    if (w->kind == WORK_REQUEST && repair_is(r->kind))
        return repair(n, e, w);
    return advance(n, e, w);
}

void entry_fail(struct node *n, struct entry *e, const struct err *err)
{
    struct work *w;

    e->state = ENTRY_GONE;
    e->err = *err;
    if (err_is_retryable(e->err.code))
        e->err.code = ERR_OVERLOADED; /* not the client's fault, and it will pass */
    while ((w = work_pop(&e->works)) != NULL) {
        if (e->err.code == ERR_NOT_FOUND && correlate_goes_on(n, w, e->err.code))
            continue;
        if (w->kind == WORK_REQUEST)
            request_refuse(n, w->request, e->err.code, "%s", e->err.message);
        else if (e->err.code != ERR_NOT_FOUND)
            wake_later(n, e->id, e->err.code == ERR_OVERLOADED ? RETRY_SOON_US : RETRY_LATER_US);
        work_free(n, w);
    }
    e->wake_queued = false;
    request_refuse_waiters(n, e, &e->err);
}

static void run_entry(struct node *n, struct entry *e)
{
    if (e->state == ENTRY_GONE)
        entry_fail(n, e, &e->err);
    if (e->is_stale && e->pins == 0)
        entry_reload(n, e);
    while (e->state == ENTRY_READY && !e->is_stale && !e->is_needing && e->works.first != NULL &&
           n->current->members.count < BATCH_MEMBERS_MAX)
        if (!run_first(n, e))
            break;
    if (n->current->members.count >= BATCH_MEMBERS_MAX)
        entry_make_ready(n, e); /* for the next batch */
    entry_touch(n, e);
}

void works_run(struct node *n)
{
    const struct entry *last = n->ready_last;
    bool was_last = last == NULL;

    if (n->counts_crash || !n->has_config || clock_mono_us(n->clock) < n->pause_until_us)
        return;
    /* Those that become ready meanwhile are for the next pass. */
    while (!was_last && n->current->members.count < BATCH_MEMBERS_MAX) {
        struct entry *e = n->ready_first;

        was_last = e == last;
        n->ready_first = e->next_ready;
        if (n->ready_first == NULL)
            n->ready_last = NULL;
        e->in_ready_list = false;
        run_entry(n, e);
        entry_release_if_idle(n, e);
    }
}
