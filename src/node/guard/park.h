/*
 * park.h - executions that the node cannot go on with: they are tried a few
 * times, then parked with a dead letter; see store/change_park.h. Internal to
 * src/node.
 *
 *     what failed                                     then
 *     the store is away, full or too slow             again in a second, without end
 *     the store refuses this one (ERR_IO)             again after 1, 2, 4 ... s, five times; then parked
 *     it does not compile, cannot be restored, ...    parked
 *
 * How often it was tried is known to this node only, and only while that lasts.
 */
#ifndef PAWL_NODE_PARK_H
#define PAWL_NODE_PARK_H

#include "base/uuid.h"
#include "node/guard/poison.h"

struct node;

enum { FAILURES_MAX = 64 }; /* executions that fail are remembered */

struct park_failure {
    struct uuid id;
    unsigned tries; /* 0 = free */
};

struct failures {
    struct park_failure items[FAILURES_MAX];
    size_t next;  /* which is used next */
    size_t count; /* that are not free */
};

/* It cannot go on; `code` says why for the dead letter. It is tried again after a while, or parked. */
void park_or_wake_later(struct node *n, struct uuid id, const char *code, const struct err *err);

void park_forget(struct node *n, struct uuid id); /* it has gone on */

/* --- crash.c --- */

/* It was worked on when the process died: count that. Nothing is advanced before it is durable. */
void crash_count(struct node *n, struct poison_left left);

#endif
