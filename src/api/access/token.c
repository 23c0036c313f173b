/* token.c - see token.h. */
#include "api/access/token.h"

#include "base/alloc.h"
#include "base/digest.h"
#include "base/text/hex.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

/* A token in a file may be older than the prefix, and lack it. */
enum { FILE_TOKEN_MIN = 64 };

bool token_read(struct arena *mem, const char *path, struct str *out, struct err *err)
{
    char text[256];
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot read %s: %s", path,
                       strerror(errno));
    n = read(fd, text, sizeof(text));
    close(fd);
    *out = str_copy(mem, str_trim(str_from(text, n < 0 ? 0 : (size_t)n)));
    if (out->len < FILE_TOKEN_MIN)
        return err_set(err, ERR_IO, "%s holds no token; remove it and start the server again",
                       path);
    return true;
}

/* --- texts and hashes --- */

static void write_token(char out[TOKEN_LEN])
{
    static const char prefix[] = "pawl_";
    uint8_t random[TOKEN_HASH_LEN];

    if (RAND_bytes(random, sizeof(random)) != 1)
        PANIC("no random numbers");
    memcpy(out, prefix, sizeof(prefix) - 1);
    hex_write(out + sizeof(prefix) - 1, random, sizeof(random));
}

struct str token_make(struct arena *mem)
{
    char *text = arena_alloc(mem, TOKEN_LEN);

    write_token(text);
    return str_from(text, TOKEN_LEN);
}

void token_hash(struct str token, uint8_t out[TOKEN_HASH_LEN])
{
    digest_sha256(token, out);
}

struct str token_hash_hex(struct arena *mem, struct str token)
{
    return digest_hex(mem, token);
}

struct token_hasher {
    EVP_MD *sha256;
    EVP_MD_CTX *context;
};

struct token_hasher *token_hasher_new(void)
{
    struct token_hasher *h = alloc_bytes(sizeof(*h));

    h->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    h->context = EVP_MD_CTX_new();
    if (h->sha256 == NULL || h->context == NULL)
        PANIC("no SHA-256");
    return h;
}

void token_hasher_free(struct token_hasher *h)
{
    EVP_MD_CTX_free(h->context);
    EVP_MD_free(h->sha256);
    free(h);
}

void token_hasher_run(struct token_hasher *h, struct str token, uint8_t out[TOKEN_HASH_LEN])
{
    if (EVP_DigestInit_ex2(h->context, h->sha256, NULL) != 1 ||
        EVP_DigestUpdate(h->context, token.ptr, token.len) != 1 ||
        EVP_DigestFinal_ex(h->context, out, NULL) != 1)
        PANIC("no SHA-256");
}

void token_hash_write(const uint8_t hash[TOKEN_HASH_LEN], char out[2 * TOKEN_HASH_LEN])
{
    hex_write(out, hash, TOKEN_HASH_LEN);
}

bool token_hash_read(struct str hex, uint8_t out[TOKEN_HASH_LEN])
{
    return hex_read_lower(hex, out, TOKEN_HASH_LEN);
}

/* --- the administrator's file --- */

/* Written beside and renamed, so that a file that is there is whole. */
static bool make(const char *path, struct err *err)
{
    char text[TOKEN_LEN + 1], draft[4096];
    bool ok;
    int fd;

    write_token(text);
    text[TOKEN_LEN] = '\n';
    snprintf(draft, sizeof(draft), "%s.new", path);
    fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ok = fd >= 0 && write(fd, text, sizeof(text)) == (ssize_t)sizeof(text) && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    if (ok && rename(draft, path) == 0)
        return true;
    return err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

bool token_open(struct arena *mem, const char *path, struct str *out, bool *is_new, struct err *err)
{
    *is_new = false;
    if (token_read(mem, path, out, err))
        return true;
    if (err->code != ERR_NOT_FOUND)
        return false;
    *is_new = true;
    return make(path, err) && token_read(mem, path, out, err);
}

bool token_borne(struct str authorization, struct str *out)
{
    static const char scheme[] = "Bearer ";
    size_t len = sizeof(scheme) - 1;

    if (authorization.len <= len || strncasecmp(authorization.ptr, scheme, len) != 0)
        return false;
    *out = str_slice(authorization, len, authorization.len);
    return true;
}
