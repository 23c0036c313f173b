/* test_number.c - numbers as text and back, against printf and strtod. */
#include "value/number.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

/* Enough to meet every exponent hundreds of times. */
enum { RANDOM_DOUBLES = 500000, RANDOM_TEXTS = 300000 };

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double double_of_bits(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static void write_json(char out[NUMBER_TEXT_MAX + 1], double d)
{
    out[number_write_double(out, d, NUMBER_JSON)] = '\0';
}

/* The digits of a number's text without sign, point, exponent and outer zeros. */
static void significant_digits(char *out, const char *text)
{
    size_t len = 0;

    for (; *text != '\0' && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (len > 0 || *text != '0'))
            out[len++] = *text;
    while (len > 0 && out[len - 1] == '0')
        len--;
    out[len] = '\0';
}

static void check_round_trip(double d)
{
    char text[NUMBER_TEXT_MAX + 1];
    double back;

    write_json(text, d);
    assert_true(strlen(text) < NUMBER_TEXT_MAX);
    assert_non_null(strpbrk(text, ".e"));
    if (!same_bits(strtod(text, NULL), d) || !number_read_double(str_of(text), &back) ||
        !same_bits(back, d))
        fail_msg("%a is written as %s", d, text);
    text[number_write_double(text, d, NUMBER_CEL)] = '\0';
    if (!same_bits(strtod(text, NULL), d))
        fail_msg("%a is %s in CEL", d, text);
}

/* Find the shortest by trying one precision after the other. */
static void check_shortest(double d)
{
    char text[NUMBER_TEXT_MAX + 1], ours[64], theirs[64], tried[64];
    bool power_of_two = fabs(frexp(d, &(int){0})) == 0.5;

    for (int digits = 0;; digits++) {
        snprintf(tried, sizeof(tried), "%.*e", digits, d);
        if (strtod(tried, NULL) == d)
            break;
    }
    write_json(text, d);
    significant_digits(ours, text);
    significant_digits(theirs, tried);
    /* Below a power of two the doubles are closer: a shorter text may exist that is not nearest. */
    if (power_of_two && strlen(ours) < strlen(theirs))
        return;
    if (strcmp(ours, theirs) != 0)
        fail_msg("%a is written as %s, but %s is shorter or nearer", d, text, tried);
}

static void test_double__every_text_reads_back(void **state)
{
    (void)state;
    for (int i = 0; i < RANDOM_DOUBLES; i++) {
        double d = double_of_bits(random_next());
        if (isfinite(d))
            check_round_trip(d);
        check_round_trip((double)(int64_t)random_next() / 1000.0);
        check_round_trip((double)(random_next() % 100000000) / 100.0);
    }
}

static void test_double__text_is_the_shortest(void **state)
{
    (void)state;
    for (int i = 0; i < RANDOM_DOUBLES / 10; i++) {
        double d = double_of_bits(random_next());
        if (isfinite(d))
            check_shortest(d);
        check_shortest((double)(random_next() >> (i % 64)) / (double)(1 + random_next() % 10000));
        check_shortest(double_of_bits(random_next() >> (12 + i % 52))); /* subnormal */
    }
}

static void test_double__boundaries_read_back_and_are_shortest(void **state)
{
    (void)state;
    /* Each power of two and of ten with its neighbours. */
    for (int e = -1074; e <= 1023; e++) {
        double d = ldexp(1.0, e);
        check_round_trip(d);
        check_shortest(d);
        check_shortest(nextafter(d, 0) == 0 ? d : nextafter(d, 0));
        check_round_trip(-nextafter(d, INFINITY));
        check_shortest(nextafter(d, 1e308));
    }
    for (int e = -323; e <= 308; e++) {
        char text[16];
        double d;

        snprintf(text, sizeof(text), "1e%d", e);
        d = strtod(text, NULL);
        check_shortest(d);
        check_shortest(nextafter(d, INFINITY));
        check_round_trip(nextafter(d, 0));
    }
    check_shortest(DBL_MAX);
    check_shortest(DBL_MIN);
    check_shortest(nextafter(DBL_MIN, 0));
    check_shortest(DBL_TRUE_MIN);
    for (int64_t i = 9007199254740992 - 100; i < 9007199254740992 + 100; i++)
        check_shortest((double)i);
}

static void test_double__has_two_forms(void **state)
{
    static const struct {
        double d;
        const char *json, *cel;
    } cases[] = {
        {0.0, "0.0", "0"},
        {-0.0, "-0.0", "-0"},
        {1.0, "1.0", "1"},
        {-1.5, "-1.5", "-1.5"},
        {123.456, "123.456", "123.456"},
        {0.1, "0.1", "0.1"},
        {0.3, "0.3", "0.3"},
        {0.1 + 0.2, "0.30000000000000004", "0.30000000000000004"},
        {1234567.0, "1234567.0", "1234567"},
        {0.0001, "0.0001", "0.0001"},
        {0.00001, "0.00001", "1e-05"},
        {0.000001, "0.000001", "1e-06"},
        {0.0000012345678901234567, "0.0000012345678901234567", "1.2345678901234567e-06"},
        {0.0000001, "1e-7", "1e-07"},
        {1.5e-10, "1.5e-10", "1.5e-10"},
        {99999999999.9999, "99999999999.9999", "99999999999.9999"},
        {100000000000.25, "100000000000.25", "100000000000.25"},
        {1e15, "1000000000000000.0", "1000000000000000"},
        {9007199254740993.0, "9007199254740992.0", "9007199254740992"},
        {1e20, "100000000000000000000.0", "100000000000000000000"},
        {123456789012345680000.0, "123456789012345680000.0", "123456789012345680000"},
        {1e21, "1e+21", "1e+21"},
        {6.02214e23, "6.02214e+23", "6.02214e+23"},
        {5e-324, "5e-324", "5e-324"},
        {DBL_MAX, "1.7976931348623157e+308", "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308", "2.2250738585072014e-308"},
        {NAN, NULL, "NaN"},
        {-NAN, NULL, "NaN"},
        {INFINITY, NULL, "+Inf"},
        {-INFINITY, NULL, "-Inf"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[NUMBER_TEXT_MAX + 1];

        text[number_write_double(text, cases[i].d, NUMBER_CEL)] = '\0';
        assert_string_equal(text, cases[i].cel);
        if (cases[i].json != NULL) {
            write_json(text, cases[i].d);
            assert_string_equal(text, cases[i].json);
        }
    }
}

/* --- reading --- */

static void check_read(const char *text)
{
    double expected = strtod(text, NULL), d = 42;

    if (isinf(expected)) {
        if (number_read_double(str_of(text), &d) || d != 42)
            fail_msg("%s is too large, but was read", text);
    } else if (!number_read_double(str_of(text), &d) || !same_bits(d, expected)) {
        fail_msg("%s is read as %a, not %a", text, d, expected);
    }
}

static void test_read_double__agrees_with_strtod(void **state)
{
    char text[128];

    (void)state;
    for (int i = 0; i < RANDOM_TEXTS; i++) {
        int len = 0;
        int whole = (int)(random_next() % 25), part = (int)(random_next() % 25);

        if (random_next() % 4 == 0)
            text[len++] = '-';
        text[len++] = (char)('0' + random_next() % 10);
        for (int n = 0; n < whole; n++)
            text[len++] = (char)('0' + random_next() % 10);
        if (part > 0)
            text[len++] = '.';
        for (int n = 0; n < part; n++)
            text[len++] = (char)('0' + random_next() % 10);
        text[len] = '\0';
        check_read(text);
        snprintf(text + len, sizeof(text) - (size_t)len, "e%d", (int)(random_next() % 700) - 360);
        check_read(text);
    }
}

/* Exactly between two doubles, and a last digit to either side, at full length. */
static void test_read_double__ties_go_to_even(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = random_next() & 0x7FFFFFFFFFFFFFFFu;
        double d = double_of_bits(i % 5 == 0 ? bits >> 12 : bits);
        char text[1200];
        double above = nextafter(d, INFINITY);
        int len;

        if (!isfinite(d) || !isfinite(above))
            continue;
        /* On this machine a long double has room for the number between. */
        len = snprintf(text, sizeof(text) - 4, "%.1080Le", ((long double)d + above) / 2);
        assert_true(len > 0);
        check_read(text);
    }
    check_read("9007199254740993");
    check_read("9007199254740993.0");
    check_read("9007199254740992.99999999999999999999999999");
    check_read("9007199254740993.00000000000000000000000001");
    check_read("9007199254740995");
    check_read("2.4703282292062327208e-324"); /* just below half of the smallest */
    check_read("2.4703282292062327209e-324");
    check_read("1.7976931348623158079e308");
    check_read("1.7976931348623158080e308");
    check_read("2.2250738585072011e-308");
    check_read("2.2250738585072012e-308");
    check_read("0.500000000000000166533453693773481063544750213623046875");
}

static void test_read_double__long_texts_count_to_the_last_digit(void **state)
{
    enum { ZEROS = 5000 };
    static char text[ZEROS + 64];

    (void)state;
    memset(text, '0', sizeof(text));
    memcpy(text, "9007199254740993.", 17);
    memcpy(text + ZEROS, "1", 2);
    check_read(text);
    memcpy(text + ZEROS, "0", 2);
    check_read(text);
    /* Far from zero and back by an exponent. */
    memset(text, '0', sizeof(text));
    memcpy(text, "0.", 2);
    snprintf(text + ZEROS, 32, "125e%d", ZEROS);
    check_read(text);
    memset(text, '0', sizeof(text));
    text[0] = '1';
    snprintf(text + ZEROS, 32, "e-%d", ZEROS - 1);
    check_read(text);
}

static void test_read_double__takes_decimal_forms_and_no_others(void **state)
{
    static const char *const good[] = {"0",
                                       "-0",
                                       "+1",
                                       "1.",
                                       ".5",
                                       "-.5e1",
                                       "1e5",
                                       "1E+05",
                                       "00012",
                                       "1e-400",
                                       "0e999999999999999999999",
                                       "0.0e-5",
                                       "1e-99999999999999999999"};
    static const char *const bad[] = {
        "",      "+",    "-",    ".",       "e5",    "1e",     "1e+",
        "1.2.3", "0x10", " 1",   "1 ",      "1_000", "--1",    "1e5.5",
        "1f",    "in",   "nano", "infinit", "1e309", "-1e309", "1e99999999999999999999",
        ".e1"};
    double d = 42;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        check_read(good[i]);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        if (number_read_double(str_of(bad[i]), &d))
            fail_msg("'%s' was read", bad[i]);
    assert_true(d == 42);
    assert_true(number_read_double(STR("Infinity"), &d) && isinf(d) && d > 0);
    assert_true(number_read_double(STR("-inf"), &d) && isinf(d) && d < 0);
    assert_true(number_read_double(STR("+Inf"), &d) && isinf(d) && d > 0);
    assert_true(number_read_double(STR("NaN"), &d) && isnan(d));
}

/* --- integers --- */

static void check_int(int64_t n)
{
    char text[NUMBER_TEXT_MAX + 1], expected[32];
    int64_t back;

    text[number_write_int(text, n)] = '\0';
    snprintf(expected, sizeof(expected), "%" PRId64, n);
    assert_string_equal(text, expected);
    assert_true(number_read_int(str_of(text), &back));
    assert_int_equal(back, n);
}

static void check_uint(uint64_t n)
{
    char text[NUMBER_TEXT_MAX + 1], expected[32];
    uint64_t back;

    text[number_write_uint(text, n)] = '\0';
    snprintf(expected, sizeof(expected), "%" PRIu64, n);
    assert_string_equal(text, expected);
    assert_true(number_read_uint(str_of(text), &back));
    assert_int_equal(back, n);
}

static void test_int__every_text_reads_back(void **state)
{
    uint64_t power = 1;

    (void)state;
    for (int i = 0; i < 20; i++, power *= 10) {
        check_uint(power - 1);
        check_uint(power);
        check_uint(power + 1);
        check_int((int64_t)(0 - power));
    }
    for (int i = 0; i < 100000; i++) {
        check_uint(random_next() >> (i % 64));
        check_int((int64_t)random_next() >> (i % 64));
    }
    check_int(INT64_MIN);
    check_int(INT64_MAX);
    check_uint(UINT64_MAX);
}

static void test_read_int__refuses_what_does_not_fit(void **state)
{
    uint64_t u = 42;
    int64_t n = 42;

    (void)state;
    assert_false(number_read_int(STR("9223372036854775808"), &n));
    assert_false(number_read_int(STR("-9223372036854775809"), &n));
    assert_false(number_read_int(STR(""), &n));
    assert_false(number_read_int(STR("1.0"), &n));
    assert_false(number_read_uint(STR("18446744073709551616"), &u));
    assert_false(number_read_uint(STR("-1"), &u));
    assert_false(number_read_uint(STR(""), &u));
    assert_false(number_read_uint(STR("1 "), &u));
    assert_int_equal(u, 42);
    assert_int_equal(n, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double__every_text_reads_back),
        cmocka_unit_test(test_double__text_is_the_shortest),
        cmocka_unit_test(test_double__boundaries_read_back_and_are_shortest),
        cmocka_unit_test(test_double__has_two_forms),
        cmocka_unit_test(test_read_double__agrees_with_strtod),
        cmocka_unit_test(test_read_double__ties_go_to_even),
        cmocka_unit_test(test_read_double__long_texts_count_to_the_last_digit),
        cmocka_unit_test(test_read_double__takes_decimal_forms_and_no_others),
        cmocka_unit_test(test_int__every_text_reads_back),
        cmocka_unit_test(test_read_int__refuses_what_does_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
