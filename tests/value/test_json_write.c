/* test_json_write.c - what the JSON writer writes, and where it stops. */
#include "value/object.h"
#include "value/rig.h"

#include <math.h>
#include <stdio.h>

/* Zero-terminated. */
static const char *written(struct value v)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, &mem);
    if (!json_write(&out, v, &err))
        fail_msg("%s", err.message);
    buf_char(&out, '\0');
    return out.ptr;
}

static struct err refused(struct value v)
{
    struct buf out;
    struct err err = {.code = ERR_NONE};

    buf_init_arena(&out, &mem);
    buf_text(&out, "before");
    assert_false(json_write(&out, v, &err));
    assert_true(str_eq(buf_view(&out), STR("before")));
    return err;
}

static struct value nested_lists(int levels, struct value inside)
{
    for (int i = 0; i < levels; i++)
        inside = LIST(inside);
    return inside;
}

/* --- what is written --- */

static void test_write__canonical_text_comes_back_as_it_was(void **state)
{
    static const char *const cases[] = {
        "null",
        "true",
        "false",
        "0",
        "-9223372036854775808",
        "9223372036854775807",
        "1.0",
        "-0.0",
        "0.1",
        "1e+21",
        "1e-7",
        "9223372036854776000.0",
        "\"\"",
        "\"a\"",
        "[]",
        "{}",
        "[[],{},[[]]]",
        "{\"a\":{\"b\":[1,2.5,\"x\",null,true,{}]},\"\":[]}",
        "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7F\"",
        "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xE2\x80\xA8 \xE2\x80\xA9\"",
        "{\"z\":1,\"a\":2,\"m\":3}",
        "{\"key with \\\"quotes\\\"\":1}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(written(read_value(cases[i])), cases[i]);
}

static void test_write__is_compact_and_escapes_no_more_than_needed(void **state)
{
    (void)state;
    assert_string_equal(
        written(read_value(" { \"a\" : [ 1 , 2 ] , \"b\" : \"\\u00e9\\/\\u2028\" } ")),
        "{\"a\":[1,2],\"b\":\"\xC3\xA9/\xE2\x80\xA8\"}");
    assert_string_equal(written(read_value("[1E2,100e-2,18446744073709551615,-0]")),
                        "[100.0,1.0,18446744073709552000.0,0]");
}

static void test_write__kinds_that_json_does_not_have(void **state)
{
    struct value inner = value_optional_of(&mem, value_optional_of(&mem, value_int(5)));

    (void)state;
    assert_string_equal(written(value_uint(UINT64_MAX)), "18446744073709551615");
    assert_string_equal(written(value_timestamp(0, 0)), "\"1970-01-01T00:00:00Z\"");
    assert_string_equal(written(value_timestamp(1767323045, 120000000)),
                        "\"2026-01-02T03:04:05.120Z\"");
    assert_string_equal(written(value_duration(5400, 0)), "\"1h30m\"");
    assert_string_equal(written(value_duration(-1, 750000000)), "\"-250ms\"");
    assert_string_equal(written(value_bytes(STR(""))), "\"\"");
    assert_string_equal(written(value_bytes(STR("ab\xFF"))), "\"YWL/\"");
    assert_string_equal(written(value_bytes(STR("abcd"))), "\"YWJjZA==\"");
    assert_string_equal(written(value_type("google.protobuf.Timestamp")),
                        "\"google.protobuf.Timestamp\"");
    assert_string_equal(written(LIST(inner, value_optional_of(&mem, value_list(NULL, 0)))),
                        "[5,[]]");
}

static void test_write__keys_become_strings(void **state)
{
    struct value m = MAP(value_int(-1), value_null(), value_uint(UINT64_MAX), value_null(),
                         value_bool(true), value_null(), value_bool(false), value_null());
    struct err err;

    (void)state;
    assert_string_equal(written(m),
                        "{\"-1\":null,\"18446744073709551615\":null,\"true\":null,\"false\":null}");
    err = refused(LIST(MAP(value_int(1), value_null(), value_string(STR("1")), value_null())));
    assert_int_equal(err.code, ERR_EXPRESSION_ERROR);
    assert_string_equal(err.message, "two keys are the same in JSON, at /0/1");
    refused(MAP(value_string(STR("true")), value_null(), value_bool(true), value_null()));
    refused(MAP(value_double(1.5), value_null()));
}

static void test_write__strings_of_every_length(void **state)
{
    (void)state;
    for (size_t len = 0; len < 40; len++)
        for (size_t at = 0; at <= len; at++) {
            char *text = arena_copy(&mem, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrs", len);
            struct value back;
            struct err err;
            const char *out;

            if (at < len)
                text[at] = "\"\\\n\x01\x1F"[(len + at) % 5];
            out = written(value_string(str_from(text, len)));
            assert_true(json_read(&mem, str_of(out), &back, &err));
            assert_true(str_eq(value_text(back), str_from(text, len)));
            assert_int_equal(strlen(out) > len + 2, at < len);
        }
}

/* Bytes next to the special ones, alone and among others. */
static void test_write__every_ascii_character_reads_back(void **state)
{
    (void)state;
    for (int c = 1; c < 128; c++)
        for (size_t len = 1; len < 20; len++) {
            char text[20];
            struct value back;
            struct err err;
            const char *out;

            memset(text, c, len);
            out = written(value_string(str_from(text, len)));
            assert_true(json_read(&mem, str_of(out), &back, &err));
            assert_true(str_eq(value_text(back), str_from(text, len)));
            if (c >= 0x20 && c != '"' && c != '\\')
                assert_int_equal(strlen(out), len + 2);
        }
}

static void test_write__pretty_has_an_item_a_line(void **state)
{
    static const char expected[] = "{\n"
                                   "  \"a\": [\n"
                                   "    1,\n"
                                   "    {\n"
                                   "      \"b\": null\n"
                                   "    }\n"
                                   "  ],\n"
                                   "  \"c\": [],\n"
                                   "  \"d\": {}\n"
                                   "}";
    struct buf out;
    struct err err;

    (void)state;
    buf_init_arena(&out, &mem);
    assert_true(
        json_write_pretty(&out, read_value("{\"a\":[1,{\"b\":null}],\"c\":[],\"d\":{}}"), &err));
    assert_true(str_eq(buf_view(&out), STR(expected)));
    buf_clear(&out);
    assert_true(json_write_pretty(&out, value_int(1), &err));
    assert_true(str_eq(buf_view(&out), STR("1")));
}

static void test_write__appends(void **state)
{
    struct buf out;
    struct err err;

    (void)state;
    buf_init(&out);
    buf_text(&out, "x=");
    assert_true(json_write(&out, value_int(1), &err));
    json_write_string(&out, STR("a\nb"));
    buf_char(&out, ';');
    assert_true(str_eq(buf_view(&out), STR("x=1\"a\\nb\";")));
    buf_fini(&out);
}

/* --- what is refused --- */

static void test_write__refuses_what_json_cannot_say(void **state)
{
    struct value failed = value_error(&mem, ERR_EXPRESSION_ERROR, 0, "no such key");
    struct value deep = MAP(value_string(STR("a/b")), LIST(value_null(), value_double(INFINITY)));

    (void)state;
    assert_string_equal(refused(value_double((double)NAN)).message,
                        "NaN cannot be written as JSON");
    assert_int_equal(refused(value_double((double)NAN)).code, ERR_EXPRESSION_ERROR);
    assert_string_equal(refused(deep).message, "infinity cannot be written as JSON, at /a~1b/1");
    assert_string_equal(refused(value_optional_none()).message,
                        "an empty optional cannot be written as JSON");
    assert_string_equal(refused(failed).message, "an error cannot be written as JSON");
    assert_string_equal(refused(value_absent()).message,
                        "an absent value cannot be written as JSON");
}

static void test_write__depth_is_bounded(void **state)
{
    struct value chain = value_int(1);

    (void)state;
    written(nested_lists(JSON_DEPTH_MAX, value_int(1)));
    written(nested_lists(JSON_DEPTH_MAX - 1, value_map_empty()));
    assert_int_equal(refused(nested_lists(JSON_DEPTH_MAX + 1, value_int(1))).code,
                     ERR_EXPRESSION_ERROR);
    refused(nested_lists(JSON_DEPTH_MAX, value_map_empty()));
    refused(nested_lists(1000000, value_null()));
    for (int i = 0; i < 1000000; i++)
        chain = value_optional_of(&mem, chain);
    refused(chain);
}

static void test_write__keeps_the_limit_exactly(void **state)
{
    static const char *const cases[] = {"12345",
                                        "\"abcdefghij\"",
                                        "[1,2,[3,{}]]",
                                        "{\"a\":\"b\",\"c\":[true,null]}",
                                        "\"\\n\\n\\u0001\"",
                                        "-1.5e-10",
                                        "[[[[[]]]]]"};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t len = strlen(cases[i]);

        for (size_t limit = 0; limit <= len + 4; limit++) {
            struct buf out;
            struct err err = {.code = ERR_NONE};
            bool fits;

            buf_init(&out);
            out.limit = limit;
            buf_text(&out, limit >= 3 ? "abc" : "");
            fits = len + out.len <= limit;
            assert_int_equal(json_write(&out, read_value(cases[i]), &err), fits);
            assert_int_equal(err.code, fits ? ERR_NONE : ERR_TOO_LARGE);
            assert_int_equal(out.len, (fits ? len : 0) + (limit >= 3 ? 3 : 0));
            /* Whoever writes next is held to the limit too. */
            for (int n = 0; n < 100; n++)
                buf_char(&out, 'x');
            assert_int_equal(out.len, limit);
            assert_true(out.failed);
            assert_false(json_write(&out, value_null(), &err));
            assert_int_equal(out.len, limit);
            buf_fini(&out);
        }
    }
}

static void test_write__string_alone_is_written_as_a_value_is(void **state)
{
    char text[40];
    struct err err;

    (void)state;
    for (size_t len = 0; len < sizeof(text); len++)
        for (size_t special = 0; special <= len; special++)
            for (size_t capacity = 0; capacity < 80; capacity += 7) {
                struct buf alone, value;

                memset(text, 'x', sizeof(text));
                if (special < len)
                    text[special] = special % 2 == 0 ? '"' : '\n';
                buf_init(&alone);
                buf_init(&value);
                (void)buf_reserve(&alone, capacity);
                json_write_string(&alone, str_from(text, len));
                assert_true(json_write(&value, value_string(str_from(text, len)), &err));
                assert_true(str_eq(buf_view(&alone), buf_view(&value)));
                buf_fini(&alone);
                buf_fini(&value);
            }
}

static void test_write__string_alone_fails_as_a_buffer_does(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out);
    out.limit = 6;
    json_write_string(&out, STR("ab"));
    assert_int_equal(out.len, 4);
    json_write_string(&out, STR("ab"));
    assert_true(out.failed);
    buf_char(&out, 'x');
    assert_int_equal(out.len, 4);
    buf_fini(&out);
}

