/* test_digest.c - claims about digest.h: the vectors of FIPS 180-2 and RFC 4231. */
#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define JEFE "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"

static void test_digest__is_sha256(void **state)
{
    static const uint8_t first[4] = {0xba, 0x78, 0x16, 0xbf};
    uint8_t hash[DIGEST_LEN];
    struct arena mem;

    (void)state;
    arena_init(&mem);
    assert_true(str_eq(digest_hex(&mem, STR("abc")), STR(ABC)));
    assert_true(str_eq(digest_hex(&mem, STR_NONE), STR(EMPTY)));
    digest_sha256(STR("abc"), hash);
    assert_memory_equal(hash, first, sizeof(first));
    arena_fini(&mem);
}

static void test_digest__signs_with_hmac_sha256(void **state)
{
    static const uint8_t first[4] = {0x5b, 0xdc, 0xc1, 0x46};
    struct str key = STR("Jefe"), text = STR("what do ya want for nothing?");
    uint8_t mac[DIGEST_LEN];
    struct arena mem;

    (void)state;
    arena_init(&mem);
    assert_true(str_eq(digest_hmac_hex(&mem, key, text), STR(JEFE)));
    digest_hmac(key, text, mac);
    assert_memory_equal(mac, first, sizeof(first));
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest__is_sha256),
        cmocka_unit_test(test_digest__signs_with_hmac_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
