/*
 * read_row.h - what the files read*.c share: the rows of a statement as values. Internal to
 * src/store.
 *
 *     struct rows rows = rows_run(r, mem, SQL_X, DB_PARAMS(db_int(after), db_int(limit)));
 *
 *     for (; rows_has(&rows); rows_next(&rows))
 *         *VEC_ADD(mem, out) = (struct x){.id = rows_uuid(&rows, 0), .name = rows_text(&rows, 1)};
 *     return rows_end(&rows, err);
 */
#ifndef PAWL_STORE_READ_READ_ROW_H
#define PAWL_STORE_READ_READ_ROW_H

#include "store/read.h"
#include "store/read/reader.h"

struct stored_execution;

struct rows {
    struct db *db;
    struct arena *mem; /* of the texts; NULL where none is copied */
    enum sql sql;
    enum db_status status;
};

/* Run a first statement, which may find the connection lost: see reader_run(). */
struct rows rows_run(struct reader *r, struct arena *mem, enum sql sql,
                     const struct db_value *params, unsigned count);

/* The same where rows may be large: see db_stream(). */
struct rows rows_stream(struct reader *r, struct arena *mem, enum sql sql,
                        const struct db_value *params, unsigned count);

/* Run a statement after another one, of the same transaction. */
struct rows rows_then(struct reader *r, struct arena *mem, enum sql sql,
                      const struct db_value *params, unsigned count);
struct rows rows_then_stream(struct reader *r, struct arena *mem, enum sql sql,
                             const struct db_value *params, unsigned count);

/* Whether there is a row, and its columns, from 0. */
static inline bool rows_has(const struct rows *rows)
{
    return rows->status == DB_ROW;
}

static inline int64_t rows_int(const struct rows *rows, unsigned column)
{
    return db_column_int(rows->db, rows->sql, column);
}

/* A text: copied, or as it stands until the next row. STR_NONE when it is NULL or empty. */
static inline struct str rows_text(const struct rows *rows, unsigned column)
{
    return db_column_copy(rows->db, rows->mem, rows->sql, column);
}

static inline struct str rows_view(const struct rows *rows, unsigned column)
{
    return db_column_text(rows->db, rows->sql, column);
}

/* An id. The row is damaged when it is none. */
struct uuid rows_uuid(struct rows *rows, unsigned column);

/* An id or nothing. False: it is neither. */
bool rows_maybe_uuid(const struct rows *rows, unsigned column, bool *has, struct uuid *out);

/* The next row; nothing where the current one is damaged. */
void rows_next(struct rows *rows);

/* The current row holds what nobody has written: rows_end() fails. */
void rows_damaged(struct rows *rows);

/* Leave the rows that follow unread. */
void rows_stop(struct rows *rows);

/* Leave the statement. False: it failed. */
bool rows_end(struct rows *rows, struct err *err);

/* The columns of EXECUTION_COLUMNS. ERR_IO when the row is damaged. */
bool row_execution(struct rows *rows, struct stored_execution *out, struct err *err) MUST_USE;

/* Run a statement that answers one number. DB_ROW: *out is it. */
enum db_status row_int(struct reader *r, enum sql sql, const struct db_value *params,
                       unsigned count, int64_t *out);

/* The same where there may be none, which is 0. */
bool row_int_or_0(struct reader *r, enum sql sql, const struct db_value *params, unsigned count,
                  int64_t *out, struct err *err) MUST_USE;

/* Where a page ends: "r" and the row in hexadecimal, and nobody's business. */
struct str row_cursor(struct arena *mem, int64_t row);

/* *row stays as it is without a cursor. ERR_BAD_REQUEST: it is not one of ours. */
bool row_cursor_read(struct str cursor, int64_t *row, struct err *err) MUST_USE;

#endif