/* 2^60 nodes on paper: only stopping at the limit ends this. */
static void test_write__shared_parts_stop_at_the_limit(void **state)
{
    struct value lists = value_list(NULL, 0), text = value_string(STR("a long text, many times"));
    struct value optionals = value_int(1);
    struct value trees[3];

    (void)state;
    for (int i = 0; i < 60; i++) {
        lists = LIST(lists, lists);
        text = MAP(value_string(STR("a")), text, value_string(STR("b")), text);
        optionals = value_optional_of(&mem, LIST(optionals, optionals));
    }
    trees[0] = lists;
    trees[1] = text;
    trees[2] = optionals;
    for (size_t i = 0; i < COUNT(trees); i++)
        for (int pretty = 0; pretty < 2; pretty++) {
            struct buf out;
            struct err err;

            buf_init(&out);
            out.limit = 1 << 20;
            assert_false((pretty ? json_write_pretty : json_write)(&out, trees[i], &err));
            assert_int_equal(err.code, ERR_TOO_LARGE);
            assert_int_equal(out.len, 0);
            buf_fini(&out);
        }
}

static void test_write__long_escaped_text_grows_the_buffer(void **state)
{
    enum { LONG = 10000 };
    char *text = arena_alloc(&mem, LONG);
    struct value back;
    struct err err;
    const char *out;

    (void)state;
    memset(text, 1, LONG);
    out = written(value_string(str_from(text, LONG)));
    assert_int_equal(strlen(out), LONG * 6 + 2);
    assert_true(json_read(&mem, str_of(out), &back, &err));
    assert_true(str_eq(value_text(back), str_from(text, LONG)));
}

