/* Tests of lib_list.c. */
#include "cel/lib_call.h"

#include <math.h>

static void test_list__parts(void **state)
{
    const struct lib_case cases[] = {
        CASE("[2, 3]", list_slice, L(I(1), I(2), I(3), I(4)), I(1), I(3)),
        CASE("[]", list_slice, L(I(1)), I(1), I(1)),
        CASE("[]", list_slice, NO_ITEMS, I(0), I(0)),
        CASE("!slice(0, 2) is not a part of a list of 1 items", list_slice, L(I(1)), I(0), I(2)),
        CASE("!not a part", list_slice, L(I(1)), I(-1), I(1)),
        CASE("!not a part", list_slice, L(I(1)), I(1), I(0)),
        CASE("!not a part", list_slice, L(I(1)), I(INT64_MIN), I(INT64_MAX)),
        CASE("!no such overload", list_slice, S("abc"), I(0), I(1)),
        CASE("optional(1)", list_first, L(I(1), I(2))),
        CASE("optional(2)", list_last, L(I(1), I(2))),
        CASE("none", list_first, NO_ITEMS),
        CASE("none", list_last, NO_ITEMS),
        CASE("!no such overload", list_first, S("a")),
        CASE("[0, 1, 2]", list_range, I(3)),
        CASE("[]", list_range, I(0)),
        CASE("!cannot have -1 items", list_range, I(-1)),
        CASE("!more work", list_range, I(INT64_MAX)),
        CASE("!more memory", list_range, I(9000000)),
        CASE("!no such overload", list_range, U(3)),
    };
    (void)state;
    RUN(cases);
}

static void test_list__flatten_goes_as_deep_as_told(void **state)
{
    const struct value deep = L(I(1), L(I(2), L(I(3), L(I(4)))));
    const struct lib_case cases[] = {
        CASE("[1, 2, 3, 4]", list_flatten, L(I(1), L(I(2), I(3)), L(I(4)))),
        CASE("[1, 2, [3, [4]]]", list_flatten, deep),
        CASE("[1, 2, 3, [4]]", list_flatten, deep, I(2)),
        CASE("[1, 2, 3, 4]", list_flatten, deep, I(INT64_MAX)),
        CASE("[1, [2, [3, [4]]]]", list_flatten, deep, I(0)),
        CASE("[3, 4]", list_flatten, L(NO_ITEMS, NO_ITEMS, L(I(3), I(4)))),
        CASE("[]", list_flatten, NO_ITEMS),
        CASE("!by -1 levels", list_flatten, deep, I(-1)),
        CASE("!no such overload", list_flatten, I(1)),
    };
    (void)state;
    RUN(cases);
}

/* Ten lists that each hold the one before ten times have ten thousand million items. */
static void test_list__flatten_of_a_bomb_is_refused(void **state)
{
    struct value levels[11][10];
    struct arena mem;
    struct cel_eval ev = lib_eval(&mem);

    (void)state;
    arena_init(&mem);
    for (size_t i = 0; i < 11; i++)
        for (size_t j = 0; j < 10; j++)
            levels[i][j] = i == 0 ? I(1) : value_list(levels[i - 1], 10);
    assert_int_equal(
        lib_error_code(library_call(&ev, cel_fn_list_flatten,
                                    (struct value[]){value_list(levels[10], 10), I(100)}, 2)),
        ERR_LIMIT_EXPRESSION_COST);
    arena_fini(&mem);
}

static void test_list__distinct_uses_the_equality_of_the_language(void **state)
{
    const struct lib_case cases[] = {
        CASE("[1, 2, 3]", list_distinct, L(I(1), I(2), I(2), I(3), I(3), I(3))),
        CASE("[\"b\", \"c\", \"a\"]", list_distinct, L(S("b"), S("b"), S("c"), S("a"), S("c"))),
        CASE("[1, \"1\", b\"1\", true]", list_distinct,
             L(I(1), U(1), D(1), S("1"), B("1"), YES, S("1"))),
        CASE("[18446744073709549568u, -1, 0.5]", list_distinct,
             L(U(18446744073709549568u), D(18446744073709549568.0), I(-1), D(-1), D(0.5), D(0.5))),
        CASE("[0.0]", list_distinct, L(D(0.0), D(-0.0), I(0))),
        CASE("[nan, nan]", list_distinct, L(D(NAN), D(NAN))),
        CASE("[[1, 2], [2, 1], []]", list_distinct,
             L(L(I(1), I(2)), L(I(2), I(1)), L(U(1), D(2)), NO_ITEMS, NO_ITEMS)),
        CASE("[optional(1), none]", list_distinct,
             L((struct value){.kind = VALUE_OPTIONAL, .inner = &I(1)}, value_optional_none(),
               (struct value){.kind = VALUE_OPTIONAL, .inner = &U(1)})),
        CASE("[]", list_distinct, NO_ITEMS),
        CASE("!no such overload", list_distinct, S("aa")),
    };
    (void)state;
    RUN(cases);
}

