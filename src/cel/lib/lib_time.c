/* lib_time.c - timestamp(), duration() and what they are made of. */
#include "cel/lib/lib_time.h"
#include "cel/lib/moment.h"

#include "base/time/civil.h"
#include "value/timefmt.h"

/* --- arguments --- */

struct str lib_time_shown(struct str s)
{
    size_t len = s.len < 40 ? s.len : 40;

    /* Not in the middle of a code point. */
    while (len < s.len && len > 0 && ((unsigned char)s.ptr[len] & 0xc0) == 0x80)
        len--;
    return str_from(s.ptr, len);
}

/* Whether a time would be one with a zone behind it. */
static bool lacks_zone(struct str text)
{
    char copy[40];
    struct value v;

    if (text.len + 1 > sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 'Z';
    return timestamp_read(str_from(copy, text.len + 1), &v);
}

bool lib_time_moment(struct cel_eval *ev, struct value arg, struct value *out, struct value *error)
{
    struct str text;

    if (arg.kind == VALUE_TIMESTAMP) {
        *out = arg;
        return true;
    }
    ASSERT(arg.kind == VALUE_STRING);
    text = value_text(arg);
    if (timestamp_read(text, out) || (ev->mode == CEL_DEFINITION && timestamp_read_date(text, out)))
        return true;
    *error =
        lacks_zone(text)
            ? cel_fail(ev, "%s: \"%.*s\" lacks a time zone: write \"%.*sZ\" for UTC, or +02:00",
                       ev->function, STR_ARG(lib_time_shown(text)), STR_ARG(lib_time_shown(text)))
            : cel_fail(ev, "%s: \"%.*s\" is not an RFC 3339 time in the range of years 1 to 9999",
                       ev->function, STR_ARG(lib_time_shown(text)));
    return false;
}

bool lib_time_zone(struct cel_eval *ev, struct value name, struct tz *out, struct value *error)
{
    /* A name that is not known costs a look at the disk each time. */
    enum { MISS_COST = 200 };

    if (tz_find(value_text(name), out))
        return true;
    *error = cel_charge(ev, MISS_COST)
                 ? cel_fail(ev, "%s: there is no time zone \"%.*s\"", ev->function,
                            STR_ARG(lib_time_shown(value_text(name))))
                 : cel_over_cost(ev);
    return false;
}

/* --- conversions --- */

struct value cel_fn_timestamp(struct cel_eval *ev, const struct value *args)
{
    struct value result, error;

    if (args[0].kind != VALUE_INT)
        return lib_time_moment(ev, args[0], &result, &error) ? result : error;
    if (!timestamp_in_range(args[0].i, 0))
        return cel_fail(ev, "timestamp: %lld seconds are out of the range of years 1 to 9999",
                        (long long)args[0].i);
    return value_timestamp(args[0].i, 0);
}

struct value cel_fn_duration(struct cel_eval *ev, const struct value *args)
{
    struct value result;
    struct str text;
    bool days = ev->mode == CEL_DEFINITION;

    if (args[0].kind == VALUE_DURATION)
        return args[0];
    text = value_text(args[0]);
    if (!cel_charge_bytes(ev, text.len))
        return cel_over_cost(ev);
    if (days ? duration_read(text, &result)
             : duration_read_go(text, &result) && moment_is_strict(result))
        return result;
    return cel_fail(ev,
                    "duration: \"%.*s\" is not numbers with units (%s) or out of the range of "
                    "%s years",
                    STR_ARG(lib_time_shown(text)),
                    days ? "d, h, m, s, ms, us, ns" : "h, m, s, ms, us, ns",
                    days ? "10000" : "292");
}

/* --- parts of timestamps --- */

enum part {
    PART_YEAR,
    PART_MONTH,
    PART_DATE,
    PART_DAY_OF_MONTH,
    PART_DAY_OF_WEEK,
    PART_DAY_OF_YEAR,
    PART_HOURS,
    PART_MINUTES,
    PART_SECONDS,
    PART_MILLISECONDS,
};

static int64_t timestamp_part(enum part part, int64_t local, uint32_t nanos)
{
    struct civil c = civil_from_seconds(local);

    switch (part) {
    case PART_YEAR:
        return c.year;
    case PART_MONTH:
        return c.month - 1;
    case PART_DATE:
        return c.day;
    case PART_DAY_OF_MONTH:
        return c.day - 1;
    case PART_DAY_OF_WEEK:
        return civil_weekday(civil_floor_div(local, CIVIL_DAY_SECONDS));
    case PART_DAY_OF_YEAR:
        return civil_year_day(&c);
    case PART_HOURS:
        return c.hour;
    case PART_MINUTES:
        return c.minute;
    case PART_SECONDS:
        return c.second;
    case PART_MILLISECONDS:
        return nanos / 1000000;
    }
    PANIC("unknown part");
}

static struct value get_part(struct cel_eval *ev, const struct value *args, enum part part)
{
    struct tz tz = {0};
    struct value error;

    if (ev->arg_count == 2 && !lib_time_zone(ev, args[1], &tz, &error))
        return error;
    return value_int(
        timestamp_part(part, args[0].seconds + tz_offset(tz, args[0].seconds), args[0].nanos));
}

#define PART_FUNCTION(function, part)                                                              \
    struct value function(struct cel_eval *ev, const struct value *args)                           \
    {                                                                                              \
        return get_part(ev, args, part);                                                           \
    }

PART_FUNCTION(cel_fn_get_full_year, PART_YEAR)
PART_FUNCTION(cel_fn_get_month, PART_MONTH)
PART_FUNCTION(cel_fn_get_date, PART_DATE)
PART_FUNCTION(cel_fn_get_day_of_month, PART_DAY_OF_MONTH)
PART_FUNCTION(cel_fn_get_day_of_week, PART_DAY_OF_WEEK)
PART_FUNCTION(cel_fn_get_day_of_year, PART_DAY_OF_YEAR)

/* --- parts of timestamps and durations --- */

/* Whole units in a duration, rounded towards zero. */
static struct value whole_units(struct value duration, int64_t unit_seconds)
{
    int64_t seconds = duration.seconds + (duration.seconds < 0 && duration.nanos > 0);

    return value_int(seconds / unit_seconds);
}

#define UNIT_FUNCTION(function, part, unit_seconds)                                                \
    struct value function(struct cel_eval *ev, const struct value *args)                           \
    {                                                                                              \
        return args[0].kind == VALUE_DURATION ? whole_units(args[0], unit_seconds)                 \
                                              : get_part(ev, args, part);                          \
    }

UNIT_FUNCTION(cel_fn_get_hours, PART_HOURS, 3600)
UNIT_FUNCTION(cel_fn_get_minutes, PART_MINUTES, 60)
UNIT_FUNCTION(cel_fn_get_seconds, PART_SECONDS, 1)

struct value cel_fn_get_milliseconds(struct cel_eval *ev, const struct value *args)
{
    int64_t nanos;

    if (args[0].kind != VALUE_DURATION)
        return get_part(ev, args, PART_MILLISECONDS);
    /* CEL wants the part below a second here, with the sign of the whole. */
    nanos = args[0].nanos;
    if (args[0].seconds < 0 && nanos > 0)
        nanos -= 1000000000;
    return value_int(nanos / 1000000);
}
