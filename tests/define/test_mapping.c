/* test_mapping.c - claims about mappings: what is constant, what is evaluated, what fails where. */
#include "cel/cel.h"
#include "define/definition.h"
#include "define/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct value slots[ROOT_COUNT + 1];
static struct cel_activation activation;

static int set_up(void **state)
{
    (void)definition_set_up(state);
    for (int i = 0; i <= ROOT_COUNT; i++)
        slots[i] = value_absent();
    slots[ROOT_INPUT] = definition_value("{'n': 2, 's': 'text', 'list': [1, 2], 'map': {'a': 1}}");
    activation = (struct cel_activation){.slots = slots};
    return 0;
}

/* The mapping of a value in `data` of a command. */
static const struct mapping *mapping_of(const char *value)
{
    const struct program *p = definition_steps(
        str_printf(&definition_mem,
                   "[{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': %s}}]", value)
            .ptr);

    return p->steps[0].procedure->commands[0].fields[FIELD_DATA];
}

static void test_mapping__values_come_out_as_they_should(void **state)
{
    static const char *const rows[][2] = {
        {"null", "null"},
        {"'plain'", "\"plain\""},
        {"'$'", "\"$\""},
        {"'$100'", "\"$100\""},
        {"'$.input.n'", "2"},
        {"'=$.input.n * 2'", "4"},
        {"'=input.n + 0.5'", "2.5"},
        {"'{{ input.n }}'", "2"},
        {"'n is {{ input.n }}, list {{ input.list }}'", "\"n is 2, list [1,2]\""},
        {"'{{{{ x }}'", "\"{{ x }}\""},
        {"'\\'manager@company.com\\''", "\"manager@company.com\""},
        {"[1, '$.input.n', [true, '$.input.s']]", "[1,2,[true,\"text\"]]"},
        {"{'a': {'b': '$.input.map'}, 'c': 'd', 'e': []}",
         "{\"a\":{\"b\":{\"a\":1}},\"c\":\"d\",\"e\":[]}"},
        {"{'$.key': '$.input.n'}", "{\"$.key\":2}"},
        {"{'a': '=1 + 1', 'b': ['\\'x\\'']}", "{\"a\":2,\"b\":[\"x\"]}"},
        {"'=$.input.?n'", "2"},
        {"['=$.input.?nothing.orValue(3)']", "[3]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct value v = mapping_evaluate(&definition_mem, mapping_of(rows[i][0]), &activation);
        if (v.kind == VALUE_ERROR)
            fail_msg("%s: %s", rows[i][0], v.error->message);
        assert_string_equal(definition_json(v), rows[i][1]);
    }
}

static void test_mapping__what_holds_no_expression_is_the_definition_itself(void **state)
{
    static const char *const rows[] = {"{'a': [1, {'b': 'c'}], 'd': null}", "['$', '$x', 'a = b']",
                                       "'text'", "{}", "5"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_int_equal(mapping_of(rows[i])->kind, MAPPING_CONST);
}

static void
test_mapping__constant_expressions_are_computed_when_the_definition_is_saved(void **state)
{
    const struct mapping *m = mapping_of("{'a': ['=1 + 1', '\\'x\\''], 'b': {'c': '{{ 5 }}'}}");

    (void)state;
    assert_int_equal(m->kind, MAPPING_CONST);
    assert_string_equal(definition_json(m->value), "{\"a\":[2,\"x\"],\"b\":{\"c\":5}}");
}

static void test_mapping__constants_need_no_memory(void **state)
{
    const struct mapping *m = mapping_of("{'a': [1, {'b': 'c'}]}");
    struct arena mem;

    (void)state;
    arena_init(&mem);
    (void)mapping_evaluate(&mem, m, &activation);
    assert_int_equal(mem.held_bytes, 0);
    arena_fini(&mem);
}

static void test_mapping__a_failure_says_where_it_stands(void **state)
{
    static const char *const rows[][2] = {
        {"'$.input.nothing'", "/steps/0/procedure/data"},
        {"{'a': 1, 'b': ['$.input.n', {'c/d': '=1 / ($.input.n - 2)'}]}",
         "/steps/0/procedure/data/b/1/c~1d"},
        {"['$.input.n', '$.input.x', '$.input.y']", "/steps/0/procedure/data/1"},
        {"{'a': '{{ input.n }} {{ webhook }}'}", "/steps/0/procedure/data/a"},
        {"['=$.input.?nothing']", "/steps/0/procedure/data/0"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct mapping *failed = NULL;
        struct value v =
            mapping_evaluate_at(&definition_mem, mapping_of(rows[i][0]), &activation, &failed);
        assert_int_equal(v.kind, VALUE_ERROR);
        assert_int_equal(v.error->code, ERR_EXPRESSION_ERROR);
        assert_non_null(failed);
        assert_string_equal(str_copy(&definition_mem, failed->pointer).ptr, rows[i][1]);
    }
}

static void test_mapping__large_maps_can_be_looked_up(void **state)
{
    struct value v = mapping_evaluate(
        &definition_mem,
        mapping_of("{'a': 1, 'b': 2, 'c': 3, 'd': 4, 'e': 5, 'f': 6, 'g': 7, 'h': 8, 'i': 9,"
                   " 'j': 10, 'k': 11, 'l': 12, 'm': 13, 'n': '$.input.n'}"),
        &activation);

    (void)state;
    assert_int_equal(v.len, 14);
    assert_int_equal(value_map_get_str(v, STR("m")).i, 13);
    assert_int_equal(value_map_get_str(v, STR("n")).i, 2);
}

#define MAPPING_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, definition_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MAPPING_TEST(test_mapping__values_come_out_as_they_should),
        MAPPING_TEST(test_mapping__what_holds_no_expression_is_the_definition_itself),
        MAPPING_TEST(test_mapping__constant_expressions_are_computed_when_the_definition_is_saved),
        MAPPING_TEST(test_mapping__constants_need_no_memory),
        MAPPING_TEST(test_mapping__a_failure_says_where_it_stands),
        MAPPING_TEST(test_mapping__large_maps_can_be_looked_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
