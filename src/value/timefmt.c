/* timefmt.c - timestamps and durations as text; see timefmt.h. */
#include "value/timefmt.h"

#include "base/text/ascii.h"
#include "base/time/civil.h"
#include "base/wide.h"

enum { NANOS = 1000000000 };

bool timestamp_in_range(int64_t seconds, uint32_t nanos)
{
    return seconds >= TIMESTAMP_SECONDS_MIN && seconds <= TIMESTAMP_SECONDS_MAX && nanos < NANOS;
}

struct value timestamp_of_us(int64_t us)
{
    int64_t seconds = us / 1000000, rest = us % 1000000;

    if (rest < 0) {
        rest += 1000000;
        seconds--;
    }
    if (seconds < TIMESTAMP_SECONDS_MIN)
        return value_timestamp(TIMESTAMP_SECONDS_MIN, 0);
    if (seconds > TIMESTAMP_SECONDS_MAX)
        return value_timestamp(TIMESTAMP_SECONDS_MAX, 0);
    return value_timestamp(seconds, (uint32_t)rest * 1000);
}

bool duration_in_range(int64_t seconds, uint32_t nanos)
{
    if (seconds == DURATION_SECONDS_MAX)
        return nanos == 0;
    return seconds >= -DURATION_SECONDS_MAX && seconds < DURATION_SECONDS_MAX && nanos < NANOS;
}

/* --- writing --- */

/* Each answers what follows the number. */
static inline char *put_two(char *p, uint32_t number)
{
    p[0] = (char)('0' + number / 10);
    p[1] = (char)('0' + number % 10);
    return p + 2;
}

static inline char *put_three(char *p, uint32_t number)
{
    *p = (char)('0' + number / 100);
    return put_two(p + 1, number % 100);
}

static char *put_number(char *p, uint64_t number)
{
    char digits[20];
    int count = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        *p++ = digits[--count];
    return p;
}

size_t timestamp_write(char out[TIMESTAMP_TEXT_MAX], struct value timestamp)
{
    struct civil c = civil_from_seconds(timestamp.seconds);
    uint32_t nanos = timestamp.nanos;
    char *p = out;

    ASSERT(timestamp_in_range(timestamp.seconds, nanos));
    p = put_two(p, (uint32_t)c.year / 100);
    p = put_two(p, (uint32_t)c.year % 100);
    *p++ = '-';
    p = put_two(p, (uint32_t)c.month);
    *p++ = '-';
    p = put_two(p, (uint32_t)c.day);
    *p++ = 'T';
    p = put_two(p, (uint32_t)c.hour);
    *p++ = ':';
    p = put_two(p, (uint32_t)c.minute);
    *p++ = ':';
    p = put_two(p, (uint32_t)c.second);
    if (nanos != 0) {
        /* Milliseconds, microseconds or nanoseconds: as many as it takes. */
        *p++ = '.';
        p = put_three(p, nanos / 1000000);
        if (nanos % 1000000 != 0)
            p = put_three(p, nanos / 1000 % 1000);
        if (nanos % 1000 != 0)
            p = put_three(p, nanos % 1000);
    }
    *p++ = 'Z';
    return (size_t)(p - out);
}

/* The size of a duration, without its sign. */
struct duration_size {
    uint64_t seconds;
    uint32_t nanos;
};

/* Writes the sign and answers the rest. */
static struct duration_size put_sign(char **p, struct value duration)
{
    ASSERT(duration_in_range(duration.seconds, duration.nanos));
    if (duration.seconds >= 0)
        return (struct duration_size){(uint64_t)duration.seconds, duration.nanos};
    *(*p)++ = '-';
    if (duration.nanos == 0)
        return (struct duration_size){(uint64_t)-duration.seconds, 0};
    return (struct duration_size){(uint64_t) - (duration.seconds + 1), NANOS - duration.nanos};
}

