/*
 * db_postgres.h - what the parts of the driver share: db_postgres.c runs one
 * statement at a time, db_postgres_rows.c many in one pipeline;
 * db_postgres_server.h says which server may be used.
 */
#ifndef PAWL_STORE_DB_DB_POSTGRES_H
#define PAWL_STORE_DB_DB_POSTGRES_H

#include "base/buf.h"
#include "store/db/db_postgres_server.h"
#include "store/db/sql.h"

/* The rows that were put for one statement: an array for each column, its header left open. */
struct put_rows {
    struct buf columns[DB_PARAMS_MAX];
    bool has_null[DB_PARAMS_MAX];
    int32_t count;
};

/* A statement of the pipeline whose result has not come. */
struct sent {
    enum sql sql;
    bool is_prepare;
};

struct db_postgres {
    struct db base;
    PGconn *conn;
    char *url, *name;
    enum db_mode mode;
    struct postgres_hosts hosts;
    struct db_server *server; /* NULL: any */
    int64_t timeline;         /* of the server that was reached; 0: it does not tell */
    bool is_unreplicated;     /* something was committed that the standby may not have */
    bool prepared[SQL_COUNT];
    PGresult *results[SQL_COUNT]; /* of open statements */
    int rows[SQL_COUNT];          /* the current row of each */
    int64_t timeout_ms;           /* of one statement of a reader, as the session has it */
    bool is_streaming;            /* the open statement gives its rows one by one */
    int64_t changes;
    int64_t cut_at_us; /* by the monotonic clock: then nothing is run any more; 0 = never */
    struct buf params; /* the texts of the parameters */
    struct put_rows *puts[SQL_COUNT];
    size_t put_bytes;
    struct sent sent[2 * SQL_COUNT];
    unsigned sent_count;
};

static inline struct db_postgres *postgres_of(struct db *db)
{
    return (struct db_postgres *)db;
}

enum { STATEMENT_NAME_SIZE = 16 };

/* What a statement is called in its session. */
void postgres_name(enum sql sql, char out[STATEMENT_NAME_SIZE]);

/*
 * Append its text, zero-terminated: ?1 is $1, and ?* an unnest() of each column's array. On a
 * connection that waits (DB_WAIT) SKIP LOCKED and NOWAIT are left out, and locks by a number are
 * waited for.
 */
void postgres_text(const struct db_postgres *db, enum sql sql, struct buf *out);

/* Keep the first line of what the server or the library says. */
void postgres_keep_message(struct db_postgres *db, const char *text);

/*
 * Whether the session may go on: it is connected, nothing was committed in it without its standby,
 * and no server was promoted meanwhile. Else the message says what it is: DB_LOST.
 */
bool postgres_is_usable(struct db_postgres *db);

/* What a result that is a failure means; its message is kept. */
enum db_status postgres_fail(struct db_postgres *db, const PGresult *result);

/* Zero-terminated texts of all parameters in db->params; NULL where the parameter is. */
void postgres_write_params(struct db_postgres *db, const struct db_value *params, unsigned count,
                           const char *out[DB_PARAMS_MAX]);

enum db_status postgres_script(struct db *base, const char *text);

/* --- db_postgres_connect.c --- */

/*
 * Connect to a host that may be used, beginning with the one that was reached last, and say what
 * it is; `again`: a connection was lost, so that each of several hosts gets less time.
 */
enum db_status postgres_connect(struct db_postgres *db, bool again, struct postgres_identity *id);

/* Behind a pool: false when it does not leave the session to the connection. */
bool postgres_refuse_pool(struct db_postgres *db, struct err *err);

/* --- db_postgres_rows.c: see db.h --- */

enum db_status postgres_put(struct db *db, enum sql sql, const struct db_value *params,
                            unsigned count);
enum db_status postgres_queue(struct db *db, enum sql sql, const struct db_value *params,
                              unsigned count);
enum db_status postgres_flush(struct db *db, bool commits);
void postgres_drop(struct db *db);
enum db_status postgres_first(struct db *db, enum sql sql);

/* Let what was queued run, so that a statement can run alone. Rows that were put go on waiting. */
enum db_status postgres_run_queued(struct db_postgres *db);

/* Give back the memory of the rows. */
void postgres_free_rows(struct db_postgres *db);

#endif
