/*
 * db_postgres.c - the driver for PostgreSQL, through libpq.
 *
 * Prepared statements in the extended protocol, parameters and results as
 * text. A result is fetched whole: lists are limited by their statements.
 *
 * What is queued and put goes to the server in one pipeline, and its results
 * come back together: a flush is one round trip. Rows travel as one binary
 * array for each column.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/vec.h"
#include "store/sql.h"

#include <postgresql/libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

/* int8 and text, as the server numbers them. */
enum { OID_INT8 = 20, OID_TEXT = 25, ARRAY_HEADER = 20 };

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
    int32_t rows; /* that an exact statement must write; -1: whatever it does is right */
};

enum { READ_TIMEOUT_MS = 1000 }; /* as it is set in connect() */

struct db_postgres {
    struct db base;
    PGconn *conn;
    char *url, *name;
    enum db_mode mode;
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

static struct db_postgres *self(struct db *db)
{
    return (struct db_postgres *)db;
}

/* --- failures --- */

/* By SQLSTATE; a prefix stands for its class. The first that fits counts. */
static const struct {
    const char *state;
    enum db_status status;
} states[] = {
    {"23505", DB_UNIQUE}, {"40001", DB_CONFLICT}, {"40P01", DB_CONFLICT},  {"53100", DB_FULL},
    {"53", DB_BUSY},      {"55P03", DB_BUSY},     {"25006", DB_READ_ONLY}, {"57014", DB_CUT},
    {"57P", DB_LOST},     {"08", DB_LOST},        {"XX001", DB_CORRUPT},   {"XX002", DB_CORRUPT},
    {"58", DB_IO},        {"25P03", DB_LOST},
};

static enum db_status status_of_state(const char *state)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0)
            return states[i].status;
    return DB_REFUSED;
}

/* Keep the first line of what the server or the library says. */
static void keep_message(struct db_postgres *db, const char *text)
{
    (void)snprintf(db->base.message, sizeof(db->base.message), "PostgreSQL: %.*s",
                   (int)strcspn(text, "\n"), text);
}

static enum db_status fail(struct db_postgres *db, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    keep_message(db, text != NULL ? text : PQerrorMessage(db->conn));
    if (PQstatus(db->conn) != CONNECTION_OK)
        return DB_LOST;
    return state == NULL ? DB_REFUSED : status_of_state(state);
}

/* --- statements --- */

/* ?1 becomes $1. */
static void translate(const char *text, struct buf *out)
{
    for (; *text != '\0'; text++)
        buf_char(out, text[0] == '?' && text[1] >= '0' && text[1] <= '9' ? '$' : text[0]);
    buf_char(out, '\0');
}

static void name_of(enum sql sql, char out[16])
{
    (void)snprintf(out, 16, "s%u", (unsigned)sql);
}

static enum db_status prepare(struct db_postgres *db, enum sql sql)
{
    char name[16];
    struct buf text;
    PGresult *result;
    enum db_status status = DB_DONE;

    name_of(sql, name);
    buf_init(&text);
    translate(sql_for_postgres(sql), &text);
    result = PQprepare(db->conn, name, text.ptr, 0, NULL);
    buf_fini(&text);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        status = fail(db, result);
    PQclear(result);
    db->prepared[sql] = status == DB_DONE;
    return status;
}

/* Zero-terminated texts of all parameters; NULL where the parameter is. */
static void write_params(struct buf *room, const struct db_value *params, unsigned count,
                         const char *out[DB_PARAMS_MAX])
{
    size_t places[DB_PARAMS_MAX];

    ASSERT(count <= DB_PARAMS_MAX);
    buf_clear(room);
    for (unsigned i = 0; i < count; i++) {
        places[i] = room->len;
        if (params[i].kind == DB_INT)
            buf_printf(room, "%lld", (long long)params[i].i);
        else if (params[i].kind == DB_TEXT)
            buf_str(room, params[i].text);
        buf_char(room, '\0');
    }
    for (unsigned i = 0; i < count; i++)
        out[i] = params[i].kind == DB_NULL ? NULL : room->ptr + places[i];
}

static bool is_late(const struct db_postgres *db)
{
    return db->cut_at_us != 0 && clock_mono_us(&clock_system) >= db->cut_at_us;
}

/* --- rows, and the pipeline --- */

static void add_be32(struct buf *out, int32_t n)
{
    uint32_t u = (uint32_t)n;
    char bytes[4] = {(char)(u >> 24), (char)(u >> 16), (char)(u >> 8), (char)u};

    buf_add(out, bytes, 4);
}

