/*
 * db_sqlite.c - the driver for SQLite.
 *
 * The file is in WAL mode with synchronous=FULL: a commit that came back is on
 * the disk. Nothing is checkpointed by commits; see checkpoint.c.
 */
#include "store/db/db_sqlite.h"
#include "base/alloc.h"
#include "base/text/fold.h"
#include "base/text/utf8.h"
#include "base/time/clock.h"
#include "store/db/checkpoint.h"
#include "store/db/log_file.h"
#include "store/db/sql.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    CACHE_KIB = 32 << 10,       /* of the writer */
    READER_CACHE_KIB = 4 << 10, /* of each reader */
    BUSY_MS = 5000,
    RESTART_BUSY_MS = 200, /* the writer stands still meanwhile */
    PAGE_BYTES = 4096,
    GROWTH_BYTES = 256 << 10, /* by which the file grows, so that few commits let it */
    INDEX_REGION_PAGES =
        4062, /* of the log, that the first region of its index covers; others 4096 */
    INDEX_REGION_BYTES = 32 << 10,
    CUT_OPS = 1000, /* how often the time is looked at, in steps of SQLite's machine */
};

struct db_sqlite {
    struct db base;
    sqlite3 *handle;
    sqlite3_stmt *statements[SQL_COUNT];
    bool open[SQL_COUNT];
    int64_t log_pages;
    int64_t cut_at_us;     /* by the monotonic clock; 0 = never */
    bool is_unread;        /* DB_READ_LATER: its schema takes memory once it is used */
    sqlite3_stmt *writing; /* the rows of a whole table: table_sqlite.c */
};

static struct db_sqlite *sqlite_of(struct db *db)
{
    return (struct db_sqlite *)db;
}

/*
 * Whether a failure of a file means that there is no room. A failed sync never
 * does: what it leaves on the disk is not known.
 */
static bool is_no_space(sqlite3 *handle, int code)
{
    int cause = sqlite3_system_errno(handle);

    switch (code) {
    case SQLITE_IOERR_SHMSIZE: /* the index of the log cannot grow; its cause is not kept */
        return true;
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_SHMOPEN:
    case SQLITE_CANTOPEN:
        return cause == ENOSPC || cause == EDQUOT;
    default:
        return false;
    }
}

static enum db_status sqlite_status(sqlite3 *handle, int code)
{
    if (is_no_space(handle, code))
        return DB_FULL;
    switch (code & 0xff) {
    case SQLITE_ROW:
        return DB_ROW;
    case SQLITE_OK:
    case SQLITE_DONE:
        return DB_DONE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return DB_BUSY;
    case SQLITE_FULL:
        return DB_FULL;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return DB_READ_ONLY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return DB_CORRUPT;
    case SQLITE_INTERRUPT:
        return DB_CUT;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL:
        return DB_IO;
    case SQLITE_NOMEM:
        PANIC("out of memory");
    case SQLITE_CONSTRAINT:
        return code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY ||
                       code == SQLITE_CONSTRAINT_ROWID
                   ? DB_UNIQUE
                   : DB_REFUSED;
    default:
        return DB_REFUSED;
    }
}

/* What `code` means; a failure's words are kept, since later calls overwrite them. */
static enum db_status note(struct db_sqlite *db, int code)
{
    enum db_status status = sqlite_status(db->handle, code);

    if (status > DB_DONE)
        (void)snprintf(db->base.message, sizeof(db->base.message), "SQLite: %s (%d)",
                       sqlite3_errmsg(db->handle), sqlite3_extended_errcode(db->handle));
    return status;
}

struct sqlite3 *db_sqlite_handle(struct db *db)
{
    return sqlite_of(db)->handle;
}

enum db_status db_sqlite_status(struct db *db, int code)
{
    return note(sqlite_of(db), code);
}

struct sqlite3_stmt **db_sqlite_writing(struct db *db)
{
    return &sqlite_of(db)->writing;
}

static int bind(sqlite3_stmt *statement, int number, const struct db_value *v)
{
    switch (v->kind) {
    case DB_NULL:
        return sqlite3_bind_null(statement, number);
    case DB_INT:
        return sqlite3_bind_int64(statement, number, v->i);
    case DB_TEXT:
        /* A NULL pointer would bind NULL. */
        return sqlite3_bind_text64(statement, number, v->text.len == 0 ? "" : v->text.ptr,
                                   v->text.len, SQLITE_STATIC, SQLITE_UTF8);
    }
    PANIC("unknown kind of parameter");
}

static enum db_status prepare_to_read(struct db_sqlite *db);

