/*
 * test_cel.c - compiling once and evaluating many times: errors, what is
 * computed when, budgets, threads.
 */
#include "cel/expr.h"

#include "cel/eval.h"

#include <pthread.h>
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

static bool listing_has(const char *source, const char *word)
{
    const struct cel_program *p = expr_compile(&x, AS_EXPRESSION, source);
    struct str text = cel_program_listing(&x.mem, p);

    cel_program_release(p);
    return str_find(text, str_of(word), 0) >= 0;
}

/* --- errors --- */

static void test_error__is_absorbed_from_both_sides(void **state)
{
    static const struct expr_case cases[] = {
        {"1 / 0 == 1 || true", "true"},
        {"true || 1 / 0 == 1", "true"},
        {"1 / 0 == 1 && false", "false"},
        {"false && 1 / 0 == 1", "false"},
        {"1 / 0 == 1 || false", "!1:3 divide by zero"},
        {"1 / 0 == 1 && true", "!1:3 divide by zero"},
        {"false || 1 / 0 == 1 || 2 / 0 == 1", "!1:12 divide by zero"},
        {"input.b == 1 || input.a == 1", "true"},
        {"input.list.exists(i, 1 / (i - 2) > 0)", "true"},
        {"input.list.all(i, 1 / (i - 2) > 0)", "false"},
        {"[2].all(i, 1 / (i - 2) > 0)", "!1:14 divide by zero"},
        {"input.a || true", "true"},
        {"input.a && true", "!1:7 no such overload: a bool is needed, not int"},
        {"(1 / 0 == 1 || true) && (2 / 0 == 1 || true)", "true"},
        {"[1, 2].exists_one(i, 1 / (i - 2) < 0)", "!1:24 divide by zero"},
        {"1 / 0 == 1 ? 1 : 2", "!1:3 divide by zero"},
        {"true ? 1 : 1 / 0", "1"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_error__of_a_limit_is_never_absorbed(void **state)
{
    static const char *const sources[] = {
        "input.list.map(a, input.list.map(b, input.list.map(c, a))) == [] || true",
        "true && input.list.all(a, input.list.all(b, input.list.all(c, c > 0))) || true",
        "[1, 2, 3, 4].exists(i, input.list.map(a, input.list.map(b, b)).size() < 0 || i == 4)",
        "cel.bind(v, input.list.map(a, input.list.map(b, input.list.map(c, a))), true)",
    };

    (void)state;
    x.limits.cost = 60;
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
        struct value v = cel_evaluate(&x.mem, expr_compile(&x, AS_EXPRESSION, sources[i]),
                                      &x.activation, &x.limits);
        assert_int_equal(v.kind, VALUE_ERROR);
        assert_int_equal(v.error->code, ERR_LIMIT_EXPRESSION_COST);
    }
}

static void test_error__points_at_what_failed(void **state)
{
    static const struct expr_case cases[] = {
        {"input.nothing.b.c",
         "!1:7 no such key: 'nothing'; has(a.b) and a.?b ask whether there is one"},
        {"input.a.b.c", "!1:9 no such field: int has no fields, so it has no 'b'"},
        {"n + input.list[7]", "!1:15 index out of range: 7 of 3"},
        {"[1].map(v, v +\n  input.list[v] / 0)", "!2:17 divide by zero"},
        {"size(input.list) + int('x')", "!1:20 type conversion error: 'x' is not an int"},
        {"input.text.charAt(9)", "!1:12 position 9 is outside the text, which has 3 characters"},
        {"{'a': 1, 'a': 2}", "!1:1 repeated key: 'a'"},
        {"input.list.transformMapEntry(i, v, {'k': v})", "!1:12 repeated key"},
        {"-input.text", "!1:1 no such overload: -_(string)"},
        {"input.?list[?0].value() + input.?b.value()", "!1:36 this optional has no value"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_error__message_of_a_long_key_is_whole_characters(void **state)
{
    char source[200] = "input['", *to = source + strlen(source);
    const char *got;

    (void)state;
    *to++ = 'x';
    for (int i = 0; i < 40; i++, to += 2)
        memcpy(to, "\xc3\xbc", 2);
    memcpy(to, "']", 3);
    got = expr_outcome(&x, AS_EXPRESSION, source);
    got = strstr(got, "key: '") + strlen("key: '");
    assert_int_equal(strcspn(got, "'"), 59);
}

/* --- laziness --- */

static void test_bind__an_error_appears_only_where_it_is_used(void **state)
{
    static const struct expr_case cases[] = {
        {"cel.bind(v, 1 / 0, n > 3 ? 1 : v)", "1"},
        {"cel.bind(v, 1 / 0, n > 9 ? 1 : v)", "!1:15 divide by zero"},
        {"cel.bind(v, 1 / 0, v > 0 || true)", "true"},
        {"cel.bind(v, n * n, v + v)", "50"},
        {"cel.bind(n, 1, cel.bind(n, n + 1, n))", "2"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_or__the_other_side_is_evaluated_only_when_needed(void **state)
{
    static const struct expr_case cases[] = {
        {"input.?a.orValue(1 / 0)", "1"},
        {"input.?b.orValue(1 / 0)", "!1:20 divide by zero"},
        {"input.?a.or(optional.of(1 / 0)).value()", "1"},
        {"input.?b.or(input.?a).value()", "1"},
        {"input.?b.or(input.a)", "!1:19 no such overload: an optional is needed here, not int"},
        {"input.a.orValue(1)", "!1:9 no such overload: an optional is needed here, not int"},
        {"input.?a.optMap(v, v + 1).value()", "2"},
        {"input.?b.optMap(v, 1 / 0)", "optional.none()"},
        {"input.?a.optFlatMap(v, input.a)",
         "!1:10 no such overload: an optional is needed here, not int"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

/* --- maps made by loops --- */

static void test_transform_map_entry__grows_as_it_needs(void **state)
{
    static const struct expr_case cases[] = {
        {"[].transformMapEntry(i, v, {i: v})", "{}"},
        {"[7].transformMapEntry(i, v, {})", "{}"},
        {"lists.range(100).transformMapEntry(i, v, {v: i})[99]", "99"},
        {"lists.range(1000).transformMapEntry(i, v, {'a' + string(i): v, 'b' + string(i): v})"
         ".size()",
         "2000"},
        {"lists.range(40).transformMapEntry(i, v, i % 3 == 0 ? {} : {i: v})[38]", "38"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

/* --- constants --- */

static void test_constant__is_computed_when_compiled(void **state)
{
    static const struct expr_case cases[] = {
        {"1 + 2 * 3", "7"},
        {"'a' + 'b'", "\"ab\""},
        {"[1, 2][1]", "2"},
        {"size([1, 2, 3])", "3"},
        {"timestamp('2026-01-31') + duration('1d')", "timestamp(\"2026-02-01T00:00:00Z\")"},
        {"{'a': [1, 2]}", "{\"a\": [1, 2]}"},
        {"true ? 1 : n", "1"},
        {"'abc'.matches('b')", "true"},
    };
    struct value v;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_true(cel_program_is_constant(expr_compile(&x, AS_EXPRESSION, cases[i].source), &v));
    EXPR_RUN(&x, AS_EXPRESSION, cases);
    assert_false(cel_program_is_constant(expr_compile(&x, AS_EXPRESSION, "n"), &v));
    assert_false(cel_program_is_constant(expr_compile(&x, AS_EXPRESSION, "1 / 0"), &v));
}

static void test_constant__parts_are_folded_in_place(void **state)
{
    (void)state;
    assert_false(listing_has("n > 60 * 60", "MULTIPLY"));
    assert_true(listing_has("n > n * 60", "MULTIPLY"));
    assert_false(listing_has("n in [1, 2, 3]", "LIST"));
    assert_true(listing_has("n in [1, 2, n]", "LIST"));
    assert_true(listing_has("input.text.matches('b+')", "MATCHES"));
    assert_false(listing_has("input.text.matches('b+')", "CALL"));
    assert_true(listing_has("input.a.b.c == 1", "PATH"));
    assert_false(listing_has("input.a.b.c == 1", "FIELD"));
}

/* --- budgets --- */

static void test_limit__memory_and_cost(void **state)
{
    static const struct {
        const char *source;
        enum err_code code;
    } cases[] = {
        {"lists.range(10000).map(i, i).size()", ERR_LIMIT_EXPRESSION_MEMORY},
        {"lists.range(1000).all(i, lists.range(1000).all(j, j >= 0))", ERR_LIMIT_EXPRESSION_COST},
        {"lists.range(1000).map(i, string(i)).join('--------------------------------')",
         ERR_LIMIT_EXPRESSION_MEMORY},
        {"lists.range(2000).exists(i, input.nothing == i)", ERR_LIMIT_EXPRESSION_MEMORY},
        {"lists.range(900).map(i, $)", ERR_LIMIT_EXPRESSION_MEMORY},
    };

    (void)state;
    x.limits = (struct cel_limits){.cost = 100000, .memory_bytes = 40000};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct value v = cel_evaluate(&x.mem, expr_compile(&x, AS_EXPRESSION, cases[i].source),
                                      &x.activation, &x.limits);
        if (v.kind != VALUE_ERROR || v.error->code != cases[i].code)
            fail_msg("%s", cases[i].source);
    }
}

static void test_evaluate__scalars_allocate_nothing(void **state)
{
    static const char *const sources[] = {
        "n + 1 > 3 && input.a == 1",
        "input.list.all(i, i > 0) || input.text == 'abc'",
        "n in [1, 2, 5] ? 'yes' : 'no'",
        "has(input.a) && input.text.startsWith('a') && size(input.list) == 3",
    };
    struct arena mem;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
        arena_init(&mem);
        assert_int_not_equal(
            cel_evaluate(&mem, expr_compile(&x, AS_EXPRESSION, sources[i]), &x.activation, NULL)
                .kind,
            VALUE_ERROR);
        assert_int_equal(mem.held_bytes, 0);
        assert_null(mem.next);
        arena_fini(&mem);
    }
}

/* --- threads --- */

struct shared {
    const struct cel_program *program;
    const struct cel_activation *activation;
};

static void *evaluate_often(void *context)
{
    const struct shared *shared = context;
    struct arena mem;
    intptr_t wrong = 0;

    arena_init(&mem);
    for (int i = 0; i < 500; i++) {
        struct value v = cel_evaluate(&mem, shared->program, shared->activation, NULL);
        wrong += v.kind != VALUE_INT || v.i != 3 + 6 + 5;
        arena_reset(&mem);
    }
    arena_fini(&mem);
    return (void *)wrong;
}

static void test_program__is_evaluated_by_many_threads_at_once(void **state)
{
    struct shared shared = {
        .program = expr_compile(&x, AS_EXPRESSION,
                                "size(input.text) + input.list.filter(i, i > 0).map(i, i).sum()"
                                " + ('a1'.matches('[a-z]' + '1') && input.text.matches('^a.c$')"
                                " && input.nothing == 1 || true ? n : 0)"),
        .activation = &x.activation,
    };
    pthread_t threads[4];
    void *wrong;

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, evaluate_often, &shared), 0);
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    cel_program_release(shared.program);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_error__is_absorbed_from_both_sides),
        TEST(test_error__of_a_limit_is_never_absorbed),
        TEST(test_error__points_at_what_failed),
        TEST(test_error__message_of_a_long_key_is_whole_characters),
        TEST(test_bind__an_error_appears_only_where_it_is_used),
        TEST(test_or__the_other_side_is_evaluated_only_when_needed),
        TEST(test_transform_map_entry__grows_as_it_needs),
        TEST(test_constant__is_computed_when_compiled),
        TEST(test_constant__parts_are_folded_in_place),
        TEST(test_limit__memory_and_cost),
        TEST(test_evaluate__scalars_allocate_nothing),
        TEST(test_program__is_evaluated_by_many_threads_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