static void test_list__distinct_maps_whatever_their_order(void **state)
{
    struct value_entry a[] = {{S("x"), I(1)}, {S("y"), I(2)}};
    struct value_entry b[] = {{S("y"), I(2)}, {S("x"), D(1)}};
    struct value_entry c[] = {{S("x"), I(1)}, {S("y"), I(3)}};
    struct arena mem;
    struct cel_eval ev = lib_eval(&mem);
    struct value result;
    size_t duplicate;

    (void)state;
    arena_init(&mem);
    result = library_call(&ev, cel_fn_list_distinct,
                          &L(value_map_make(&mem, a, 2, &duplicate),
                             value_map_make(&mem, b, 2, &duplicate),
                             value_map_make(&mem, c, 2, &duplicate)),
                          1);
    assert_int_equal(result.len, 2);
    assert_ptr_equal(result.items[0].map->entries, a);
    assert_ptr_equal(result.items[1].map->entries, c);
    arena_fini(&mem);
}

static void test_list__distinct_of_many_is_not_quadratic(void **state)
{
    enum { MANY = 200000 };
    struct arena mem;
    struct cel_eval ev = lib_eval(&mem);
    struct value *items, list, result;

    (void)state;
    arena_init(&mem);
    items = ARENA_ARRAY(&mem, MANY, struct value);
    for (size_t i = 0; i < MANY; i++)
        items[i] = i % 3 == 0 ? I((int64_t)i) : i % 3 == 1 ? D(NAN) : D((double)(i - 2));
    list = value_list(items, MANY);
    result = library_call(&ev, cel_fn_list_distinct, &list, 1);
    assert_int_equal(result.kind, VALUE_LIST);
    assert_int_equal(result.len, (MANY + 2) / 3 + (MANY + 1) / 3);
    /* Beyond their first items these lists are not told apart by their hash. */
    for (size_t i = 0; i < MANY; i++) {
        struct value *long_list = ARENA_ARRAY(&mem, 9, struct value);
        for (size_t j = 0; j < 8; j++)
            long_list[j] = I(0);
        long_list[8] = I((int64_t)i);
        items[i] = value_list(long_list, 9);
    }
    ev = lib_eval(&mem);
    assert_int_equal(lib_error_code(library_call(&ev, cel_fn_list_distinct, &list, 1)),
                     ERR_LIMIT_EXPRESSION_COST);
    arena_fini(&mem);
}

static void test_list__sort_is_by_value(void **state)
{
    const struct lib_case cases[] = {
        CASE("[1, 2, 3]", list_sort, L(I(3), I(2), I(1))),
        CASE("[\"a\", \"b\", \"c\"]", list_sort, L(S("b"), S("c"), S("a"))),
        CASE("[-1, 0.5, 2u, 3]", list_sort, L(I(3), U(2), D(0.5), I(-1))),
        CASE("[false, true]", list_sort, L(YES, NO)),
        CASE("[b\"a\", b\"b\"]", list_sort, L(B("b"), B("a"))),
        CASE("[1, 1u, 1.0, 2]", list_sort, L(I(2), I(1), U(1), D(1))),
        CASE("[]", list_sort, NO_ITEMS),
        CASE("[7]", list_sort, L(I(7))),
        CASE("!types int and string have no common order", list_sort, L(I(1), S("b"))),
        CASE("!type list have no order", list_sort, L(L(I(1)))),
        CASE("!type null_type have no order", list_sort, L(NIL, NIL)),
        CASE("!NaN has no place", list_sort, L(D(1), D(NAN))),
        CASE("!no such overload", list_sort, S("cba")),
        CASE("[\"bar\", \"baz\", \"foo\"]", sort_by_keys, L(S("foo"), S("bar"), S("baz")),
             L(I(3), I(1), I(2))),
        CASE("[\"c\", \"a\", \"d\", \"b\"]", sort_by_keys, L(S("a"), S("b"), S("c"), S("d")),
             L(I(2), I(3), I(1), I(2))),
        CASE("!2 items cannot be sorted by 1 keys", sort_by_keys, L(I(1), I(2)), L(I(1))),
        CASE("!no such overload", sort_by_keys, L(I(1))),
    };
    (void)state;
    RUN(cases);
}

