/* batch.c - building batches, and what becomes of their members; see batch.h. */
#include "node/batch.h"

#include "base/alloc.h"
#include "base/crash.h"
#include "base/log.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "node/cache/entry.h"
#include "node/cache/taken.h"
#include "node/chore/measure.h"
#include "node/chore/minutes.h"
#include "node/chore/spans.h"
#include "node/cluster/cluster.h"
#include "node/cluster/waiters.h"
#include "node/commit_log.h"
#include "node/guard/poison.h"
#include "node/inner.h"
#include "node/locked.h"
#include "node/node.h"
#include "node/notify.h"
#include "node/outside/calls.h"
#include "node/outside/outgoing.h"
#include "node/outside/relay.h"
#include "node/wake.h"
#include "node/work.h"
#include "store/change.h"

/* After a batch that the store did not take; longer each time while no client waits for it. */
#define REFUSED_PAUSE_US INT64_C(200000)
#define REFUSED_PAUSE_MAX_US INT64_C(1000000)
#define TELL_AGAIN_US INT64_C(60000000)
#define TAKES_AGAIN_US INT64_C(5000000)

struct batch *batch_make(struct node *n)
{
    struct batch *b;

    if (n->batches->spare_count > 0) {
        b = n->batches->spare[--n->batches->spare_count];
        arena_reset(&b->mem);
    } else {
        b = alloc_bytes(sizeof(*b));
        arena_init(&b->mem);
    }
    b->item = STORE_BATCH;
    b->members = (struct members){0};
    b->waits = false;
    b->end = BATCH_COMMITTED;
    b->no_space = false;
    return b;
}

static void free_batch(struct batch *b)
{
    arena_fini(&b->mem);
    free(b);
}

void batch_recycle(struct node *n, struct batch *b)
{
    if (n->batches->spare_count < sizeof(n->batches->spare) / sizeof(n->batches->spare[0]))
        n->batches->spare[n->batches->spare_count++] = b;
    else
        free_batch(b);
}

void batch_init(struct node *n)
{
    n->batches->current = batch_make(n);
}

void batches_free(struct node *n)
{
    if (n->batches->current != NULL)
        free_batch(n->batches->current);
    if (n->locked->waiting != NULL)
        free_batch(n->locked->waiting);
    while (n->batches->outstanding > 0)
        free_batch(n->batches->sent[--n->batches->outstanding]);
    while (n->batches->spare_count > 0)
        free_batch(n->batches->spare[--n->batches->spare_count]);
}

void batch_route(struct node *n, struct arena *mem, struct work *w)
{
    if (w->member.kind == MEMBER_COMMIT && w->commit->tasks.count > 0)
        w->member.events = route_events(n, mem, "task.");
    if (w->member.kind == MEMBER_CHANGE && w->member.change->announces != NULL)
        w->member.events = route_events(n, mem, w->member.change->announces);
    else if (w->member.kind == MEMBER_CRASH)
        w->member.events = route_events(n, mem, "dead_letter.");
}

void batch_add(struct node *n, struct work *w)
{
    w->member = (struct member){.owner = w};
    if (w->asserts != ASSERTS_NOTHING) {
        w->member.kind = MEMBER_ASSERT;
        w->member.assertion = &w->assertion;
    } else if (w->commit != NULL) {
        w->member.kind = MEMBER_COMMIT;
        w->member.commit = w->commit;
    }
    if (w->kind->member != NULL)
        w->kind->member(n, w);
    if (locked_wait(n, w))
        return;
    batch_route(n, &n->batches->current->mem, w);
    *VEC_ADD(&n->batches->current->mem, &n->batches->current->members) = &w->member;
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

        b->members.items[i]->is_void = w->entry != NULL && entry_is_stale(w->entry);
    }
}

/*
 * The second one waits until it is as large as the first, or until that has come
 * back: a commit costs a sync, however many members share it. After a batch that
 * the store did not take there is a pause, also for members that are of no
 * execution and come back at once.
 */
bool batch_is_due(const struct node *n)
{
    size_t count = n->batches->current->members.count;

    return count > 0 && n->batches->outstanding < OUTSTANDING_MAX && batch_pause_us(n) == 0 &&
           (n->batches->outstanding == 0 ||
            count >= n->batches->sent[n->batches->outstanding - 1]->members.count);
}

int64_t batch_pause_us(const struct node *n)
{
    int64_t us = n->batches->pause_until_us - clock_mono_us(n->clock);

    return us > 0 ? us : 0;
}

bool batch_is_full(const struct node *n)
{
    return n->batches->current->members.count >= BATCH_MEMBERS_MAX;
}

static bool member_makes_space(const struct member *m)
{
    return m->kind == MEMBER_CHANGE && change_makes_space(m->change);
}

/*
 * On a full volume deletions go first, in a batch of their own: the store lends
 * its reserve to nothing else. NULL: there are none. What they point to may
 * live in the batch that they came from, which ends after theirs.
 */
static struct batch *take_deletions(struct node *n)
{
    struct members *all = &n->batches->current->members;
    struct batch *b = NULL;
    size_t left = 0;