static void add_element(struct buf *out, const struct db_value *v, bool *has_null)
{
    switch (v->kind) {
    case DB_NULL:
        add_be32(out, -1);
        *has_null = true;
        return;
    case DB_INT:
        add_be32(out, 8);
        add_be32(out, (int32_t)((uint64_t)v->i >> 32));
        add_be32(out, (int32_t)(uint32_t)v->i);
        return;
    case DB_TEXT:
        add_be32(out, (int32_t)v->text.len);
        buf_str(out, v->text);
        return;
    }
    PANIC("unknown kind of parameter");
}

/* {dimensions, has nulls, type of the elements, how many, the first one's number} */
static void write_header(struct buf *column, char type, bool has_null, int32_t count)
{
    int32_t fields[] = {1, has_null, type == 'i' ? OID_INT8 : OID_TEXT, count, 1};

    for (unsigned i = 0; i < 5; i++)
        for (unsigned k = 0; k < 4; k++)
            column->ptr[4 * i + k] = (char)((uint32_t)fields[i] >> (24 - 8 * k));
}

static void clear_rows(struct put_rows *p, unsigned columns)
{
    static const char header[ARRAY_HEADER] = {0};

    for (unsigned i = 0; i < columns; i++) {
        buf_clear(&p->columns[i]);
        buf_add(&p->columns[i], header, ARRAY_HEADER);
        p->has_null[i] = false;
    }
    p->count = 0;
}

static struct put_rows *rows_of(struct db_postgres *db, enum sql sql, unsigned columns)
{
    struct put_rows *p = db->puts[sql];

    if (p != NULL)
        return p;
    p = calloc(1, sizeof(*p));
    if (p == NULL)
        PANIC("out of memory");
    for (unsigned i = 0; i < columns; i++)
        buf_init(&p->columns[i]);
    clear_rows(p, columns);
    db->puts[sql] = p;
    return p;
}

static void note_sent(struct db_postgres *db, enum sql sql, bool is_prepare, int32_t rows)
{
    ASSERT(db->sent_count < sizeof(db->sent) / sizeof(*db->sent));
    db->sent[db->sent_count++] = (struct sent){.sql = sql, .is_prepare = is_prepare, .rows = rows};
}

/* Add a statement to the pipeline, and before its first use how it is prepared. */
static enum db_status send(struct db_postgres *db, enum sql sql, unsigned count,
                           const char *const *values, const int *lengths, int32_t rows)
{
    int formats[DB_PARAMS_MAX];
    char name[16];
    struct buf text;
    bool ok = PQpipelineStatus(db->conn) != PQ_PIPELINE_OFF || PQenterPipelineMode(db->conn) == 1;

    for (unsigned i = 0; i < count; i++)
        formats[i] = lengths != NULL;
    name_of(sql, name);
    if (ok && !db->prepared[sql]) {
        buf_init(&text);
        translate(sql_for_postgres(sql), &text);
        ok = PQsendPrepare(db->conn, name, text.ptr, 0, NULL) == 1;
        buf_fini(&text);
        note_sent(db, sql, true, -1);
        db->prepared[sql] = ok;
    }
    ok = ok && PQsendQueryPrepared(db->conn, name, (int)count, values, lengths,
                                   lengths != NULL ? formats : NULL, 0) == 1;
    if (!ok) {
        keep_message(db, PQerrorMessage(db->conn));
        return DB_LOST;
    }
    note_sent(db, sql, false, rows);
    return DB_DONE;
}

static enum db_status postgres_queue(struct db *base, enum sql sql, const struct db_value *params,
                                     unsigned count)
{
    struct db_postgres *db = self(base);
    const char *texts[DB_PARAMS_MAX];

    if (PQstatus(db->conn) != CONNECTION_OK) {
        keep_message(db, "not connected");
        return DB_LOST;
    }
    write_params(&db->params, params, count, texts);
    return send(db, sql, count, texts, NULL, -1);
}

static enum db_status postgres_flush(struct db *base);

static enum db_status postgres_put(struct db *base, enum sql sql, const struct db_value *params,
                                   unsigned count)
{
    enum { PUT_BYTES_MAX = 16 << 20 }; /* more does not wait */
    struct db_postgres *db = self(base);
    struct put_rows *p = rows_of(db, sql, count);

    ASSERT(strlen(sql_types(sql)) == count);
    for (unsigned i = 0; i < count; i++) {
        size_t before = p->columns[i].len;

        ASSERT(params[i].kind == DB_NULL ||
               (params[i].kind == DB_INT) == (sql_types(sql)[i] == 'i'));
        add_element(&p->columns[i], &params[i], &p->has_null[i]);
        db->put_bytes += p->columns[i].len - before;
    }
    p->count++;
    return db->put_bytes > PUT_BYTES_MAX ? postgres_flush(base) : DB_DONE;
}