static enum db_status sqlite_prepare(struct db_sqlite *db, enum sql sql)
{
    enum db_status status = db->is_unread ? prepare_to_read(db) : DB_DONE;

    if (status != DB_DONE)
        return status;
    db->is_unread = false;
    return note(db, sqlite3_prepare_v3(db->handle, sql_for_sqlite(sql), -1,
                                       SQLITE_PREPARE_PERSISTENT, &db->statements[sql], NULL));
}

static enum db_status sqlite_run(struct db *base, enum sql sql, const struct db_value *params,
                                 unsigned count)
{
    struct db_sqlite *db = sqlite_of(base);
    sqlite3_stmt *statement = db->statements[sql];
    int code;

    ASSERT(!db->open[sql] && count <= DB_PARAMS_MAX);
    if (UNLIKELY(statement == NULL)) {
        enum db_status status = sqlite_prepare(db, sql);

        if (status != DB_DONE)
            return status;
        statement = db->statements[sql];
    }
    for (unsigned i = 0; i < count; i++) {
        code = bind(statement, (int)i + 1, &params[i]);
        if (code != SQLITE_OK)
            return note(db, code);
    }
    db->open[sql] = true;
    return note(db, sqlite3_step(statement));
}

static enum db_status sqlite_next(struct db *base, enum sql sql)
{
    struct db_sqlite *db = sqlite_of(base);

    ASSERT(db->open[sql]);
    return note(db, sqlite3_step(db->statements[sql]));
}

static void sqlite_end(struct db *base, enum sql sql)
{
    struct db_sqlite *db = sqlite_of(base);

    if (db->open[sql])
        sqlite3_reset(db->statements[sql]);
    db->open[sql] = false;
}

static int64_t sqlite_column_int(struct db *base, enum sql sql, unsigned column)
{
    return sqlite3_column_int64(sqlite_of(base)->statements[sql], (int)column);
}

static struct str sqlite_column_text(struct db *base, enum sql sql, unsigned column)
{
    sqlite3_stmt *statement = sqlite_of(base)->statements[sql];
    const unsigned char *text = sqlite3_column_text(statement, (int)column);

    if (text == NULL)
        return STR_NONE;
    return str_from((const char *)text, (size_t)sqlite3_column_bytes(statement, (int)column));
}

static int64_t sqlite_changes(struct db *base)
{
    return sqlite3_changes64(sqlite_of(base)->handle);
}

static enum db_status sqlite_script(struct db *base, const char *text)
{
    return note(sqlite_of(base), sqlite3_exec(sqlite_of(base)->handle, text, NULL, NULL, NULL));
}

static enum db_status sqlite_reconnect(struct db *base)
{
    (void)base;
    return DB_DONE; /* a file is never lost: its failures are DB_IO */
}

static int cut_when_late(void *context)
{
    const struct db_sqlite *db = context;

    return clock_mono_us(&clock_system) >= db->cut_at_us;
}

static void sqlite_allow_us(struct db *base, int64_t us)
{
    struct db_sqlite *db = sqlite_of(base);

    if (us == 0) {
        sqlite3_progress_handler(db->handle, 0, NULL, NULL);
        return;
    }
    db->cut_at_us = clock_mono_us(&clock_system) + us;
    sqlite3_progress_handler(db->handle, CUT_OPS, cut_when_late, db);
}

static void sqlite_close(struct db *base)
{
    struct db_sqlite *db = sqlite_of(base);

    for (unsigned i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(db->statements[i]);
    sqlite3_finalize(db->writing);
    sqlite3_close(db->handle);
    free(db);
}

/* Each row is written at once: there is no round trip to be saved. */
static enum db_status sqlite_put(struct db *base, enum sql sql, const struct db_value *params,
                                 unsigned count)
{
    enum db_status status = db_exec(base, sql, params, count);

    if (status == DB_DONE && sql_is_exact(sql) && sqlite_changes(base) == 0) {
        (void)snprintf(base->message, sizeof(base->message), "SQLite: a row is there already");
        return DB_CONFLICT;
    }
    return status;
}

/* Let the file have `bytes`, or some more: in large pieces where there is space for them. */
static bool file_grow(struct db_sqlite *db, int64_t bytes)
{
    static const int pieces[] = {GROWTH_BYTES, PAGE_BYTES};
    sqlite3_int64 size = bytes;
    int code = SQLITE_FULL, none = 0;

    for (size_t i = 0; i < ARRAY_SIZE(pieces) && code != SQLITE_OK; i++) {
        int piece = pieces[i];

        (void)sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &piece);
        code = sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_SIZE_HINT, &size);
    }
    (void)sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &none);
    return code == SQLITE_OK;
}

