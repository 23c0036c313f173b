/* table_sqlite.c - see table.h: whole tables of an SQLite file. */
#include "store/db/db_sqlite.h"
#include "store/db/table.h"

#include <sqlite3.h>

/* A statement of a text that was made here; NULL and *err. */
static sqlite3_stmt *table_prepare(struct db *db, const struct buf *text, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    enum db_status status = db_sqlite_status(
        db, sqlite3_prepare_v2(db_sqlite_handle(db), text->ptr, (int)text->len, &statement, NULL));

    if (status == DB_DONE)
        return statement;
    (void)db_fail(db, status, err);
    return NULL;
}

static struct cell cell_of(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);

    if (text == NULL)
        return (struct cell){.is_null = true};
    return (struct cell){
        .text = str_from((const char *)text, (size_t)sqlite3_column_bytes(statement, column))};
}

/* Run `text` to its end, giving the first `count` cells of each row. */
static bool table_run(struct db *db, const struct buf *text, unsigned count, table_row_fn *row,
                      void *context, struct err *err)
{
    sqlite3_stmt *statement = table_prepare(db, text, err);
    struct cell cells[TABLE_COLUMNS_MAX];
    enum db_status status = DB_DONE;
    bool ok = true;

    if (statement == NULL)
        return false;
    while (ok && (status = db_sqlite_status(db, sqlite3_step(statement))) == DB_ROW) {
        for (unsigned i = 0; i < count; i++)
            cells[i] = cell_of(statement, (int)i);
        ok = row(context, cells, err);
    }
    if (ok && status != DB_DONE)
        ok = db_fail(db, status, err);
    sqlite3_finalize(statement);
    return ok;
}

static bool table_sqlite_list(struct db *db, struct arena *mem, struct tables *out, struct err *err)
{
    struct table_gathering g = {.mem = mem, .tables = out};
    struct buf text;

    buf_init_arena(&text, mem);
    buf_text(&text, "SELECT s.name, c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c "
                    "WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%' ORDER BY 1, 2");
    return table_run(db, &text, 2, table_gather, &g, err);
}

static bool table_sqlite_read(struct db *db, const struct whole_table *t, table_row_fn *row,
                              void *context, struct err *err)
{
    struct buf text;
    bool ok;

    buf_init(&text);
    buf_text(&text, "SELECT ");
    table_write_columns(&text, t);
    buf_printf(&text, " FROM \"%.*s\"", STR_ARG(t->name));
    ok = table_run(db, &text, (unsigned)t->columns.count, row, context, err);
    buf_fini(&text);
    return ok;
}

/* The number that a query with the name of a table as its one argument answers. */
static bool table_ask(struct db *db, const struct whole_table *t, const char *format, int64_t *out,
                      struct err *err)
{
    struct buf text;
    bool ok;

    *out = 0;
    buf_init(&text);
    buf_text(&text, "SELECT ");
    buf_printf(&text, format, STR_ARG(t->name));
    ok = table_run(db, &text, 1, table_take_number, out, err);
    buf_fini(&text);
    return ok;
}

static bool table_sqlite_count(struct db *db, const struct whole_table *t, int64_t *out,
                               struct err *err)
{
    return table_ask(db, t, "count(*) FROM \"%.*s\"", out, err);
}

