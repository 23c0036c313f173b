/*
 * test_business_days.c - claims about waits that last business days, and about
 * reminders at times of their own.
 */
#include "engine/rig.h"
#include "value/json.h"
#include "value/timefmt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define HOUR (INT64_C(3600) * SECOND)
#define DAY (INT64_C(24) * HOUR)

static int64_t time_us(const char *text)
{
    struct value v;

    assert_true(timestamp_read(str_of(text), &v));
    return v.seconds * SECOND + v.nanos / 1000;
}

static const char *time_of(int64_t us)
{
    char text[TIMESTAMP_TEXT_MAX];
    size_t len = timestamp_write(
        text, value_timestamp(us / SECOND, (uint32_t)(us % SECOND) * UINT32_C(1000)));

    return str_copy(&rig.mem, str_from(text, len)).ptr;
}

/* $.config with this calendar, whose quotes are written as '; NULL: there is none. */
static void set_calendar(const char *calendar)
{
    struct str json = str_printf(&rig.mem, "{'calendar':%s}", calendar);
    struct err err;

    rig.config = value_absent();
    for (size_t i = 0; i < json.len; i++)
        if (json.ptr[i] == '\'')
            ((char *)json.ptr)[i] = '"';
    if (calendar != NULL)
        assert_true(json_read(&rig.mem, json, &rig.config, &err));
}

static void start(const char *now, const char *calendar, const char *wait)
{
    rig_define(&rig, str_printf(&rig.mem,
                                "{'code':'a','settings':{'timeout':'900d'},'steps':[{'code':'w',"
                                "'procedure':%s}]}",
                                wait)
                         .ptr);
    rig.now_us = time_us(now);
    set_calendar(calendar);
    rig_start(&rig, "{}");
}

