/* test_seal.c - claims about sealed secrets, the master key in its file, and where a secret may go. */
#include "effect/secret/passphrase.h"
#include "effect/secret/vault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static struct arena mem;
static char folder[200];

static const char *path_of(const char *name)
{
    return str_printf(&mem, "%s/%s", folder, name).ptr;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static const char *read_text(const char *path)
{
    char *text = arena_zalloc(&mem, 300);
    FILE *f = fopen(path, "r");

    if (f == NULL)
        return "";
    assert_true(fread(text, 1, 299, f) > 0);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void test_seal__opens_with_its_key_and_about_the_same_thing_only(void **state)
{
    struct seal_key key, other;
    struct str sealed, out;
    struct err err;
    char *changed;

    (void)state;
    seal_key_make(&key);
    seal_key_make(&other);
    sealed = seal_close(&mem, &key, STR("about"), STR("a secret"));
    assert_true(str_find(sealed, STR("a secret"), 0) < 0);
    assert_true(str_eq(seal_id(sealed), str_of(key.id)));
    assert_true(seal_open(&mem, &key, STR("about"), sealed, &out, &err));
    assert_true(str_eq(out, STR("a secret")));
    assert_false(seal_open(&mem, &key, STR("another"), sealed, &out, &err));
    assert_false(seal_open(&mem, &other, STR("about"), sealed, &out, &err));
    assert_non_null(strstr(err.message, key.id));
    for (size_t i = 0; i < sealed.len; i++) {
        changed = (char *)(uintptr_t)str_copy(&mem, sealed).ptr;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        assert_false(
            seal_open(&mem, &key, STR("about"), str_from(changed, sealed.len), &out, &err));
    }
    assert_false(str_eq(sealed, seal_close(&mem, &key, STR("about"), STR("a secret"))));
}

static void test_seal__a_key_is_hexadecimal_or_base64(void **state)
{
    struct seal_key a, b;
    struct err err;

    (void)state;
    assert_true(seal_key_read(
        STR("000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F\n"), &a, &err));
    assert_true(seal_key_read(STR(" AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8= "), &b, &err));
    assert_string_equal(a.id, b.id);
    assert_false(seal_key_read(STR("0001"), &a, &err));
    assert_false(seal_key_read(STR(""), &a, &err));
}

static void test_master_key__is_made_once_and_for_its_owner_alone(void **state)
{
    const char *path = path_of("made.key");
    struct master_key first, again;
    struct stat s;
    struct err err;

    (void)state;
    assert_true(master_key_open(&first, path, STR_NONE, &err));
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    assert_true(master_key_open(&again, path, str_of(first.key.id), &err));
    assert_string_equal(first.key.id, again.key.id);
}

static void test_master_key__a_wrong_or_missing_one_is_refused_and_nothing_is_made(void **state)
{
    const char *path = path_of("missing.key");
    struct master_key m;
    struct stat s;
    struct err err;

    (void)state;
    assert_false(master_key_open(&m, path, STR("0123456789abcdef"), &err));
    assert_non_null(strstr(err.message, "--master-key"));
    assert_int_not_equal(stat(path, &s), 0);
    write_file(path, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", 0600);
    assert_false(master_key_open(&m, path, STR("0123456789abcdef"), &err));
    assert_non_null(strstr(err.message, "0123456789abcdef"));
    assert_int_equal(chmod(path, 0640), 0);
    assert_false(master_key_open(&m, path, STR_NONE, &err));
    assert_non_null(strstr(err.message, "chmod 600"));
    write_file(path, "no key", 0600);
    assert_false(master_key_open(&m, path, STR_NONE, &err));
    assert_string_equal(read_text(path), "no key");
}

static void
test_master_key__whichever_key_the_rows_need_is_found_between_the_two_changes(void **state)
{
    const char *path = path_of("rotated.key");
    struct master_key m, found;
    struct seal_key next;
    struct err err;
    char old_id[SEAL_ID_LEN + 1];

    (void)state;
    assert_true(master_key_open(&m, path, STR_NONE, &err));
    memcpy(old_id, m.key.id, sizeof(old_id));
    assert_true(master_key_prepare(&m, &next, &err));
    assert_true(master_key_open(&found, path, str_of(old_id), &err));
    assert_string_equal(found.key.id, old_id);
    /* The rows were changed, the process died before the file was. */
    assert_true(master_key_open(&found, path, str_of(next.id), &err));
    assert_string_equal(found.key.id, next.id);
    assert_false(master_key_open(&found, path, str_of(old_id), &err));
    /* The one who rotated it finds that another was faster. */
    assert_true(master_key_adopt(&m, &next, &err));
    assert_string_equal(m.key.id, next.id);
}

static void test_credential__covers_what_stands_below_its_base_url(void **state)
{
    static const struct {
        const char *base, *url;
        bool covers;
    } cases[] = {
        {"https://erp.example/v1", "https://erp.example/v1", true},
        {"https://erp.example/v1", "https://erp.example/v1/orders?x=1", true},
        {"https://erp.example/v1", "https://ERP.example:443/v1/orders", true},
        {"https://erp.example", "https://erp.example/anything", true},
        {"https://erp.example", "https://erp.example?x=1", true},
        {"https://erp.example/v1", "https://erp.example/v10", false},
        {"https://erp.example/v1", "https://erp.example/", false},
        {"https://erp.example/v1", "https://erp.example/v1/../admin", false},
        {"https://erp.example/v1", "https://erp.example/v1/%2e%2E/admin", false},
        {"https://erp.example/v1", "https://erp.example/v1/.%2e", false},
        {"https://erp.example/v1", "https://erp.example/v1/.../a", true},
        {"https://erp.example/v1", "http://erp.example/v1/orders", false},
        {"https://erp.example/v1", "https://erp.example:8443/v1/orders", false},
        {"https://erp.example/v1", "https://erp.example.evil.example/v1/orders", false},
        {"https://erp.example/v1", "https://erp.example@evil.example/v1/orders", false},
        {"", "https://erp.example/v1/orders", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct credential c = {.base_url = str_of(cases[i].base)};

        if (credential_covers(&c, str_of(cases[i].url)) != cases[i].covers)
            fail_msg("%s at %s", cases[i].url, cases[i].base);
    }
}

static int set_up(void **state)
{
    const char *where = getenv("TMPDIR");

    (void)state;
    arena_init(&mem);
    (void)snprintf(folder, sizeof(folder), "%s/pawl-seal-XXXXXX", where != NULL ? where : "/tmp");
    return mkdtemp(folder) == NULL;
}

static void test_passphrase__opens_with_its_words_and_about_the_same_thing_only(void **state)
{
    struct str sealed, again, out;
    struct err err;

    (void)state;
    assert_true(
        passphrase_close(&mem, STR("correct horse"), STR("a key"), STR("0123"), &sealed, &err));
    assert_true(
        passphrase_close(&mem, STR("correct horse"), STR("a key"), STR("0123"), &again, &err));
    assert_false(str_eq(sealed, again));
    assert_true(sealed.len <= PASSPHRASE_SEALED_MAX);
    assert_true(str_find(sealed, STR("0123"), 0) < 0);
    assert_true(passphrase_open(&mem, STR("correct horse"), STR("a key"), sealed, &out, &err));
    assert_true(str_eq(out, STR("0123")));
    assert_false(passphrase_open(&mem, STR("correct hors"), STR("a key"), sealed, &out, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_false(passphrase_open(&mem, STR("correct horse"), STR("another"), sealed, &out, &err));
    for (size_t cut = 0; cut < sealed.len; cut += 7)
        assert_false(passphrase_open(&mem, STR("correct horse"), STR("a key"),
                                     str_slice(sealed, 0, cut), &out, &err));
}

static int tear_down(void **state)
{
    (void)state;
    arena_fini(&mem);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seal__opens_with_its_key_and_about_the_same_thing_only),
        cmocka_unit_test(test_seal__a_key_is_hexadecimal_or_base64),
        cmocka_unit_test(test_master_key__is_made_once_and_for_its_owner_alone),
        cmocka_unit_test(test_master_key__a_wrong_or_missing_one_is_refused_and_nothing_is_made),
        cmocka_unit_test(
            test_master_key__whichever_key_the_rows_need_is_found_between_the_two_changes),
        cmocka_unit_test(test_passphrase__opens_with_its_words_and_about_the_same_thing_only),
        cmocka_unit_test(test_credential__covers_what_stands_below_its_base_url),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
