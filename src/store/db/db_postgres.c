/*
 * db_postgres.c - the driver for PostgreSQL, through libpq.
 *
 * Prepared statements in the extended protocol, parameters and results as
 * text. A result is fetched whole: lists are limited by their statements.
 *
 * What is queued and put is in db_postgres_rows.c, how a session begins in
 * db_postgres_connect.c.
 */
#include "store/db/db_postgres.h"

#include "base/alloc.h"
#include "base/text/ascii.h"
#include "base/time/clock.h"

#include <stdio.h>

/* --- failures --- */

/* By SQLSTATE; a prefix stands for its class. The first that fits counts. */
static const struct {
    const char *state;
    enum db_status status;
} states[] = {
    {"23505", DB_UNIQUE}, {"40001", DB_CONFLICT}, {"40P01", DB_CONFLICT},  {"53100", DB_FULL},
    {"53", DB_BUSY},      {"55P03", DB_LOCKED},   {"25006", DB_READ_ONLY}, {"57014", DB_CUT},
    {"57P", DB_LOST},     {"08", DB_LOST},        {"XX001", DB_CORRUPT},   {"XX002", DB_CORRUPT},
    {"58", DB_IO},        {"25P03", DB_LOST},
};

static enum db_status status_of_state(const char *state)
{
    for (size_t i = 0; i < ARRAY_SIZE(states); i++)
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0)
            return states[i].status;
    return DB_REFUSED;
}

void postgres_keep_message(struct db_postgres *db, const char *text)
{
    (void)snprintf(db->base.message, sizeof(db->base.message), "PostgreSQL: %.*s",
                   (int)strcspn(text, "\n"), text);
}

enum db_status postgres_fail(struct db_postgres *db, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    enum db_status status = state == NULL ? DB_REFUSED : status_of_state(state);

    postgres_keep_message(db, text != NULL ? text : PQerrorMessage(db->conn));
    if (PQstatus(db->conn) != CONNECTION_OK)
        return DB_LOST;
    /* The server has become a standby: another one takes writes, or will. */
    return status == DB_READ_ONLY && db->mode != DB_READ ? DB_LOST : status;
}

bool postgres_is_usable(struct db_postgres *db)
{
    const char *reason = NULL;

    if (PQstatus(db->conn) != CONNECTION_OK)
        reason = "not connected";
    else if (db->is_unreplicated)
        reason = "committed, but perhaps not by the standby";
    else if (db->server != NULL && db->timeline != 0 &&
             db->timeline < atomic_load_explicit(&db->server->timeline, memory_order_relaxed))
        reason = "another server was promoted";
    if (reason != NULL)
        postgres_keep_message(db, reason);
    return reason == NULL;
}

/* --- statements --- */

static const char *array_type(char type)
{
    return type == 'i' ? "bigint[]" : type == 'j' ? "json[]" : type == 'u' ? "uuid[]" : "text[]";
}

/*
 * unnest($1::bigint[]), unnest($2::text[]), ... as a list of columns: in FROM the
 * server would first store the rows of each of them.
 */
static void write_unnest(const char *types, struct buf *out)
{
    for (unsigned i = 0; types[i] != '\0'; i++)
        buf_printf(out, "%sunnest($%u::%s)", i > 0 ? ", " : "", i + 1, array_type(types[i]));
}

/* How long a word is that says not to wait for a lock; 0: none begins here. *waits: in its place. */
static size_t lock_word_length(const char *text, const char **waits)
{
    static const char *const words[][2] = {
        {" SKIP LOCKED", ""}, {" NOWAIT", ""}, {"pg_try_advisory_", "pg_advisory_"}};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strncmp(text, words[i][0], strlen(words[i][0])) == 0) {
            *waits = words[i][1];
            return strlen(words[i][0]);
        }
    return 0;
}

void postgres_text(const struct db_postgres *db, enum sql sql, struct buf *out)
{
    const char *waits;

    for (const char *text = sql_for_postgres(sql); *text != '\0'; text++)
        if (db->mode == DB_WAIT && lock_word_length(text, &waits) > 0) {
            buf_text(out, waits);
            text += lock_word_length(text, &waits) - 1;
        } else if (text[0] == '?' && text[1] == '*') {
            write_unnest(sql_types(sql), out);
            text++;
        } else {
            buf_char(out, text[0] == '?' && ascii_is_digit(text[1]) ? '$' : text[0]);
        }
    buf_char(out, '\0');
}

