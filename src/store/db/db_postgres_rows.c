/*
 * db_postgres_rows.c - many statements in one pipeline; see db_postgres.h.
 *
 * What is queued goes into libpq's buffer at once; rows that are put wait as
 * one binary array for each column. A flush sends them behind it and takes all
 * results: one round trip. A commit may go along, since after a failure the
 * server skips all that follows in the pipeline, the COMMIT included.
 */
#include "base/alloc.h"
#include "store/db/db_postgres.h"

#include "base/uuid.h"

/* --- rows --- */

/* The types of columns, by their letters in sql.def, and how the server numbers them. */
static int32_t oid_of(char type)
{
    switch (type) {
    case 'i':
        return 20;
    case 't':
        return 25;
    case 'j':
        return 114;
    case 'u':
        return 2950;
    }
    PANIC("unknown type of a column");
}

/* {dimensions, has nulls, type of the elements, how many, the first one's number}, 4 bytes each */
enum { ARRAY_FIELDS = 5, ARRAY_HEADER = 4 * ARRAY_FIELDS };

static void write_be32(char *out, int32_t n)
{
    uint32_t u = (uint32_t)n;

    for (unsigned i = 0; i < 4; i++)
        out[i] = (char)(u >> (24 - 8 * i));
}

static void write_array_header(struct buf *column, char type, bool has_null, int32_t count)
{
    int32_t fields[ARRAY_FIELDS] = {1, has_null, oid_of(type), count, 1};

    for (unsigned i = 0; i < ARRAY_FIELDS; i++)
        write_be32(column->ptr + 4 * i, fields[i]);
}

/* An element is its length, -1 for NULL, and its bytes. */
static void add_bytes(struct buf *out, const void *bytes, size_t len)
{
    if (!buf_reserve(out, 4 + len))
        return;
    write_be32(out->ptr + out->len, (int32_t)len);
    memcpy(out->ptr + out->len + 4, bytes, len);
    out->len += 4 + len;
}

static void add_int(struct buf *out, int64_t i)
{
    char bytes[8];

    write_be32(bytes, (int32_t)((uint64_t)i >> 32));
    write_be32(bytes + 4, (int32_t)(uint32_t)i);
    add_bytes(out, bytes, sizeof(bytes));
}

static void add_uuid(struct buf *out, struct str text)
{
    struct uuid id;

    if (!uuid_read(text, &id))
        PANIC("an id that is no UUID");
    add_bytes(out, id.bytes, sizeof(id.bytes));
}

static void add_element(struct buf *out, char type, const struct db_value *v, bool *has_null)
{
    if (v->kind == DB_NULL) {
        if (buf_reserve(out, 4)) {
            write_be32(out->ptr + out->len, -1);
            out->len += 4;
        }
        *has_null = true;
    } else if (type == 'i') {
        ASSERT(v->kind == DB_INT);
        add_int(out, v->i);
    } else {
        ASSERT(v->kind == DB_TEXT);
        if (type == 'u')
            add_uuid(out, v->text);
        else
            add_bytes(out, v->text.len > 0 ? v->text.ptr : "", v->text.len);
    }
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

    ASSERT(columns <= DB_PARAMS_MAX);
    if (p != NULL)
        return p;
    p = alloc_zeroed(sizeof(*p));
    for (unsigned i = 0; i < columns; i++)
        buf_init(&p->columns[i]);
    clear_rows(p, columns);
    db->puts[sql] = p;
    return p;
}

enum db_status postgres_put(struct db *base, enum sql sql, const struct db_value *params,
                            unsigned count)
{
    enum { PUT_BYTES_MAX = 16 << 20 }; /* more does not wait */
    struct db_postgres *db = postgres_of(base);
    struct put_rows *p = rows_of(db, sql, count);
    const char *types = sql_types(sql);

    ASSERT(strlen(types) == count);
    for (unsigned i = 0; i < count; i++) {
        size_t before = p->columns[i].len;

        add_element(&p->columns[i], types[i], &params[i], &p->has_null[i]);
        db->put_bytes += p->columns[i].len - before;
    }
    p->count++;
    return db->put_bytes > PUT_BYTES_MAX ? postgres_flush(base, false) : DB_DONE;
}

void postgres_drop(struct db *base)
{
    struct db_postgres *db = postgres_of(base);

    for (unsigned sql = 0; sql < SQL_COUNT; sql++)
        if (db->puts[sql] != NULL && db->puts[sql]->count > 0)
            clear_rows(db->puts[sql], (unsigned)strlen(sql_types((enum sql)sql)));
    db->put_bytes = 0;
}

void postgres_free_rows(struct db_postgres *db)
{
    for (unsigned i = 0; i < SQL_COUNT; i++) {
        for (unsigned k = 0; db->puts[i] != NULL && k < strlen(sql_types((enum sql)i)); k++)
            buf_fini(&db->puts[i]->columns[k]);
        free(db->puts[i]);
        db->puts[i] = NULL;
    }
}

/* --- sending --- */

static void note_sent(struct db_postgres *db, enum sql sql, bool is_prepare)
{
    ASSERT(db->sent_count < ARRAY_SIZE(db->sent));
    db->sent[db->sent_count++] = (struct sent){.sql = sql, .is_prepare = is_prepare};
}

static bool send_prepare(struct db_postgres *db, enum sql sql, const char *name)
{
    struct buf text;

    buf_init(&text);
    postgres_text(db, sql, &text);
    db->prepared[sql] = PQsendPrepare(db->conn, name, text.ptr, 0, NULL) == 1;
    buf_fini(&text);
    note_sent(db, sql, true);
    return db->prepared[sql];
}

