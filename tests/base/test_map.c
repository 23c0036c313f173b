/* test_map.c - claims about map.h. */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_map__empty_one_finds_nothing_and_needs_no_memory(void **state)
{
    struct arena mem;
    struct map map;

    (void)state;
    arena_init(&mem);
    map_init(&map, &mem);
    assert_null(map_find(&map, STR("x")));
    assert_null(map_get(&map, STR_NONE));
    assert_null(map_next(&map, NULL));
    assert_false(map_remove(&map, STR("x")));
    assert_int_equal(mem.held_bytes, 0);
    map_check(&map);
    arena_fini(&mem);
}

static void test_map__finds_what_was_put_and_the_last_put_wins(void **state)
{
    struct arena mem;
    struct map map;
    int a, b;

    (void)state;
    arena_init(&mem);
    map_init(&map, &mem);
    map_put(&map, STR("one"), &a);
    map_put(&map, STR("two"), &b);
    map_put(&map, STR("one"), &b);
    assert_ptr_equal(map_get(&map, STR("one")), &b);
    assert_ptr_equal(map_get(&map, STR("two")), &b);
    assert_null(map_get(&map, STR("three")));
    assert_int_equal(map.count, 2);
    arena_fini(&mem);
}

static void test_map__the_empty_key_and_keys_with_zero_bytes_are_keys(void **state)
{
    struct arena mem;
    struct map map;
    bool is_new;

    (void)state;
    arena_init(&mem);
    map_init(&map, &mem);
    map_add(&map, STR_NONE, &is_new)->number = 1;
    assert_true(is_new);
    map_add(&map, STR("a\0b"), &is_new)->number = 2;
    assert_true(is_new);
    map_add(&map, STR("a\0c"), &is_new)->number = 3;
    assert_true(is_new);
    assert_int_equal(map_add(&map, STR(""), &is_new)->number, 1);
    assert_false(is_new);
    assert_int_equal(map_find(&map, STR("a\0b"))->number, 2);
    assert_int_equal(map_find(&map, STR("a\0c"))->number, 3);
    assert_null(map_find(&map, STR("a")));
    assert_true(map_remove(&map, STR("")));
    assert_null(map_find(&map, STR("")));
    arena_fini(&mem);
}

static struct str numbered(struct arena *mem, unsigned n)
{
    return str_printf(mem, "key-%u", n);
}

static void test_map__iterates_in_order_of_insertion(void **state)
{
    struct arena mem;
    struct map map;
    unsigned n = 0;

    (void)state;
    arena_init(&mem);
    map_init(&map, &mem);
    for (unsigned i = 0; i < 5000; i++)
        map_add(&map, numbered(&mem, i * 7919 % 5000), NULL)->number = i;
    for (struct map_entry *e = map_next(&map, NULL); e != NULL; e = map_next(&map, e))
        assert_int_equal(e->number, n++);
    assert_int_equal(n, 5000);
    map_check(&map);
    arena_fini(&mem);
}

static void test_map__a_removed_key_comes_back_as_the_youngest(void **state)
{
    static const char *const want[] = {"b", "c", "a"};
    struct arena mem;
    struct map map;
    unsigned n = 0;

    (void)state;
    arena_init(&mem);
    map_init(&map, &mem);
    map_add(&map, STR("a"), NULL)->number = 7;
    map_add(&map, STR("b"), NULL);
    map_add(&map, STR("c"), NULL);
    assert_true(map_remove(&map, STR("a")));
    assert_false(map_remove(&map, STR("a")));
    assert_int_equal(map_add(&map, STR("a"), NULL)->number, 0);
    for (struct map_entry *e = map_next(&map, NULL); e != NULL; e = map_next(&map, e))
        assert_true(n < 3 && str_eq(e->key, str_of(want[n++])));
    assert_int_equal(n, 3);
    arena_fini(&mem);
}

static void test_map__entries_may_be_removed_while_iterating(void **state)
{
    struct arena mem;
    struct map map;

    (void)state;
    arena_init(&mem);
    map_init(&map, &mem);
    for (unsigned i = 0; i < 100; i++)
        map_add(&map, numbered(&mem, i), NULL)->number = i;
    for (struct map_entry *e = map_next(&map, NULL); e != NULL; e = map_next(&map, e))
        if (e->number % 2 == 0)
            assert_true(map_remove(&map, e->key));
    assert_int_equal(map.count, 50);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(map_find(&map, numbered(&mem, i)) != NULL, i % 2);
    map_check(&map);
    arena_fini(&mem);
}

static void test_map__keys_that_come_and_go_do_not_make_it_grow(void **state)
{
    struct arena mem, keys;
    struct map map;
    struct str window[100];
    size_t held = 0;

    (void)state;
    arena_init(&mem);
    arena_init(&keys);
    map_init(&map, &mem);
    for (unsigned i = 0; i < 20000; i++) {
        struct str key = numbered(&keys, i);
        if (i >= 100)
            assert_true(map_remove(&map, window[i % 100]));
        window[i % 100] = key;
        map_add(&map, key, NULL)->number = i;
        if (i == 1000)
            held = mem.held_bytes;
    }
    assert_int_equal(mem.held_bytes, held);
    assert_int_equal(map.count, 100);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(map_find(&map, window[i])->number, 19900 + i);
    map_check(&map);
    arena_fini(&keys);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map__empty_one_finds_nothing_and_needs_no_memory),
        cmocka_unit_test(test_map__finds_what_was_put_and_the_last_put_wins),
        cmocka_unit_test(test_map__the_empty_key_and_keys_with_zero_bytes_are_keys),
        cmocka_unit_test(test_map__iterates_in_order_of_insertion),
        cmocka_unit_test(test_map__a_removed_key_comes_back_as_the_youngest),
        cmocka_unit_test(test_map__entries_may_be_removed_while_iterating),
        cmocka_unit_test(test_map__keys_that_come_and_go_do_not_make_it_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