static void postgres_drop(struct db *base)
{
    struct db_postgres *db = self(base);

    for (unsigned sql = 0; sql < SQL_COUNT; sql++)
        if (db->puts[sql] != NULL)
            clear_rows(db->puts[sql], (unsigned)strlen(sql_types((enum sql)sql)));
    db->put_bytes = 0;
}

static enum db_status send_rows(struct db_postgres *db, enum sql sql)
{
    struct put_rows *p = db->puts[sql];
    const char *types = sql_types(sql), *values[DB_PARAMS_MAX];
    int lengths[DB_PARAMS_MAX];
    unsigned count = (unsigned)strlen(types);

    for (unsigned i = 0; i < count; i++) {
        write_header(&p->columns[i], types[i], p->has_null[i], p->count);
        values[i] = p->columns[i].ptr;
        lengths[i] = (int)p->columns[i].len;
    }
    return send(db, sql, count, values, lengths, sql_is_exact(sql) ? p->count : -1);
}

/* What one statement of the pipeline has come to. */
static enum db_status take_result(struct db_postgres *db, const struct sent *sent, PGresult *result)
{
    ExecStatusType type = PQresultStatus(result);
    enum db_status status = DB_DONE;

    if (type != PGRES_COMMAND_OK && type != PGRES_TUPLES_OK) {
        if (sent->is_prepare)
            db->prepared[sent->sql] = false;
        status = type == PGRES_PIPELINE_ABORTED ? DB_REFUSED : fail(db, result);
    } else if (sent->rows >= 0 && strtoll(PQcmdTuples(result), NULL, 10) != sent->rows) {
        keep_message(db, "a row was written by another node first");
        status = DB_CONFLICT;
    } else if (type == PGRES_TUPLES_OK && !sent->is_prepare) {
        PQclear(db->results[sent->sql]);
        db->results[sent->sql] = result;
        db->rows[sent->sql] = 0;
        return DB_DONE;
    }
    PQclear(result);
    return status;
}

static enum db_status take_results(struct db_postgres *db)
{
    enum db_status first = DB_DONE;
    PGresult *result;

    for (unsigned i = 0; i < db->sent_count; i++) {
        enum db_status status;

        result = PQgetResult(db->conn);
        if (result == NULL || PQstatus(db->conn) != CONNECTION_OK) {
            keep_message(db, PQerrorMessage(db->conn));
            PQclear(result);
            return DB_LOST;
        }
        status = take_result(db, &db->sent[i], result);
        if (first == DB_DONE)
            first = status;
        while ((result = PQgetResult(db->conn)) != NULL)
            PQclear(result);
    }
    result = PQgetResult(db->conn);
    if (PQresultStatus(result) != PGRES_PIPELINE_SYNC || PQexitPipelineMode(db->conn) != 1) {
        if (first == DB_DONE)
            keep_message(db, PQerrorMessage(db->conn));
        first = DB_LOST;
    }
    PQclear(result);
    return first;
}

static enum db_status postgres_flush(struct db *base)
{
    struct db_postgres *db = self(base);
    enum db_status status = DB_DONE;

    if (PQstatus(db->conn) != CONNECTION_OK) {
        keep_message(db, "not connected");
        return DB_LOST;
    }
    for (unsigned sql = 0; sql < SQL_COUNT && status == DB_DONE; sql++)
        if (db->puts[sql] != NULL && db->puts[sql]->count > 0)
            status = send_rows(db, (enum sql)sql);
    if (status == DB_DONE && db->sent_count > 0)
        status = PQpipelineSync(db->conn) == 1 ? take_results(db) : DB_LOST;
    db->sent_count = 0;
    postgres_drop(base);
    return status;
}

static enum db_status postgres_first(struct db *base, enum sql sql)
{
    struct db_postgres *db = self(base);

    return db->results[sql] != NULL && PQntuples(db->results[sql]) > 0 ? DB_ROW : DB_DONE;
}

static int64_t changed_rows(PGresult *result)
{
    return strtoll(PQcmdTuples(result), NULL, 10);
}

