/*
 * test_hostile.c - values and work that grow without end.
 *
 * Each expression is refused with a clear code or gives the right result,
 * within the memory that the limits allow.
 */
#include "cel/hostile.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void expect_over_limit(struct hostile *h, struct str source)
{
    struct outcome o = hostile_run(h, source, value_null());
    EXPECT(outcome_is_over_limit(&o), o, source);
}

static void expect_int_or(struct hostile *h, struct str source, int64_t want, enum err_code or_code)
{
    struct outcome o = hostile_run(h, source, value_null());
    EXPECT(outcome_is_int(&o, want) || o.code == or_code, o, source);
}

static void expect_true_or_over_limit(struct hostile *h, struct str source)
{
    struct outcome o = hostile_run(h, source, value_null());
    EXPECT(outcome_is_true(&o) || outcome_is_over_limit(&o), o, source);
}

/* --- values that share parts of themselves --- */

static void test_hostile__size_of_a_doubling_list_is_cheap(void **state)
{
    struct hostile *h = *state;
    static const unsigned levels[] = {40, 60, 100, 200};

    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        expect_int_or(h, hostile_binds(h, levels[i], "[1, 1]", "[@, @]", "size(@)"), 2,
                      ERR_LIMIT_EXPRESSION_SIZE);
}