/* Add a statement to the pipeline, and before its first use how it is prepared. */
static enum db_status send_statement(struct db_postgres *db, enum sql sql, unsigned count,
                                     const char *const *values, const int *lengths)
{
    int formats[DB_PARAMS_MAX];
    char name[STATEMENT_NAME_SIZE];
    bool ok = PQpipelineStatus(db->conn) != PQ_PIPELINE_OFF || PQenterPipelineMode(db->conn) == 1;

    ASSERT(count <= DB_PARAMS_MAX);
    for (unsigned i = 0; i < count; i++)
        formats[i] = lengths != NULL;
    postgres_name(sql, name);
    ok = ok && (db->prepared[sql] || send_prepare(db, sql, name)) &&
         PQsendQueryPrepared(db->conn, name, (int)count, values, lengths,
                             lengths != NULL ? formats : NULL, 0) == 1;
    if (!ok) {
        postgres_keep_message(db, PQerrorMessage(db->conn));
        return DB_LOST;
    }
    note_sent(db, sql, false);
    return DB_DONE;
}

enum db_status postgres_queue(struct db *base, enum sql sql, const struct db_value *params,
                              unsigned count)
{
    struct db_postgres *db = postgres_of(base);
    const char *texts[DB_PARAMS_MAX];

    if (!postgres_is_usable(db))
        return DB_LOST;
    postgres_write_params(db, params, count, texts);
    return send_statement(db, sql, count, texts, NULL);
}

static enum db_status send_rows(struct db_postgres *db, enum sql sql)
{
    struct put_rows *p = db->puts[sql];
    const char *types = sql_types(sql), *values[DB_PARAMS_MAX];
    int lengths[DB_PARAMS_MAX];
    unsigned count = (unsigned)strlen(types);

    for (unsigned i = 0; i < count; i++) {
        write_array_header(&p->columns[i], types[i], p->has_null[i], p->count);
        values[i] = p->columns[i].ptr;
        lengths[i] = (int)p->columns[i].len;
    }
    return send_statement(db, sql, count, values, lengths);
}

/* --- results --- */

/* An exact statement fails when somebody else was faster: by a unique index, or ALL_OR_FAIL. */
static enum db_status failure_of(struct db_postgres *db, enum sql sql, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    enum db_status status = postgres_fail(db, result);
    bool is_missed = state != NULL && strcmp(state, "22012") == 0;

    if (sql == SQL_EPOCH_FENCE && is_missed)
        return DB_FENCED;
    return sql_is_exact(sql) && (status == DB_UNIQUE || is_missed) ? DB_CONFLICT : status;
}

/* What one statement of the pipeline has come to. */
static enum db_status take_result(struct db_postgres *db, const struct sent *sent, PGresult *result)
{
    ExecStatusType type = PQresultStatus(result);
    enum db_status status = DB_DONE;

    if (type == PGRES_PIPELINE_ABORTED) {
        status = DB_REFUSED; /* by the failure of a statement before it, which is the one to tell */
    } else if (type != PGRES_COMMAND_OK && type != PGRES_TUPLES_OK) {
        status = failure_of(db, sent->sql, result);
    } else if (sent->sql == SQL_COMMIT && !sent->is_prepare &&
               strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        postgres_keep_message(db, "a failed transaction cannot be committed");
        status = DB_REFUSED;
    } else if (type == PGRES_TUPLES_OK && !sent->is_prepare && !sql_is_exact(sent->sql)) {
        PQclear(db->results[sent->sql]);
        db->results[sent->sql] = result;
        db->rows[sent->sql] = 0;
        return DB_DONE;
    }
    if (status != DB_DONE && sent->is_prepare)
        db->prepared[sent->sql] = false;
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
            postgres_keep_message(db, PQerrorMessage(db->conn));
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
            postgres_keep_message(db, PQerrorMessage(db->conn));
        first = DB_LOST;
    }
    PQclear(result);
    return first;
}

enum db_status postgres_run_queued(struct db_postgres *db)
{
    enum db_status status = DB_DONE;

    if (db->sent_count > 0)
        status = PQpipelineSync(db->conn) == 1 ? take_results(db) : DB_LOST;
    if (db->is_unreplicated && !postgres_is_usable(db))
        status = DB_LOST;
    db->sent_count = 0;
    return status;
}

/* Send the rows, perhaps a COMMIT behind them, and take what all of it has come to. */
enum db_status postgres_flush(struct db *base, bool commits)
{
    struct db_postgres *db = postgres_of(base);
    enum db_status status = DB_DONE;

    if (!postgres_is_usable(db))
        return DB_LOST;
    for (unsigned sql = 0; sql < SQL_COUNT && status == DB_DONE; sql++)
        if (db->puts[sql] != NULL && db->puts[sql]->count > 0)
            status = send_rows(db, (enum sql)sql);
    if (status == DB_DONE && commits)
        status = send_statement(db, SQL_COMMIT, 0, NULL, NULL);
    if (status == DB_DONE)
        status = postgres_run_queued(db);
    db->sent_count = 0;
    postgres_drop(base);
    return status;
}

enum db_status postgres_first(struct db *base, enum sql sql)
{
    struct db_postgres *db = postgres_of(base);

    return db->results[sql] != NULL && PQntuples(db->results[sql]) > 0 ? DB_ROW : DB_DONE;
}