static void test_write__of_what_was_read_cannot_fail(void **state)
{
    struct str json = STR("{\"a\":[1,2.5,null,\"\\n\"],\"b\":{}}");
    struct value v = read_text(json);
    struct buf out;

    (void)state;
    assert_true(str_eq(json_must_text(&mem, v), json));
    buf_init_arena(&out, &mem);
    buf_char(&out, ' ');
    json_must_write(&out, v);
    assert_int_equal(out.len, json.len + 1);
}

static struct str with_member(struct str before)
{
    struct buf out;

    object_begin_with(&out, &mem, before);
    object_int(&out, "n", 1);
    return object_end(&out);
}

static void test_write__object_is_added_to_however_its_text_ends(void **state)
{
    (void)state;
    assert_true(str_eq(with_member(STR("{\"a\":{}}")), STR("{\"a\":{},\"n\":1}")));
    assert_true(str_eq(with_member(STR("{}")), STR("{\"n\":1}")));
    assert_true(str_eq(with_member(STR("{ }\n")), STR("{\"n\":1}")));
    assert_true(str_eq(with_member(STR("{\"a\":0 } ")), STR("{\"a\":0,\"n\":1}")));
    assert_true(str_eq(with_member(STR("null")), STR("{\"n\":1}")));
    assert_true(str_eq(with_member(STR_NONE), STR("{\"n\":1}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write__canonical_text_comes_back_as_it_was),
        cmocka_unit_test(test_write__is_compact_and_escapes_no_more_than_needed),
        cmocka_unit_test(test_write__kinds_that_json_does_not_have),
        cmocka_unit_test(test_write__keys_become_strings),
        cmocka_unit_test(test_write__strings_of_every_length),
        cmocka_unit_test(test_write__every_ascii_character_reads_back),
        cmocka_unit_test(test_write__pretty_has_an_item_a_line),
        cmocka_unit_test(test_write__appends),
        cmocka_unit_test(test_write__refuses_what_json_cannot_say),
        cmocka_unit_test(test_write__depth_is_bounded),
        cmocka_unit_test(test_write__keeps_the_limit_exactly),
        cmocka_unit_test(test_write__string_alone_is_written_as_a_value_is),
        cmocka_unit_test(test_write__string_alone_fails_as_a_buffer_does),
        cmocka_unit_test(test_write__shared_parts_stop_at_the_limit),
        cmocka_unit_test(test_write__long_escaped_text_grows_the_buffer),
        cmocka_unit_test(test_write__of_what_was_read_cannot_fail),
        cmocka_unit_test(test_write__object_is_added_to_however_its_text_ends),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
