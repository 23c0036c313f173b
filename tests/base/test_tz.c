/* test_tz.c - time zones, checked against libc where it has an opinion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time/civil.h"
#include "base/time/tz.h"
#include "base/time/tz_rule.h"
#include "base/time/tzif.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static struct tz zone(const char *name)
{
    struct tz tz;

    if (!tz_find(str_of(name), &tz))
        fail_msg("no zone %s: is tzdata installed?", name);
    return tz;
}

static int64_t at(int year, int month, int day, int hour, int minute)
{
    struct civil c = {.year = year, .month = month, .day = day, .hour = hour, .minute = minute};

    return civil_seconds(&c);
}

static const char *const zone_names[] = {
    "Europe/Berlin",    "America/New_York",  "Asia/Kolkata",       "Australia/Lord_Howe",
    "Pacific/Apia",     "America/Sao_Paulo", "Europe/Dublin",      "Africa/Casablanca",
    "America/Havana",   "Asia/Kathmandu",    "Pacific/Kiritimati", "America/St_Johns",
    "Antarctica/Troll", "Asia/Gaza",         "America/Santiago",   "Australia/Sydney",
    "Pacific/Chatham",  "America/Nuuk",      "Asia/Tehran",        "Europe/Moscow",
    "Africa/Monrovia",  "Asia/Manila",       "America/Juneau",     "Etc/GMT+5",
    "Europe/Lisbon",    "US/Central",        "Asia/Pyongyang",     "EST5EDT",
};

static void test_tz__agrees_with_libc_from_1900_to_2100(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(zone_names); i++) {
        struct tz tz = zone(zone_names[i]);

        setenv("TZ", zone_names[i], 1);
        tzset();
        for (int64_t t = at(1900, 1, 1, 0, 0); t < at(2101, 1, 1, 0, 0); t += 86400 * 2 + 10007) {
            time_t when = (time_t)t;
            struct tm tm;

            localtime_r(&when, &tm);
            if (tz_offset(tz, t) != tm.tm_gmtoff)
                fail_msg("%s at %lld: %d, but libc says %ld", zone_names[i], (long long)t,
                         tz_offset(tz, t), tm.tm_gmtoff);
        }
    }
    unsetenv("TZ");
}

/* The last second of a period and the first of the next, where errors by one live. */
static void test_tz__periods_change_where_libc_changes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(zone_names); i++) {
        struct tz tz = zone(zone_names[i]);
        struct tz_period p = tz_period(tz, at(1900, 1, 1, 0, 0));

        setenv("TZ", zone_names[i], 1);
        tzset();
        while (p.to < at(2101, 1, 1, 0, 0)) {
            struct tz_period next = tz_period(tz, p.to);
            for (int64_t t = p.to - 1; t <= p.to; t++) {
                time_t when = (time_t)t;
                struct tm tm;
                localtime_r(&when, &tm);
                if (tz_offset(tz, t) != tm.tm_gmtoff)
                    fail_msg("%s at %lld: %d, but libc says %ld", zone_names[i], (long long)t,
                             tz_offset(tz, t), tm.tm_gmtoff);
            }
            assert_int_equal(next.from, p.to);
            assert_int_equal(tz_period(tz, p.to - 1).to, p.to);
            p = next;
        }
    }
    unsetenv("TZ");
}

static void test_tz__the_rule_goes_on_beyond_the_table(void **state)
{
    (void)state;
    struct tz berlin = zone("Europe/Berlin");
    struct tz sydney = zone("Australia/Sydney");

    assert_int_equal(tz_offset(berlin, at(2500, 7, 1, 0, 0)), 7200);
    assert_int_equal(tz_offset(berlin, at(2500, 12, 1, 0, 0)), 3600);
    assert_int_equal(tz_offset(berlin, at(9999, 7, 1, 0, 0)), 7200);
    assert_int_equal(tz_offset(sydney, at(2500, 7, 1, 0, 0)), 10 * 3600);
    assert_int_equal(tz_offset(sydney, at(2500, 1, 1, 0, 0)), 11 * 3600);
    /* The last Sunday of March 2500 is the 28th. */
    assert_int_equal(tz_offset(berlin, at(2500, 3, 28, 1, 0) - 1), 3600);
    assert_int_equal(tz_offset(berlin, at(2500, 3, 28, 1, 0)), 7200);
}

