/* test_lib_date.c - dates and calendars of the library, called without the machine around them. */
#include "cel/lib/date.h"
#include "cel/time_call.h"

static void test_date_add__follows_the_calendar(void **state)
{
    static const struct {
        const char *from;
        int64_t n;
        const char *unit;
        const char *zone; /* NULL: left out */
        const char *result;
    } cases[] = {
        {"2026-01-31", 1, "month", NULL, "2026-02-28T00:00:00Z"},
        {"2024-01-31", 1, "month", NULL, "2024-02-29T00:00:00Z"},
        {"2026-03-31", -1, "month", NULL, "2026-02-28T00:00:00Z"},
        {"2026-01-15", -1, "month", NULL, "2025-12-15T00:00:00Z"},
        {"2026-01-15", -13, "month", NULL, "2024-12-15T00:00:00Z"},
        {"2026-11-30", 1, "quarter", NULL, "2027-02-28T00:00:00Z"},
        {"2024-02-29", 1, "year", NULL, "2025-02-28T00:00:00Z"},
        {"2024-02-29", 4, "year", NULL, "2028-02-29T00:00:00Z"},
        {"2026-12-31T23:59:59.5Z", 1, "second", NULL, "2027-01-01T00:00:00.500Z"},
        {"2026-12-31", 90, "minute", NULL, "2026-12-31T01:30:00Z"},
        {"2026-12-31", -1, "hour", NULL, "2026-12-30T23:00:00Z"},
        {"2026-12-31", 1, "day", NULL, "2027-01-01T00:00:00Z"},
        {"2026-12-31", -2, "week", NULL, "2026-12-17T00:00:00Z"},
        {"1969-12-31", -1, "day", NULL, "1969-12-30T00:00:00Z"},
        /* Noon stays noon over the change of clocks; 24 hours do not. */
        {"2026-03-28T11:00:00Z", 1, "day", "Europe/Berlin", "2026-03-29T10:00:00Z"},
        {"2026-03-28T11:00:00Z", 24, "hour", "Europe/Berlin", "2026-03-29T11:00:00Z"},
        {"2026-10-01T10:00:00Z", 1, "month", "Europe/Berlin", "2026-11-01T11:00:00Z"},
        {"2026-03-28T01:30:00Z", 1, "day", "Europe/Berlin", "2026-03-29T01:30:00Z"},
        /* The day of month is the one on the wall. */
        {"2026-01-31T23:30:00Z", 1, "month", "Europe/Berlin", "2026-02-28T23:30:00Z"},
        {"2026-01-31T23:30:00Z", 1, "month", "UTC", "2026-02-28T23:30:00Z"},
        {"2026-01-30T23:30:00Z", 1, "month", "+02:00", "2026-02-27T23:30:00Z"},
        /* The second 02:30 of the night stays the second. */
        {"2026-10-25T01:30:00Z", 0, "day", "Europe/Berlin", "2026-10-25T01:30:00Z"},
        {"2026-10-24T00:30:00Z", 1, "day", "Europe/Berlin", "2026-10-25T00:30:00Z"},
        {"9999-12-31", 0, "year", NULL, "9999-12-31T00:00:00Z"},
        {"0001-01-01", 9998, "year", NULL, "9999-01-01T00:00:00Z"},
        {"0001-01-01", 315537897599, "second", NULL, "9999-12-31T23:59:59Z"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct value n = value_int(cases[i].n), v;
        if (cases[i].zone == NULL)
            v = CALL(date_add, ts(cases[i].from), n, s(cases[i].unit));
        else
            v = CALL(date_add, ts(cases[i].from), n, s(cases[i].unit), s(cases[i].zone));
        if (strcmp(show(v), cases[i].result) != 0)
            fail_msg("%s + %lld %s: %s, not %s", cases[i].from, (long long)cases[i].n,
                     cases[i].unit, show(v), cases[i].result);
    }
}

/* 2026-01-02 is a Friday. */
static void test_date_add__business_days_skip_the_weekend(void **state)
{
    (void)state;
    for (int start = 1; start <= 14; start++)
        for (int n = -30; n <= 30; n++) {
            int64_t slow = (int64_t)start * 86400;
            struct value v;

            for (int left = n; left != 0;) {
                int weekday;
                slow += left > 0 ? 86400 : -86400;
                weekday = (int)((slow / 86400 + 4 + 700) % 7);
                if (weekday != 0 && weekday != 6)
                    left -= left > 0 ? 1 : -1;
            }
            v = CALL(date_add, value_timestamp((int64_t)start * 86400 + 3600, 5), value_int(n),
                     s("business_day"));
            assert_int_equal(v.seconds, slow + 3600);
            assert_int_equal(v.nanos, 5);
        }
    CHECK("2026-01-05T00:00:00Z", CALL(date_add, s("2026-01-02"), value_int(1), s("business_day")));
    CHECK("2026-01-02T00:00:00Z",
          CALL(date_add, s("2026-01-04"), value_int(-1), s("business_day")));
    CHECK("2026-01-04T00:00:00Z", CALL(date_add, s("2026-01-04"), value_int(0), s("business_day")));
    /* Friday evening in UTC is Saturday in Tokyo. */
    CHECK("2026-01-04T20:00:00Z", CALL(date_add, s("2026-01-02T20:00:00Z"), value_int(1),
                                       s("business_day"), s("Asia/Tokyo")));
}

static void test_date_add__results_out_of_range_are_errors(void **state)
{
    static const char *const units[] = {"second", "minute", "hour",    "day", "business_day",
                                        "week",   "month",  "quarter", "year"};
    static const int64_t counts[] = {INT64_MAX, INT64_MIN, INT64_MAX / 2, 400000000000,
                                     -400000000000};

    (void)state;
    for (size_t i = 0; i < COUNT(units); i++)
        for (size_t j = 0; j < COUNT(counts); j++)
            CHECK_ERROR("out of the range", CALL(date_add, s("2026-01-31"), value_int(counts[j]),
                                                 s(units[i]), s("Europe/Berlin")));
    CHECK_ERROR("range", CALL(date_add, s("9999-12-31"), value_int(1), s("day")));
    CHECK_ERROR("range", CALL(date_add, s("0001-01-01"), value_int(-1), s("month")));
}

static void test_date_add__bad_arguments_are_errors(void **state)
{
    (void)state;
    CHECK_ERROR("\"days\" is not a unit", CALL(date_add, s("2026-01-01"), value_int(1), s("days")));
    CHECK_ERROR("business_day", CALL(date_add, s("2026-01-01"), value_int(1), s("")));
    CHECK_ERROR("RFC 3339", CALL(date_add, s("tomorrow"), value_int(1), s("day")));
    CHECK_ERROR("no time zone", CALL(date_add, s("2026-01-01"), value_int(1), s("day"), s("X")));
    CHECK_ERROR("no such overload", CALL(date_add, value_int(1), value_int(1), s("day")));
    CHECK_ERROR("no such overload", CALL(date_add, s("2026-01-01"), s("1"), s("day")));
    CHECK_ERROR("no such overload", CALL(date_add, s("2026-01-01"), value_int(1)));
    CHECK_ERROR("no such overload",
                CALL(date_add, s("2026-01-01"), value_int(1), s("day"), value_null()));
}

static void test_date_start_of__is_the_first_instant_on_the_wall(void **state)
{
    static const struct {
        const char *from;
        const char *unit;
        const char *zone;
        const char *result;
    } cases[] = {
        {"2026-08-20T13:14:15.678Z", "year", "UTC", "2026-01-01T00:00:00Z"},
        {"2026-08-20T13:14:15.678Z", "quarter", "UTC", "2026-07-01T00:00:00Z"},
        {"2026-08-20T13:14:15.678Z", "month", "UTC", "2026-08-01T00:00:00Z"},
        {"2026-08-20T13:14:15.678Z", "week", "UTC", "2026-08-17T00:00:00Z"},
        {"2026-08-20T13:14:15.678Z", "day", "UTC", "2026-08-20T00:00:00Z"},
        {"2026-08-20T13:14:15.678Z", "hour", "UTC", "2026-08-20T13:00:00Z"},
        {"2026-08-20T13:14:15.678Z", "minute", "UTC", "2026-08-20T13:14:00Z"},
        {"2026-08-20T13:14:15.678Z", "second", "UTC", "2026-08-20T13:14:15Z"},
        {"2026-08-23T23:59:59Z", "week", "UTC", "2026-08-17T00:00:00Z"},
        {"2026-08-24T00:00:00Z", "week", "UTC", "2026-08-24T00:00:00Z"},
        {"1969-12-31T23:59:59.5Z", "hour", "UTC", "1969-12-31T23:00:00Z"},
        {"2026-08-20T22:30:00Z", "day", "Europe/Berlin", "2026-08-20T22:00:00Z"},
        {"2026-12-31T23:30:00Z", "year", "Europe/Berlin", "2026-12-31T23:00:00Z"},
        {"2026-08-20T13:14:15Z", "year", "Europe/Berlin", "2025-12-31T23:00:00Z"},
        {"2026-08-20T13:14:15Z", "hour", "Asia/Kathmandu", "2026-08-20T12:15:00Z"},
        /* A day that starts at 01:00, since the clock was put forward at midnight. */
        {"2018-11-04T12:00:00Z", "day", "America/Sao_Paulo", "2018-11-04T03:00:00Z"},
        /* A day that has its first hour twice, from the second one of them. */
        {"2026-11-01T05:30:00Z", "day", "America/Havana", "2026-11-01T04:00:00Z"},
        {"2026-11-01T05:30:00Z", "hour", "America/Havana", "2026-11-01T05:00:00Z"},
        {"2026-11-01T04:30:00Z", "hour", "America/Havana", "2026-11-01T04:00:00Z"},
        /* Half an hour: 02:30 follows 02:00 at once; 01:30 comes again after 02:00. */
        {"2026-10-03T15:45:00Z", "hour", "Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
        {"2026-04-04T15:10:00Z", "hour", "Australia/Lord_Howe", "2026-04-04T14:00:00Z"},
        {"0001-01-01T00:00:00Z", "week", "UTC", "0001-01-01T00:00:00Z"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct value v = CALL(date_start_of, ts(cases[i].from), s(cases[i].unit), s(cases[i].zone));
        if (strcmp(show(v), cases[i].result) != 0)
            fail_msg("%s of %s in %s: %s, not %s", cases[i].unit, cases[i].from, cases[i].zone,
                     show(v), cases[i].result);
    }
    CHECK("2026-08-01T00:00:00Z", CALL(date_start_of, s("2026-08-20"), s("month")));
    CHECK_ERROR("use day", CALL(date_start_of, s("2026-08-20"), s("business_day")));
    CHECK_ERROR("is not a unit", CALL(date_start_of, s("2026-08-20"), s("decade")));
    CHECK_ERROR("range", CALL(date_start_of, s("0001-01-01"), s("day"), s("-01:00")));
    CHECK_ERROR("no such overload", CALL(date_start_of, s("2026-08-20"), value_int(1)));
}

static void test_date_diff__counts_whole_units(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        const char *unit;
        const char *zone;
        int64_t result;
    } cases[] = {
        {"2026-01-01", "2026-01-01", "day", "UTC", 0},
        {"2026-01-31", "2026-02-28", "month", "UTC", 1},
        {"2026-01-31", "2026-02-27", "month", "UTC", 0},
        {"2026-02-28", "2026-01-31", "month", "UTC", 0},
        {"2026-02-28", "2026-01-28", "month", "UTC", -1},
        {"2024-02-29", "2025-02-28", "year", "UTC", 1},
        {"2000-06-15", "2026-06-14", "year", "UTC", 25},
        {"2000-06-15", "2026-06-15", "year", "UTC", 26},
        {"2026-06-15", "2000-06-16", "year", "UTC", -25},
        {"2026-01-01", "2026-09-30", "quarter", "UTC", 2},
        {"2026-01-01", "2026-01-14", "week", "UTC", 1},
        {"2026-01-01T12:00:00Z", "2026-01-03T11:59:59.9Z", "day", "UTC", 1},
        {"2026-01-03T11:59:59.9Z", "2026-01-01T12:00:00Z", "day", "UTC", -1},
        {"2026-01-01T00:00:00.5Z", "2026-01-01T00:00:02Z", "second", "UTC", 1},
        {"2026-01-01T00:00:02Z", "2026-01-01T00:00:00.5Z", "second", "UTC", -1},
        {"2026-01-01", "2026-01-02", "minute", "UTC", 1440},
        {"0001-01-01", "9999-12-31", "day", "UTC", 3652058},
        {"0001-01-01", "9999-12-31", "hour", "UTC", 3652058 * 24},
        /* A day of 23 hours is a day. */
        {"2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "day", "Europe/Berlin", 1},
        {"2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "day", "UTC", 0},
        /* Friday to Monday. */
        {"2026-01-02", "2026-01-05", "business_day", "UTC", 1},
        {"2026-01-02T12:00:00Z", "2026-01-05T11:00:00Z", "business_day", "UTC", 0},
        {"2026-01-02", "2026-01-04", "business_day", "UTC", 0},
        {"2026-01-03", "2026-01-05", "business_day", "UTC", 1},
        {"2026-01-05", "2026-01-03", "business_day", "UTC", 0},
        {"2026-01-05", "2026-01-02", "business_day", "UTC", -1},
        {"2026-01-01", "2027-01-01", "business_day", "UTC", 261},
        /* The clock goes from 00:59:59 back to 00:00:00 of the same day. */
        {"2026-11-01T04:59:00Z", "2026-11-01T05:00:00Z", "day", "America/Havana", 0},
        /* It went back over midnight: from 00:01 to 23:01 of the day before. */
        {"2006-10-29T02:30:30Z", "2006-10-29T02:31:30Z", "day", "America/St_Johns", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct value v =
            CALL(date_diff, s(cases[i].a), s(cases[i].b), s(cases[i].unit), s(cases[i].zone));
        if (v.kind != VALUE_INT || v.i != cases[i].result)
            fail_msg("%s from %s to %s: %s, not %lld", cases[i].unit, cases[i].a, cases[i].b,
                     show(v), (long long)cases[i].result);
    }
    CHECK("31", CALL(date_diff, ts("2026-01-01"), ts("2026-02-01"), s("day")));
    CHECK_ERROR("no such overload", CALL(date_diff, ts("2026-01-01"), value_int(1), s("day")));
    CHECK_ERROR("RFC 3339", CALL(date_diff, ts("2026-01-01"), s("soon"), s("day")));
}

/* diff says how often add may be done: no more, no less. */
static void test_date_diff__agrees_with_add(void **state)
{
    struct tz tz;
    uint64_t r = 88172645463325252u;

    (void)state;
    assert_true(tz_find(STR("America/New_York"), &tz));
    for (int i = 0; i < 20000; i++) {
        struct value a, b, there;
        enum date_unit unit = (enum date_unit)(i % DATE_UNIT_COUNT);
        int64_t n;
        int direction;

        r ^= r << 13, r ^= r >> 7, r ^= r << 17;
        a = value_timestamp((int64_t)(r % 4000000000u), (uint32_t)(r >> 40) % 3);
        b = value_timestamp(a.seconds + (int64_t)(r >> 20) % 80000000 - 40000000,
                            (uint32_t)(r >> 50) % 3);
        direction = value_compare(b, a);
        n = date_diff(a, b, unit, tz);
        assert_true(date_add(a, n, unit, tz, &there));
        assert_true(n == 0 || value_compare(there, b) != direction);
        assert_true(date_add(a, n + direction, unit, tz, &there));
        assert_true(direction == 0 || value_compare(there, b) == direction);
    }
}

static void test_date_format__writes_tokens(void **state)
{
    static const struct {
        const char *pattern;
        const char *zone;
        const char *result;
    } cases[] = {
        {"yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "UTC", "2026-02-05T04:06:07.089Z"},
        {"yyyy-MM-dd'T'HH:mm:ssXXX", "Europe/Berlin", "2026-02-05T05:06:07+01:00"},
        {"yyyy-MM-dd'T'HH:mm:ssXXX", "America/St_Johns", "2026-02-05T00:36:07-03:30"},
        {"EEE, d MMM yyyy", "UTC", "Thu, 5 Feb 2026"},
        {"EEEE d MMMM", "UTC", "Thursday 5 February"},
        {"M/d H:mm", "UTC", "2/5 4:06"},
        {"yyyyMMdd", "UTC", "20260205"},
        {"'at' HH 'o''clock'", "UTC", "at 04 o'clock"},
        {"''yyyy''", "UTC", "'2026'"},
        {"", "UTC", ""},
        {"dd.MM.yyyy \xe2\x82\xac 100%", "UTC", "05.02.2026 \xe2\x82\xac 100%"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        CHECK(cases[i].result, CALL(date_format, ts("2026-02-05T04:06:07.089Z"),
                                    s(cases[i].pattern), s(cases[i].zone)));
    CHECK("2026", CALL(date_format, s("2026-02-05"), s("yyyy")));
    CHECK("0001", CALL(date_format, s("0001-02-05"), s("yyyy")));
    CHECK("10000", CALL(date_format, s("9999-12-31T23:00:00Z"), s("yyyy"), s("+01:00")));
    CHECK("WednesdaySeptember", CALL(date_format, s("2026-09-30"), s("EEEEMMMM")));
}

static void test_date_format__unknown_letters_are_errors(void **state)
{
    static const char *const bad[] = {"YYYY",  "yy", "DD", "hh", "a",    "yyyyy",
                                      "MMMMM", "SS", "X",  "T",  "dd'T", "'"};

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK_ERROR(strchr(bad[i], '\'') == NULL ? "there are yyyy" : "not closed",
                    CALL(date_format, s("2026-02-05"), s(bad[i])));
    CHECK_ERROR("no such overload", CALL(date_format, s("2026-02-05")));
    CHECK_ERROR("no such overload", CALL(date_format, dur("1h"), s("yyyy")));
}

static void test_date_format__is_bounded(void **state)
{
    static char pattern[10000];

    (void)state;
    memset(pattern, 'd', sizeof(pattern));
    for (size_t i = 1; i < sizeof(pattern); i += 2)
        pattern[i] = '-';
    pattern[sizeof(pattern) - 1] = 0;
    ev.mem_left = 20000;
    check_error(CALL(date_format, ts("2026-02-15"), s(pattern)), ERR_LIMIT_EXPRESSION_MEMORY, "");
    ev.mem_left = 1 << 20;
    ev.cost_left = 1000;
    check_error(CALL(date_format, ts("2026-02-15"), s(pattern)), ERR_LIMIT_EXPRESSION_COST, "");
    ev.cost_left = 1 << 20;
    assert_int_equal(CALL(date_format, ts("2026-02-15"), s(pattern)).len, 14999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_date_add__follows_the_calendar),
        TEST(test_date_add__business_days_skip_the_weekend),
        TEST(test_date_add__results_out_of_range_are_errors),
        TEST(test_date_add__bad_arguments_are_errors),
        TEST(test_date_start_of__is_the_first_instant_on_the_wall),
        TEST(test_date_diff__counts_whole_units),
        TEST(test_date_diff__agrees_with_add),
        TEST(test_date_format__writes_tokens),
        TEST(test_date_format__unknown_letters_are_errors),
        TEST(test_date_format__is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
