/*
 * work_request.c - requests as works: what a request is for the engine, and
 * what its client is answered; see work.h and node.h.
 */
#include "node/work_request.h"

#include "define/access.h"
#include "define/program.h"
#include "engine/advance.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "node/cache/entry.h"
#include "node/cache/taken.h"
#include "node/chore/measure.h"
#include "node/cluster/config.h"
#include "node/cluster/waiters.h"
#include "node/correlate.h"
#include "node/guard/guard.h"
#include "node/guard/park.h"
#include "node/outside/relay.h"
#include "node/outside/triggers.h"
#include "node/repair.h"
#include "node/request.h"
#include "node/view.h"
#include "node/wake.h"
#include "node/work.h"
#include "store/change_outbox.h"
#include "value/object.h"

/* --- before the engine is asked --- */

/* Whether a request may have to do with this execution; else *err is its answer. */
static bool request_is_allowed(const struct entry *e, const struct work *w, struct err *err)
{
    const struct node_request *r = w->request;
    struct value access = e->x->program->access;

    if (r->kind == NODE_START)
        return !w->joins || access_allows(access, "view", r->user.role, r->user.groups) ||
               err_set(err, ERR_FORBIDDEN,
                       "an execution with this key is running, and you may not view it");
    if (!str_eq(r->user.org_id, e->x->org_id))
        return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
    /* Only who has just started or signalled it waits for it; a worker has the token of its job. */
    if (r->kind == NODE_WAIT || node_request_is(r, EVENT_ANSWER))
        return true;
    /* The engine decides whether it is assigned to who answers. */
    if (node_request_is(r, EVENT_SIGNAL) && r->event.answer_to != NULL)
        return true;
    if (!access_allows(access, "view", r->user.role, r->user.groups))
        return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
    return access_allows(access, "operate", r->user.role, r->user.groups) ||
           err_set(err, ERR_FORBIDDEN, "its definition lets others operate it, not you");
}

/* Whether the step that takes the signal which it waits for need not be waited for any more. */
static bool may_be_taken(const struct node_request *r, const struct execution *x)
{
    return r->signal_seq > 0 && !taken_not_yet(x, r->signal_seq);
}

/* A wait is no event: it is answered at once or joins those who wait. */
static enum work_begun join_waiters(struct node *n, struct entry *e, struct work *w)
{
    struct node_request *r = w->request;

    /* Whoever joins an execution is shown it first: that has happened, whatever becomes of it. */
    if (w->joins || may_be_taken(r, e->x) || waiters_are_over(e->x) || r->wait_us <= 0)
        return WORK_SETTLED;
    work_take_first(e, w);
    work_free(n, w);
    r->ok = r->signal_seq > 0;
    waiters_add(n, e, r);
    return WORK_DONE;
}

static enum work_begun begin_signal(const struct entry *e, const struct work *w, struct err *err)
{
    const struct node_request *r = w->request;

    switch (engine_signal_known(e->x, r->event.signal_id, r->event.signal_type,
                                r->event.signal_payload)) {
    case SIGNAL_SAME:
        return WORK_SETTLED;
    case SIGNAL_DIFFERS:
        err_set(err, ERR_CONFLICT, "a signal with this id has other content");
        return WORK_REJECTED;
    case SIGNAL_NEW:
        return WORK_ADVANCES;
    }
    PANIC("unknown answer about a signal");
}

/* What an operator asks for may need another program first. */
static enum work_begun begin_repair(struct node *n, struct entry *e, struct work *w,
                                    struct err *err)
{
    switch (repair_prepare(n, e, w, err)) {
    case REPAIR_READY:
        return WORK_ADVANCES;
    case REPAIR_REFUSED:
        return WORK_REJECTED;
    case REPAIR_WAITS:
        work_take_first(e, w);
        repair_wait(n, e, w);
        return WORK_DONE;
    }
    PANIC("unknown state of a repair");
}

static enum guard_subject request_subject(const struct work *w)
{
    const struct node_request *r = w->request;

    if (w->joins || r->kind == NODE_WAIT)
        return GUARD_LOOK;
    if (r->kind == NODE_START)
        return GUARD_START;
    return r->event.kind == EVENT_SIGNAL   ? GUARD_SIGNAL
           : r->event.kind == EVENT_ANSWER ? GUARD_ANSWER
           : r->event.kind == EVENT_CANCEL ? GUARD_CANCEL
                                           : GUARD_OPERATOR;
}