static void test_tz__local_time_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(zone_names); i++) {
        struct tz tz = zone(zone_names[i]);
        for (int64_t t = at(1900, 1, 1, 0, 0); t < at(2101, 1, 1, 0, 0); t += 86400 + 1237) {
            int64_t back = tz_to_utc(tz, t + tz_offset(tz, t));
            /* The same instant, or an earlier one with the same time on the wall. */
            if (back > t || back + tz_offset(tz, back) != t + tz_offset(tz, t))
                fail_msg("%s: %lld came back as %lld", zone_names[i], (long long)t,
                         (long long)back);
        }
    }
}

static void test_tz__gap_in_spring_moves_forward(void **state)
{
    (void)state;
    struct tz berlin = zone("Europe/Berlin");
    struct tz howe = zone("Australia/Lord_Howe");
    struct tz apia = zone("Pacific/Apia");
    struct tz sao_paulo = zone("America/Sao_Paulo");

    assert_int_equal(tz_to_utc(berlin, at(2026, 3, 29, 1, 59)), at(2026, 3, 29, 0, 59));
    assert_int_equal(tz_to_utc(berlin, at(2026, 3, 29, 2, 0)), at(2026, 3, 29, 1, 0));
    assert_int_equal(tz_to_utc(berlin, at(2026, 3, 29, 2, 30)), at(2026, 3, 29, 1, 30));
    assert_int_equal(tz_to_utc(berlin, at(2026, 3, 29, 3, 0)), at(2026, 3, 29, 1, 0));
    /* Half an hour: 02:00 to 02:30 on the first Sunday of October. */
    assert_int_equal(tz_to_utc(howe, at(2026, 10, 4, 2, 10)), at(2026, 10, 4, 2, 40) - 11 * 3600);
    /* A whole day: Apia had no 30 December 2011. */
    assert_int_equal(tz_to_utc(apia, at(2011, 12, 30, 12, 0)), at(2011, 12, 31, 12, 0) - 14 * 3600);
    /* A midnight that was left out. */
    assert_int_equal(tz_to_utc(sao_paulo, at(2018, 11, 4, 0, 0)), at(2018, 11, 4, 3, 0));
}

static void test_tz__overlap_in_autumn_is_the_earlier_one(void **state)
{
    (void)state;
    struct tz berlin = zone("Europe/Berlin");
    struct tz howe = zone("Australia/Lord_Howe");
    struct tz far = zone("Europe/Berlin");

    assert_int_equal(tz_to_utc(berlin, at(2026, 10, 25, 2, 30)), at(2026, 10, 25, 0, 30));
    assert_int_equal(tz_to_utc(berlin, at(2026, 10, 25, 3, 0)), at(2026, 10, 25, 2, 0));
    assert_int_equal(tz_to_utc(howe, at(2026, 4, 5, 1, 45)), at(2026, 4, 5, 1, 45) - 11 * 3600);
    assert_int_equal(tz_to_utc(far, at(2226, 10, 29, 2, 30)), at(2226, 10, 29, 0, 30));
}

static void test_tz__fixed_offsets_are_read(void **state)
{
    static const struct {
        const char *name;
        int offset;
    } cases[] = {
        {"", 0},           {"Z", 0},           {"UTC", 0},    {"02:00", 7200},
        {"+02:00", 7200},  {"-08:00", -28800}, {"-00:00", 0}, {"+05:45", 20700},
        {"-02:30", -9000}, {"+23:59", 86340},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        assert_int_equal(tz_offset(zone(cases[i].name), 0), cases[i].offset);
        assert_int_equal(tz_to_utc(zone(cases[i].name), 0), -cases[i].offset);
    }
}

