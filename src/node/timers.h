/*
 * timers.h - a heap of what is due next, at most one timer for each execution.
 * Internal to src/node.
 */
#ifndef PAWL_NODE_TIMERS_H
#define PAWL_NODE_TIMERS_H

#include "base/uuid.h"

struct timer {
    int64_t at_us;
    struct uuid id;
    uint32_t slot; /* in the index */
};

struct timers {
    struct timer *heap;
    uint32_t *index; /* position in the heap + 1, by hash of the id; 0 = free */
    uint32_t count, capacity;
    uint32_t index_mask; /* size of the index - 1 */
};

void timers_init(struct timers *t);
void timers_fini(struct timers *t);
/* Set the timer of `id`, in place of an earlier one. */
void timers_set(struct timers *t, struct uuid id, int64_t at_us);
/* The same, unless it is set to an earlier time. */
void timers_set_sooner(struct timers *t, struct uuid id, int64_t at_us);
void timers_set_new(struct timers *t, struct uuid id, int64_t at_us); /* unless it has one */
void timers_remove(struct timers *t, struct uuid id);
void timers_remove_after(struct timers *t, int64_t at_us); /* all that are set to a later time */
/* All for which `is_gone` holds. */
void timers_remove_if(struct timers *t, bool (*is_gone)(void *context, struct uuid id),
                      void *context);
/* Take the earliest if it is due. */
bool timers_take(struct timers *t, int64_t now_us, struct uuid *out);
int64_t timers_next_us(const struct timers *t); /* INT64_MAX when empty */
void timers_check(const struct timers *t);      /* panic unless it is a heap and its index */

#endif
