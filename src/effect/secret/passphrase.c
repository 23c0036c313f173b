/* passphrase.c - see passphrase.h. */
#include "effect/secret/passphrase.h"

#include "base/text/base64.h"
#include "base/text/hex.h"
#include "effect/secret/seal.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#define SCHEME "scrypt1:"

enum { SALT_LEN = 16, COST_N = 1 << 15, COST_R = 8, COST_P = 1, COST_MEMORY = 64 << 20 };

static bool derive_key(struct arena *mem, struct str words, const uint8_t salt[SALT_LEN],
                       struct seal_key *out, struct err *err)
{
    uint8_t bytes[SEAL_KEY_LEN];
    char *digits = arena_alloc(mem, 2 * SEAL_KEY_LEN);
    bool ok = EVP_PBE_scrypt(words.ptr, words.len, salt, SALT_LEN, COST_N, COST_R, COST_P,
                             COST_MEMORY, bytes, sizeof(bytes)) == 1;

    if (!ok)
        return err_set(err, ERR_IO, "no key could be made of the passphrase: is memory short?");
    hex_write(digits, bytes, SEAL_KEY_LEN);
    ok = seal_key_read(str_from(digits, 2 * SEAL_KEY_LEN), out, err);
    seal_wipe(bytes, sizeof(bytes));
    seal_wipe(digits, 2 * SEAL_KEY_LEN);
    return ok;
}

bool passphrase_close(struct arena *mem, struct str words, struct str about, struct str plain,
                      struct str *out, struct err *err)
{
    uint8_t salt[SALT_LEN];
    char *encoded = arena_alloc(mem, base64_encoded_len(SALT_LEN));
    struct seal_key key;
    struct str sealed;
    size_t len;

    if (RAND_bytes(salt, sizeof(salt)) != 1)
        return err_set(err, ERR_IO, "the system gives no random bytes");
    if (!derive_key(mem, words, salt, &key, err))
        return false;
    len = base64_encode(str_from((const char *)salt, sizeof(salt)), encoded);
    sealed = seal_close(mem, &key, about, plain);
    seal_wipe(&key, sizeof(key));
    *out = str_printf(mem, SCHEME "%.*s:%.*s", (int)len, encoded, STR_ARG(sealed));
    return true;
}

bool passphrase_open(struct arena *mem, struct str words, struct str about, struct str sealed,
                     struct str *out, struct err *err)
{
    struct str rest = str_starts_with(sealed, STR(SCHEME))
                          ? str_slice(sealed, STR(SCHEME).len, sealed.len)
                          : STR_NONE;
    int64_t colon = str_find(rest, STR(":"), 0);
    struct seal_key key;
    uint8_t salt[SALT_LEN + 2];
    size_t len;
    bool ok;

    if (colon != (int64_t)base64_encoded_len(SALT_LEN) ||
        !base64_decode(str_slice(rest, 0, (size_t)colon), (char *)salt, &len) || len != SALT_LEN)
        return err_set(err, ERR_INVALID, "this is not what a passphrase has sealed");
    if (!derive_key(mem, words, salt, &key, err))
        return false;
    ok = seal_open(mem, &key, about, str_slice(rest, (size_t)colon + 1, rest.len), out, err);
    seal_wipe(&key, sizeof(key));
    return ok || err_set(err, ERR_INVALID, "this is another passphrase, or the file was changed");
}
