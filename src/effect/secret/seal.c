/* seal.c - see seal.h. */
#include "effect/secret/seal.h"

#include "base/alloc.h"
#include "base/digest.h"
#include "base/text/base64.h"
#include "base/text/hex.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

enum { NONCE_LEN = 12, TAG_LEN = 16 };

void seal_wipe(void *memory, size_t len)
{
    OPENSSL_cleanse(memory, len);
}

/* --- keys --- */

static void name_key(struct seal_key *key)
{
    uint8_t mac[DIGEST_LEN];

    digest_hmac(str_from((const char *)key->bytes, SEAL_KEY_LEN), STR("pawl master key"), mac);
    hex_write(key->id, mac, SEAL_ID_LEN / 2);
    key->id[SEAL_ID_LEN] = '\0';
}

void seal_key_make(struct seal_key *out)
{
    if (RAND_bytes(out->bytes, SEAL_KEY_LEN) != 1)
        PANIC("no random numbers");
    name_key(out);
}

static bool read_base64(struct str text, uint8_t out[SEAL_KEY_LEN])
{
    char bytes[64];
    size_t len;
    bool ok = text.len <= 44 && base64_decode(text, bytes, &len) && len == SEAL_KEY_LEN;

    if (ok)
        memcpy(out, bytes, SEAL_KEY_LEN);
    seal_wipe(bytes, sizeof(bytes));
    return ok;
}

bool seal_key_read(struct str text, struct seal_key *out, struct err *err)
{
    text = str_trim(text);
    if (!hex_read(text, out->bytes, SEAL_KEY_LEN) && !read_base64(text, out->bytes))
        return err_set(err, ERR_INVALID,
                       "a master key is 32 bytes as 64 hexadecimal digits or in base64");
    name_key(out);
    return true;
}

void seal_key_write(const struct seal_key *key, char out[2 * SEAL_KEY_LEN])
{
    hex_write(out, key->bytes, SEAL_KEY_LEN);
}

/* --- sealing --- */

static const unsigned char *bytes_of(struct str s)
{
    return (const unsigned char *)(s.len > 0 ? s.ptr : "");
}

struct str seal_close(struct arena *mem, const struct seal_key *key, struct str about,
                      struct str plain)
{
    size_t len = NONCE_LEN + plain.len + TAG_LEN;
    unsigned char *bytes = arena_alloc(mem, len), *cipher = bytes + NONCE_LEN;
    size_t text_len = SEAL_ID_LEN + 1 + base64_encoded_len(len);
    char *text = arena_alloc(mem, text_len);
    EVP_CIPHER_CTX *c = alloc_check(EVP_CIPHER_CTX_new());
    int n = 0;

    ASSERT(plain.len <= INT32_MAX / 2 && about.len <= INT32_MAX / 2);
    if (RAND_bytes(bytes, NONCE_LEN) != 1 ||
        EVP_EncryptInit_ex(c, EVP_aes_256_gcm(), NULL, key->bytes, bytes) != 1 ||
        EVP_EncryptUpdate(c, NULL, &n, bytes_of(about), (int)about.len) != 1 ||
        EVP_EncryptUpdate(c, cipher, &n, bytes_of(plain), (int)plain.len) != 1 ||
        EVP_EncryptFinal_ex(c, cipher + plain.len, &n) != 1 ||
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, TAG_LEN, cipher + plain.len) != 1)
        PANIC("no AES-256-GCM");
    EVP_CIPHER_CTX_free(c);
    memcpy(text, key->id, SEAL_ID_LEN);
    text[SEAL_ID_LEN] = '.';
    (void)base64_encode(str_from((const char *)bytes, len), text + SEAL_ID_LEN + 1);
    return str_from(text, text_len);
}

struct str seal_id(struct str sealed)
{
    return sealed.len > SEAL_ID_LEN && sealed.ptr[SEAL_ID_LEN] == '.'
               ? str_slice(sealed, 0, SEAL_ID_LEN)
               : STR_NONE;
}

static bool decrypt(const struct seal_key *key, struct str about, unsigned char *bytes, size_t len,
                    char *plain)
{
    size_t text_len = len - NONCE_LEN - TAG_LEN;
    EVP_CIPHER_CTX *c = alloc_check(EVP_CIPHER_CTX_new());
    unsigned char *out = (unsigned char *)plain;
    int n = 0;
    bool ok =
        EVP_DecryptInit_ex(c, EVP_aes_256_gcm(), NULL, key->bytes, bytes) == 1 &&
        EVP_DecryptUpdate(c, NULL, &n, bytes_of(about), (int)about.len) == 1 &&
        EVP_DecryptUpdate(c, out, &n, bytes + NONCE_LEN, (int)text_len) == 1 &&
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, TAG_LEN, bytes + NONCE_LEN + text_len) == 1 &&
        EVP_DecryptFinal_ex(c, out + text_len, &n) == 1;

    EVP_CIPHER_CTX_free(c);
    return ok;
}

bool seal_open(struct arena *mem, const struct seal_key *key, struct str about, struct str sealed,
               struct str *out, struct err *err)
{
    struct str id = seal_id(sealed), text;
    char *bytes, *plain;
    size_t len;

    if (!str_eq(id, str_of(key->id)))
        return err_set(err, ERR_INVALID,
                       "it was sealed with the master key %.*s, and this one is %s", STR_ARG(id),
                       key->id);
    text = str_slice(sealed, SEAL_ID_LEN + 1, sealed.len);
    bytes = arena_alloc(mem, base64_decoded_max(text.len));
    if (!base64_decode(text, bytes, &len) || len < NONCE_LEN + TAG_LEN || len > INT32_MAX / 2)
        return err_set(err, ERR_INVALID, "what was sealed is damaged");
    plain = arena_alloc(mem, len);
    if (!decrypt(key, about, (unsigned char *)bytes, len, plain))
        return err_set(err, ERR_INVALID,
                       "what was sealed was changed, or was sealed about something else");
    *out = str_from(plain, len - NONCE_LEN - TAG_LEN);
    return true;
}