static enum db_status postgres_run(struct db *base, enum sql sql, const struct db_value *params,
                                   unsigned count)
{
    struct db_postgres *db = self(base);
    const char *texts[DB_PARAMS_MAX];
    char name[16];
    PGresult *result;
    enum db_status status = DB_DONE;

    ASSERT(db->results[sql] == NULL);
    if (PQstatus(db->conn) != CONNECTION_OK) {
        keep_message(db, "not connected");
        return DB_LOST;
    }
    ASSERT(!db->is_streaming);
    if (is_late(db)) {
        keep_message(db, "the time for reading is over");
        return DB_CUT;
    }
    if (!db->prepared[sql])
        status = prepare(db, sql);
    if (status != DB_DONE)
        return status;
    write_params(&db->params, params, count, texts);
    name_of(sql, name);
    result = PQexecPrepared(db->conn, name, (int)count, texts, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) {
        status = fail(db, result);
    } else if (sql == SQL_COMMIT && strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        keep_message(db, "a failed transaction cannot be committed");
        status = DB_REFUSED;
    }
    if (status != DB_DONE) {
        PQclear(result);
        return status;
    }
    db->changes = changed_rows(result);
    db->results[sql] = result;
    db->rows[sql] = 0;
    return PQntuples(result) > 0 ? DB_ROW : DB_DONE;
}

/* The next row of a statement that streams. At its end nothing is outstanding. */
static enum db_status stream_next(struct db_postgres *db, enum sql sql)
{
    PGresult *result = PQgetResult(db->conn);
    enum db_status status = DB_DONE;

    PQclear(db->results[sql]);
    db->results[sql] = result;
    if (PQresultStatus(result) == PGRES_SINGLE_TUPLE)
        return DB_ROW;
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        status = fail(db, result);
    for (PGresult *rest; (rest = PQgetResult(db->conn)) != NULL;)
        PQclear(rest);
    db->is_streaming = false;
    return status;
}

static enum db_status postgres_stream(struct db *base, enum sql sql, const struct db_value *params,
                                      unsigned count)
{
    struct db_postgres *db = self(base);
    const char *texts[DB_PARAMS_MAX];
    char name[16];
    enum db_status status = DB_DONE;

    ASSERT(db->results[sql] == NULL && !db->is_streaming);
    if (PQstatus(db->conn) != CONNECTION_OK) {
        keep_message(db, "not connected");
        return DB_LOST;
    }
    if (is_late(db)) {
        keep_message(db, "the time for reading is over");
        return DB_CUT;
    }
    if (!db->prepared[sql])
        status = prepare(db, sql);
    if (status != DB_DONE)
        return status;
    write_params(&db->params, params, count, texts);
    name_of(sql, name);
    if (PQsendQueryPrepared(db->conn, name, (int)count, texts, NULL, NULL, 0) != 1 ||
        PQsetSingleRowMode(db->conn) != 1) {
        keep_message(db, PQerrorMessage(db->conn));
        return PQstatus(db->conn) == CONNECTION_OK ? DB_REFUSED : DB_LOST;
    }
    db->is_streaming = true;
    db->rows[sql] = 0;
    return stream_next(db, sql);
}

/* Let the server stop, and take what was on its way. */
static void stream_stop(struct db_postgres *db)
{
    PGcancel *cancel = PQgetCancel(db->conn);
    char message[256];

    if (cancel != NULL)
        (void)PQcancel(cancel, message, sizeof(message));
    PQfreeCancel(cancel);
    for (PGresult *rest; (rest = PQgetResult(db->conn)) != NULL;)
        PQclear(rest);
    db->is_streaming = false;
}

static enum db_status postgres_next(struct db *base, enum sql sql)
{
    struct db_postgres *db = self(base);

    ASSERT(db->results[sql] != NULL);
    if (db->is_streaming && is_late(db)) {
        stream_stop(db);
        keep_message(db, "the time for reading is over");
        return DB_CUT;
    }
    if (db->is_streaming)
        return stream_next(db, sql);
    return ++db->rows[sql] < PQntuples(db->results[sql]) ? DB_ROW : DB_DONE;
}

static void postgres_end(struct db *base, enum sql sql)
{
    struct db_postgres *db = self(base);

    if (db->is_streaming && db->results[sql] != NULL)
        stream_stop(db);
    PQclear(db->results[sql]);
    db->results[sql] = NULL;
}

static struct str postgres_column_text(struct db *base, enum sql sql, unsigned column)
{
    struct db_postgres *db = self(base);
    const PGresult *result = db->results[sql];
    int row = db->rows[sql], at = (int)column;

    if (PQgetisnull(result, row, at))
        return STR_NONE;
    return str_from(PQgetvalue(result, row, at), (size_t)PQgetlength(result, row, at));
}

static int64_t postgres_column_int(struct db *base, enum sql sql, unsigned column)
{
    struct str text = postgres_column_text(base, sql, column);
    int64_t n = 0;

    return text.len > 0 && str_to_int64(text, &n) ? n : 0;
}

static int64_t postgres_changes(struct db *base)
{
    return self(base)->changes;
}

