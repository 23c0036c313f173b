/* test_arena.c - claims about arena.h. */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_arena__memory_is_aligned_for_any_type(void **state)
{
    struct arena mem;

    (void)state;
    arena_init(&mem);
    for (size_t size = 0; size < 100; size++)
        assert_int_equal((uintptr_t)arena_alloc(&mem, size) % 16, 0);
    arena_fini(&mem);
}

static void test_arena__no_bytes_are_not_null(void **state)
{
    struct arena mem;
    size_t held;

    (void)state;
    arena_init(&mem);
    assert_non_null(arena_alloc(&mem, 0));
    assert_non_null(arena_zalloc(&mem, 0));
    assert_non_null(arena_array(&mem, 0, 8));
    held = mem.held_bytes;
    for (int i = 0; i < 100; i++)
        (void)arena_alloc(&mem, 0);
    assert_int_equal(mem.held_bytes, held);
    arena_fini(&mem);
}

static void test_arena__allocations_do_not_overlap(void **state)
{
    enum { COUNT = 2000 };
    static unsigned char *pieces[COUNT];
    struct arena mem;

    (void)state;
    arena_init(&mem);
    for (size_t i = 0; i < COUNT; i++) {
        pieces[i] = arena_alloc(&mem, i % 97 + 1);
        memset(pieces[i], (int)(i % 251), i % 97 + 1);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < i % 97 + 1; j++)
            assert_int_equal(pieces[i][j], i % 251);
    arena_fini(&mem);
    assert_int_equal(mem.held_bytes, 0);
}

static void test_arena__zalloc_clears_memory_that_was_used_before(void **state)
{
    struct arena mem;
    unsigned char *p;

    (void)state;
    arena_init(&mem);
    memset(arena_alloc(&mem, 1000), 0xAA, 1000);
    arena_reset(&mem);
    p = arena_zalloc(&mem, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(p[i], 0);
    arena_fini(&mem);
}

static void test_arena__a_turn_that_fits_one_block_allocates_nothing(void **state)
{
    struct arena mem;
    size_t held;

    (void)state;
    arena_init(&mem);
    for (int i = 0; i < 100; i++)
        (void)arena_alloc(&mem, 1000);
    arena_reset(&mem);
    held = mem.held_bytes;
    assert_true(held > 4096);
    for (int turn = 0; turn < 10; turn++) {
        for (int i = 0; i < 20; i++)
            (void)arena_alloc(&mem, 1000);
        arena_reset(&mem);
        assert_int_equal(mem.held_bytes, held);
    }
    arena_fini(&mem);
}

static void test_arena__reset_gives_a_huge_block_back(void **state)
{
    struct arena mem;

    (void)state;
    arena_init(&mem);
    (void)arena_alloc(&mem, 8 << 20);
    assert_true(mem.held_bytes >= 8 << 20);
    arena_reset(&mem);
    assert_true(mem.held_bytes <= 1 << 20);
    memset(arena_alloc(&mem, 100), 1, 100);
    arena_fini(&mem);
}

static void test_arena__release_goes_back_to_the_mark(void **state)
{
    struct arena mem;
    struct arena_mark mark;
    char *before, *again, *after;
    size_t held;

    (void)state;
    arena_init(&mem);
    before = arena_copy(&mem, "kept", 4);
    held = mem.held_bytes;
    mark = arena_mark(&mem);
    after = arena_alloc(&mem, 64);
    for (int i = 0; i < 50; i++)
        (void)arena_alloc(&mem, 3000);
    assert_true(mem.held_bytes > held);
    arena_release(&mem, mark);
    assert_int_equal(mem.held_bytes, held);
    again = arena_alloc(&mem, 64);
    assert_ptr_equal(again, after);
    assert_string_equal(before, "kept");
    arena_fini(&mem);
}

static void test_arena__a_mark_of_an_empty_arena_frees_all(void **state)
{
    struct arena mem;
    struct arena_mark mark;
    char *first;

    (void)state;
    arena_init(&mem);
    mark = arena_mark(&mem);
    first = arena_alloc(&mem, 10);
    arena_release(&mem, mark);
    assert_ptr_equal(arena_alloc(&mem, 10), first);
    arena_fini(&mem);
}

static void test_arena__copy_ends_in_a_zero_byte(void **state)
{
    struct arena mem;

    (void)state;
    arena_init(&mem);
    memset(arena_alloc(&mem, 64), 'x', 64);
    arena_reset(&mem);
    assert_string_equal(arena_copy(&mem, "abc", 3), "abc");
    assert_string_equal(arena_copy(&mem, NULL, 0), "");
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena__memory_is_aligned_for_any_type),
        cmocka_unit_test(test_arena__no_bytes_are_not_null),
        cmocka_unit_test(test_arena__allocations_do_not_overlap),
        cmocka_unit_test(test_arena__zalloc_clears_memory_that_was_used_before),
        cmocka_unit_test(test_arena__a_turn_that_fits_one_block_allocates_nothing),
        cmocka_unit_test(test_arena__reset_gives_a_huge_block_back),
        cmocka_unit_test(test_arena__release_goes_back_to_the_mark),
        cmocka_unit_test(test_arena__a_mark_of_an_empty_arena_frees_all),
        cmocka_unit_test(test_arena__copy_ends_in_a_zero_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
