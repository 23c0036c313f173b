/* migrate.c - see migrate.h; the migrations are in migrations/. */
#include "store/migrate.h"

#include "base/crash.h"

#include <inttypes.h>

/* One statement of the migration to `version`. */
struct statement {
    int64_t version;
    const char *text;
};

#define MIGRATE(number, ...) {.version = (number), .text = #__VA_ARGS__},
static const struct statement sqlite_statements[] = {
#include "store/migrations/sqlite.def"
    {.text = NULL},
};

static const struct statement postgres_statements[] = {
#include "store/migrations/postgres.def"
    {.text = NULL},
};
#undef MIGRATE

enum { NEWEST = 37, FACTS_SINCE = 17 };

const int64_t migrate_newest = NEWEST;

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

/* Within a transaction: the next migration, unless *version is at `last` already. */
static enum db_status step(struct db *db, const struct statement *statement, int64_t last,
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
    ++*version;
    for (; statement->text != NULL && status == DB_DONE; statement++)
        if (statement->version == *version)
            status = db_script(db, statement->text);
    CRASH_POINT(MIGRATE_STATEMENT);
    if (*version == FACTS_SINCE && status == DB_DONE)
        status = migrate_facts(db);
    if (status == DB_DONE)
        status = db_exec(db, SQL_SCHEMA_APPLIED, DB_PARAMS(db_int(*version), db_int(now_us)));
    return status;
}

bool migrate_to(struct db *db, bool is_sqlite, int64_t last, int64_t now_us, struct err *err)
{
    const struct statement *statements = is_sqlite ? sqlite_statements : postgres_statements;
    int64_t version = 0;

    ASSERT(last <= NEWEST);
    do {
        enum db_status status = db_exec(db, SQL_BEGIN_WRITE, DB_NO_PARAMS);

        if (status == DB_DONE)
            status = step(db, statements, last, now_us, &version);
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
    if (version < NEWEST && !migrate_to(db, is_sqlite, NEWEST, now_us, err))
        return false;
    if (version > NEWEST)
        return err_set(err, ERR_IO,
                       "the database is of version %" PRId64 " and this program knows %d: "
                       "start a newer one",
                       version, NEWEST);
    return true;
}
