/*
 * locked.h - members that were passed over because another session has a row that
 * they need. Internal to src/node.
 *
 *     batch --MEMBER_LOCKED--> rests, longer each time --> batch --> ...
 *                                                 |
 *                 passed over three times, or left out, and nobody else waits
 *                                                 v
 *                              a batch of its own, which waits for the rows
 *
 * That is no conflict: it uses up none of the tries of an event. The work of a
 * client ends after LOCKED_MAX_US with 503; all others come again until they are
 * applied. While a work of an execution rests its entry stays pinned and stale, so
 * that nothing is decided on it; then it queues behind what has arrived since.
 *
 * why: decision 0390
 */
#ifndef PAWL_NODE_LOCKED_H
#define PAWL_NODE_LOCKED_H

#include "node/chore/chore.h"
#include "node/work.h"

#define LOCKED_MAX_US INT64_C(10000000)

struct locked_works {
    struct chore chore;
    struct work_queue works; /* that rest */
    size_t count;
    struct batch *waiting; /* handed over; or NULL */
    int64_t number;        /* of the last one that waited */
};

extern const struct chore_kind chore_locked;

/* Its member was passed over. False: it has been so for too long, and is refused for good. */
bool locked_rest(struct node *n, struct work *w);

/*
 * Its member is made: whether it is handed over in a batch that waits, instead of the one that is
 * being built.
 */
bool locked_wait(struct node *n, struct work *w);

/* The batch that waits has come back; its member is not finished yet. */
void locked_waited(struct node *n, struct batch *b);

/* Whether none of them is left. */
bool locked_is_empty(const struct node *n);

#endif
