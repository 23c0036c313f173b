/* test_json_read.c - what the JSON reader takes, and what becomes of it. */
#include "value/rig.h"

#include <math.h>
#include <stdio.h>

/* --- kinds of values --- */

static void test_read__scalars_stand_alone(void **state)
{
    (void)state;
    assert_int_equal(read_text(STR("null")).kind, VALUE_NULL);
    assert_true(value_is_true(read_text(STR("true"))));
    assert_int_equal(read_text(STR(" false\n")).u, 0);
    assert_int_equal(read_text(STR("\t-12\r\n")).i, -12);
    assert_true(str_eq(value_text(read_text(STR("\"\""))), STR("")));
    assert_true(str_eq(value_text(read_text(STR("\"a b\""))), STR("a b")));
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
        struct value v = read_text(str_of(cases[i].text));

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
        read_text(STR(" [ 1 , [ ] , { } , [ 2 , [ 3 ] ] , { \"b\" : 1 , \"a\" : { \"c\" : "
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
    v = read_text(buf_view(&text));
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
        struct value v = read_text(cases[i].text);
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
            v = read_text(buf_view(&text));
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
    v = read_text(str_from(text, sizeof(text) - 1));
    assert_memory_equal(text, before, sizeof(text));
    memset(text, 'x', sizeof(text));
    assert_true(str_eq(value_text(value_map_get_str(v, STR("a\n"))), STR("A")));
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
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
