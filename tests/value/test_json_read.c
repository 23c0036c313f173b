/*
 * test_json_read.c - what the JSON reader takes, what it refuses, what it says.
 *
 * The groups of good and bad texts cover each kind of case that public suites
 * of JSON texts have; the texts are our own.
 */
#include "value/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct arena mem;

static int setup(void **state)
{
    (void)state;
    arena_init(&mem);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_fini(&mem);
    return 0;
}

static struct value read_good(struct str text)
{
    struct value v = value_absent();
    struct err err;

    if (!json_read(&mem, text, &v, &err))
        fail_msg("%.*s is refused: %u:%u: %s", STR_ARG(text), err.line, err.column, err.message);
    return v;
}

static struct err read_bad(struct str text)
{
    struct value v = value_int(42);
    struct err err = {.code = ERR_NONE};

    if (json_read(&mem, text, &v, &err))
        fail_msg("%.*s is accepted", STR_ARG(text));
    assert_int_equal(v.i, 42);
    return err;
}

/* --- kinds of values --- */

static void test_read__scalars_stand_alone(void **state)
{
    (void)state;
    assert_int_equal(read_good(STR("null")).kind, VALUE_NULL);
    assert_true(value_is_true(read_good(STR("true"))));
    assert_int_equal(read_good(STR(" false\n")).u, 0);
    assert_int_equal(read_good(STR("\t-12\r\n")).i, -12);
    assert_true(str_eq(value_text(read_good(STR("\"\""))), STR("")));
    assert_true(str_eq(value_text(read_good(STR("\"a b\""))), STR("a b")));
}