static void test_tz__other_names_are_refused(void **state)
{
    static const char *const names[] = {
        "/etc/passwd",
        "../zoneinfo/UTC",
        "Europe/../UTC",
        "Europe/Berlin/",
        "/Europe/Berlin",
        "Europe//Rome",
        "Europe",
        "No/Such",
        "zone.tab",
        "tzdata.zi",
        "leapseconds",
        "localtime",
        "right/UTC",
        "+24:00",
        "+2:00",
        "+02:60",
        "+0200",
        "02:00:00",
        "--02:00",
        "+",
        ":",
        "Europe/Berlin ",
        "-Berlin",
        "Europe/Ber\nlin",
        "\xc3\xa9",
        "Etc/GMT+5/Etc/GMT+5/Etc/GMT+5/Etc/GMT+5/Etc/GMT+5/Etc/GMT+5/Etc/GMT+5",
    };
    struct tz tz;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (tz_find(str_of(names[i]), &tz))
            fail_msg("%s was taken for a zone", names[i]);
    assert_false(tz_find(STR("Europe/Berlin\0x"), &tz));
}

/* --- rules --- */

static struct tz_rule rule(const char *text)
{
    struct tz_rule r;

    if (!tz_rule_read(str_of(text), &r))
        fail_msg("%s was not read", text);
    return r;
}

static void test_tz_rule__plain_offsets_are_for_good(void **state)
{
    (void)state;
    struct tz_rule ist = rule("IST-5:30");
    struct tz_rule quoted = rule("<-0330>3:30:15");
    struct tz_period p = tz_rule_period(&ist, 0);

    assert_int_equal(p.offset, 19800);
    assert_true(p.from == INT64_MIN && p.to == INT64_MAX);
    assert_int_equal(tz_rule_period(&quoted, 0).offset, -12615);
}

static void test_tz_rule__all_kinds_of_days_are_understood(void **state)
{
    (void)state;
    struct tz_rule julian = rule("AAA3BBB,J60/0,J300/0");
    struct tz_rule number = rule("AAA3BBB,59/0,299/0");
    struct tz_rule negative = rule("<-02>2<-01>,M3.5.0/-1,M10.5.0/0");

    /* J60 is always the first of March; day 59 is the 29th of February in a leap year. */
    assert_int_equal(tz_rule_period(&julian, at(2024, 6, 1, 0, 0)).from, at(2024, 3, 1, 3, 0));
    assert_int_equal(tz_rule_period(&julian, at(2023, 6, 1, 0, 0)).from, at(2023, 3, 1, 3, 0));
    assert_int_equal(tz_rule_period(&number, at(2024, 6, 1, 0, 0)).from, at(2024, 2, 29, 3, 0));
    assert_int_equal(tz_rule_period(&number, at(2023, 6, 1, 0, 0)).from, at(2023, 3, 1, 3, 0));
    assert_int_equal(tz_rule_period(&negative, at(2026, 6, 1, 0, 0)).from, at(2026, 3, 29, 1, 0));
}

static void test_tz_rule__summer_all_the_year_never_ends(void **state)
{
    (void)state;
    struct tz_rule r = rule("EST5EDT,0/0,J365/25");

    for (int64_t t = at(2030, 12, 30, 0, 0); t < at(2031, 1, 3, 0, 0); t += 600)
        assert_int_equal(tz_rule_period(&r, t).offset, -4 * 3600);
}

static void test_tz_rule__other_text_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "C1",
        "CET",
        "CET-25",
        "CET-1CEST",
        "CET-1:60",
        "CET-1CEST,",
        "<+1",
        "<+01>",
        "CET-1CEST,M3.5.0",
        "CET-1 ",
        ":CET-1",
        "CET-1CEST,M13.1.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,J0,J1",
        "CET-1CEST,366,1",
        "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0/3x",
    };
    struct tz_rule r;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (tz_rule_read(str_of(texts[i]), &r))
            fail_msg("\"%s\" was taken for a rule", texts[i]);
    assert_false(tz_rule_read(STR_NONE, &r));
}

