/* work.c - from events to commits; see inner.h. */
#include "node/inner.h"

#include "base/crash.h"

struct work *work_new(struct node *n, const struct work_kind *kind)
{
    struct work *w = n->free_works;

    if (w != NULL)
        n->free_works = w->next;
    else
        w = arena_alloc(&n->mem, sizeof(*w));
    *w = (struct work){.kind = kind, .number = ++n->work_number, .input = value_absent()};
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
    w->renders = (struct render_reads){0};
    w->children = (struct child_reads){0};
    w->has_history = w->has_leases = false;
}

bool work_has_reads(const struct work *w)
{
    return w->commit != NULL || w->has_history || w->programs.count > 0 || w->records.count > 0 ||
           w->searches.count > 0 || w->processes.count > 0 || w->kept.count > 0 ||
           w->renders.count > 0 || w->children.count > 0 || w->has_leases;
}

void work_free(struct node *n, struct work *w)
{
    work_forget_reads(w);
    program_hold(n, &w->program, NULL);
    if (w->kind->freed != NULL)
        w->kind->freed(n, w);
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

void work_take_first(struct node *n, struct entry *e, struct work *w)
{
    struct work *first = work_pop(&e->works);

    ASSERT(first == w);
    if (w->kind->taken != NULL)
        w->kind->taken(n, e, w);
}

void work_again(struct node *n, struct work *w)
{
    ASSERT(w->entry != NULL);
    w->commit = NULL;
    w->asserts = w->is_futile = false;
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
        /* Of several, the next reads tell which one has changed; a single one it must have been. */
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
    for (size_t i = 0; i < w->records.count && w->records_tried_count > 0; i++) {
        struct record_read *read = &w->records.items[i];
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
    *ev = (struct event){
        .config = n->config,
        .credentials = n->credentials,
        .records = &w->records,
        .searches = &w->searches,
        .history = w->has_history ? &w->history : NULL,
        .processes = &w->processes,
        .children = w->children.count > 0 ? &w->children : NULL,
        .leases = w->has_leases ? &w->leases : NULL,
        .kept = &w->kept,
        .renders = &w->renders,
        .room = calls_room(n),
        .links = node_links(n),
        .gives_up_on_records = w->record_tries > RECORD_TRIES_ALL_MAX,
        .traces = n->options.meters != NULL,
    };
    credentials_nonce(n, ev->nonce);
    w->kind->event(n, w, ev);
}

void work_assert(struct node *n, struct entry *e, struct work *w)
{
    w->commit = NULL;
    w->asserts = true;
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

/* It changes nothing: what follows from that is told once the state that it met is known to be true. */
static void settle_first(struct node *n, struct entry *e, struct work *w)
{
    work_take_first(n, e, w);
    work_assert(n, e, w);
}

/* The event does not apply. `found`: in the entry's memory, or NULL. */
static void end_futile(struct node *n, struct entry *e, struct work *w, const struct err *err,
                       const struct findings *found)
{
    /* One that was to be started is in no store, and nobody else can have changed it. */
    if (e->x->row_version == 0) {
        work_take_first(n, e, w);
        w->met = e->x;
        w->kind->futile(n, e, w, err, found);
        return;
    }
    w->is_futile = true;
    w->err = *err;
    w->found = found;
    settle_first(n, e, w);
}

static void commit_first(struct node *n, struct entry *e, struct work *w, struct commit *commit)
{
    work_take_first(n, e, w);
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
    struct event ev;
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
        end_futile(n, e, w, &err, &commit->findings);
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
        load_records(n, e, w);
    }
    return false;
}

/* The first work of an entry. False: it cannot go on now. */
static bool run_first(struct node *n, struct entry *e)
{
    struct work *w = e->works.first;
    struct err err;

    if (w->kind->begin == NULL)
        return advance(n, e, w);
    switch (w->kind->begin(n, e, w, &err)) {
    case WORK_ADVANCES:
        return advance(n, e, w);
    case WORK_FUTILE:
        end_futile(n, e, w, &err, NULL);
        return true;
    case WORK_SETTLED:
        settle_first(n, e, w);
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
        work_take_first(n, e, w);
        w->kind->gone(n, e, w, &e->err);
    }
    ASSERT(!e->wake_queued);
    request_refuse_waiters(n, e, &e->err);
}

static void run_entry(struct node *n, struct entry *e)
{
    if (e->state == ENTRY_GONE)
        entry_fail(n, e, &e->err);
    if (e->is_stale && e->pins == 0 && !e->is_needing)
        entry_reload(n, e);
    while (e->state == ENTRY_READY && !e->is_stale && !e->is_needing && e->works.first != NULL &&
           n->current->members.count < BATCH_MEMBERS_MAX && entry_bound_garbage(n, e))
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

    if (n->counting_crashes > 0 || !n->has_config || clock_mono_us(n->clock) < n->pause_until_us)
        return;
    /* Those that become ready meanwhile are for the next pass. */
    while (!was_last && n->current->members.count < BATCH_MEMBERS_MAX) {
        struct entry *e = n->ready_first;

        was_last = e == last;
        n->ready_first = e->next_ready;
        if (n->ready_first == NULL)
            n->ready_last = NULL;
        e->in_ready_list = false;
        poison_set(&n->poison, e->id);
        run_entry(n, e);
        entry_release_if_idle(n, e);
        poison_clear(&n->poison);
    }
}