static void test_read__integers_are_exact_and_other_numbers_double(void **state)
{
    const struct {
        const char *text;
        enum value_kind kind;
        int64_t i;
        double d;
    } cases[] = {
        {"0", VALUE_INT, 0, 0},
        {"-0", VALUE_INT, 0, 0},
        {"7", VALUE_INT, 7, 0},
        {"-1", VALUE_INT, -1, 0},
        {"9007199254740993", VALUE_INT, 9007199254740993, 0},
        {"999999999999999999", VALUE_INT, 999999999999999999, 0},
        {"9223372036854775807", VALUE_INT, INT64_MAX, 0},
        {"-9223372036854775808", VALUE_INT, INT64_MIN, 0},
        {"9223372036854775808", VALUE_DOUBLE, 0, 0x1p63},
        {"-9223372036854775809", VALUE_DOUBLE, 0, -0x1p63},
        {"18446744073709551615", VALUE_DOUBLE, 0, 0x1p64},
        {"18446744073709551617", VALUE_DOUBLE, 0, 0x1p64},
        {"99999999999999999999999999999999999999", VALUE_DOUBLE, 0, 1e38},
        {"1.0", VALUE_DOUBLE, 0, 1},
        {"-0.0", VALUE_DOUBLE, 0, -0.0},
        {"1e0", VALUE_DOUBLE, 0, 1},
        {"1E+2", VALUE_DOUBLE, 0, 100},
        {"0e5", VALUE_DOUBLE, 0, 0},
        {"25e-1", VALUE_DOUBLE, 0, 2.5},
        {"0.1", VALUE_DOUBLE, 0, 0.1},
        {"123.456", VALUE_DOUBLE, 0, 123.456},
        {"-1.25E-02", VALUE_DOUBLE, 0, -0.0125},
        {"1.7976931348623157e308", VALUE_DOUBLE, 0, 1.7976931348623157e308},
        {"5e-324", VALUE_DOUBLE, 0, 5e-324},
        {"1e-400", VALUE_DOUBLE, 0, 0},
        {"1e-99999999999999999999", VALUE_DOUBLE, 0, 0},
        {"0e99999999999999999999", VALUE_DOUBLE, 0, 0},
        {"0.00000000000000000000000000000000000000000000000001", VALUE_DOUBLE, 0, 1e-50},
        {"3.14159265358979323846264338327950288419716939937510582097494459", VALUE_DOUBLE, 0,
         3.141592653589793},
        {"98765432109.8765432109", VALUE_DOUBLE, 0, 98765432109.87654},
        {"-98765432109.87654321098765", VALUE_DOUBLE, 0, -98765432109.87654},
        {"0.98765432109876543210", VALUE_DOUBLE, 0, 0.9876543210987654},
        {"98765432109876543210.5e-20", VALUE_DOUBLE, 0, 0.9876543210987654},
        {"9007199254740993.00000000000000000000000000000000000001", VALUE_DOUBLE, 0,
         9007199254740994.0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct value v = read_good(str_of(cases[i].text));

        assert_int_equal(v.kind, cases[i].kind);
        if (v.kind == VALUE_INT)
            assert_int_equal(v.i, cases[i].i);
        else
            assert_memory_equal(&v.d, &cases[i].d, sizeof(v.d));
    }
}

static void test_read__lists_and_maps_keep_their_order(void **state)
{
    struct value v =
        read_good(STR(" [ 1 , [ ] , { } , [ 2 , [ 3 ] ] , { \"b\" : 1 , \"a\" : { \"c\" : "
                      "[ null ] } } ] "));
    struct value map;

    (void)state;
    assert_int_equal(v.kind, VALUE_LIST);
    assert_int_equal(v.len, 5);
    assert_int_equal(v.items[0].i, 1);
    assert_int_equal(v.items[1].kind, VALUE_LIST);
    assert_int_equal(v.items[1].len, 0);
    assert_int_equal(v.items[2].kind, VALUE_MAP);
    assert_int_equal(v.items[2].len, 0);
    assert_int_equal(v.items[3].items[1].items[0].i, 3);
    map = v.items[4];
    assert_int_equal(map.len, 2);
    assert_true(str_eq(value_text(map.map->entries[0].key), STR("b")));
    assert_true(str_eq(value_text(map.map->entries[1].key), STR("a")));
    assert_int_equal(value_map_get_str(value_map_get_str(map, STR("a")), STR("c")).items[0].kind,
                     VALUE_NULL);
}

static void test_read__large_lists_and_maps(void **state)
{
    struct buf text;
    struct value v;

    (void)state;
    buf_init_arena(&text, &mem);
    buf_text(&text, "{\"list\":[");
    for (int i = 0; i < 20000; i++)
        buf_printf(&text, "%s%d", i == 0 ? "" : ",", i);
    buf_text(&text, "],\"map\":{");
    for (int i = 0; i < 20000; i++)
        buf_printf(&text, "%s\"key%d\":%d", i == 0 ? "" : ",", i, i);
    buf_text(&text, "}}");
    v = read_good(buf_view(&text));
    assert_int_equal(value_map_get_str(v, STR("list")).len, 20000);
    assert_int_equal(value_map_get_str(v, STR("list")).items[19999].i, 19999);
    v = value_map_get_str(v, STR("map"));
    assert_int_equal(v.len, 20000);
    assert_int_equal(value_map_get_str(v, STR("key19999")).i, 19999);
    assert_int_equal(value_map_get_str(v, STR("key20000")).kind, VALUE_ABSENT);
}

/* --- strings --- */

static void test_read__strings_are_unescaped(void **state)
{
    const struct {
        struct str text, expected;
    } cases[] = {
        {STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), STR("\"\\/\b\f\n\r\t")},
        {STR("\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\""),
         STR("A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")},
        {STR("\"\\uDBFF\\uDFFF\\uFFFF\\u007f\""), STR("\xF4\x8F\xBF\xBF\xEF\xBF\xBF\x7F")},
        {STR("\"\\\\u0000\""), STR("\\u0000")},
        {STR("\"\x7F/'\""), STR("\x7F/'")},
        {STR("\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xE2\x80\xA8\xE2\x80\xA9\""),
         STR("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xE2\x80\xA8\xE2\x80\xA9")},
        {STR("\"0123456789abcdef0123456789abcdef\\n0123456789abcdef\""),
         STR("0123456789abcdef0123456789abcdef\n0123456789abcdef")},
        {STR("\"0123456789abcde\xC3\xA9\\u00e90123456789abcdef\xC3\xA9z\""),
         STR("0123456789abcde\xC3\xA9\xC3\xA9"
             "0123456789abcdef\xC3\xA9z")},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct value v = read_good(cases[i].text);
        assert_int_equal(v.kind, VALUE_STRING);
        assert_true(str_eq(value_text(v), cases[i].expected));
    }
}

