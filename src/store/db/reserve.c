/* reserve.c - see reserve.h. */
#include "store/db/reserve.h"

#include "base/arena.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/*
 * At least the index of the longest log and what a small deletion writes; on a
 * larger volume more, so that fewer deletions are in one portion each.
 */
enum {
    RESERVE_BYTES_MIN = 1 << 20,
    RESERVE_BYTES_MAX = 8 << 20,
    RESERVE_SHARE = 64, /* one part in this many of the volume */
    RESERVE_WORTH_BYTES = 128 << 10,
    BLOCK_BYTES = 4096,
};

static struct str reserve_path(struct arena *mem, struct str data_path)
{
    return str_printf(mem, "%.*s/reserve", STR_ARG(data_path));
}

/* How much the file should grow; `part` of what is free at most. */
static int64_t reserve_lacks(const char *folder, const char *path, int64_t part)
{
    struct statvfs fs;
    struct stat file;
    int64_t full, lacks, free_bytes;

    if (statvfs(folder, &fs) != 0)
        return 0;
    full = (int64_t)fs.f_blocks * (int64_t)fs.f_frsize / RESERVE_SHARE;
    full = full < RESERVE_BYTES_MIN   ? RESERVE_BYTES_MIN
           : full > RESERVE_BYTES_MAX ? RESERVE_BYTES_MAX
                                      : full;
    lacks = full - (stat(path, &file) == 0 ? (int64_t)file.st_size : 0);
    free_bytes = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize / part;
    return lacks < free_bytes ? lacks : free_bytes;
}

static void reserve_grow(struct str data_path, int64_t part, int64_t least)
{
    static const char zeros[BLOCK_BYTES];
    struct arena mem;
    struct str path;
    int64_t left;
    int fd;

    arena_init(&mem);
    path = reserve_path(&mem, data_path);
    left = reserve_lacks(str_printf(&mem, "%.*s", STR_ARG(data_path)).ptr, path.ptr, part);
    fd = left >= least ? open(path.ptr, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600) : -1;
    while (fd >= 0 && left > 0 && write(fd, zeros, sizeof(zeros)) == (ssize_t)sizeof(zeros))
        left -= (int64_t)sizeof(zeros);
    if (fd >= 0)
        close(fd);
    arena_fini(&mem);
}

void reserve_keep(struct str data_path)
{
    reserve_grow(data_path, 2, RESERVE_WORTH_BYTES);
}

void reserve_take_back(struct str data_path)
{
    reserve_grow(data_path, 1, BLOCK_BYTES);
}

bool reserve_drop(struct str data_path)
{
    struct arena mem;
    bool dropped;

    arena_init(&mem);
    dropped = unlink(reserve_path(&mem, data_path).ptr) == 0;
    arena_fini(&mem);
    return dropped;
}
