/* test_closed.c - claims about variables whose fields are all declared: cel_env_close(). */
#include "cel/expr.h"
#include "value/rig.h"

static struct cel_env *env;

static int declare(void **state)
{
    static const char *const names[] = {"steps", "steps.pay", "steps.deep.down", "other"};
    struct err err;
    uint32_t slot;

    (void)set_up(state);
    env = cel_env_new(&mem, CEL_DEFINITION);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(cel_env_variable(env, str_of(names[i]),
                                     i == 0 ? STR("map(string, dyn)") : STR("dyn"), &slot, &err));
        assert_int_equal(slot, i);
    }
    assert_true(cel_env_close(env, STR("steps"), &err));
    return 0;
}

static void test_closed__only_declared_fields_compile(void **state)
{
    static const char *const rows[][2] = {
        {"steps.pay", ""},
        {"$.steps.pay.amount", ""},
        {".steps.pay", ""},
        {"steps.unknown", "7: undeclared reference to 'steps.unknown'"},
        {"$.steps.unknown.a.b", "9: undeclared reference to 'steps.unknown'"},
        {"steps.pya.x", "7: undeclared reference to 'steps.pya'; did you mean 'steps.pay'?"},
        {"has(steps.unknown)", "11: undeclared reference to 'steps.unknown'"},
        {"steps.?unknown", "8: undeclared reference to 'steps.unknown'"},
        {".steps.unknown", "8: undeclared reference to 'steps.unknown'"},
        {"[1].all(x, steps.unknown)", "18: undeclared reference to 'steps.unknown'"},
        {"steps['pay'].amount", ""},
        {"steps['unknown']", "7: undeclared reference to 'steps.unknown'"},
        {"$['steps']['unknown'].x", "12: undeclared reference to 'steps.unknown'"},
        {"$['stpes'].pay", "3: undeclared reference to 'stpes'; did you mean 'steps'?"},
        {"steps[?'unknown']", "8: undeclared reference to 'steps.unknown'"},
        {"steps['a.b']", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(expr_complaint(&mem, env, rows[i][0]), rows[i][1]);
}

static void test_closed__the_whole_and_its_keys_stay_open(void **state)
{
    static const char *const rows[] = {
        "steps",
        "$.steps",
        "$.steps[other]",
        "\"x\" in steps",
        "size(steps)",
        "steps.all(k, k != \"\")",
        "steps.?pay",
        "steps.deep.down",
        "steps.deep",
        "other.unknown",
        "$",
        "has(steps.pay)",
        "[{\"x\": 1}].all(steps, steps.x == 1)",
        "[{\"x\": 1}].all(steps, steps['x'] == 1)",
        "other['unknown']",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(expr_complaint(&mem, env, rows[i]), "");
}

static void test_closed__an_extension_may_declare_more(void **state)
{
    struct cel_env *child = cel_env_extend(&mem, env);
    struct err err;
    uint32_t slot;

    (void)state;
    assert_true(cel_env_variable(child, STR("steps.ship"), STR("dyn"), &slot, &err));
    assert_string_equal(expr_complaint(&mem, child, "steps.ship.x + steps.pay.y"), "");
    assert_string_equal(expr_complaint(&mem, child, "steps.shop"),
                        "7: undeclared reference to 'steps.shop'; did you mean 'steps.ship'?");
    assert_string_equal(expr_complaint(&mem, env, "steps.ship"),
                        "7: undeclared reference to 'steps.ship'");
}

static void test_closed__only_a_variable_can_be_closed(void **state)
{
    struct err err;

    (void)state;
    assert_false(cel_env_close(env, STR("nothing"), &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_false(cel_env_close(env, STR("steps.deep"), &err));
}

static void test_closed__without_check_it_fails_when_evaluated(void **state)
{
    struct value slots[4] = {{0}};
    struct cel_activation activation = {.slots = slots};
    const struct cel_program *program;
    struct value v;
    struct err err;

    (void)state;
    assert_true(cel_compile(&mem, env, STR("true || steps.unknown"),
                            &(struct cel_options){.without_check = true}, &program, &err));
    assert_true(value_is_true(cel_evaluate(&mem, program, &activation, NULL)));
    assert_true(cel_compile(&mem, env, STR("steps.unknown"),
                            &(struct cel_options){.without_check = true}, &program, &err));
    v = cel_evaluate(&mem, program, &activation, NULL);
    assert_int_equal(v.kind, VALUE_ERROR);
    assert_string_equal(v.error->message, "undeclared reference to 'steps.unknown'");
}

/* --- cel_env_field(), cel_env_space() --- */

static void test_fields__only_named_ones_compile_unless_it_is_asked_for(void **state)
{
    static const char *const rows[][2] = {
        {"other.rate + other.limits.high", ""},
        {"$.other.rate", ""},
        {"other.rat", "7: undeclared reference to 'other.rat'; did you mean 'other.rate'?"},
        {"$.other.unknown.x", "9: undeclared reference to 'other.unknown'"},
        {"has(other.unknown) && other.?unknown.hasValue()", ""},
        {"other['rate'] + other[?'unknown'].orValue(1)", ""},
        {"other['unknown']", "7: undeclared reference to 'other.unknown'"},
        {"other", ""},
    };
    struct cel_env *child = cel_env_extend(&mem, env);
    struct err err;

    (void)state;
    assert_true(cel_env_field(child, STR("other"), STR("rate"), &err));
    assert_true(cel_env_field(child, STR("other"), STR("limits"), &err));
    assert_int_equal(cel_env_slot_count(child), cel_env_slot_count(env));
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(expr_complaint(&mem, child, rows[i][0]), rows[i][1]);
    assert_string_equal(expr_complaint(&mem, env, "other.unknown"), "");
    assert_false(cel_env_field(child, STR("nothing"), STR("x"), &err));
}

static void test_fields__without_any_none_compiles(void **state)
{
    struct cel_env *child = cel_env_extend(&mem, env);
    struct err err;

    (void)state;
    assert_true(cel_env_field(child, STR("other"), STR_NONE, &err));
    assert_string_equal(expr_complaint(&mem, child, "other.rate"),
                        "7: undeclared reference to 'other.rate'");
}

static void test_space__an_unknown_function_is_named_whole(void **state)
{
    (void)state;
    cel_env_space(env, STR("fn"));
    assert_string_equal(expr_complaint(&mem, env, "fn.discount(1)"),
                        "4: undeclared function 'fn.discount'");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, declare, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_closed__only_declared_fields_compile),
        TEST(test_closed__the_whole_and_its_keys_stay_open),
        TEST(test_closed__an_extension_may_declare_more),
        TEST(test_closed__only_a_variable_can_be_closed),
        TEST(test_closed__without_check_it_fails_when_evaluated),
        TEST(test_fields__only_named_ones_compile_unless_it_is_asked_for),
        TEST(test_fields__without_any_none_compiles),
        TEST(test_space__an_unknown_function_is_named_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