/* Each place in a block of 16 is reached by the quote, an escape and a wide character. */
static void test_read__strings_of_every_length(void **state)
{
    const struct str ends[] = {STR(""), STR("\\n"), STR("\xC3\xA9"), STR("\\u00e9x")};
    const struct str unescaped[] = {STR(""), STR("\n"), STR("\xC3\xA9"), STR("\xC3\xA9x")};

    (void)state;
    for (size_t len = 0; len < 70; len++)
        for (size_t e = 0; e < COUNT(ends); e++) {
            struct buf text, expected;
            struct value v;

            buf_init_arena(&text, &mem);
            buf_init_arena(&expected, &mem);
            buf_text(&text, "[\"");
            for (size_t i = 0; i < len; i++) {
                buf_char(&text, (char)('a' + i % 26));
                buf_char(&expected, (char)('a' + i % 26));
            }
            buf_str(&text, ends[e]);
            buf_str(&expected, unescaped[e]);
            buf_text(&text, "\"]");
            v = read_good(buf_view(&text));
            assert_true(str_eq(value_text(v.items[0]), buf_view(&expected)));
        }
}

static void test_read__leaves_the_text_alone(void **state)
{
    char text[] = "{\"a\\n\":\"\\u0041\"}";
    char before[sizeof(text)];
    struct value v;

    (void)state;
    memcpy(before, text, sizeof(text));
    v = read_good(str_from(text, sizeof(text) - 1));
    assert_memory_equal(text, before, sizeof(text));
    memset(text, 'x', sizeof(text));
    assert_true(str_eq(value_text(value_map_get_str(v, STR("a\n"))), STR("A")));
}

/* --- refusing --- */

