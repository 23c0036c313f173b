/* test_civil.c - the calendar, checked against itself and against libc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attr.h"
#include "base/time/civil.h"

#include <time.h>

static void test_civil__known_days_have_their_numbers(void **state)
{
    static const struct {
        int year, month, day;
        int64_t number;
        int weekday;
    } cases[] = {
        {1970, 1, 1, 0, 4},      {1969, 12, 31, -1, 3},  {2000, 2, 29, 11016, 2},
        {2000, 3, 1, 11017, 3},  {1, 1, 1, -719162, 1},  {9999, 12, 31, 2932896, 5},
        {1900, 3, 1, -25508, 4}, {2100, 3, 1, 47541, 1}, {0, 3, 1, -719468, 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int64_t n = civil_days(cases[i].year, cases[i].month, cases[i].day);
        assert_int_equal(n, cases[i].number);
        assert_int_equal(civil_weekday(n), cases[i].weekday);
    }
}

/* Every day of years -2 to 10002 follows the one before it. */
static void test_civil__days_follow_each_other(void **state)
{
    int year = -2, month = 1, day = 1, year_day = 0;
    int64_t number = civil_days(year, month, day);

    (void)state;
    while (year <= 10002) {
        struct civil c = civil_from_days(number);
        if (c.year != year || c.month != month || c.day != day ||
            civil_days(year, month, day) != number || civil_year_day(&c) != year_day)
            fail_msg("day %lld is %d-%d-%d, not %d-%d-%d", (long long)number, c.year, c.month,
                     c.day, year, month, day);
        number++;
        year_day++;
        if (++day > civil_month_days(year, month)) {
            day = 1;
            if (++month > 12) {
                assert_int_equal(year_day, civil_is_leap_year(year) ? 366 : 365);
                month = 1;
                year++;
                year_day = 0;
            }
        }
    }
}

static void test_civil__agrees_with_libc(void **state)
{
    (void)state;
    for (int64_t t = -62135596800; t <= 253402300799; t += 86400 * 37 + 12345) {
        struct civil c = civil_from_seconds(t);
        time_t when = (time_t)t;
        struct tm tm;

        assert_non_null(gmtime_r(&when, &tm));
        assert_int_equal(c.year, tm.tm_year + 1900);
        assert_int_equal(c.month, tm.tm_mon + 1);
        assert_int_equal(c.day, tm.tm_mday);
        assert_int_equal(c.hour, tm.tm_hour);
        assert_int_equal(c.minute, tm.tm_min);
        assert_int_equal(c.second, tm.tm_sec);
        assert_int_equal(civil_year_day(&c), tm.tm_yday);
        assert_int_equal(civil_weekday(civil_floor_div(t, CIVIL_DAY_SECONDS)), tm.tm_wday);
        assert_int_equal(civil_seconds(&c), t);
    }
}

static void test_civil__a_day_outside_its_month_counts_on(void **state)
{
    (void)state;
    assert_int_equal(civil_days(2024, 2, 30), civil_days(2024, 3, 1));
    assert_int_equal(civil_days(2024, 1, 0), civil_days(2023, 12, 31));
}

static void test_civil__division_rounds_down(void **state)
{
    (void)state;
    assert_int_equal(civil_floor_div(-1, 7), -1);
    assert_int_equal(civil_floor_mod(-1, 7), 6);
    assert_int_equal(civil_floor_div(-7, 7), -1);
    assert_int_equal(civil_floor_mod(-7, 7), 0);
    assert_int_equal(civil_floor_div(13, 7), 1);
    assert_int_equal(civil_floor_mod(13, 7), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_civil__known_days_have_their_numbers),
        cmocka_unit_test(test_civil__days_follow_each_other),
        cmocka_unit_test(test_civil__agrees_with_libc),
        cmocka_unit_test(test_civil__a_day_outside_its_month_counts_on),
        cmocka_unit_test(test_civil__division_rounds_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
