/* batch.c - group commit: building batches, and what becomes of them; see inner.h. */
#include "node/inner.h"

#include "base/crash.h"
#include "base/log.h"
#include "engine/show.h"
#include "value/json.h"

#include <stdlib.h>

#define REFUSED_PAUSE_US INT64_C(200000)
#define WAKE_AGAIN_US INT64_C(20000) /* after others were faster TRIES_MAX times */

static struct batch *batch_new(struct node *n)
{
    struct batch *b;

    if (n->spare_count > 0) {
        b = n->spare_batches[--n->spare_count];
        arena_reset(&b->mem);
    } else {
        b = malloc(sizeof(*b));
        if (b == NULL)
            PANIC("out of memory");
        arena_init(&b->mem);
    }
    b->item = STORE_BATCH;
    b->members = (struct members){0};
    b->end = BATCH_COMMITTED;
    return b;
}

static void batch_recycle(struct node *n, struct batch *b)
{
    if (n->spare_count < sizeof(n->spare_batches) / sizeof(n->spare_batches[0])) {
        n->spare_batches[n->spare_count++] = b;
        return;
    }
    arena_fini(&b->mem);
    free(b);
}

/* The answer that is kept for a repeated request. */
static void keep_answer(struct node *n, struct work *w)
{
    struct node_request *r = w->request;
    struct buf text;

    (void)n;
    w->idempotency = r->idempotency;
    if (r->kind == NODE_DEFINITION)
        return; /* the caller knows all of it but the version */
    buf_init_arena(&text, r->mem);
    if (r->kind == NODE_START) {
        w->idempotency.status = 201;
        show_execution(r->mem, &text, w->commit->after);
    } else if (r->kind == NODE_SIGNAL) {
        w->idempotency.status = 202;
        buf_text(&text, "{\"id\":");
        json_write_string(&text, r->signal_id);
        buf_char(&text, '}');
    } else {
        w->idempotency.status = 202;
        buf_text(&text, "{}");
    }
    w->idempotency.answer = buf_view(&text);
}

void batch_add(struct node *n, struct work *w)
{
    if (n->current == NULL)
        n->current = batch_new(n);
    w->member = (struct member){.owner = w};
    if (w->commit != NULL) {
        w->member.kind = MEMBER_COMMIT;
        w->member.commit = w->commit;
    } else {
        w->member.kind = MEMBER_DEFINITION;
        w->member.definition = &w->request->definition;
    }
    if (w->kind == WORK_REQUEST && w->request->idempotency.key.len > 0) {
        keep_answer(n, w);
        w->member.idempotency = &w->idempotency;
    }
    *VEC_ADD(&n->current->mem, &n->current->members) = &w->member;
}

void batch_submit(struct node *n)
{
    struct batch *b = n->current;

    if (b == NULL)
        n->current = batch_new(n);
    if (b == NULL || b->members.count == 0 || n->outstanding == OUTSTANDING_MAX)
        return;
    b->number = n->batch_number + 1;
    CRASH_POINT(BEFORE_SUBMIT);
    if (!store_submit(n->store, b))
        return;
    CRASH_POINT(AFTER_SUBMIT);
    n->batch_number++;
    n->outstanding++;
    n->current = batch_new(n);
}

/* --- what became of it --- */

static void write_logs(const struct commit *commit)
{
    for (size_t i = 0; i < commit->logs.count; i++) {
        const struct log_line *line = &commit->logs.items[i];
        char id[UUID_TEXT_LEN + 1];
        uuid_write(commit->after->id, id);
        log_write(str_eq(line->level, STR("error"))  ? LOG_ERROR
                  : str_eq(line->level, STR("warn")) ? LOG_WARN
                                                     : LOG_INFO,
                  "process log",
                  LOG_FIELDS(log_str("execution", str_of(id)), log_str("text", line->message),
                             log_str("data", line->data_json)));
    }
}

