/* test_env.c - what a caller brings: variables that are loaded late, environments, functions. */
#include "cel/expr.h"

#include "cel/eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct expr x;

static int set_up(void **state)
{
    (void)state;
    expr_init(&x, CEL_DEFINITION);
    expr_bind(&x, "n", "int", "5");
    expr_bind(&x, "input", "dyn", "{\"a\": 1, \"list\": [1, 2, 3], \"text\": \"abc\"}");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    expr_fini(&x);
    return 0;
}

/* --- slots --- */

struct lazy {
    unsigned asked;
    struct value answer;
};

static struct value load(void *context, uint32_t slot)
{
    struct lazy *lazy = context;

    (void)slot;
    lazy->asked++;
    return lazy->answer;
}

static void test_load__is_asked_for_what_is_not_bound(void **state)
{
    static const struct expr_case cases[] = {
        {"late + n", "12"},
        {"has($.late)", "true"},
        {"n", "5"},
    };
    struct lazy lazy = {.answer = value_int(7)};

    (void)state;
    expr_bind(&x, "late", "int", NULL);
    x.activation.load = load;
    x.activation.context = &lazy;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
    assert_int_equal(lazy.asked, 2);
}

static void test_load__may_fail_or_have_nothing(void **state)
{
    static const struct expr_case nothing[] = {
        {"late", "!1:1 no such attribute: 'late' has no value"},
        {"has($.late)", "false"},
        {"late == 1 || true", "true"},
    };
    static const struct expr_case broken[] = {
        {"late", "!1:1 the disk is gone"},      {"has($.late)", "!1:1 the disk is gone"},
        {"$['late']", "!1:1 the disk is gone"}, {"late.a.b", "!1:1 the disk is gone"},
        {"late == 1 || true", "true"},
    };
    struct lazy lazy = {.answer = value_absent()};

    (void)state;
    expr_bind(&x, "late", "dyn", NULL);
    x.activation.load = load;
    x.activation.context = &lazy;
    EXPR_RUN(&x, AS_EXPRESSION, nothing);
    lazy.answer = value_error(&x.mem, ERR_IO, 0, "the disk is gone");
    EXPR_RUN(&x, AS_EXPRESSION, broken);
}

static void test_env__a_child_does_not_change_its_parent(void **state)
{
    struct cel_env *child = cel_env_extend(&x.mem, x.env);
    const struct cel_program *p;
    uint32_t slot, again;
    struct err err;
    struct value slots[3] = {value_int(1), value_null(), value_int(30)};
    struct cel_activation activation = {.slots = slots};

    (void)state;
    assert_true(cel_env_variable(child, STR("extra"), STR("int"), &slot, &err));
    assert_int_equal(slot, 2);
    assert_true(cel_env_variable(child, STR("n"), STR("string"), &again, &err));
    assert_int_equal(again, 0);
    assert_true(cel_env_function(child, STR("size"), false, STR("int -> int"), NULL, NULL, &err));
    assert_int_equal(cel_env_slot_count(child), 3);
    assert_int_equal(cel_env_slot_count(x.env), 2);

    assert_true(cel_compile(&x.mem, child, STR("$.extra + extra"), NULL, &p, &err));
    assert_int_equal(cel_evaluate(&x.mem, p, &activation, NULL).i, 60);
    assert_false(cel_compile(&x.mem, child, STR("n + 1"), NULL, &p, &err));
    assert_string_equal(expr_outcome(&x, AS_EXPRESSION, "n + 1"), "6");
    assert_string_equal(expr_outcome(&x, AS_EXPRESSION, "extra"),
                        "?1:1 undeclared reference to 'extra'");
    assert_string_equal(expr_outcome(&x, AS_EXPRESSION, "size(5)"),
                        "?1:1 no such overload: size(int); it takes (string), (bytes), "
                        "(list(dyn)) or (map(dyn, dyn))");
    assert_string_equal(expr_outcome(&x, AS_EXPRESSION, "size([5])"), "1");
}

static void test_env__a_bad_declaration_is_refused(void **state)
{
    static const char *const types[] = {"", "in", "list(", "list(int", "map(int)", "int int", "A"};
    static const char *const signatures[] = {"int", "int ->", "-> ", "int string -> int",
                                             "A, A, A, A, A, A, A, A, A, A, A -> A"};
    uint32_t slot;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        assert_false(cel_env_variable(x.env, STR("v"), str_of(types[i]), &slot, &err));
        assert_int_equal(err.code, ERR_INVALID);
    }
    for (size_t i = 0; i < ARRAY_SIZE(signatures); i++) {
        assert_false(
            cel_env_function(x.env, STR("fn.f"), false, str_of(signatures[i]), NULL, NULL, &err));
        assert_int_equal(err.code, ERR_INVALID);
    }
}

/* --- functions of the caller --- */

