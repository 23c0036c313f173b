/* lib_date.c - date.add(), date.startOf(), date.diff() and date.format(). */
#include "base/text/ascii.h"
#include "base/time/civil.h"
#include "cel/lib/date.h"
#include "cel/lib/lib_time.h"

/* --- arguments --- */

/* The zone is the argument after `required` others, or UTC when it is left out. */
static bool take_zone(struct cel_eval *ev, const struct value *args, unsigned required,
                      struct tz *tz, struct value *error)
{
    *tz = (struct tz){0};
    return ev->arg_count == required || lib_time_zone(ev, args[required], tz, error);
}

static bool take_unit(struct cel_eval *ev, struct value arg, enum date_unit *unit,
                      struct value *error)
{
    if (date_unit_read(value_text(arg), unit))
        return true;
    *error = cel_fail(ev,
                      "%s: \"%.*s\" is not a unit; there are second, minute, hour, day, "
                      "business_day, week, month, quarter, year",
                      ev->function, STR_ARG(lib_time_shown(value_text(arg))));
    return false;
}

static struct value date_out_of_range(struct cel_eval *ev)
{
    return cel_fail(ev, "%s: the result is out of the range of years 1 to 9999", ev->function);
}

/* --- arithmetic --- */

struct value cel_fn_date_add(struct cel_eval *ev, const struct value *args)
{
    struct value moment, result;
    enum date_unit unit;
    struct tz tz;

    if (!lib_time_moment(ev, args[0], &moment, &result) ||
        !take_unit(ev, args[2], &unit, &result) || !take_zone(ev, args, 3, &tz, &result))
        return result;
    return date_add(moment, args[1].i, unit, tz, &result) ? result : date_out_of_range(ev);
}

struct value cel_fn_date_start_of(struct cel_eval *ev, const struct value *args)
{
    struct value moment, result;
    enum date_unit unit;
    struct tz tz;

    if (!lib_time_moment(ev, args[0], &moment, &result) ||
        !take_unit(ev, args[1], &unit, &result) || !take_zone(ev, args, 2, &tz, &result))
        return result;
    if (unit == DATE_BUSINESS_DAY)
        return cel_fail(ev, "%s: a business_day has no start of its own; use day", ev->function);
    return date_start_of(moment, unit, tz, &result) ? result : date_out_of_range(ev);
}

struct value cel_fn_date_diff(struct cel_eval *ev, const struct value *args)
{
    struct value from, to, error;
    enum date_unit unit;
    struct tz tz;

    if (!lib_time_moment(ev, args[0], &from, &error) ||
        !lib_time_moment(ev, args[1], &to, &error) || !take_unit(ev, args[2], &unit, &error) ||
        !take_zone(ev, args, 3, &tz, &error))
        return error;
    return value_int(date_diff(from, to, unit, tz));
}

/* --- format --- */

static const char *const month_names[] = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December",
};

static const char *const weekday_names[] = {
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
};

/* What a pattern shows of a moment. */
struct shown {
    struct civil c;
    int32_t weekday;
    int32_t millisecond;
    int32_t offset;
};

static char *put_number(char *p, int32_t number, int width)
{
    int32_t unit = 1;

    for (; width > 1 || number / unit >= 10; width--)
        unit *= 10;
    for (; unit > 0; unit /= 10)
        *p++ = (char)('0' + number / unit % 10);
    return p;
}

static char *put_name(char *p, const char *name, size_t letters)
{
    size_t len = strlen(name);

    if (len > letters)
        len = letters;
    memcpy(p, name, len);
    return p + len;
}

static char *put_offset(char *p, int32_t offset)
{
    int32_t minutes = (offset < 0 ? -offset : offset) / 60;

    if (offset == 0) {
        *p++ = 'Z';
        return p;
    }
    *p++ = offset < 0 ? '-' : '+';
    p = put_number(p, minutes / 60, 2);
    *p++ = ':';
    return put_number(p, minutes % 60, 2);
}