static char *put_part(char *p, uint64_t number, const char *unit)
{
    if (number == 0)
        return p;
    p = put_number(p, number);
    while (*unit != 0)
        *p++ = *unit++;
    return p;
}

size_t duration_write(char out[DURATION_TEXT_MAX], struct value duration)
{
    char *p = out;
    struct duration_size s = put_sign(&p, duration);

    if (s.seconds == 0 && s.nanos == 0) {
        memcpy(out, "0s", 2);
        return 2;
    }
    p = put_part(p, s.seconds / 86400, "d");
    p = put_part(p, s.seconds / 3600 % 24, "h");
    p = put_part(p, s.seconds / 60 % 60, "m");
    p = put_part(p, s.seconds % 60, "s");
    p = put_part(p, s.nanos / 1000000, "ms");
    p = put_part(p, s.nanos / 1000 % 1000, "us");
    p = put_part(p, s.nanos % 1000, "ns");
    return (size_t)(p - out);
}

size_t duration_write_seconds(char out[DURATION_TEXT_MAX], struct value duration)
{
    char *p = out;
    struct duration_size s = put_sign(&p, duration);

    p = put_number(p, s.seconds);
    if (s.nanos != 0) {
        *p++ = '.';
        p = put_three(p, s.nanos / 1000000);
        p = put_three(p, s.nanos / 1000 % 1000);
        p = put_three(p, s.nanos % 1000);
        while (p[-1] == '0')
            p--;
    }
    *p++ = 's';
    return (size_t)(p - out);
}

/* --- reading --- */

struct time_text {
    const char *p;
    const char *end;
};

static struct time_text time_text_of(struct str text)
{
    /* Empty text may have no address, and no offset is defined from none. */
    const char *start = text.len == 0 ? "" : text.ptr;

    return (struct time_text){start, start + text.len};
}

