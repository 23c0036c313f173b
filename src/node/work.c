/* work.c - from events to commits; see work.h. */
#include "node/work.h"

#include "base/crash.h"
#include "engine/advance.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "node/batch.h"
#include "node/cache/entry.h"
#include "node/cache/load.h"
#include "node/cache/program.h"
#include "node/cluster/config.h"
#include "node/cluster/waiters.h"
#include "node/guard/crash.h"
#include "node/guard/guard.h"
#include "node/guard/park.h"
#include "node/guard/poison.h"
#include "node/inner.h"
#include "node/node.h"
#include "node/outside/calls.h"
#include "node/outside/credentials.h"
#include "node/outside/outgoing.h"
#include "node/outside/relay.h"

struct work *work_new(struct node *n, const struct work_kind *kind)
{
    struct work *w = n->works->free;
    struct turn_reads *reads;

    if (w != NULL) {
        n->works->free = w->next;
        reads = w->reads;
    } else {
        w = arena_alloc(&n->mem, sizeof(*w));
        reads = ARENA_NEW(&n->mem, struct turn_reads);
    }
    *w = (struct work){
        .kind = kind, .number = ++n->works->number, .reads = reads, .input = value_absent()};
    return w;
}

void work_forget_reads(struct work *w)
{
    for (size_t i = 0; i < w->programs.count; i++)
        program_read_release(&w->programs.items[i]);
    w->programs = (struct program_reads){0};
    *w->reads = (struct turn_reads){0};
    w->has_reads = false;
}

bool work_has_reads(const struct work *w)
{
    return w->commit != NULL || w->has_reads;
}

