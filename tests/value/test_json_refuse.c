/*
 * test_json_refuse.c - what the JSON reader refuses, and what it says.
 *
 * The groups cover each kind of case that public suites of JSON texts have;
 * the texts are our own.
 */
#include "value/rig.h"

#include <stdio.h>

static struct err read_bad(struct str text)
{
    struct value v = value_int(42);
    struct err err = {.code = ERR_NONE};

    if (json_read(&mem, text, &v, &err))
        fail_msg("%.*s is accepted", STR_ARG(text));
    assert_int_equal(v.i, 42);
    return err;
}

/* Each with a place and a message. */
static void refuse_all(const struct str *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct err err = read_bad(cases[i]);
        assert_int_equal(err.code, ERR_BAD_JSON);
        assert_true(err.line >= 1 && err.column >= 1);
        assert_true(err.message[0] != '\0');
    }
}

/* --- what is not JSON --- */

static void test_read__refuses_what_is_not_all_there(void **state)
{
    const struct str cases[] = {
        STR(""),          STR(" "),    STR("\n\n"),   STR("["),       STR("{"),
        STR("[1"),        STR("[1,"),  STR("{\"a\""), STR("{\"a\":"), STR("{\"a\":1"),
        STR("{\"a\":1,"), STR("\""),   STR("\"a"),    STR("\"\\"),    STR("\"\\u"),
        STR("\"\\u00"),   STR("[\"a"), STR("[["),     STR("[{"),      STR("{\"a\":["),
        STR("-"),         STR("t"),    STR("nul"),    STR("fals"),    STR("[tru")};

    (void)state;
    refuse_all(cases, COUNT(cases));
}

static void test_read__refuses_what_goes_on_behind_its_end(void **state)
{
    const struct str cases[] = {STR("1 2"),  STR("[]]"),   STR("{}}"),  STR("[][]"),
                                STR("{}[]"), STR("null,"), STR("1,2"),  STR("\"a\" \"b\""),
                                STR("[] x"), STR("{}#"),   STR("[]//"), STR("{} /* */"),
                                STR("1]")};

    (void)state;
    refuse_all(cases, COUNT(cases));
}

static void test_read__refuses_other_punctuation(void **state)
{
    const struct str cases[] = {STR("[,]"),
                                STR("[,1]"),
                                STR("[1,]"),
                                STR("[1,,2]"),
                                STR("[1 2]"),
                                STR("[1;2]"),
                                STR("[1:2]"),
                                STR("[\"a\":1]"),
                                STR("[1}"),
                                STR("{1]"),
                                STR("{]"),
                                STR("[}"),
                                STR("]"),
                                STR("}"),
                                STR(","),
                                STR(":"),
                                STR("{,}"),
                                STR("{\"a\":1,}"),
                                STR("{\"a\":1,,\"b\":2}"),
                                STR("{\"a\" 1}"),
                                STR("{\"a\"::1}"),
                                STR("{\"a\",1}"),
                                STR("{\"a\":}"),
                                STR("{:1}"),
                                STR("{\"a\"}"),
                                STR("{\"a\":1 \"b\":2}"),
                                STR("{\"a\":1:2}"),
                                STR("{\"a\":1]"),
                                STR("([1])"),
                                STR("<1>")};

    (void)state;
    refuse_all(cases, COUNT(cases));
}

static void test_read__refuses_keys_without_quotes(void **state)
{
    const struct str cases[] = {STR("{a:1}"),    STR("{'a':1}"), STR("{1:1}"),
                                STR("{null:1}"), STR("{[]:1}"),  STR("{\"a\":1,b:2}")};

    (void)state;
    refuse_all(cases, COUNT(cases));
}

static void test_read__refuses_other_words(void **state)
{
    const struct str cases[] = {STR("True"),     STR("NULL"),      STR("undefined"), STR("nil"),
                                STR("truee"),    STR("nullx"),     STR("true1"),     STR("NaN"),
                                STR("Infinity"), STR("-Infinity"), STR("[-NaN]"),    STR("TRUE"),
                                STR("'a'"),      STR("a"),         STR("*"),         STR("&a"),
                                STR("@"),        STR("\\u0061"),   STR("[\\n]")};

    (void)state;
    refuse_all(cases, COUNT(cases));
}

