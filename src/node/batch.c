/* batch.c - group commit: building batches, and what becomes of them; see inner.h. */
#include "node/inner.h"

#include "base/crash.h"
#include "base/log.h"
#include "engine/show.h"

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

void batch_add(struct node *n, struct work *w)
{
    w->member = (struct member){.owner = w};
    if (w->asserts) {
        w->member.kind = MEMBER_ASSERT;
        w->member.assertion = &w->assertion;
    } else if (w->commit != NULL) {
        w->member.kind = MEMBER_COMMIT;
        w->member.commit = w->commit;
    }
    if (w->kind->member != NULL)
        w->kind->member(n, w);
    if (w->member.kind == MEMBER_COMMIT && w->commit->tasks.count > 0)
        w->member.events = route_events(n, &n->current->mem, "task.");
    if (w->member.kind == MEMBER_CHANGE && w->member.change->tells != NULL)
        w->member.events = route_events(n, &n->current->mem, w->member.change->tells);
    else if (w->member.kind == MEMBER_CRASH)
        w->member.events = route_events(n, &n->current->mem, "dead_letter.");
    *VEC_ADD(&n->current->mem, &n->current->members) = &w->member;
}

/*
 * A member of a stale entry rests on a commit that was refused while this batch
 * was being built. The store must not take it: the row may have the version
 * that it names all the same, written by another node.
 */
static void mark_void(const struct batch *b)
{
    for (size_t i = 0; i < b->members.count; i++) {
        const struct work *w = b->members.items[i]->owner;

        b->members.items[i]->is_void = w->entry != NULL && w->entry->is_stale;
    }
}

/*
 * The second one waits until it is as large as the first, or until that has come
 * back: a commit costs a sync, however many members share it.
 */
bool batch_is_due(const struct node *n)
{
    size_t count = n->current->members.count;

    return count > 0 && n->outstanding < OUTSTANDING_MAX &&
           (n->outstanding == 0 || count >= n->sent[n->outstanding - 1]->members.count);
}

