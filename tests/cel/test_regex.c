/* Tests of regex.cc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cel/lib/regex.h"

#include <pthread.h>
#include <time.h>

static struct regex *compile(struct str pattern)
{
    struct err err;
    struct regex *re = regex_new(pattern, &err);

    assert_non_null(re);
    return re;
}

static void test_regex__finds_a_part_of_the_text(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"ubb", "hubba", true},
        {"foo|bar", "", false},
        {"", "cows", true},
        {"", "", true},
        {"gr(a|e)y", "grey", true},
        {"^ba(na)*$", "banana", true},
        {"^ba(na)*$", "bananas", false},
        {"a+ñ+a+", "mañana", true},
        {"^.$", "😀", true},
        {"(?i)ABC", "xabcx", true},
        {"\\pL{2}", "a1ж", false},
        {"^(?s:.)$", "\n", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct regex *re = compile(str_of(cases[i].pattern));
        assert_int_equal(regex_matches(re, str_of(cases[i].text)), cases[i].matches);
        regex_free(re);
    }
}

static void test_regex__text_may_hold_zero_bytes_and_be_nothing(void **state)
{
    struct regex *re = compile(STR("b$"));
    struct regex *empty = compile(STR_NONE);

    (void)state;
    assert_true(regex_matches(re, STR("a\0b")));
    assert_false(regex_matches(re, STR_NONE));
    assert_true(regex_matches(empty, STR_NONE));
    regex_free(re);
    regex_free(empty);
    regex_free(NULL);
}

static void test_regex__bad_pattern_says_what_is_wrong(void **state)
{
    static const struct {
        const char *pattern, *part;
    } cases[] = {
        {"(a", "missing ): (a"},   {"a)", "unexpected )"},
        {"[z-a]", "z-a"},          {"*", "no argument"},
        {"a{1001}", "repetition"}, {"(?=a)", "(?="},
        {"\\1", "escape"},         {"((a{100}){10}){10}", "repetition"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = {.code = ERR_NONE};
        assert_null(regex_new(str_of(cases[i].pattern), &err));
        assert_int_equal(err.code, ERR_EXPRESSION_ERROR);
        assert_non_null(strstr(err.message, cases[i].part));
    }
}

static void test_regex__large_patterns_are_refused(void **state)
{
    char longest[REGEX_PATTERN_MAX + 1];
    struct err err = {.code = ERR_NONE};
    struct regex *re;

    (void)state;
    assert_null(regex_new(STR("\\pL{1000}"), &err));
    assert_int_equal(err.code, ERR_LIMIT_EXPRESSION_SIZE);
    assert_non_null(strstr(err.message, "too large"));

    memset(longest, 'a', sizeof(longest));
    assert_null(regex_new(str_from(longest, sizeof(longest)), &err));
    assert_int_equal(err.code, ERR_LIMIT_EXPRESSION_SIZE);
    assert_non_null(strstr(err.message, "1001"));
    re = compile(str_from(longest, REGEX_PATTERN_MAX));
    assert_true(regex_matches(re, str_from(longest, REGEX_PATTERN_MAX)));
    regex_free(re);
}

static double match_seconds(const struct regex *re, struct str text)
{
    struct timespec start, end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    assert_false(regex_matches(re, text));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
}

/* A backtracking matcher needs 2^100000 steps for these; a linear one some milliseconds. */
static void test_regex__hostile_pattern_is_linear(void **state)
{
    enum { LENGTH = 100000 };
    static const char *const patterns[] = {"^(a+)+$", "^(a|a)*$", "^(a*)*$", "(a*)*(a*)*=$"};
    static char text[LENGTH + 1];

    (void)state;
    memset(text, 'a', LENGTH);
    text[LENGTH] = '!';
    for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
        struct regex *re = compile(str_of(patterns[i]));
        assert_true(match_seconds(re, str_from(text, sizeof(text))) < 10.0);
        regex_free(re);
    }
}

static void test_regex__cost_grows_with_pattern_and_text(void **state)
{
    struct regex *small = compile(STR("^a+$"));
    struct regex *large = compile(STR("[abc].{300}Q"));

    (void)state;
    assert_true(regex_match_cost(small, 100000) < 100000);
    assert_true(regex_match_cost(large, 100000) > 1000000);
    assert_true(regex_match_cost(small, 0) > 0);
    assert_true(regex_compile_cost(large) > 10 * regex_compile_cost(small));
    regex_free(small);
    regex_free(large);
}

static void *match_often(void *re)
{
    bool right = true;

    for (int i = 0; i < 1000; i++)
        right = right && regex_matches(re, STR("order 4711 of 2026")) &&
                !regex_matches(re, STR("order x of y"));
    return right ? re : NULL;
}

static void test_regex__threads_share_a_pattern(void **state)
{
    struct regex *re = compile(STR("^order [0-9]+ of [0-9]{4}$"));
    pthread_t threads[4];
    void *answer;

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, match_often, re), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &answer), 0);
        assert_ptr_equal(answer, re);
    }
    regex_free(re);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regex__finds_a_part_of_the_text),
        cmocka_unit_test(test_regex__text_may_hold_zero_bytes_and_be_nothing),
        cmocka_unit_test(test_regex__bad_pattern_says_what_is_wrong),
        cmocka_unit_test(test_regex__large_patterns_are_refused),
        cmocka_unit_test(test_regex__hostile_pattern_is_linear),
        cmocka_unit_test(test_regex__cost_grows_with_pattern_and_text),
        cmocka_unit_test(test_regex__threads_share_a_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