static void test_read__refuses_what_is_not_json(void **state)
{
    const struct str cases[] = {
        /* nothing, or not enough */
        STR(""),
        STR(" "),
        STR("\n\n"),
        STR("["),
        STR("{"),
        STR("[1"),
        STR("[1,"),
        STR("{\"a\""),
        STR("{\"a\":"),
        STR("{\"a\":1"),
        STR("{\"a\":1,"),
        STR("\""),
        STR("\"a"),
        STR("\"\\"),
        STR("\"\\u"),
        STR("\"\\u00"),
        STR("[\"a"),
        STR("[["),
        STR("[{"),
        STR("{\"a\":["),
        STR("-"),
        STR("t"),
        STR("nul"),
        STR("fals"),
        STR("[tru"),
        /* too much */
        STR("1 2"),
        STR("[]]"),
        STR("{}}"),
        STR("[][]"),
        STR("{}[]"),
        STR("null,"),
        STR("1,2"),
        STR("\"a\" \"b\""),
        STR("[] x"),
        STR("{}#"),
        STR("[]//"),
        STR("{} /* */"),
        STR("1]"),
        /* punctuation */
        STR("[,]"),
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
        STR("<1>"),
        /* keys */
        STR("{a:1}"),
        STR("{'a':1}"),
        STR("{1:1}"),
        STR("{null:1}"),
        STR("{[]:1}"),
        STR("{\"a\":1,b:2}"),
        /* words */
        STR("True"),
        STR("NULL"),
        STR("undefined"),
        STR("nil"),
        STR("truee"),
        STR("nullx"),
        STR("true1"),
        STR("NaN"),
        STR("Infinity"),
        STR("-Infinity"),
        STR("[-NaN]"),
        STR("TRUE"),
        STR("'a'"),
        STR("a"),
        STR("*"),
        STR("&a"),
        STR("@"),
        STR("\\u0061"),
        STR("[\\n]"),
        /* numbers */
        STR("01"),
        STR("-01"),
        STR("00"),
        STR("-00"),
        STR("+1"),
        STR("++1"),
        STR("--1"),
        STR("- 1"),
        STR(".5"),
        STR("-.5"),
        STR("1."),
        STR("1.e1"),
        STR("-1."),
        STR("0.e1"),
        STR("1e"),
        STR("1e+"),
        STR("1e-"),
        STR("1E"),
        STR("0e"),
        STR("1.5e"),
        STR("1ea"),
        STR("1e1.5"),
        STR("1e+-1"),
        STR("1.2.3"),
        STR("1..2"),
        STR("0x10"),
        STR("0b1"),
        STR("1_000"),
        STR("1 000"),
        STR("1,000"),
        STR("1a"),
        STR("1.5f"),
        STR("-a"),
        STR("[-]"),
        STR("\xEF\xBC\x91"),
        STR("1e1\xE5"),
        STR("1L"),
        /* strings */
        STR("\"\n\""),
        STR("\"\t\""),
        STR("\"\x1F\""),
        STR("\"a\0b\""),
        STR("\"\\x41\""),
        STR("\"\\a\""),
        STR("\"\\'\""),
        STR("\"\\0\""),
        STR("\"\\ \""),
        STR("\"\\U0041\""),
        STR("\"\\u004\""),
        STR("\"\\u00g0\""),
        STR("\"\\u 041\""),
        STR("\"\\u+041\""),
        STR("\"\\\n\""),
        STR("\"\\\""),
        STR("\"\\\\\\\""),
        STR("`a`"),
        STR("\"\\\xC3\xA9\""),
        STR("\"\\\0\""),
        /* white space that JSON does not know */
        STR("\f1"),
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
        STR("\x7F"),
        /* comments */
        STR("/**/1"),
        STR("[1,/*a*/2]"),
        STR("[1]//a"),
        STR("{\"a\":1/*b*/}"),
        STR("#1"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = read_bad(cases[i]);
        assert_int_equal(err.code, ERR_BAD_JSON);
        assert_true(err.line >= 1 && err.column >= 1);
        assert_true(err.message[0] != '\0');
    }
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
            read_good(buf_view(&text));
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
    read_good(buf_view(&text));
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
        {STR("{\"a\":1 \"b\":2}"), 1, 8, "expected ',' or '}' after the value, found '\"'"},
        {STR("[1 2]"), 1, 4, "expected ',' or ']' after the value, found '2'"},
        {STR("{\n  \"a\": 1,\n  \"b\" 2\n}"), 3, 7, "expected ':' after the key, found '2'"},
        {STR("{\"a\":1,}"), 1, 8,
         "expected a key in double quotes, found '}'; take away the comma before it"},
        {STR("[1,]"), 1, 4, "expected a value, found ']'; take away the comma before it"},
        {STR("{\"a\": 1,\n}"), 2, 1,
         "expected a key in double quotes, found '}'; take away the comma before it"},
        {STR("[}"), 1, 2, "expected a value, found '}'"},
        {STR("['a']"), 1, 2, "strings are written with double quotes"},
        {STR("[1] x"), 1, 5, "expected nothing after the value, found 'x'"},
        {STR("{\"a\":1,\n \"b\":2, \"a\":3}"), 2, 9, "duplicate key \"a\""},
        {STR("{\"\\u0061\":1,\"a\":3}"), 1, 13, "duplicate key \"a\""},
        {STR("{\"x\":{\"\":1,\"\":3}}"), 1, 12, "duplicate key \"\""},
        {STR("[\"\xC3\xA9\xF0\x9F\x98\x80\", x]"), 1, 8, "expected a value, found 'x'"},
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
        cmocka_unit_test(test_read__scalars_stand_alone),
        cmocka_unit_test(test_read__integers_are_exact_and_other_numbers_double),
        cmocka_unit_test(test_read__lists_and_maps_keep_their_order),
        cmocka_unit_test(test_read__large_lists_and_maps),
        cmocka_unit_test(test_read__strings_are_unescaped),
        cmocka_unit_test(test_read__strings_of_every_length),
        cmocka_unit_test(test_read__leaves_the_text_alone),
        cmocka_unit_test(test_read__refuses_what_is_not_json),
        cmocka_unit_test(test_read__refuses_what_is_not_utf8),
        cmocka_unit_test(test_read__refuses_nul_and_half_pairs),
        cmocka_unit_test(test_read__refuses_numbers_too_large),
        cmocka_unit_test(test_read__depth_is_bounded),
        cmocka_unit_test(test_read__errors_say_what_and_where),
        cmocka_unit_test(test_read__finds_duplicates_in_maps_of_every_size),
        cmocka_unit_test(test_read__refuses_four_gibibytes),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
