/* test_body.c - JSON bodies by their fields. */
#include "api/body.h"
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct outcome {
    bool ok;
    struct err err;
    struct findings findings;
    struct value type, payload, count, flag;
};

static struct outcome read_text(struct arena *mem, const char *text)
{
    struct outcome o = {0};
    const struct body_field fields[] = {
        {"type", BODY_TEXT, true, .out = &o.type},
        {"payload", BODY_ANY, false, .out = &o.payload},
        {"count", BODY_INT, false, .out = &o.count},
        {"flag", BODY_BOOL, false, .out = &o.flag},
    };

    o.ok = body_read(mem, str_of(text), fields, 4, &o.findings, &o.err);
    return o;
}

static void test_body__fields_are_read(void **state)
{
    struct arena mem;
    struct outcome o;

    (void)state;
    arena_init(&mem);
    o = read_text(&mem, "{\"type\": \"go\", \"payload\": null, \"count\": 3, \"flag\": null}");
    assert_true(o.ok);
    assert_true(str_eq(value_text(o.type), STR("go")));
    assert_int_equal(o.payload.kind, VALUE_NULL);
    assert_int_equal(o.count.i, 3);
    assert_int_equal(o.flag.kind, VALUE_ABSENT);
    arena_fini(&mem);
}

static void test_body__nothing_is_an_empty_object(void **state)
{
    struct value v;
    const struct body_field fields[] = {{"reason", BODY_TEXT, false, .out = &v}};
    struct findings findings = {0};
    struct arena mem;
    struct err err;

    (void)state;
    arena_init(&mem);
    assert_true(body_read(&mem, STR_NONE, fields, 1, &findings, &err));
    assert_int_equal(v.kind, VALUE_ABSENT);
    arena_fini(&mem);
}

static void test_body__each_mistake_is_found_once(void **state)
{
    static const struct {
        const char *text;
        enum err_code code;
        const char *findings; /* pointer and code of each */
    } cases[] = {
        {"", ERR_INVALID, "/type missing_field\n"},
        {"{}", ERR_INVALID, "/type missing_field\n"},
        {"{\"type\": null}", ERR_INVALID, "/type missing_field\n"},
        {"{\"type\": 1}", ERR_INVALID, "/type wrong_type\n"},
        {"{\"type\": \"x\", \"count\": 1.5}", ERR_INVALID, "/count wrong_type\n"},
        {"{\"typ\": \"x\", \"flag\": 0}", ERR_INVALID,
         "/typ unknown_field\n/flag wrong_type\n/type missing_field\n"},
        {"{\"type\": \"x\", \"a/b\": 0}", ERR_INVALID, "/a~1b unknown_field\n"},
        {"[]", ERR_INVALID, ""},
        {"{\"type\"", ERR_BAD_JSON, ""},
        {"{\"type\": \"a\", \"type\": \"b\"}", ERR_BAD_JSON, ""},
    };
    struct arena mem;

    (void)state;
    arena_init(&mem);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct outcome o = read_text(&mem, cases[i].text);
        struct buf found;
        assert_false(o.ok);
        assert_int_equal(o.err.code, cases[i].code);
        buf_init(&found);
        for (size_t k = 0; k < o.findings.count; k++)
            buf_printf(&found, "%.*s %.*s\n", STR_ARG(o.findings.items[k].pointer),
                       STR_ARG(o.findings.items[k].code));
        buf_char(&found, '\0');
        assert_string_equal(found.ptr, cases[i].findings);
        buf_fini(&found);
    }
    arena_fini(&mem);
}

static void test_body__near_names_are_suggested(void **state)
{
    struct arena mem;
    struct outcome o;

    (void)state;
    arena_init(&mem);
    o = read_text(&mem, "{\"type\": \"x\", \"paylaod\": 1, \"zebra\": 2}");
    assert_int_equal(o.findings.count, 2);
    assert_true(str_eq(o.findings.items[0].hint.text, STR("did you mean 'payload'?")));
    assert_int_equal(o.findings.items[1].hint.text.len, 0);
    arena_fini(&mem);
}

static void test_body__bounds_are_checked_and_null_stays(void **state)
{
    static const struct body_field part[] = {{"name", .kind = BODY_TEXT, .is_required = true}, {0}};
    static const struct body_field fields[] = {
        {"title", .kind = BODY_TEXT, .is_required = true, .max = 5},
        {"hold", .kind = BODY_TEXT, .words = "material area"},
        {"skill", .kind = BODY_INT, .max = 10},
        {"due_at", .kind = BODY_TIME},
        {"members", .kind = BODY_IDS},
        {"parts", .kind = BODY_OBJECTS, .of = part},
        {0},
    };
    static const struct {
        const char *text, *finding; /* the first, or "" */
    } cases[] = {
        {"{'title': 'a', 'hold': 'area', 'skill': 10, 'members': ['x']}", ""},
        {"{'title': 'a', 'skill': null, 'due_at': null}", ""},
        {"{}", "/title required"},
        {"{'title': ' '}", "/title bad_value"},
        {"{'title': 'abcdef'}", "/title bad_value"},
        {"{'title': 'a', 'hold': 'moon'}", "/hold bad_value"},
        {"{'title': 'a', 'skill': -1}", "/skill bad_value"},
        {"{'title': 'a', 'due_at': 'soon'}", "/due_at bad_value"},
        {"{'title': 'a', 'members': ['']}", "/members bad_value"},
        {"{'title': 'a', 'parts': []}", "/parts bad_value"},
        {"{'title': 'a', 'parts': [{}]}", "/name required"},
        {"{'title': 'a', 'titel': 1}", "/titel unknown_field"},
    };
    struct arena mem;

    (void)state;
    arena_init(&mem);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct str text = str_copy(&mem, str_of(cases[i].text));
        struct findings findings = {0};
        struct value out;
        struct err err;
        bool ok;

        for (size_t k = 0; k < text.len; k++)
            if (text.ptr[k] == '\'')
                ((char *)text.ptr)[k] = '"';
        ok = body_read_bounded(&mem, text, fields, &out, &findings, &err);
        assert_int_equal(ok, cases[i].finding[0] == '\0');
        if (ok)
            continue;
        assert_int_equal(err.code, ERR_VALIDATION_ERROR);
        assert_string_equal(str_printf(&mem, "%.*s %.*s", STR_ARG(findings.items[0].pointer),
                                       STR_ARG(findings.items[0].code))
                                .ptr,
                            cases[i].finding);
    }
    arena_fini(&mem);
}

static void test_body__times_become_microseconds(void **state)
{
    static const struct body_field fields[] = {{"due_at", .kind = BODY_TIME}, {0}};
    struct findings findings = {0};
    struct arena mem;
    struct value out;
    struct err err;

    (void)state;
    arena_init(&mem);
    assert_true(body_read_bounded(&mem, STR("{\"due_at\": \"1970-01-01T00:00:01Z\"}"), fields, &out,
                                  &findings, &err));
    assert_int_equal(value_map_get_str(out, STR("due_at_us")).i, 1000000);
    assert_true(body_read_bounded(&mem, STR("{\"due_at\": null}"), fields, &out, &findings, &err));
    assert_int_equal(value_map_get_str(out, STR("due_at_us")).kind, VALUE_NULL);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_body__fields_are_read),
        cmocka_unit_test(test_body__nothing_is_an_empty_object),
        cmocka_unit_test(test_body__each_mistake_is_found_once),
        cmocka_unit_test(test_body__near_names_are_suggested),
        cmocka_unit_test(test_body__bounds_are_checked_and_null_stays),
        cmocka_unit_test(test_body__times_become_microseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
