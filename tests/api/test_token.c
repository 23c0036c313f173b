/* test_token.c - the administrator's token. */
#include "api/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct arena mem;
    char folder[64];
    char path[96];
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    arena_init(&f->mem);
    snprintf(f->folder, sizeof(f->folder), "%s/pawl-token-XXXXXX", P_tmpdir);
    if (mkdtemp(f->folder) == NULL)
        return -1;
    snprintf(f->path, sizeof(f->path), "%s/admin.token", f->folder);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    unlink(f->path);
    rmdir(f->folder);
    arena_fini(&f->mem);
    free(f);
    return 0;
}

static void test_token__is_made_once_and_kept(void **state)
{
    struct fixture *f = *state;
    struct str first, second;
    struct stat info;
    struct err err;

    assert_false(token_read(&f->mem, f->path, &first, &err));
    assert_true(token_open(&f->mem, f->path, &first, &err));
    assert_int_equal(first.len, TOKEN_LEN);
    assert_int_equal(stat(f->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_true(token_open(&f->mem, f->path, &second, &err));
    assert_true(str_eq(first, second));
    assert_true(token_read(&f->mem, f->path, &second, &err));
    assert_true(str_eq(first, second));
}

static void test_token__two_are_never_alike(void **state)
{
    struct fixture *f = *state;
    struct str first, second;
    struct err err;

    assert_true(token_open(&f->mem, f->path, &first, &err));
    unlink(f->path);
    assert_true(token_open(&f->mem, f->path, &second, &err));
    assert_false(str_eq(first, second));
}

static void test_token__file_without_a_token_is_refused(void **state)
{
    struct fixture *f = *state;
    FILE *file = fopen(f->path, "w");
    struct str token;
    struct err err;

    assert_non_null(file);
    fputs("short\n", file);
    fclose(file);
    assert_false(token_open(&f->mem, f->path, &token, &err));
    assert_int_equal(err.code, ERR_IO);
}

static void test_token__folder_that_is_not_there_is_refused(void **state)
{
    struct fixture *f = *state;
    struct str token;
    struct err err;

    assert_false(token_open(&f->mem, "/nonexistent/admin.token", &token, &err));
    assert_int_equal(err.code, ERR_IO);
}

static void test_token__header_must_bear_exactly_it(void **state)
{
    static const struct {
        const char *header;
        bool is_right;
    } cases[] = {
        {"Bearer abc", true},   {"bearer abc", true},
        {"BEARER abc", true},   {"Bearer abd", false},
        {"Bearer ab", false},   {"Bearer abcd", false},
        {"Bearer  abc", false}, {"abc", false},
        {"Basic abc", false},   {"", false},
        {"Bearer", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(token_is_borne(str_of(cases[i].header), STR("abc")), cases[i].is_right);
    assert_false(token_is_borne(STR_NONE, STR("abc")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_token__##name, setup, teardown)
        TEST(is_made_once_and_kept),           TEST(two_are_never_alike),
        TEST(file_without_a_token_is_refused), TEST(folder_that_is_not_there_is_refused),
        TEST(header_must_bear_exactly_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
