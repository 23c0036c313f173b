/* backup.c - see backup.h. */
#include "store/backup.h"

#include "base/arena.h"
#include "base/digest.h"
#include "store/db/migrate.h"
#include "store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool copy_to(struct str file, struct str part, struct err *err)
{
    struct db *db = db_sqlite_open(file, DB_WRITE, err);
    enum db_status status;
    bool ok;

    if (db == NULL)
        return false;
    status = db_sqlite_copy(db, part);
    ok = status == DB_DONE ? true : db_fail(db, status, err);
    db_close(db);
    return ok;
}

/* An empty file, which the copy fills: the system says best why there can be none. */
static bool make_part(struct str part, struct str path, struct err *err)
{
    int fd = open(part.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_set(err, ERR_IO, "cannot write %.*s: %s", STR_ARG(path), strerror(errno));
    close(fd);
    return true;
}

/* --- the sum at the end of a copy --- */

/* Behind the last page: SQLite does not read it. "pawl backup <64 hex digits>\n". */
#define SUM_HEAD "pawl backup "

enum {
    SUM_HEAD_LEN = sizeof(SUM_HEAD) - 1,
    SUM_LEN = SUM_HEAD_LEN + DIGEST_HEX_LEN + 1,
    SUM_BLOCK = 1 << 20,
};

/*
 * The sum of the first `bytes` of a file, block by block: each is summed together
 * with the sum of those before it, so that a large file needs little memory.
 */
static bool sum_of(struct arena *mem, int fd, int64_t bytes, struct str *out)
{
    char *block = arena_alloc(mem, DIGEST_HEX_LEN + SUM_BLOCK);
    struct str sum = digest_hex(mem, STR_NONE);

    for (int64_t at = 0; at < bytes;) {
        size_t want = bytes - at < SUM_BLOCK ? (size_t)(bytes - at) : SUM_BLOCK;
        ssize_t n;

        memcpy(block, sum.ptr, DIGEST_HEX_LEN);
        n = pread(fd, block + DIGEST_HEX_LEN, want, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t)want)
            return false;
        sum = digest_hex(mem, str_from(block, DIGEST_HEX_LEN + want));
        at += (int64_t)want;
    }
    *out = str_printf(mem, SUM_HEAD "%.*s\n", STR_ARG(sum));
    return true;
}

