/*
 * calendar.h - business days: which days are worked, and when so many of them
 * have passed.
 *
 * The calendar of an installation is its config `calendar`:
 *
 *     {"weekend": [6, 7], "holidays": ["2026-12-25"], "timezone": "Europe/Berlin"}
 *
 * What is left out is Saturday and Sunday, no holidays, UTC; so is all of it
 * when there is no such config.
 *
 * why: decision 0166
 */
#ifndef PAWL_DEFINE_CALENDAR_H
#define PAWL_DEFINE_CALENDAR_H

#include "base/arena.h"
#include "base/time/tz.h"
#include "define/define.h"

enum {
    BUSINESS_DAYS_MAX = 1000,
    HOLIDAYS_MAX = 1000,
};

struct calendar {
    bool is_weekend[7];      /* Monday is 0 */
    const int64_t *holidays; /* days since 1970-01-01 */
    uint32_t holiday_count;
    struct tz tz;
};

/*
 * Read a calendar, VALUE_ABSENT being the default one. What is wrong with it is
 * added to `findings`, their pointers beginning with `at`; false then.
 */
bool calendar_read(struct arena *mem, struct value config, struct str at, struct calendar *out,
                   struct findings *findings);

/*
 * The time at which `days` business days, at least one, have passed: the same
 * time of day on the wall, that many days of work later. From a day that is not
 * worked, one business day later is the next that is. False: after the year 9999.
 */
bool calendar_add(const struct calendar *c, int64_t from_us, int64_t days,
                  int64_t *out_us) MUST_USE;

#endif
