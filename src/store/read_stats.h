/* read_stats.h - the figures of minutes; see read.h. */
#ifndef PAWL_STORE_READ_STATS_H
#define PAWL_STORE_READ_STATS_H

#include "store/read.h"

/* One row of `stats`: of one organisation, or of all. False: it is damaged. */
typedef bool stats_take_fn(void *context, struct arena *mem, int64_t at_us, bool is_of_all,
                           struct str data_json);

/* The rows of the organisation, and those of all, from `from_us` until before `to_us`, in order. */
bool read_stats(struct reader *r, struct arena *mem, int64_t from_us, int64_t to_us,
                struct str org_id, stats_take_fn *take, void *context, struct err *err) MUST_USE;

#endif
