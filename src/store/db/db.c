/* db.c - what drivers have in common. */
#include "store/db/db.h"

#include "base/log.h"
#include "base/time/clock.h"

#include <stdatomic.h>
#include <unistd.h>

struct str db_column_copy(struct db *db, struct arena *mem, enum sql sql, unsigned column)
{
    struct str text = db_column_text(db, sql, column);

    return text.len == 0 ? STR_NONE : str_copy(mem, text);
}

enum db_status db_exec(struct db *db, enum sql sql, const struct db_value *params, unsigned count)
{
    enum db_status status = db_run(db, sql, params, count);

    while (status == DB_ROW)
        status = db_next(db, sql);
    db_end(db, sql);
    return status;
}

static const char *describe(enum db_status status)
{
    switch (status) {
    case DB_ROW:
    case DB_DONE:
        return "no error";
    case DB_UNIQUE:
        return "already exists";
    case DB_CONFLICT:
        return "conflict with another transaction";
    case DB_BUSY:
        return "the database is locked by another program";
    case DB_LOCKED:
        return "another session has locked what is to be changed";
    case DB_FULL:
        return "no space left for the database: free some and work goes on";
    case DB_READ_ONLY:
        return "the database is read-only: make its folder and files writable";
    case DB_CORRUPT:
        return "the database is damaged: restore a backup";
    case DB_LOST:
        return "the connection to the database is lost";
    case DB_CUT:
        return "the database took too long to answer";
    case DB_IO:
        return "the database cannot be read or written";
    case DB_FENCED:
        return "other nodes took this one for dead; it goes on under another epoch";
    case DB_REFUSED:
        return "the database refused a statement";
    }
    PANIC("unknown status");
}

bool db_fail(const struct db *db, enum db_status status, struct err *err)
{
    bool overloaded = status == DB_CUT || status == DB_BUSY || status == DB_LOCKED ||
                      status == DB_LOST || status == DB_CONFLICT || status == DB_FULL ||
                      status == DB_FENCED;

    return err_set(err, overloaded ? ERR_OVERLOADED : ERR_IO, "%s (%s)", describe(status),
                   db->message);
}

void db_end_process(const struct db *db, enum db_status status)
{
    struct err err;

    (void)db_fail(db, status, &err);
    log_write(LOG_ERROR, "the store failed; ending so that a restart can tell what is durable",
              LOG_FIELDS(log_err("error", &err)));
    _exit(DB_EXIT);
}

void db_note_lost(_Atomic int64_t *lost_since_us)
{
    int64_t never = 0;

    (void)atomic_compare_exchange_strong(lost_since_us, &never, clock_mono_us(&clock_system));
}

void db_note_connected(_Atomic int64_t *lost_since_us)
{
    if (atomic_load_explicit(lost_since_us, memory_order_relaxed) != 0)
        atomic_store(lost_since_us, 0);
}
