/* read_stats.h - the figures of minutes; see read.h. */
#ifndef PAWL_STORE_READ_STATS_H
#define PAWL_STORE_READ_STATS_H

#include "store/read_executions.h"

/* One row of `stats`: of one organisation, or of all. False: it is damaged. */
typedef bool stats_take_fn(void *context, struct arena *mem, int64_t at_us, bool is_of_all,
                           struct str data_json);

/* The rows of the organisation, and those of all, from `from_us` until before `to_us`, in order. */
bool read_stats(struct reader *r, struct arena *mem, int64_t from_us, int64_t to_us,
                struct str org_id, stats_take_fn *take, void *context, struct err *err) MUST_USE;

/* How much there is to do in an organisation now. */
struct org_counts {
    int64_t open_letters, pending_messages;
    int64_t statuses[STATUS_COUNT]; /* those of executions that neither wait nor have ended */
    int64_t waiting[WAITING_COUNT];
};

/*
 * Of all organisations when `org_id` is empty: letters, messages and statuses come from
 * counters. Else each figure is counted, of the first ORG_COUNTED_MAX rows of all
 * organisations; what executions wait for is always counted, as read_waiting_counts() does.
 */
enum { ORG_COUNTED_MAX = 100000 };
bool read_org_counts(struct reader *r, struct str org_id, struct org_counts *out,
                     struct err *err) MUST_USE;

#endif
