/* test_access.c - roles, and who the access of a definition lets in. */
#include "define/access.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_access__narrows_what_roles_allow(void **state)
{
    static const struct {
        const char *access, *what, *role, *groups;
        bool is_allowed;
    } cases[] = {
        {"null", "start", "operator", "[]", true},
        {"{}", "start", "operator", "[]", true},
        {"{\"view\": []}", "start", "operator", "[]", true},
        {"{\"start\": []}", "start", "operator", "[]", false},
        {"{\"start\": [\"operator\"]}", "start", "operator", "[]", true},
        {"{\"start\": [\"viewer\"]}", "start", "operator", "[]", false},
        {"{\"start\": [\"group:a\"]}", "start", "operator", "[\"a\"]", true},
        {"{\"start\": [\"group:a\"]}", "start", "operator", "[\"b\", \"ab\"]", false},
        {"{\"start\": [\"group:a\"]}", "start", "operator", "null", false},
        {"{\"start\": [\"a\"]}", "start", "operator", "[\"a\"]", false},
        {"{\"start\": [\"viewer\", \"group:a\", \"operator\"]}", "start", "operator", "[]", true},
        {"{\"start\": [\"group:a\"]}", "start", "admin", "[]", true},
        {"{\"start\": []}", "start", "system", "[]", true},
    };
    struct arena mem;

    (void)state;
    arena_init(&mem);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct value access, groups;
        struct err err;

        assert_true(json_read(&mem, str_of(cases[i].access), &access, &err));
        assert_true(json_read(&mem, str_of(cases[i].groups), &groups, &err));
        if (access_allows(access, cases[i].what, str_of(cases[i].role), groups) !=
            cases[i].is_allowed)
            fail_msg("%s, %s, %s %s", cases[i].access, cases[i].what, cases[i].role,
                     cases[i].groups);
    }
    assert_true(access_allows(value_absent(), "view", STR("viewer"), value_absent()));
    arena_fini(&mem);
}

static void test_access__roles_are_found_by_name(void **state)
{
    enum role role;

    (void)state;
    assert_true(role_find(STR("viewer"), &role));
    assert_int_equal(role, ROLE_VIEWER);
    assert_string_equal(role_name(role), "viewer");
    assert_false(role_find(STR("Viewer"), &role));
    assert_false(role_find(STR(""), &role));
    assert_string_equal(role_nearest(STR("operater")), "operator");
    assert_null(role_nearest(STR("emperor")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_access__narrows_what_roles_allow),
        cmocka_unit_test(test_access__roles_are_found_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
