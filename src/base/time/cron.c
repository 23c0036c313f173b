/*
 * cron.c - when an expression ticks; see cron.h.
 *
 * Times are looked for on the clock on the wall, where an expression is a set
 * of fields, and then taken to UTC. Which of the two walks is right depends on
 * the expression: next_of_clock() for one that ticks in every hour,
 * next_of_day() for one that names times of a day.
 */
#include "base/time/cron.h"

#include "base/time/civil.h"

#define ALL_HOURS ((UINT32_C(1) << 24) - 1)

enum {
    LAST_YEAR = 9998,
    /* The 29th of February on a given day of the week may be 40 years away. */
    MONTHS_LOOKED_AT = 12 * 41,
    /* A place where the clock is changed more often within one search is not known. */
    PERIODS_LOOKED_AT = 41 * 12,
};

/* --- on the clock on the wall --- */

/* The first bit of `set` from `from` on, or -1. */
static int32_t next_bit(uint64_t set, int32_t from)
{
    set = from > 63 ? 0 : set & (~UINT64_C(0) << from);
    return set == 0 ? -1 : __builtin_ctzll(set);
}

static bool weekday_fits(const struct cron *cron, int32_t weekday, int32_t day, int32_t month_days)
{
    return (cron->fields[CRON_WEEKDAY] >> weekday & 1) != 0 ||
           (cron->nth_weekdays >> (weekday * 5 + (day - 1) / 7) & 1) != 0 ||
           ((cron->last_weekdays >> weekday & 1) != 0 && day + 7 > month_days);
}

static bool day_fits(const struct cron *cron, const struct civil *c)
{
    int32_t month_days = civil_month_days(c->year, c->month);
    int32_t weekday = civil_weekday(civil_days(c->year, c->month, c->day));
    bool by_day =
        (cron->fields[CRON_DAY] >> c->day & 1) != 0 || (cron->has_last_day && c->day == month_days);
    bool by_weekday = weekday_fits(cron, weekday, c->day, month_days);

    return cron->is_day_limited && cron->is_weekday_limited ? by_day || by_weekday
                                                            : by_day && by_weekday;
}

/* The first time of day that fits, from hour:minute:second of *c on; false: none. */
static bool time_of_day_next(const struct cron *cron, struct civil *c)
{
    int32_t second = next_bit(cron->fields[CRON_SECOND], c->second);
    int32_t minute = next_bit(cron->fields[CRON_MINUTE], second < 0 ? c->minute + 1 : c->minute);
    int32_t hour = next_bit(cron->fields[CRON_HOUR], minute < 0 ? c->hour + 1 : c->hour);

    if (hour < 0)
        return false;
    if (hour != c->hour)
        minute = next_bit(cron->fields[CRON_MINUTE], 0);
    if (hour != c->hour || minute != c->minute)
        second = next_bit(cron->fields[CRON_SECOND], 0);
    c->hour = hour;
    c->minute = minute;
    c->second = second;
    return true;
}

static void to_next_month(struct civil *c)
{
    *c = (struct civil){.year = c->year + (c->month == 12), .month = c->month % 12 + 1, .day = 1};
}

static void to_next_day(struct civil *c)
{
    if (c->day == civil_month_days(c->year, c->month))
        to_next_month(c);
    else
        *c = (struct civil){.year = c->year, .month = c->month, .day = c->day + 1};
}

/* The first time on the wall that fits, from `from` on. */
static bool wall_next(const struct cron *cron, int64_t from, int64_t *out)
{
    struct civil c = civil_from_seconds(from);

    for (int months = 0; months < MONTHS_LOOKED_AT && c.year <= LAST_YEAR;) {
        int32_t month = c.month;

        if ((cron->fields[CRON_MONTH] >> c.month & 1) == 0) {
            to_next_month(&c);
        } else if (day_fits(cron, &c) && time_of_day_next(cron, &c)) {
            *out = civil_seconds(&c);
            return true;
        } else {
            to_next_day(&c);
        }
        months += c.month != month;
    }
    return false;
}

/* --- in UTC --- */

/* Ticks whenever the clock shows a time that fits. */
static bool next_of_clock(const struct cron *cron, struct tz tz, int64_t after, int64_t *out)
{
    int64_t from = after + 1;
    int64_t wall;

    for (int i = 0; i < PERIODS_LOOKED_AT; i++) {
        struct tz_period p = tz_period(tz, from);

        if (!wall_next(cron, from + p.offset, &wall))
            return false;
        if (wall - p.offset < p.to) {
            *out = wall - p.offset;
            return true;
        }
        from = p.to;
    }
    return false;
}

/* When a time of a day ticks: the first time the clock shows it, else the end of the gap. */
static int64_t tick_of_wall(struct tz tz, int64_t wall)
{
    int64_t utc = tz_to_utc(tz, wall);
    struct tz_period p = tz_period(tz, utc);

    return utc + p.offset == wall ? utc : p.from;
}

/* Ticks once for each time of a day. */
static bool next_of_day(const struct cron *cron, struct tz tz, int64_t after, int64_t *out)
{
    struct tz_period p = tz_period(tz, after);
    int64_t from = after + 1 + p.offset;
    int64_t wall;

    /* What the clock showed before it was put back has ticked. */
    if (p.from != INT64_MIN) {
        int64_t shown = p.from + tz_offset(tz, p.from - 1);
        from = from > shown ? from : shown;
    }
    for (int i = 0; i < PERIODS_LOOKED_AT; i++) {
        if (!wall_next(cron, from, &wall))
            return false;
        *out = tick_of_wall(tz, wall);
        if (*out > after)
            return true;
        from = wall + 1;
    }
    return false;
}

bool cron_next(const struct cron *cron, struct tz tz, int64_t after, int64_t *out)
{
    return cron->fields[CRON_HOUR] == ALL_HOURS ? next_of_clock(cron, tz, after, out)
                                                : next_of_day(cron, tz, after, out);
}

bool cron_last(const struct cron *cron, struct tz tz, int64_t after, int64_t until, int64_t *out)
{
    int64_t low = after; /* a tick lies in (low, until] */
    int64_t high = until;
    int64_t tick;

    if (after >= until || !cron_next(cron, tz, after, out) || *out > until)
        return false;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (cron_next(cron, tz, middle, &tick) && tick <= until) {
            low = middle;
            *out = tick;
        } else {
            high = middle;
        }
    }
    return true;
}
