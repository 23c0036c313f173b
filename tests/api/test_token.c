/* test_token.c - tokens, and the administrator's file. */
#include "api/access/token.h"

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
    assert_true(token_open(&f->mem, f->path, &first, &(bool){false}, &err));
    assert_int_equal(first.len, TOKEN_LEN);
    assert_int_equal(stat(f->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_true(token_open(&f->mem, f->path, &second, &(bool){false}, &err));
    assert_true(str_eq(first, second));
    assert_true(token_read(&f->mem, f->path, &second, &err));
    assert_true(str_eq(first, second));
}

static void test_token__two_are_never_alike(void **state)
{
    struct fixture *f = *state;
    struct str first, second;
    struct err err;

    assert_true(token_open(&f->mem, f->path, &first, &(bool){false}, &err));
    unlink(f->path);
    assert_true(token_open(&f->mem, f->path, &second, &(bool){false}, &err));
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
    assert_false(token_open(&f->mem, f->path, &token, &(bool){false}, &err));
    assert_int_equal(err.code, ERR_IO);
}

static void test_token__folder_that_is_not_there_is_refused(void **state)
{
    struct fixture *f = *state;
    struct str token;
    struct err err;

    assert_false(token_open(&f->mem, "/nonexistent/admin.token", &token, &(bool){false}, &err));
    assert_int_equal(err.code, ERR_IO);
}

static void test_token__file_of_an_older_version_is_taken(void **state)
{
    static const char old[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    struct fixture *f = *state;
    FILE *file = fopen(f->path, "w");
    struct str token;
    struct err err;

    assert_non_null(file);
    fprintf(file, "%s\n", old);
    fclose(file);
    assert_true(token_open(&f->mem, f->path, &token, &(bool){false}, &err));
    assert_true(str_eq(token, str_of(old)));
}

static void test_token__is_found_in_a_header(void **state)
{
    static const struct {
        const char *header, *token;
    } cases[] = {
        {"Bearer abc", "abc"},
        {"bearer abc", "abc"},
        {"BEARER abc", "abc"},
        {"Bearer  abc", " abc"},
        {"abc", NULL},
        {"Basic abc", NULL},
        {"", NULL},
        {"Bearer", NULL},
        {"Bearer ", NULL},
    };
    struct str token;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        bool found = token_borne(str_of(cases[i].header), &token);
        assert_int_equal(found, cases[i].token != NULL);
        if (found)
            assert_true(str_eq(token, str_of(cases[i].token)));
    }
    assert_false(token_borne(STR_NONE, &token));
}

static void test_token__hash_is_read_back_as_it_is_stored(void **state)
{
    struct fixture *f = *state;
    uint8_t hash[TOKEN_HASH_LEN], again[TOKEN_HASH_LEN];
    struct str hex = token_hash_hex(&f->mem, STR("abc"));
    struct token_hasher *hasher = token_hasher_new();

    assert_true(
        str_eq(hex, STR("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")));
    token_hash(STR("abc"), hash);
    assert_true(token_hash_read(hex, again));
    assert_memory_equal(hash, again, TOKEN_HASH_LEN);
    for (int i = 0; i < 2; i++) {
        token_hasher_run(hasher, STR("abc"), again);
        assert_memory_equal(hash, again, TOKEN_HASH_LEN);
    }
    token_hasher_free(hasher);
    assert_false(token_hash_read(STR("ba78"), again));
    assert_false(token_hash_read(
        STR("Ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), again));
}

static void test_token__made_ones_begin_alike_and_differ(void **state)
{
    struct fixture *f = *state;
    struct str one = token_make(&f->mem), other = token_make(&f->mem);

    assert_int_equal(one.len, TOKEN_LEN);
    assert_true(str_starts_with(one, STR("pawl_")));
    assert_false(str_eq(one, other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_token__##name, setup, teardown)
        TEST(is_made_once_and_kept),
        TEST(two_are_never_alike),
        TEST(file_without_a_token_is_refused),
        TEST(folder_that_is_not_there_is_refused),
        TEST(file_of_an_older_version_is_taken),
        TEST(is_found_in_a_header),
        TEST(hash_is_read_back_as_it_is_stored),
        TEST(made_ones_begin_alike_and_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