static bool append_sum(struct arena *mem, struct str part, struct err *err)
{
    int fd = open(part.ptr, O_RDWR | O_CLOEXEC);
    struct stat file;
    struct str sum;
    bool ok = fd >= 0 && fstat(fd, &file) == 0 && sum_of(mem, fd, (int64_t)file.st_size, &sum) &&
              pwrite(fd, sum.ptr, sum.len, file.st_size) == (ssize_t)sum.len;

    if (!ok)
        (void)err_set(err, ERR_IO, "cannot write %.*s: %s", STR_ARG(part), strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

/*
 * Hold a copy against its sum and take that off. One without a sum, as earlier
 * versions made them, is as good as what SQLite finds in it.
 */
static bool check_sum(struct arena *mem, struct str part, struct str path, struct err *err)
{
    int fd = open(part.ptr, O_RDWR | O_CLOEXEC);
    char stored[SUM_LEN];
    struct stat file;
    struct str sum;
    int64_t bytes = 0;
    bool has_sum, ok;

    ok = fd >= 0 && fstat(fd, &file) == 0;
    if (ok)
        bytes = (int64_t)file.st_size - SUM_LEN;
    has_sum = ok && bytes > 0 && pread(fd, stored, SUM_LEN, (off_t)bytes) == SUM_LEN &&
              memcmp(stored, SUM_HEAD, SUM_HEAD_LEN) == 0;
    if (!ok)
        (void)err_set(err, ERR_IO, "cannot read %.*s: %s", STR_ARG(path), strerror(errno));
    else if (has_sum && (!sum_of(mem, fd, bytes, &sum) || memcmp(sum.ptr, stored, SUM_LEN) != 0))
        ok = err_set(err, ERR_IO,
                     "%.*s is damaged: its bytes are not those that `pawl backup` wrote",
                     STR_ARG(path));
    else if (has_sum && ftruncate(fd, (off_t)bytes) != 0)
        ok = err_set(err, ERR_IO, "cannot write %.*s: %s", STR_ARG(part), strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

/* --- the note before it --- */

/* "pawl note <text, filled up with blanks>\n", which has one length. */
#define NOTE_HEAD "pawl note "

enum { NOTE_HEAD_LEN = sizeof(NOTE_HEAD) - 1, NOTE_LEN = NOTE_HEAD_LEN + BACKUP_NOTE_MAX + 1 };

static bool append_note(struct str part, struct str note, struct err *err)
{
    char line[NOTE_LEN];
    int fd;
    bool ok;

    if (note.len == 0)
        return true;
    ASSERT(note.len <= BACKUP_NOTE_MAX);
    memset(line, ' ', sizeof(line));
    memcpy(line, NOTE_HEAD, NOTE_HEAD_LEN);
    memcpy(line + NOTE_HEAD_LEN, note.ptr, note.len);
    line[NOTE_LEN - 1] = '\n';
    fd = open(part.ptr, O_WRONLY | O_APPEND | O_CLOEXEC);
    ok = fd >= 0 && write(fd, line, sizeof(line)) == (ssize_t)sizeof(line);
    if (!ok)
        (void)err_set(err, ERR_IO, "cannot write %.*s: %s", STR_ARG(part), strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

/* The note that ends at `end` of a file, in `line`; empty when there is none. */
static struct str note_before(int fd, int64_t end, char line[NOTE_LEN])
{
    int64_t at = end - NOTE_LEN;

    if (at <= 0 || pread(fd, line, NOTE_LEN, (off_t)at) != NOTE_LEN ||
        memcmp(line, NOTE_HEAD, NOTE_HEAD_LEN) != 0 || line[NOTE_LEN - 1] != '\n')
        return STR_NONE;
    return str_trim(str_from(line + NOTE_HEAD_LEN, BACKUP_NOTE_MAX));
}

bool store_backup_note(struct arena *mem, struct str path, struct str *out, struct err *err)
{
    int fd = open(str_copy(mem, path).ptr, O_RDONLY | O_CLOEXEC);
    char line[NOTE_LEN];
    struct stat file;
    bool ok = fd >= 0 && fstat(fd, &file) == 0;

    if (ok)
        *out = str_copy(mem, note_before(fd, (int64_t)file.st_size - SUM_LEN, line));
    else
        (void)err_set(err, ERR_IO, "cannot read %.*s: %s", STR_ARG(path), strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

/* The note does not belong to the store. */
static bool cut_note(struct str part, struct err *err)
{
    int fd = open(part.ptr, O_RDWR | O_CLOEXEC);
    char line[NOTE_LEN];
    struct stat file;
    bool ok = fd >= 0 && fstat(fd, &file) == 0 &&
              (note_before(fd, (int64_t)file.st_size, line).len == 0 ||
               ftruncate(fd, file.st_size - NOTE_LEN) == 0);

    if (!ok)
        (void)err_set(err, ERR_IO, "cannot write %.*s: %s", STR_ARG(part), strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

/* --- making a copy, and putting it back --- */

static bool back_up(struct arena *mem, struct str file, struct str path, struct str note,
                    struct err *err)
{
    struct str part = str_printf(mem, "%.*s.part", STR_ARG(path));
    bool ok;

    if (access(str_copy(mem, path).ptr, F_OK) == 0)
        return err_set(err, ERR_CONFLICT, "%.*s exists already", STR_ARG(path));
    (void)unlink(part.ptr);
    if (!make_part(part, path, err))
        return false;
    ok = copy_to(file, part, err) && append_note(part, note, err) && append_sum(mem, part, err) &&
         folder_sync(part.ptr, err) && folder_rename(part, path, err);
    if (!ok)
        (void)unlink(part.ptr);
    return ok;
}

bool store_backup_folder(struct str data_path, struct str path, struct err *err)
{
    return store_backup_with_note(data_path, path, STR_NONE, err);
}

bool store_backup_with_note(struct str data_path, struct str path, struct str note, struct err *err)
{
    struct arena mem;
    struct str file;
    bool ok;

    arena_init(&mem);
    file = str_printf(&mem, "%.*s/pawl.db", STR_ARG(data_path));
    if (access(file.ptr, F_OK) != 0)
        ok = err_set(err, ERR_NOT_FOUND,
                     "there is no store in %.*s: name the data folder with --data; a server on "
                     "PostgreSQL is backed up with pg_dump",
                     STR_ARG(data_path));
    else
        ok = back_up(&mem, file, path, note, err);
    arena_fini(&mem);
    return ok;
}

/* Whether `part`, a copy of the file that people know as `path`, is a whole store of ours. */
static bool check_backup(struct str part, struct str path, struct err *err)
{
    struct db *db = db_sqlite_open(part, DB_READ, err);
    enum db_status status;
    int64_t version = 0;
    bool is_whole = false;

    if (db != NULL) {
        status = db_run(db, SQL_INTEGRITY_CHECK, DB_NO_PARAMS);
        is_whole =
            status == DB_ROW && str_eq(db_column_text(db, SQL_INTEGRITY_CHECK, 0), STR("ok"));
        db_end(db, SQL_INTEGRITY_CHECK);
        is_whole = is_whole && migrate_version(db, &version, err);
        db_close(db);
    }
    if (!is_whole || version < 1)
        return err_set(err, ERR_IO, "%.*s is not a backup of Pawl, or it is damaged",
                       STR_ARG(path));
    if (version < migrate_baseline)
        return err_set(
            err, ERR_IO,
            "%.*s was made by an early 0.1.0 of Pawl: restore it with the last 0.1.0 and "
            "start that once",
            STR_ARG(path));
    if (version > migrate_newest)
        return err_set(err, ERR_IO,
                       "%.*s was made by a newer version of Pawl: restore it with that",
                       STR_ARG(path));
    return true;
}

bool store_restore(struct str path, struct str data_path, struct err *err)
{
    struct arena mem;
    struct str file, part;
    int lock_fd;
    bool ok;

    if (!folder_lock(data_path, &lock_fd, err))
        return false;
    arena_init(&mem);
    file = str_printf(&mem, "%.*s/pawl.db", STR_ARG(data_path));
    part = str_printf(&mem, "%.*s/pawl.db.part", STR_ARG(data_path));
    if (access(file.ptr, F_OK) == 0) {
        ok = err_set(err, ERR_CONFLICT, "%.*s holds a store already: restore into an empty folder",
                     STR_ARG(data_path));
    } else {
        (void)unlink(part.ptr);
        ok = folder_copy_file(path, part, err);
        if (ok && (!check_sum(&mem, part, path, err) || !cut_note(part, err) ||
                   !check_backup(part, path, err) || !folder_sync(part.ptr, err))) {
            ok = false;
            (void)unlink(part.ptr);
        }
        ok = ok && folder_rename(part, file, err);
    }
    arena_fini(&mem);
    close(lock_fd);
    return ok;
}
