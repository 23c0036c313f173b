/* test_typed_value.c - claims about what the conformance runner compares with. */
#include "cel/typed_value.h"

#include "value/rig.h"

static struct value decode(const char *json)
{
    struct value source = value_absent();
    struct value out = value_absent();
    struct err err = {.code = ERR_NONE};

    if (!typed_value_read_line(&mem, str_of(json), &source, &err) ||
        !typed_value_decode(&mem, source, &out, &err))
        fail_msg("%s: %s", json, err.message);
    return out;
}

static void test_typed_value__every_kind_is_decoded(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"{\"null\":true}", "null"},
        {"{\"bool\":false}", "false"},
        {"{\"int\":\"-9223372036854775808\"}", "-9223372036854775808"},
        {"{\"uint\":\"18446744073709551615\"}", "18446744073709551615u"},
        {"{\"double\":\"2\"}", "2.0"},
        {"{\"double\":\"-0\"}", "-0.0"},
        {"{\"double\":\"1e+300\"}", "1.0000000000000001e+300"},
        {"{\"double\":\"-Infinity\"}", "-inf"},
        {"{\"string\":\"a\\\"\\u0000\"}", "\"a\\\"\\x00\""},
        {"{\"string\":\"\\\\u0000\"}", "\"\\\\u0000\""},
        {"{\"bytes\":\"/2E=\"}", "b\"\\xffa\""},
        {"{\"list\":[{\"int\":\"1\"},{\"list\":[]}]}", "[1, []]"},
        {"{\"map\":[[{\"uint\":\"1\"},{\"null\":true}],[{\"bool\":true},{\"map\":[]}]]}",
         "{1u: null, true: {}}"},
        {"{\"type\":\"google.protobuf.Timestamp\"}", "type(google.protobuf.Timestamp)"},
        {"{\"timestamp\":\"2009-02-13T23:31:30.5Z\"}", "timestamp(\"2009-02-13T23:31:30.500Z\")"},
        {"{\"duration\":\"-1.5s\"}", "duration(\"-1.5s\")"},
        {"{\"error\":[\"oh\"]}", "error expression_error: oh"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;

        buf_init_arena(&out, &mem);
        typed_value_print(&out, decode(rows[i][0]));
        buf_char(&out, '\0');
        assert_string_equal(out.ptr, rows[i][1]);
    }
}

static void test_typed_value__what_is_no_value_is_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "1",
        "{}",
        "{\"int\":\"1\",\"uint\":\"1\"}",
        "{\"int\":\"1.5\"}",
        "{\"int\":1}",
        "{\"uint\":\"-1\"}",
        "{\"uint\":\"18446744073709551616\"}",
        "{\"double\":\"\"}",
        "{\"bool\":\"true\"}",
        "{\"bytes\":\"***\"}",
        "{\"timestamp\":\"yesterday\"}",
        "{\"message\":{}}",
        "{\"list\":[1]}",
        "{\"map\":[[{\"int\":\"1\"}]]}",
        "{\"map\":[[{\"int\":\"1\"},{\"null\":true}],[{\"int\":\"1\"},{\"null\":true}]]}",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct value source = value_absent();
        struct value out = value_absent();
        struct err err = {.code = ERR_NONE};

        assert_true(typed_value_read_line(&mem, str_of(rows[i]), &source, &err));
        if (typed_value_decode(&mem, source, &out, &err))
            fail_msg("decoded: %s", rows[i]);
        assert_int_equal(err.code, ERR_INVALID);
    }
}

static void test_typed_value__sameness_sees_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"{\"int\":\"1\"}", "{\"int\":\"1\"}", true},
        {"{\"int\":\"1\"}", "{\"uint\":\"1\"}", false},
        {"{\"int\":\"1\"}", "{\"double\":\"1\"}", false},
        {"{\"double\":\"NaN\"}", "{\"double\":\"NaN\"}", true},
        {"{\"double\":\"NaN\"}", "{\"double\":\"1\"}", false},
        {"{\"string\":\"a\"}", "{\"bytes\":\"YQ==\"}", false},
        {"{\"list\":[{\"int\":\"1\"}]}", "{\"list\":[{\"double\":\"1\"}]}", false},
        {"{\"list\":[]}", "{\"list\":[{\"null\":true}]}", false},
        {"{\"map\":[[{\"int\":\"1\"},{\"bool\":true}],[{\"int\":\"2\"},{\"bool\":false}]]}",
         "{\"map\":[[{\"int\":\"2\"},{\"bool\":false}],[{\"int\":\"1\"},{\"bool\":true}]]}", true},
        {"{\"map\":[[{\"int\":\"1\"},{\"bool\":true}]]}",
         "{\"map\":[[{\"uint\":\"1\"},{\"bool\":true}]]}", false},
        {"{\"type\":\"int\"}", "{\"type\":\"uint\"}", false},
        {"{\"duration\":\"1s\"}", "{\"timestamp\":\"1970-01-01T00:00:01Z\"}", false},
        {"{\"error\":[\"x\"]}", "{\"error\":[\"x\"]}", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (typed_value_same(decode(rows[i].a), decode(rows[i].b), NULL) != rows[i].same)
            fail_msg("%s and %s", rows[i].a, rows[i].b);
}

static void test_typed_value__sameness_ends_with_its_budget(void **state)
{
    (void)state;
    struct value pair[64][2];
    int64_t budget = 1000;

    pair[0][0] = pair[0][1] = value_int(1);
    for (size_t i = 1; i < 64; i++)
        pair[i][0] = pair[i][1] = value_list(pair[i - 1], 2);
    assert_true(typed_value_same(pair[63][0], pair[63][1], &budget));
    assert_true(budget < 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_typed_value__every_kind_is_decoded),
        TEST(test_typed_value__what_is_no_value_is_refused),
        TEST(test_typed_value__sameness_sees_kinds),
        TEST(test_typed_value__sameness_ends_with_its_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
