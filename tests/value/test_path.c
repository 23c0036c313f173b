/* test_path.c - JSON pointers: building and following them. */
#include "value/path.h"

#include "value/rig.h"

static void test_path__is_built_with_escapes(void **state)
{
    struct buf path;

    (void)state;
    buf_init(&path);
    path_add(&path, STR("steps"));
    path_add_index(&path, 0);
    path_add_index(&path, UINT64_MAX);
    path_add(&path, STR("a/b~c"));
    path_add(&path, STR(""));
    assert_true(str_eq(buf_view(&path), STR("/steps/0/18446744073709551615/a~1b~0c/")));
    buf_fini(&path);
}

static void test_path__is_followed_or_leads_nowhere(void **state)
{
    static const char text[] =
        "{\"foo\":[\"bar\",\"baz\",[10,11]],\"\":1,\"a/b\":2,\"c%d\":3,\"m~n\":4,"
        "\"~1\":5,\" \":6,\"o\":{\"01\":7},\"deep\":{\"a\":{\"b\":{}}}}";
    static const struct {
        const char *path;
        int64_t expected; /* -1: nothing there; -2: something that is no int */
    } cases[] = {
        {"", -2},
        {"/", 1},
        {"/a~1b", 2},
        {"/c%d", 3},
        {"/m~0n", 4},
        {"/~01", 5},
        {"/ ", 6},
        {"/foo", -2},
        {"/foo/2/1", 11},
        {"/foo/2/2", -1},
        {"/foo/02", -1},
        {"/foo/-", -1},
        {"/foo/-1", -1},
        {"/foo/", -1},
        {"/foo/1e0", -1},
        {"/o/01", 7},
        {"/deep/a/b", -2},
        {"/deep/a/b/c", -1},
        {"/a", -1},
        {"foo", -1},
        {"/~", -1},
        {"/~2", -1},
        {"/foo/0/x", -1},
        {"//", -1},
        {"/foo/18446744073709551616", -1},
        {"/foo/4294967296", -1},
    };
    struct value root = read_value(text);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct value v = path_resolve(root, str_of(cases[i].path));
        if (cases[i].expected >= 0) {
            assert_int_equal(v.kind, VALUE_INT);
            assert_int_equal(v.i, cases[i].expected);
        } else {
            assert_int_equal(v.kind == VALUE_ABSENT, cases[i].expected == -1);
        }
    }
}

static void test_path__what_is_built_resolves(void **state)
{
    static const char *const keys[] = {"~", "/", "~1", "~0", "", "a~/b", "0"};

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct value map = MAP(value_string(str_of(keys[i])), value_int(7));
        struct buf path;

        buf_init_arena(&path, &mem);
        path_add(&path, str_of(keys[i]));
        assert_int_equal(path_resolve(map, buf_view(&path)).kind, VALUE_INT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path__is_built_with_escapes),
        cmocka_unit_test(test_path__is_followed_or_leads_nowhere),
        cmocka_unit_test(test_path__what_is_built_resolves),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