    for (size_t i = 0; n->batches->no_space && i < all->count; i++) {
        struct member *m = all->items[i];

        if (!member_makes_space(m) || (b != NULL && b->members.count >= DELETIONS_MAX)) {
            all->items[left++] = m;
            continue;
        }
        if (b == NULL)
            b = batch_make(n);
        *VEC_ADD(&b->mem, &b->members) = m;
    }
    if (b != NULL)
        all->count = left;
    return b;
}

/* The store did not take them now. */
static void put_back(struct node *n, struct batch *deletions)
{
    struct batch *current = n->batches->current;

    if (deletions == NULL)
        return;
    for (size_t i = 0; i < deletions->members.count; i++)
        *VEC_ADD(&current->mem, &current->members) = deletions->members.items[i];
    batch_recycle(n, deletions);
}

void batch_submit(struct node *n)
{
    struct batch *deletions, *b;

    if (!batch_is_due(n))
        return;
    deletions = take_deletions(n);
    b = deletions != NULL ? deletions : n->batches->current;
    mark_void(b);
    b->number = n->batches->number + 1;
    b->seen = n->batches->seen;
    CRASH_POINT(BEFORE_SUBMIT);
    if (!store_submit(n->store, b)) {
        put_back(n, deletions);
        return;
    }
    CRASH_POINT(AFTER_SUBMIT);
    n->batches->number++;
    n->batches->sent_at_us[n->batches->outstanding] = clock_mono_us(n->clock);
    n->batches->sent[n->batches->outstanding++] = b;
    if (deletions == NULL)
        n->batches->current = batch_make(n);
}

/* --- what became of it --- */

static void wake_receivers(struct node *n, const struct notices *notices)
{
    for (size_t i = 0; i < notices->count; i++)
        wake_events_or_notify(n, notices->items[i].execution);
}

/* A commit of an execution is durable, whatever led to it. */
static void commit_applied(struct node *n, struct entry *e, struct work *w)
{
    const struct commit *commit = w->commit;

    e->row = w->member.row;
    if (w->program != NULL)
        entry_set_program(n, e, w->program);
    commit_log_lines(&e->mem, commit);
    commit_log(commit, w->request, entry_status_before(e));
    wake_arm(n, commit->after);
    spans_take(n, commit, entry_status_before(e));
    minutes_count(n, commit, notify_is_end(commit, entry_status_before(e)));
    measure_commit(n, e, commit);
    notify_commit(n, e, commit);
    if (waiters_are_over(commit->after))
        cluster_note_ended(n, e->id);
    if (e->waiters != NULL)
        taken_answer(n, e, commit);
    outgoing_send(n, commit);
    calls_queue(n, commit->after);
    relay_note(n, commit);
    for (size_t i = 0; i < commit->starts.count; i++)
        wake_or_notify(n, commit->starts.items[i]->id);
    wake_receivers(n, &commit->notices);
    /* The planner may have answered with the same commit. */
    if (commit->tasks.count > 0) {
        wake_with_events(n, e->id);
        node_tasks_changed(n);
    }
    if (e->events.is_joined && status_is_terminal(commit->after->status))
        wake_with_events(n, e->id);
}

static void member_applied(struct node *n, struct work *w)
{
    const struct commit *commit = w->commit;
    struct entry *e = w->entry;

    n->batches->members_applied++;
    if (w->member.events != NULL)
        relay_note_events(n, w->member.events);
    if (commit == NULL && w->asserts == ASSERTS_NOTHING) {
        w->kind->applied(n, w);
        return;
    }
    if (commit != NULL)
        commit_applied(n, e, w);
    else
        wake_receivers(n, &w->assertion.notices);
    if (w->asserts == ASSERTS_REJECTED)
        w->kind->rejected(n, w, &w->err, w->found);
    else
        w->kind->applied(n, w);
    /* An operator's retry may have followed its end already: who waits has come after that. */
    if (commit != NULL && waiters_are_over(commit->after) &&
        (e->x == NULL || e->x->row_version <= commit->after->row_version))
        waiters_answer(n, e, commit->after);
    entry_unpin(n, e);
    entry_release_if_idle(n, e);
}