/* Write what `token` stands for; NULL when there is no such token. */
static char *put_token(char *p, struct str token, const struct shown *s)
{
    static const struct {
        const char *token;
        size_t field; /* place in struct shown */
        int width;
    } numbers[] = {
        {"yyyy", offsetof(struct shown, c.year), 4},
        {"MM", offsetof(struct shown, c.month), 2},
        {"M", offsetof(struct shown, c.month), 1},
        {"dd", offsetof(struct shown, c.day), 2},
        {"d", offsetof(struct shown, c.day), 1},
        {"HH", offsetof(struct shown, c.hour), 2},
        {"H", offsetof(struct shown, c.hour), 1},
        {"mm", offsetof(struct shown, c.minute), 2},
        {"ss", offsetof(struct shown, c.second), 2},
        {"SSS", offsetof(struct shown, millisecond), 3},
    };

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        if (str_eq(token, str_of(numbers[i].token))) {
            int32_t number;
            memcpy(&number, (const char *)s + numbers[i].field, sizeof(number));
            return put_number(p, number, numbers[i].width);
        }
    if (str_eq(token, STR("MMM")) || str_eq(token, STR("MMMM")))
        return put_name(p, month_names[s->c.month - 1], token.len == 3 ? 3 : SIZE_MAX);
    if (str_eq(token, STR("EEE")) || str_eq(token, STR("EEEE")))
        return put_name(p, weekday_names[s->weekday], token.len == 3 ? 3 : SIZE_MAX);
    if (str_eq(token, STR("XXX")))
        return put_offset(p, s->offset);
    return NULL;
}

/*
 * Copy the quoted text that starts before pattern[at]; answers where it ends in
 * the pattern, or 0 when the closing quote is missing.
 */
static size_t put_quoted(char **p, struct str pattern, size_t at)
{
    for (; at < pattern.len; at++) {
        if (pattern.ptr[at] == '\'') {
            if (at + 1 == pattern.len || pattern.ptr[at + 1] != '\'')
                return at + 1;
            at++;
        }
        *(*p)++ = pattern.ptr[at];
    }
    return 0;
}

/* Expand a pattern to `out`; answers the end, or NULL with *error filled. */
static char *expand(struct cel_eval *ev, struct str pattern, const struct shown *s, char *out,
                    struct value *error)
{
    for (size_t i = 0; i < pattern.len;) {
        char c = pattern.ptr[i];
        size_t end = i + 1;

        if (c == '\'' && end < pattern.len && pattern.ptr[end] == c) {
            *out++ = c; /* two quotes are one, inside quoted text and outside */
            end++;
        } else if (c == '\'') {
            end = put_quoted(&out, pattern, end);
            if (end == 0) {
                *error = cel_fail(ev, "%s: a quote is not closed", ev->function);
                return NULL;
            }
        } else if (ascii_is_letter(c)) {
            while (end < pattern.len && pattern.ptr[end] == c)
                end++;
            out = put_token(out, str_slice(pattern, i, end), s);
            if (out == NULL) {
                *error = cel_fail(
                    ev,
                    "%s: \"%.*s\" means nothing; there are yyyy MM M MMM MMMM dd d EEE EEEE HH H "
                    "mm ss SSS XXX, and text in single quotes",
                    ev->function, STR_ARG(lib_time_shown(str_slice(pattern, i, end))));
                return NULL;
            }
        } else {
            *out++ = c;
        }
        i = end;
    }
    return out;
}

struct value cel_fn_date_format(struct cel_eval *ev, const struct value *args)
{
    /* One letter becomes two digits at most, three become six, four nine. */
    enum { GROWTH = 3 };
    struct value moment, error;
    struct str pattern = value_text(args[1]);
    struct shown s;
    struct tz tz;
    int64_t local;
    char *out, *end;

    if (!lib_time_moment(ev, args[0], &moment, &error) || !take_zone(ev, args, 2, &tz, &error))
        return error;
    if (!cel_charge(ev, pattern.len / 4 + 1))
        return cel_over_cost(ev);
    out = pattern.len > VALUE_LEN_MAX / GROWTH ? NULL : cel_alloc(ev, pattern.len * GROWTH);
    if (out == NULL)
        return cel_over_memory(ev);

    s.offset = tz_offset(tz, moment.seconds);
    local = moment.seconds + s.offset;
    s.c = civil_from_seconds(local);
    s.weekday = civil_weekday(civil_floor_div(local, CIVIL_DAY_SECONDS));
    s.millisecond = (int32_t)(moment.nanos / 1000000);
    end = expand(ev, pattern, &s, out, &error);
    return end == NULL ? error : value_string(str_from(out, (size_t)(end - out)));
}
