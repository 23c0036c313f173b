/* test_path.c - JSON pointers. */
#include "value/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path__is_built_with_escapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
