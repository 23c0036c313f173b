/* timers.c - a heap of what is due next; see inner.h. */
#include "node/inner.h"

#include <stdlib.h>

void timers_init(struct timers *t)
{
    *t = (struct timers){0};
}

void timers_fini(struct timers *t)
{
    free(t->heap);
    timers_init(t);
}

static bool is_before(const struct timer *a, const struct timer *b)
{
    if (a->at_us != b->at_us)
        return a->at_us < b->at_us;
    return uuid_cmp(a->id, b->id) < 0;
}

void timers_add(struct timers *t, int64_t at_us, struct uuid id)
{
    struct timer timer = {.at_us = at_us, .id = id};
    size_t i;

    if (t->count == t->room) {
        t->room = t->room == 0 ? 64 : t->room * 2;
        t->heap = realloc(t->heap, t->room * sizeof(*t->heap));
        if (t->heap == NULL)
            PANIC("out of memory");
    }
    for (i = t->count++; i > 0 && is_before(&timer, &t->heap[(i - 1) / 2]); i = (i - 1) / 2)
        t->heap[i] = t->heap[(i - 1) / 2];
    t->heap[i] = timer;
}

bool timers_take(struct timers *t, int64_t now_us, struct uuid *out)
{
    struct timer last;
    size_t i = 0, child;

    if (t->count == 0 || t->heap[0].at_us > now_us)
        return false;
    *out = t->heap[0].id;
    last = t->heap[--t->count];
    while ((child = 2 * i + 1) < t->count) {
        if (child + 1 < t->count && is_before(&t->heap[child + 1], &t->heap[child]))
            child++;
        if (!is_before(&t->heap[child], &last))
            break;
        t->heap[i] = t->heap[child];
        i = child;
    }
    t->heap[i] = last;
    return true;
}

int64_t timers_next_us(const struct timers *t)
{
    return t->count == 0 ? INT64_MAX : t->heap[0].at_us;
}
