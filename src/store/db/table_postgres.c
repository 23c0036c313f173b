/* table_postgres.c - see table.h: whole tables of a PostgreSQL server. Rows come in by COPY. */
#include "store/db/db_postgres.h"
#include "store/db/table.h"

static bool copy_fails(struct db *db, const PGresult *result, struct err *err)
{
    return db_fail(db, postgres_fail(postgres_of(db), result), err);
}

static bool refuse_send(struct db *db, struct err *err)
{
    struct db_postgres *p = postgres_of(db);

    postgres_keep_message(p, PQerrorMessage(p->conn));
    return db_fail(db, PQstatus(p->conn) == CONNECTION_OK ? DB_REFUSED : DB_LOST, err);
}

/* The rows of a query, one by one: they are never in memory together. */
static bool copy_run(struct db *db, const char *text, unsigned count, table_row_fn *row,
                     void *context, struct err *err)
{
    PGconn *conn = postgres_of(db)->conn;
    struct cell cells[TABLE_COLUMNS_MAX];
    bool ok = true;

    if (PQsendQuery(conn, text) != 1 || PQsetSingleRowMode(conn) != 1)
        return refuse_send(db, err);
    for (PGresult *r; (r = PQgetResult(conn)) != NULL; PQclear(r)) {
        if (!ok || PQresultStatus(r) == PGRES_TUPLES_OK)
            continue;
        if (PQresultStatus(r) != PGRES_SINGLE_TUPLE) {
            ok = copy_fails(db, r, err);
            continue;
        }
        for (unsigned i = 0; i < count; i++)
            cells[i] = (struct cell){
                .is_null = PQgetisnull(r, 0, (int)i) != 0,
                .text = str_from(PQgetvalue(r, 0, (int)i), (size_t)PQgetlength(r, 0, (int)i))};
        ok = row(context, cells, err);
    }
    return ok;
}

static bool table_postgres_list(struct db *db, struct arena *mem, struct tables *out,
                                struct err *err)
{
    struct table_gathering g = {.mem = mem, .tables = out};

    return copy_run(db,
                    "SELECT c.relname, a.attname FROM pg_class AS c "
                    "JOIN pg_attribute AS a ON a.attrelid = c.oid "
                    "WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace "
                    "AND a.attnum > 0 AND NOT a.attisdropped "
                    "ORDER BY c.relname COLLATE \"C\", a.attname COLLATE \"C\"",
                    2, table_gather, &g, err);
}

static bool table_postgres_read(struct db *db, const struct whole_table *t, table_row_fn *row,
                                void *context, struct err *err)
{
    struct buf text;
    bool ok;

    buf_init(&text);
    buf_text(&text, "SELECT ");
    table_write_columns(&text, t);
    buf_printf(&text, " FROM \"%.*s\"", STR_ARG(t->name));
    buf_char(&text, '\0');
    ok = copy_run(db, text.ptr, (unsigned)t->columns.count, row, context, err);
    buf_fini(&text);
    return ok;
}

/* The number that a query answers in which the name of the table stands once. */
static bool copy_ask(struct db *db, const struct whole_table *t, const char *format, int64_t *out,
                     struct err *err)
{
    struct buf text;
    bool ok;

    *out = 0;
    buf_init(&text);
    buf_text(&text, "SELECT ");
    buf_printf(&text, format, STR_ARG(t->name));
    buf_char(&text, '\0');
    ok = copy_run(db, text.ptr, 1, table_take_number, out, err);
    buf_fini(&text);
    return ok;
}

static bool table_postgres_count(struct db *db, const struct whole_table *t, int64_t *out,
                                 struct err *err)
{
    return copy_ask(db, t, "count(*) FROM \"%.*s\"", out, err);
}

static bool copy_script(struct db *db, struct buf *text, struct err *err)
{
    enum db_status status;

    buf_char(text, '\0');
    status = db_script(db, text->ptr);
    buf_fini(text);
    return status == DB_DONE ? true : db_fail(db, status, err);
}

static bool table_postgres_begin(struct db *db, const struct whole_table *t, struct err *err)
{
    PGconn *conn = postgres_of(db)->conn;
    PGresult *result;
    struct buf text;
    bool ok;

    buf_init(&text);
    buf_printf(&text, "ALTER TABLE \"%.*s\" DISABLE TRIGGER USER; DELETE FROM \"%.*s\"",
               STR_ARG(t->name), STR_ARG(t->name));
    if (!copy_script(db, &text, err))
        return false;
    buf_init(&text);
    buf_printf(&text, "COPY \"%.*s\" (", STR_ARG(t->name));
    table_write_columns(&text, t);
    buf_text(&text, ") FROM STDIN");
    buf_char(&text, '\0');
    result = PQexec(conn, text.ptr);
    ok = PQresultStatus(result) == PGRES_COPY_IN || copy_fails(db, result, err);
    PQclear(result);
    buf_fini(&text);
    return ok;
}

