/* token.c - see token.h. */
#include "api/token.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

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
    if (out->len < TOKEN_LEN)
        return err_set(err, ERR_IO, "%s holds no token; remove it and start the server again",
                       path);
    return true;
}

/* Written beside and renamed, so that a file that is there is whole. */
static bool make(const char *path, struct err *err)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[TOKEN_LEN / 2];
    char text[TOKEN_LEN + 1], draft[4096];
    bool ok;
    int fd;

    if (RAND_bytes(random, sizeof(random)) != 1)
        PANIC("no random numbers");
    for (size_t i = 0; i < sizeof(random); i++) {
        text[2 * i] = digits[random[i] >> 4];
        text[2 * i + 1] = digits[random[i] & 15];
    }
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

bool token_open(struct arena *mem, const char *path, struct str *out, struct err *err)
{
    if (token_read(mem, path, out, err))
        return true;
    if (err->code != ERR_NOT_FOUND)
        return false;
    return make(path, err) && token_read(mem, path, out, err);
}

bool token_is_borne(struct str authorization, struct str token)
{
    static const char scheme[] = "Bearer ";
    size_t len = sizeof(scheme) - 1;

    if (authorization.len != len + token.len || strncasecmp(authorization.ptr, scheme, len) != 0)
        return false;
    return CRYPTO_memcmp(authorization.ptr + len, token.ptr, token.len) == 0;
}
