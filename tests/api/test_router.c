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
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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
        "/",
        "/api/v1",
        "/api/v1/executions/",
        "/api/v1/executions//steps",
        "/api/v1/executions/7/steps/8",
        "/api/v1/executionsx",
        "/healthz/",
        "/api/v1/scenarios/x/versions/",
    };
    struct str params[ROUTE_PARAMS_MAX];
    struct buf allow;

    (void)state;
    buf_init(&allow);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
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

/* /metrics looks for itself where the request comes from. */
static void test_router__only_health_figures_and_the_document_are_open(void **state)
{
    (void)state;
    for (size_t i = 0; i < route_count; i++) {
        bool is_open = str_eq(routes[i].pattern, STR("/healthz")) ||
                       str_eq(routes[i].pattern, STR("/readyz")) ||
                       str_eq(routes[i].pattern, STR("/metrics")) ||
                       str_eq(routes[i].pattern, STR("/openapi.json"));
        assert_int_equal(routes[i].right == RIGHT_OPEN, is_open);
        /* A dry-run changes nothing. */
        if (!str_eq(routes[i].method, STR("GET")) &&
            !str_ends_with(routes[i].pattern, STR("/dry-run")) &&
            str_starts_with(routes[i].pattern, STR("/api/v1/scenarios")))
            assert_int_equal(routes[i].right, RIGHT_INSTALLATION);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_router__finds_by_method_and_path),
        cmocka_unit_test(test_router__words_in_braces_become_parameters),
        cmocka_unit_test(test_router__what_is_nowhere_is_not_found),
        cmocka_unit_test(test_router__wrong_method_lists_the_right_ones),
        cmocka_unit_test(test_router__only_health_figures_and_the_document_are_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
