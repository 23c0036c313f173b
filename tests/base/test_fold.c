/* test_fold.c - letters without their case; see base/text/fold.h. */
#include "base/text/fold.h"
#include "base/text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_fold__lists_hold_the_letters_that_are_changed_and_no_others(void **state)
{
    struct str capitals = STR(FOLD_CAPITALS), small = STR(FOLD_SMALL);
    size_t at = 0, beside = 0, listed = 0, changed = 0;

    (void)state;
    for (; at < capitals.len; listed++)
        assert_int_equal(fold_code_point(utf8_next(capitals, &at)), utf8_next(small, &beside));
    assert_int_equal(beside, small.len);
    for (uint32_t c = 0; c <= 0x10ffff; c++)
        changed += fold_code_point(c) != c;
    assert_int_equal(listed, changed);
}

static void test_fold__small_letters_stay_small_and_as_long(void **state)
{
    char bytes[4], other[4];

    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        uint32_t small = fold_code_point(c);

        if (c >= 0xd800 && c <= 0xdfff)
            continue;
        assert_int_equal(fold_code_point(small), small);
        assert_int_equal(utf8_encode(bytes, c), utf8_encode(other, small));
    }
}

static void test_fold__texts_of_several_scripts(void **state)
{
    struct arena mem;

    (void)state;
    arena_init(&mem);
    assert_true(str_eq(fold_copy(&mem, STR("Кабель ЁЛКА Їжак ÄÖÜ ŁÓDŹ ΆΛΦΑ x1")),
                       STR("кабель ёлка їжак äöü łódź άλφα x1")));
    assert_true(str_eq(fold_copy(&mem, STR("")), STR("")));
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fold__lists_hold_the_letters_that_are_changed_and_no_others),
        cmocka_unit_test(test_fold__small_letters_stay_small_and_as_long),
        cmocka_unit_test(test_fold__texts_of_several_scripts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
