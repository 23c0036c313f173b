/* test_router.c - which handler a request belongs to. */
#include "api/router.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct route *find(const char *method, const char *path,
                                struct str params[ROUTE_PARAMS_MAX], struct buf *allow)
{
    return router_find(str_of(method), str_of(path), params, allow);
}

static void test_router__finds_by_method_and_path(void **state)
{
    static const struct {
        const char *method, *path;
        route_fn *handle;
    } cases[] = {
        {"POST", "/api/v1/executions", executions_start},
        {"GET", "/api/v1/executions", executions_list},
        {"HEAD", "/api/v1/executions", executions_list},
        {"GET", "/api/v1/executions/7", executions_get},
        {"GET", "/api/v1/executions/7/steps", executions_steps},
        {"PUT", "/api/v1/scenarios/x/draft", definitions_save_draft},
        {"GET", "/api/v1/scenarios/x/versions/3", definitions_version},
        {"GET", "/healthz", health_live},
    };
    struct str params[ROUTE_PARAMS_MAX];
    struct buf allow;

    (void)state;
    buf_init(&allow);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct route *route = find(cases[i].method, cases[i].path, params, &allow);
        assert_non_null(route);
        assert_ptr_equal(route->handle, cases[i].handle);
    }
    assert_int_equal(allow.len, 0);
    buf_fini(&allow);
}

static void test_router__words_in_braces_become_parameters(void **state)
{
    struct str params[ROUTE_PARAMS_MAX];
    struct buf allow;

    (void)state;
    buf_init(&allow);
    assert_non_null(find("GET", "/api/v1/scenarios/my code/versions/12", params, &allow));
    assert_true(str_eq(params[0], STR("my code")));
    assert_true(str_eq(params[1], STR("12")));
    buf_fini(&allow);
}

static void test_router__what_is_nowhere_is_not_found(void **state)
{
    static const char *const paths[] = {
        "",
        "/api/v1",
        "/api/v1/executions/",
        "/api/v1/executions//steps",
        "/api/v1/records/..",
        "/api/v1/records/./7",
        "/api/v1/executions/../steps",
        "/api/v1/executions/7/steps/8",
        "/api/v1/executionsx",
        "/healthz/",
        "/executions/",
        "/nothing",
        "/api/v1/scenarios/x/versions/",
    };
    struct str params[ROUTE_PARAMS_MAX];
    struct buf allow;

    (void)state;
    buf_init(&allow);
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        assert_null(find("GET", paths[i], params, &allow));
        assert_int_equal(allow.len, 0);
    }
    buf_fini(&allow);
}

static void test_router__wrong_method_lists_the_right_ones(void **state)
{
    struct str params[ROUTE_PARAMS_MAX];
    struct buf allow;

    (void)state;
    buf_init(&allow);
    assert_null(find("PATCH", "/api/v1/scenarios/x/draft", params, &allow));
    assert_true(str_eq(buf_view(&allow), STR("PUT, DELETE")));
    buf_fini(&allow);
}

/* The files of the web UI hold no data: whoever asks may have them. */
static bool is_of_the_ui(const struct route *route)
{
    return route->handle == ui_page || route->handle == ui_asset;
}

/* /metrics looks for itself where the request comes from, /session at the token in its body. */
static void test_router__only_these_are_open(void **state)
{
    static const char *const open[] = {
        "/healthz",       "/readyz", "/metrics", "/openapi.json", "/schemas/definition.json",
        "/api/v1/session"};

    (void)state;
    for (size_t i = 0; i < route_count; i++) {
        bool is_open = is_of_the_ui(&routes[i]);
        bool is_hook = str_starts_with(routes[i].pattern, STR("/hooks/"));
        bool is_link = str_starts_with(routes[i].pattern, STR("/callbacks/"));

        for (size_t k = 0; k < ARRAY_SIZE(open); k++)
            is_open = is_open || str_eq(routes[i].pattern, str_of(open[k]));
        is_open = is_open && !str_eq(routes[i].method, STR("DELETE"));
        assert_int_equal(routes[i].right == RIGHT_OPEN, is_open || is_hook || is_link);
        assert_int_equal(routes[i].auth == AUTH_NONE, is_open || is_link);
        /* Neither looks at a cookie: a signature or the link itself is the proof. */
        if (!is_hook && !is_link)
            assert_int_not_equal(routes[i].csrf, CSRF_NONE);
    }
}

