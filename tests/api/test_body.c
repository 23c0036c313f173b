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
        {"type", BODY_TEXT, true, &o.type},
        {"payload", BODY_ANY, false, &o.payload},
        {"count", BODY_INT, false, &o.count},
        {"flag", BODY_BOOL, false, &o.flag},
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
    const struct body_field fields[] = {{"reason", BODY_TEXT, false, &v}};
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
    assert_true(str_eq(o.findings.items[0].hint, STR("did you mean 'payload'?")));
    assert_int_equal(o.findings.items[1].hint.len, 0);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_body__fields_are_read),
        cmocka_unit_test(test_body__nothing_is_an_empty_object),
        cmocka_unit_test(test_body__each_mistake_is_found_once),
        cmocka_unit_test(test_body__near_names_are_suggested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
