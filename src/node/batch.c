/* batch.c - group commit: building batches, and what becomes of them; see inner.h. */
#include "node/inner.h"

#include "base/crash.h"
#include "base/log.h"
#include "engine/show.h"
#include "store/change.h"
#include "value/object.h"

#include <stdlib.h>

#define REFUSED_PAUSE_US INT64_C(200000)

static struct batch *make_batch(struct node *n)
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

static void free_batch(struct batch *b)
{
    arena_fini(&b->mem);
    free(b);
}

static void recycle(struct node *n, struct batch *b)
{
    if (n->spare_count < sizeof(n->spare_batches) / sizeof(n->spare_batches[0]))
        n->spare_batches[n->spare_count++] = b;
    else
        free_batch(b);
}

void batch_init(struct node *n)
{
    n->current = make_batch(n);
}

void batches_free(struct node *n)
{
    if (n->current != NULL)
        free_batch(n->current);
    while (n->outstanding > 0)
        free_batch(n->sent[--n->outstanding]);
    while (n->spare_count > 0)
        free_batch(n->spare_batches[--n->spare_count]);
}

/* The answer that is kept for a repeated request. */
static void keep_answer(struct work *w)
{
    struct node_request *r = w->request;
    struct buf text;

    w->idempotency = r->idempotency;
    if (r->kind == NODE_DEFINITION || r->kind == NODE_CHANGE || r->kind == NODE_RESOLVE)
        return; /* the caller knows it, but for what the store adds */
    buf_init_arena(&text, r->mem);
    ASSERT(w->commit != NULL || w->correlated != NULL);
    if (r->kind == NODE_START) {
        w->idempotency.status = 201;
        view_execution(r->mem, &text, w->commit->after);
    } else if (r->kind == NODE_SIGNAL) {
        w->idempotency.status = 202;
        buf_char(&text, '{');
        object_text(&text, "id", r->signal_id);
        if (r->names_execution && w->commit != NULL)
            object_id(&text, "executionId", r->execution);
        else if (r->names_execution)
            object_json(&text, "executionId", STR("null"));
        buf_char(&text, '}');
    } else {
        w->idempotency.status = 202;
        buf_text(&text, "{}");
    }
    w->idempotency.answer = buf_view(&text);
}

static struct definition_change *request_definitions(struct node_request *r)
{
    return r->definitions != NULL ? r->definitions : &r->definition;
}

void batch_add(struct node *n, struct work *w)
{
    w->member = (struct member){.owner = w, .correlated = w->correlated};
    if (w->commit != NULL) {
        w->member.kind = MEMBER_COMMIT;
        w->member.commit = w->commit;
    } else if (w->correlated != NULL) {
        w->member.kind = MEMBER_CHANGE;
        w->member.change = correlate_keep(n, w);
    } else if (w->request->kind == NODE_DEFINITION) {
        w->member.kind = MEMBER_DEFINITION;
        w->member.definition = request_definitions(w->request);
    } else {
        w->member.kind = MEMBER_CHANGE;
        w->member.change = w->request->change;
    }
    if (w->kind == WORK_REQUEST && w->request->audit.action.len > 0)
        w->member.audit = &w->request->audit;
    if (w->kind == WORK_REQUEST && w->request->idempotency.key.len > 0) {
        keep_answer(w);
        w->member.idempotency = &w->idempotency;
    }
    *VEC_ADD(&n->current->mem, &n->current->members) = &w->member;
}

/* The execution that was being advanced when the process died. */
void batch_count_crash(struct node *n)
{
    struct member *m = arena_zalloc(&n->current->mem, sizeof(*m));

    m->kind = MEMBER_CRASH;
    m->crashed = n->crashed;
    *VEC_ADD(&n->current->mem, &n->current->members) = m;
    n->counts_crash = true;
}

void batch_submit(struct node *n)
{
    struct batch *b = n->current;

    if (b->members.count == 0 || n->outstanding == OUTSTANDING_MAX)
        return;
    b->number = n->batch_number + 1;
    CRASH_POINT(BEFORE_SUBMIT);
    if (!store_submit(n->store, b))
        return;
    CRASH_POINT(AFTER_SUBMIT);
    n->batch_number++;
    n->sent_at_us[n->outstanding] = clock_mono_us(n->clock);
    n->sent[n->outstanding++] = b;
    n->current = make_batch(n);
}

/* --- what became of it --- */

static enum log_level level_of(struct str name)
{
    return str_eq(name, STR("error"))   ? LOG_ERROR
           : str_eq(name, STR("warn"))  ? LOG_WARN
           : str_eq(name, STR("debug")) ? LOG_DEBUG
                                        : LOG_INFO;
}

static void write_logs(struct arena *mem, const struct commit *commit)
{
    struct mask mask = {0};

    if (commit->logs.count > 0)
        show_mask(mem, commit->after, &mask);
    for (size_t i = 0; i < commit->logs.count; i++) {
        const struct log_line *line = &commit->logs.items[i];
        char id[UUID_TEXT_LEN + 1];

        uuid_write(commit->after->id, id);
        log_write(level_of(line->level), "process log",
                  LOG_FIELDS(log_str("execution", str_of(id)),
                             log_str("text", mask_text(mem, &mask, line->message)),
                             log_str("data", mask_text(mem, &mask, line->data_json))));
    }
}

