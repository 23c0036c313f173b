/* installation.c - see installation.h. */
#include "store/installation.h"

#include "store/db/db.h"

static enum db_status installation_get(struct db *db, struct arena *mem, struct str name,
                                       struct str *out)
{
    enum db_status status = db_run(db, SQL_INSTALLATION_GET, DB_PARAMS(db_text(name)));

    *out = status == DB_ROW ? db_column_copy(db, mem, SQL_INSTALLATION_GET, 0) : STR_NONE;
    db_end(db, SQL_INSTALLATION_GET);
    return status;
}

/* In a transaction: who keeps the administrator's token in memory is told by the access version. */
static enum db_status claim_within(struct db *db, struct arena *mem, struct str name,
                                   struct str value, enum installation_claim how, struct str *out)
{
    enum db_status status =
        db_exec(db, how == CLAIM_ANEW ? SQL_INSTALLATION_REPLACE : SQL_INSTALLATION_CLAIM,
                DB_PARAMS(db_text(name), db_text(value)));

    if (status == DB_DONE && how == CLAIM_ANEW)
        status = db_exec(db, SQL_ACCESS_CHANGED, DB_NO_PARAMS);
    return status == DB_DONE ? installation_get(db, mem, name, out) : status;
}

bool installation_claim(struct str url, struct arena *mem, struct str name, struct str value,
                        enum installation_claim how, struct str *out, struct err *err)
{
    struct db *db = db_postgres_open(url, DB_WRITE, STR("pawl claim"), NULL, err);
    enum db_status status;

    if (db == NULL)
        return false;
    status = db_exec(db, SQL_BEGIN_WRITE, DB_NO_PARAMS);
    if (status == DB_DONE)
        status = claim_within(db, mem, name, value, how, out);
    if (status == DB_ROW)
        status = db_exec(db, SQL_COMMIT, DB_NO_PARAMS);
    if (status != DB_DONE)
        (void)db_fail(db, status, err);
    db_close(db);
    return status == DB_DONE;
}

bool installation_look(struct str url, struct arena *mem, struct str name, struct str *out,
                       struct err *err)
{
    struct db *db = db_postgres_open(url, DB_READ, STR("pawl claim"), NULL, err);
    enum db_status status;

    if (db == NULL)
        return false;
    status = installation_get(db, mem, name, out);
    if (status > DB_DONE)
        (void)db_fail(db, status, err);
    db_close(db);
    return status <= DB_DONE;
}
