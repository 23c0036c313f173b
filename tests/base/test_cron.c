/* test_cron.c - when cron expressions tick, and what is wrong with others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time/civil.h"
#include "base/time/cron.h"

#include <stdio.h>
#include <stdlib.h>

enum { TICKS_MAX = 8 };

/* --- times as text --- */

static int64_t instant(const char *text)
{
    struct civil c = {0};

    if (sscanf(text, "%d-%d-%dT%d:%d:%dZ", &c.year, &c.month, &c.day, &c.hour, &c.minute,
               &c.second) != 6)
        fail_msg("no time: %s", text);
    return civil_seconds(&c);
}

static const char *instant_text(int64_t t)
{
    static char text[64];
    struct civil c = civil_from_seconds(t);

    snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02dZ", c.year, c.month, c.day, c.hour,
             c.minute, c.second);
    return text;
}

static struct tz zone(const char *name)
{
    struct tz tz;

    if (!tz_find(str_of(name), &tz))
        fail_msg("no zone %s: is tzdata installed?", name);
    return tz;
}

static struct cron cron_of(const char *text)
{
    struct err mistake;
    struct cron cron;

    if (!cron_read(str_of(text), &cron, &mistake))
        fail_msg("%s: column %u: %s", text, mistake.column, mistake.message);
    return cron;
}

/* An expression in a zone, and all its next ticks after a moment. */
struct ticks {
    const char *cron;
    const char *zone;
    const char *after;
    const char *expected[TICKS_MAX];
};

static void check_ticks(const struct ticks *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cron cron = cron_of(rows[i].cron);
        struct tz tz = zone(rows[i].zone);
        int64_t t = instant(rows[i].after);

        for (size_t k = 0; k < TICKS_MAX && rows[i].expected[k] != NULL; k++) {
            if (!cron_next(&cron, tz, t, &t))
                fail_msg("%s in %s never ticks again", rows[i].cron, rows[i].zone);
            if (t != instant(rows[i].expected[k]))
                fail_msg("%s in %s after %s, tick %zu: %s, not %s", rows[i].cron, rows[i].zone,
                         rows[i].after, k + 1, instant_text(t), rows[i].expected[k]);
        }
    }
}

/* --- fields --- */

