/* call_capacity.h - how many calls may leave: what the node lets the engine know. */
#ifndef PAWL_ENGINE_CALL_CAPACITY_H
#define PAWL_ENGINE_CALL_CAPACITY_H

#include "base/map.h"
#include "base/uuid.h"

#include <assert.h>

/* How many calls are in flight to a host. */
struct call_host {
    struct str name;
    size_t in_flight;
};

/* What identifies an attempt: its row. */
struct call_attempt {
    struct uuid execution;
    int64_t seq;
};

static inline struct str call_attempt_key(const struct call_attempt *a)
{
    static_assert(sizeof(*a) == sizeof(a->execution) + sizeof(a->seq), "no padding");
    return str_from((const char *)a, sizeof(*a));
}

/* How many calls may leave: a host with as many as `limit` in flight makes others wait. */
struct call_capacity {
    const struct map *hosts;     /* of struct call_host, by name */
    size_t limit;                /* for each of them */
    size_t left;                 /* for all of them together */
    const struct map *in_flight; /* by call_attempt_key(): attempts that only their answer ends */

    /*
     * Where nodes share a store: the epoch of this node, which its attempts name, and whether
     * another one is over. While it is not, its node may hear of the answer, and nobody else ends
     * the attempt. NULL: there are no other nodes.
     */
    int64_t epoch;
    bool (*epoch_is_over)(const void *context, int64_t epoch);
    const void *context;
};

/* The error of an attempt that was not sent: it is asked for again, and counts for nothing. */
#define CALL_NEVER_SENT "external_never_sent"

#endif
