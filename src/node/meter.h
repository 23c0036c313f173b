/*
 * meter.h - counters and histograms with labels, in the words of Prometheus.
 *
 * Owned by the loop, so nothing is locked. The number of series is bounded:
 * what comes when there is no room is counted with "other" for its labels, so
 * sums stay true.
 */
#ifndef PAWL_NODE_METER_H
#define PAWL_NODE_METER_H

#include "base/buf.h"
#include "base/map.h"

enum meter_id {
#define METER(symbol, type, name, help, ...) METER_##symbol,
#include "node/meters.def"
#undef METER
    METER_COUNT
};

enum { METER_LABELS = 3, METER_SERIES_MAX = 20000 };

struct meters {
    struct arena mem;
    struct map series; /* of struct meter_series, by id and labels */
};

/* What has no labels is there from the beginning, and 0. */
void meters_init(struct meters *m);
void meters_fini(struct meters *m);

/* Count one; or take a time in microseconds, or a number, into a histogram. Unused labels are empty. */
void meter_count(struct meters *m, enum meter_id id, struct str a, struct str b, struct str c);
void meter_take(struct meters *m, enum meter_id id, struct str a, struct str b, struct str c,
                int64_t value);

/* Append all of it as text, each family with its help and type. */
void meters_write(const struct meters *m, struct buf *out);

#endif