/* Functions fn.NAME(v) whose bodies are expressions, each over those before it. */
struct functions {
    struct cel_env *env; /* of the bodies */
    const struct cel_program *bodies[5];
    unsigned count;
};

static struct value call_body(struct cel_eval *ev, const struct value *args)
{
    void *context = ev->context;
    const struct cel_program *const *body = context;
    struct value result = cel_call(ev, *body, args);

    /* The evaluation is the caller's again. */
    ASSERT(ev->context == context);
    return result;
}

static void declare_function(struct functions *f, const char *name, const char *source)
{
    const struct cel_program **body = &f->bodies[f->count++];
    struct err err;

    assert_true(cel_compile(&x.mem, f->env, str_of(source), NULL, body, &err));
    assert_true(cel_env_function(f->env, str_of(name), false, STR("dyn -> dyn"), call_body,
                                 (void *)body, &err));
    assert_true(cel_env_function(x.env, str_of(name), false, STR("dyn -> dyn"), call_body,
                                 (void *)body, &err));
}

static void declare_functions(struct functions *f)
{
    uint32_t slot;
    struct err err;

    *f = (struct functions){.env = cel_env_new(&x.mem, CEL_DEFINITION)};
    assert_true(cel_env_variable(f->env, STR("v"), STR("dyn"), &slot, &err));
    declare_function(f, "fn.part", "10 / v");
    declare_function(f, "fn.twice", "fn.part(v) + fn.part(v)");
    declare_function(f, "fn.deep", "[v].map(i, fn.twice(i))[0]");
    declare_function(f, "fn.deeper", "fn.deep(v)");
    declare_function(f, "fn.long", "lists.range(1000).map(i, i + v).size()");
}

static void test_function__runs_its_body_with_its_arguments(void **state)
{
    static const struct expr_case cases[] = {
        {"fn.part(5)", "2"},
        {"fn.part(n) + 1", "3"},
        {"[1, 2, 5].map(i, fn.part(i))", "[10, 5, 2]"},
        {"fn.twice(5)", "4"},
        {"fn.deep(5)", "4"},
        {"fn.part()", "?1:4 no such overload: fn.part(); it takes (dyn)"},
        {"fn.prat(1)", "?1:4 undeclared function 'fn.prat'; did you mean 'fn.part'?"},
    };
    struct functions functions;

    (void)state;
    declare_functions(&functions);
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_function__an_error_of_the_body_is_at_the_call(void **state)
{
    static const struct expr_case cases[] = {
        {"1 + fn.part(0)", "!1:8 fn.part(): divide by zero"},
        {"1 + fn.twice(0)", "!1:8 fn.twice(): fn.part(): divide by zero"},
        {"fn.part(0) == 1 || true", "true"},
        {"fn.part(1) / 0", "!1:12 divide by zero"},
    };
    struct functions functions;

    (void)state;
    declare_functions(&functions);
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_function__nesting_has_a_limit(void **state)
{
    struct functions functions;
    const char *got;

    (void)state;
    declare_functions(&functions);
    got = expr_outcome(&x, AS_EXPRESSION, "fn.deeper(5)");
    assert_int_equal(got[0], '!');
    assert_non_null(strstr(got, "functions call each other more than 3 deep"));
}

static void test_function__shares_the_budget_of_its_caller(void **state)
{
    struct functions functions;
    const struct cel_program *once, *often;
    struct value v;

    (void)state;
    declare_functions(&functions);
    once = expr_compile(&x, AS_EXPRESSION, "fn.long(1)");
    often =
        expr_compile(&x, AS_EXPRESSION, "lists.range(10).map(i, fn.long(i)).size() > 0 || true");
    x.limits.cost = 20000;
    assert_int_equal(cel_evaluate(&x.mem, once, &x.activation, &x.limits).i, 1000);
    v = cel_evaluate(&x.mem, often, &x.activation, &x.limits);
    assert_int_equal(v.kind, VALUE_ERROR);
    assert_int_equal(v.error->code, ERR_LIMIT_EXPRESSION_COST);

    x.limits = cel_default_limits;
    x.limits.memory_bytes = 100000;
    assert_int_equal(cel_evaluate(&x.mem, once, &x.activation, &x.limits).i, 1000);
    v = cel_evaluate(&x.mem, often, &x.activation, &x.limits);
    assert_int_equal(v.kind, VALUE_ERROR);
    assert_int_equal(v.error->code, ERR_LIMIT_EXPRESSION_MEMORY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_load__is_asked_for_what_is_not_bound),
        TEST(test_load__may_fail_or_have_nothing),
        TEST(test_env__a_child_does_not_change_its_parent),
        TEST(test_env__a_bad_declaration_is_refused),
        TEST(test_function__runs_its_body_with_its_arguments),
        TEST(test_function__an_error_of_the_body_is_at_the_call),
        TEST(test_function__nesting_has_a_limit),
        TEST(test_function__shares_the_budget_of_its_caller),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
