/* test_err.c - claims about err.h. */
#include "base/err.h"

#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_err__set_answers_false_and_forgets_an_earlier_place(void **state)
{
    struct err err;

    (void)state;
    assert_false(err_set_at(&err, ERR_BAD_JSON, 3, 14, "unexpected '%c'", ','));
    assert_int_equal(err.code, ERR_BAD_JSON);
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 14);
    assert_string_equal(err.message, "unexpected ','");
    assert_false(err_set(&err, ERR_IO, "disk %d", 2));
    assert_int_equal(err.code, ERR_IO);
    assert_int_equal(err.line, 0);
    assert_int_equal(err.column, 0);
    assert_string_equal(err.message, "disk 2");
}

static void test_err__a_long_message_is_cut_between_characters(void **state)
{
    struct err err;

    (void)state;
    for (int shift = 0; shift < 4; shift++) {
        char text[400];
        size_t len = (size_t)shift;

        memset(text, 'x', len);
        for (; len + 4 < sizeof(text); len += 4)
            memcpy(text + len, "\xF0\x9F\x98\x80", 4);
        text[len] = '\0';
        assert_false(err_set(&err, ERR_INVALID, "%s", text));
        assert_true(utf8_is_valid(str_of(err.message)));
        assert_true(strlen(err.message) > sizeof(err.message) - 5);
    }
}

static void test_err__the_table_is_complete_and_codes_are_unique(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ERR_COUNT; i++) {
        enum err_code code = (enum err_code)i;
        int status = err_http_status(code);

        assert_true(strlen(err_code_name(code)) > 0);
        assert_true(status >= 200 && status < 600);
        assert_non_null(err_class_name(err_class_of(code)));
        assert_int_equal(err_class_of(code) == ERR_CLASS_NONE, code == ERR_NONE);
        /* What the client did wrong does not get better by itself, unless it was only too much. */
        assert_false(status < 500 && status != 429 && err_is_retryable(code));
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(err_code_name(code), err_code_name((enum err_code)j));
    }
}

static void test_err__known_rows(void **state)
{
    (void)state;
    assert_string_equal(err_code_name(ERR_KEY_BUSY), "key_busy");
    assert_int_equal(err_http_status(ERR_KEY_BUSY), 409);
    assert_true(err_is_retryable(ERR_OVERLOADED));
    assert_string_equal(err_class_name(err_class_of(ERR_OUTCOME_UNKNOWN)), "indeterminate");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_err__set_answers_false_and_forgets_an_earlier_place),
        cmocka_unit_test(test_err__a_long_message_is_cut_between_characters),
        cmocka_unit_test(test_err__the_table_is_complete_and_codes_are_unique),
        cmocka_unit_test(test_err__known_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
