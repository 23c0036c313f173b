/* test_names.c - claims about names.h. */
#include "base/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum fruit { FRUIT_APPLE, FRUIT_PEAR, FRUIT_PLUM };

static const char *const plain[] = {"apple", "pear", "plum"};

static const struct {
    const char *name;
    int weight;
} rows[] = {{"apple", 3}, {"pear", 2}, {"plum", 1}};

static NAMES_NAME(plain_name, enum fruit, plain) static NAMES_READ(
    plain_read, enum fruit, plain) static NAMES_NAME(row_name, enum fruit,
                                                     rows) static NAMES_READ(row_read, enum fruit,
                                                                             rows)

    static void test_names__lead_there_and_back(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        enum fruit found = FRUIT_APPLE;

        assert_string_equal(plain_name((enum fruit)i), plain[i]);
        assert_string_equal(row_name((enum fruit)i), plain[i]);
        assert_true(plain_read(str_of(plain[i]), &found));
        assert_int_equal(found, i);
        assert_true(row_read(str_of(rows[i].name), &found));
        assert_int_equal(found, i);
    }
}

static void test_names__unknown_one_changes_nothing(void **state)
{
    enum fruit found = FRUIT_PEAR;

    (void)state;
    assert_false(plain_read(STR("app"), &found));
    assert_false(plain_read(STR("apples"), &found));
    assert_false(row_read(STR_NONE, &found));
    assert_int_equal(found, FRUIT_PEAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names__lead_there_and_back),
        cmocka_unit_test(test_names__unknown_one_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
