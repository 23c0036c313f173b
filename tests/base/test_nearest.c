/* test_nearest.c - claims about "did you mean". */
#include "base/text/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const char *nearest_of(const char *name, const char *words)
{
    struct nearest n = nearest_to(str_of(name));

    nearest_offer_words(&n, str_of(words));
    return n.best.len == 0 ? "" : n.best.ptr;
}

static void assert_nearest(const char *name, const char *words, const char *expected)
{
    const char *found = nearest_of(name, words);

    assert_memory_equal(found, expected, strlen(expected));
    if (expected[0] == '\0')
        assert_string_equal(found, "");
}

static void test_nearest__is_the_one_with_the_fewest_edits(void **state)
{
    (void)state;
    assert_nearest("stepz", "steepz steps", "steepz");
    assert_nearest("operater", "executor operator admin", "operator");
    assert_nearest("swpa", "wasp swap", "swap");
}

static void test_nearest__the_first_of_two_stays(void **state)
{
    (void)state;
    assert_nearest("cat1", "cata catb", "cata");
}

static void test_nearest__far_names_and_short_ones_give_no_hint(void **state)
{
    (void)state;
    assert_nearest("branch", "steps loop", "");
    assert_nearest("ab", "ac", "");
    assert_nearest("abc", "xyc", "");
    assert_nearest("abcd", "", "");
}

static void test_nearest__an_equal_name_beats_all(void **state)
{
    struct nearest n = nearest_to(STR("steps"));

    (void)state;
    nearest_offer(&n, STR("step"));
    nearest_offer(&n, STR("steps"));
    nearest_offer(&n, STR("stepz"));
    assert_true(str_eq(n.best, STR("step")) || str_eq(n.best, STR("steps")));
    n = nearest_to(STR("steps"));
    nearest_offer(&n, STR("steps"));
    nearest_offer(&n, STR("stepz"));
    assert_true(str_eq(n.best, STR("steps")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest__is_the_one_with_the_fewest_edits),
        cmocka_unit_test(test_nearest__the_first_of_two_stays),
        cmocka_unit_test(test_nearest__far_names_and_short_ones_give_no_hint),
        cmocka_unit_test(test_nearest__an_equal_name_beats_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
