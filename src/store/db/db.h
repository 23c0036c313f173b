/*
 * db.h - a connection to a database, as thin as it can be.
 *
 * Everything that is SQL stands in sql.def; a driver runs its rows by number,
 * each prepared once per connection. A statement of one number is open at most
 * once per connection:
 *
 *     if (db_run(db, SQL_X, DB_PARAMS(db_int(row), db_text(id))) == DB_ROW)
 *         n = db_column_int(db, SQL_X, 0);
 *     db_end(db, SQL_X);
 *
 * A connection belongs to one thread at a time. Drivers: db_sqlite.c,
 * db_postgres.c. Not for deciding anything: what a failure means for a batch
 * is the writer's business.
 */
#ifndef PAWL_STORE_DB_DB_H
#define PAWL_STORE_DB_DB_H

#include "base/err.h"
#include "store/db/sql_parts.h" /* rows that are several statements */

enum sql {
#define SQL(symbol, text) SQL_##symbol,
#define SQL_SQLITE(symbol, text) SQL_##symbol,
#define SQL_POSTGRES(symbol, text)
#define SQL_ROWS(symbol, exact, types, sqlite, postgres) SQL_##symbol,
#include "store/db/sql.def"
#undef SQL
#undef SQL_SQLITE
#undef SQL_POSTGRES
#undef SQL_ROWS
    SQL_COUNT
};

/* How a call ended. Everything after DB_DONE is a failure; db->message says more. */
enum db_status {
    DB_ROW,       /* a row can be read */
    DB_DONE,      /* no (more) rows */
    DB_UNIQUE,    /* a unique index refused it */
    DB_CONFLICT,  /* serialisation or deadlock: the same transaction may succeed when repeated */
    DB_BUSY,      /* locked by another connection */
    DB_LOCKED,    /* another session has a lock: of the statement's own rows or keys */
    DB_FULL,      /* no space left */
    DB_READ_ONLY, /* may not be written */
    DB_CORRUPT,   /* the file is damaged, or no database */
    DB_LOST,      /* the connection broke; whether a commit happened is not known */
    DB_CUT,       /* took longer than it may */
    DB_IO,        /* the system failed to read, write or sync */
    DB_FENCED,    /* the epoch of this node is over: see store/peers.h */
    DB_REFUSED,   /* any other error of the statement */
};

enum db_value_kind { DB_NULL, DB_INT, DB_TEXT };

/* A parameter. Text must live until the statement is ended. */
struct db_value {
    enum db_value_kind kind;
    union {
        int64_t i;
        struct str text;
    };
};

static inline struct db_value db_null(void)
{
    return (struct db_value){.kind = DB_NULL};
}

static inline struct db_value db_int(int64_t i)
{
    return (struct db_value){.kind = DB_INT, .i = i};
}

static inline struct db_value db_text(struct str s)
{
    return (struct db_value){.kind = DB_TEXT, .text = s};
}

/* Nothing is NULL: empty texts, and times that are 0. */
static inline struct db_value db_text_or_null(struct str s)
{
    return s.len == 0 ? db_null() : db_text(s);
}

static inline struct db_value db_some_int(int64_t i)
{
    return i == 0 ? db_null() : db_int(i);
}

enum { DB_PARAMS_MAX = 40 };

#define DB_PARAMS(...)                                                                             \
    ((const struct db_value[]){__VA_ARGS__}),                                                      \
        (unsigned)(sizeof((const struct db_value[]){__VA_ARGS__}) / sizeof(struct db_value))
#define DB_NO_PARAMS NULL, 0

struct db;

