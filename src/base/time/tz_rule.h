/*
 * tz_rule.h - the POSIX TZ rule, which says how a zone goes on for good:
 * "CET-1CEST,M3.5.0,M10.5.0/3". Internal to tz.c and tzif.c.
 */
#ifndef PAWL_BASE_TZ_RULE_H
#define PAWL_BASE_TZ_RULE_H

#include "base/time/tz.h"

enum tz_day_kind {
    TZ_DAY_JULIAN,     /* Jn: day 1 to 365, the 29th of February not counted */
    TZ_DAY_OF_YEAR,    /* n: day 0 to 365 */
    TZ_DAY_OF_WEEKDAY, /* Mm.w.d: weekday d of week w (5: the last) of month m */
};

/* When in a year the clock is changed. */
struct tz_change {
    enum tz_day_kind kind;
    int32_t month;
    int32_t week;
    int32_t day;
    int32_t time; /* seconds after local midnight, -167 h to 167 h */
};

struct tz_rule {
    int32_t standard; /* seconds east of UTC */
    int32_t summer;
    bool has_summer;
    struct tz_change start; /* of summer time, by the standard clock */
    struct tz_change end;   /* by the summer clock */
};

/* False when the text is no such rule, or names summer time without saying when. */
bool tz_rule_read(struct str text, struct tz_rule *out) MUST_USE;

/* The period that holds `utc`, if the rule had always been in force. */
struct tz_period tz_rule_period(const struct tz_rule *rule, int64_t utc);

#endif
