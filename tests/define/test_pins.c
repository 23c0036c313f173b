/* test_pins.c - claims about what a program rests on in other definitions. */
#include "define/definition.h"
#include "define/function.h"
#include "define/pins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct function function(const char *name, const char *body, int64_t version)
{
    struct str text =
        str_printf(&definition_mem, "{'params': [{'name': 'n'}], 'body': '%s'}", body);

    return (struct function){
        .name = str_of(name), .definition = definition_value(text.ptr), .version = version};
}

static bool any_procedure(void *context, struct arena *mem, struct str code, struct registered *out)
{
    (void)mem;
    (void)code;
    *out = (struct registered){.definition = definition_value(context), .version = 4};
    return true;
}

/* The pins of a scenario whose steps are these, as text. */
static struct str pins_of(const char *steps, struct function *all, size_t count)
{
    const struct registry registry = {.procedure = any_procedure,
                                      .context =
                                          "[{'type': 'compute.transform', 'data': '=fn.rate(1)'}]"};
    struct str text = str_printf(&definition_mem, "{'code': 's', 'steps': %s}", steps);
    const struct cel_env *env = define_env(&definition_mem);
    struct findings findings = {0};
    const struct program *p = NULL;
    struct pins pins;

    env = functions_compile(&definition_mem, env, all, count, NULL).definitions;
    define_compile(&definition_mem, env, &registry, KIND_SCENARIO, definition_value(text.ptr), 1,
                   &findings, &p);
    assert_non_null(p);
    pins_collect(&definition_mem, p, all, count, &pins);
    program_release(p);
    functions_release(all, count);
    return pins_are_empty(&pins) ? STR_NONE : pins_write(&definition_mem, &pins);
}

static void test_pins__are_what_is_reached_and_nothing_else(void **state)
{
    struct function all[] = {function("zero", "n", 1),
                             function("rate", "fn.base(n) * fn.base(2)", 2),
                             function("base", "n + 1", 3), function("own", "n", 5)};
    struct str pins;

    (void)state;
    pins =
        pins_of("[{'code': 'b', 'procedure': 'two'}, {'code': 'a', 'procedure': 'one', "
                "'when': 'fn.own(1) == 1 || fn.base(0) > 0'}, {'code': 'c', 'procedure': 'one'}, "
                "{'code': 'd', 'procedure': 'other.system'}]",
                all, ARRAY_SIZE(all));
    assert_string_equal(str_printf(&definition_mem, "%.*s", STR_ARG(pins)).ptr,
                        "{\"procedures\":{\"one\":4,\"two\":4},"
                        "\"functions\":{\"base\":3,\"own\":5,\"rate\":2}}");
}

static void test_pins__are_none_where_nothing_elsewhere_is_named(void **state)
{
    struct function all[] = {function("rate", "n", 1)};

    (void)state;
    assert_int_equal(
        pins_of("[{'code': 'a', 'procedure': {'type': 'log', 'message': 'x'}}]", all, 1).len, 0);
}

static void test_pins__are_read_back_as_they_were_written(void **state)
{
    struct str text = STR("{\"procedures\":{\"one\":4},\"functions\":{\"base\":3,\"own\":5}}");
    struct pins pins;
    struct err err;

    (void)state;
    assert_true(pins_read(&definition_mem, text, &pins, &err));
    assert_true(str_eq(pins_write(&definition_mem, &pins), text));
    assert_int_equal(pins_version(&pins.functions, STR("own")), 5);
    assert_int_equal(pins_version(&pins.functions, STR("one")), 0);
    assert_int_equal(pins_version(&pins.procedures, STR("one")), 4);
}

static void test_pins__that_are_damaged_are_told(void **state)
{
    static const char *const wrong[] = {
        "{",
        "[]",
        "{}",
        "{\"procedures\":{}}",
        "{\"procedures\":{\"a\":\"1\"},\"functions\":{}}",
        "{\"procedures\":{\"a\":0},\"functions\":{}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct pins pins;
        struct err err = {0};

        assert_false(pins_read(&definition_mem, str_of(wrong[i]), &pins, &err));
        assert_int_equal(err.code, ERR_INTERNAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_pins__are_what_is_reached_and_nothing_else),
        DEFINITION_TEST(test_pins__are_none_where_nothing_elsewhere_is_named),
        DEFINITION_TEST(test_pins__are_read_back_as_they_were_written),
        DEFINITION_TEST(test_pins__that_are_damaged_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