static enum work_begun request_begin(struct node *n, struct entry *e, struct work *w,
                                     struct err *err)
{
    const struct node_request *r = w->request;

    if (!request_is_allowed(e, w, err))
        return WORK_REJECTED;
    if (w->joins || r->kind == NODE_WAIT)
        return join_waiters(n, e, w);
    if (node_request_is(r, EVENT_SIGNAL))
        return begin_signal(e, w, err);
    if (repair_is(r->event.kind))
        return begin_repair(n, e, w, err);
    return WORK_ADVANCES;
}

static void request_event(const struct work *w, struct event *ev)
{
    const struct node_request *r = w->request;

    ASSERT(r->kind == NODE_EVENT || (r->kind == NODE_START && r->event.kind == EVENT_START));
    *ev = r->event;
    ev->program = w->program != NULL ? w->program->program : NULL;
    ev->input = w->input;
    /* What crashes the server when it is evaluated is not rolled back either. */
    if (ev->kind == EVENT_CANCEL && w->entry->x->crash_count >= CRASHES_MAX)
        ev->cancel_rollback = CANCEL_LEAVES;
}

/* --- in a batch --- */

/*
 * Whether an answer is stored although nothing changes: a start that joined another, a
 * signal that was sent before. Repeated when the execution has ended, it must not start
 * another one, and another request must not have its key.
 */
static bool request_keeps_settled(const struct work *w)
{
    return w->asserts == ASSERTS_SETTLED && !w->request->is_dry &&
           (w->joins || node_request_is(w->request, EVENT_SIGNAL));
}

/* The answer that is stored for a repeated request. */
static void request_store_answer(struct work *w)
{
    struct node_request *r = w->request;
    const struct execution *x = w->commit != NULL ? w->commit->after : w->met;
    struct buf text;

    w->idempotency = r->idempotency;
    if (r->kind == NODE_DEFINITION || r->kind == NODE_CHANGE || node_request_is(r, EVENT_RESOLVE) ||
        node_request_is(r, EVENT_ANSWER))
        return; /* the caller knows it, but for what the store adds */
    buf_init_arena(&text, r->mem);
    ASSERT(w->commit != NULL || w->correlated != NULL || r->kind == NODE_UNPARK ||
           request_keeps_settled(w));
    if (r->kind == NODE_START && r->answers_id) {
        w->idempotency.status = 202;
        buf_char(&text, '{');
        object_id(&text, "id", x->id);
        buf_char(&text, '}');
    } else if (r->kind == NODE_START) {
        w->idempotency.status = w->joins ? 200 : 201;
        view_execution(r->mem, &text, x);
    } else if (node_request_is(r, EVENT_SIGNAL)) {
        w->idempotency.status = 202;
        buf_char(&text, '{');
        object_text(&text, "id", r->event.signal_id);
        if (r->names_execution && (w->commit != NULL || request_keeps_settled(w)))
            object_id(&text, "executionId", r->execution);
        else if (r->names_execution)
            object_json(&text, "executionId", STR("null"));
        if (w->commit != NULL && w->commit->is_kept)
            object_bool(&text, "judged", false);
        buf_char(&text, '}');
    } else {
        w->idempotency.status = 202;
        buf_text(&text, "{}");
    }
    w->idempotency.answer = buf_view(&text);
}

static void request_member(struct node *n, struct work *w)
{
    struct node_request *r = w->request;
    struct member *m = &w->member;

    if (w->asserts != ASSERTS_NOTHING) {
        /* Nothing happens that would be logged. */
        if (r->idempotency.key.len > 0 && request_keeps_settled(w)) {
            request_store_answer(w);
            m->idempotency = &w->idempotency;
        }
        return;
    }
    m->correlated = w->correlated;
    if (r->by_event != NULL && w->commit != NULL)
        m->message = &r->by_event->message;
    m->tick = r->schedule != NULL && w->commit != NULL ? r->schedule->tick : NULL;
    if (w->commit == NULL && w->correlated != NULL) {
        m->kind = MEMBER_CHANGE;
        m->change = correlate_buffer(n, w);
    } else if (w->commit == NULL && r->kind == NODE_DEFINITION) {
        m->kind = MEMBER_DEFINITION;
        m->definition = r->definitions;
    } else if (w->commit == NULL) {
        m->kind = MEMBER_CHANGE;
        m->change = r->change;
    }
    if (r->audit.action.len > 0)
        m->audit = &r->audit;
    if (r->idempotency.key.len > 0) {
        request_store_answer(w);
        m->idempotency = &w->idempotency;
    }
}