void postgres_name(enum sql sql, char out[STATEMENT_NAME_SIZE])
{
    (void)snprintf(out, STATEMENT_NAME_SIZE, "s%u", (unsigned)sql);
}

static enum db_status prepare(struct db_postgres *db, enum sql sql)
{
    char name[STATEMENT_NAME_SIZE];
    struct buf text;
    PGresult *result;
    enum db_status status = DB_DONE;

    postgres_name(sql, name);
    buf_init(&text);
    postgres_text(db, sql, &text);
    result = PQprepare(db->conn, name, text.ptr, 0, NULL);
    buf_fini(&text);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        status = postgres_fail(db, result);
    PQclear(result);
    db->prepared[sql] = status == DB_DONE;
    return status;
}

void postgres_write_params(struct db_postgres *db, const struct db_value *params, unsigned count,
                           const char *out[DB_PARAMS_MAX])
{
    size_t places[DB_PARAMS_MAX];
    struct buf *texts = &db->params;

    ASSERT(count <= DB_PARAMS_MAX);
    buf_clear(texts);
    for (unsigned i = 0; i < count; i++) {
        places[i] = texts->len;
        if (params[i].kind == DB_INT)
            buf_printf(texts, "%lld", (long long)params[i].i);
        else if (params[i].kind == DB_TEXT)
            buf_str(texts, params[i].text);
        buf_char(texts, '\0');
    }
    for (unsigned i = 0; i < count; i++)
        out[i] = params[i].kind == DB_NULL ? NULL : texts->ptr + places[i];
}

static bool is_late(const struct db_postgres *db)
{
    return db->cut_at_us != 0 && clock_mono_us(&clock_system) >= db->cut_at_us;
}

/* --- one statement at a time --- */

/* What stands before a statement that runs alone: what was queued, and that it is prepared. */
static enum db_status make_ready(struct db_postgres *db, enum sql sql)
{
    enum db_status status;

    ASSERT(db->results[sql] == NULL && !db->is_streaming);
    if (!postgres_is_usable(db))
        return DB_LOST;
    if (is_late(db)) {
        postgres_keep_message(db, "the time for reading is over");
        return DB_CUT;
    }
    status = postgres_run_queued(db);
    return status == DB_DONE && !db->prepared[sql] ? prepare(db, sql) : status;
}

static int64_t changed_rows(PGresult *result)
{
    return strtoll(PQcmdTuples(result), NULL, 10);
}

