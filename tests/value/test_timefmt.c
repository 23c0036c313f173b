/* test_timefmt.c - timestamps and durations as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "value/timefmt.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *timestamp_text(struct value v)
{
    static char text[TIMESTAMP_TEXT_MAX + 1];

    text[timestamp_write(text, v)] = 0;
    return text;
}

static const char *duration_text(struct value v)
{
    static char text[DURATION_TEXT_MAX + 1];

    text[duration_write(text, v)] = 0;
    return text;
}

static const char *seconds_text(struct value v)
{
    static char text[DURATION_TEXT_MAX + 1];

    text[duration_write_seconds(text, v)] = 0;
    return text;
}

static void test_timestamp__is_read_and_written_in_utc(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
        uint32_t nanos;
        const char *written;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0, 0, "1970-01-01T00:00:00Z"},
        {"2009-02-13T23:31:30Z", 1234567890, 0, "2009-02-13T23:31:30Z"},
        {"2026-01-02T03:04:05.12Z", 1767323045, 120000000, "2026-01-02T03:04:05.120Z"},
        {"2026-01-02T03:04:05.000120Z", 1767323045, 120000, "2026-01-02T03:04:05.000120Z"},
        {"2026-01-02T03:04:05.000000001Z", 1767323045, 1, "2026-01-02T03:04:05.000000001Z"},
        {"2026-01-02T03:04:05.0Z", 1767323045, 0, "2026-01-02T03:04:05Z"},
        {"1969-12-31T23:59:59.5Z", -1, 500000000, "1969-12-31T23:59:59.500Z"},
        {"2024-02-29T00:00:00+05:30", 1709145000, 0, "2024-02-28T18:30:00Z"},
        {"2024-02-29T00:00:00-00:00", 1709164800, 0, "2024-02-29T00:00:00Z"},
        {"2024-02-29T00:00:00-23:59", 1709251140, 0, "2024-02-29T23:59:00Z"},
        {"0001-01-01T00:00:00Z", TIMESTAMP_SECONDS_MIN, 0, "0001-01-01T00:00:00Z"},
        {"9999-12-31T23:59:59.999999999Z", TIMESTAMP_SECONDS_MAX, 999999999,
         "9999-12-31T23:59:59.999999999Z"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct value v;
        if (!timestamp_read(str_of(cases[i].text), &v))
            fail_msg("%s was not read", cases[i].text);
        assert_int_equal(v.kind, VALUE_TIMESTAMP);
        assert_int_equal(v.seconds, cases[i].seconds);
        assert_int_equal(v.nanos, cases[i].nanos);
        assert_string_equal(timestamp_text(v), cases[i].written);
    }
}

static void test_timestamp__other_text_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-01-02t03:04:05Z",
        "2026-01-02T03:04:05z",
        "2026-01-02 03:04:05Z",
        "2026-01-02T03:04Z",
        "2026-01-02T03:04:05Z ",
        " 2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05ZZ",
        "2026-1-02T03:04:05Z",
        "26-01-02T03:04:05Z",
        "+2026-01-02T03:04:05Z",
        "2026-00-02T03:04:05Z",
        "2026-13-02T03:04:05Z",
        "2026-01-00T03:04:05Z",
        "2026-01-32T03:04:05Z",
        "2026-02-29T03:04:05Z",
        "2100-02-29T03:04:05Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T23:60:00Z",
        "2026-01-02T23:59:60Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05.1234567890Z",
        "2026-01-02T03:04:05,1Z",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+0200",
        "2026-01-02T03:04:05+02",
        "2026-01-02T03:04:05+02:60",
        "2026-01-02T03:04:05Z+02:00",
        "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    };
    struct value v = value_null();

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        if (timestamp_read(str_of(texts[i]), &v))
            fail_msg("\"%s\" was read", texts[i]);
    assert_false(timestamp_read(STR_NONE, &v));
    assert_int_equal(v.kind, VALUE_NULL);
}

static void test_timestamp__a_date_is_its_midnight(void **state)
{
    static const char *const bad[] = {
        "", "2026-01-31T00:00:00Z", "2026-1-31", "2026-02-29", "0000-01-01", "2026-01-31 ", "2026",
    };
    struct value v;

    (void)state;
    assert_true(timestamp_read_date(STR("2026-01-31"), &v));
    assert_string_equal(timestamp_text(v), "2026-01-31T00:00:00Z");
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(timestamp_read_date(str_of(bad[i]), &v));
}

static void test_duration__is_read_and_written(void **state)
{
    static const struct {
        const char *text;
        const char *written;
        const char *seconds;
        bool go; /* CEL's own grammar takes it too */
    } cases[] = {
        {"0", "0s", "0s", true},
        {"-0", "0s", "0s", true},
        {"0s", "0s", "0s", true},
        {"-0s", "0s", "0s", true},
        {"1h30m", "1h30m", "5400s", true},
        {"1.5h", "1h30m", "5400s", true},
        {"-1m", "-1m", "-60s", true},
        {"+1m", "1m", "60s", true},
        {"1h45m30s", "1h45m30s", "6330s", true},
        {"250ms", "250ms", "0.25s", true},
        {"-250ms", "-250ms", "-0.25s", true},
        {"1000000s", "11d13h46m40s", "1000000s", true},
        {"1ns", "1ns", "0.000000001s", true},
        {"-1ns", "-1ns", "-0.000000001s", true},
        {"-1.000000001s", "-1s1ns", "-1.000000001s", true},
        {".5s", "500ms", "0.5s", true},
        {"5.s", "5s", "5s", true},
        {"1s1s", "2s", "2s", true},
        {"30s1h", "1h30s", "3630s", true},
        {"1us", "1us", "0.000001s", true},
        {"1\xc2\xb5s", "1us", "0.000001s", true},
        {"1\xce\xbcs", "1us", "0.000001s", true},
        {"0.9ns", "0s", "0s", true},
        {"0.333333333333333333333333333h", "19m59s999ms999us999ns", "1199.999999999s", true},
        {"000000000000000000000000000001s", "1s", "1s", true},
        {"315576000000s", "3652500d", "315576000000s", true},
        {"-315576000000s", "-3652500d", "-315576000000s", true},
        {"-315575999999.999999999s", "-3652499d23h59m59s999ms999us999ns",
         "-315575999999.999999999s", true},
        {"7d", "7d", "604800s", false},
        {"1d2h3m4s5ms6us7ns", "1d2h3m4s5ms6us7ns", "93784.005006007s", false},
        {"-1.5d", "-1d12h", "-129600s", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct value v, back;
        if (!duration_read(str_of(cases[i].text), &v))
            fail_msg("%s was not read", cases[i].text);
        assert_int_equal(v.kind, VALUE_DURATION);
        assert_true(v.nanos < 1000000000);
        assert_string_equal(duration_text(v), cases[i].written);
        assert_string_equal(seconds_text(v), cases[i].seconds);
        assert_true(duration_read(str_of(duration_text(v)), &back) && value_equal(v, back, NULL));
        assert_true(duration_read_go(str_of(seconds_text(v)), &back) && value_equal(v, back, NULL));
        if (duration_read_go(str_of(cases[i].text), &back) != cases[i].go)
            fail_msg("%s by CEL's grammar", cases[i].text);
        assert_true(!cases[i].go || value_equal(v, back, NULL));
    }
}