struct db_ops {
    enum db_status (*run)(struct db *db, enum sql sql, const struct db_value *params,
                          unsigned count);
    enum db_status (*stream)(struct db *db, enum sql sql, const struct db_value *params,
                             unsigned count);
    enum db_status (*next)(struct db *db, enum sql sql);
    void (*end)(struct db *db, enum sql sql);
    int64_t (*column_int)(struct db *db, enum sql sql, unsigned column);
    struct str (*column_text)(struct db *db, enum sql sql, unsigned column);
    int64_t (*changes)(struct db *db);
    enum db_status (*script)(struct db *db, const char *text);
    enum db_status (*reconnect)(struct db *db);
    void (*allow_us)(struct db *db, int64_t us);
    void (*close)(struct db *db);
    enum db_status (*put)(struct db *db, enum sql sql, const struct db_value *params,
                          unsigned count);
    enum db_status (*queue)(struct db *db, enum sql sql, const struct db_value *params,
                            unsigned count);
    enum db_status (*flush)(struct db *db, bool commits);
    void (*drop)(struct db *db);
    enum db_status (*first)(struct db *db, enum sql sql);
};

struct db {
    const struct db_ops *ops;
    bool has_sets;     /* a statement costs a round trip: rows are gathered and written together */
    char message[200]; /* of the last failure, for people */
};

/* Run a statement up to its first row, or to its end. */
static inline enum db_status db_run(struct db *db, enum sql sql, const struct db_value *params,
                                    unsigned count)
{
    return db->ops->run(db, sql, params, count);
}

/*
 * The same for rows that may be large: they come one by one and are never in
 * memory together. Nothing else may run on the connection before db_end(), which
 * may leave the rest unread.
 */
static inline enum db_status db_stream(struct db *db, enum sql sql, const struct db_value *params,
                                       unsigned count)
{
    return db->ops->stream(db, sql, params, count);
}

/* The next row. */
static inline enum db_status db_next(struct db *db, enum sql sql)
{
    return db->ops->next(db, sql);
}

/* Leave a statement; what its columns pointed to is gone. Harmless when it is not open. */
static inline void db_end(struct db *db, enum sql sql)
{
    db->ops->end(db, sql);
}

/* Columns of the current row, from 0. NULL is 0 or empty. Texts hold until next or end. */
static inline int64_t db_column_int(struct db *db, enum sql sql, unsigned column)
{
    return db->ops->column_int(db, sql, column);
}

static inline struct str db_column_text(struct db *db, enum sql sql, unsigned column)
{
    return db->ops->column_text(db, sql, column);
}

/* A text of the current row, copied; STR_NONE when it is NULL or empty. */
struct str db_column_copy(struct db *db, struct arena *mem, enum sql sql, unsigned column);

/* How many rows the last INSERT, UPDATE or DELETE changed. */
static inline int64_t db_changes(struct db *db)
{
    return db->ops->changes(db);
}

/* Run several statements without parameters, for migrations. */
static inline enum db_status db_script(struct db *db, const char *text)
{
    return db->ops->script(db, text);
}

/* Make a new connection in place of one that is lost. An open transaction is gone. */
static inline enum db_status db_reconnect(struct db *db)
{
    return db->ops->reconnect(db);
}

/* Cut whatever runs longer than `us` from now on with DB_CUT; 0 = never. */
static inline void db_allow_us(struct db *db, int64_t us)
{
    db->ops->allow_us(db, us);
}

/*
 * Give a SQL_ROWS statement one more row; it is written when db_flush() comes at
 * the latest. Texts are copied where they must wait. DB_CONFLICT, from either
 * of them: an exact statement did not write a row.
 */
static inline enum db_status db_put(struct db *db, enum sql sql, const struct db_value *params,
                                    unsigned count)
{
    return db->ops->put(db, sql, params, count);
}

/* Run a statement now or with db_flush(), before the rows that were put. */
static inline enum db_status db_queue(struct db *db, enum sql sql, const struct db_value *params,
                                      unsigned count)
{
    return db->ops->queue(db, sql, params, count);
}

/* Run all that waits. DB_DONE, or the first failure. */
static inline enum db_status db_flush(struct db *db)
{
    return db->ops->flush(db, false);
}