static void test_hostile__doubling_lists_compare_within_the_budget(void **state)
{
    struct hostile *h = *state;
    static const char *const bodies[] = {
        "@ == @",           "[@] == [[1, 1], @] || true",   "!(@ != @)",
        "@ in [@]",         "size([@, @].distinct()) == 1", "{'k': @} == {'k': @}",
        "dyn(@) == dyn(@)",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        expect_true_or_over_limit(h, hostile_binds(h, 60, "[1, 1]", "[@, @]", bodies[i]));
}

static void test_hostile__equal_twins_compare_within_the_budget(void **state)
{
    struct hostile *h = *state;
    struct buf b;

    /* Built apart, so that no comparison of addresses can answer. */
    buf_init_arena(&b, &h->source);
    buf_text(&b, "cel.bind(a0, [1, 1], cel.bind(b0, [1, 1], ");
    for (int i = 1; i < 50; i++)
        buf_printf(&b, "cel.bind(a%d, [a%d, a%d], cel.bind(b%d, [b%d, b%d], ", i, i - 1, i - 1, i,
                   i - 1, i - 1);
    buf_text(&b, "a49 == b49");
    buf_str(&b, hostile_nested(h, ")", "", "", 100));
    expect_over_limit(h, buf_view(&b));
}

static void test_hostile__doubling_maps_compare_within_the_budget(void **state)
{
    struct hostile *h = *state;

    expect_true_or_over_limit(h, hostile_binds(h, 60, "{'a': 1}", "{'a': @, 'b': @}", "@ == @"));
}

static void test_hostile__doubling_lists_are_not_written_out(void **state)
{
    struct hostile *h = *state;
    static const char *const bodies[] = {
        "'%s'.format([@])",
        "size('%s %s'.format([@, @])) > 0",
        "@.flatten(100)",
        "size(@.flatten(1000000000)) > 0",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        expect_over_limit(h, hostile_binds(h, 60, "[1, 1]", "[@, @]", bodies[i]));
}

static void test_hostile__doubling_result_does_not_become_json(void **state)
{
    struct hostile *h = *state;
    struct str source = hostile_binds(h, 60, "[1, 1]", "[@, @]", "@");
    struct outcome o = hostile_run(h, source, value_null());
    struct buf json;
    struct err err;

    EXPECT(o.code == ERR_NONE && o.value.kind == VALUE_LIST, o, source);
    buf_init(&json);
    json.limit = MIB;
    assert_false(json_write(&json, o.value, &err));
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_true(json.capacity <= 2 * MIB);
    buf_fini(&json);
}

static void test_hostile__doubling_text_runs_into_a_limit(void **state)
{
    struct hostile *h = *state;

    expect_over_limit(h, hostile_binds(h, 60, "'ab'", "@ + @", "size(@)"));
    expect_over_limit(h, hostile_binds(h, 60, "b'ab'", "@ + @", "size(@)"));
    expect_over_limit(h, hostile_binds(h, 60, "[1, 2]", "@ + @", "size(@)"));
    expect_over_limit(h, hostile_binds(h, 60, "'ab'", "[@, @].join()", "size(@)"));
    expect_over_limit(h, hostile_binds(h, 60, "'aa'", "@.replace('a', @)", "size(@)"));
    expect_over_limit(h, hostile_binds(h, 60, "'ab'", "'%s%s'.format([@, @])", "size(@)"));
    expect_over_limit(h, hostile_binds(h, 60, "'\"\\\\\"'", "strings.quote(@ + @)", "size(@)"));
    expect_over_limit(h, hostile_binds(h, 60, "b'ab'", "bytes(base64.encode(@ + @))", "size(@)"));
}

/* --- work --- */

static void test_hostile__a_million_million_iterations_run_into_the_cost_limit(void **state)
{
    struct hostile *h = *state;
    static const char *const sources[] = {
        "lists.range(10000).all(a, lists.range(10000).all(b, lists.range(10000).all(c, true)))",
        "lists.range(10000).exists(a, lists.range(10000).exists(b, lists.range(10000).exists(c, "
        "false)))",
        "lists.range(10000).exists_one(a, lists.range(10000).exists_one(b, a == b && a < 0))",
        "lists.range(10000).filter(a, lists.range(10000).filter(b, false) != []) == []",
        "lists.range(10000).all(i, v, lists.range(10000).all(j, w, lists.range(10000).all(k, x, "
        "true)))",
        "lists.range(1000).map(a, lists.range(1000).map(b, lists.range(1000).map(c, c)))",
        "lists.range(1000).transformList(i, v, lists.range(1000).transformList(j, w, "
        "lists.range(1000)))",
        "lists.range(10000).sortBy(x, lists.range(10000).sortBy(y, -y)[0] + x) == []",
        "cel.bind(r, lists.range(10000), r.all(a, r.all(b, r.all(c, a in r || b in r))))",
        "cel.bind(r, lists.range(10000), r.map(x, r.distinct()))",
        "cel.bind(r, lists.range(10000), r.map(x, r.reverse().sort()))",
        "cel.bind(r, lists.range(10000), r.map(x, r + r))",
        "cel.bind(r, lists.range(10000), r.map(x, r == r.map(y, y)))",
        "cel.bind(r, lists.range(10000), r.map(x, math.greatest(r)))",
        "cel.bind(r, lists.range(10000), r.map(x, r.sum()))",
    };

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        expect_over_limit(h, str_of(sources[i]));
}

static void test_hostile__a_small_budget_is_kept(void **state)
{
    struct hostile *h = *state;
    struct cel_limits limits = {.cost = 1000, .memory_bytes = 64 * 1024};
    struct str source = STR("lists.range(100).all(a, lists.range(100).all(b, true))");
    struct cel_env *env = cel_env_new(&h->program, CEL_DEFINITION);
    const struct cel_program *program = NULL;
    struct cel_activation activation = {.slots = NULL, .root = value_absent()};
    struct err err;

    assert_true(cel_compile(&h->program, env, source, NULL, &program, &err));
    struct value v = cel_evaluate(&h->eval, program, &activation, &limits);

    assert_int_equal(v.kind, VALUE_ERROR);
    assert_true(v.error->code == ERR_LIMIT_EXPRESSION_COST ||
                v.error->code == ERR_LIMIT_EXPRESSION_MEMORY);
    limits.cost = 1000000;
    limits.memory_bytes = MIB;
    assert_true(value_is_true(cel_evaluate(&h->eval, program, &activation, &limits)));
    cel_program_release(program);
}

/* Errors of limits are not absorbed: `||` would turn them into an answer after all. */
static void test_hostile__limits_are_not_absorbed(void **state)
{
    struct hostile *h = *state;

    expect_over_limit(h,
                      STR("lists.range(100000).all(a, lists.range(100000).all(b, true)) || true"));
    expect_over_limit(
        h, STR("!(lists.range(100000).all(a, lists.range(100000).all(b, true)) && false)"));
    expect_over_limit(h, STR("[1].exists(x, lists.range(100000).all(a, lists.range(100000).all(b, "
                             "true))) || true"));
}

static void test_hostile__arguments_of_any_size_are_answered(void **state)
{
    struct hostile *h = *state;
    static const char *const sources[] = {
        "lists.range(9223372036854775807)",
        "lists.range(1000000000000)",
        "lists.range(-1)",
        "'%.999999999f'.format([1.0])",
        "'%.2147483648e'.format([1.0])",
        "'%.99999999999999999999f'.format([1.0])",
        "date.add(timestamp('2026-01-01'), 9223372036854775807, 'business_day')",
        "date.add(timestamp('2026-01-01'), -9223372036854775807, 'business_day')",
        "date.add(timestamp('2026-01-01'), 9223372036854775807, 'month')",
        "date.add(timestamp('2026-01-01'), 9223372036854775807, 'day', 'Europe/Berlin')",
        "duration('9999999999999999999999999s')",
        "timestamp(9223372036854775807)",
        "'abc'.substring(9223372036854775807)",
        "'abc'.charAt(-9223372036854775808)",
        "[1].slice(0, 9223372036854775807)",
        "[[1]].flatten(-1)",
    };

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct str source = str_of(sources[i]);
        struct outcome o = hostile_run(h, source, value_null());

        EXPECT(o.code == ERR_EXPRESSION_ERROR || outcome_is_over_limit(&o), o, source);
    }
}

static void test_hostile__shifts_and_splits_of_any_size_are_answered(void **state)
{
    struct hostile *h = *state;

    expect_int_or(h, STR("math.bitShiftLeft(1, 9223372036854775807)"), 0, ERR_EXPRESSION_ERROR);
    expect_int_or(h, STR("size('a,b'.split(',', 9223372036854775807))"), 2, ERR_NONE);
    expect_int_or(h, STR("size('aa'.replace('a', 'bb', 9223372036854775807))"), 4, ERR_NONE);
    expect_int_or(h, STR("size([[[1]], [2]].flatten(9223372036854775807))"), 2, ERR_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_HOSTILE(test_hostile__size_of_a_doubling_list_is_cheap),
        TEST_HOSTILE(test_hostile__doubling_lists_compare_within_the_budget),
        TEST_HOSTILE(test_hostile__equal_twins_compare_within_the_budget),
        TEST_HOSTILE(test_hostile__doubling_maps_compare_within_the_budget),
        TEST_HOSTILE(test_hostile__doubling_lists_are_not_written_out),
        TEST_HOSTILE(test_hostile__doubling_result_does_not_become_json),
        TEST_HOSTILE(test_hostile__doubling_text_runs_into_a_limit),
        TEST_HOSTILE(test_hostile__a_million_million_iterations_run_into_the_cost_limit),
        TEST_HOSTILE(test_hostile__a_small_budget_is_kept),
        TEST_HOSTILE(test_hostile__limits_are_not_absorbed),
        TEST_HOSTILE(test_hostile__arguments_of_any_size_are_answered),
        TEST_HOSTILE(test_hostile__shifts_and_splits_of_any_size_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
