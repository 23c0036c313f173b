/* read_node.h - the nodes that share a store, and the answers kept for repeated requests; see read.h. */
#ifndef PAWL_STORE_READ_NODE_H
#define PAWL_STORE_READ_NODE_H

#include "store/read.h"

struct stored_node {
    struct str name;
    int64_t started_at_us;
    int64_t batches;
    bool is_connected; /* it lives: its epoch is not over */
    /* Of one that has an epoch: see peers.h. */
    int64_t epoch;
    struct str version;
    int64_t beat_at_us; /* by the clock of the database */
    bool is_draining;
    int64_t shards, executions, calls, lag_ms, skew_ms, cpu_percent, rss_bytes;
};

struct stored_nodes {
    VEC_OF(struct stored_node);
};

/* The nodes that share this store. */
bool read_nodes(struct reader *r, struct arena *mem, struct stored_nodes *out,
                struct err *err) MUST_USE;

/* How large the database is; without the log of SQLite. */
bool read_store_bytes(struct reader *r, int64_t *out, struct err *err) MUST_USE;

/* The answer that was kept for an Idempotency-Key. */
struct stored_answer {
    bool is_kept;
    bool is_same; /* it was for the same body */
    int32_t status;
    struct str text;
};

/*
 * What a request was answered when it was made before: for one that is refused
 * before the store could have said so itself.
 */
bool read_answer(struct reader *r, struct arena *mem, const struct idempotency *asked,
                 int64_t now_us, struct stored_answer *out, struct err *err) MUST_USE;

#endif
