/* digest.c - see digest.h. */
#include "base/digest.h"

#include "base/text/hex.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

static struct str in_hex(struct arena *mem, const uint8_t hash[DIGEST_LEN])
{
    char *text = arena_alloc(mem, DIGEST_HEX_LEN);

    hex_write(text, hash, DIGEST_LEN);
    return str_from(text, DIGEST_HEX_LEN);
}

void digest_sha256(struct str text, uint8_t out[DIGEST_LEN])
{
    if (EVP_Digest(text.len > 0 ? text.ptr : "", text.len, out, NULL, EVP_sha256(), NULL) != 1)
        PANIC("no SHA-256");
}

struct str digest_hex(struct arena *mem, struct str text)
{
    uint8_t hash[DIGEST_LEN];

    digest_sha256(text, hash);
    return in_hex(mem, hash);
}

void digest_hmac(struct str key, struct str text, uint8_t out[DIGEST_LEN])
{
    if (HMAC(EVP_sha256(), key.len > 0 ? key.ptr : "", (int)key.len,
             (const unsigned char *)(text.len > 0 ? text.ptr : ""), text.len, out, NULL) == NULL)
        PANIC("no HMAC-SHA256");
}

struct str digest_hmac_hex(struct arena *mem, struct str key, struct str text)
{
    uint8_t hash[DIGEST_LEN];

    digest_hmac(key, text, hash);
    return in_hex(mem, hash);
}
