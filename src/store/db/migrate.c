/* migrate.c - see migrate.h; the migrations are in migrations/. */
#include "store/db/migrate.h"

#include "base/crash.h"

#include <inttypes.h>

enum { NEWEST = 47 };

const int64_t migrate_baseline = TABLES_BASELINE, migrate_newest = NEWEST;

/* The version, made 0 where there is none yet. DB_ROW when *version is known. */
static enum db_status version_look(struct db *db, int64_t *version)
{
    enum db_status status = db_run(db, SQL_HAS_SCHEMA, DB_NO_PARAMS);

    db_end(db, SQL_HAS_SCHEMA);
    *version = 0;
    if (status == DB_DONE)
        return DB_ROW;
    if (status != DB_ROW)
        return status;
    status = db_run(db, SQL_SCHEMA_VERSION, DB_NO_PARAMS);
    if (status == DB_ROW)
        *version = db_column_int(db, SQL_SCHEMA_VERSION, 0);
    db_end(db, SQL_SCHEMA_VERSION);
    return status;
}

bool migrate_version(struct db *db, int64_t *out, struct err *err)
{
    enum db_status status = version_look(db, out);

    return status == DB_ROW ? true : db_fail(db, status, err);
}

/* Within a transaction: the baseline, or the next migration; nothing when *version is at `last`. */
static enum db_status migrate_step(struct db *db, const struct migration *list, int64_t last,
                                   int64_t now_us, int64_t *version)
{
    enum db_status status = db_exec(db, SQL_LOCK_SCHEMA, DB_NO_PARAMS);

    if (status != DB_DONE)
        return status;
    status = version_look(db, version);
    if (status != DB_ROW)
        return status;
    if (*version >= last)
        return DB_DONE;
    status = *version == 0 ? db_exec(db, SQL_MAKE_SCHEMA, DB_NO_PARAMS) : DB_DONE;
    *version = *version == 0 ? TABLES_BASELINE : *version + 1;
    for (; list->text != NULL && status == DB_DONE; list++)
        if (list->version == *version && list->text[0] != '\0')
            status = db_script(db, list->text);
    CRASH_POINT(MIGRATE_STATEMENT);
    if (status == DB_DONE)
        status = db_exec(db, SQL_SCHEMA_APPLIED, DB_PARAMS(db_int(*version), db_int(now_us)));
    return status;
}

bool migrate_run(struct db *db, const struct migration *list, int64_t last, int64_t now_us,
                 struct err *err)
{
    int64_t version = 0;

    do {
        enum db_status status = db_exec(db, SQL_BEGIN_WRITE, DB_NO_PARAMS);

        if (status == DB_DONE)
            status = migrate_step(db, list, last, now_us, &version);
        if (status == DB_DONE)
            status = db_exec(db, SQL_COMMIT, DB_NO_PARAMS);
        if (status != DB_DONE) {
            (void)db_fail(db, status, err);
            (void)db_exec(db, SQL_ROLLBACK, DB_NO_PARAMS);
            return false;
        }
    } while (version < last);
    return true;
}

bool migrate(struct db *db, bool is_sqlite, int64_t now_us, struct err *err)
{
    int64_t version;

    if (!migrate_version(db, &version, err))
        return false;
    if (version > 0 && version < TABLES_BASELINE)
        return err_set(err, ERR_IO,
                       "the database is of version %" PRId64 ", made by an early 0.1.0 of Pawl: "
                       "start the last 0.1.0 on it once, which brings it to %d, then this program",
                       version, TABLES_BASELINE);
    if (version > NEWEST)
        return err_set(err, ERR_IO,
                       "the database is of version %" PRId64 " and this program knows %d: "
                       "start a newer one",
                       version, NEWEST);
    return version == NEWEST ||
           migrate_run(db, is_sqlite ? tables_sqlite : tables_postgres, NEWEST, now_us, err);
}
