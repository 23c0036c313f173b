/* test_ui.c - which encoding a browser takes, and which files it has already. */
#include "api/serve/ui.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_ui__an_encoding_is_taken_when_it_is_listed(void **state)
{
    (void)state;
    assert_true(ui_accepts(STR("gzip, deflate, br"), STR("br")));
    assert_true(ui_accepts(STR("GZIP"), STR("gzip")));
    assert_true(ui_accepts(STR("br;q=0.5 , gzip;q=1"), STR("br")));
    assert_true(ui_accepts(STR("*"), STR("br")));
    assert_false(ui_accepts(STR_NONE, STR("gzip")));
    assert_false(ui_accepts(STR(""), STR("gzip")));
    assert_false(ui_accepts(STR("brotli"), STR("br")));
    assert_false(ui_accepts(STR("deflate"), STR("gzip")));
}

static void test_ui__an_encoding_of_no_weight_is_refused(void **state)
{
    (void)state;
    assert_false(ui_accepts(STR("gzip;q=0"), STR("gzip")));
    assert_false(ui_accepts(STR("gzip; q=0.000, br"), STR("gzip")));
    assert_false(ui_accepts(STR("*, gzip;q=0"), STR("gzip")));
    assert_false(ui_accepts(STR("br, *;q=0"), STR("gzip")));
    assert_true(ui_accepts(STR("gzip;q=0.001"), STR("gzip")));
}

static void test_ui__a_known_tag_is_found_in_a_list(void **state)
{
    (void)state;
    assert_true(ui_tag_matches(STR("\"a-br\""), STR("\"a-br\"")));
    assert_true(ui_tag_matches(STR("\"x\", W/\"a-br\""), STR("\"a-br\"")));
    assert_true(ui_tag_matches(STR("*"), STR("\"a-br\"")));
    assert_false(ui_tag_matches(STR("\"a-gzip\""), STR("\"a-br\"")));
    assert_false(ui_tag_matches(STR("a-br"), STR("\"a-br\"")));
    assert_false(ui_tag_matches(STR_NONE, STR("\"a-br\"")));
}

static void test_ui__test_programs_have_no_pages(void **state)
{
    (void)state;
    assert_int_equal(ui_file_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ui__an_encoding_is_taken_when_it_is_listed),
        cmocka_unit_test(test_ui__an_encoding_of_no_weight_is_refused),
        cmocka_unit_test(test_ui__a_known_tag_is_found_in_a_list),
        cmocka_unit_test(test_ui__test_programs_have_no_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
