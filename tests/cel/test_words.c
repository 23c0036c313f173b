/* test_words.c - claims about what an environment says of a variable: words, hiding, calls. */
#include "cel/expr.h"
#include "value/rig.h"

static struct cel_env *env;

static int declare(void **state)
{
    static const char *const names[] = {"steps.pay", "error", "input"};
    static const struct str classes[] = {{.ptr = "transient", .len = 9},
                                         {.ptr = "business", .len = 8}};
    struct err err;
    uint32_t slot;

    (void)set_up(state);
    env = cel_env_new(&mem, CEL_DEFINITION);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(cel_env_variable(env, str_of(names[i]), STR("dyn"), &slot, &err));
    cel_env_words(env, STR("steps.pay"), STR("error.class"), classes, 2);
    cel_env_words(env, STR("error"), STR("class"), classes, 2);
    return 0;
}

static void test_words__a_comparison_with_another_text_does_not_compile(void **state)
{
    static const char *const rows[][2] = {
        {"error.class == 'business'", ""},
        {"error.class != 'transient' && $.error.class == error.code", ""},
        {"error.class == 'x'",
         "16: 'error.class' is never \"x\", but \"transient\" or \"business\""},
        {"error.class != 'x'",
         "16: 'error.class' is never \"x\", but \"transient\" or \"business\""},
        {"'busines' == $.error.class",
         "1: 'error.class' is never \"busines\", but \"transient\" or "
         "\"business\"; did you mean 'business'?"},
        {"steps.pay.error.class in ['business', 'x']",
         "39: 'steps.pay.error.class' is never \"x\", but \"transient\" or \"business\""},
        {"$.steps.pay.error.class in input.classes", ""},
        {"'x' in error.class", ""},
        {"error.class == null || error.class == 5 || error.class < 'x'", ""},
        {"error.code == 'x' && steps.pay.class == 'x' && error['class'] == 'x'", ""},
        {"[{'class': 'x'}].exists(error, error.class == 'x')", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(expr_complaint(&mem, env, rows[i][0]), rows[i][1]);
}

static void test_type__a_comparison_with_a_constant_of_another_does_not_compile(void **state)
{
    static const char *const rows[][2] = {
        {"input.n == 1 && input.n < 1.5 && 2u > input.n && input.n != null", ""},
        {"input.n in [1, 2.5, null] && input.n == error.n && input.s > 'a' && input.s in ['b']",
         ""},
        {"input.n == '1'", "12: 'input.n' is never of type string, but a number"},
        {"true != $.input.n", "1: 'input.n' is never of type bool, but a number"},
        {"input.n > '1'", "11: 'input.n' is never of type string, but a number"},
        {"input.n in [1, 'x']", "16: 'input.n' is never of type string, but a number"},
        {"input['n'] == 'x'", ""},
        {"input.s <= 5", "12: 'input.s' is never of type int, but string"},
        {"input.b == 'true'", "12: 'input.b' is never of type string, but bool"},
        {"input.at > '2026-01-01'", "12: 'input.at' is never of type string, but timestamp"},
        {"input.at > timestamp('2026-01-01')", ""},
        {"error.class == 5", "16: 'error.class' is never of type int, but string"},
        {"error.class == 'x'",
         "16: 'error.class' is never \"x\", but \"transient\" or \"business\""},
        {"error.class > 'x'", ""},
    };
    static const char *const types[][2] = {
        {"n", "int"}, {"s", "string"}, {"b", "bool"}, {"at", "timestamp"}};
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        assert_true(
            cel_env_type(env, STR("input"), str_of(types[i][0]), str_of(types[i][1]), &err));
    assert_true(cel_env_type(env, STR("error"), STR("class"), STR("string"), &err));
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(expr_complaint(&mem, env, rows[i][0]), rows[i][1]);
    assert_false(cel_env_type(env, STR("input"), STR("n"), STR("nothing"), &err));
}

static void test_words__may_be_taken_back(void **state)
{
    struct cel_env *child = cel_env_extend(&mem, env);

    (void)state;
    cel_env_words(child, STR("error"), STR("class"), NULL, 0);
    assert_string_equal(expr_complaint(&mem, child, "error.class == 'x'"), "");
    assert_string_not_equal(expr_complaint(&mem, env, "error.class == 'x'"), "");
    assert_string_not_equal(expr_complaint(&mem, child, "steps.pay.error.class == 'x'"), "");
}

static void test_hidden__is_not_known_and_keeps_its_slot(void **state)
{
    struct cel_env *child = cel_env_extend(&mem, env);
    struct err err;
    uint32_t slot;

    (void)state;
    cel_env_hide(child, STR("error"));
    assert_string_equal(expr_complaint(&mem, child, "error"), "1: undeclared reference to 'error'");
    assert_string_equal(expr_complaint(&mem, child, "$.error.class"),
                        "3: undeclared reference to 'error'");
    assert_string_equal(expr_complaint(&mem, child, "eror"), "1: undeclared reference to 'eror'");
    assert_string_equal(expr_complaint(&mem, child, "input.error"), "");
    assert_string_equal(expr_complaint(&mem, env, "error"), "");
    assert_int_equal(cel_env_slot_count(child), 3);
    assert_true(cel_env_variable(child, STR("next"), STR("dyn"), &slot, &err));
    assert_int_equal(slot, 3);
}

static void test_hidden__is_known_again_when_it_is_shown(void **state)
{
    struct cel_env *child = cel_env_extend(&mem, env), *grandchild;

    (void)state;
    cel_env_hide(child, STR("error"));
    grandchild = cel_env_extend(&mem, child);
    cel_env_show(grandchild, STR("error"));
    assert_string_equal(expr_complaint(&mem, grandchild, "$.error.code == error.code"), "");
    assert_string_not_equal(expr_complaint(&mem, child, "error"), "");
    assert_int_equal(cel_env_slot_count(grandchild), 3);
}

static void test_open__takes_back_what_was_said_of_fields(void **state)
{
    struct cel_env *child = cel_env_extend(&mem, env), *open;
    struct err err;

    (void)state;
    assert_true(cel_env_field(child, STR("input"), STR("a"), &err));
    assert_string_equal(expr_complaint(&mem, child, "input.b"),
                        "7: undeclared reference to 'input.b'; did you mean 'input.a'?");
    open = cel_env_extend(&mem, child);
    cel_env_open(open, STR("input"));
    assert_string_equal(expr_complaint(&mem, open, "input.b"), "");
}

static void test_calls__are_told_in_their_order(void **state)
{
    const struct cel_program *program;
    struct err err;

    (void)state;
    assert_true(cel_env_function(env, STR("fn.rate"), false, STR("dyn -> int"), NULL, NULL, &err));
    assert_true(
        cel_compile(&mem, env, STR("fn.rate(input) + size(string(input))"), NULL, &program, &err));
    assert_true(str_eq(cel_program_call(program, 0), STR("fn.rate")));
    assert_true(str_eq(cel_program_call(program, 1), STR("string")));
    assert_true(str_eq(cel_program_call(program, 2), STR("size")));
    assert_int_equal(cel_program_call(program, 3).len, 0);
    cel_program_release(program);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, declare, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_words__a_comparison_with_another_text_does_not_compile),
        TEST(test_words__may_be_taken_back),
        TEST(test_type__a_comparison_with_a_constant_of_another_does_not_compile),
        TEST(test_hidden__is_known_again_when_it_is_shown),
        TEST(test_hidden__is_not_known_and_keeps_its_slot),
        TEST(test_open__takes_back_what_was_said_of_fields),
        TEST(test_calls__are_told_in_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
