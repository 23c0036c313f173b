/* calendar.c - see calendar.h. */
#include "define/calendar.h"

#include "base/time/civil.h"
#include "define/compile/compile.h"
#include "value/timefmt.h"

/* Monday is 0. */
static int64_t weekday_of(int64_t day)
{
    return (civil_weekday(day) + 6) % 7;
}

static void read_weekend(struct compiler *c, struct value list, struct calendar *out)
{
    size_t outer = compile_enter(c, STR("weekend"));
    unsigned count = 0;

    memset(out->is_weekend, 0, sizeof(out->is_weekend));
    if (list.kind != VALUE_LIST)
        compile_wrong_type(c, list, "a list of days, from 1 for Monday to 7 for Sunday");
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++) {
        struct value v = list.items[i];
        size_t inner = compile_enter_index(c, i);

        if (v.kind != VALUE_INT || v.i < 1 || v.i > 7)
            compile_error(c, FINDING_BAD_VALUE,
                          "a day is a number from 1 for Monday to 7 for Sunday");
        else
            out->is_weekend[v.i - 1] = true;
        compile_leave(c, inner);
    }
    for (int i = 0; i < 7; i++)
        count += out->is_weekend[i];
    if (count == 7)
        compile_error(c, FINDING_BAD_VALUE, "a week without a day of work has no business days");
    compile_leave(c, outer);
}

static void read_holidays(struct compiler *c, struct value list, struct calendar *out)
{
    size_t outer = compile_enter(c, STR("holidays"));
    int64_t *days = ARENA_ARRAY(c->mem, list.kind == VALUE_LIST ? list.len : 0, int64_t);

    if (list.kind != VALUE_LIST)
        compile_wrong_type(c, list, "a list of dates such as \"2026-12-25\"");
    else if (list.len > HOLIDAYS_MAX)
        compile_error(c, FINDING_BAD_VALUE, "a calendar has at most %d holidays", HOLIDAYS_MAX);
    for (uint32_t i = 0; list.kind == VALUE_LIST && list.len <= HOLIDAYS_MAX && i < list.len; i++) {
        struct value v = list.items[i], date;
        size_t inner = compile_enter_index(c, i);

        if (v.kind != VALUE_STRING || !timestamp_read_date(value_text(v), &date))
            compile_error(c, FINDING_BAD_VALUE, "a holiday is a date such as \"2026-12-25\"");
        else
            days[out->holiday_count++] = civil_floor_div(date.seconds, CIVIL_DAY_SECONDS);
        compile_leave(c, inner);
    }
    out->holidays = days;
    compile_leave(c, outer);
}

static void read_zone(struct compiler *c, struct value v, struct calendar *out)
{
    size_t outer = compile_enter(c, STR("timezone"));

    if (v.kind != VALUE_STRING)
        compile_wrong_type(c, v, "the name of a time zone such as \"Europe/Berlin\"");
    else if (!tz_find(value_text(v), &out->tz))
        compile_error(c, FINDING_BAD_VALUE,
                      "there is no time zone '%.*s'; one is \"Europe/Berlin\", or \"+02:00\"",
                      STR_ARG(value_text(v)));
    compile_leave(c, outer);
}

bool calendar_read(struct arena *mem, struct value config, struct str at, struct calendar *out,
                   struct findings *findings)
{
    struct compiler c;

    *out = (struct calendar){.is_weekend = {[5] = true, [6] = true}};
    if (config.kind == VALUE_ABSENT)
        return true;
    compiler_init(&c, mem, NULL, findings);
    buf_str(&c.path, at);
    if (compile_fields(&c, config, TABLE_CALENDAR)) {
        if (compile_field(config, "weekend").kind != VALUE_ABSENT)
            read_weekend(&c, compile_field(config, "weekend"), out);
        if (compile_field(config, "holidays").kind != VALUE_ABSENT)
            read_holidays(&c, compile_field(config, "holidays"), out);
        if (compile_field(config, "timezone").kind != VALUE_ABSENT)
            read_zone(&c, compile_field(config, "timezone"), out);
    }
    return !c.has_errors;
}

static bool is_worked(const struct calendar *c, int64_t day)
{
    if (c->is_weekend[weekday_of(day)])
        return false;
    for (uint32_t i = 0; i < c->holiday_count; i++)
        if (c->holidays[i] == day)
            return false;
    return true;
}

bool calendar_add(const struct calendar *c, int64_t from_us, int64_t days, int64_t *out_us)
{
    int64_t seconds = civil_floor_div(from_us, 1000000);
    int64_t local = seconds + tz_offset(c->tz, seconds);
    int64_t first = civil_floor_div(local, CIVIL_DAY_SECONDS), day = first;

    ASSERT(days > 0 && days <= BUSINESS_DAYS_MAX);
    while (days > 0)
        days -= is_worked(c, ++day);
    local += (day - first) * CIVIL_DAY_SECONDS;
    if (local > TIMESTAMP_SECONDS_MAX - CIVIL_DAY_SECONDS)
        return false;
    *out_us = tz_to_utc(c->tz, local) * 1000000 + (from_us - seconds * 1000000);
    return true;
}