static bool take_char(struct time_text *r, char c)
{
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static bool at_digit(const struct time_text *r)
{
    return r->p < r->end && ascii_is_digit(*r->p);
}

/* Exactly `count` digits that make a number from `min` to `max`. */
static bool take_number(struct time_text *r, int count, int32_t min, int32_t max, int32_t *out)
{
    int32_t number = 0;

    for (; count > 0; count--) {
        if (!at_digit(r))
            return false;
        number = number * 10 + (*r->p++ - '0');
    }
    *out = number;
    return number >= min && number <= max;
}

static bool take_date(struct time_text *r, struct civil *c)
{
    return take_number(r, 4, 1, 9999, &c->year) && take_char(r, '-') &&
           take_number(r, 2, 1, 12, &c->month) && take_char(r, '-') &&
           take_number(r, 2, 1, civil_month_days(c->year, c->month), &c->day);
}

static bool take_time(struct time_text *r, struct civil *c)
{
    return take_number(r, 2, 0, 23, &c->hour) && take_char(r, ':') &&
           take_number(r, 2, 0, 59, &c->minute) && take_char(r, ':') &&
           take_number(r, 2, 0, 59, &c->second);
}

static bool take_fraction(struct time_text *r, uint32_t *nanos)
{
    uint32_t scale = NANOS;

    *nanos = 0;
    if (!take_char(r, '.'))
        return true;
    if (!at_digit(r))
        return false;
    for (; at_digit(r); r->p++) {
        if (scale == 1)
            return false;
        scale /= 10;
        *nanos += (uint32_t)(*r->p - '0') * scale;
    }
    return true;
}

static bool take_offset(struct time_text *r, int32_t *seconds)
{
    int32_t hours, minutes;
    bool west;

    *seconds = 0;
    if (take_char(r, 'Z'))
        return true;
    west = take_char(r, '-');
    if (!west && !take_char(r, '+'))
        return false;
    if (!take_number(r, 2, 0, 23, &hours) || !take_char(r, ':') ||
        !take_number(r, 2, 0, 59, &minutes))
        return false;
    *seconds = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

bool timestamp_read(struct str text, struct value *out)
{
    struct time_text r = time_text_of(text);
    struct civil c = {0};
    uint32_t nanos;
    int32_t offset;
    int64_t seconds;

    if (!take_date(&r, &c) || !take_char(&r, 'T') || !take_time(&r, &c) ||
        !take_fraction(&r, &nanos) || !take_offset(&r, &offset) || r.p != r.end)
        return false;
    seconds = civil_seconds(&c) - offset;
    if (!timestamp_in_range(seconds, nanos))
        return false;
    *out = value_timestamp(seconds, nanos);
    return true;
}

bool timestamp_read_date(struct str text, struct value *out)
{
    struct time_text r = time_text_of(text);
    struct civil c = {0};

    if (!take_date(&r, &c) || r.p != r.end)
        return false;
    *out = value_timestamp(civil_seconds(&c), 0);
    return true;
}

static const struct duration_unit {
    struct str name;
    uint64_t nanos;
} units[] = {
    /* A name stands before those that it starts with. */
    {{"ms", 2}, 1000000},      {{"us", 2}, 1000},           {{"ns", 2}, 1},
    {{"\xc2\xb5s", 3}, 1000},  {{"\xce\xbcs", 3}, 1000},    {{"s", 1}, NANOS},
    {{"m", 1}, 60ull * NANOS}, {{"h", 1}, 3600ull * NANOS}, {{"d", 1}, 86400ull * NANOS},
};

static bool take_unit(struct time_text *r, bool days, uint64_t *nanos)
{
    struct str rest = str_from(r->p, (size_t)(r->end - r->p));

    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (str_starts_with(rest, units[i].name)) {
            r->p += units[i].name.len;
            *nanos = units[i].nanos;
            return days || units[i].name.ptr[0] != 'd';
        }
    return false;
}

/* Digits enough to be exact for the largest unit, and few enough for 128 bits. */
enum { FRACTION_DIGITS = 18 };

/* One number with its unit, in nanoseconds. */
static bool take_part(struct time_text *r, bool days, uint128 *out)
{
    const uint64_t whole_max = UINT64_C(1000000000000000000);
    uint64_t whole = 0, fraction = 0, scale = 1, unit;
    bool any = false;

    for (; at_digit(r); r->p++, any = true) {
        if (whole >= whole_max)
            return false;
        whole = whole * 10 + (uint64_t)(*r->p - '0');
    }
    if (take_char(r, '.')) {
        int count = 0;
        for (; at_digit(r); r->p++, any = true)
            if (count++ < FRACTION_DIGITS) {
                fraction = fraction * 10 + (uint64_t)(*r->p - '0');
                scale *= 10;
            }
    }
    if (!any || !take_unit(r, days, &unit))
        return false;
    *out = (uint128)whole * unit;
    if (fraction > 0)
        *out += (uint128)fraction * unit / scale;
    return true;
}

static bool read_duration(struct str text, bool days, struct value *out)
{
    const uint128 max = (uint128)DURATION_SECONDS_MAX * NANOS;
    struct time_text r = time_text_of(text);
    bool negative = take_char(&r, '-');
    uint128 total = 0, part;
    int64_t seconds;
    uint32_t nanos;

    if (!negative)
        take_char(&r, '+');
    if (r.p == r.end)
        return false;
    if (r.end - r.p == 1 && *r.p == '0')
        r.p++;
    while (r.p < r.end) {
        if (!take_part(&r, days, &part))
            return false;
        total += part;
        if (total > max)
            return false;
    }
    seconds = (int64_t)(total / NANOS);
    nanos = (uint32_t)(total % NANOS);
    if (negative) {
        seconds = -seconds - (nanos > 0);
        nanos = nanos > 0 ? NANOS - nanos : 0;
    }
    *out = value_duration(seconds, nanos);
    return true;
}

bool duration_read(struct str text, struct value *out)
{
    return read_duration(text, true, out);
}

bool duration_read_go(struct str text, struct value *out)
{
    return read_duration(text, false, out);
}
