/* entry.c - see entry.h. */
#include "node/cache/entry.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "engine/state.h"
#include "node/cache/load.h"
#include "node/cache/program.h"
#include "node/cluster/waiters.h"
#include "node/guard/park.h"
#include "node/inner.h"
#include "node/work.h"

static size_t bucket_of(const struct node *n, struct uuid id)
{
    return hash_bytes(id.bytes, sizeof(id.bytes)) & (n->entries->bucket_count - 1);
}

struct entry *entry_find(struct node *n, struct uuid id)
{
    struct entry *e;

    if (n->entries->bucket_count == 0)
        return NULL;
    for (e = n->entries->buckets[bucket_of(n, id)]; e != NULL; e = e->hash_next)
        if (uuid_cmp(e->id, id) == 0)
            return e;
    return NULL;
}

static void entries_grow(struct node *n)
{
    struct entry **old = n->entries->buckets;
    size_t old_count = n->entries->bucket_count;

    n->entries->bucket_count = old_count == 0 ? 1024 : old_count * 2;
    n->entries->buckets = alloc_array(n->entries->bucket_count, sizeof(struct entry *));
    for (size_t i = 0; i < old_count; i++)
        for (struct entry *e = old[i], *next; e != NULL; e = next) {
            size_t b = bucket_of(n, e->id);
            next = e->hash_next;
            e->hash_next = n->entries->buckets[b];
            n->entries->buckets[b] = e;
        }
    free(old);
}

/* --- order of use --- */

static void count_bytes(struct node *n, struct entry *e)
{
    size_t bytes = sizeof(*e) + e->mem.held_bytes;

    n->entries->bytes = n->entries->bytes - e->bytes + bytes;
    e->bytes = bytes;
}

void entry_touch(struct node *n, struct entry *e)
{
    /* A reader's thread may be filling its memory: then it is counted when that is done. */
    if (!entry_is_being_read(e))
        count_bytes(n, e);
    if (TAILQ_NEXT(e, by_use) == NULL)
        return;
    TAILQ_REMOVE(&n->entries->by_use, e, by_use);
    TAILQ_INSERT_TAIL(&n->entries->by_use, e, by_use);
}

/* --- making and freeing --- */

static void take_arena(struct node *n, struct arena *out)
{
    if (n->entries->spare_arena_count > 0)
        *out = n->entries->spare_arenas[--n->entries->spare_arena_count];
    else
        arena_init(out);
}

static void give_arena(struct node *n, struct arena *mem)
{
    enum { WORTH_KEEPING = 64 * 1024 };
    size_t capacity = sizeof(n->entries->spare_arenas) / sizeof(n->entries->spare_arenas[0]);

    arena_reset(mem);
    if (n->entries->spare_arena_count < capacity && mem->held_bytes <= WORTH_KEEPING)
        n->entries->spare_arenas[n->entries->spare_arena_count++] = *mem;
    else
        arena_fini(mem);
}

struct entry *entry_new(struct node *n, struct uuid id)
{
    struct entry *e = ALLOC_NEW(struct entry);
    size_t b;

    if (n->entries->count >= n->entries->bucket_count)
        entries_grow(n);
    e->id = id;
    take_arena(n, &e->mem);
    b = bucket_of(n, id);
    e->hash_next = n->entries->buckets[b];
    n->entries->buckets[b] = e;
    n->entries->count++;
    TAILQ_INSERT_TAIL(&n->entries->by_use, e, by_use);
    count_bytes(n, e);
    return e;
}

struct entry *entry_get(struct node *n, struct uuid id)
{
    struct entry *e = entry_find(n, id);

    if (e != NULL)
        return e;
    e = entry_new(n, id);
    load_entry(n, e);
    return e;
}

/* --- its program --- */

void entry_set_program(struct node *n, struct entry *e, struct program_ref *ref)
{
    if (e->program == ref)
        return;
    if (e->program != NULL)
        *VEC_ADD(&e->mem, &e->former_programs) = e->program;
    e->program = NULL;
    program_hold(n, &e->program, ref);
    /* Its state may share texts with the former program: it is loaded again. */
    entry_mark_stale(e);
}

void entry_hold_started(struct node *n, struct entry *e, struct program_ref *ref)
{
    struct program_ref **place;

    for (size_t i = 0; i < e->started_programs.count; i++)
        if (e->started_programs.items[i] == ref)
            return;
    place = VEC_ADD(&e->mem, &e->started_programs);
    *place = NULL;
    program_hold(n, place, ref);
}

static void release_started(struct node *n, struct entry *e)
{
    for (size_t i = 0; i < e->started_programs.count; i++)
        program_hold(n, &e->started_programs.items[i], NULL);
    e->started_programs.items = NULL;
    e->started_programs.count = e->started_programs.capacity = 0;
}

