/* folder.c - see folder.h. */
#include "store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A path as the system wants it. False when it is too long. */
static bool make_path(char out[PATH_MAX], struct str path, const char *name, struct err *err)
{
    int len = snprintf(out, PATH_MAX, "%.*s%s", STR_ARG(path), name);

    if (len < 0 || len >= PATH_MAX)
        return err_set(err, ERR_IO, "%.*s: this path is too long", STR_ARG(path));
    return true;
}

static bool fail(const char *path, struct err *err)
{
    const char *hint = "";

    if (errno == EROFS || errno == EACCES || errno == EPERM)
        hint = ": the data folder must be writable for the server";
    else if (errno == ENOTDIR)
        hint = ": name a folder with --data";
    return err_set(err, ERR_IO, "%s: %s%s", path, strerrordesc_np(errno), hint);
}

bool folder_lock(struct str path, int *fd, struct err *err)
{
    char folder[PATH_MAX], name[PATH_MAX], pid[32];
    int len;

    if (!make_path(folder, path, "", err) || !make_path(name, path, "/pawl.lock", err))
        return false;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return fail(folder, err);
    *fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0)
        return fail(name, err);
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        ssize_t got = read(*fd, pid, sizeof(pid) - 1);

        pid[got > 0 ? got : 0] = '\0';
        close(*fd);
        return err_set(err, ERR_IO,
                       "%s is used by another server (process %s): stop it, or name another "
                       "folder with --data",
                       folder, got > 0 ? pid : "unknown");
    }
    len = snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    if (ftruncate(*fd, 0) != 0 || pwrite(*fd, pid, (size_t)len, 0) != len) {
        /* The number is a hint for people; a full disk may not have room for it. */
        if (errno != ENOSPC) {
            bool ok = fail(name, err);

            close(*fd);
            return ok;
        }
    }
    return true;
}

bool folder_sync(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;

    if (!ok)
        (void)fail(path, err);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool copy_bytes(int from, int to)
{
    char buffer[1 << 16];
    ssize_t got;

    while ((got = read(from, buffer, sizeof(buffer))) > 0)
        for (ssize_t done = 0; done < got;) {
            ssize_t wrote = write(to, buffer + done, (size_t)(got - done));

            if (wrote <= 0)
                return false;
            done += wrote;
        }
    return got == 0 && fsync(to) == 0;
}

bool folder_copy_file(struct str from, struct str to, struct err *err)
{
    char from_path[PATH_MAX], to_path[PATH_MAX];
    int in, out = -1;
    bool ok = false;

    if (!make_path(from_path, from, "", err) || !make_path(to_path, to, "", err))
        return false;
    in = open(from_path, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return fail(from_path, err);
    out = open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out >= 0)
        ok = copy_bytes(in, out);
    if (!ok)
        (void)fail(to_path, err);
    close(in);
    if (out >= 0)
        close(out);
    if (!ok && out >= 0)
        (void)unlink(to_path);
    return ok;
}

bool folder_rename(struct str from, struct str to, struct err *err)
{
    char from_path[PATH_MAX], to_path[PATH_MAX];
    char *slash;

    if (!make_path(from_path, from, "", err) || !make_path(to_path, to, "", err))
        return false;
    if (rename(from_path, to_path) != 0)
        return fail(to_path, err);
    slash = strrchr(to_path, '/');
    if (slash == NULL)
        return folder_sync(".", err);
    slash[slash == to_path ? 1 : 0] = '\0';
    return folder_sync(to_path, err);
}

bool folder_space(struct str path, struct folder_space *out)
{
    char folder[PATH_MAX];
    struct statvfs fs;
    struct err err;

    if (path.len == 0 || !make_path(folder, path, "", &err) || statvfs(folder, &fs) != 0)
        return false;
    *out = (struct folder_space){.free_bytes = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize,
                                 .size_bytes = (int64_t)fs.f_blocks * (int64_t)fs.f_frsize};
    return true;
}