/* --- what became of it --- */

/* It is parked no longer: what is in memory of it is older than that. */
static void try_again(struct node *n, struct uuid id)
{
    struct entry *e = entry_find(n, id);

    if (e != NULL)
        entry_mark_stale(e);
    wake(n, id);
}

/* Answer now, or when the execution has ended. */
static void answer_or_wait(struct node *n, struct work *w, const struct execution *x)
{
    struct node_request *r = w->request;

    request_show(r, x);
    if (r->wait_us > 0 && !waiters_are_over(x))
        waiters_add(n, w->entry, r);
    else
        request_done(n, r);
}

static void request_answer_applied(struct node *n, struct work *w)
{
    struct node_request *r = w->request;

    r->ok = true;
    ASSERT(w->commit != NULL || r->kind == NODE_DEFINITION || r->kind == NODE_CHANGE ||
           r->kind == NODE_UNPARK || (node_request_is(r, EVENT_SIGNAL) && w->correlated != NULL));
    switch (r->kind) {
    case NODE_START:
        answer_or_wait(n, w, w->commit->after);
        return;
    case NODE_EVENT:
        if (r->event.kind != EVENT_SIGNAL)
            break;
        r->signal_id_out = r->event.signal_id;
        r->is_buffered = w->commit == NULL;
        if (r->is_buffered)
            break;
        r->signal_seq = w->commit->received->seq;
        r->is_unjudged = w->commit->is_kept;
        if (r->wait_us > 0 && !taken_find(r, w->commit) && !waiters_are_over(w->commit->after)) {
            waiters_add(n, w->entry, r);
            return;
        }
        break;
    case NODE_UNPARK:
        try_again(n, r->execution);
        break;
    case NODE_DEFINITION:
        config_changed(n, r->definitions);
        if (triggers_have_changed(r->definitions)) {
            triggers_read_again(n, r);
            return;
        }
        break;
    case NODE_CHANGE:
        r->change->answer_json = str_copy(r->mem, r->change->answer_json);
        for (size_t i = 0; i < r->change->notified.count; i++)
            wake_events_or_notify(n, r->change->notified.items[i]);
        r->change->notified.count = 0;
        if (r->change->apply == outbox_retry_apply)
            relay_look(n);
        break;
    case NODE_HOOK: /* a start or a signal by now */
    case NODE_WAIT:
        PANIC("a hook or a wait in a batch");
    }
    request_done(n, r);
}

/* Nothing was to be changed, and the state that it met is true. */
static void answer_settled(struct node *n, struct work *w)
{
    struct node_request *r = w->request;

    if (w->joins) {
        answer_or_wait(n, w, w->met);
        return;
    }
    if (r->is_dry) {
        r->ok = true;
        request_done(n, r);
        return;
    }
    /* A signal that was received before is answered like the first time. */
    r->ok = node_request_is(r, EVENT_SIGNAL) || r->signal_seq > 0;
    r->taken_before = node_request_is(r, EVENT_SIGNAL) || may_be_taken(r, w->met);
    if (node_request_is(r, EVENT_SIGNAL))
        r->signal_id_out = r->event.signal_id;
    if (r->taken_before)
        request_done(n, r);
    else
        request_answer(n, r, w->met);
}

static void request_applied(struct node *n, struct work *w)
{
    w->request->is_kept = w->member.idempotency != NULL;
    if (w->asserts != ASSERTS_NOTHING)
        answer_settled(n, w);
    else
        request_answer_applied(n, w);
    work_free(n, w);
}

/* Findings are answered from the request's memory; that of the execution may go before. */
static void take_findings(struct node_request *r, const struct findings *from)
{
    r->findings = (struct findings){0};
    findings_add(r->mem, from, &r->findings);
}

static void request_rejected(struct node *n, struct work *w, const struct err *err,
                             const struct findings *found)
{
    if (found != NULL)
        take_findings(w->request, found);
    if (correlate_goes_on(n, w, err->code))
        return;
    if (err->code == ERR_EVENT_NOT_ALLOWED)
        measure_not_allowed(n, w->entry, 1);
    request_refuse(n, w->request, err->code, "%pS", ERR_ARG(err));
    work_free(n, w);
}

