/* sealed_key.c - see sealed_key.h. */
#include "cli/server/sealed_key.h"
#include "cli/file.h"
#include "cli/secret_input.h"
#include "effect/secret/passphrase.h"
#include "effect/secret/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ABOUT STR("pawl backup: master key")

static bool say(const char *who, const char *what)
{
    fprintf(stderr, "pawl %s: %s\n", who, what);
    return false;
}

static bool read_passphrase(struct arena *mem, const struct options *o, bool is_new,
                            struct str *out)
{
    const char *who = o->argv[0], *file = options_get(o, "passphrase-file");
    bool asks = file == NULL && isatty(STDIN_FILENO);
    struct str again;
    struct err err;

    if (file != NULL && !file_read(mem, file, out, &err))
        return say(who, err.message);
    if (file == NULL &&
        !(asks ? secret_input_hidden(mem, "passphrase", out) : secret_input_all(mem, stdin, out)))
        return say(who, "the passphrase could not be read");
    *out = secret_input_trim(*out);
    if (out->len < PASSPHRASE_LEN_MIN || out->len > PASSPHRASE_LEN_MAX)
        return say(who, "a passphrase has from 8 to 1,000 bytes; give it with --passphrase-file, "
                        "on the terminal or on stdin");
    if (!asks || !is_new)
        return true;
    if (!secret_input_hidden(mem, "once more", &again) || !str_eq(secret_input_trim(again), *out))
        return say(who, "these are two different passphrases");
    return true;
}

bool sealed_key_make(struct arena *mem, const struct options *o, const char *data,
                     const char *needed, struct str *out)
{
    const char *path = getenv("PAWL_MASTER_KEY"), *who = o->argv[0];
    char digits[2 * SEAL_KEY_LEN];
    struct str text, words;
    struct seal_key key;
    struct err err;
    bool ok;

    if (path == NULL)
        path = str_printf(mem, "%s/master.key", data).ptr;
    if (!file_read(mem, path, &text, &err) || !seal_key_read(text, &key, &err))
        return say(who, str_printf(mem, "%s: %s", path, err.message).ptr);
    if (needed[0] != '\0' && strcmp(needed, key.id) != 0)
        return say(who, str_printf(mem,
                                   "%s is the key %s, and the secrets in the store are sealed "
                                   "with %s: name its file in PAWL_MASTER_KEY",
                                   path, key.id, needed)
                            .ptr);
    if (!read_passphrase(mem, o, true, &words))
        return false;
    seal_key_write(&key, digits);
    ok = passphrase_close(mem, words, ABOUT, str_from(digits, sizeof(digits)), out, &err);
    seal_wipe(digits, sizeof(digits));
    return ok || say(who, err.message);
}

bool sealed_key_open(struct arena *mem, const struct options *o, struct str sealed, struct str *out)
{
    struct str words;
    struct err err;

    if (!read_passphrase(mem, o, false, &words))
        return false;
    return passphrase_open(mem, words, ABOUT, sealed, out, &err) || say(o->argv[0], err.message);
}

bool sealed_key_put(struct arena *mem, const char *data, struct str digits)
{
    struct str path = str_printf(mem, "%s/master.key", data);
    struct str line = str_printf(mem, "%.*s\n", STR_ARG(digits));
    int fd = open(path.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, line.ptr, line.len) == (ssize_t)line.len && fsync(fd) == 0;

    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    return ok || say("restore",
                     str_printf(mem, "cannot write %.*s: %s", STR_ARG(path), strerror(errno)).ptr);
}
