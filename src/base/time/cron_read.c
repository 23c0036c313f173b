/* cron_read.c - reading cron expressions; see cron.h. */
#include "base/text/ascii.h"
#include "base/time/cron.h"

#include "base/text/utf8.h"
#include "base/time/civil.h"

#include <stdarg.h>
#include <strings.h>

enum { NAME_LENGTH = 3 };

struct field_rule {
    const char *name;
    int32_t low;
    int32_t high;
    const char *names; /* three letters each, from `first_name` on */
    int32_t first_name;
};

static const struct field_rule field_rules[] = {
    [CRON_SECOND] = {"second", 0, 59, "", 0},
    [CRON_MINUTE] = {"minute", 0, 59, "", 0},
    [CRON_HOUR] = {"hour", 0, 23, "", 0},
    [CRON_DAY] = {PHRASE("day of month"), 1, 31, "", 0},
    [CRON_MONTH] = {"month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", 1},
    [CRON_WEEKDAY] = {PHRASE("day of week"), 0, 7, "SUNMONTUEWEDTHUFRISAT", 0},
};

/* Short names of other cron programs, and what to write. */
static const struct {
    const char *name;
    const char *meaning;
} nicknames[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

/* Where reading stands. */
struct reading {
    struct str text;
    size_t at;
    size_t end; /* of the field that is read */
    enum cron_field field;
    struct cron *cron;
    struct err *err;
};

/* --- what is wrong --- */

/* Fill the error, at byte `at` of the text; always false. */
static bool PRINTF_LIKE(3, 4) wrong(struct reading *r, size_t at, const char *format, ...)
{
    uint32_t column = 1 + (uint32_t)utf8_count(str_slice(r->text, 0, at));
    va_list args;

    va_start(args, format);
    (void)err_vset(r->err, ERR_INVALID, 0, column, format, args);
    va_end(args);
    return false;
}

/* --- one value --- */

static const struct field_rule *rule_of(const struct reading *r)
{
    return &field_rules[r->field];
}

static bool is_at(const struct reading *r, char c)
{
    return r->at < r->end && r->text.ptr[r->at] == c;
}

/* The rest of the item that begins here, for messages; cut when it is long. */
static struct str item_here(const struct reading *r)
{
    size_t end = r->at;

    while (end < r->end && end - r->at < 20 && r->text.ptr[end] != ',')
        end++;
    return str_slice(r->text, r->at, end);
}

static bool number_read(struct reading *r, int32_t *out)
{
    size_t start = r->at;
    int32_t n = 0;

    for (; r->at < r->end && ascii_is_digit(r->text.ptr[r->at]); r->at++)
        n = n > 99999 ? n : n * 10 + (r->text.ptr[r->at] - '0');
    *out = n;
    return r->at > start;
}

/* A name of this field: its value, or -1. */
static int32_t name_find(const struct reading *r, size_t at)
{
    const struct field_rule *rule = rule_of(r);

    for (int32_t i = 0; r->end - at >= NAME_LENGTH && rule->names[(size_t)i * NAME_LENGTH] != '\0';
         i++)
        if (strncasecmp(rule->names + (size_t)i * NAME_LENGTH, r->text.ptr + at, NAME_LENGTH) == 0)
            return rule->first_name + i;
    return -1;
}

static bool name_read(struct reading *r, int32_t *out)
{
    const struct field_rule *rule = rule_of(r);
    size_t end = r->at;
    int32_t value = name_find(r, r->at);

    while (end < r->end && ascii_is_letter(r->text.ptr[end]))
        end++;
    if (value >= 0 && (end - r->at == NAME_LENGTH ||
                       (end - r->at == NAME_LENGTH + 1 && r->field == CRON_WEEKDAY &&
                        (r->text.ptr[end - 1] == 'L' || r->text.ptr[end - 1] == 'l')))) {
        r->at += NAME_LENGTH;
        *out = value;
        return true;
    }
    wrong(r, r->at, "'%.*s' is no %s", STR_ARG(item_here(r)), rule->name);
    if (value >= 0)
        err_set_hint(r->err, "names have three letters: %.3s",
                     rule->names + (size_t)(value - rule->first_name) * NAME_LENGTH);
    else if (rule->names[0] != '\0')
        err_set_hint(r->err, "a number from %d to %d, or a name: %.3s to %.3s", rule->low,
                     rule->high, rule->names, rule->names + strlen(rule->names) - NAME_LENGTH);
    else
        err_set_hint(r->err,
                     "a number from %d to %d, a range a-b, a step */n, or a list with commas",
                     rule->low, rule->high);
    return false;
}

static bool value_read(struct reading *r, int32_t *out)
{
    const struct field_rule *rule = rule_of(r);
    size_t start = r->at;

    if (!number_read(r, out))
        return name_read(r, out);
    if (*out >= rule->low && *out <= rule->high)
        return true;
    wrong(r, start, "%d is no %s: these are %d to %d", *out, rule->name, rule->low, rule->high);
    if (r->field == CRON_HOUR && *out == 24)
        err_set_hint(r->err, "midnight is hour 0");
    return false;
}

/* --- fields --- */

static void field_add(struct reading *r, int32_t value)
{
    r->cron->fields[r->field] |= UINT64_C(1) << (r->field == CRON_WEEKDAY ? value % 7 : value);
}

/* `/n` after a range; 1 without one. */
static bool step_read(struct reading *r, int32_t *out)
{
    int32_t most = rule_of(r)->high - rule_of(r)->low;
    size_t start = ++r->at;

    if (number_read(r, out) && *out >= 1 && *out <= most)
        return true;
    wrong(r, start, "the step of a %s is a number from 1 to %d", rule_of(r)->name, most);
    if (*out > most && r->field != CRON_WEEKDAY)
        err_set_hint(r->err, "a step counts within one %s and starts anew in the next",
                     r->field == CRON_SECOND   ? "minute"
                     : r->field == CRON_MINUTE ? "hour"
                     : r->field == CRON_HOUR   ? "day"
                     : r->field == CRON_DAY    ? "month"
                                               : "year");
    return false;
}

/* `FRIL` or `FRI#2`, whose weekday has been read; *is_special says whether it was one. */
static bool weekday_of_month_read(struct reading *r, int32_t weekday, bool *is_special)
{
    int32_t n;

    *is_special = true;
    if (is_at(r, 'L') || is_at(r, 'l')) {
        r->at++;
        r->cron->last_weekdays |= UINT32_C(1) << weekday % 7;
        return true;
    }
    if (is_at(r, '#')) {
        size_t start = ++r->at;

        if (!number_read(r, &n) || n < 1 || n > 5)
            return wrong(r, start, "after # stands which one of the month: 1 to 5");
        r->cron->nth_weekdays |= UINT64_C(1) << (weekday % 7 * 5 + n - 1);
        return true;
    }
    *is_special = false;
    return true;
}

static bool range_end_read(struct reading *r, size_t start, int32_t low, int32_t *high)
{
    bool is_name;

    r->at++;
    is_name = r->at < r->end && ascii_is_letter(r->text.ptr[r->at]);
    if (!value_read(r, high))
        return false;
    if (r->field == CRON_WEEKDAY && is_name && *high == 0)
        *high = 7; /* SAT-SUN */
    if (*high >= low)
        return true;
    wrong(r, start, "the range %.*s ends before it begins",
          STR_ARG(str_slice(r->text, start, r->at)));
    return err_set_hint(r->err, "write two ranges with a comma between them");
}

/* One item of the list of a field. */
static bool item_read(struct reading *r)
{
    const struct field_rule *rule = rule_of(r);
    size_t start = r->at;
    int32_t low = rule->low;
    int32_t high = r->field == CRON_WEEKDAY ? 6 : rule->high;
    int32_t step = 1;
    bool is_any =
        is_at(r, '*') || (is_at(r, '?') && r->field >= CRON_DAY && r->field != CRON_MONTH);
    bool is_special = false;

    if (is_any) {
        r->at++;
    } else if (r->field == CRON_DAY && (is_at(r, 'L') || is_at(r, 'l'))) {
        r->at++;
        r->cron->has_last_day = true;
        is_special = true;
    } else {
        if (!value_read(r, &low))
            return false;
        if (r->field == CRON_WEEKDAY && !weekday_of_month_read(r, low, &is_special))
            return false;
        if (!is_special && is_at(r, '-')) {
            if (!range_end_read(r, start, low, &high))
                return false;
        } else if (!is_at(r, '/')) {
            high = low;
        }
    }
    if (!is_special && is_at(r, '/') && !step_read(r, &step))
        return false;
    if (r->at < r->end && !is_at(r, ',')) {
        wrong(r, r->at, "'%.*s' cannot stand here", STR_ARG(item_here(r)));
        return err_set_hint(r->err,
                            "a field is a list of values, ranges a-b and steps */n with commas");
    }
    for (int32_t value = low; !is_special && value <= high; value += step)
        field_add(r, value);
    return true;
}

static bool field_read(struct reading *r)
{
    bool is_limited = !is_at(r, '*') && !is_at(r, '?');

    if (r->field == CRON_DAY)
        r->cron->is_day_limited = is_limited;
    if (r->field == CRON_WEEKDAY)
        r->cron->is_weekday_limited = is_limited;
    for (;;) {
        if (r->at == r->end || is_at(r, ','))
            return wrong(r, r->at, "a %s is missing beside the comma", rule_of(r)->name);
        if (!item_read(r))
            return false;
        if (r->at == r->end)
            return true;
        r->at++; /* the comma */
    }
}

/* --- the whole --- */

static size_t fields_find(struct str text, size_t starts[CRON_FIELDS], size_t ends[CRON_FIELDS])
{
    size_t count = 0;

    for (size_t i = 0; i < text.len;) {
        size_t start = i;

        while (i < text.len && text.ptr[i] != ' ' && text.ptr[i] != '\t')
            i++;
        if (i > start) {
            if (count < CRON_FIELDS) {
                starts[count] = start;
                ends[count] = i;
            }
            count++;
        }
        while (i < text.len && (text.ptr[i] == ' ' || text.ptr[i] == '\t'))
            i++;
    }
    return count;
}

static bool count_is_wrong(struct reading *r, size_t count)
{
    wrong(r, 0, "a cron expression has five fields, or six with seconds first; this has %zu",
          count);
    for (size_t i = 0; i < ARRAY_SIZE(nicknames); i++)
        if (str_eq(str_trim(r->text), str_of(nicknames[i].name)))
            return err_set_hint(r->err, "write %s", nicknames[i].meaning);
    return err_set_hint(
        r->err, count == 7 ? "there is no field for the year"
                           : "minute, hour, day of month, month, day of week: 0 9 * * MON-FRI");
}

/* The 30th of February: wrong. A leap year is taken for granted. */
static bool day_comes(struct reading *r, size_t day_starts)
{
    const struct cron *cron = r->cron;
    uint64_t days = cron->fields[CRON_DAY];
    uint32_t first = days == 0 ? 0 : (uint32_t)__builtin_ctzll(days);

    if (!cron->is_day_limited || cron->is_weekday_limited || cron->has_last_day)
        return true;
    for (int32_t month = 1; month <= 12; month++)
        if ((cron->fields[CRON_MONTH] >> month & 1) != 0 &&
            civil_month_days(2000, month) >= (int32_t)first)
            return true;
    wrong(r, day_starts, "the day %u never comes in the months of this expression", first);
    return err_set_hint(r->err, "L is the last day of a month");
}

bool cron_read(struct str text, struct cron *out, struct err *err)
{
    size_t starts[CRON_FIELDS];
    size_t ends[CRON_FIELDS];
    size_t count = fields_find(text, starts, ends);
    struct reading r = {.text = text, .cron = out, .err = err};

    *out = (struct cron){0};
    if (text.len > CRON_TEXT_MAX)
        return wrong(&r, CRON_TEXT_MAX, "a cron expression has at most %d characters",
                     CRON_TEXT_MAX);
    if (count != CRON_FIELDS && count != CRON_FIELDS - 1)
        return count_is_wrong(&r, count);
    if (count == CRON_FIELDS - 1)
        out->fields[CRON_SECOND] = 1;
    for (size_t i = 0; i < count; i++) {
        r.field = (enum cron_field)(CRON_FIELDS - count + i);
        r.at = starts[i];
        r.end = ends[i];
        if (!field_read(&r))
            return false;
    }
    return day_comes(&r, starts[count - 3]);
}
