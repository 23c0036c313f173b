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
 * The count of each is kept until it goes on or is parked, whatever happens to
 * others. When as many fail as are remembered, the next is tried again without
 * being counted, until one of those has gone: each of them is parked within a
 * minute, or goes on.
 */
#ifndef PAWL_NODE_PARK_H
#define PAWL_NODE_PARK_H

#include "base/err.h"
#include "base/map.h"
#include "base/uuid.h"

struct node;

/* Executions that fail and are remembered: some 3 MiB. */
enum { FAILURES_MAX = 32768 };

struct failures {
    struct map by_id; /* struct park_failure, the one that failed last at the end */
};

void failures_init(struct node *n);
void failures_free(struct node *n);

/* It cannot go on; `code` says why for the dead letter. It is tried again after a while, or parked. */
void park_or_wake_later(struct node *n, struct uuid id, const char *code, const struct err *err);

void park_forget(struct node *n, struct uuid id); /* it has gone on */

#endif
