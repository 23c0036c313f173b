/* read_row.h - what the files read*.c share: columns of a row as values. Internal to src/store. */
#ifndef PAWL_STORE_READ_ROW_H
#define PAWL_STORE_READ_ROW_H

#include "store/read.h"
#include "store/reader.h"

/* Room for an id that is a parameter. */
struct row_id {
    char text[UUID_TEXT_LEN + 1];
};

struct db_value row_uuid(struct uuid id, struct row_id *room);

/* A text of the current row, copied; nothing when it is NULL. */
struct str row_text(struct reader *r, struct arena *mem, enum sql sql, unsigned column);

/* The columns of EXECUTION_COLUMNS. ERR_IO when the row is damaged. */
bool row_execution(struct reader *r, struct arena *mem, enum sql sql, struct stored_execution *out,
                   struct err *err) MUST_USE;

/* Run a statement that answers one number. DB_ROW: *out is it. */
enum db_status row_int(struct reader *r, enum sql sql, const struct db_value *params,
                       unsigned count, int64_t *out);

/* Where a page ends: "r" and the row in hexadecimal, and nobody's business. */
struct str row_cursor(struct arena *mem, int64_t row);
bool row_cursor_read(struct str cursor, int64_t *row) MUST_USE;

/* A column that is an id or empty. False: it is neither. */
bool row_maybe_uuid(struct reader *r, enum sql sql, unsigned column, bool *has, struct uuid *out);

#endif
