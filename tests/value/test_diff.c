/* test_diff.c - claims about differences of values, and about pieces of JSON texts. */
#include "value/diff.h"
#include "value/json_text.h"
#include "value/rig.h"

static void put(struct buf *out, struct value v)
{
    struct err err;

    if (v.kind == VALUE_ABSENT)
        buf_char(out, '-');
    else if (!json_write(out, v, &err))
        fail_msg("%s", err.message);
}

/* "pointer from>to" of each, with spaces between them. */
static const char *diff(const char *from, const char *to, size_t max)
{
    struct differences all = {0};
    struct buf out;

    value_diff(&mem, read_value(from), read_value(to), max, &all);
    buf_init_arena(&out, &mem);
    for (size_t i = 0; i < all.count; i++) {
        buf_printf(&out, "%s%.*s ", i > 0 ? " " : "", STR_ARG(all.items[i].pointer));
        put(&out, all.items[i].from);
        buf_char(&out, '>');
        put(&out, all.items[i].to);
    }
    return str_copy(&mem, buf_view(&out)).ptr;
}

static void test_diff__tells_the_smallest_parts(void **state)
{
    static const char *const rows[][3] = {
        {"1", "1", ""},
        {"1", "2", " 1>2"},
        {"1", "1.0", " 1>1.0"},
        {"{\"a\": 1, \"b\": [1, 2]}", "{ \"a\":1, \"b\":[1,2] }", ""},
        {"{\"a\": 1, \"b\": [1, 2]}", "{\"a\": 1, \"b\": [1, 3, 4]}", "/b/1 2>3 /b/2 ->4"},
        {"{\"a\": {\"x/y\": 1}}", "{\"a\": {}}", "/a/x~1y 1>-"},
        {"{\"a\": null}", "{}", "/a null>-"},
        {"{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}", " {\"a\":1,\"b\":2}>{\"b\":2,\"a\":1}"},
        {"[1]", "{\"0\": 1}", " [1]>{\"0\":1}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(diff(rows[i][0], rows[i][1], 10), rows[i][2]);
}

static void test_diff__items_with_codes_are_compared_by_them(void **state)
{
    static const char a[] = "{\"code\":\"a\",\"x\":1}", b[] = "{\"code\":\"b\",\"x\":1}";
    static const char c[] = "{\"code\":\"c\",\"x\":1}", other_b[] = "{\"code\":\"b\",\"x\":2}";
    const struct {
        const char *from[3], *to[3], *told;
    } rows[] = {
        {{a, b}, {c, a, b}, "/0 ->{\"code\":\"c\",\"x\":1}"},
        {{a, b, c}, {b, c}, "/0 {\"code\":\"a\",\"x\":1}>-"},
        {{a, b}, {c, a, other_b}, "/0 ->{\"code\":\"c\",\"x\":1} /2/x 1>2"},
        {{a, b},
         {b, a},
         " [{\"code\":\"a\",\"x\":1},{\"code\":\"b\",\"x\":1}]>"
         "[{\"code\":\"b\",\"x\":1},{\"code\":\"a\",\"x\":1}]"},
        {{a, a}, {a, b}, "/1/code \"a\">\"b\""},
        {{a, "1"}, {b, "1"}, "/0/code \"a\">\"b\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct buf from, to;

        buf_init_arena(&from, &mem);
        buf_init_arena(&to, &mem);
        for (size_t k = 0; k < 3; k++) {
            buf_printf(&from, "%s%s",
                       k == 0                    ? "["
                       : rows[i].from[k] != NULL ? ","
                                                 : "",
                       rows[i].from[k] != NULL ? rows[i].from[k] : "");
            buf_printf(&to, "%s%s",
                       k == 0                  ? "["
                       : rows[i].to[k] != NULL ? ","
                                               : "",
                       rows[i].to[k] != NULL ? rows[i].to[k] : "");
        }
        buf_text(&from, "]");
        buf_text(&to, "]");
        buf_char(&from, '\0');
        buf_char(&to, '\0');
        assert_string_equal(diff(from.ptr, to.ptr, 10), rows[i].told);
    }
}

static void test_diff__tells_no_more_than_it_may(void **state)
{
    (void)state;
    assert_string_equal(diff("[1, 2, 3, 4]", "[5, 6, 7, 8]", 2), "/0 1>5 /1 2>6");
}

static void test_text__members_and_items_are_cut_out_byte_for_byte(void **state)
{
    struct str text = STR(" { \"a\" : [ {\"b\": \"]}\\\"\"} ,1.50, \"x,y\",[ ],null ] , "
                          "\"it\\u0065ms\":{ \"z\" : 1 }  } ");
    static const char *const wanted[] = {"{\"b\": \"]}\\\"\"}", "1.50", "\"x,y\"", "[ ]", "null"};
    struct str list = json_text_member(&mem, text, STR("a")), items[8];

    (void)state;
    assert_int_equal(json_text_items(list, items, 8), 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(str_eq(items[i], str_of(wanted[i])));
    assert_true(str_eq(json_text_member(&mem, text, STR("items")), STR("{ \"z\" : 1 }")));
    assert_null(json_text_member(&mem, text, STR("nothing")).ptr);
    assert_null(json_text_member(&mem, STR("[1]"), STR("a")).ptr);
    assert_int_equal(json_text_items(STR("[]"), items, 8), 0);
    assert_int_equal(json_text_items(STR("[1,2,3]"), items, 2), 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_diff__tells_the_smallest_parts),
        TEST(test_diff__items_with_codes_are_compared_by_them),
        TEST(test_diff__tells_no_more_than_it_may),
        TEST(test_text__members_and_items_are_cut_out_byte_for_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
