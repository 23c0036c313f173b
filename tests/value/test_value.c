/* test_value.c - maps, equality and order of values. */
#include "value/value.h"

#include "value/rig.h"

#include <math.h>

static struct value text(const char *zero_terminated)
{
    return value_string(str_of(zero_terminated));
}

/* --- maps --- */

static void test_map__finds_string_keys_and_only_those(void **state)
{
    struct value m = MAP(text("a"), value_int(1), text("bb"), value_int(2), text(""), value_int(3));

    (void)state;
    assert_int_equal(value_map_get_str(m, STR("a")).i, 1);
    assert_int_equal(value_map_get_str(m, STR("bb")).i, 2);
    assert_int_equal(value_map_get_str(m, STR_NONE).i, 3);
    assert_int_equal(value_map_get_str(m, STR("b")).kind, VALUE_ABSENT);
    assert_int_equal(value_map_get(m, value_key(STR("bb"))).i, 2);
    assert_int_equal(value_map_get(m, value_null()).kind, VALUE_ABSENT);
    assert_int_equal(value_map_get(value_map_empty(), text("a")).kind, VALUE_ABSENT);
}

static void test_map__keys_with_the_same_hash_are_told_apart(void **state)
{
    /* The hash samples a few bytes, so these differ only where it does not look. */
    struct value m =
        MAP(text("aXaaaaaaaaaaaaaa"), value_int(1), text("aYaaaaaaaaaaaaaa"), value_int(2));

    (void)state;
    assert_int_equal(value_key_hash(STR("aXaaaaaaaaaaaaaa")),
                     value_key_hash(STR("aYaaaaaaaaaaaaaa")));
    assert_int_equal(m.kind, VALUE_MAP);
    assert_int_equal(value_map_get_str(m, STR("aXaaaaaaaaaaaaaa")).i, 1);
    assert_int_equal(value_map_get_str(m, STR("aYaaaaaaaaaaaaaa")).i, 2);
    assert_int_equal(value_map_get_str(m, STR("aZaaaaaaaaaaaaaa")).kind, VALUE_ABSENT);
}

static void test_map__numbers_of_any_kind_are_one_key(void **state)
{
    struct value m =
        MAP(value_int(1), text("one"), value_uint(2), text("two"), value_uint(UINT64_MAX),
            text("most"), value_int(-3), text("minus"), value_bool(true), text("true"));

    (void)state;
    assert_int_equal(value_map_get(m, value_uint(1)).len, 3);
    assert_int_equal(value_map_get(m, value_double(1.0)).len, 3);
    assert_int_equal(value_map_get(m, value_int(2)).len, 3);
    assert_int_equal(value_map_get(m, value_double(2.0)).len, 3);
    assert_int_equal(value_map_get(m, value_uint(UINT64_MAX)).len, 4);
    assert_int_equal(value_map_get(m, value_double(-3.0)).len, 5);
    assert_string_equal(value_map_get(m, value_bool(true)).text, "true");
    assert_int_equal(value_map_get(m, value_bool(false)).kind, VALUE_ABSENT);
    assert_int_equal(value_map_get(m, value_int(-1)).kind, VALUE_ABSENT);
    assert_int_equal(value_map_get(m, value_double(1.5)).kind, VALUE_ABSENT);
    assert_int_equal(value_map_get(m, value_double(0x1p64)).kind, VALUE_ABSENT);
    assert_int_equal(value_map_get(m, value_double(-0x1p64)).kind, VALUE_ABSENT);
    assert_int_equal(value_map_get(m, value_double((double)NAN)).kind, VALUE_ABSENT);
    assert_int_equal(value_map_get(m, text("1")).kind, VALUE_ABSENT);
}

static void test_map__refuses_a_key_that_stands_twice(void **state)
{
    struct value_entry entries[] = {{.key = text("a"), .value = value_int(1)},
                                    {.key = text("b"), .value = value_int(2)},
                                    {.key = text("a"), .value = value_int(3)}};
    size_t twice = 99;

    (void)state;
    assert_int_equal(value_map_make(&mem, entries, 3, &twice).kind, VALUE_ABSENT);
    assert_int_equal(twice, 2);
    assert_int_equal(MAP(value_int(1), value_null(), value_uint(1), value_null()).kind,
                     VALUE_ABSENT);
    assert_int_equal(MAP(value_uint(7), value_null(), value_int(7), value_null()).kind,
                     VALUE_ABSENT);
    assert_int_equal(MAP(value_bool(true), value_null(), value_int(1), value_null()).kind,
                     VALUE_MAP);
    assert_int_equal(MAP(text(""), value_null(), text(""), value_null()).kind, VALUE_ABSENT);
    assert_int_equal(MAP(value_int(-1), value_null(), value_uint(UINT64_MAX), value_null()).kind,
                     VALUE_MAP);
}