static void unpin(struct node *n, struct entry *e)
{
    ASSERT(e->pins > 0);
    e->pins--;
    entry_make_ready(n, e);
}

/* --- ... it became true --- */

/* Answer now, or when the execution has ended. */
static void answer_or_wait(struct node *n, struct work *w, const struct execution *x)
{
    struct node_request *r = w->request;

    request_show(r, x);
    if (r->wait_us > 0 && !r->ended)
        request_wait(n, w->entry, r);
    else
        request_done(n, r);
}

static void answer(struct node *n, struct work *w)
{
    struct node_request *r = w->request;

    r->ok = true;
    ASSERT(w->commit != NULL || r->kind == NODE_DEFINITION || r->kind == NODE_CHANGE ||
           (r->kind == NODE_SIGNAL && w->correlated != NULL));
    switch (r->kind) {
    case NODE_START:
        answer_or_wait(n, w, w->commit->after);
        return;
    case NODE_SIGNAL:
        r->signal_id_out = r->signal_id;
        r->is_kept = w->commit == NULL;
        if (r->is_kept)
            break;
        r->signal_seq = w->commit->received->seq;
        if (r->wait_us > 0 && !taken_find(r, w->commit) &&
            !status_is_terminal(w->commit->after->status)) {
            request_wait(n, w->entry, r);
            return;
        }
        break;
    case NODE_CANCEL:
    case NODE_RETRY:
    case NODE_SKIP:
    case NODE_MIGRATE:
    case NODE_RESOLVE:
    case NODE_UNDO:
    case NODE_PAUSE:
    case NODE_RESUME:
        break;
    case NODE_DEFINITION:
        config_changed(n, request_definitions(r));
        break;
    case NODE_CHANGE:
        r->change->answer_json = str_copy(r->mem, r->change->answer_json);
        break;
    case NODE_WAIT:
        PANIC("a wait is in no batch");
    }
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
    e->row = w->member.row;
    if (w->program != NULL)
        e->program = w->program;
    write_logs(&e->mem, w->commit);
    wake_arm(n, x);
    measure_commit(n, e, w->commit);
    news_tell(n, e, w->commit);
    if (e->waiters != NULL)
        taken_tell(n, e, w->commit);
    for (size_t i = 0; i < w->commit->starts.count; i++)
        wake(n, w->commit->starts.items[i]->id);
    if (w->commit->wakes_parent)
        wake(n, x->parent_id);
    if (w->kind == WORK_REQUEST)
        answer(n, w);
    if (status_is_terminal(x->status))
        request_answer_waiters(n, e, x);
    work_free(n, w);
    unpin(n, e);
    entry_release_if_idle(n, e);
}

/* --- ... it did not --- */

/* Apply the same event again, to the state as it really is. */
static void again(struct node *n, struct work *w)
{
    struct entry *e = w->entry;

    ASSERT(e != NULL);
    w->commit = NULL;
    w->now_us = 0;
    work_forget_reads(w);
    if (w->kind == WORK_REQUEST && w->request->kind == NODE_START) {
        /* It never was: start another one. */
        request_start(n, w);
    } else if (w->kind == WORK_WAKE && e->wake_queued) {
        work_free(n, w);
    } else {
        e->wake_queued |= w->kind == WORK_WAKE;
        entry_queue(n, e, w);
    }
}

/* Whether another try may help. */
static bool may_try_again(struct work *w)
{
    switch (w->member.result) {
    case MEMBER_RECORD_STALE:
        /* After that the engine is told to give up, and its commit writes no record. */
        return ++w->record_tries <= TRIES_MAX + 1;
    case MEMBER_STALE:
        return w->entry != NULL && ++w->tries <= TRIES_MAX;
    case MEMBER_KEPT_STALE:
        return ++w->kept_tries <= KEPT_TRIES_MAX;
    case MEMBER_APPLIED:
    case MEMBER_KEY_BUSY:
    case MEMBER_SIGNAL_KNOWN:
    case MEMBER_SIGNAL_DIFFERS:
    case MEMBER_REPEATED:
    case MEMBER_KEY_CONFLICT:
    case MEMBER_GONE:
    case MEMBER_FAILED:
        break;
    }
    return false;
}

/* The execution that has the key answers in place of the one that was to be started. */
static bool joins(struct node *n, struct work *w)
{
    struct node_request *r = w->request;

    if (w->member.result != MEMBER_KEY_BUSY || r->kind != NODE_START ||
        !w->commit->after->program->joins_by_key)
        return false;
    w->commit = NULL;
    work_forget_reads(w); /* they lie in the memory of the execution that never was */
    w->joins = true;
    r->joined = true;
    entry_queue(n, entry_get(n, w->member.holder), w);
    return true;
}

