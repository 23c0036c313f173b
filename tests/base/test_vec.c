/* test_vec.c - claims about vec.h. */
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct numbers {
    VEC_OF(uint32_t);
};

static void test_vec__keeps_items_while_growing(void **state)
{
    struct numbers v = {0};
    struct arena mem;

    (void)state;
    arena_init(&mem);
    for (uint32_t i = 0; i < 10000; i++)
        *VEC_ADD(&mem, &v) = i * 3;
    assert_int_equal(v.count, 10000);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(v.items[i], i * 3);
    arena_fini(&mem);
}

static void test_vec__doubles_and_so_moves_rarely(void **state)
{
    struct numbers v = {0};
    struct arena mem;
    const uint32_t *items = NULL;
    unsigned moves = 0;

    (void)state;
    arena_init(&mem);
    for (uint32_t i = 0; i < 1 << 16; i++) {
        *VEC_ADD(&mem, &v) = i;
        moves += v.items != items;
        items = v.items;
    }
    assert_int_equal(v.capacity, 1 << 16);
    assert_int_equal(moves, 14); /* 8, 16, ... 65536 */
    arena_fini(&mem);
}

static void test_vec__an_emptied_one_is_filled_in_place(void **state)
{
    struct numbers v = {0};
    struct arena mem;
    uint32_t *before;

    (void)state;
    arena_init(&mem);
    for (uint32_t i = 0; i < 20; i++)
        *VEC_ADD(&mem, &v) = i;
    before = v.items;
    v.count = 0;
    for (uint32_t i = 0; i < 20; i++)
        *VEC_ADD(&mem, &v) = i;
    assert_ptr_equal(v.items, before);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vec__keeps_items_while_growing),
        cmocka_unit_test(test_vec__doubles_and_so_moves_rarely),
        cmocka_unit_test(test_vec__an_emptied_one_is_filled_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