/* Whether another try may help. */
static bool may_try_again(struct work *w)
{
    switch (w->member.result) {
    case MEMBER_RECORD_STALE:
        /* After that the engine gives up, and its commit writes no record. */
        work_note_records(w);
        return ++w->record_tries <= RECORD_TRIES_ALL_MAX + 1;
    case MEMBER_STALE:
        return w->entry != NULL && ++w->tries <= TRIES_MAX;
    case MEMBER_GONE:
        /* What it asked for changes nothing: who reads again finds that it is not there. */
        return w->asserts != ASSERTS_NOTHING && ++w->tries <= TRIES_MAX;
    case MEMBER_START_STALE:
        return ++w->start_tries <= START_TRIES_MAX;
    case MEMBER_BUFFERED_STALE:
        return ++w->buffered_tries <= BUFFERED_TRIES_MAX;
    case MEMBER_FAILED:
        return w->entry != NULL && w->member.err.code == ERR_OVERLOADED && ++w->tries <= TRIES_MAX;
    case MEMBER_LOCKED: /* for too long: see locked.h */
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
    bool is_follower = e != NULL && entry_is_stale(e) && w->member.result == MEMBER_STALE;

    n->batches->members_refused++;
    if (w->commit != NULL)
        outgoing_release(n, w->commit);
    if (w->member.result == MEMBER_LOCKED && locked_rest(n, w))
        return;
    if (e != NULL) {
        entry_mark_stale(e);
        entry_unpin(n, e);
    }
    if (e != NULL && (is_follower || may_try_again(w)))
        work_again(n, w);
    else
        w->kind->refused(n, w);
    if (e != NULL)
        entry_release_if_idle(n, e);
}

/* None of the batch happened, or nobody knows. */
static void member_undone(struct node *n, struct work *w, const struct batch *b)
{
    bool is_unknown = b->end == BATCH_UNKNOWN;
    struct entry *e = w->entry;
    struct uuid id = {.bytes = {0}};

    if (w->commit != NULL)
        outgoing_release(n, w->commit);
    if (e != NULL) {
        id = e->id;
        entry_mark_stale(e);
        entry_unpin(n, e);
    }
    /* One that changes nothing may run again in any case. */
    if ((e != NULL && (!is_unknown || w->asserts != ASSERTS_NOTHING) && ++w->tries <= TRIES_MAX) ||
        w->kind->unknown == NULL)
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
        poison_set(n->poison, w->entry->id);
    if (b->end != BATCH_COMMITTED)
        member_undone(n, w, b);
    else if (m->result == MEMBER_APPLIED)
        member_applied(n, w);
    else
        member_refused(n, w);
    poison_clear(n->poison);
    CRASH_POINT(BETWEEN_ANSWERS);
}

static bool is_all_applied(const struct batch *b)
{
    for (size_t i = 0; i < b->members.count; i++)
        if (b->members.items[i]->result != MEMBER_APPLIED)
            return false;
    return b->end == BATCH_COMMITTED;
}

/* Say that batches are refused: the first time, and how many there were a minute later. */
static void tell_refused(struct node *n, const struct batch *b)
{
    struct batches *all = n->batches;
    int64_t now_us = clock_mono_us(n->clock);

    all->refused_at_us = now_us;
    all->untold++;
    if (all->told_at_us != 0 && now_us - all->told_at_us < TELL_AGAIN_US)
        return;
    log_write(LOG_ERROR, "the store did not take a batch",
              LOG_FIELDS(log_str("reason", str_of(b->err.message)),
                         log_int("members", (int64_t)b->members.count),
                         log_int("batches", all->untold)));
    all->told_at_us = now_us;
    all->untold = 0;
}

/* Say that it is over, when none was refused for a while. */
static void tell_taken(struct node *n)
{
    struct batches *all = n->batches;

    if (all->told_at_us == 0 || all->no_space ||
        clock_mono_us(n->clock) - all->refused_at_us < TAKES_AGAIN_US)
        return;
    log_write(LOG_INFO, "the store takes batches again",
              LOG_FIELDS(log_int("refused", all->untold)));
    all->told_at_us = all->untold = 0;
}

/* The store did not take a batch: what comes next waits a little. */
static void batch_pause(struct node *n, const struct batch *b)
{
    int64_t us = 2 * n->batches->pause_us;

    for (size_t i = 0; i < b->members.count; i++)
        if (((const struct work *)b->members.items[i]->owner)->request != NULL)
            us = REFUSED_PAUSE_US;
    us = us < REFUSED_PAUSE_US ? REFUSED_PAUSE_US : us;
    n->batches->pause_us = us < REFUSED_PAUSE_MAX_US ? us : REFUSED_PAUSE_MAX_US;
    n->batches->pause_until_us = clock_mono_us(n->clock) + n->batches->pause_us;
}

void batch_done(struct node *n, struct batch *b)
{
    CRASH_POINT(BATCH_DONE);
    if (b->waits) {
        locked_waited(n, b);
        finish_member(n, b->members.items[0], b);
        batch_recycle(n, b);
        return;
    }
    ASSERT(n->batches->outstanding > 0 && n->batches->sent[0] == b);
    measure_batch(n, b, n->batches->sent_at_us[0]);
    n->batches->seen = b->number;
    n->batches->outstanding--;
    n->batches->sent[0] = n->batches->sent[1];
    n->batches->sent_at_us[0] = n->batches->sent_at_us[1];
    if (b->end != BATCH_COMMITTED) {
        n->batches->refused++;
        batch_pause(n, b);
        n->batches->no_space |= b->no_space;
        tell_refused(n, b);
    } else {
        n->batches->pause_us = 0;
        tell_taken(n);
    }
    /* The store need not wait for the answers, unless the next one rests on what was refused. */
    if (is_all_applied(b))
        batch_submit(n);
    for (size_t i = 0; i < b->members.count; i++)
        finish_member(n, b->members.items[i], b);
    batch_recycle(n, b);
    CRASH_POINT(AFTER_ANSWERS);
}