/*
 * Run all that waits and commit, in one round trip. After DB_LOST nobody knows
 * whether it is committed; after any other failure it is not.
 */
static inline enum db_status db_commit(struct db *db)
{
    return db->ops->flush(db, true);
}

/* Forget the rows that wait. */
static inline void db_drop(struct db *db)
{
    db->ops->drop(db);
}

/*
 * Where has_sets: the first row that a flushed statement answered, as after
 * db_run(). It must be left with db_end().
 */
static inline enum db_status db_first(struct db *db, enum sql sql)
{
    return db->ops->first(db, sql);
}

static inline void db_close(struct db *db)
{
    db->ops->close(db);
}

/* Run a statement that answers no rows, and end it. DB_DONE, or a failure. */
enum db_status db_exec(struct db *db, enum sql sql, const struct db_value *params, unsigned count);

/* Fill *err from a failure and answer false. */
bool db_fail(const struct db *db, enum db_status status, struct err *err);

/*
 * End the process with status DB_EXIT after a line in the log: a file could not
 * be read, written or synced, and only the ordinary start can tell what of it
 * is durable.
 */
enum { DB_EXIT = 3 };
NORETURN void db_end_process(const struct db *db, enum db_status status);

/*
 * Since when no connection could be made again, by the monotonic clock; 0: one
 * works. Called by whichever thread finds it out; see struct store.
 */
void db_note_lost(_Atomic int64_t *lost_since_us);
void db_note_connected(_Atomic int64_t *lost_since_us);

/* --- drivers --- */

enum db_mode {
    DB_READ,
    DB_READ_LATER, /* SQLite: the same, but the file is read when it is first used */
    DB_WRITE,
    DB_CREATE,
    DB_WAIT, /* PostgreSQL: as DB_WRITE, but statements wait for what others pass over */
};

/* Open an SQLite file; NULL and *err. DB_READ connections cannot write. */
struct db *db_sqlite_open(struct str path, enum db_mode mode, struct err *err) MUST_USE;

/* How many pages the write-ahead log held after the last commit on this connection. */
int64_t db_sqlite_log_pages(const struct db *db);

/*
 * Give the index of the log the size that the longest log needs, as far as there
 * is space: so that a commit does not fail for it later.
 */
void db_sqlite_cover_log(struct db *db);

enum checkpoint_mode {
    CHECKPOINT_BESIDE,   /* others go on */
    CHECKPOINT_RESTART,  /* the next commit begins the log anew */
    CHECKPOINT_TRUNCATE, /* ... and its file is empty until then */
};

/*
 * Move pages from the log into the file. RESTART and TRUNCATE wait a little for
 * readers: DB_BUSY when they are in the way for longer.
 */
enum db_status db_sqlite_checkpoint(struct db *db, enum checkpoint_mode mode);

/* Write a copy of the whole database, as one snapshot, to a new file. */
enum db_status db_sqlite_copy(struct db *db, struct str path);

/*
 * What is known of the server behind an address, for all connections to it: see
 * db_postgres_server.h. In a data folder it is kept over starts; the folder may be empty.
 */
struct db_server;
struct db_server *db_server_new(struct str folder);
void db_server_free(struct db_server *server);

/*
 * Connect to a PostgreSQL server; NULL and *err. `name` tells its sessions apart. The address may
 * name several hosts: the first that takes writes and is the one that `server` knows. `server` may
 * be NULL for a program that connects once, and outlives the connection.
 */
struct db *db_postgres_open(struct str url, enum db_mode mode, struct str name,
                            struct db_server *server, struct err *err) MUST_USE;

/* Readable when the server has sent something that nobody asked for; -1: not connected. */
int db_postgres_fd(const struct db *db);

/* DB_ROW: *text is what another session has notified of, in `mem`; DB_DONE: there is nothing more. */
enum db_status db_postgres_notified(struct db *db, struct arena *mem, struct str *text);

#endif
