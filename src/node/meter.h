/*
 * meter.h - counters, gauges and histograms with labels, in the words of Prometheus.
 *
 * Owned by the loop, so nothing is locked: a thread that has something to report
 * tells the loop, which counts it. The number of series is bounded, for each
 * family and for all of them: what comes beyond that is counted with
 * "other" for its labels, so sums stay true.
 *
 * One more metric is a row of meters.def and a call of one of the three
 * functions below.
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

enum { METER_LABELS = 3, METER_FAMILY_MAX = 4000, METER_SERIES_MAX = 12000 };

struct meter_series;

/* All series of one metric, in the order in which they came to be. */
struct meter_family {
    struct meter_series *first, *last;
    size_t count;
};

struct meters {
    struct arena mem;
    struct map series; /* of struct meter_series, by id and labels */
    struct meter_family families[METER_COUNT];
};

/* Counters and histograms without labels are there from the beginning, and 0. */
void meters_init(struct meters *m);
void meters_fini(struct meters *m);

/* Count some; one; or take a time in microseconds, or a number, into a histogram. Unused labels are empty. */
void meter_add(struct meters *m, enum meter_id id, struct str a, struct str b, struct str c,
               int64_t count);
void meter_count(struct meters *m, enum meter_id id, struct str a, struct str b, struct str c);
void meter_take(struct meters *m, enum meter_id id, struct str a, struct str b, struct str c,
                int64_t value);

/* A gauge is this now, or a counter that somebody else keeps; an AGE takes microseconds. */
void meter_set(struct meters *m, enum meter_id id, struct str a, struct str b, struct str c,
               int64_t value);

/* What a gauge shows is not known now: it is left out until it is set again. */
void meter_hide(struct meters *m, enum meter_id id);

/* Append all of it as text, each family that has something with its help and type. */
void meters_write(const struct meters *m, struct buf *out);

#endif