static void test_business_days__a_timer_counts_days_that_are_worked(void **state)
{
    static const struct {
        const char *now, *calendar, *span, *end;
    } rows[] = {
        /* Monday to Friday in UTC unless something is configured. */
        {"2026-01-02T10:00:00Z", NULL, "1bd", "2026-01-05T10:00:00Z"},
        {"2026-01-03T10:00:00Z", NULL, "1bd", "2026-01-05T10:00:00Z"},
        {"2026-01-04T10:00:00Z", NULL, "1bd", "2026-01-05T10:00:00Z"},
        {"2026-01-01T10:00:00.123456Z", NULL, "3bd", "2026-01-06T10:00:00.123456Z"},
        {"2026-01-01T00:00:00Z", "{}", "10bd", "2026-01-15T00:00:00Z"},
        /* Holidays and another weekend. */
        {"2026-01-02T10:00:00Z", "{'holidays':['2026-01-05']}", "1bd", "2026-01-06T10:00:00Z"},
        {"2026-12-23T10:00:00Z", "{'holidays':['2026-12-25','2026-12-26','2027-01-01']}", "5bd",
         "2026-12-31T10:00:00Z"},
        {"2026-01-01T10:00:00Z", "{'weekend':[5,6]}", "1bd", "2026-01-04T10:00:00Z"},
        {"2026-01-02T10:00:00Z", "{'weekend':[]}", "2bd", "2026-01-04T10:00:00Z"},
        {"2026-01-02T10:00:00Z", "{'weekend':[1,2,3,4,5,6]}", "2bd", "2026-01-11T10:00:00Z"},
        /* The time of day on the wall stays, also where the clock is changed. */
        {"2026-03-27T09:00:00Z", "{'timezone':'Europe/Berlin'}", "1bd", "2026-03-30T08:00:00Z"},
        {"2026-10-23T08:00:00Z", "{'timezone':'Europe/Berlin'}", "1bd", "2026-10-26T09:00:00Z"},
        {"2026-03-28T01:30:00Z", "{'timezone':'Europe/Berlin','weekend':[]}", "1bd",
         "2026-03-29T01:30:00Z"},
        /* In Berlin it is Saturday by then. */
        {"2026-01-02T23:30:00Z", "{'timezone':'Europe/Berlin'}", "1bd", "2026-01-04T23:30:00Z"},
        {"2026-01-02T23:30:00Z", "{'timezone':'+02:00','holidays':['2026-01-05']}", "1bd",
         "2026-01-05T23:30:00Z"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        start(rows[i].now, rows[i].calendar,
              str_printf(&rig.mem, "{'type':'wait.timer','duration':'%s'}", rows[i].span).ptr);
        assert_int_equal(rig.x->status, STATUS_WAITING);
        assert_string_equal(time_of(rig.x->wake_at_us), rows[i].end);
        rig_fini(&rig);
        rig_init(&rig);
    }
}

static void test_business_days__are_counted_when_the_wait_begins(void **state)
{
    (void)state;
    start(
        "2026-01-02T10:00:00Z", "{'holidays':['2026-01-05']}",
        "{'type':'wait.signal','signalType':'x','timeout':'{{ 1 + 1 }}bd','onTimeout':'continue'}");
    assert_string_equal(time_of(rig.x->wake_at_us), "2026-01-07T10:00:00Z");
    set_calendar("{'weekend':[],'holidays':[]}");
    rig_reload(&rig);
    rig.now_us = time_us("2026-01-07T09:59:59Z");
    assert_false(rig_wake(&rig));
    rig.now_us = time_us("2026-01-07T10:00:00Z");
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_business_days__a_bad_calendar_holds_the_execution_and_says_why(void **state)
{
    static const char *const rows[][2] = {
        {"{'timezone':'Mars/Base'}", "/timezone: there is no time zone 'Mars/Base'"},
        {"{'weekend':[1,2,3,4,5,6,7]}", "/weekend: a week without a day of work"},
        {"{'holidays':['25.12.']}", "/holidays/0: a holiday is a date such as"},
        {"{'holiday':[]}", "/holiday: there is no field 'holiday' here"},
        {"5", "must be an object"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        start("2026-01-02T10:00:00Z", rows[i][0], "{'type':'wait.timer','duration':'1bd'}");
        assert_int_equal(rig.x->status, STATUS_WAITING);
        assert_int_equal(rig.x->waiting_kind, WAITING_INCIDENT);
        assert_non_null(strstr(rig_text(&rig, rig.x->waiting_for_json), "expression_calendar"));
        assert_true(str_find(rig.x->waiting_for_json, str_of(rows[i][1]), 0) >= 0);
        rig_fini(&rig);
        rig_init(&rig);
    }
}

/* --- reminders at times of their own --- */

static void test_remind__at_each_of_its_times_and_then_no_more(void **state)
{
    static const int days[] = {1, 3, 6};

    (void)state;
    start("2026-01-01T00:00:00Z", NULL,
          "{'type': 'wait.signal', 'signalType': 'x', 'timeout': '8d', 'onTimeout': 'continue',"
          "  'reminder': {'at': ['1d', '3d', '6d'],"
          "    'procedure': {'type': 'compute.transform', 'data': '$.reminder.index'}}}");
    for (size_t i = 0; i < ARRAY_SIZE(days); i++) {
        int64_t due = time_us("2026-01-01T00:00:00Z") + days[i] * DAY;

        assert_int_equal(rig.x->wake_at_us, due);
        rig.now_us = due;
        assert_true(rig_wake(&rig));
        rig_reload(&rig);
        assert_string_equal(rig_text(&rig, rig.last.history.items[0].output_json),
                            str_printf(&rig.mem, "%zu", i + 1).ptr);
    }
    assert_string_equal(rig_trace(&rig), "!w !w !w");
    assert_string_equal(time_of(rig.x->wake_at_us), "2026-01-09T00:00:00Z");
    rig.now_us = rig.x->wake_at_us;
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_remind__times_that_were_missed_are_not_made_up_for(void **state)
{
    (void)state;
    start("2026-01-01T00:00:00Z", NULL,
          "{'type': 'wait.signal', 'signalType': 'x', 'timeout': '8d', 'onTimeout': 'continue',"
          "  'reminder': {'at': ['1d', '3d', '6d'],"
          "    'procedure': {'type': 'compute.transform', 'data': '$.reminder.index'}}}");
    rig.now_us += 4 * DAY;
    assert_true(rig_wake(&rig));
    assert_string_equal(rig_trace(&rig), "!w");
    assert_string_equal(time_of(rig.x->wake_at_us), "2026-01-07T00:00:00Z");
}

static void test_remind__business_days_and_expressions_come_in_order_of_time(void **state)
{
    (void)state;
    start("2026-01-02T10:00:00Z", "{'holidays':['2026-01-05']}",
          "{'type': 'wait.signal', 'signalType': 'x', 'timeout': '8d', 'onTimeout': 'continue',"
          "  'reminder': {'at': ['1bd', '2d', '{{ 1 }}h'],"
          "    'procedure': {'type': 'compute.transform', 'data': '$.reminder.index'}}}");
    assert_string_equal(time_of(rig.x->wake_at_us), "2026-01-02T11:00:00Z");
    rig.now_us = rig.x->wake_at_us;
    assert_true(rig_wake(&rig));
    assert_string_equal(time_of(rig.x->wake_at_us), "2026-01-04T10:00:00Z");
    rig.now_us = rig.x->wake_at_us;
    assert_true(rig_wake(&rig));
    assert_string_equal(time_of(rig.x->wake_at_us), "2026-01-06T10:00:00Z");
}

static void test_remind__a_signal_ends_them(void **state)
{
    (void)state;
    start("2026-01-01T00:00:00Z", NULL,
          "{'type': 'wait.signal', 'signalType': 'x', 'timeout': '8d', 'onTimeout': 'continue',"
          "  'reminder': {'at': ['1d', '3d'],"
          "    'procedure': {'type': 'compute.transform', 'data': '$.reminder.index'}}}");
    assert_true(rig_signal(&rig, "s1", "x", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.x->wake_at_us, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_business_days__a_timer_counts_days_that_are_worked),
        CLAIM(test_business_days__are_counted_when_the_wait_begins),
        CLAIM(test_business_days__a_bad_calendar_holds_the_execution_and_says_why),
        CLAIM(test_remind__at_each_of_its_times_and_then_no_more),
        CLAIM(test_remind__times_that_were_missed_are_not_made_up_for),
        CLAIM(test_remind__business_days_and_expressions_come_in_order_of_time),
        CLAIM(test_remind__a_signal_ends_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
