/*
 * guard.h - the one way in which a work on an execution begins. Internal to src/node.
 *
 * Whatever a work is, the loop asks guard_begin(), which decides by the table
 * guard.def and then asks the kind of the work. A kind that says nothing about
 * itself cannot be queued at an execution.
 *
 * why: decisions 0353, 0369
 */
#ifndef PAWL_NODE_GUARD_H
#define PAWL_NODE_GUARD_H

#include "base/err.h"

struct entry;
struct node;
struct work;

/* What is to happen to the execution. */
enum guard_subject {
#define GUARD(subject, open, paused, parked) GUARD_##subject,
#include "node/guard/guard.def"
#undef GUARD
    GUARD_SUBJECT_COUNT
};

/* What is to be done with the first work of an entry. */
enum work_begun {
    WORK_ADVANCES, /* ask the engine */
    WORK_REJECTED, /* it cannot apply to the state as it is: *err says why */
    WORK_SETTLED,  /* it changes nothing: it is applied when the state is known to be true */
    WORK_WAITS,    /* not before the state in memory is durable; it stays where it is */
    WORK_DONE,     /* it has left the queue */
};

enum work_begun guard_begin(struct node *n, struct entry *e, struct work *w, struct err *err);

/* It has begun: whether it is to be stored for later, and nothing may run. */
bool guard_only_keeps(const struct work *w);

#endif