static enum db_status postgres_script(struct db *base, const char *text)
{
    struct db_postgres *db = self(base);
    PGresult *result = PQexec(db->conn, text);
    enum db_status status = DB_DONE;

    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        status = fail(db, result);
    PQclear(result);
    return status;
}

/* --- connecting --- */

static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

static void disconnect(struct db_postgres *db)
{
    db->is_streaming = false;
    for (unsigned i = 0; i < SQL_COUNT; i++) {
        PQclear(db->results[i]);
        db->results[i] = NULL;
        db->prepared[i] = false;
    }
    db->sent_count = 0;
    postgres_drop(&db->base);
    PQfinish(db->conn);
    db->conn = NULL;
}

/* A dead peer is noticed within seconds; what the server's settings say of syncing is overruled. */
static enum db_status connect(struct db_postgres *db)
{
    const char *const names[] = {"dbname",           "application_name", "client_encoding",
                                 "connect_timeout",  "keepalives_idle",  "keepalives_interval",
                                 "keepalives_count", "tcp_user_timeout", NULL};
    const char *const values[] = {db->url, db->name, "UTF8", "5", "10", "5", "3", "20000", NULL};

    db->conn = PQconnectdbParams(names, values, 1);
    if (db->conn == NULL)
        PANIC("out of memory");
    if (PQstatus(db->conn) != CONNECTION_OK) {
        keep_message(db, PQerrorMessage(db->conn));
        return DB_LOST;
    }
    PQsetNoticeReceiver(db->conn, ignore_notice, NULL);
    db->timeout_ms = READ_TIMEOUT_MS;
    if (db->mode == DB_READ)
        return postgres_script(&db->base, "SET statement_timeout = 1000;"
                                          "SET default_transaction_read_only = on");
    /* Plans outlive the size that a table had when they were made: all are by an index. */
    return postgres_script(&db->base, "SET synchronous_commit = on; SET lock_timeout = 10000;"
                                      "SET enable_seqscan = off; SET enable_hashjoin = off;"
                                      "SET enable_mergejoin = off;"
                                      "SET idle_in_transaction_session_timeout = 60000");
}

static enum db_status postgres_reconnect(struct db *base)
{
    disconnect(self(base));
    return connect(self(base));
}

static void postgres_allow_us(struct db *base, int64_t us)
{
    struct db_postgres *db = self(base);
    char text[64];

    /* One statement is cut by statement_timeout of the session, all together by this. */
    db->cut_at_us = us == 0 ? 0 : clock_mono_us(&clock_system) + us;
    if (us / 1000 <= db->timeout_ms)
        return;
    (void)snprintf(text, sizeof(text), "SET statement_timeout = %lld", (long long)(us / 1000));
    if (postgres_script(base, text) == DB_DONE)
        db->timeout_ms = us / 1000;
}

static void postgres_close(struct db *base)
{
    struct db_postgres *db = self(base);

    disconnect(db);
    for (unsigned i = 0; i < SQL_COUNT; i++) {
        for (unsigned k = 0; db->puts[i] != NULL && k < strlen(sql_types((enum sql)i)); k++)
            buf_fini(&db->puts[i]->columns[k]);
        free(db->puts[i]);
    }
    buf_fini(&db->params);
    free(db->url);
    free(db->name);
    free(db);
}

static const struct db_ops postgres_ops = {
    .put = postgres_put,
    .queue = postgres_queue,
    .flush = postgres_flush,
    .drop = postgres_drop,
    .first = postgres_first,
    .run = postgres_run,
    .stream = postgres_stream,
    .next = postgres_next,
    .end = postgres_end,
    .column_int = postgres_column_int,
    .column_text = postgres_column_text,
    .changes = postgres_changes,
    .script = postgres_script,
    .reconnect = postgres_reconnect,
    .allow_us = postgres_allow_us,
    .close = postgres_close,
};

struct db *db_postgres_open(struct str url, enum db_mode mode, struct str name, struct err *err)
{
    struct db_postgres *db = calloc(1, sizeof(*db));

    if (db == NULL)
        PANIC("out of memory");
    db->base.ops = &postgres_ops;
    db->base.has_sets = true;
    db->mode = mode;
    db->url = strndup(url.ptr, url.len);
    db->name = strndup(name.ptr, name.len);
    if (db->url == NULL || db->name == NULL)
        PANIC("out of memory");
    buf_init(&db->params);
    if (connect(db) == DB_DONE)
        return &db->base;
    (void)err_set(err, ERR_IO, "the database cannot be reached: %s", db->base.message);
    postgres_close(&db->base);
    return NULL;
}