static void test_duration__other_text_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "-",
        "+",
        "1",
        "00",
        "s",
        ".",
        ".s",
        "-.s",
        "1x",
        "1hx",
        "1h ",
        " 1h",
        "1 h",
        "1h 30m",
        "1h-30m",
        "--1h",
        "+-1h",
        "1..5h",
        "1.5.5h",
        "1e3s",
        "0x1s",
        "1w",
        "1H",
        "1S",
        "infs",
        "\xc2\xb5s",
        "1\xc2s",
        "P1D",
        "315576000000.000000001s",
        "-315576000000.000000001s",
        "320000000000s",
        "3652501d",
        "315576000000s1ns",
        "99999999999999999999h",
        "9223372036854775808ns9223372036854775808s",
        "1.",
    };
    struct value v = value_null();

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (duration_read(str_of(texts[i]), &v) || duration_read_go(str_of(texts[i]), &v))
            fail_msg("\"%s\" was read", texts[i]);
    }
    assert_false(duration_read(STR_NONE, &v));
    assert_int_equal(v.kind, VALUE_NULL);
}

static void test_duration__halves_below_zero_lie_towards_the_future(void **state)
{
    struct value v;

    (void)state;
    assert_true(duration_read(STR("-500ms"), &v));
    assert_int_equal(v.seconds, -1);
    assert_int_equal(v.nanos, 500000000);
}

static void test_timefmt__what_is_written_is_read_back(void **state)
{
    uint64_t n = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct value t, d, back;
        char text[DURATION_TEXT_MAX];
        static const uint32_t scales[] = {1000000000, 1000000, 1000, 1};
        uint32_t scale = scales[n % 4];

        n ^= n << 13, n ^= n >> 7, n ^= n << 17;
        t = value_timestamp(
            TIMESTAMP_SECONDS_MIN +
                (int64_t)(n % (uint64_t)(TIMESTAMP_SECONDS_MAX - TIMESTAMP_SECONDS_MIN)),
            (uint32_t)(n >> 32) % 1000000000 / scale * scale);
        d = value_duration((int64_t)(n >> (i % 50)) % DURATION_SECONDS_MAX * (i % 2 ? 1 : -1),
                           t.nanos);
        assert_true(timestamp_read(str_from(text, timestamp_write(text, t)), &back));
        assert_true(value_equal(t, back, NULL));
        assert_true(duration_read(str_from(text, duration_write(text, d)), &back));
        assert_true(value_equal(d, back, NULL));
        assert_true(duration_read_go(str_from(text, duration_write_seconds(text, d)), &back));
        assert_true(value_equal(d, back, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timestamp__is_read_and_written_in_utc),
        cmocka_unit_test(test_timestamp__other_text_is_refused),
        cmocka_unit_test(test_timestamp__a_date_is_its_midnight),
        cmocka_unit_test(test_duration__is_read_and_written),
        cmocka_unit_test(test_duration__other_text_is_refused),
        cmocka_unit_test(test_duration__halves_below_zero_lie_towards_the_future),
        cmocka_unit_test(test_timefmt__what_is_written_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