/* A cell as COPY reads it. */
static void copy_write_cell(struct buf *out, const struct cell *c)
{
    if (c->is_null) {
        buf_text(out, "\\N");
        return;
    }
    for (size_t i = 0; i < c->text.len; i++)
        switch (c->text.ptr[i]) {
        case '\\':
            buf_text(out, "\\\\");
            break;
        case '\n':
            buf_text(out, "\\n");
            break;
        case '\r':
            buf_text(out, "\\r");
            break;
        case '\t':
            buf_text(out, "\\t");
            break;
        default:
            buf_char(out, c->text.ptr[i]);
        }
}

static bool table_postgres_row(struct db *db, const struct whole_table *t, const struct cell *cells,
                               struct err *err)
{
    struct db_postgres *p = postgres_of(db);
    struct buf *line = &p->params;

    buf_clear(line);
    for (size_t i = 0; i < t->columns.count; i++) {
        if (i > 0)
            buf_char(line, '\t');
        copy_write_cell(line, &cells[i]);
    }
    buf_char(line, '\n');
    return PQputCopyData(p->conn, line->ptr, (int)line->len) == 1 || refuse_send(db, err);
}

static bool table_postgres_end(struct db *db, const struct whole_table *t, struct err *err)
{
    PGconn *conn = postgres_of(db)->conn;
    struct buf text;
    bool ok;

    if (PQputCopyEnd(conn, NULL) != 1)
        return refuse_send(db, err);
    ok = true;
    for (PGresult *r; (r = PQgetResult(conn)) != NULL; PQclear(r))
        if (ok && PQresultStatus(r) != PGRES_COMMAND_OK)
            ok = copy_fails(db, r, err);
    if (!ok)
        return false;
    buf_init(&text);
    buf_printf(&text, "ALTER TABLE \"%.*s\" ENABLE TRIGGER USER", STR_ARG(t->name));
    return copy_script(db, &text, err);
}

/* The column that a sequence numbers: an identity, or of executions their row. */
#define NUMBERED_COLUMN                                                                            \
    "(SELECT a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid "           \
    "WHERE c.relname = '%.*s' AND c.relnamespace = current_schema()::regnamespace "                \
    "AND a.attnum > 0 AND (a.attidentity <> '' OR (c.relname = 'execution' "                       \
    "AND a.attname = 'row')) LIMIT 1)"
#define SEQUENCE_OF                                                                                \
    "CASE '%.*s' WHEN 'execution' THEN 'execution_row' "                                           \
    "ELSE pg_get_serial_sequence(quote_ident('%.*s'), " NUMBERED_COLUMN ") END"

static bool copy_take_text(void *context, const struct cell *cells, struct err *err)
{
    (void)err;
    buf_str(context, cells[0].text);
    return true;
}

static bool table_postgres_last(struct db *db, const struct whole_table *t, int64_t *out,
                                struct err *err)
{
    struct buf text;
    bool ok;

    *out = 0;
    buf_init(&text);
    buf_printf(&text, "SELECT pg_sequence_last_value((" SEQUENCE_OF ")::regclass)",
               STR_ARG(t->name), STR_ARG(t->name), STR_ARG(t->name));
    buf_char(&text, '\0');
    ok = copy_run(db, text.ptr, 1, table_take_number, out, err);
    buf_fini(&text);
    return ok;
}

/* Not below the rows that are there: the other database may count by looking at them. */
static bool copy_set_sequence(struct db *db, const struct whole_table *t, struct str column,
                              int64_t n, struct err *err)
{
    struct buf text;

    buf_init(&text);
    buf_printf(&text,
               "SELECT setval((" SEQUENCE_OF ")::regclass, n) FROM (SELECT greatest(%lld, "
               "(SELECT max(\"%.*s\") FROM \"%.*s\")) AS n) AS one WHERE n > 0",
               STR_ARG(t->name), STR_ARG(t->name), STR_ARG(t->name), (long long)n, STR_ARG(column),
               STR_ARG(t->name));
    return copy_script(db, &text, err);
}

static bool table_postgres_count_from(struct db *db, const struct whole_table *t, int64_t n,
                                      struct err *err)
{
    struct buf text, column;
    bool ok;

    buf_init(&column);
    buf_init(&text);
    buf_printf(&text, "SELECT " NUMBERED_COLUMN, STR_ARG(t->name));
    buf_char(&text, '\0');
    ok = copy_run(db, text.ptr, 1, copy_take_text, &column, err) &&
         (column.len == 0 || copy_set_sequence(db, t, buf_view(&column), n, err));
    buf_fini(&text);
    buf_fini(&column);
    return ok;
}

static bool table_postgres_sessions(struct db *db, int64_t *out, struct err *err)
{
    *out = 0;
    return copy_run(db,
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND pid <> pg_backend_pid() AND (application_name = 'pawl reader' "
                    "OR application_name IN (SELECT node FROM nodes))",
                    1, table_take_number, out, err);
}

const struct table_ops table_postgres = {
    .list = table_postgres_list,
    .read = table_postgres_read,
    .count = table_postgres_count,
    .write_begin = table_postgres_begin,
    .write_row = table_postgres_row,
    .write_end = table_postgres_end,
    .last_number = table_postgres_last,
    .count_from = table_postgres_count_from,
    .sessions = table_postgres_sessions,
};
