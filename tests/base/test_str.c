/* test_str.c - claims about str.h. */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_str__to_int64_takes_whole_numbers_that_fit(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t number;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"007", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"92233720368547758070", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1e3", false, 0},
        {"--1", false, 0},
        {"\xC3\xA9", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t number = 0;
        assert_int_equal(str_to_int64(str_of(cases[i].text), &number), cases[i].ok);
        assert_true(number == cases[i].number);
    }
}

static void test_str__order_is_by_bytes_then_length(void **state)
{
    static const char *const ascending[] = {
        "", "A", "Aa", "B", "a", "\xC3\xA9", "\xF0\x9F\x98\x80"};

    (void)state;
    for (size_t i = 0; i < COUNT(ascending); i++)
        for (size_t j = 0; j < COUNT(ascending); j++) {
            int want = (i > j) - (i < j);
            assert_int_equal(str_cmp(str_of(ascending[i]), str_of(ascending[j])), want);
            assert_int_equal(str_eq(str_of(ascending[i]), str_of(ascending[j])), i == j);
        }
}

static void test_str__cut_takes_one_part_after_the_other(void **state)
{
    struct str rest = STR("a,,bc,");

    (void)state;
    assert_true(str_eq(str_cut(&rest, ','), STR("a")));
    assert_true(str_eq(str_cut(&rest, ','), STR("")));
    assert_true(str_eq(str_cut(&rest, ';'), STR("bc,")));
    assert_int_equal(rest.len, 0);
    assert_int_equal(str_cut(&rest, ',').len, 0);
    rest = STR_NONE;
    assert_int_equal(str_cut(&rest, ',').len, 0);
}

static void test_str__prefix_and_suffix(void **state)
{
    (void)state;
    assert_true(str_starts_with(STR("steps.pay"), STR("steps.")));
    assert_false(str_starts_with(STR("step"), STR("steps")));
    assert_true(str_ends_with(STR("steps.pay"), STR(".pay")));
    assert_false(str_ends_with(STR("pay"), STR("xpay")));
    assert_true(str_starts_with(STR_NONE, STR_NONE));
    assert_true(str_ends_with(STR_NONE, STR_NONE));
    assert_true(str_ends_with(STR("x"), STR_NONE));
}

static void test_str__find_starts_where_told(void **state)
{
    (void)state;
    assert_int_equal(str_find(STR("abcabc"), STR("bc"), 0), 1);
    assert_int_equal(str_find(STR("abcabc"), STR("bc"), 1), 1);
    assert_int_equal(str_find(STR("abcabc"), STR("bc"), 2), 4);
    assert_int_equal(str_find(STR("abcabc"), STR("bc"), 5), -1);
    assert_int_equal(str_find(STR("abc"), STR(""), 3), 3);
    assert_int_equal(str_find(STR("abc"), STR(""), 4), -1);
    assert_int_equal(str_find(STR("abc"), STR("abcd"), 0), -1);
    assert_int_equal(str_find(STR_NONE, STR_NONE, 0), 0);
}

static void test_str__slice_of_nothing_is_nothing(void **state)
{
    (void)state;
    assert_int_equal(str_slice(STR_NONE, 0, 0).len, 0);
    assert_true(str_eq(str_slice(STR("abc"), 1, 3), STR("bc")));
    assert_true(str_eq(str_slice(STR("abc"), 3, 3), STR("")));
}

static void test_str__trim_takes_ascii_space_only(void **state)
{
    (void)state;
    assert_true(str_eq(str_trim(STR(" \t\r\n\v\f a b \n")), STR("a b")));
    assert_true(str_eq(str_trim(STR(" \n")), STR("")));
    assert_true(str_eq(str_trim(STR("\xC2\xA0x")), STR("\xC2\xA0x")));
    assert_int_equal(str_trim(STR_NONE).len, 0);
}

static void test_str__printf_and_copy_end_in_a_zero_byte(void **state)
{
    struct arena mem;
    struct str s;

    (void)state;
    arena_init(&mem);
    s = str_printf(&mem, "%s-%d", "step", 7);
    assert_true(str_eq(s, STR("step-7")));
    assert_int_equal(s.ptr[s.len], '\0');
    s = str_copy(&mem, STR_NONE);
    assert_int_equal(s.len, 0);
    assert_int_equal(s.ptr[0], '\0');
    arena_fini(&mem);
}

static void test_str__printf_has_no_longest_text(void **state)
{
    char text[600];
    struct arena mem;

    (void)state;
    arena_init(&mem);
    memset(text, 'x', sizeof(text));
    for (int len = 0; len < (int)sizeof(text); len++) {
        struct str s = str_printf(&mem, "%.*s!", len, text);

        assert_int_equal(s.len, len + 1);
        assert_memory_equal(s.ptr, text, (size_t)len);
        assert_string_equal(s.ptr + len, "!");
    }
    arena_fini(&mem);
}

static void test_str__join_puts_texts_behind_each_other(void **state)
{
    struct arena mem;
    struct str s;

    (void)state;
    arena_init(&mem);
    s = STR_JOIN(&mem, STR("a"), STR_NONE, STR("-"), STR("bc"));
    assert_true(str_eq(s, STR("a-bc")));
    assert_int_equal(s.ptr[s.len], 0);
    s = STR_JOIN(&mem, STR_NONE);
    assert_int_equal(s.len, 0);
    assert_int_equal(s.ptr[0], 0);
    arena_fini(&mem);
}

static void test_str__distance_counts_edits_up_to_a_limit(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned limit, want;
    } cases[] = {
        {"", "", 2, 0},          {"eval", "eval", 2, 0},      {"evl", "eval", 2, 1},
        {"evall", "eval", 2, 1}, {"eval", "evil", 2, 1},      {"evla", "eval", 2, 1},
        {"abc", "xyz", 2, 3},    {"kitten", "sitting", 3, 3}, {"kitten", "sitting", 2, 3},
        {"", "abc", 3, 3},       {"", "abcdef", 3, 4},        {"abcdef", "", 3, 4},
    };
    char longer[66];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct str a = str_of(cases[i].a), b = str_of(cases[i].b);
        assert_int_equal(str_distance(a, b, cases[i].limit), cases[i].want);
        assert_int_equal(str_distance(b, a, cases[i].limit), cases[i].want);
    }
    memset(longer, 'x', sizeof(longer));
    assert_int_equal(str_distance(str_from(longer, 65), str_from(longer, 65), 2), 3);
    assert_int_equal(str_distance(str_from(longer, 64), str_from(longer, 64), 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_str__to_int64_takes_whole_numbers_that_fit),
        cmocka_unit_test(test_str__order_is_by_bytes_then_length),
        cmocka_unit_test(test_str__cut_takes_one_part_after_the_other),
        cmocka_unit_test(test_str__prefix_and_suffix),
        cmocka_unit_test(test_str__find_starts_where_told),
        cmocka_unit_test(test_str__slice_of_nothing_is_nothing),
        cmocka_unit_test(test_str__trim_takes_ascii_space_only),
        cmocka_unit_test(test_str__printf_and_copy_end_in_a_zero_byte),
        cmocka_unit_test(test_str__printf_has_no_longest_text),
        cmocka_unit_test(test_str__join_puts_texts_behind_each_other),
        cmocka_unit_test(test_str__distance_counts_edits_up_to_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