static struct value large_map(size_t count, bool last_twice, size_t *twice)
{
    struct value_entry *entries = ARENA_ARRAY(&mem, count, struct value_entry);

    for (size_t i = 0; i < count; i++) {
        size_t n = last_twice && i == count - 1 ? 0 : i;
        struct value key = n % 3 == 0   ? value_int((int64_t)n)
                           : n % 3 == 1 ? value_uint(n)
                                        : value_string(str_printf(&mem, "key %zu", n));
        entries[i] = (struct value_entry){.key = key, .value = value_int((int64_t)i)};
    }
    return value_map_make(&mem, entries, count, twice);
}

static void test_map__large_ones_find_every_key(void **state)
{
    static const size_t sizes[] = {VALUE_MAP_SMALL - 1, VALUE_MAP_SMALL, VALUE_MAP_SMALL + 1, 100,
                                   5000};

    (void)state;
    for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
        size_t twice = 0;
        struct value m = large_map(sizes[s], false, &twice);

        assert_int_equal(m.len, sizes[s]);
        for (size_t n = 0; n < sizes[s]; n++) {
            struct value key =
                n % 3 != 2 ? value_double((double)n) : value_string(str_printf(&mem, "key %zu", n));
            assert_int_equal(value_map_get(m, key).i, n);
            assert_int_equal(m.map->entries[n].value.i, n); /* and in the order given */
        }
        assert_int_equal(value_map_get(m, value_int((int64_t)sizes[s] + 1)).kind, VALUE_ABSENT);
        assert_int_equal(value_map_get_str(m, STR("key")).kind, VALUE_ABSENT);
        assert_int_equal(large_map(sizes[s], true, &twice).kind, VALUE_ABSENT);
        assert_int_equal(twice, sizes[s] - 1);
    }
}

/* --- order and equality --- */

