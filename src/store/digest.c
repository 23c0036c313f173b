/* digest.c - see digest.h. */
#include "store/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

static struct str hex_of(struct arena *mem, const unsigned char hash[DIGEST_HEX_LEN / 2])
{
    static const char digits[] = "0123456789abcdef";
    char *hex = arena_alloc(mem, DIGEST_HEX_LEN);

    for (size_t i = 0; i < DIGEST_HEX_LEN / 2; i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    return str_from(hex, DIGEST_HEX_LEN);
}

struct str digest_hex(struct arena *mem, struct str text)
{
    unsigned char hash[DIGEST_HEX_LEN / 2];

    if (EVP_Digest(text.len > 0 ? text.ptr : "", text.len, hash, NULL, EVP_sha256(), NULL) != 1)
        PANIC("no SHA-256");
    return hex_of(mem, hash);
}

struct str digest_hmac_hex(struct arena *mem, struct str key, struct str text)
{
    unsigned char hash[DIGEST_HEX_LEN / 2];
    unsigned len = 0;

    if (HMAC(EVP_sha256(), key.len > 0 ? key.ptr : "", (int)key.len,
             (const unsigned char *)(text.len > 0 ? text.ptr : ""), text.len, hash, &len) == NULL)
        PANIC("no HMAC-SHA256");
    return hex_of(mem, hash);
}
