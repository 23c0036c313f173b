/* test_lib_time.c - times and durations of the library, called without the machine around them. */
#include "cel/lib/moment.h"
#include "cel/time_call.h"

/* --- conversions --- */

static void test_timestamp__takes_text_seconds_and_itself(void **state)
{
    (void)state;
    ev.mode = CEL_STRICT;
    CHECK("2009-02-13T23:31:30Z", CALL(timestamp, s("2009-02-13T23:31:30Z")));
    CHECK("2001-09-09T01:46:40Z", CALL(timestamp, value_int(1000000000)));
    CHECK("2001-09-09T01:46:40Z", CALL(timestamp, value_timestamp(1000000000, 0)));
    CHECK_ERROR("RFC 3339", CALL(timestamp, s("2026-01-31")));
    CHECK_ERROR("range", CALL(timestamp, s("0000-01-01T00:00:00Z")));
    CHECK_ERROR("range", CALL(timestamp, s("10000-01-01T00:00:00Z")));
    CHECK_ERROR("range", CALL(timestamp, value_int(INT64_MAX)));
    CHECK_ERROR("range", CALL(timestamp, value_int(TIMESTAMP_SECONDS_MIN - 1)));
    CHECK_ERROR("no such overload: timestamp(double)", CALL(timestamp, value_double(1)));
    CHECK_ERROR("no such overload", CALL(timestamp, value_int(1), value_int(1)));
}

static void test_timestamp__takes_dates_in_definitions(void **state)
{
    (void)state;
    CHECK("2026-01-31T00:00:00Z", CALL(timestamp, s("2026-01-31")));
    CHECK_ERROR("\"2026-02-30\"", CALL(timestamp, s("2026-02-30")));
}

static void test_timestamp__messages_do_not_cut_code_points(void **state)
{
    (void)state;
    /* The cut at 40 bytes falls into the euro sign. */
    CHECK_ERROR("\"12345678901234567890123456789012345678x\" is",
                CALL(timestamp, s("12345678901234567890123456789012345678x\xe2\x82\xac!")));
}

static void test_duration__takes_the_grammar_of_its_mode(void **state)
{
    (void)state;
    CHECK("7d", CALL(duration, s("7d")));
    CHECK("1h30m", CALL(duration, s("1.5h")));
    CHECK("7d", CALL(duration, dur("7d")));
    ev.mode = CEL_STRICT;
    CHECK_ERROR("units (h,", CALL(duration, s("7d")));
    CHECK("1h30m", CALL(duration, s("1.5h")));
    CHECK_ERROR("range", CALL(duration, s("320000000000s")));
    CHECK_ERROR("range", CALL(duration, s("-320000000000s")));
    CHECK_ERROR("no such overload: duration(int)", CALL(duration, value_int(1)));
}

/* --- parts --- */

static void test_parts__of_a_timestamp_in_utc(void **state)
{
    struct value t = ts("2009-02-13T23:31:20.123456789Z");

    (void)state;
    CHECK("2009", CALL(get_full_year, t));
    CHECK("1", CALL(get_month, t));
    CHECK("13", CALL(get_date, t));
    CHECK("12", CALL(get_day_of_month, t));
    CHECK("5", CALL(get_day_of_week, t));
    CHECK("43", CALL(get_day_of_year, t));
    CHECK("23", CALL(get_hours, t));
    CHECK("31", CALL(get_minutes, t));
    CHECK("20", CALL(get_seconds, t));
    CHECK("123", CALL(get_milliseconds, t));
}

static void test_parts__of_a_timestamp_in_a_zone(void **state)
{
    struct value t = ts("2009-02-13T23:31:30Z");
    struct value early = ts("2009-02-13T02:00:00Z");

    (void)state;
    CHECK("14", CALL(get_date, t, s("Australia/Sydney")));
    CHECK("12", CALL(get_day_of_month, t, s("US/Central")));
    CHECK("13", CALL(get_day_of_month, t, s("+11:00")));
    CHECK("11", CALL(get_day_of_month, early, s("-02:30")));
    CHECK("11", CALL(get_day_of_month, early, s("America/St_Johns")));
    CHECK("5", CALL(get_day_of_week, t, s("UTC")));
    CHECK("43", CALL(get_day_of_year, t, s("US/Central")));
    CHECK("2009", CALL(get_full_year, t, s("-09:30")));
    CHECK("1", CALL(get_hours, t, s("02:00")));
    CHECK("16", CALL(get_minutes, t, s("Asia/Kathmandu")));
    CHECK("1", CALL(get_month, t, s("UTC")));
    CHECK("30", CALL(get_seconds, t, s("-00:00")));
    CHECK("0", CALL(get_full_year, ts("0001-01-01T00:00:00Z"), s("-01:00")));
    CHECK("10000", CALL(get_full_year, ts("9999-12-31T23:59:59Z"), s("+01:00")));
    CHECK_ERROR("no time zone \"Mars/Base\"", CALL(get_hours, t, s("Mars/Base")));
    CHECK_ERROR("no such overload", CALL(get_hours, t, value_int(1)));
    CHECK_ERROR("no such overload", CALL(get_hours, s("12:00")));
}

