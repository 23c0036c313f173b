/* test_err.c - claims about err.h. */
#include "base/err.h"

#include "base/text/utf8.h"

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

static void assert_text(struct str text, const char *wanted)
{
    assert_int_equal(text.len, strlen(wanted));
    assert_memory_equal(text.ptr, wanted, text.len);
}

static void test_err__one_that_is_put_into_another_stays_a_sentence(void **state)
{
    static const char format[] = "%s is no %s";
    struct err err;
    struct sentence inner;

    (void)state;
    (void)err_set(&err, ERR_INVALID, format, "x", "number");
    (void)err_set(&err, ERR_INVALID, "where: %pS", ERR_ARG(&err));
    assert_string_equal(err.message, "where: x is no number");
    inner = sentence_at(err_sentence(&err), 1);
    assert_ptr_equal(inner.parts[0].format, format);
    assert_text(sentence_at(inner, 2).text, "number");
}

static void test_err__a_hint_stands_behind_the_message_and_for_itself(void **state)
{
    struct err err;

    (void)state;
    (void)err_set_at(&err, ERR_EXPRESSION_TYPE, 2, 3, "there is no '%s'", "totl");
    assert_int_equal(sentence_hint(err_sentence(&err)).text.len, 0);
    assert_text(sentence_plain(err_sentence(&err)).text, "there is no 'totl'");
    err.about = ERR_ABOUT_VARIABLE;
    err_set_hint(&err, "did you mean '%s'?", "total");
    assert_string_equal(err.message, "there is no 'totl'; did you mean 'total'?");
    assert_int_equal(err.line, 2);
    assert_text(sentence_plain(err_sentence(&err)).text, "there is no 'totl'");
    assert_text(sentence_hint(err_sentence(&err)).text, "did you mean 'total'?");
    assert_text(err_name(&err, ERR_ABOUT_VARIABLE), "totl");
    assert_int_equal(err_name(&err, ERR_ABOUT_FUNCTION).len, 0);
}

static void test_err__names_and_hints_of_a_message_that_is_cut_are_there(void **state)
{
    char name[160];
    struct err err;

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    (void)err_set(&err, ERR_EXPRESSION_TYPE, "there is no '%s'", name);
    err.about = ERR_ABOUT_FUNCTION;
    err_set_hint(&err, "did you mean '%s'?", name);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    assert_text(err_name(&err, ERR_ABOUT_FUNCTION), name);
    assert_true(str_starts_with(sentence_hint(err_sentence(&err)).text, STR("did you mean 'xxx")));
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
        /* What the planner refuses with 422 machines refuse with 409, under the same code. */
        for (unsigned j = 0; j < i && code != ERR_EVENT_NOT_ALLOWED; j++)
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
    for (int i = 0; i < ERR_CLASS_COUNT; i++)
        assert_int_equal(err_class_find(str_of(err_class_name((enum err_class)i))), i);
    assert_int_equal(err_class_find(STR("Business")), ERR_CLASS_NONE);
    assert_int_equal(err_class_find(STR_NONE), ERR_CLASS_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_err__set_answers_false_and_forgets_an_earlier_place),
        cmocka_unit_test(test_err__a_long_message_is_cut_between_characters),
        cmocka_unit_test(test_err__one_that_is_put_into_another_stays_a_sentence),
        cmocka_unit_test(test_err__a_hint_stands_behind_the_message_and_for_itself),
        cmocka_unit_test(test_err__names_and_hints_of_a_message_that_is_cut_are_there),
        cmocka_unit_test(test_err__the_table_is_complete_and_codes_are_unique),
        cmocka_unit_test(test_err__known_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