static void test_cron__fields_say_when(void **state)
{
    static const struct ticks rows[] = {
        {"* * * * *",
         "UTC",
         "2026-01-01T00:00:30Z",
         {"2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"}},
        {"*/15 * * * *",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-01-01T00:15:00Z", "2026-01-01T00:30:00Z", "2026-01-01T00:45:00Z",
          "2026-01-01T01:00:00Z"}},
        {"*/20 * * * * *",
         "UTC",
         "2026-01-01T00:00:39Z",
         {"2026-01-01T00:00:40Z", "2026-01-01T00:01:00Z", "2026-01-01T00:01:20Z"}},
        {"5,10-12,50/5 9 * * *",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-01-01T09:05:00Z", "2026-01-01T09:10:00Z", "2026-01-01T09:11:00Z",
          "2026-01-01T09:12:00Z", "2026-01-01T09:50:00Z", "2026-01-01T09:55:00Z",
          "2026-01-02T09:05:00Z"}},
        {"0 9 * * MON-FRI",
         "UTC",
         "2026-01-01T10:00:00Z", /* a Thursday */
         {"2026-01-02T09:00:00Z", "2026-01-05T09:00:00Z"}},
        {"0 9 * * sat-sun",
         "UTC",
         "2026-01-01T10:00:00Z",
         {"2026-01-03T09:00:00Z", "2026-01-04T09:00:00Z", "2026-01-10T09:00:00Z"}},
        {"0 0 * * 7",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"}},
        {"0 0 * * 0",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"}},
        {"0 0 1 JAN,jul ?",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-07-01T00:00:00Z", "2027-01-01T00:00:00Z"}},
        {"59 59 23 31 12 *",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-12-31T23:59:59Z", "2027-12-31T23:59:59Z"}},
        /* both days limited: either */
        {"0 0 13 * FRI",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-01-02T00:00:00Z", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z",
          "2026-01-16T00:00:00Z"}},
        /* one begins with *: both */
        {"0 0 */2 * MON",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-01-05T00:00:00Z", "2026-01-19T00:00:00Z"}},
        {"0 18 L * *",
         "UTC",
         "2026-01-31T18:00:00Z",
         {"2026-02-28T18:00:00Z", "2026-03-31T18:00:00Z", "2026-04-30T18:00:00Z"}},
        {"0 18 15,L * *",
         "UTC",
         "2028-02-01T00:00:00Z",
         {"2028-02-15T18:00:00Z", "2028-02-29T18:00:00Z"}},
        {"0 18 * * FRIL",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-01-30T18:00:00Z", "2026-02-27T18:00:00Z"}},
        {"0 18 * * 2#2",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-01-13T18:00:00Z", "2026-02-10T18:00:00Z"}},
        {"0 18 * * MON#5",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2026-03-30T18:00:00Z", "2026-06-29T18:00:00Z"}},
    };

    (void)state;
    check_ticks(rows, ARRAY_SIZE(rows));
}

static void test_cron__leap_days_come_when_they_exist(void **state)
{
    static const struct ticks rows[] = {
        {"0 12 29 2 *",
         "UTC",
         "2026-01-01T00:00:00Z",
         {"2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z"}},
        {"0 12 29 2 *", "UTC", "2096-03-01T00:00:00Z", {"2104-02-29T12:00:00Z"}},
        /* a Monday: 28 years later, over 2100 even 40 */
        {"0 12 29 2 */7",
         "UTC",
         "2032-02-29T12:00:00Z",
         {"2060-02-29T12:00:00Z", "2088-02-29T12:00:00Z", "2128-02-29T12:00:00Z"}},
        {"0 12 31 * *",
         "UTC",
         "2026-01-31T12:00:00Z",
         {"2026-03-31T12:00:00Z", "2026-05-31T12:00:00Z", "2026-07-31T12:00:00Z",
          "2026-08-31T12:00:00Z"}},
    };

    (void)state;
    check_ticks(rows, ARRAY_SIZE(rows));
}

/* --- clocks that change --- */

static void test_cron__a_time_of_day_that_is_left_out_ticks_once_after_the_gap(void **state)
{
    static const struct ticks rows[] = {
        /* Berlin, 29 March 2026: 02:00 becomes 03:00 at 01:00 UTC. */
        {"30 2 * * *",
         "Europe/Berlin",
         "2026-03-27T12:00:00Z",
         {"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
        {"0,30 2 * * *",
         "Europe/Berlin",
         "2026-03-28T12:00:00Z",
         {"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"}},
        {"15 2,3 * * *",
         "Europe/Berlin",
         "2026-03-28T12:00:00Z",
         {"2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z", "2026-03-30T00:15:00Z"}},
        {"0 */2 * * *",
         "Europe/Berlin",
         "2026-03-28T23:00:00Z",
         {"2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z", "2026-03-29T04:00:00Z"}},
        {"0 9 * * *",
         "Europe/Berlin",
         "2026-03-27T12:00:00Z",
         {"2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z"}},
        /* New York, 8 March 2026: 02:00 becomes 03:00 at 07:00 UTC. */
        {"30 2 * * *",
         "America/New_York",
         "2026-03-06T12:00:00Z",
         {"2026-03-07T07:30:00Z", "2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"}},
        /* Lord Howe, 4 October 2026: 02:00 becomes 02:30 at 15:30 UTC of the 3rd. */
        {"15 2 * * *",
         "Australia/Lord_Howe",
         "2026-10-02T00:00:00Z",
         {"2026-10-02T15:45:00Z", "2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
        {"45 2 * * *",
         "Australia/Lord_Howe",
         "2026-10-03T00:00:00Z",
         {"2026-10-03T15:45:00Z", "2026-10-04T15:45:00Z"}},
        /* Apia had no 30 December 2011: it ticks when the 31st begins. */
        {"0 9 * * *",
         "Pacific/Apia",
         "2011-12-29T18:00:00Z",
         {"2011-12-29T19:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T19:00:00Z"}},
    };

    (void)state;
    check_ticks(rows, ARRAY_SIZE(rows));
}

static void test_cron__a_time_of_day_that_comes_twice_ticks_once(void **state)
{
    static const struct ticks rows[] = {
        /* Berlin, 25 October 2026: 03:00 becomes 02:00 at 01:00 UTC. */
        {"30 2 * * *",
         "Europe/Berlin",
         "2026-10-24T12:00:00Z",
         {"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
        {"0,30 2 * * *",
         "Europe/Berlin",
         "2026-10-24T12:00:00Z",
         {"2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:00:00Z"}},
        /* seen from within the second time */
        {"45 2 * * *", "Europe/Berlin", "2026-10-25T01:30:00Z", {"2026-10-26T01:45:00Z"}},
        {"*/30 1-3 * * *",
         "Europe/Berlin",
         "2026-10-25T00:00:00Z",
         {"2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z", "2026-10-25T02:30:00Z"}},
        /* New York, 1 November 2026: 02:00 becomes 01:00 at 06:00 UTC. */
        {"30 1 * * *",
         "America/New_York",
         "2026-10-31T12:00:00Z",
         {"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}},
        /* Lord Howe, 5 April 2026: 02:00 becomes 01:30 at 15:00 UTC of the 4th. */
        {"45 1 * * *",
         "Australia/Lord_Howe",
         "2026-04-04T00:00:00Z",
         {"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"}},
    };

    (void)state;
    check_ticks(rows, ARRAY_SIZE(rows));
}

static void test_cron__an_hourly_expression_ticks_every_real_hour(void **state)
{
    static const struct ticks rows[] = {
        {"30 * * * *",
         "Europe/Berlin",
         "2026-03-29T00:00:00Z",
         {"2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z"}},
        {"30 * * * *",
         "Europe/Berlin",
         "2026-10-24T23:45:00Z",
         {"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"}},
        {"0 0-23 * * *",
         "America/New_York",
         "2026-11-01T04:30:00Z",
         {"2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z", "2026-11-01T07:00:00Z"}},
        {"0 */1 * * *",
         "America/New_York",
         "2026-03-08T06:30:00Z",
         {"2026-03-08T07:00:00Z", "2026-03-08T08:00:00Z"}},
        /* whenever that clock shows a full hour: half an hour is missing here */
        {"0 * * * *",
         "Australia/Lord_Howe",
         "2026-10-03T14:00:00Z",
         {"2026-10-03T14:30:00Z", "2026-10-03T16:00:00Z", "2026-10-03T17:00:00Z"}},
        /* of one day only: 29 March has 23 hours */
        {"0 * 29 3 *",
         "Europe/Berlin",
         "2026-03-28T22:30:00Z",
         {"2026-03-28T23:00:00Z", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"}},
    };

    (void)state;
    check_ticks(rows, ARRAY_SIZE(rows));
}

/* Two years of a daily tick: one a day, whatever the zone does. */
static void test_cron__every_day_has_one_tick_of_a_daily_expression(void **state)
{
    static const char *const zones[] = {"Europe/Berlin",       "America/New_York",
                                        "Australia/Lord_Howe", "Africa/Casablanca",
                                        "America/Nuuk",        "Asia/Gaza"};
    static const char *const crons[] = {"0 0 * * *", "30 1 * * *", "30 2 * * *", "59 59 23 * * *"};

    (void)state;
    for (size_t z = 0; z < ARRAY_SIZE(zones); z++) {
        for (size_t i = 0; i < ARRAY_SIZE(crons); i++) {
            struct cron cron = cron_of(crons[i]);
            struct tz tz = zone(zones[z]);
            int64_t t = instant("2026-01-15T12:00:00Z");
            int64_t end = instant("2028-01-15T12:00:00Z");
            int count = 0;

            while (cron_next(&cron, tz, t, &t) && t <= end)
                count++;
            if (count != 730)
                fail_msg("%s in %s: %d ticks in 730 days", crons[i], zones[z], count);
        }
    }
}

/* What cron_next() says from any moment is the first of the ticks after it. */
static void test_cron__next_does_not_depend_on_where_one_stands(void **state)
{
    static const char *const crons[] = {"30 2 * * *", "*/10 * * * *", "*/7 1-4 * * *",
                                        "0 */3 * * *"};
    struct tz tz = zone("Europe/Berlin");

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(crons); i++) {
        struct cron cron = cron_of(crons[i]);
        int64_t t = instant("2026-10-24T20:00:00Z");
        int64_t tick;
        int64_t seen;

        assert_true(cron_next(&cron, tz, t, &tick));
        for (; t < instant("2026-10-25T08:00:00Z"); t += 60) {
            if (t >= tick)
                assert_true(cron_next(&cron, tz, tick, &tick));
            assert_true(cron_next(&cron, tz, t, &seen));
            assert_int_equal(seen, tick);
        }
    }
}

static void test_cron__last_is_the_last_tick_of_a_stretch(void **state)
{
    struct tz tz = zone("Europe/Berlin");
    struct cron daily = cron_of("0 9 * * *");
    struct cron january = cron_of("* * * * JAN *");
    int64_t last;

    (void)state;
    assert_true(cron_last(&daily, tz, instant("2026-03-20T00:00:00Z"),
                          instant("2026-03-30T06:59:59Z"), &last));
    assert_string_equal(instant_text(last), "2026-03-29T07:00:00Z");
    assert_true(cron_last(&daily, tz, instant("2026-03-20T00:00:00Z"),
                          instant("2026-03-30T07:00:00Z"), &last));
    assert_string_equal(instant_text(last), "2026-03-30T07:00:00Z");
    assert_true(cron_last(&january, tz, instant("2020-01-01T00:00:00Z"),
                          instant("2026-06-01T00:00:00Z"), &last));
    assert_string_equal(instant_text(last), "2026-01-31T22:59:59Z");
    assert_false(cron_last(&january, tz, instant("2026-02-01T00:00:00Z"),
                           instant("2026-06-01T00:00:00Z"), &last));
    assert_false(cron_last(&daily, tz, 100, 100, &last));
}

/* --- what is wrong --- */

static void test_cron__mistakes_are_named_with_their_column(void **state)
{
    static const struct {
        const char *cron;
        uint32_t column;
        const char *message;
        const char *hint;
    } rows[] = {
        {"", 1, "this has 0", "minute, hour"},
        {"* * * *", 1, "this has 4", "minute, hour"},
        {"0 0 12 * * ? 2026", 1, "this has 7", "no field for the year"},
        {"@daily", 1, "this has 1", "write 0 0 * * *"},
        {"60 * * * *", 1, "60 is no minute: these are 0 to 59", ""},
        {"0 24 * * *", 3, "24 is no hour", "midnight is hour 0"},
        {"0 0 0 * *", 5, "0 is no day of month", ""},
        {"0 0 * 13 *", 7, "13 is no month", ""},
        {"0 0 * * 8", 9, "8 is no day of week", ""},
        {"0 0 * * MONDAY", 9, "'MONDAY' is no day of week", "three letters: MON"},
        {"0 0 * JUNI *", 7, "'JUNI' is no month", "three letters: JUN"},
        {"0 0 * * MO", 9, "'MO' is no day of week", "SUN to SAT"},
        {"0 0 * * FRI-MON", 9, "the range FRI-MON ends before it begins", "two ranges"},
        {"0 17-9 * * *", 3, "the range 17-9 ends before it begins", "two ranges"},
        {"*/90 * * * *", 3, "the step of a minute is a number from 1 to 59", "within one hour"},
        {"*/0 * * * *", 3, "from 1 to 59", ""},
        {"*/ * * * *", 3, "from 1 to 59", ""},
        {"5, * * * *", 3, "a minute is missing beside the comma", ""},
        {"0 9 ,1 * *", 5, "a day of month is missing", ""},
        {"0 9 15W * *", 7, "'W' cannot stand here", "a list of values"},
        {"0 9 * * FRI#6", 13, "1 to 5", ""},
        {"? 9 * * *", 1, "'?' is no minute", ""},
        {"0 9 * \xD1\x8F *", 7, "is no month", ""},
        {"\xD1\x8F\xD1\x8F 24 * * *", 1, "is no minute", ""},
        {"0 0 30 2 *", 5, "the day 30 never comes", "L is the last day"},
        {"0 0 0 31 2,4,jun *", 7, "the day 31 never comes", "L is the last day"},
        {"99999999999999999999 * * * *", 1, "is no minute", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct sentence said;
        struct err mistake;
        struct cron cron;

        if (cron_read(str_of(rows[i].cron), &cron, &mistake))
            fail_msg("'%s' is taken", rows[i].cron);
        said = err_sentence(&mistake);
        if (mistake.column != rows[i].column ||
            str_find(sentence_plain(said).text, str_of(rows[i].message), 0) < 0 ||
            str_find(sentence_hint(said).text, str_of(rows[i].hint), 0) < 0)
            fail_msg("'%s': column %u: %s", rows[i].cron, mistake.column, mistake.message);
    }
}

/* Every day of February that exists, and the 30th of others, is taken. */
static void test_cron__days_that_come_are_taken(void **state)
{
    static const char *const rows[] = {"0 0 29 2 *",   "0 0 30 2,4 *", "0 0 31 1-12 *",
                                       "0 0 30 2 MON", "0 0 L 2 *",    "0 0 30,L 2 *"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        (void)cron_of(rows[i]);
}

/* Whatever stands there, reading ends, and an expression that is taken ticks. */
static void test_cron__any_text_is_read_or_refused(void **state)
{
    static const char letters[] = "0123456789*/-,L#? ?MONJAN  *  * \xC3";
    struct err mistake;
    struct cron cron;
    unsigned seed = 7;
    int taken = 0;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[24] = "";
        size_t len = (size_t)(rand_r(&seed) % 12);
        int64_t tick;

        for (size_t k = 0; k < len; k++)
            text[k] = letters[(size_t)rand_r(&seed) % (sizeof(letters) - 1)];
        if (i % 2 == 0)
            snprintf(text + len, sizeof(text) - len, " * * * *");
        if (!cron_read(str_of(text), &cron, &mistake)) {
            assert_true(mistake.column >= 1 && mistake.message[0] != '\0');
            continue;
        }
        taken++;
        assert_true(cron_next(&cron, zone("Europe/Berlin"), 1790000000, &tick));
        assert_true(tick > 1790000000);
    }
    assert_true(taken > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cron__fields_say_when),
        cmocka_unit_test(test_cron__leap_days_come_when_they_exist),
        cmocka_unit_test(test_cron__a_time_of_day_that_is_left_out_ticks_once_after_the_gap),
        cmocka_unit_test(test_cron__a_time_of_day_that_comes_twice_ticks_once),
        cmocka_unit_test(test_cron__an_hourly_expression_ticks_every_real_hour),
        cmocka_unit_test(test_cron__every_day_has_one_tick_of_a_daily_expression),
        cmocka_unit_test(test_cron__next_does_not_depend_on_where_one_stands),
        cmocka_unit_test(test_cron__last_is_the_last_tick_of_a_stretch),
        cmocka_unit_test(test_cron__mistakes_are_named_with_their_column),
        cmocka_unit_test(test_cron__days_that_come_are_taken),
        cmocka_unit_test(test_cron__any_text_is_read_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