static void unpin(struct node *n, struct entry *e)
{
    ASSERT(e->pins > 0);
    e->pins--;
    entry_make_ready(n, e);
}

static void forget_commit(struct work *w)
{
    w->commit = NULL;
    w->records = (struct record_reads){0};
    w->objects = (struct object_reads){0};
}

/* Give the work back to its entry, to be applied to the state as it really is. */
static void again(struct node *n, struct work *w, bool to_front)
{
    struct entry *e = w->entry;

    forget_commit(w);
    if (w->kind == WORK_WAKE) {
        if (e->wake_queued) {
            work_free(n, w);
            return;
        }
        e->wake_queued = true;
    }
    if (to_front)
        entry_queue_first(n, e, w);
    else
        entry_queue(n, e, w);
}

static void answer_start(struct node *n, struct work *w, struct entry *e)
{
    const struct execution *x = w->commit->after;
    struct node_request *r = w->request;
    struct buf text;

    r->id = x->id;
    if (r->wait_us > 0 && !status_is_terminal(x->status)) {
        request_wait(n, e, r);
        return;
    }
    buf_init_arena(&text, r->mem);
    show_execution(r->mem, &text, x);
    r->ok = true;
    r->ended = status_is_terminal(x->status);
    r->execution_json = buf_view(&text);
    request_done(n, r);
}

static void answer(struct node *n, struct work *w)
{
    struct node_request *r = w->request;

    switch (r->kind) {
    case NODE_START:
        answer_start(n, w, w->entry);
        return;
    case NODE_SIGNAL:
        r->signal_id_out = r->signal_id;
        break;
    case NODE_CANCEL:
        break;
    case NODE_DEFINITION:
        if (r->definition.action == DEFINITION_PUBLISH)
            published_get(n, r->definition.code)->version = r->definition.version;
        break;
    case NODE_WAIT:
        PANIC("a wait is in no batch");
    }
    r->ok = true;
    request_done(n, r);
}

static void applied(struct node *n, struct work *w)
{
    struct entry *e = w->entry;
    const struct execution *x;

    if (w->commit == NULL) {
        answer(n, w);
        work_free(n, w);
        return;
    }
    x = w->commit->after;
    if (w->commit->is_start && e->x != NULL && e->x->row == 0)
        e->x->row = w->member.row;
    write_logs(w->commit);
    if (x->wake_at_us > 0 && x->wake_at_us <= clock_wall_us(n->clock) + TIMER_WINDOW_US)
        timers_add(&n->timers, x->wake_at_us, x->id);
    if (w->kind == WORK_REQUEST)
        answer(n, w);
    if (status_is_terminal(x->status))
        request_answer_waiters(n, e, x);
    work_free(n, w);
    unpin(n, e);
    entry_release_if_idle(n, e);
}

/* Nobody knows the execution yet: it is made anew, with an id of its own. */
static void start_again(struct node *n, struct work *w)
{
    struct entry *e = w->entry;

    forget_commit(w);
    w->entry = NULL;
    entry_release_if_idle(n, e);
    request_start(n, w);
}

