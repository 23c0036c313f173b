/*
 * log_file.c - see log_file.h.
 *
 * Invariant: bytes[0 .. len) follow each other in the file from `at`. What could
 * not be written is dropped and the error given to whoever asks next: the
 * transaction fails, and the next one writes its pages to the same place.
 */
#include "store/db/log_file.h"

#include "base/time/clock.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GATHERED_MAX = 64 << 10 }; /* files of SQLite take less than 128 KiB at once */
/* A reader that yields rests after so many pages, for as long as they took, within these bounds. */
enum { YIELD_PAGES = 16, REST_MIN_US = 100, REST_MAX_US = 2000 };

struct log_file {
    sqlite3_file base;
    sqlite3_file *real; /* right behind this */
    char *bytes;        /* NULL until something is written */
    int len;
    sqlite3_int64 at;
    bool yields;       /* see log_file_yield() */
    unsigned reads;    /* since it last rested, */
    int64_t rested_us; /* ... and when that was; monotonic */
};

static struct log_file *log_of(sqlite3_file *file)
{
    return (struct log_file *)file;
}

static sqlite3_file *real(sqlite3_file *file)
{
    return log_of(file)->real;
}

static int log_flush(struct log_file *f)
{
    int len = f->len;

    f->len = 0;
    return len == 0 ? SQLITE_OK : f->real->pMethods->xWrite(f->real, f->bytes, len, f->at);
}

static int log_close(sqlite3_file *file)
{
    struct log_file *f = log_of(file);
    int flushed = log_flush(f), closed = f->real->pMethods->xClose(f->real);

    free(f->bytes);
    f->bytes = NULL;
    return flushed != SQLITE_OK ? flushed : closed;
}

static int log_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    struct log_file *f = log_of(file);

    if (f->len > 0 && (at != f->at + f->len || len > GATHERED_MAX - f->len)) {
        int code = log_flush(f);

        if (code != SQLITE_OK)
            return code;
    }
    if (f->bytes == NULL)
        f->bytes = malloc(GATHERED_MAX);
    if (f->bytes == NULL || len > GATHERED_MAX)
        return f->real->pMethods->xWrite(f->real, bytes, len, at);
    if (f->len == 0)
        f->at = at;
    memcpy(f->bytes + f->len, bytes, (size_t)len);
    f->len += len;
    return SQLITE_OK;
}

static void log_rest(struct log_file *f)
{
    int64_t took_us = clock_mono_us(&clock_system) - f->rested_us;
    int64_t rest_us = took_us < REST_MIN_US   ? REST_MIN_US
                      : took_us > REST_MAX_US ? REST_MAX_US
                                              : took_us;

    (void)nanosleep(&(struct timespec){.tv_nsec = rest_us * 1000}, NULL);
    f->rested_us = clock_mono_us(&clock_system);
    f->reads = 0;
}

static int log_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 at)
{
    int code = log_flush(log_of(file));

    if (log_of(file)->yields && ++log_of(file)->reads >= YIELD_PAGES)
        log_rest(log_of(file));

    return code != SQLITE_OK ? code : real(file)->pMethods->xRead(real(file), bytes, len, at);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = log_flush(log_of(file));

    return code != SQLITE_OK ? code : real(file)->pMethods->xTruncate(real(file), size);
}

static int log_sync(sqlite3_file *file, int flags)
{
    int code = log_flush(log_of(file));

    return code != SQLITE_OK ? code : real(file)->pMethods->xSync(real(file), flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    int code = log_flush(log_of(file));

    return code != SQLITE_OK ? code : real(file)->pMethods->xFileSize(real(file), size);
}

static int log_lock(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xLock(real(file), level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int log_is_reserved(sqlite3_file *file, int *out)
{
    return real(file)->pMethods->xCheckReservedLock(real(file), out);
}

static int log_control(sqlite3_file *file, int what, void *argument)
{
    return real(file)->pMethods->xFileControl(real(file), what, argument);
}

static int log_sector(sqlite3_file *file)
{
    return real(file)->pMethods->xSectorSize(real(file));
}

static int log_device(sqlite3_file *file)
{
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_is_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_device,
};

/* Every other file is the system's own. */
static int log_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    sqlite3_vfs *system = vfs->pAppData;
    struct log_file *f = log_of(file);
    int code;

    if ((flags & SQLITE_OPEN_WAL) == 0)
        return system->xOpen(system, name, file, flags, out);
    *f = (struct log_file){.real = (sqlite3_file *)(f + 1)};
    f->real->pMethods = NULL;
    code = system->xOpen(system, name, f->real, flags, out);
    if (f->real->pMethods != NULL)
        f->base.pMethods = &log_methods;
    return code;
}

void log_file_yield(struct sqlite3_file *file, bool yields)
{
    if (file == NULL || file->pMethods != &log_methods)
        return;
    log_of(file)->yields = yields;
    log_of(file)->reads = 0;
    log_of(file)->rested_us = clock_mono_us(&clock_system);
}

const char *log_file_register(void)
{
    static sqlite3_vfs vfs;
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);

    if (system == NULL)
        return NULL;
    vfs = *system;
    vfs.zName = "pawl";
    vfs.pNext = NULL;
    vfs.pAppData = system;
    vfs.szOsFile = (int)sizeof(struct log_file) + system->szOsFile;
    vfs.xOpen = log_open;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? vfs.zName : NULL;
}
