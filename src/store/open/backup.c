/* backup.c - see backup.h. */
#include "store/backup.h"

#include "base/arena.h"
#include "store/db/migrate.h"
#include "store/folder.h"

#include <errno.h>
#include <fcntl.h>
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

static bool back_up(struct arena *mem, struct str file, struct str path, struct err *err)
{
    struct str part = str_printf(mem, "%.*s.part", STR_ARG(path));
    bool ok;

    if (access(str_copy(mem, path).ptr, F_OK) == 0)
        return err_set(err, ERR_CONFLICT, "%.*s exists already", STR_ARG(path));
    (void)unlink(part.ptr);
    if (!make_part(part, path, err))
        return false;
    ok = copy_to(file, part, err) && folder_sync(part.ptr, err) && folder_rename(part, path, err);
    if (!ok)
        (void)unlink(part.ptr);
    return ok;
}

bool store_backup_folder(struct str data_path, struct str path, struct err *err)
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
        ok = back_up(&mem, file, path, err);
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
        if (ok && !check_backup(part, path, err)) {
            ok = false;
            (void)unlink(part.ptr);
        }
        ok = ok && folder_rename(part, file, err);
    }
    arena_fini(&mem);
    close(lock_fd);
    return ok;
}