void batch_submit(struct node *n)
{
    struct batch *b = n->current;

    if (!batch_is_due(n))
        return;
    mark_void(b);
    b->number = n->batch_number + 1;
    b->seen = n->batch_seen;
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

static void wake_tell(struct node *n, const struct tells *tells)
{
    for (size_t i = 0; i < tells->count; i++)
        wake_told(n, tells->items[i].execution);
}

/* A commit of an execution is durable, whatever led to it. */
static void commit_applied(struct node *n, struct entry *e, struct work *w)
{
    const struct commit *commit = w->commit;

    e->row = w->member.row;
    if (w->program != NULL)
        entry_set_program(n, e, w->program);
    tell_log_lines(&e->mem, commit);
    tell_log(commit, w->request, e->is_told ? e->told_status : STATUS_PENDING);
    wake_arm(n, commit->after);
    spans_tell(n, commit, e->is_told ? e->told_status : STATUS_PENDING);
    minutes_count(n, commit, news_is_end(commit, e->is_told ? e->told_status : STATUS_PENDING));
    measure_commit(n, e, commit);
    news_tell(n, e, commit);
    if (e->waiters != NULL)
        taken_tell(n, e, commit);
    outgoing_send(n, commit);
    calls_queue(n, commit->after);
    relay_note(n, commit);
    for (size_t i = 0; i < commit->starts.count; i++)
        wake(n, commit->starts.items[i]->id);
    wake_tell(n, &commit->tells);
    /* The planner may have answered with the same commit. */
    if (commit->tasks.count > 0) {
        wake_told(n, e->id);
        node_planner_nudge(n);
    }
    if (e->is_joined && status_is_terminal(commit->after->status))
        wake_told(n, e->id);
}

static void member_applied(struct node *n, struct work *w)
{
    const struct commit *commit = w->commit;
    struct entry *e = w->entry;

    n->members_applied++;
    if (w->member.events != NULL)
        relay_note_told(n, w->member.events);
    if (commit == NULL && !w->asserts) {
        w->kind->applied(n, w);
        return;
    }
    if (commit != NULL)
        commit_applied(n, e, w);
    else
        wake_tell(n, &w->assertion.tells);
    if (w->is_futile)
        w->kind->futile(n, e, w, &w->err, w->found);
    else
        w->kind->applied(n, w);
    if (commit != NULL && status_is_terminal(commit->after->status))
        request_answer_waiters(n, e, commit->after);
    entry_unpin(n, e);
    entry_release_if_idle(n, e);
}

/* Whether another try may help. */
static bool may_try_again(struct work *w)
{
    switch (w->member.result) {
    case MEMBER_RECORD_STALE:
        /* After that the engine is told to give up, and its commit writes no record. */
        work_note_records(w);
        return ++w->record_tries <= RECORD_TRIES_ALL_MAX + 1;
    case MEMBER_STALE:
        return w->entry != NULL && ++w->tries <= TRIES_MAX;
    case MEMBER_GONE:
        /* What it asked for changes nothing: who reads again is told that it is not there. */
        return w->asserts && ++w->tries <= TRIES_MAX;
    case MEMBER_KEPT_STALE:
        return ++w->kept_tries <= KEPT_TRIES_MAX;
    case MEMBER_FAILED:
        /* Another session has locked the row: it is hardly more than a moment. */
        return w->entry != NULL && w->member.err.code == ERR_OVERLOADED && ++w->tries <= TRIES_MAX;
    case MEMBER_APPLIED:
    case MEMBER_KEY_BUSY:
    case MEMBER_SIGNAL_KNOWN:
    case MEMBER_SIGNAL_DIFFERS:
    case MEMBER_REPEATED:
    case MEMBER_KEY_CONFLICT:
    case MEMBER_TICK_GONE:
        break;
    }
    return false;
}

/* The change of this one member did not become true. */
static void member_refused(struct node *n, struct work *w)
{
    struct entry *e = w->entry;
    /* One that rested on a commit which was refused before it: no fault of its own. */
    bool is_follower = e != NULL && e->is_stale && w->member.result == MEMBER_STALE;

    n->members_refused++;
    if (w->commit != NULL)
        outgoing_release(n, w->commit);
    if (e != NULL) {
        e->is_stale = true;
        entry_unpin(n, e);
    }
    if (e != NULL && (is_follower || may_try_again(w)))
        work_again(n, w);
    else
        w->kind->refused(n, w);
    if (e != NULL)
        entry_release_if_idle(n, e);
}

/* None of the batch happened, or nobody can tell. */
static void member_undone(struct node *n, struct work *w, const struct batch *b)
{
    bool is_unknown = b->end == BATCH_UNKNOWN;
    struct entry *e = w->entry;
    struct uuid id = {.bytes = {0}};

    if (w->commit != NULL)
        outgoing_release(n, w->commit);
    if (e != NULL) {
        id = e->id;
        e->is_stale = true;
        entry_unpin(n, e);
    }
    /* One that changes nothing may run again in any case. */
    if (e != NULL && (!is_unknown || w->asserts) && ++w->tries <= TRIES_MAX)
        work_again(n, w);
    else
        w->kind->unknown(n, w, b);
    /* It may have happened: look, and go on from there. */
    if (is_unknown && e != NULL)
        wake(n, id);
    if (e != NULL)
        entry_release_if_idle(n, e);
}

static void finish_member(struct node *n, struct member *m, const struct batch *b)
{
    struct work *w = m->owner;

    if (w->entry != NULL)
        poison_set(&n->poison, w->entry->id);
    if (b->end != BATCH_COMMITTED)
        member_undone(n, w, b);
    else if (m->result == MEMBER_APPLIED)
        member_applied(n, w);
    else
        member_refused(n, w);
    poison_clear(&n->poison);
    CRASH_POINT(BETWEEN_ANSWERS);
}

static bool is_all_applied(const struct batch *b)
{
    for (size_t i = 0; i < b->members.count; i++)
        if (b->members.items[i]->result != MEMBER_APPLIED)
            return false;
    return b->end == BATCH_COMMITTED;
}

void batch_done(struct node *n, struct batch *b)
{
    CRASH_POINT(BATCH_DONE);
    ASSERT(n->outstanding > 0 && n->sent[0] == b);
    measure_batch(n, b, n->sent_at_us[0]);
    n->batch_seen = b->number;
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
    /* The store need not wait for the answers, unless the next one rests on what was refused. */
    if (is_all_applied(b))
        batch_submit(n);
    for (size_t i = 0; i < b->members.count; i++)
        finish_member(n, b->members.items[i], b);
    recycle(n, b);
    CRASH_POINT(AFTER_ANSWERS);
}