static void release_programs(struct node *n, struct entry *e)
{
    release_started(n, e);
    for (size_t i = 0; i < e->former_programs.count; i++)
        program_hold(n, &e->former_programs.items[i], NULL);
    e->former_programs.items = NULL;
    e->former_programs.count = e->former_programs.capacity = 0;
    program_hold(n, &e->program, NULL);
}

static void entry_free(struct node *n, struct entry *e)
{
    struct entry **link = &n->entries->buckets[bucket_of(n, e->id)];

    while (*link != e)
        link = &(*link)->hash_next;
    *link = e->hash_next;
    TAILQ_REMOVE(&n->entries->by_use, e, by_use);
    waiters_unlink(n, e);
    n->entries->count--;
    n->entries->bytes -= e->bytes;
    release_programs(n, e);
    give_arena(n, &e->mem);
    free(e);
}

/* --- garbage --- */

enum {
    GARBAGE_ALLOWANCE = 32 * 1024, /* beside twice what lives; above that it is copied */
    GARBAGE_MAX = 1024 * 1024,     /* beside four times what lives; above that it has to wait */
    PACKED_BLOCK = 1024, /* a small one that sleeps lies in blocks from this size on ... */
    PACKED_MAX = 4096,   /* ... and takes no more than this */
};

/* Nothing is in flight for it, though somebody may wait for its end. */
static bool is_asleep(const struct entry *e)
{
    return e->pins == 0 && e->works.first == NULL && !e->in_ready_list && !entry_is_being_read(e);
}

static bool is_idle(const struct entry *e)
{
    return is_asleep(e) && e->waiters == NULL;
}

/* What lives takes about this. Many small values take more than their JSON: the last copy knows. */
static size_t live_bytes(const struct entry *e)
{
    size_t live = 2 * e->x->context_bytes;

    return live < e->copied_bytes ? e->copied_bytes : live;
}

static bool has_garbage(const struct entry *e)
{
    return e->x != NULL && e->mem.held_bytes >= GARBAGE_ALLOWANCE + 2 * live_bytes(e);
}

/* Thousands may sleep, each with what its last turn left: what lives is mostly much less. */
static bool is_worth_packing(const struct entry *e)
{
    return e->mem.held_bytes > PACKED_MAX && live_bytes(e) <= PACKED_MAX;
}

/* What was read for works that wait is in memory that goes. */
static void forget_reads(struct entry *e)
{
    for (struct work *w = e->works.first; w != NULL; w = w->next) {
        w->commit = NULL;
        work_forget_reads(w);
        w->now_us = 0;
    }
}

void entry_forget_events(struct entry *e)
{
    e->events.numbers = (struct notice_numbers){0};
    e->events.joins = (struct notice_numbers){0};
    e->events.joiners = (struct notices){0};
    e->events.tasks = (struct task_answers){0};
    e->events.children = (struct child_reads){0};
    e->events.cancels = false;
}

/* Copy what lives into `fresh`, and let the rest go. */
static void move_state(struct node *n, struct entry *e, struct arena fresh)
{
    ASSERT(e->former_programs.count == 0);
    if (e->events.numbers.count > 0) {
        e->events.numbers = (struct notice_numbers){0};
        e->events.tasks = (struct task_answers){0};
        e->events.children = (struct child_reads){0};
        e->events.is_unread = true;
    }
    e->x = state_copy(&fresh, e->x);
    release_started(n, e);
    give_arena(n, &e->mem);
    e->mem = fresh;
    e->copied_bytes = fresh.held_bytes;
    count_bytes(n, e);
}

/* Evaluation leaves garbage beside the state: copy what lives when there is too much of it. */
static void compact(struct node *n, struct entry *e)
{
    struct arena fresh;

    if (!has_garbage(e))
        return;
    take_arena(n, &fresh);
    move_state(n, e, fresh);
}

/* The same of one that sleeps, into memory of its size. */
static void pack(struct node *n, struct entry *e)
{
    struct arena fresh;

    arena_init_small(&fresh, PACKED_BLOCK);
    move_state(n, e, fresh);
}

bool entry_bound_garbage(struct node *n, struct entry *e)
{
    const struct work *first = e->works.first;

    ASSERT(e->state == ENTRY_READY);
    if (e->pins > 0)
        return e->mem.held_bytes < GARBAGE_MAX + 4 * live_bytes(e);
    /* What was read for the first work lies there too; it goes with its commit. */
    if (!has_garbage(e) || e->events.joins.count > 0 || (first != NULL && work_has_reads(first)))
        return true;
    /* An older work may have come back before one for which something was read. */
    forget_reads(e);
    compact(n, e);
    return true;
}

