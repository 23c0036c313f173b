/* moment.c - arithmetic of timestamps and durations; see moment.h. */
#include "cel/lib/moment.h"

#include "value/timefmt.h"

enum { NANOS = 1000000000 };

/* Seconds and nanoseconds of any value; false when the seconds overflow. */
static bool add_parts(struct value a, struct value b, int64_t *seconds, uint32_t *nanos)
{
    uint32_t sum = a.nanos + b.nanos;
    int64_t carry = sum >= NANOS;

    *nanos = carry ? sum - NANOS : sum;
    return !__builtin_add_overflow(a.seconds, b.seconds, seconds) &&
           !__builtin_add_overflow(*seconds, carry, seconds);
}

static bool sub_parts(struct value a, struct value b, int64_t *seconds, uint32_t *nanos)
{
    int64_t borrow = a.nanos < b.nanos;

    *nanos = borrow ? a.nanos + NANOS - b.nanos : a.nanos - b.nanos;
    return !__builtin_sub_overflow(a.seconds, b.seconds, seconds) &&
           !__builtin_sub_overflow(*seconds, borrow, seconds);
}

static bool make_moment(bool is_time, int64_t seconds, uint32_t nanos, struct value *out)
{
    if (is_time ? !timestamp_in_range(seconds, nanos) : !duration_in_range(seconds, nanos))
        return false;
    *out = is_time ? value_timestamp(seconds, nanos) : value_duration(seconds, nanos);
    return true;
}

bool moment_add(struct value a, struct value b, struct value *out)
{
    int64_t seconds;
    uint32_t nanos;

    return add_parts(a, b, &seconds, &nanos) &&
           make_moment(a.kind == VALUE_TIMESTAMP || b.kind == VALUE_TIMESTAMP, seconds, nanos, out);
}

bool moment_sub(struct value a, struct value b, struct value *out)
{
    int64_t seconds;
    uint32_t nanos;

    return sub_parts(a, b, &seconds, &nanos) &&
           make_moment(a.kind == VALUE_TIMESTAMP && b.kind == VALUE_DURATION, seconds, nanos, out);
}

bool moment_is_strict(struct value duration)
{
    int64_t total;

    return !__builtin_mul_overflow(duration.seconds, (int64_t)NANOS, &total) &&
           !__builtin_add_overflow(total, (int64_t)duration.nanos, &total);
}