static void test_read__refuses_other_numbers(void **state)
{
    const struct str cases[] = {
        STR("01"),   STR("-01"),  STR("00"),  STR("-00"),   STR("+1"),           STR("++1"),
        STR("--1"),  STR("- 1"),  STR(".5"),  STR("-.5"),   STR("1."),           STR("1.e1"),
        STR("-1."),  STR("0.e1"), STR("1e"),  STR("1e+"),   STR("1e-"),          STR("1E"),
        STR("0e"),   STR("1.5e"), STR("1ea"), STR("1e1.5"), STR("1e+-1"),        STR("1.2.3"),
        STR("1..2"), STR("0x10"), STR("0b1"), STR("1_000"), STR("1 000"),        STR("1,000"),
        STR("1a"),   STR("1.5f"), STR("-a"),  STR("[-]"),   STR("\xEF\xBC\x91"), STR("1e1\xE5"),
        STR("1L")};

    (void)state;
    refuse_all(cases, COUNT(cases));
}

static void test_read__refuses_other_strings(void **state)
{
    const struct str cases[] = {
        STR("\"\n\""),      STR("\"\t\""),      STR("\"\x1F\""),       STR("\"a\0b\""),
        STR("\"\\x41\""),   STR("\"\\a\""),     STR("\"\\'\""),        STR("\"\\0\""),
        STR("\"\\ \""),     STR("\"\\U0041\""), STR("\"\\u004\""),     STR("\"\\u00g0\""),
        STR("\"\\u 041\""), STR("\"\\u+041\""), STR("\"\\\n\""),       STR("\"\\\""),
        STR("\"\\\\\\\""),  STR("`a`"),         STR("\"\\\xC3\xA9\""), STR("\"\\\0\"")};

    (void)state;
    refuse_all(cases, COUNT(cases));
}

static void test_read__refuses_other_white_space(void **state)
{
    const struct str cases[] = {STR("\f1"),
                                STR("\v1"),
                                STR("\xC2\xA0"
                                    "1"),
                                STR("1\xE2\x80\x83"),
                                STR("\xE2\x81\xA0"),
                                STR("[1\0]"),
                                STR("\0"),
                                STR("1\0"),
                                STR("\b1"),
                                STR("[\f]"),
                                STR("\x7F")};

    (void)state;
    refuse_all(cases, COUNT(cases));
}

static void test_read__refuses_comments(void **state)
{
    const struct str cases[] = {STR("/**/1"), STR("[1,/*a*/2]"), STR("[1]//a"),
                                STR("{\"a\":1/*b*/}"), STR("#1")};

    (void)state;
    refuse_all(cases, COUNT(cases));
}