/* --- files --- */

static void test_tzif__version_1_is_read(void **state)
{
    static const char file[] = "TZif\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                               "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\4"
                               "\0\0\0\144" /* at 100 */
                               "\1"
                               "\0\0\0\0\0\0"
                               "\0\0\016\020\0\0" /* 3600 */
                               "UTC";
    struct tz_zone *z = tzif_read(str_from(file, sizeof(file)));

    (void)state;
    assert_non_null(z);
    assert_int_equal(tzif_period(z, 99).offset, 0);
    assert_int_equal(tzif_period(z, 100).offset, 3600);
    assert_int_equal(tzif_period(z, 100).to, INT64_MAX);
    free(z);
    /* Every shorter file is refused. */
    for (size_t len = 0; len < sizeof(file); len++)
        assert_null(tzif_read(str_from(file, len)));
}

static void test_tzif__bad_tables_are_refused(void **state)
{
    static const char head[] = "TZif\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    static const struct {
        const char *rest;
        size_t len;
    } cases[] = {
#define CASE(text) {text, sizeof(text) - 1}
        /* no type */
        CASE("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        /* a type that is not there */
        CASE("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0"
             "\0\0\0\1\1\0\0\0\0\0\0"),
        /* times out of order */
        CASE("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0\0"
             "\0\0\0\2\0\0\0\2\0\0\0\0\0\0\0\0"),
        /* an offset of years */
        CASE("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0"
             "\177\0\0\0\0\0"),
        /* a leap second */
        CASE("\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0"
             "\0\0\0\0\0\0\0\0\0\1\0\0\0\1"),
        /* counts beyond any file */
        CASE("\377\377\377\377\377\377\377\377\0\0\0\0\377\377\377\377\377\377\377\377\0\0\0\0"),
#undef CASE
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char file[128];
        memcpy(file, head, sizeof(head) - 1);
        memcpy(file + sizeof(head) - 1, cases[i].rest, cases[i].len);
        assert_null(tzif_read(str_from(file, sizeof(head) - 1 + cases[i].len)));
    }
}

static void *find_all(void *wrong)
{
    for (int round = 0; round < 50; round++)
        for (size_t i = 0; i < ARRAY_SIZE(zone_names); i++) {
            struct tz a, b;
            if (!tz_find(str_of(zone_names[i]), &a) || !tz_find(str_of(zone_names[i]), &b) ||
                a.zone != b.zone)
                *(bool *)wrong = true;
        }
    return NULL;
}

static void test_tz__threads_find_the_same_zones(void **state)
{
    pthread_t threads[4];
    bool wrong[4] = {false};

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, find_all, &wrong[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_false(wrong[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First, while nothing is cached yet. */
        cmocka_unit_test(test_tz__threads_find_the_same_zones),
        cmocka_unit_test(test_tz__agrees_with_libc_from_1900_to_2100),
        cmocka_unit_test(test_tz__periods_change_where_libc_changes),
        cmocka_unit_test(test_tz__the_rule_goes_on_beyond_the_table),
        cmocka_unit_test(test_tz__local_time_comes_back),
        cmocka_unit_test(test_tz__gap_in_spring_moves_forward),
        cmocka_unit_test(test_tz__overlap_in_autumn_is_the_earlier_one),
        cmocka_unit_test(test_tz__fixed_offsets_are_read),
        cmocka_unit_test(test_tz__other_names_are_refused),
        cmocka_unit_test(test_tz_rule__plain_offsets_are_for_good),
        cmocka_unit_test(test_tz_rule__all_kinds_of_days_are_understood),
        cmocka_unit_test(test_tz_rule__summer_all_the_year_never_ends),
        cmocka_unit_test(test_tz_rule__other_text_is_refused),
        cmocka_unit_test(test_tzif__version_1_is_read),
        cmocka_unit_test(test_tzif__bad_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