/* The commit of this one member did not become true. */
static void refused(struct node *n, struct work *w)
{
    struct member *m = &w->member;
    struct node_request *r = w->request;
    struct entry *e = w->entry;
    bool is_start = w->commit != NULL && w->commit->is_start;
    bool retry = m->result == MEMBER_STALE || m->result == MEMBER_RECORD_STALE;

    if (e != NULL) {
        e->is_stale = true;
        unpin(n, e);
    }
    if (e != NULL && retry && ++w->tries <= TRIES_MAX) {
        if (is_start)
            start_again(n, w);
        else
            again(n, w, false);
        return;
    }
    /* What is due stays due. */
    if (w->kind == WORK_WAKE && retry)
        timers_add(&n->timers, clock_wall_us(n->clock) + WAKE_AGAIN_US, e->id);
    work_free(n, w);
    if (r != NULL) {
        r->id = m->holder;
        switch (m->result) {
        case MEMBER_KEY_BUSY:
            request_refuse(n, r, ERR_KEY_BUSY, "an execution with this key is running");
            break;
        case MEMBER_SIGNAL_KNOWN:
            r->ok = true;
            r->signal_id_out = r->signal_id;
            request_done(n, r);
            break;
        case MEMBER_SIGNAL_DIFFERS:
            request_refuse(n, r, ERR_CONFLICT, "a signal with this id has other content");
            break;
        case MEMBER_REPEATED:
            r->ok = true;
            r->joined = true;
            r->stored_status = m->answer_status;
            r->stored_answer = str_copy(r->mem, m->answer);
            request_done(n, r);
            break;
        case MEMBER_KEY_CONFLICT:
            request_refuse(n, r, ERR_IDEMPOTENCY_CONFLICT,
                           "this Idempotency-Key was used with another request");
            break;
        case MEMBER_STALE:
        case MEMBER_RECORD_STALE:
            request_refuse(n, r, r->kind == NODE_DEFINITION ? ERR_PRECONDITION_FAILED : ERR_OVERLOADED,
                           r->kind == NODE_DEFINITION ? "someone else has saved it since"
                                                      : "too many changes at once; try again");
            break;
        case MEMBER_GONE:
            request_refuse(n, r, ERR_NOT_FOUND, "it does not exist");
            break;
        case MEMBER_FAILED:
            request_refuse(n, r, m->err.code, "%s", m->err.message);
            break;
        case MEMBER_APPLIED:
            PANIC("an applied member is not refused");
        }
    }
    if (e != NULL)
        entry_release_if_idle(n, e);
}

/* None of it happened, or nobody can tell. */
static void undo(struct node *n, struct batch *b)
{
    bool unknown = b->end == BATCH_UNKNOWN;

    n->pause_until_us = clock_mono_us(n->clock) + REFUSED_PAUSE_US;
    log_write(LOG_ERROR, "the store did not take a batch",
              LOG_FIELDS(log_str("reason", str_of(b->err.message)),
                         log_int("members", (int64_t)b->members.count)));
    for (size_t i = b->members.count; i-- > 0;) {
        struct work *w = b->members.items[i]->owner;
        bool is_start;

        if (w == NULL)
            continue; /* a crash that was not counted: the file still names it */
        is_start = w->commit != NULL && w->commit->is_start;
        if (w->entry != NULL) {
            w->entry->is_stale = true;
            unpin(n, w->entry);
        }
        if (w->kind == WORK_WAKE || (!unknown && !is_start && w->entry != NULL &&
                                     ++w->tries <= TRIES_MAX)) {
            again(n, w, true);
            continue;
        }
        request_refuse(n, w->request, unknown ? ERR_OUTCOME_UNKNOWN : ERR_OVERLOADED,
                       unknown ? "whether it happened is not known: %s"
                               : "the store refuses changes: %s",
                       b->err.message);
        if (w->entry != NULL)
            entry_release_if_idle(n, w->entry);
        work_free(n, w);
    }
}

void batch_done(struct node *n, struct batch *b)
{
    CRASH_POINT(BATCH_DONE);
    n->outstanding--;
    if (b->end == BATCH_COMMITTED) {
        for (size_t i = 0; i < b->members.count; i++) {
            struct work *w = b->members.items[i]->owner;
            if (w == NULL) {
                poison_clear(&n->poison); /* the crash is counted, once */
                continue;
            }
            if (w->member.result == MEMBER_APPLIED)
                applied(n, w);
            else
                refused(n, w);
            CRASH_POINT(BETWEEN_ANSWERS);
        }
    } else {
        undo(n, b);
    }
    batch_recycle(n, b);
    CRASH_POINT(AFTER_ANSWERS);
}