static void test_read__refuses_what_is_not_utf8(void **state)
{
    const struct str cases[] = {
        STR("\"\x80\""),
        STR("\"\xBF\""),
        STR("\"\xC0\x80\""),
        STR("\"\xC1\xBF\""),
        STR("\"\xC3\""),
        STR("\"\xC3(\""),
        STR("\"\xE0\x80\x80\""),
        STR("\"\xE0\x9F\xBF\""),
        STR("\"\xE2\x82\""),
        STR("\"\xE2(\xA1\""),
        STR("\"\xED\xA0\x80\""),
        STR("\"\xED\xBF\xBF\""),
        STR("\"\xF0\x80\x80\x80\""),
        STR("\"\xF0\x8F\xBF\xBF\""),
        STR("\"\xF4\x90\x80\x80\""),
        STR("\"\xF5\x80\x80\x80\""),
        STR("\"\xF8\x88\x80\x80\x80\""),
        STR("\"\xFE\""),
        STR("\"\xFF\""),
        STR("\"\xF0\x9F\x98\""),
        STR("\"abcdefghijklmno\xC3"),
        STR("{\"\xE9\":1}"),
        STR("\xE9"),
        STR("[\xFF]"),
        STR("\xFF\xFE[\0]\0"),
        STR("\"\\n\xE9\""),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(read_bad(cases[i]).message, "the text is not UTF-8");
}

static void test_read__refuses_nul_and_half_pairs(void **state)
{
    const struct str halves[] = {
        STR("\"\\uD800\""),        STR("\"\\uDC00\""),        STR("\"\\uD800x\""),
        STR("\"\\uD800\\n\""),     STR("\"\\uD800\\uD800\""), STR("\"\\uDC00\\uD800\""),
        STR("\"\\uD83D\\u0041\""), STR("\"\\uD83D\\\""),      STR("\"\\ud83d\\ude\""),
        STR("{\"\\uDFFF\":1}"),    STR("\"\\uDBFF\\uE000\""),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(halves); i++)
        assert_string_equal(read_bad(halves[i]).message, "half a surrogate pair");
    assert_string_equal(read_bad(STR("\"a\\u0000b\"")).message, "U+0000 is not allowed");
    assert_string_equal(read_bad(STR("{\"\\u0000\":1}")).message, "U+0000 is not allowed");
    read_bad(STR("\"a\0b\""));
}

/* --- limits, and what is said --- */

static void test_read__refuses_numbers_too_large(void **state)
{
    static const char *const cases[] = {"1e309",          "-1e309",
                                        "1e999999999999", "1.8e308",
                                        "123456789e301",  "[0.4e00669999999999999999999]"};
    struct buf long_one;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(read_bad(str_of(cases[i])).message, "the number is too large");
    buf_init_arena(&long_one, &mem);
    for (int i = 0; i < 400; i++)
        buf_char(&long_one, '9');
    assert_string_equal(read_bad(buf_view(&long_one)).message, "the number is too large");
}

static void test_read__depth_is_bounded(void **state)
{
    struct buf text;

    (void)state;
    for (int depth = JSON_DEPTH_MAX - 1; depth <= JSON_DEPTH_MAX + 1; depth++) {
        buf_init_arena(&text, &mem);
        for (int i = 0; i < depth; i++)
            buf_text(&text, i % 2 == 0 ? "[" : "{\"a\":");
        for (int i = depth - 1; i >= 0; i--) {
            if (i == depth - 1 && i % 2 == 1)
                buf_char(&text, '1');
            buf_text(&text, i % 2 == 0 ? "]" : "}");
        }
        if (depth <= JSON_DEPTH_MAX)
            (void)read_text(buf_view(&text));
        else
            assert_string_equal(read_bad(buf_view(&text)).message, "nested deeper than 256 levels");
    }
    buf_init_arena(&text, &mem);
    for (int i = 0; i < 100000; i++)
        buf_char(&text, '[');
    assert_int_equal(read_bad(buf_view(&text)).column, JSON_DEPTH_MAX + 1);
    /* Side by side is not depth. */
    buf_clear(&text);
    buf_text(&text, "[[]");
    for (int i = 0; i < 1000; i++)
        buf_text(&text, ",[[]]");
    buf_char(&text, ']');
    (void)read_text(buf_view(&text));
}

static void test_read__errors_say_what_and_where(void **state)
{
    const struct {
        struct str text;
        uint32_t line, column;
        const char *message;
    } cases[] = {
        {STR(""), 1, 1, "expected a value, but the text ends here"},
        {STR("{\"a\":1"), 1, 7, "expected ',' or '}' after the value, but the text ends here"},
        {STR("{\"a\":1 \"b\":2}"), 1, 8,
         "expected ',' or '}' after the value, found '\"'; a comma is missing before it"},
        {STR("[1 2]"), 1, 4, "expected ',' or ']' after the value, found '2'"},
        {STR("{\n  \"a\": 1,\n  \"b\" 2\n}"), 3, 7, "expected ':' after the key, found '2'"},
        {STR("{\"a\":1,}"), 1, 8,
         "expected a key in double quotes, found '}'; take away the comma before it"},
        {STR("[1,]"), 1, 4, "expected a value, found ']'; take away the comma before it"},
        {STR("{\"a\": 1,\n}"), 2, 1,
         "expected a key in double quotes, found '}'; take away the comma before it"},
        {STR("[}"), 1, 2, "expected a value, found '}'"},
        {STR("['a']"), 1, 2,
         "expected a value, found '''; texts and keys are written with double quotes"},
        {STR("{'a': 1}"), 1, 2,
         "expected a key in double quotes, found '''; texts and keys are written with double "
         "quotes"},
        {STR("{code: 1}"), 1, 2,
         "expected a key in double quotes, found 'c'; a text stands in double quotes: \"code\""},
        {STR("[\n  // why\n 1]"), 2, 3,
         "expected a value, found '/'; JSON has no comments: take it away (files for pawl may "
         "have them)"},
        {STR("[1 /* why */]"), 1, 4,
         "expected ',' or ']' after the value, found '/'; JSON has no comments: take it away "
         "(files for pawl may have them)"},
        {STR("[1] # why"), 1, 5,
         "expected nothing after the value, found '#'; JSON has no comments; in files for pawl "
         "they begin with //"},
        {STR("code: order\nsteps:\n"), 1, 1,
         "expected a value, found 'c'; if this is YAML, its file must be called .yaml"},
        {STR("---\ncode: order\n"), 1, 2,
         "expected a digit after '-', found '-'; if this is YAML, its file must be called .yaml"},
        {STR("- code: order\n"), 1, 2,
         "expected a digit after '-', found ' '; if this is YAML, its file must be called .yaml"},
        {STR("{\"a\": True}"), 1, 7,
         "expected a value, found 'T'; true and false are written small"},
        {STR("{\"a\": None}"), 1, 7,
         "expected a value, found 'N'; what is not known is written null"},
        {STR("[1] x"), 1, 5, "expected nothing after the value, found 'x'"},
        {STR("{\"a\":1,\n \"b\":2, \"a\":3}"), 2, 9, "duplicate key \"a\""},
        {STR("{\"\\u0061\":1,\"a\":3}"), 1, 13, "duplicate key \"a\""},
        {STR("{\"x\":{\"\":1,\"\":3}}"), 1, 12, "duplicate key \"\""},
        {STR("[\"\xC3\xA9\xF0\x9F\x98\x80\", x]"), 1, 8,
         "expected a value, found 'x'; a text stands in double quotes: \"x\""},
        {STR("[\xC3\xA9]"), 1, 2, "expected a value, found '\xC3\xA9'"},
        {STR("\"abc"), 1, 5, "the string is not closed"},
        {STR("\"a\nb\""), 1, 3, "control character U+000A in a string must be escaped"},
        {STR("\"\\n\\q\""), 1, 4, "unknown escape; write \\\\ for a backslash"},
        {STR("\"ab\\u12\""), 1, 4, "\\u needs four hexadecimal digits"},
        {STR("[01]"), 1, 2, "a number may not start with 0"},
        {STR("[1.]"), 1, 4, "expected a digit after the point, found ']'"},
        {STR("[1e]"), 1, 4, "expected a digit in the exponent, found ']'"},
        {STR("-"), 1, 2, "expected a digit after '-', but the text ends here"},
        {STR("[1,\0]"), 1, 4, "expected a value, found control character U+0000"},
        {STR("\xEF\xBB\xBF{}"), 1, 1,
         "the text starts with a byte order mark; save it as UTF-8 without one"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = read_bad(cases[i].text);

        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.column, cases[i].column);
    }
}

static void test_read__finds_duplicates_in_maps_of_every_size(void **state)
{
    (void)state;
    for (int count = 2; count < 40; count++)
        for (int at = 0; at < count - 1; at += 3) {
            struct buf text;
            char message[64];

            buf_init_arena(&text, &mem);
            for (int i = 0; i < count; i++)
                buf_printf(&text, "%c\"key number %d\":%d", i == 0 ? '{' : ',',
                           i == count - 1 ? at : i, i);
            buf_char(&text, '}');
            snprintf(message, sizeof(message), "duplicate key \"key number %d\"", at);
            assert_string_equal(read_bad(buf_view(&text)).message, message);
        }
}

static void test_read__refuses_four_gibibytes(void **state)
{
    (void)state;
    /* The length is looked at before the text. */
    assert_int_equal(read_bad(str_from("1", (size_t)UINT32_MAX + 1)).code, ERR_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read__refuses_what_is_not_all_there),
        cmocka_unit_test(test_read__refuses_what_goes_on_behind_its_end),
        cmocka_unit_test(test_read__refuses_other_punctuation),
        cmocka_unit_test(test_read__refuses_keys_without_quotes),
        cmocka_unit_test(test_read__refuses_other_words),
        cmocka_unit_test(test_read__refuses_other_numbers),
        cmocka_unit_test(test_read__refuses_other_strings),
        cmocka_unit_test(test_read__refuses_other_white_space),
        cmocka_unit_test(test_read__refuses_comments),
        cmocka_unit_test(test_read__refuses_what_is_not_utf8),
        cmocka_unit_test(test_read__refuses_nul_and_half_pairs),
        cmocka_unit_test(test_read__refuses_numbers_too_large),
        cmocka_unit_test(test_read__depth_is_bounded),
        cmocka_unit_test(test_read__errors_say_what_and_where),
        cmocka_unit_test(test_read__finds_duplicates_in_maps_of_every_size),
        cmocka_unit_test(test_read__refuses_four_gibibytes),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
