/* tz_rule.c - the POSIX TZ rule; see tz_rule.h. */
#include "base/time/tz_rule.h"

#include "base/text/ascii.h"
#include "base/time/civil.h"

/* --- reading --- */

struct rule_text {
    const char *p;
    const char *end;
};

static bool take_char(struct rule_text *r, char c)
{
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static bool at_digit(const struct rule_text *r)
{
    return r->p < r->end && ascii_is_digit(*r->p);
}

/* One to three digits that make a number from `min` to `max`. */
static bool take_number(struct rule_text *r, int32_t min, int32_t max, int32_t *out)
{
    int32_t number = 0;
    int count = 0;

    for (; at_digit(r) && count < 3; count++)
        number = number * 10 + (*r->p++ - '0');
    *out = number;
    return count > 0 && number >= min && number <= max;
}

/* CEST or <+02>: three characters at least. */
static bool take_name(struct rule_text *r)
{
    bool quoted = take_char(r, '<');
    const char *start = r->p;
    const char *end;

    while (r->p < r->end &&
           (ascii_is_letter(*r->p) || (quoted && (at_digit(r) || *r->p == '+' || *r->p == '-'))))
        r->p++;
    end = r->p;
    return end - start >= 3 && (!quoted || take_char(r, '>'));
}

/* [+-]h[h[h]][:mm[:ss]] */
static bool take_time(struct rule_text *r, int32_t hours_max, int32_t *out)
{
    bool negative = take_char(r, '-');
    int32_t hours, minutes = 0, seconds = 0;

    if (!negative)
        take_char(r, '+');
    if (!take_number(r, 0, hours_max, &hours))
        return false;
    if (take_char(r, ':')) {
        if (!take_number(r, 0, 59, &minutes))
            return false;
        if (take_char(r, ':') && !take_number(r, 0, 59, &seconds))
            return false;
    }
    *out = hours * 3600 + minutes * 60 + seconds;
    if (negative)
        *out = -*out;
    return true;
}

static bool take_change(struct rule_text *r, struct tz_change *c)
{
    *c = (struct tz_change){.time = 2 * 3600};
    if (take_char(r, 'J')) {
        c->kind = TZ_DAY_JULIAN;
        if (!take_number(r, 1, 365, &c->day))
            return false;
    } else if (take_char(r, 'M')) {
        c->kind = TZ_DAY_OF_WEEKDAY;
        if (!take_number(r, 1, 12, &c->month) || !take_char(r, '.') ||
            !take_number(r, 1, 5, &c->week) || !take_char(r, '.') || !take_number(r, 0, 6, &c->day))
            return false;
    } else {
        c->kind = TZ_DAY_OF_YEAR;
        if (!take_number(r, 0, 365, &c->day))
            return false;
    }
    return !take_char(r, '/') || take_time(r, 167, &c->time);
}

bool tz_rule_read(struct str text, struct tz_rule *out)
{
    const char *start = text.len == 0 ? "" : text.ptr;
    struct rule_text r = {start, start + text.len};
    struct tz_rule rule = {0};
    int32_t west;

    if (!take_name(&r) || !take_time(&r, 24, &west))
        return false;
    rule.standard = -west;
    if (r.p < r.end) {
        rule.has_summer = true;
        rule.summer = rule.standard + 3600;
        if (!take_name(&r))
            return false;
        if (r.p < r.end && *r.p != ',') {
            if (!take_time(&r, 24, &west))
                return false;
            rule.summer = -west;
        }
        if (!take_char(&r, ',') || !take_change(&r, &rule.start) || !take_char(&r, ',') ||
            !take_change(&r, &rule.end) || r.p != r.end)
            return false;
    }
    *out = rule;
    return true;
}

/* --- periods --- */

/* The change in `year`, in seconds of the clock that is changed. */
static int64_t change_local(const struct tz_change *c, int32_t year)
{
    int64_t day = 0;

    switch (c->kind) {
    case TZ_DAY_JULIAN:
        day = civil_days(year, 1, c->day) + (civil_is_leap_year(year) && c->day >= 60);
        break;
    case TZ_DAY_OF_YEAR:
        day = civil_days(year, 1, 1) + c->day;
        break;
    case TZ_DAY_OF_WEEKDAY: {
        int64_t first = civil_days(year, c->month, 1);
        int32_t in_month = (c->day - civil_weekday(first) + 7) % 7 + (c->week - 1) * 7;
        if (in_month >= civil_month_days(year, c->month))
            in_month -= 7;
        day = first + in_month;
        break;
    }
    }
    return day * CIVIL_DAY_SECONDS + c->time;
}

/* Narrow *p, which holds `utc`, by a change at `at` to `offset`. */
static void narrow(struct tz_period *p, int64_t utc, int64_t at, int32_t offset)
{
    if (at > utc) {
        if (at < p->to)
            p->to = at;
    } else if (at >= p->from) {
        p->from = at;
        p->offset = offset;
    }
}

struct tz_period tz_rule_period(const struct tz_rule *rule, int64_t utc)
{
    struct tz_period p = {.from = INT64_MIN, .to = INT64_MAX, .offset = rule->standard};
    int32_t year;

    if (!rule->has_summer)
        return p;
    /* A change may fall into a neighbouring year, by its time of day or its offset. */
    year = civil_from_seconds(utc + rule->standard).year;
    for (int32_t y = year - 1; y <= year + 1; y++)
        narrow(&p, utc, change_local(&rule->end, y) - rule->summer, rule->standard);
    /*
     * Where one summer ends as the next one starts, the start wins: this is
     * how a rule says that it is summer all the year.
     */
    for (int32_t y = year - 1; y <= year + 1; y++)
        narrow(&p, utc, change_local(&rule->start, y) - rule->standard, rule->summer);
    return p;
}