/* The execution that has the key answers in place of the one that was to be started. */
static bool request_joins(struct node *n, struct work *w)
{
    struct node_request *r = w->request;

    if (w->member.result != MEMBER_KEY_BUSY || r->kind != NODE_START ||
        !w->commit->after->program->joins_by_key)
        return false;
    w->commit = NULL;
    work_forget_reads(w); /* they lie in the memory of the execution that was not started */
    w->joins = true;
    r->joined = true;
    entry_queue(n, entry_get(n, w->member.holder), w);
    return true;
}

/* Say to the client what the store said of its member. */
static void request_answer_refused(struct node *n, struct node_request *r, const struct member *m)
{
    bool is_definition = r->kind == NODE_DEFINITION;

    switch (m->result) {
    case MEMBER_KEY_BUSY:
        r->id = m->holder;
        request_refuse(n, r, ERR_KEY_BUSY, "an execution with this key is running");
        return;
    case MEMBER_SIGNAL_KNOWN:
        r->ok = true;
        r->signal_id_out = r->event.signal_id;
        r->taken_before = true;
        r->is_buffered = !m->has_holder;
        r->execution = m->holder;
        request_done(n, r);
        return;
    case MEMBER_SIGNAL_DIFFERS:
        request_refuse(n, r, ERR_CONFLICT, "a signal with this id has other content");
        return;
    case MEMBER_REPEATED:
        r->ok = true;
        r->joined = true;
        r->stored_status = m->answer_status;
        r->stored_answer = str_copy(r->mem, m->answer);
        request_done(n, r);
        return;
    case MEMBER_KEY_CONFLICT:
        request_refuse(n, r, ERR_IDEMPOTENCY_CONFLICT,
                       "this Idempotency-Key was used with another request");
        return;
    case MEMBER_STALE:
    case MEMBER_RECORD_STALE:
    case MEMBER_START_STALE:
    case MEMBER_BUFFERED_STALE:
        request_refuse(n, r, is_definition ? ERR_PRECONDITION_FAILED : ERR_OVERLOADED,
                       is_definition ? "someone else has saved it since"
                                     : "too many changes at once; try again");
        return;
    case MEMBER_TICK_GONE:
        request_refuse(n, r, ERR_PRECONDITION_FAILED,
                       "this tick was acted upon, or its schedule has changed");
        return;
    case MEMBER_GONE:
        request_refuse(n, r, ERR_NOT_FOUND, "it does not exist");
        return;
    case MEMBER_LOCKED:
        request_refuse(
            n, r, ERR_OVERLOADED,
            "another session of the database has locked what is to be changed; try again");
        return;
    case MEMBER_FAILED:
        request_refuse(n, r, m->err.code, "%pS", ERR_ARG(&m->err));
        return;
    case MEMBER_APPLIED:
        break;
    }
    PANIC("an applied member is not refused");
}

static void request_refused(struct node *n, struct work *w)
{
    if (correlate_looks_again(n, w) || request_joins(n, w))
        return;
    request_answer_refused(n, w->request, &w->member);
    work_free(n, w);
}

static void request_unknown(struct node *n, struct work *w, const struct batch *b)
{
    bool is_unknown = b->end == BATCH_UNKNOWN && w->asserts == ASSERTS_NOTHING;

    request_refuse(n, w->request, is_unknown ? ERR_OUTCOME_UNKNOWN : ERR_OVERLOADED,
                   is_unknown ? "whether it happened is not known: %pS"
                              : "the store refuses changes: %pS",
                   ERR_ARG(&b->err));
    work_free(n, w);
}

/* The execution that was to be started never was, or the one that it joined is another by now. */
static void start_another(struct node *n, struct work *w)
{
    w->joins = w->request->joined = false;
    request_start(n, w);
}

static void request_gone(struct node *n, struct work *w, const struct err *err)
{
    if (err->code == ERR_NOT_FOUND && w->joins) {
        start_another(n, w);
        return;
    }
    if (err->code == ERR_NOT_FOUND && correlate_goes_on(n, w, err->code))
        return;
    request_refuse(n, w->request, err->code, "%pS", ERR_ARG(err));
    work_free(n, w);
}

static void request_again(struct node *n, struct work *w)
{
    w->request->findings = (struct findings){0};
    if (w->request->kind == NODE_START)
        start_another(n, w);
    else
        entry_queue(n, w->entry, w);
}

const struct work_kind work_request = {
    .subject = request_subject,
    .begin = request_begin,
    .event = request_event,
    .member = request_member,
    .applied = request_applied,
    .rejected = request_rejected,
    .refused = request_refused,
    .unknown = request_unknown,
    .gone = request_gone,
    .again = request_again,
};
