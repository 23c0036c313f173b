/*
 * date.h - calendar arithmetic on timestamps, as clocks and calendars on the
 * wall of a time zone show them.
 *
 * Seconds, minutes and hours are added as time that passes. Days and longer
 * units keep the time of day on the wall; where the clock is changed, the rule
 * of tz_to_utc() holds. A day of month that the target month lacks becomes its
 * last day. Business days are Monday to Friday.
 */
#ifndef PAWL_CEL_LIB_DATE_H
#define PAWL_CEL_LIB_DATE_H

#include "base/time/tz.h"
#include "value/value.h"

enum date_unit {
#define UNIT(symbol, name, seconds, months) DATE_##symbol,
#include "cel/lib/date_unit.def"
#undef UNIT
    DATE_UNIT_COUNT
};

/* False when there is no unit of that name. */
bool date_unit_read(struct str name, enum date_unit *out) MUST_USE;

/*
 * `n` units later, or earlier when negative. From a weekend, one business day
 * later is Monday and one earlier is Friday. False when the result leaves the
 * range of timestamps.
 */
bool date_add(struct value timestamp, int64_t n, enum date_unit unit, struct tz tz,
              struct value *out) MUST_USE;

/*
 * The first instant of the unit that holds `timestamp`; weeks start on Monday.
 * False when it lies outside the range of timestamps. `unit` is not
 * DATE_BUSINESS_DAY.
 */
bool date_start_of(struct value timestamp, enum date_unit unit, struct tz tz,
                   struct value *out) MUST_USE;

/* Whole units from `a` to `b`: the largest n, in size, for which date_add(a, n) is not past b. */
int64_t date_diff(struct value a, struct value b, enum date_unit unit, struct tz tz);

#endif
