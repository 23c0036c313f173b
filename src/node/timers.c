/*
 * timers.c - when executions are due: a heap with an index by id; see timers.h.
 *
 * Invariants: heap[0 .. count) is a heap by time, then id; the index has at
 * least twice as many slots as there are timers; index[heap[i].slot] == i + 1.
 */
#include "node/timers.h"

#include "base/alloc.h"
#include "base/hash.h"

enum { CAPACITY_MIN = 64 };

void timers_init(struct timers *t)
{
    *t = (struct timers){0};
}

void timers_fini(struct timers *t)
{
    free(t->heap);
    free(t->index);
    timers_init(t);
}

/* --- the index: open addressing, linear probing --- */

static uint32_t home_slot(const struct timers *t, struct uuid id)
{
    return (uint32_t)hash_bytes(id.bytes, sizeof(id.bytes)) & t->index_mask;
}

/* The index in the heap, or UINT32_MAX. */
static uint32_t find(const struct timers *t, struct uuid id)
{
    if (t->count == 0)
        return UINT32_MAX;
    for (uint32_t s = home_slot(t, id); t->index[s] != 0; s = (s + 1) & t->index_mask)
        if (uuid_cmp(t->heap[t->index[s] - 1].id, id) == 0)
            return t->index[s] - 1;
    return UINT32_MAX;
}

static void index_add(struct timers *t, uint32_t at)
{
    uint32_t s = home_slot(t, t->heap[at].id);

    while (t->index[s] != 0)
        s = (s + 1) & t->index_mask;
    t->index[s] = at + 1;
    t->heap[at].slot = s;
}

/* Close the gap, so that every search still ends at its timer. */
static void index_remove(struct timers *t, uint32_t gap)
{
    uint32_t s = gap;

    while (true) {
        uint32_t home;

        s = (s + 1) & t->index_mask;
        if (t->index[s] == 0)
            break;
        home = home_slot(t, t->heap[t->index[s] - 1].id);
        if (((s - home) & t->index_mask) < ((s - gap) & t->index_mask))
            continue;
        t->index[gap] = t->index[s];
        t->heap[t->index[gap] - 1].slot = gap;
        gap = s;
    }
    t->index[gap] = 0;
}

static void timers_grow(struct timers *t)
{
    t->capacity = t->capacity == 0 ? CAPACITY_MIN : t->capacity * 2;
    t->index_mask = t->capacity * 2 - 1;
    free(t->index);
    t->heap = alloc_resize(t->heap, t->capacity, sizeof(*t->heap));
    t->index = alloc_array(t->index_mask + 1u, sizeof(*t->index));
    for (uint32_t i = 0; i < t->count; i++)
        index_add(t, i);
}

/* --- the heap --- */

static bool is_before(const struct timer *a, const struct timer *b)
{
    if (a->at_us != b->at_us)
        return a->at_us < b->at_us;
    return uuid_cmp(a->id, b->id) < 0;
}

static void timer_put(struct timers *t, uint32_t at, struct timer timer)
{
    t->heap[at] = timer;
    t->index[timer.slot] = at + 1;
}

static void sift_up(struct timers *t, uint32_t at)
{
    struct timer timer = t->heap[at];

    for (; at > 0 && is_before(&timer, &t->heap[(at - 1) / 2]); at = (at - 1) / 2)
        timer_put(t, at, t->heap[(at - 1) / 2]);
    timer_put(t, at, timer);
}

static void sift_down(struct timers *t, uint32_t at)
{
    struct timer timer = t->heap[at];
    uint32_t child;

    while ((child = 2 * at + 1) < t->count) {
        if (child + 1 < t->count && is_before(&t->heap[child + 1], &t->heap[child]))
            child++;
        if (!is_before(&t->heap[child], &timer))
            break;
        timer_put(t, at, t->heap[child]);
        at = child;
    }
    timer_put(t, at, timer);
}

static void move(struct timers *t, uint32_t at, int64_t at_us)
{
    int64_t before_us = t->heap[at].at_us;

    t->heap[at].at_us = at_us;
    if (at_us < before_us)
        sift_up(t, at);
    else
        sift_down(t, at);
}

static void remove_at(struct timers *t, uint32_t at)
{
    uint32_t last = t->count - 1;

    index_remove(t, t->heap[at].slot);
    t->count = last;
    if (at == last)
        return;
    timer_put(t, at, t->heap[last]);
    sift_up(t, at);
    sift_down(t, at);
}

/* --- timers --- */

static void add(struct timers *t, struct uuid id, int64_t at_us)
{
    if (t->count == t->capacity)
        timers_grow(t);
    t->heap[t->count] = (struct timer){.at_us = at_us, .id = id};
    index_add(t, t->count);
    t->count++;
    sift_up(t, t->count - 1);
}

void timers_set(struct timers *t, struct uuid id, int64_t at_us)
{
    uint32_t at = find(t, id);

    if (at == UINT32_MAX)
        add(t, id, at_us);
    else
        move(t, at, at_us);
}

void timers_set_sooner(struct timers *t, struct uuid id, int64_t at_us)
{
    uint32_t at = find(t, id);

    if (at == UINT32_MAX)
        add(t, id, at_us);
    else if (at_us < t->heap[at].at_us)
        move(t, at, at_us);
}

void timers_set_new(struct timers *t, struct uuid id, int64_t at_us)
{
    if (find(t, id) == UINT32_MAX)
        add(t, id, at_us);
}

void timers_remove(struct timers *t, struct uuid id)
{
    uint32_t at = find(t, id);

    if (at != UINT32_MAX)
        remove_at(t, at);
}

void timers_remove_after(struct timers *t, int64_t at_us)
{
    /* What moves into a gap may be one that was not looked at. */
    for (uint32_t at = t->count; at-- > 0;)
        while (at < t->count && t->heap[at].at_us > at_us)
            remove_at(t, at);
}

void timers_remove_if(struct timers *t, bool (*is_gone)(void *context, struct uuid id),
                      void *context)
{
    /* As above: who moves into a gap was not looked at. */
    for (uint32_t at = t->count; at-- > 0;)
        while (at < t->count && is_gone(context, t->heap[at].id))
            remove_at(t, at);
}

bool timers_take(struct timers *t, int64_t now_us, struct uuid *out)
{
    if (t->count == 0 || t->heap[0].at_us > now_us)
        return false;
    *out = t->heap[0].id;
    remove_at(t, 0);
    return true;
}

int64_t timers_next_us(const struct timers *t)
{
    return t->count == 0 ? INT64_MAX : t->heap[0].at_us;
}

void timers_check(const struct timers *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        ASSERT(i == 0 || !is_before(&t->heap[i], &t->heap[(i - 1) / 2]));
        ASSERT(t->index[t->heap[i].slot] == i + 1);
        ASSERT(find(t, t->heap[i].id) == i);
    }
}