static void test_parts__of_a_duration(void **state)
{
    (void)state;
    CHECK("2", CALL(get_hours, dur("10000s")));
    CHECK("62", CALL(get_minutes, dur("3730s")));
    CHECK("3730", CALL(get_seconds, dur("3730s")));
    CHECK("321", CALL(get_milliseconds, dur("123.321456789s")));
    CHECK("-321", CALL(get_milliseconds, dur("-123.321456789s")));
    CHECK("-1", CALL(get_seconds, dur("-1.5s")));
    CHECK("0", CALL(get_seconds, dur("-0.5s")));
    CHECK("-1", CALL(get_hours, dur("-119m")));
    CHECK_ERROR("no such overload", CALL(get_hours, dur("1h"), s("UTC")));
    CHECK_ERROR("no such overload", CALL(get_full_year, dur("1h")));
}

static void test_parts__unknown_zones_use_up_the_budget(void **state)
{
    (void)state;
    ev.cost_left = 300;
    CHECK_ERROR("no time zone", CALL(get_hours, ts("2026-01-01"), s("No/Such")));
    check_error(CALL(get_hours, ts("2026-01-01"), s("No/Such")), ERR_LIMIT_EXPRESSION_COST, "");
}

/* --- moments --- */

static void test_moment__arithmetic_carries_and_stays_in_range(void **state)
{
    struct value v = value_null();

    (void)state;
    assert_true(moment_add(ts("0001-01-01T00:00:01.000000001Z"), dur("-999999999ns"), &v));
    CHECK("0001-01-01T00:00:00.000000002Z", v);
    assert_true(moment_add(ts("0001-01-01T00:00:01.999999999Z"), dur("999999999ns"), &v));
    CHECK("0001-01-01T00:00:02.999999998Z", v);
    assert_true(moment_sub(ts("2009-02-13T23:10:00Z"), dur("600.5s"), &v));
    CHECK("2009-02-13T22:59:59.500Z", v);
    assert_true(moment_sub(ts("2009-02-13T23:29:00.5Z"), ts("2009-02-13T23:31:00Z"), &v));
    CHECK("-1m59s500ms", v);
    assert_true(moment_add(dur("600s"), dur("-0.5s"), &v));
    CHECK("9m59s500ms", v);
    assert_true(moment_sub(dur("-0.5s"), dur("1.7s"), &v));
    CHECK("-2s200ms", v);
    assert_true(moment_sub(value_duration(0, 0), dur("-1h1ns"), &v));
    CHECK("1h1ns", v);
    assert_true(moment_sub(value_duration(0, 0), dur("3652500d"), &v));
    CHECK("-3652500d", v);

    v = value_null();
    assert_false(moment_add(ts("0001-01-01T00:00:00Z"), dur("-1ns"), &v));
    assert_false(moment_add(ts("9999-12-31T23:59:59.999999999Z"), dur("1ns"), &v));
    assert_false(moment_sub(ts("0001-01-01T00:00:00Z"), dur("1s"), &v));
    /* All of time is a duration; strict CEL has some 292 years. */
    assert_true(moment_sub(ts("9999-12-31T23:59:59Z"), ts("0001-01-01T00:00:00Z"), &v));
    assert_false(moment_is_strict(v));
    assert_true(moment_sub(ts("2200-01-01"), ts("1970-01-01"), &v));
    assert_true(moment_is_strict(v));
    v = value_null();
    assert_false(moment_add(dur("200000000000s"), dur("200000000000s"), &v));
    assert_false(moment_add(dur("3652500d"), dur("1ns"), &v));
    assert_false(moment_sub(dur("-3652500d"), dur("1ns"), &v));
    assert_false(moment_add(ts("2026-01-01"), value_duration(INT64_MAX, 999999999), &v));
    assert_false(moment_sub(value_duration(0, 0), value_duration(INT64_MIN, 0), &v));
    assert_int_equal(v.kind, VALUE_NULL);
}

/* --- the evaluation around them --- */

static void test_eval__strings_are_copied_within_the_budget(void **state)
{
    char text[] = "hello";
    struct value v = cel_string_copy(&ev, STR("hello"));

    (void)state;
    assert_true(str_eq(value_text(v), STR("hello")) && v.text != text);
    assert_int_equal(cel_string_copy(&ev, STR_NONE).len, 0);
    ev.mem_left = 4;
    check_error(cel_string_copy(&ev, STR("hello")), ERR_LIMIT_EXPRESSION_MEMORY, "memory");
}

static void test_eval__missing_overloads_are_named(void **state)
{
    struct value args[20];

    (void)state;
    for (size_t i = 0; i < COUNT(args); i++)
        args[i] = value_int(1);
    CHECK("error: no such overload: f()", cel_no_overload(&ev, args, 0));
    CHECK("error: no such overload: f(int, int)", cel_no_overload(&ev, args, 2));
    CHECK_ERROR("int, ...)", cel_no_overload(&ev, args, 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_timestamp__takes_text_seconds_and_itself),
        TEST(test_timestamp__takes_dates_in_definitions),
        TEST(test_timestamp__messages_do_not_cut_code_points),
        TEST(test_duration__takes_the_grammar_of_its_mode),
        TEST(test_parts__of_a_timestamp_in_utc),
        TEST(test_parts__of_a_timestamp_in_a_zone),
        TEST(test_parts__of_a_duration),
        TEST(test_parts__unknown_zones_use_up_the_budget),
        TEST(test_moment__arithmetic_carries_and_stays_in_range),
        TEST(test_eval__strings_are_copied_within_the_budget),
        TEST(test_eval__missing_overloads_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