void work_free(struct node *n, struct work *w)
{
    work_forget_reads(w);
    program_hold(n, &w->program, NULL);
    if (w->kind->freed != NULL)
        w->kind->freed(n, w);
    w->next = n->works->free;
    n->works->free = w;
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

void work_take_first(struct entry *e, struct work *w)
{
    struct work *first = work_pop(&e->works);

    ASSERT(first == w);
    if (w->kind->taken != NULL)
        w->kind->taken(w);
}

void work_again(struct node *n, struct work *w)
{
    ASSERT(w->entry != NULL);
    w->commit = NULL;
    w->asserts = ASSERTS_NOTHING;
    w->now_us = 0;
    work_forget_reads(w);
    if (w->kind->again != NULL)
        w->kind->again(n, w);
    else
        entry_queue(n, w->entry, w);
}

/* --- records that others change first --- */

/* In place of a version: that the record has changed since then is counted already. */
enum { VERSION_COUNTED = -1 };

static uint64_t record_hash(struct str object, struct str id)
{
    return hash_mix(hash_bytes(object.ptr, object.len), hash_bytes(id.ptr, id.len));
}

static struct record_try *find_record_try(struct work *w, uint64_t hash)
{
    for (unsigned i = 0; i < w->records_tried_count; i++)
        if (w->records_tried[i].hash == hash)
            return &w->records_tried[i];
    return NULL;
}

void work_note_records(struct work *w)
{
    for (size_t i = 0; w->commit != NULL && i < w->commit->records.count; i++) {
        const struct record_write *write = &w->commit->records.items[i];
        uint64_t hash = record_hash(write->object, write->id);
        struct record_try *t = find_record_try(w, hash);

        if (t == NULL && w->records_tried_count < RECORDS_TRIED_MAX) {
            t = &w->records_tried[w->records_tried_count++];
            *t = (struct record_try){.hash = hash};
        }
        if (t == NULL)
            continue;
        /* Of several, the next reads show which one has changed; a single one it must have been. */
        t->version = write->read_version;
        if (w->commit->records.count == 1) {
            t->tries++;
            t->version = VERSION_COUNTED;
        }
    }
}

/* The records as they are now: one that has changed since the last try was changed by another. */
static void count_record_tries(struct work *w)
{
    for (size_t i = 0; i < w->reads->records.count; i++) {
        struct record_read *read = &w->reads->records.items[i];
        struct record_try *t = find_record_try(w, record_hash(read->object, read->id));

        if (t == NULL)
            continue;
        if (t->version != VERSION_COUNTED && t->version != read->version)
            t->tries++;
        t->version = read->version;
        read->tries = t->tries;
    }
}

/* --- advancing --- */

static void make_event(struct node *n, struct work *w, struct event *ev)
{
    count_record_tries(w);
    w->kind->event(w, ev);
    ev->is_only_kept = guard_only_keeps(w);
    ev->config = n->config->map;
    ev->credentials = n->credentials->urls;
    ev->reads = w->reads;
    ev->buffers_signals = true;
    ev->capacity = calls_capacity(n);
    ev->links = node_links(n);
    ev->gives_up_on_records = w->record_tries > RECORD_TRIES_ALL_MAX;
    ev->traces = n->options.meters != NULL;
    credentials_nonce(n, ev->nonce);
}

void work_assert(struct node *n, struct entry *e, struct work *w, enum work_asserts what)
{
    w->commit = NULL;
    w->asserts = what;
    w->met = e->x;
    w->assertion = (struct assertion){
        .id = e->id,
        .row = e->row,
        .row_version = e->x->row_version,
        .now_us = w->now_us != 0 ? w->now_us : clock_wall_us(n->clock),
    };
    e->pins++;
    batch_add(n, w);
}

/* It changes nothing: what follows from that happens once the state that it met is known to be true. */
static void assert_first(struct node *n, struct entry *e, struct work *w, enum work_asserts what)
{
    work_take_first(e, w);
    work_assert(n, e, w, what);
}

/* The event does not apply. `found`: in the entry's memory, or NULL. */
static void reject_first(struct node *n, struct entry *e, struct work *w, const struct err *err,
                         const struct findings *found)
{
    /* One that was to be started is in no store, and nobody else can have changed it. */
    if (e->x->row_version == 0) {
        work_take_first(e, w);
        w->met = e->x;
        w->kind->rejected(n, w, err, found);
        return;
    }
    w->err = *err;
    w->found = found;
    assert_first(n, e, w, ASSERTS_REJECTED);
}

static void commit_first(struct node *n, struct entry *e, struct work *w, struct commit *commit)
{
    work_take_first(e, w);
    route_commit(n, &e->mem, commit);
    outgoing_reserve(n, commit);
    w->commit = commit;
    e->x = commit->after;
    e->pins++;
    batch_add(n, w);
}

/* Let the engine decide. False: it cannot go on now. */
static bool advance(struct node *n, struct entry *e, struct work *w)
{
    struct commit *commit = arena_alloc(&e->mem, sizeof(*commit));
    struct event ev = {0};
    struct err err;
    bool ok;

    if (w->now_us == 0)
        w->now_us = clock_wall_us(n->clock);
    /* While pinned the store may be reading it. */
    if (e->pins == 0)
        e->x->row = e->row;
    make_event(n, w, &ev);
    CRASH_POINT(BEFORE_ADVANCE);
    ok = engine_advance(&e->mem, e->x, &ev, w->now_us, commit, &err);
    CRASH_POINT(AFTER_ADVANCE);
    if (!ok) {
        reject_first(n, e, w, &err, &commit->findings);
        if (err.code == ERR_INTERNAL) /* what is stored of it is damaged */
            park_or_wake_later(n, e->id, "internal_state", &err);
        return true;
    }
    /* What it would do is known, and rests on the state that it met. */
    if (commit->result == ADVANCE_COMMIT && w->request != NULL && w->request->is_dry) {
        assert_first(n, e, w, ASSERTS_SETTLED);
        return true;
    }
    if (commit->result == ADVANCE_COMMIT) {
        commit_first(n, e, w, commit);
        return true;
    }
    /* Reads must see the execution's own earlier commits. */
    if (e->pins == 0) {
        w->commit = commit;
        CRASH_POINT(NEED_READS);
        return load_turn(n, e, w);
    }
    return false;
}

/* The first work of an entry. False: it cannot go on now. */
static bool run_first(struct node *n, struct entry *e)
{
    struct work *w = e->works.first;
    struct err err;

    switch (guard_begin(n, e, w, &err)) {
    case WORK_ADVANCES:
        return advance(n, e, w);
    case WORK_REJECTED:
        reject_first(n, e, w, &err, NULL);
        return true;
    case WORK_SETTLED:
        assert_first(n, e, w, ASSERTS_SETTLED);
        return true;
    case WORK_WAITS:
        return false;
    case WORK_DONE:
        return true;
    }
    PANIC("unknown way to begin a work");
}

void entry_fail(struct node *n, struct entry *e, const struct err *err)
{
    struct work *w;

    e->state = ENTRY_GONE;
    e->err = *err;
    if (err_is_retryable(e->err.code))
        e->err.code = ERR_OVERLOADED; /* not the client's fault, and it will pass */
    while ((w = e->works.first) != NULL) {
        work_take_first(e, w);
        if (w->kind->gone != NULL)
            w->kind->gone(n, w, &e->err);
        else
            work_free(n, w);
    }
    ASSERT(!e->wake_queued);
    waiters_refuse(n, e, &e->err);
}

static void run_entry(struct node *n, struct entry *e)
{
    if (e->state == ENTRY_GONE)
        entry_fail(n, e, &e->err);
    if (e->state == ENTRY_STALE && e->pins == 0)
        entry_reload(n, e);
    while (e->state == ENTRY_READY && !e->is_waited_for && e->works.first != NULL &&
           !batch_is_full(n) && entry_bound_garbage(n, e))
        if (!run_first(n, e))
            break;
    if (batch_is_full(n))
        entry_make_ready(n, e); /* for the next batch */
    entry_touch(n, e);
    entry_check(e);
}

void works_run(struct node *n)
{
    const struct entry *last = n->entries->ready_last;
    bool was_last = last == NULL;

    if (crash_holds_all(n) || !n->config->is_known || batch_pause_us(n) > 0)
        return;
    /* Those that become ready meanwhile are for the next pass. */
    while (!was_last && !batch_is_full(n)) {
        struct entry *e = n->entries->ready_first;

        was_last = e == last;
        n->entries->ready_first = e->next_ready;
        if (n->entries->ready_first == NULL)
            n->entries->ready_last = NULL;
        e->in_ready_list = false;
        poison_set(n->poison, e->id);
        run_entry(n, e);
        entry_release_if_idle(n, e);
        poison_clear(n->poison);
    }
}