static void test_list__sort_of_any_length_is_stable(void **state)
{
    struct value items[300], keys[300];
    struct arena mem;
    uint32_t random = 1;

    (void)state;
    arena_init(&mem);
    for (size_t n = 0; n <= 300; n += n < 20 ? 1 : 40) {
        struct cel_eval ev = lib_eval(&mem);
        struct value sorted;

        for (size_t i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            keys[i] = I((random >> 16) % 7);
            items[i] = I(keys[i].i * 1000 + (int64_t)i);
        }
        sorted = library_call(&ev, cel_fn_sort_by_keys,
                              (struct value[]){value_list(items, n), value_list(keys, n)}, 2);
        assert_int_equal(sorted.len, n);
        for (size_t i = 1; i < n; i++)
            assert_true(sorted.items[i - 1].i < sorted.items[i].i);
    }
    arena_fini(&mem);
}

static void test_list__sum_is_exact_or_an_error(void **state)
{
    const struct lib_case cases[] = {
        CASE("6", list_sum, L(I(1), I(2), I(3))),
        CASE("0", list_sum, NO_ITEMS),
        CASE("9223372036854775807", list_sum, L(I(INT64_MAX), I(1), I(-1))),
        CASE("-9223372036854775808", list_sum, L(I(INT64_MIN), I(0))),
        CASE("!overflow", list_sum, L(I(INT64_MAX), I(1))),
        CASE("!overflow", list_sum, L(I(INT64_MIN), I(-1))),
        CASE("18446744073709551615u", list_sum, L(U(UINT64_MAX), U(0))),
        CASE("!overflow", list_sum, L(U(UINT64_MAX), U(1))),
        CASE("1.5", list_sum, L(D(0.5), D(1))),
        CASE("2.5", list_sum, L(I(3), D(0.5), I(-1))),
        CASE("-2.5", list_sum, L(I(-3), D(0.5))),
        CASE("3.0", list_sum, L(I(1), U(2))),
        CASE("!item 1 is of type string", list_sum, L(I(1), S("2"))),
        CASE("!no such overload", list_sum, I(1)),
    };
    (void)state;
    RUN_DEFINITION(cases);
}

static void test_list__limits_are_answered_by_every_function(void **state)
{
    struct arena mem;
    struct cel_eval ev = lib_eval(&mem);
    struct value *items, big;

    (void)state;
    ev.mode = CEL_DEFINITION;
    arena_init(&mem);
    items = ARENA_ARRAY(&mem, 1000, struct value);
    for (size_t i = 0; i < 1000; i++)
        items[i] = I((int64_t)i);
    big = value_list(items, 1000);
    struct lib_case cases[] = {
        CASE("", list_range, I(1000)), CASE("", list_flatten, big),
        CASE("", list_distinct, big),  CASE("", list_sort, big),
        CASE("", reverse, big),        CASE("", sort_by_keys, big, big),
        CASE("", list_sum, big),
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        ev.cost_left = 100;
        assert_int_equal(
            lib_error_code(library_call(&ev, cases[i].call, cases[i].args, cases[i].count)),
            ERR_LIMIT_EXPRESSION_COST);
    }
    for (size_t i = 0; i + 1 < ARRAY_SIZE(cases); i++) {
        ev.cost_left = INT64_MAX;
        ev.mem_left = 100;
        assert_int_equal(
            lib_error_code(library_call(&ev, cases[i].call, cases[i].args, cases[i].count)),
            ERR_LIMIT_EXPRESSION_MEMORY);
    }
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list__parts),
        cmocka_unit_test(test_list__flatten_goes_as_deep_as_told),
        cmocka_unit_test(test_list__flatten_of_a_bomb_is_refused),
        cmocka_unit_test(test_list__distinct_uses_the_equality_of_the_language),
        cmocka_unit_test(test_list__distinct_maps_whatever_their_order),
        cmocka_unit_test(test_list__distinct_of_many_is_not_quadratic),
        cmocka_unit_test(test_list__sort_is_by_value),
        cmocka_unit_test(test_list__sort_of_any_length_is_stable),
        cmocka_unit_test(test_list__sum_is_exact_or_an_error),
        cmocka_unit_test(test_list__limits_are_answered_by_every_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
