/* read_retention.h - what retention goes through: executions that have ended, snapshots. See read.h. */
#ifndef PAWL_STORE_READ_RETENTION_H
#define PAWL_STORE_READ_RETENTION_H

#include "store/read.h"

/*
 * Snapshots that were kept before `before_us`, those behind `after_hash`, by
 * hash; no execution has to have them.
 */
struct snapshot_hashes {
    VEC_OF(struct str);
};
bool read_old_snapshots(struct reader *r, struct arena *mem, int64_t before_us,
                        struct str after_hash, int64_t limit, struct snapshot_hashes *out,
                        struct err *err) MUST_USE;

/*
 * The snapshots of the first `limit` executions behind a row, and those of programs that they
 * have run with before; rows with the same share one.
 */
struct pinned_snapshots {
    struct snapshot_hashes hashes;
    int64_t last_row; /* of the executions */
    int64_t seen;     /* how many executions: less than the limit at the end */
};
bool read_pinned(struct reader *r, struct arena *mem, int64_t after_row, int64_t limit,
                 struct pinned_snapshots *out, struct err *err) MUST_USE;

struct ended_execution {
    int64_t row;
    struct uuid id;
    int64_t created_at_us, completed_at_us; /* 0 while it lives */
};

struct ended_executions {
    VEC_OF(struct ended_execution);
};

/* All executions behind a row, the oldest first, at most `limit`: when each began and ended. */
bool read_ended(struct reader *r, struct arena *mem, int64_t after_row, int64_t limit,
                struct ended_executions *out, struct err *err) MUST_USE;

#endif
