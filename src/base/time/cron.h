/*
 * cron.h - cron expressions: when a schedule ticks, on the clock of a time zone.
 *
 *     0 9 * * MON-FRI       minute, hour, day of month, month, day of week
 *     30 0 9 1 JAN,JUL *    six fields: seconds first
 *
 * Each field is a list of values, ranges `a-b` and steps `*` + `/n`, `a-b/n`,
 * `a/n` (from a on). Months and days of the week may be named, Sunday is 0 or 7.
 * `L` in the day of month is the last day; `FRIL` is the last Friday of a
 * month, `FRI#2` the second. `?` is `*` in the two day fields. When both day
 * fields are limited (neither begins with `*`), a day that fits either counts.
 *
 * When clocks change: an expression whose hours are all 24 ticks whenever the
 * clock on the wall shows such a minute, so every real hour. Any other names
 * times of a day: one that the clock leaves out ticks at the first moment
 * after, one that the clock shows twice ticks the first time.
 *
 * why: decision 0291
 */
#ifndef PAWL_BASE_CRON_H
#define PAWL_BASE_CRON_H

#include "base/err.h"
#include "base/time/tz.h"

enum { CRON_TEXT_MAX = 200 };

enum cron_field {
    CRON_SECOND,
    CRON_MINUTE,
    CRON_HOUR,
    CRON_DAY,
    CRON_MONTH,
    CRON_WEEKDAY, /* 0 is Sunday */
    CRON_FIELDS
};

/* An expression that was read. */
struct cron {
    uint64_t fields[CRON_FIELDS]; /* a bit for each value: days and months from bit 1 on */
    uint32_t last_weekdays;       /* the last of its kind in the month */
    uint64_t nth_weekdays;        /* bit weekday * 5 + n - 1 */
    bool has_last_day;
    bool is_day_limited;
    bool is_weekday_limited;
};

/*
 * Read an expression. False: *err says what is wrong with it, in which column,
 * and what to write. An expression whose day never comes (the 30th of February)
 * is wrong.
 */
bool cron_read(struct str text, struct cron *out, struct err *err) MUST_USE;

/* The first tick after `after`; instants are seconds since 1970 in UTC. False: none before the
 * year 9999. */
bool cron_next(const struct cron *cron, struct tz tz, int64_t after, int64_t *out) MUST_USE;

/*
 * The last tick after `after` and up to `until`, which is found in as many steps
 * as the logarithm of the distance, however many ticks lie between. False: none.
 */
bool cron_last(const struct cron *cron, struct tz tz, int64_t after, int64_t until,
               int64_t *out) MUST_USE;

#endif