/* Say to the client what the store said of its member. */
static void answer_refused(struct node *n, struct node_request *r, const struct member *m)
{
    bool is_definition = r->kind == NODE_DEFINITION;

    switch (m->result) {
    case MEMBER_KEY_BUSY:
        r->id = m->holder;
        request_refuse(n, r, ERR_KEY_BUSY, "an execution with this key is running");
        return;
    case MEMBER_SIGNAL_KNOWN:
        r->ok = true;
        r->signal_id_out = r->signal_id;
        r->taken_before = true;
        r->is_kept = !m->has_holder;
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
    case MEMBER_KEPT_STALE:
        request_refuse(n, r, is_definition ? ERR_PRECONDITION_FAILED : ERR_OVERLOADED,
                       is_definition ? "someone else has saved it since"
                                     : "too many changes at once; try again");
        return;
    case MEMBER_GONE:
        request_refuse(n, r, ERR_NOT_FOUND, "it does not exist");
        return;
    case MEMBER_FAILED:
        request_refuse(n, r, m->err.code, "%s", m->err.message);
        return;
    case MEMBER_APPLIED:
        break;
    }
    PANIC("an applied member is not refused");
}

/* A wake that cannot be committed is not forgotten. */
static void postpone(struct node *n, const struct work *w)
{
    const struct member *m = &w->member;
    bool is_failed = m->result == MEMBER_FAILED;
    char id[UUID_TEXT_LEN + 1];

    if (m->result == MEMBER_GONE)
        return;
    ASSERT(w->entry != NULL);
    uuid_write(w->entry->id, id);
    log_write(LOG_ERROR, "an execution cannot go on",
              LOG_FIELDS(log_str("execution", str_of(id)),
                         log_str("reason",
                                 str_of(is_failed ? m->err.message : "it changes all the time"))));
    wake_later(n, w->entry->id,
               is_failed && !err_is_retryable(m->err.code) ? RETRY_LATER_US : RETRY_SOON_US);
}

/* The commit of this one member did not become true. */
static void refused(struct node *n, struct work *w)
{
    struct entry *e = w->entry;
    /* One that rested on a commit which was refused before it: no fault of its own. */
    bool is_follower = e != NULL && e->is_stale && w->member.result == MEMBER_STALE;

    if (e != NULL) {
        e->is_stale = true;
        unpin(n, e);
    }
    if (e != NULL && (is_follower || may_try_again(w))) {
        again(n, w);
    } else if (correlate_looks_again(n, w)) {
        /* It is on its way. */
    } else if (w->kind == WORK_WAKE) {
        postpone(n, w);
        work_free(n, w);
    } else if (!joins(n, w)) {
        answer_refused(n, w->request, &w->member);
        work_free(n, w);
    }
    if (e != NULL)
        entry_release_if_idle(n, e);
}

/* None of it happened, or nobody can tell: one member of such a batch. */
static void undo(struct node *n, struct work *w, const struct batch *b)
{
    bool unknown = b->end == BATCH_UNKNOWN;
    struct entry *e = w->entry;

    if (e != NULL) {
        e->is_stale = true;
        unpin(n, e);
    }
    if (w->kind == WORK_WAKE || (!unknown && e != NULL && ++w->tries <= TRIES_MAX)) {
        again(n, w);
    } else {
        request_refuse(n, w->request, unknown ? ERR_OUTCOME_UNKNOWN : ERR_OVERLOADED,
                       unknown ? "whether it happened is not known: %s"
                               : "the store refuses changes: %s",
                       b->err.message);
        work_free(n, w);
    }
    /* It may have happened: look, and go on from there. */
    if (unknown && e != NULL)
        wake(n, e->id);
    if (e != NULL)
        entry_release_if_idle(n, e);
}

static void finish_member(struct node *n, struct member *m, const struct batch *b)
{
    struct work *w = m->owner;

    if (w == NULL) {
        n->counts_crash = false;
        if (b->end == BATCH_COMMITTED)
            poison_clear(&n->poison); /* it is counted, once */
        else
            batch_count_crash(n);
    } else if (b->end != BATCH_COMMITTED) {
        undo(n, w, b);
    } else if (m->result == MEMBER_APPLIED) {
        n->members_applied++;
        applied(n, w);
    } else {
        n->members_refused++;
        refused(n, w);
    }
    CRASH_POINT(BETWEEN_ANSWERS);
}

void batch_done(struct node *n, struct batch *b)
{
    CRASH_POINT(BATCH_DONE);
    ASSERT(n->outstanding > 0 && n->sent[0] == b);
    measure_batch(n, b, n->sent_at_us[0]);
    n->outstanding--;
    n->sent[0] = n->sent[1];
    n->sent_at_us[0] = n->sent_at_us[1];
    if (b->end != BATCH_COMMITTED) {
        n->batches_refused++;
        n->pause_until_us = clock_mono_us(n->clock) + REFUSED_PAUSE_US;
        log_write(LOG_ERROR, "the store did not take a batch",
                  LOG_FIELDS(log_str("reason", str_of(b->err.message)),
                             log_int("members", (int64_t)b->members.count)));
    }
    for (size_t i = 0; i < b->members.count; i++)
        finish_member(n, b->members.items[i], b);
    recycle(n, b);
    CRASH_POINT(AFTER_ANSWERS);
}
