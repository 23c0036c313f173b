/* Tests of patterns.h: constant patterns that expressions share, within one budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cel/cel.h"
#include "cel/patterns.h"

#include <string.h>

enum { COST = 6000000, MANY = 1000 };

static struct arena mem;
static struct cel_patterns pool;

static int set_up(void **state)
{
    (void)state;
    arena_init(&mem);
    patterns_init(&pool, &mem, COST, CEL_PATTERNS_MAX);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cel_patterns_release(&pool);
    arena_fini(&mem);
    return 0;
}

static void test_patterns__equal_ones_are_compiled_once(void **state)
{
    struct err err;
    const struct regex *first = patterns_get(&pool, STR("^[\\pL\\pN]{1,50}$"), &err);
    int64_t left = pool.cost_left;

    (void)state;
    assert_non_null(first);
    assert_true(left < COST);
    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(patterns_get(&pool, STR("^[\\pL\\pN]{1,50}$"), &err), first);
    assert_int_equal(pool.cost_left, left);
}

static void test_patterns__one_that_is_refused_costs_once(void **state)
{
    struct err err = {.code = ERR_NONE};
    int64_t left;

    (void)state;
    assert_null(patterns_get(&pool, STR("\\pL{1000}"), &err));
    assert_int_equal(err.code, ERR_LIMIT_EXPRESSION_SIZE);
    left = pool.cost_left;
    assert_true(left <= COST - REGEX_COST_TOO_LARGE);
    err = (struct err){.code = ERR_NONE};
    assert_null(patterns_get(&pool, STR("\\pL{1000}"), &err));
    assert_int_equal(err.code, ERR_LIMIT_EXPRESSION_SIZE);
    assert_non_null(strstr(err.message, "too large"));
    assert_int_equal(pool.cost_left, left);
}

/* How many different patterns of this shape are compiled, and what the first refused one says. */
static size_t compiled_of(const char *format, struct err *err)
{
    size_t count = 0;

    for (int i = 1; i <= MANY; i++)
        count += patterns_get(&pool, str_printf(&mem, format, i), err) != NULL;
    return count;
}

static void test_patterns__large_ones_end_with_the_budget(void **state)
{
    struct err err = {.code = ERR_NONE};
    size_t count = compiled_of("%d[\\pL\\pN]{1,50}", &err);

    (void)state;
    assert_in_range(count, 1, 20);
    assert_int_equal(err.code, ERR_LIMIT_EXPRESSION_SIZE);
    assert_non_null(strstr(err.message, "too large taken together"));
}

static void test_patterns__too_large_ones_end_with_the_budget(void **state)
{
    struct err err = {.code = ERR_NONE};

    (void)state;
    assert_int_equal(compiled_of("%d\\pL{1000}", &err), 0);
    assert_non_null(strstr(err.message, "too large taken together"));
    assert_true(pool.compiled.count <= COST / REGEX_COST_TOO_LARGE + 1);
}

static void test_patterns__so_many_small_ones_and_no_more(void **state)
{
    struct err err = {.code = ERR_NONE};

    (void)state;
    assert_int_equal(compiled_of("^[a-z]+%d$", &err), CEL_PATTERNS_MAX);
    assert_non_null(strstr(err.message, "more than 256 different patterns"));
    /* Those that were compiled are there all the same. */
    assert_non_null(patterns_get(&pool, STR("^[a-z]+1$"), &err));
}

/* Programs of one environment share; each of them is usable as long as the patterns are there. */
static void test_patterns__programs_of_an_environment_share_them(void **state)
{
    struct cel_env *env = cel_env_extend(&mem, cel_env_new(&mem, CEL_DEFINITION));
    const struct cel_activation none = {0};
    int64_t left = 0;

    (void)state;
    cel_env_patterns(env, &pool);
    for (int i = 0; i < MANY; i++) {
        const struct cel_program *program;
        struct err err;
        struct value v;

        assert_true(cel_compile(&mem, cel_env_extend(&mem, env),
                                STR("'order 7'.matches('^order [0-9]{1,9}$')"), NULL, &program,
                                &err));
        v = cel_evaluate(&mem, program, &none, NULL);
        assert_int_equal(v.kind, VALUE_BOOL);
        assert_true(v.b);
        if (i == 0)
            left = pool.cost_left;
        assert_int_equal(pool.cost_left, left);
        cel_program_release(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_patterns__equal_ones_are_compiled_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_patterns__one_that_is_refused_costs_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_patterns__large_ones_end_with_the_budget, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_patterns__too_large_ones_end_with_the_budget, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_patterns__so_many_small_ones_and_no_more, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_patterns__programs_of_an_environment_share_them,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
