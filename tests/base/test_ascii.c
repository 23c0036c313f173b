/* test_ascii.c - claims about ascii.h. */
#include "base/text/ascii.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_ascii__agrees_with_the_c_locale(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char c = (char)i;

        assert_int_equal(ascii_is_digit(c), isdigit(i) != 0);
        assert_int_equal(ascii_is_lower(c), islower(i) != 0);
        assert_int_equal(ascii_is_upper(c), isupper(i) != 0);
        assert_int_equal(ascii_is_letter(c), isalpha(i) != 0);
        assert_int_equal(ascii_is_letter_or_digit(c), isalnum(i) != 0);
        assert_int_equal((unsigned char)ascii_lower(c), tolower(i));
        assert_int_equal((unsigned char)ascii_upper(c), toupper(i));
    }
}

static void test_ascii__lowers_a_copy_and_leaves_the_rest(void **state)
{
    struct str text = STR("Content-TYPE \xC3\x84 9"), lower;
    struct arena mem;

    (void)state;
    arena_init(&mem);
    lower = ascii_lower_copy(&mem, text);
    assert_true(str_eq(lower, STR("content-type \xC3\x84 9")));
    assert_int_equal(lower.ptr[lower.len], '\0');
    assert_int_equal(ascii_lower_copy(&mem, STR_NONE).len, 0);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii__agrees_with_the_c_locale),
        cmocka_unit_test(test_ascii__lowers_a_copy_and_leaves_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