void entry_release_if_idle(struct node *n, struct entry *e)
{
    bool is_over;

    if (!is_asleep(e))
        return;
    is_over = e->state != ENTRY_READY || status_is_terminal(e->x->status);
    if (is_over && e->waiters == NULL)
        entry_free(n, e);
    else if (!is_over && is_worth_packing(e))
        pack(n, e);
    else if (!is_over)
        compact(n, e);
}

void entries_trim(struct node *n)
{
    enum { FREED_MAX = 1024, IN_USE_MAX = 16 }; /* in one pass */
    unsigned freed = 0, in_use = 0;

    /* Those in use go to the other end. Where all are, looking at them again is no use. */
    for (struct entry *e = TAILQ_FIRST(&n->entries->by_use), *newer;
         e != NULL && (n->entries->bytes > n->options.cache_bytes || programs_are_too_large(n)) &&
         freed < FREED_MAX && in_use < IN_USE_MAX && in_use < n->entries->count;
         e = newer) {
        newer = TAILQ_NEXT(e, by_use);
        if (is_idle(e)) {
            entry_free(n, e);
            freed++;
        } else {
            entry_touch(n, e);
            in_use++;
        }
    }
}

void entries_init(struct node *n)
{
    TAILQ_INIT(&n->entries->by_use);
}

void entries_free(struct node *n)
{
    for (size_t i = 0; i < n->entries->bucket_count; i++)
        while (n->entries->buckets[i] != NULL) {
            struct entry *e = n->entries->buckets[i];
            n->entries->buckets[i] = e->hash_next;
            arena_fini(&e->mem);
            free(e);
        }
    free(n->entries->buckets);
    while (n->entries->spare_arena_count > 0)
        arena_fini(&n->entries->spare_arenas[--n->entries->spare_arena_count]);
}

/* --- states --- */

void entry_mark_stale(struct entry *e)
{
    if (e->state == ENTRY_READY)
        e->state = ENTRY_STALE;
    else if (e->state == ENTRY_READING)
        e->state = ENTRY_READING_STALE;
}

void entry_begin_reading(struct entry *e)
{
    ASSERT(e->state == ENTRY_READY);
    e->state = ENTRY_READING;
}

void entry_end_reading(struct entry *e)
{
    ASSERT(e->state == ENTRY_READING || e->state == ENTRY_READING_STALE);
    e->state = e->state == ENTRY_READING ? ENTRY_READY : ENTRY_STALE;
}

void entry_reload(struct node *n, struct entry *e)
{
    ASSERT(e->pins == 0 && e->state == ENTRY_STALE);
    forget_reads(e);
    entry_forget_events(e);
    e->x = NULL;
    e->copied_bytes = 0;
    release_programs(n, e);
    arena_reset(&e->mem);
    load_entry(n, e);
}

#ifdef PAWL_SLOW_CHECKS
void entry_check(const struct entry *e)
{
    size_t wakes = 0;

    ASSERT(!entry_is_loaded(e) || e->x != NULL);
    ASSERT(e->state != ENTRY_LOADING || (e->pins == 0 && !e->in_ready_list));
    for (const struct work *w = e->works.first; w != NULL; w = w->next) {
        ASSERT(w->entry == e && w->asserts == ASSERTS_NOTHING);
        ASSERT(w->next == NULL || w->number < w->next->number);
        wakes += w->kind == &work_wake;
    }
    ASSERT(wakes == (e->wake_queued ? 1 : 0));
    ASSERT(e->waiters == NULL || e->is_awaited);
}
#else
void entry_check(const struct entry *e)
{
    (void)e;
}
#endif

/* --- works --- */

void entry_make_ready(struct node *n, struct entry *e)
{
    /* Those who wait for the end of a stale one want its true state too. */
    bool has_to_do = e->works.first != NULL || (entry_is_stale(e) && e->waiters != NULL);

    if (e->in_ready_list || !has_to_do || e->state == ENTRY_LOADING)
        return;
    e->in_ready_list = true;
    e->next_ready = NULL;
    if (n->entries->ready_last != NULL)
        n->entries->ready_last->next_ready = e;
    else
        n->entries->ready_first = e;
    n->entries->ready_last = e;
}

void entry_unpin(struct node *n, struct entry *e)
{
    ASSERT(e->pins > 0);
    e->pins--;
    entry_make_ready(n, e);
}

bool entry_is_parked(const struct entry *e)
{
    return e->x->crash_count >= CRASHES_MAX;
}

void entry_queue(struct node *n, struct entry *e, struct work *w)
{
    struct work **link = &e->works.first;

    ASSERT(w->kind->subject != NULL && w->kind->event != NULL);
    w->entry = e;
    if (e->works.last == NULL || e->works.last->number < w->number) {
        work_push(&e->works, w);
    } else {
        while ((*link)->number < w->number)
            link = &(*link)->next;
        w->next = *link;
        *link = w;
    }
    entry_make_ready(n, e);
}
