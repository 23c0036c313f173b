/* date.c - calendar arithmetic on timestamps; see date.h. */
#include "cel/lib/date.h"

#include "base/names.h"
#include "base/time/civil.h"
#include "value/timefmt.h"

static const struct date_unit_row {
    const char *name;
    int64_t seconds;
    int64_t months;
} units[] = {
#define UNIT(symbol, name, seconds, months) {name, seconds, months},
#include "cel/lib/date_unit.def"
#undef UNIT
};

NAMES_READ(date_unit_read, enum date_unit, units)

/* --- days and months --- */

/* Monday is 0. */
static int64_t days_from_monday(int64_t day)
{
    return (civil_weekday(day) + 6) % 7;
}

/* Business days counted through: a weekend counts as the Friday before or the Monday after. */
static int64_t business_index(int64_t day, bool weekend_is_friday)
{
    int64_t weekday = days_from_monday(day);
    int64_t week = civil_floor_div(day - weekday, 7);

    if (weekday >= 5)
        weekday = weekend_is_friday ? 4 : 5;
    return week * 5 + weekday;
}

static int64_t add_business_days(int64_t day, int64_t n)
{
    int64_t index = business_index(day, n > 0) + n;
    /* Day 4, 1970-01-05, was a Monday. */
    int64_t monday = civil_floor_div(index, 5) * 7 + 4;

    return n == 0 ? day : monday + civil_floor_mod(index, 5);
}

static int64_t add_months(int64_t day, int64_t n)
{
    struct civil c = civil_from_days(day);
    int64_t months = (int64_t)c.year * 12 + c.month - 1 + n;
    int64_t year = civil_floor_div(months, 12);
    int32_t month = (int32_t)civil_floor_mod(months, 12) + 1;
    int32_t last = civil_month_days(year, month);

    return civil_days(year, month, c.day < last ? c.day : last);
}

/* --- adding --- */

static bool date_timestamp(int64_t seconds, uint32_t nanos, struct value *out)
{
    if (!timestamp_in_range(seconds, nanos))
        return false;
    *out = value_timestamp(seconds, nanos);
    return true;
}

static bool is_elapsed(enum date_unit unit)
{
    return unit == DATE_SECOND || unit == DATE_MINUTE || unit == DATE_HOUR;
}

bool date_add(struct value timestamp, int64_t n, enum date_unit unit, struct tz tz,
              struct value *out)
{
    const int64_t limit = (TIMESTAMP_SECONDS_MAX - TIMESTAMP_SECONDS_MIN) / units[unit].seconds;
    int64_t local, day, moved;

    /* No timestamp is farther than this from another, and nothing below it overflows. */
    if (n > limit || n < -limit)
        return false;
    if (is_elapsed(unit))
        return date_timestamp(timestamp.seconds + n * units[unit].seconds, timestamp.nanos, out);

    local = timestamp.seconds + tz_offset(tz, timestamp.seconds);
    day = civil_floor_div(local, CIVIL_DAY_SECONDS);
    if (units[unit].months > 0)
        moved = add_months(day, n * units[unit].months);
    else if (unit == DATE_BUSINESS_DAY)
        moved = add_business_days(day, n);
    else
        moved = day + n * (units[unit].seconds / CIVIL_DAY_SECONDS);
    /* Not by way of the wall clock, which may show this time twice. */
    if (moved == day)
        return date_timestamp(timestamp.seconds, timestamp.nanos, out);
    local += (moved - day) * CIVIL_DAY_SECONDS;
    return date_timestamp(tz_to_utc(tz, local), timestamp.nanos, out);
}

/* --- starts --- */

static int64_t start_of_day(int64_t day, enum date_unit unit)
{
    struct civil c = civil_from_days(day);

    switch (unit) {
    case DATE_WEEK:
        return day - days_from_monday(day);
    case DATE_MONTH:
        return civil_days(c.year, c.month, 1);
    case DATE_QUARTER:
        return civil_days(c.year, (c.month - 1) / 3 * 3 + 1, 1);
    case DATE_YEAR:
        return civil_days(c.year, 1, 1);
    case DATE_SECOND:
    case DATE_MINUTE:
    case DATE_HOUR:
    case DATE_DAY:
    case DATE_BUSINESS_DAY:
    case DATE_UNIT_COUNT:
        return day;
    }
    PANIC("unknown unit");
}

bool date_start_of(struct value timestamp, enum date_unit unit, struct tz tz, struct value *out)
{
    struct tz_period period = tz_period(tz, timestamp.seconds);
    int64_t local = timestamp.seconds + period.offset;
    int64_t start;

    ASSERT(unit != DATE_BUSINESS_DAY);
    if (is_elapsed(unit)) {
        start = local - civil_floor_mod(local, units[unit].seconds);
        /* An hour that the clock shows twice starts twice. */
        if (start - period.offset >= period.from)
            return date_timestamp(start - period.offset, 0, out);
    } else {
        start = start_of_day(civil_floor_div(local, CIVIL_DAY_SECONDS), unit) * CIVIL_DAY_SECONDS;
    }
    return date_timestamp(tz_to_utc(tz, start), 0, out);
}

/* --- differences --- */

static int64_t elapsed_units(struct value a, struct value b, enum date_unit unit)
{
    int64_t seconds = b.seconds - a.seconds;

    /* Towards zero by the nanoseconds that are missing. */
    if (seconds > 0 && b.nanos < a.nanos)
        seconds--;
    else if (seconds < 0 && b.nanos > a.nanos)
        seconds++;
    return seconds / units[unit].seconds;
}

/* By the days alone: right, or one too many. */
static int64_t calendar_units(int64_t day_a, int64_t day_b, enum date_unit unit)
{
    if (units[unit].months > 0) {
        struct civil a = civil_from_days(day_a), b = civil_from_days(day_b);
        return ((int64_t)(b.year - a.year) * 12 + b.month - a.month) / units[unit].months;
    }
    if (unit == DATE_BUSINESS_DAY)
        return business_index(day_b, day_b > day_a) - business_index(day_a, day_b > day_a);
    return (day_b - day_a) / (units[unit].seconds / CIVIL_DAY_SECONDS);
}

static int64_t local_day(struct value timestamp, struct tz tz)
{
    return civil_floor_div(timestamp.seconds + tz_offset(tz, timestamp.seconds), CIVIL_DAY_SECONDS);
}

int64_t date_diff(struct value a, struct value b, enum date_unit unit, struct tz tz)
{
    int direction = value_compare(b, a);
    int64_t n;

    if (is_elapsed(unit))
        return elapsed_units(a, b, unit);
    n = calendar_units(local_day(a, tz), local_day(b, tz), unit);
    /* A clock put back over midnight can show the later one of two on the earlier day. */
    if ((n > 0 ? 1 : -1) != direction)
        return 0;
    while (n != 0) {
        struct value there;
        if (date_add(a, n, unit, tz, &there) && value_compare(there, b) != direction)
            break;
        n -= n > 0 ? 1 : -1;
    }
    return n;
}
