/* digest.c - see digest.h. */
#include "store/digest.h"

#include <openssl/evp.h>

struct str digest_hex(struct arena *mem, struct str text)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[DIGEST_HEX_LEN / 2];
    char *hex = arena_alloc(mem, DIGEST_HEX_LEN);

    if (EVP_Digest(text.len > 0 ? text.ptr : "", text.len, hash, NULL, EVP_sha256(), NULL) != 1)
        PANIC("no SHA-256");
    for (size_t i = 0; i < sizeof(hash); i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    return str_from(hex, DIGEST_HEX_LEN);
}
