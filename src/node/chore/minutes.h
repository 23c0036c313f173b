/*
 * minutes.h - how many executions begin and end, and how long they take, minute
 * by minute: what GET /stats draws. Internal to src/node, but for what is shown.
 *
 *     commit --counted--> this minute --over--> waiting counted --> a row in `stats`
 *
 * The current minute is in memory; what it was is one row for each
 * organisation, so that a restart loses less than a minute, and every node sees
 * what all have done. Rows are kept for STATS_KEPT_US.
 *
 * Latencies are counted in buckets whose bounds grow by a fifth: a quantile is
 * right to a tenth.
 *
 * why: decision 0231
 */
#ifndef PAWL_NODE_CHORE_MINUTES_H
#define PAWL_NODE_CHORE_MINUTES_H

#include "base/arena.h"
#include "engine/status.h"
#include "store/read.h"

struct commit;
struct reader;

struct node;

#define MINUTE_US INT64_C(60000000)
#define STATS_KEPT_US (INT64_C(8) * 86400 * 1000000)

enum {
    LATENCY_BUCKETS = 180, /* up to 2^45 us, a year */
    MINUTE_ORGS_MAX = 256, /* organisations that are counted apart within one minute */
};

/* What began and ended within some time. */
struct minute {
    int64_t started, completed, failed, cancelled;
    int64_t latency[LATENCY_BUCKETS]; /* of those that have ended */
};

/* Add what a row of the store says to *out. False: it is damaged. */
bool minute_read(struct arena *mem, struct str data_json, struct minute *out) MUST_USE;

/* What waits when a minute is over; -1: nobody has counted. */
struct minute_waiting {
    int64_t executions[WAITING_COUNT];
    int64_t outbox_lag_us; /* how long the oldest message has waited for its delivery */
};

bool minute_read_waiting(struct arena *mem, struct str data_json,
                         struct minute_waiting *out) MUST_USE;

/* Count what waits now, of the organisation or of all. */
bool minute_count_waiting(struct reader *r, struct str org_id, int64_t now_us,
                          struct minute_waiting *out, struct err *err) MUST_USE;

/* The time that so many of a hundred are faster than, in microseconds; -1: none has ended. */
int64_t minute_quantile(const struct minute *m, int percent);

/* Add what this node has counted in the current minute, which began at *at_us. */
void minutes_now(const struct node *n, struct str org_id, int64_t *at_us, struct minute *out);

/* A commit has become durable; `is_end`: with it the execution has ended. */
void minutes_count(struct node *n, const struct commit *commit, bool is_end);

#endif