/* All organisations share definitions; a dry-run and a preview change nothing. */
static void test_router__what_all_organisations_share_is_changed_by_the_default_one(void **state)
{
    static const char *const shared[] = {"/api/v1/scenarios", "/api/v1/procedures",
                                         "/api/v1/functions", "/api/v1/templates",
                                         "/api/v1/config",    "/api/v1/import"};

    (void)state;
    for (size_t i = 0; i < route_count; i++)
        for (size_t k = 0; k < ARRAY_SIZE(shared); k++)
            if (str_starts_with(routes[i].pattern, str_of(shared[k])) &&
                route_changes(&routes[i]) && !str_ends_with(routes[i].pattern, STR("/dry-run")) &&
                !str_ends_with(routes[i].pattern, STR("/preview")))
                assert_int_equal(routes[i].right, RIGHT_INSTALLATION);
}

static void test_router__size_of_a_body_goes_by_the_row_and_not_by_the_path(void **state)
{
    static const struct {
        const char *method, *path;
        size_t body_max;
    } cases[] = {
        {"PUT", "/api/v1/records/x/import", 1 << 20}, {"PUT", "/api/v1/records/x/draft", 1 << 20},
        {"POST", "/api/v1/import", 16 << 20},         {"PUT", "/api/v1/scenarios/x/draft", 2 << 20},
        {"POST", "/api/v1/validate", 2 << 20},
    };
    struct str params[ROUTE_PARAMS_MAX];
    struct buf allow;

    (void)state;
    buf_init(&allow);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(route_body_max(find(cases[i].method, cases[i].path, params, &allow)),
                         cases[i].body_max);
    buf_fini(&allow);
}

static void test_router__tail_is_all_that_is_left_as_it_was_sent(void **state)
{
    const struct route hooks = {.pattern = STR("/hooks/{path*}")};
    const struct route callback = {.pattern = STR("/callbacks/{token}/{rest*}")};
    struct str params[ROUTE_PARAMS_MAX];
    struct arena mem;

    (void)state;
    arena_init(&mem);
    assert_true(route_fits(hooks.pattern, STR("/hooks/a"), params));
    assert_true(str_eq(params[0], STR("a")));
    assert_true(route_fits(hooks.pattern, STR("/hooks/a/b%2Fc/"), params));
    assert_true(router_decode(&mem, &hooks, params));
    assert_true(str_eq(params[0], STR("a/b%2Fc/")));
    assert_false(route_fits(hooks.pattern, STR("/hooks/"), params));
    assert_false(route_fits(hooks.pattern, STR("/hooks"), params));
    assert_true(route_fits(callback.pattern, STR("/callbacks/t%20k/x/y%20z"), params));
    assert_true(router_decode(&mem, &callback, params));
    assert_true(str_eq(params[0], STR("t k")));
    assert_true(str_eq(params[1], STR("x/y%20z")));
    assert_true(route_fits(callback.pattern, STR("/callbacks/%ff/x"), params));
    assert_false(router_decode(&mem, &callback, params));
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_router__finds_by_method_and_path),
        cmocka_unit_test(test_router__words_in_braces_become_parameters),
        cmocka_unit_test(test_router__what_is_nowhere_is_not_found),
        cmocka_unit_test(test_router__wrong_method_lists_the_right_ones),
        cmocka_unit_test(test_router__only_these_are_open),
        cmocka_unit_test(test_router__what_all_organisations_share_is_changed_by_the_default_one),
        cmocka_unit_test(test_router__size_of_a_body_goes_by_the_row_and_not_by_the_path),
        cmocka_unit_test(test_router__tail_is_all_that_is_left_as_it_was_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