static enum db_status postgres_run(struct db *base, enum sql sql, const struct db_value *params,
                                   unsigned count)
{
    struct db_postgres *db = postgres_of(base);
    const char *texts[DB_PARAMS_MAX];
    char name[STATEMENT_NAME_SIZE];
    PGresult *result;
    enum db_status status = DB_DONE;

    status = make_ready(db, sql);
    if (status != DB_DONE)
        return status;
    postgres_write_params(db, params, count, texts);
    postgres_name(sql, name);
    result = PQexecPrepared(db->conn, name, (int)count, texts, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) {
        status = postgres_fail(db, result);
    } else if (sql == SQL_COMMIT && strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        postgres_keep_message(db, "a failed transaction cannot be committed");
        status = DB_REFUSED;
    } else if (db->is_unreplicated && !postgres_is_usable(db)) {
        status = DB_LOST;
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
        status = postgres_fail(db, result);
    for (PGresult *rest; (rest = PQgetResult(db->conn)) != NULL;)
        PQclear(rest);
    db->is_streaming = false;
    return status;
}

static enum db_status postgres_stream(struct db *base, enum sql sql, const struct db_value *params,
                                      unsigned count)
{
    struct db_postgres *db = postgres_of(base);
    const char *texts[DB_PARAMS_MAX];
    char name[STATEMENT_NAME_SIZE];
    enum db_status status = DB_DONE;

    status = make_ready(db, sql);
    if (status != DB_DONE)
        return status;
    postgres_write_params(db, params, count, texts);
    postgres_name(sql, name);
    if (PQsendQueryPrepared(db->conn, name, (int)count, texts, NULL, NULL, 0) != 1 ||
        PQsetSingleRowMode(db->conn) != 1) {
        postgres_keep_message(db, PQerrorMessage(db->conn));
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
    struct db_postgres *db = postgres_of(base);

    ASSERT(db->results[sql] != NULL);
    if (db->is_streaming && is_late(db)) {
        stream_stop(db);
        postgres_keep_message(db, "the time for reading is over");
        return DB_CUT;
    }
    if (db->is_streaming)
        return stream_next(db, sql);
    return ++db->rows[sql] < PQntuples(db->results[sql]) ? DB_ROW : DB_DONE;
}

static void postgres_end(struct db *base, enum sql sql)
{
    struct db_postgres *db = postgres_of(base);

    if (db->is_streaming && db->results[sql] != NULL)
        stream_stop(db);
    PQclear(db->results[sql]);
    db->results[sql] = NULL;
}

static struct str postgres_column_text(struct db *base, enum sql sql, unsigned column)
{
    struct db_postgres *db = postgres_of(base);
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
    return postgres_of(base)->changes;
}

enum db_status postgres_script(struct db *base, const char *text)
{
    struct db_postgres *db = postgres_of(base);
    PGresult *result = PQexec(db->conn, text);
    enum db_status status = DB_DONE;

    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        status = postgres_fail(db, result);
    PQclear(result);
    return status;
}

/* --- connecting --- */

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

static enum db_status postgres_reconnect(struct db *base)
{
    struct postgres_identity id;

    disconnect(postgres_of(base));
    return postgres_connect(postgres_of(base), true, &id);
}

static void postgres_allow_us(struct db *base, int64_t us)
{
    struct db_postgres *db = postgres_of(base);
    char text[64];

    /* One statement is cut by statement_timeout of the session, all together by this. */
    db->cut_at_us = us == 0 ? 0 : clock_mono_us(&clock_system) + us;
    if (us / 1000 <= db->timeout_ms)
        return;
    (void)snprintf(text, sizeof(text), "SET statement_timeout = %lld", (long long)(us / 1000));
    if (postgres_script(base, text) == DB_DONE)
        db->timeout_ms = us / 1000;
}

int db_postgres_fd(const struct db *db)
{
    return PQsocket(((const struct db_postgres *)db)->conn);
}

enum db_status db_postgres_notified(struct db *base, struct arena *mem, struct str *text)
{
    struct db_postgres *db = postgres_of(base);
    PGnotify *notice;

    if (PQconsumeInput(db->conn) != 1 || PQstatus(db->conn) != CONNECTION_OK) {
        postgres_keep_message(db, PQerrorMessage(db->conn));
        return DB_LOST;
    }
    notice = PQnotifies(db->conn);
    if (notice == NULL)
        return DB_DONE;
    *text = str_copy(mem, str_of(notice->extra));
    PQfreemem(notice);
    return DB_ROW;
}

static void postgres_close(struct db *base)
{
    struct db_postgres *db = postgres_of(base);

    disconnect(db);
    postgres_free_rows(db);
    postgres_hosts_fini(&db->hosts);
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

struct db *db_postgres_open(struct str url, enum db_mode mode, struct str name,
                            struct db_server *server, struct err *err)
{
    struct db_postgres *db = ALLOC_NEW(struct db_postgres);
    struct postgres_identity id = {0};

    db->base.ops = &postgres_ops;
    db->base.has_sets = true;
    db->mode = mode;
    db->server = server;
    db->url = alloc_text(url);
    db->name = alloc_text(name);
    buf_init(&db->params);
    if (!postgres_hosts_read(&db->hosts, db->url, err)) {
        postgres_close(&db->base);
        return NULL;
    }
    if (postgres_connect(db, false, &id) != DB_DONE)
        (void)err_set(err, ERR_IO, "the database cannot be reached: %s", db->base.message);
    else if (!id.is_pooled || postgres_refuse_pool(db, err))
        return &db->base;
    postgres_close(&db->base);
    return NULL;
}