/*
 * The file has the space of every page that the log holds, from before the commit
 * on: moving the log into the file needs no space then, whoever has filled the
 * volume meanwhile, and the log can be truncated. A file that cannot grow refuses
 * the transaction. What it has too much goes when all of the log was moved.
 */
static bool file_covers_log(struct db_sqlite *db)
{
    const char *name = sqlite3_db_filename(db->handle, "main");
    struct stat file;
    int64_t bytes;

    if (name == NULL || stat(name, &file) != 0 ||
        sqlite_run(&db->base, SQL_PAGE_COUNT, DB_NO_PARAMS) != DB_ROW) {
        sqlite_end(&db->base, SQL_PAGE_COUNT);
        return true; /* the commit itself finds out */
    }
    bytes = sqlite_column_int(&db->base, SQL_PAGE_COUNT, 0) * PAGE_BYTES;
    sqlite_end(&db->base, SQL_PAGE_COUNT);
    return bytes <= (int64_t)file.st_size || file_grow(db, bytes);
}

static enum db_status sqlite_flush(struct db *base, bool commits)
{
    if (!commits)
        return DB_DONE;
    if (!file_covers_log(sqlite_of(base))) {
        (void)snprintf(base->message, sizeof(base->message),
                       "SQLite: the file could not grow by what is in its log");
        return DB_FULL;
    }
    return db_exec(base, SQL_COMMIT, DB_NO_PARAMS);
}

static void sqlite_drop(struct db *base)
{
    (void)base;
}

static enum db_status sqlite_first(struct db *base, enum sql sql)
{
    (void)base;
    (void)sql;
    PANIC("nothing is gathered from a file");
}

static const struct db_ops sqlite_ops = {
    .put = sqlite_put,
    .queue = db_exec,
    .flush = sqlite_flush,
    .drop = sqlite_drop,
    .first = sqlite_first,
    .run = sqlite_run,
    .stream = sqlite_run,
    .next = sqlite_next,
    .end = sqlite_end,
    .column_int = sqlite_column_int,
    .column_text = sqlite_column_text,
    .changes = sqlite_changes,
    .script = sqlite_script,
    .reconnect = sqlite_reconnect,
    .allow_us = sqlite_allow_us,
    .close = sqlite_close,
};

/* --- opening --- */

static int count_log_pages(void *context, sqlite3 *handle, const char *name, int pages)
{
    struct db_sqlite *db = context;

    (void)handle;
    (void)name;
    db->log_pages = pages;
    return SQLITE_OK;
}

static const char *writing_vfs; /* NULL: the system's */

static void configure_library(void)
{
    /* Statistics of memory take a global lock in every allocation. */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    writing_vfs = log_file_register();
}

/*
 * Let the index of the log cover `pages` of it: a commit whose pages are in the
 * log already must not find that the index cannot grow.
 */
static enum db_status cover_log(struct db_sqlite *db, int64_t pages)
{
    volatile void *region;
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);

    for (int i = 0; code == SQLITE_OK && i <= pages / INDEX_REGION_PAGES; i++)
        code = file->pMethods->xShmMap(file, i, INDEX_REGION_BYTES, 1, &region);
    return code == SQLITE_IOERR_SHMSIZE ? DB_FULL : code == SQLITE_OK ? DB_DONE : DB_IO;
}

/* The pages of the log that its file has room for: they are written without asking for space. */
static int64_t log_file_pages(const struct db_sqlite *db)
{
    const char *name = sqlite3_filename_wal(sqlite3_db_filename(db->handle, "main"));
    struct stat s;

    return stat(name, &s) == 0 ? (int64_t)s.st_size / PAGE_BYTES : 0;
}

void db_sqlite_cover_log(struct db *db)
{
    (void)cover_log(sqlite_of(db), CHECKPOINT_RESTART_PAGES + CHECKPOINT_PAGES);
}

/* The first of these reads the file, so damage shows here. */
static enum db_status prepare_to_write(struct db_sqlite *db, bool create)
{
    char cache[64];
    enum db_status status = DB_DONE;

    /* Migrations change constraints in the text of a table; a build of SQLite may forbid that. */
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    if (create)
        status = sqlite_script(&db->base, "PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2");
    if (status == DB_DONE)
        status = sqlite_script(&db->base, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                          "PRAGMA wal_autocheckpoint = 0;"
                                          "PRAGMA temp_store = MEMORY;"
                                          "PRAGMA secure_delete = FAST;"
                                          "SELECT count(*) FROM sqlite_schema");
    (void)snprintf(cache, sizeof(cache), "PRAGMA cache_size = -%d", CACHE_KIB);
    if (status == DB_DONE)
        status = sqlite_script(&db->base, cache);
    sqlite3_wal_hook(db->handle, count_log_pages, db);
    if (status == DB_DONE) {
        status = cover_log(db, log_file_pages(db));
        if (status != DB_DONE)
            (void)snprintf(db->base.message, sizeof(db->base.message),
                           "SQLite: the index of the log cannot grow");
    }
    if (status == DB_DONE)
        db_sqlite_cover_log(&db->base);
    return status;
}