static bool table_sqlite_begin(struct db *db, const struct whole_table *t, struct err *err)
{
    struct buf text;
    enum db_status status;

    (void)sqlite3_db_config(db_sqlite_handle(db), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    buf_init(&text);
    buf_printf(&text, "DELETE FROM \"%.*s\"", STR_ARG(t->name));
    buf_char(&text, '\0');
    status = db_script(db, text.ptr);
    buf_clear(&text);
    buf_printf(&text, "INSERT INTO \"%.*s\" (", STR_ARG(t->name));
    table_write_columns(&text, t);
    buf_text(&text, ") VALUES (?");
    for (size_t i = 1; i < t->columns.count; i++)
        buf_text(&text, ", ?");
    buf_char(&text, ')');
    if (status == DB_DONE)
        *db_sqlite_writing(db) = table_prepare(db, &text, err);
    else
        (void)db_fail(db, status, err);
    buf_fini(&text);
    return status == DB_DONE && *db_sqlite_writing(db) != NULL;
}

static bool table_sqlite_row(struct db *db, const struct whole_table *t, const struct cell *cells,
                             struct err *err)
{
    sqlite3_stmt *statement = *db_sqlite_writing(db);
    enum db_status status;
    int code = SQLITE_OK;

    /* A column of integers turns the text into one. */
    for (size_t i = 0; i < t->columns.count && code == SQLITE_OK; i++)
        code = cells[i].is_null
                   ? sqlite3_bind_null(statement, (int)i + 1)
                   : sqlite3_bind_text64(statement, (int)i + 1,
                                         cells[i].text.len == 0 ? "" : cells[i].text.ptr,
                                         cells[i].text.len, SQLITE_STATIC, SQLITE_UTF8);
    status = db_sqlite_status(db, code == SQLITE_OK ? sqlite3_step(statement) : code);
    (void)sqlite3_reset(statement);
    return status == DB_DONE ? true : db_fail(db, status, err);
}

static bool table_sqlite_end(struct db *db, const struct whole_table *t, struct err *err)
{
    (void)t;
    (void)err;
    sqlite3_finalize(*db_sqlite_writing(db));
    *db_sqlite_writing(db) = NULL;
    (void)sqlite3_db_config(db_sqlite_handle(db), SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL);
    return true;
}

/* Rows of executions are counted by the highest one there is and the highest that was deleted. */
static bool counts_by_floor(const struct whole_table *t)
{
    return str_eq(t->name, STR("execution"));
}

static bool table_sqlite_last(struct db *db, const struct whole_table *t, int64_t *out,
                              struct err *err)
{
    return table_ask(db, t,
                     counts_by_floor(t)
                         ? "max(coalesce((SELECT max(row) FROM \"%.*s\"), 0), "
                           "coalesce((SELECT max(row) FROM row_floor), 0))"
                         : "coalesce((SELECT seq FROM sqlite_sequence WHERE name = '%.*s'), 0)",
                     out, err);
}

static bool table_sqlite_count_from(struct db *db, const struct whole_table *t, int64_t n,
                                    struct err *err)
{
    enum db_status status;
    struct buf text;

    buf_init(&text);
    if (counts_by_floor(t))
        buf_printf(&text, "UPDATE row_floor SET row = %lld", (long long)n);
    else
        buf_printf(&text,
                   "UPDATE sqlite_sequence SET seq = max(seq, %lld) WHERE name = '%.*s'; "
                   "INSERT INTO sqlite_sequence (name, seq) SELECT '%.*s', %lld WHERE EXISTS "
                   "(SELECT 1 FROM sqlite_schema WHERE name = '%.*s' "
                   "AND sql LIKE '%%AUTOINCREMENT%%') "
                   "AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '%.*s')",
                   (long long)n, STR_ARG(t->name), STR_ARG(t->name), (long long)n, STR_ARG(t->name),
                   STR_ARG(t->name));
    buf_char(&text, '\0');
    status = db_script(db, text.ptr);
    buf_fini(&text);
    return status == DB_DONE ? true : db_fail(db, status, err);
}

static bool table_sqlite_sessions(struct db *db, int64_t *out, struct err *err)
{
    (void)db;
    (void)err;
    *out = 0;
    return true;
}

const struct table_ops table_sqlite = {
    .list = table_sqlite_list,
    .read = table_sqlite_read,
    .count = table_sqlite_count,
    .write_begin = table_sqlite_begin,
    .write_row = table_sqlite_row,
    .write_end = table_sqlite_end,
    .last_number = table_sqlite_last,
    .count_from = table_sqlite_count_from,
    .sessions = table_sqlite_sessions,
};
