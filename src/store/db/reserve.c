/* reserve.c - see reserve.h. */
#include "store/db/reserve.h"

#include "base/arena.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The index of the longest log, and some pages of the log itself. */
enum { RESERVE_BYTES = 1 << 20, RESERVE_MIN_BYTES = 128 << 10, BLOCK_BYTES = 4096 };

static struct str reserve_path(struct arena *mem, struct str data_path)
{
    return str_printf(mem, "%.*s/reserve", STR_ARG(data_path));
}

static int64_t reserve_size(const char *folder)
{
    struct statvfs fs;
    int64_t half;

    if (statvfs(folder, &fs) != 0)
        return 0;
    half = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize / 2;
    return half < RESERVE_MIN_BYTES ? 0 : half < RESERVE_BYTES ? half : RESERVE_BYTES;
}

void reserve_keep(struct str data_path)
{
    static const char zeros[BLOCK_BYTES];
    struct arena mem;
    struct str path;
    int64_t left;
    int fd;

    arena_init(&mem);
    path = reserve_path(&mem, data_path);
    left = reserve_size(str_printf(&mem, "%.*s", STR_ARG(data_path)).ptr);
    fd = left > 0 ? open(path.ptr, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1;
    while (fd >= 0 && left > 0 && write(fd, zeros, sizeof(zeros)) == (ssize_t)sizeof(zeros))
        left -= (int64_t)sizeof(zeros);
    if (fd >= 0)
        close(fd);
    arena_fini(&mem);
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