static enum db_status prepare_to_read(struct db_sqlite *db)
{
    char cache[64];
    enum db_status status = sqlite_script(&db->base, "PRAGMA query_only = 1;"
                                                     "PRAGMA temp_store = MEMORY;"
                                                     "SELECT count(*) FROM sqlite_schema");

    (void)snprintf(cache, sizeof(cache), "PRAGMA cache_size = -%d", READER_CACHE_KIB);
    return status == DB_DONE ? sqlite_script(&db->base, cache) : status;
}

/* fold(text): without the case of its letters, as fold.h has it; what is no text stays as it is. */
static void sqlite_fold(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = (const char *)sqlite3_value_text(values[0]);
    size_t len = (size_t)sqlite3_value_bytes(values[0]);
    char *copy;

    ASSERT(count == 1);
    if (text == NULL || !utf8_is_valid(str_from(text, len))) {
        sqlite3_result_value(context, values[0]);
        return;
    }
    copy = sqlite3_malloc64(len + 1);
    alloc_check(copy);
    memcpy(copy, text, len);
    fold_in_place(copy, len);
    sqlite3_result_text64(context, copy, len, sqlite3_free, SQLITE_UTF8);
}

struct db *db_sqlite_open(struct str path, enum db_mode mode, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct db_sqlite *db = ALLOC_NEW(struct db_sqlite);
    char *name = alloc_text(path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    enum db_status status;
    struct err cause;
    int code;

    pthread_once(&once, configure_library);
    db->base.ops = &sqlite_ops;
    if (mode == DB_CREATE)
        flags |= SQLITE_OPEN_CREATE;
    code = sqlite3_open_v2(name, &db->handle, flags, mode <= DB_READ_LATER ? NULL : writing_vfs);
    free(name);
    alloc_check(db->handle);
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_timeout(db->handle, BUSY_MS);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db->handle, "fold", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                          NULL, sqlite_fold, NULL, NULL, NULL);
    status = note(db, code);
    db->is_unread = mode == DB_READ_LATER;
    if (status == DB_DONE && mode == DB_READ)
        status = prepare_to_read(db);
    else if (status == DB_DONE && mode != DB_READ_LATER)
        status = prepare_to_write(db, mode == DB_CREATE);
    if (status == DB_DONE)
        return &db->base;
    (void)db_fail(&db->base, status, &cause);
    (void)err_set(err, cause.code, "%.*s: %pS", STR_ARG(path), ERR_ARG(&cause));
    sqlite_close(&db->base);
    return NULL;
}

int64_t db_sqlite_log_pages(const struct db *db)
{
    return ((const struct db_sqlite *)db)->log_pages;
}

enum db_status db_sqlite_checkpoint(struct db *db, enum checkpoint_mode mode)
{
    static const int modes[] = {[CHECKPOINT_BESIDE] = SQLITE_CHECKPOINT_PASSIVE,
                                [CHECKPOINT_RESTART] = SQLITE_CHECKPOINT_RESTART,
                                [CHECKPOINT_TRUNCATE] = SQLITE_CHECKPOINT_TRUNCATE};
    struct db_sqlite *file = sqlite_of(db);
    sqlite3_file *log = NULL;
    enum db_status status;

    sqlite3_busy_timeout(file->handle, RESTART_BUSY_MS);
    (void)sqlite3_file_control(file->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    log_file_yield(log, mode == CHECKPOINT_BESIDE);
    status = note(file, sqlite3_wal_checkpoint_v2(file->handle, NULL, modes[mode], NULL, NULL));
    sqlite3_busy_timeout(file->handle, BUSY_MS);
    return status;
}

enum db_status db_sqlite_copy(struct db *db, struct str path)
{
    struct db_sqlite *file = sqlite_of(db);
    sqlite3_stmt *statement;
    enum db_status status =
        note(file, sqlite3_prepare_v2(file->handle, "VACUUM INTO ?1", -1, &statement, NULL));
    struct db_value name = db_text(path);

    if (status != DB_DONE)
        return status;
    status = note(file, bind(statement, 1, &name));
    if (status == DB_DONE)
        status = note(file, sqlite3_step(statement));
    sqlite3_finalize(statement);
    return status;
}
