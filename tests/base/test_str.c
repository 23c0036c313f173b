/* test_str.c - claims about str.h. */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_str__to_int64_accepts_both_limits(void **state)
{
    (void)state;
    int64_t n = 0;

    assert_true(str_to_int64(STR("9223372036854775807"), &n));
    assert_true(n == INT64_MAX);
    assert_true(str_to_int64(STR("-9223372036854775808"), &n));
    assert_true(n == INT64_MIN);
    assert_false(str_to_int64(STR("9223372036854775808"), &n));
    assert_false(str_to_int64(STR("-9223372036854775809"), &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_str__to_int64_accepts_both_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
