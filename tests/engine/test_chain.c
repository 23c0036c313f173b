/* test_chain.c - the triggers that led to an execution. */
#include "engine/chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_chain__a_trigger_is_known_by_its_whole_name(void **state)
{
    (void)state;
    assert_false(chain_has(STR_NONE, STR("a/0")));
    assert_true(chain_has(STR("a/0"), STR("a/0")));
    assert_true(chain_has(STR("b/1 a/0 c/2"), STR("a/0")));
    assert_true(chain_has(STR("b/1 a/0 c/2"), STR("c/2")));
    assert_false(chain_has(STR("aa/0 a/01"), STR("a/0")));
    assert_false(chain_has(STR("aa/0 a/01"), STR("a/1")));
}

static void test_chain__one_more_comes_last_and_is_counted(void **state)
{
    struct arena mem;
    struct str chain;

    (void)state;
    arena_init(&mem);
    assert_int_equal(chain_length(STR_NONE), 0);
    chain = chain_add(&mem, STR_NONE, STR("a/0"));
    assert_true(str_eq(chain, STR("a/0")));
    chain = chain_add(&mem, chain, STR("b/12"));
    assert_true(str_eq(chain, STR("a/0 b/12")));
    assert_int_equal(chain_length(chain), 2);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain__a_trigger_is_known_by_its_whole_name),
        cmocka_unit_test(test_chain__one_more_comes_last_and_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