static void test_compare__takes_an_integer_beside_a_double_as_the_nearest_double(void **state)
{
    static const struct {
        struct value a, b;
        int expected;
    } cases[] = {
        {{.kind = VALUE_INT, .i = 9007199254740993}, {.kind = VALUE_DOUBLE, .d = 0x1p53}, 0},
        {{.kind = VALUE_INT, .i = 9007199254740992}, {.kind = VALUE_DOUBLE, .d = 0x1p53}, 0},
        {{.kind = VALUE_INT, .i = 9007199254740991}, {.kind = VALUE_DOUBLE, .d = 0x1p53}, -1},
        {{.kind = VALUE_INT, .i = -9007199254740993}, {.kind = VALUE_DOUBLE, .d = -0x1p53}, 0},
        {{.kind = VALUE_INT, .i = INT64_MAX}, {.kind = VALUE_DOUBLE, .d = 0x1p63}, 0},
        {{.kind = VALUE_INT, .i = INT64_MIN}, {.kind = VALUE_DOUBLE, .d = -0x1p63}, 0},
        {{.kind = VALUE_INT, .i = INT64_MIN},
         {.kind = VALUE_DOUBLE, .d = -0x1.0000000000001p63},
         1},
        {{.kind = VALUE_UINT, .u = (uint64_t)1 << 63}, {.kind = VALUE_DOUBLE, .d = 0x1p63}, 0},
        {{.kind = VALUE_UINT, .u = UINT64_MAX}, {.kind = VALUE_DOUBLE, .d = 0x1p64}, 0},
        {{.kind = VALUE_UINT, .u = 0}, {.kind = VALUE_DOUBLE, .d = -0.5}, 1},
        {{.kind = VALUE_UINT, .u = 0}, {.kind = VALUE_DOUBLE, .d = 0.5}, -1},
        {{.kind = VALUE_UINT, .u = 0}, {.kind = VALUE_DOUBLE, .d = -0.0}, 0},
        {{.kind = VALUE_INT, .i = -1}, {.kind = VALUE_UINT, .u = UINT64_MAX}, -1},
        {{.kind = VALUE_INT, .i = INT64_MAX}, {.kind = VALUE_UINT, .u = (uint64_t)1 << 63}, -1},
        {{.kind = VALUE_INT, .i = 5}, {.kind = VALUE_UINT, .u = 5}, 0},
        {{.kind = VALUE_INT, .i = -1}, {.kind = VALUE_DOUBLE, .d = -1.5}, 1},
        {{.kind = VALUE_INT, .i = 0}, {.kind = VALUE_DOUBLE, .d = INFINITY}, -1},
        {{.kind = VALUE_INT, .i = 0}, {.kind = VALUE_DOUBLE, .d = -INFINITY}, 1},
        {{.kind = VALUE_UINT, .u = 1}, {.kind = VALUE_DOUBLE, .d = NAN}, VALUE_UNORDERED},
        {{.kind = VALUE_INT, .i = 1}, {.kind = VALUE_DOUBLE, .d = NAN}, VALUE_UNORDERED},
        {{.kind = VALUE_DOUBLE, .d = NAN}, {.kind = VALUE_DOUBLE, .d = NAN}, VALUE_UNORDERED},
        {{.kind = VALUE_DOUBLE, .d = 0.0}, {.kind = VALUE_DOUBLE, .d = -0.0}, 0},
        {{.kind = VALUE_BOOL, .u = 0}, {.kind = VALUE_BOOL, .u = 1}, -1},
        {{.kind = VALUE_BOOL, .u = 1}, {.kind = VALUE_INT, .i = 1}, VALUE_INCOMPARABLE},
        {{.kind = VALUE_NULL}, {.kind = VALUE_NULL}, VALUE_INCOMPARABLE},
        {{.kind = VALUE_TIMESTAMP, .seconds = 1, .nanos = 5},
         {.kind = VALUE_TIMESTAMP, .seconds = 1, .nanos = 6},
         -1},
        {{.kind = VALUE_DURATION, .seconds = -1, .nanos = 999999999},
         {.kind = VALUE_DURATION, .seconds = 0, .nanos = 0},
         -1},
        {{.kind = VALUE_DURATION, .seconds = 1},
         {.kind = VALUE_TIMESTAMP, .seconds = 1},
         VALUE_INCOMPARABLE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int back = cases[i].expected == 1 ? -1 : cases[i].expected == -1 ? 1 : cases[i].expected;
        assert_int_equal(value_compare(cases[i].a, cases[i].b), cases[i].expected);
        assert_int_equal(value_compare(cases[i].b, cases[i].a), back);
        if (cases[i].a.kind != VALUE_NULL)
            assert_int_equal(value_equal(cases[i].a, cases[i].b, NULL), cases[i].expected == 0);
    }
}

static void test_compare__strings_by_code_point(void **state)
{
    (void)state;
    assert_int_equal(value_compare(text("a"), text("b")), -1);
    assert_int_equal(value_compare(text("a"), text("aa")), -1);
    assert_int_equal(value_compare(text(""), text("")), 0);
    assert_int_equal(value_compare(text("\xEF\xBF\xBD"), text("\xF0\x90\x80\x80")), -1);
    assert_int_equal(value_compare(text("a"), value_bytes(STR("a"))), VALUE_INCOMPARABLE);
}

static void test_equal__looks_into_lists_and_maps(void **state)
{
    struct value a = MAP(text("x"), LIST(value_int(1), value_null()), value_int(2), text("y"));
    struct value b =
        MAP(value_double(2), text("y"), text("x"), LIST(value_double(1), value_null()));
    struct value c = MAP(value_uint(2), text("y"), text("x"), LIST(value_double(1), value_null()));
    struct value d = MAP(value_uint(2), text("y"), text("x"), LIST(value_int(1)));

    (void)state;
    assert_true(value_equal(a, c, NULL));
    assert_true(value_equal(c, a, NULL));
    assert_false(value_equal(a, d, NULL));
    assert_false(value_equal(a, b, NULL)); /* a double is no key, so it is not found */
    assert_false(
        value_equal(LIST(value_double((double)NAN)), LIST(value_double((double)NAN)), NULL));
    assert_false(value_equal(value_list(NULL, 0), value_map_empty(), NULL));
    assert_true(value_equal(value_list(NULL, 0), value_list(NULL, 0), NULL));
    assert_false(value_equal(text("a"), value_bytes(STR("a")), NULL));
    assert_true(value_equal(value_type("int"), value_type("int"), NULL));
    assert_false(value_equal(value_type("int"), value_type("uint"), NULL));
    assert_false(value_equal(value_absent(), value_absent(), NULL));
}

static void test_equal__optionals_by_what_they_hold(void **state)
{
    struct value one = value_optional_of(&mem, value_int(1));

    (void)state;
    assert_true(value_equal(one, value_optional_of(&mem, value_double(1)), NULL));
    assert_false(value_equal(one, value_int(1), NULL));
    assert_false(value_equal(one, value_optional_none(), NULL));
    assert_true(value_equal(value_optional_none(), value_optional_none(), NULL));
}

/* A list of twice the list before it: 2^levels items on paper, `levels` in memory. */
static struct value doubling(int levels)
{
    struct value v = value_list(NULL, 0);

    for (int i = 0; i < levels; i++)
        v = LIST(v, v);
    return v;
}

static void test_equal__stops_when_the_budget_is_spent(void **state)
{
    int64_t budget = 10000;

    (void)state;
    assert_false(value_equal(doubling(60), doubling(60), &budget));
    assert_true(budget < 0);
    budget = 10000;
    assert_true(value_equal(doubling(5), doubling(5), &budget));
    assert_int_equal(budget, 10000 - 63);
}

static void test_equal__never_recurses_without_bound(void **state)
{
    struct value v = value_null();
    int64_t budget = INT64_MAX;

    (void)state;
    for (int i = 0; i < 100000; i++)
        v = LIST(v);
    assert_false(value_equal(v, v, &budget));
    assert_true(budget < 0);
    assert_false(value_equal(v, v, NULL));
}

static void test_value_error__keeps_a_whole_number_of_characters(void **state)
{
    char message[400];
    struct value e;

    (void)state;
    for (size_t i = 0; i + 1 < sizeof(message); i += 2)
        memcpy(message + i, "\xC3\xA9", 2);
    message[sizeof(message) - 2] = '\0';
    e = value_error(&mem, ERR_EXPRESSION_ERROR, 7, "x%s", message);
    assert_int_equal(e.error->offset, 7);
    assert_int_equal(strlen(e.error->message) % 2, 1);
    assert_true(strlen(e.error->message) > 200);
}

static void test_value__a_map_can_be_written_out(void **state)
{
    struct value map;

    (void)state;
    map = value_map_of(&mem, VALUE_ENTRIES({value_key(STR("id")), value_int(7)},
                                           {value_key(STR("ok")), value_bool(true)}));
    assert_int_equal(map.len, 2);
    assert_int_equal(value_map_get_str(map, STR("id")).i, 7);
    assert_true(value_is_true(value_map_get_str(map, STR("ok"))));
}

static void test_map__answers_members_of_what_may_be_no_map(void **state)
{
    struct value map;

    (void)state;
    map = value_map_of(&mem, VALUE_ENTRIES({value_key(STR("name")), value_string(STR("a"))},
                                           {value_key(STR("count")), value_int(7)},
                                           {value_key(STR("is")), value_bool(true)}));
    assert_int_equal(value_map_member(map, STR("count")).i, 7);
    assert_int_equal(value_map_member(map, STR("none")).kind, VALUE_ABSENT);
    assert_int_equal(value_map_member(value_int(1), STR("name")).kind, VALUE_ABSENT);
    assert_true(str_eq(value_map_text(map, STR("name")), STR("a")));
    assert_null(value_map_text(map, STR("count")).ptr);
    assert_null(value_map_text(value_null(), STR("name")).ptr);
    assert_int_equal(value_map_int(map, STR("count")), 7);
    assert_int_equal(value_map_int(map, STR("name")), 0);
    assert_true(value_map_is_true(map, STR("is")));
    assert_false(value_map_is_true(map, STR("name")));
    assert_true(str_eq(value_text_or(value_null(), STR("x")), STR("x")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value__a_map_can_be_written_out),
        cmocka_unit_test(test_map__finds_string_keys_and_only_those),
        cmocka_unit_test(test_map__keys_with_the_same_hash_are_told_apart),
        cmocka_unit_test(test_map__numbers_of_any_kind_are_one_key),
        cmocka_unit_test(test_map__refuses_a_key_that_stands_twice),
        cmocka_unit_test(test_map__large_ones_find_every_key),
        cmocka_unit_test(test_compare__takes_an_integer_beside_a_double_as_the_nearest_double),
        cmocka_unit_test(test_compare__strings_by_code_point),
        cmocka_unit_test(test_equal__looks_into_lists_and_maps),
        cmocka_unit_test(test_equal__optionals_by_what_they_hold),
        cmocka_unit_test(test_equal__stops_when_the_budget_is_spent),
        cmocka_unit_test(test_equal__never_recurses_without_bound),
        cmocka_unit_test(test_map__answers_members_of_what_may_be_no_map),
        cmocka_unit_test(test_value_error__keeps_a_whole_number_of_characters),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
