/* master_key.c - see master_key.h. */
#include "effect/secret/master_key.h"

#include "base/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_LEN_MAX = 4096, FILE_LEN_MAX = 256 };

/* PATH.SUFFIX. False: it is too long. */
static bool path_beside(const char *path, struct str suffix, char out[PATH_LEN_MAX],
                        struct err *err)
{
    if (snprintf(out, PATH_LEN_MAX, "%s.%.*s", path, STR_ARG(suffix)) < PATH_LEN_MAX)
        return true;
    return err_set(err, ERR_IO, "the path of the master key is too long");
}

enum key_file { KEY_FILE_READ, KEY_FILE_MISSING, KEY_FILE_BAD };

static enum key_file read_key(const char *path, struct seal_key *out, struct err *err)
{
    char text[FILE_LEN_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat s;
    ssize_t n;
    bool ok;

    if (fd < 0 && errno == ENOENT)
        return KEY_FILE_MISSING;
    if (fd < 0 || fstat(fd, &s) != 0) {
        (void)err_set(err, ERR_IO, "cannot read the master key %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return KEY_FILE_BAD;
    }
    n = read(fd, text, sizeof(text));
    close(fd);
    if ((s.st_mode & 077) != 0) {
        (void)err_set(err, ERR_IO,
                      "others can read the master key %s: chmod 600 it, and think of rotating it",
                      path);
        return KEY_FILE_BAD;
    }
    ok = seal_key_read(str_from(text, n < 0 ? 0 : (size_t)n), out, err);
    seal_wipe(text, sizeof(text));
    if (ok)
        return KEY_FILE_READ;
    (void)err_set(err, ERR_IO,
                  "%s holds no master key: that is 32 bytes as 64 hexadecimal digits or in base64",
                  path);
    return KEY_FILE_BAD;
}

/* A rename is durable when its folder is. */
static bool sync_folder(const char *path, struct err *err)
{
    char folder[PATH_LEN_MAX];
    char *slash;
    int fd;
    bool ok;

    (void)snprintf(folder, sizeof(folder), "%s", path);
    slash = strrchr(folder, '/');
    if (slash == NULL)
        (void)snprintf(folder, sizeof(folder), ".");
    else
        slash[slash == folder] = '\0';
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        (void)err_set(err, ERR_IO, "cannot sync %s: %s", folder, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool write_key(const char *path, const struct seal_key *key, struct err *err)
{
    char text[2 * SEAL_KEY_LEN + 1];
    int fd;
    bool ok;

    (void)unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(err, ERR_IO, "cannot write the master key %s: %s", path, strerror(errno));
    seal_key_write(key, text);
    text[sizeof(text) - 1] = '\n';
    ok = write(fd, text, sizeof(text)) == (ssize_t)sizeof(text) && fsync(fd) == 0;
    seal_wipe(text, sizeof(text));
    if (!ok)
        (void)err_set(err, ERR_IO, "cannot write the master key %s: %s", path, strerror(errno));
    close(fd);
    if (!ok)
        (void)unlink(path);
    return ok && sync_folder(path, err);
}

/* --- opening --- */

static bool make_key(struct master_key *m, struct err *err)
{
    char part[PATH_LEN_MAX];

    seal_key_make(&m->key);
    if (!path_beside(m->path, STR("part"), part, err) || !write_key(part, &m->key, err))
        return false;
    if (rename(part, m->path) != 0)
        return err_set(err, ERR_IO, "cannot write the master key %s: %s", m->path, strerror(errno));
    m->is_there = true;
    return sync_folder(m->path, err);
}

/* FILE.ID takes the place of FILE; another node that shares them may have been faster. */
static bool replace_file(const struct master_key *m, const struct seal_key *next, struct err *err)
{
    char next_path[PATH_LEN_MAX];
    struct seal_key found;

    if (!path_beside(m->path, str_of(next->id), next_path, err))
        return false;
    if (rename(next_path, m->path) == 0)
        return sync_folder(m->path, err);
    if (read_key(m->path, &found, err) == KEY_FILE_READ && strcmp(found.id, next->id) == 0)
        return true;
    return err_set(err, ERR_IO, "cannot put the new master key %s in the place of %s: %s",
                   next_path, m->path, strerror(errno));
}

static bool refuse_missing(const struct master_key *m, struct str needed, struct err *err)
{
    return err_set(err, ERR_IO,
                   "the master key of this installation, which its secrets are sealed with, is "
                   "%.*s, and there is no file %s: copy it there, or name it with --master-key",
                   STR_ARG(needed), m->path);
}

bool master_key_open(struct master_key *m, const char *path, struct str needed, struct err *err)
{
    char next_path[PATH_LEN_MAX];
    struct seal_key next;
    struct err ignored;

    *m = (struct master_key){.path = path};
    switch (read_key(path, &m->key, err)) {
    case KEY_FILE_BAD:
        return false;
    case KEY_FILE_READ:
        m->is_there = true;
        break;
    case KEY_FILE_MISSING:
        break;
    }
    if (needed.len == 0)
        return m->is_there || make_key(m, err);
    if (m->is_there && str_eq(needed, str_of(m->key.id)))
        return true;
    if (!path_beside(path, needed, next_path, err))
        return false;
    if (read_key(next_path, &next, &ignored) == KEY_FILE_READ && str_eq(needed, str_of(next.id)))
        return master_key_adopt(m, &next, err);
    if (!m->is_there)
        return refuse_missing(m, needed, err);
    return err_set(err, ERR_IO,
                   "credentials are sealed with the master key %.*s, and the one in %s is %s: name "
                   "the right file with --master-key",
                   STR_ARG(needed), path, m->key.id);
}

/* --- rotating --- */

bool master_key_prepare(const struct master_key *m, struct seal_key *next, struct err *err)
{
    char next_path[PATH_LEN_MAX];

    seal_key_make(next);
    if (!path_beside(m->path, str_of(next->id), next_path, err) || !write_key(next_path, next, err))
        return false;
    CRASH_POINT(KEY_PREPARED);
    return true;
}

bool master_key_adopt(struct master_key *m, const struct seal_key *next, struct err *err)
{
    CRASH_POINT(KEY_ADOPTING);
    m->key = *next;
    m->is_there = true;
    return replace_file(m, next, err);
}

void master_key_drop(const struct master_key *m, const struct seal_key *next)
{
    char next_path[PATH_LEN_MAX];
    struct err ignored;

    if (path_beside(m->path, str_of(next->id), next_path, &ignored))
        (void)unlink(next_path);
}
