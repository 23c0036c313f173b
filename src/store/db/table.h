/*
 * table.h - whole tables, row by row, on either database: what moves an installation from one to
 * the other reads and writes.
 *
 *     list --> tables with their columns
 *     read --> each row, its cells as texts
 *     write_begin --> write_row ... --> write_end      in place of all rows that were there
 *
 * Statements are made from the names of tables and columns, so they do not stand in sql.def; the
 * names are those that the database itself gives. Nothing else may run on the connection between
 * write_begin and write_end.
 */
#ifndef PAWL_STORE_DB_TABLE_H
#define PAWL_STORE_DB_TABLE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "store/db/db.h"

/* A value as text: numbers in decimal, JSON as it was written. */
struct cell {
    bool is_null;
    struct str text;
};

struct table_columns {
    VEC_OF(struct str);
};

/* Columns are in the order of their names, which both databases agree on. */
struct whole_table {
    struct str name;
    struct table_columns columns;
};

struct tables {
    VEC_OF(struct whole_table);
};

/* One row; its cells hold until it returns. False with *err ends the reading. */
typedef bool table_row_fn(void *context, const struct cell *cells, struct err *err);

struct table_ops {
    /* All tables of the database, by name, in `mem`. */
    bool (*list)(struct db *db, struct arena *mem, struct tables *out, struct err *err);

    bool (*read)(struct db *db, const struct whole_table *t, table_row_fn *row, void *context,
                 struct err *err);
    bool (*count)(struct db *db, const struct whole_table *t, int64_t *out, struct err *err);

    /* Within a transaction. Triggers do not fire. */
    bool (*write_begin)(struct db *db, const struct whole_table *t, struct err *err);
    bool (*write_row)(struct db *db, const struct whole_table *t, const struct cell *cells,
                      struct err *err);
    bool (*write_end)(struct db *db, const struct whole_table *t, struct err *err);

    /*
     * The last number that was given to a row of the table, also when that row is gone; 0 where
     * the database counts nothing. And: never give one up to `n` again.
     */
    bool (*last_number)(struct db *db, const struct whole_table *t, int64_t *out, struct err *err);
    bool (*count_from)(struct db *db, const struct whole_table *t, int64_t n, struct err *err);

    /* How many other sessions are those of a server; a file is locked by its folder instead. */
    bool (*sessions)(struct db *db, int64_t *out, struct err *err);
};

extern const struct table_ops table_sqlite, table_postgres;

/* --- what both databases share --- */

enum { TABLE_COLUMNS_MAX = 64 };

/* "a", "b", "c": the columns of a statement. */
void table_write_columns(struct buf *out, const struct whole_table *t);

/* For list: a row is the name of a table and that of a column, in order. */
struct table_gathering {
    struct arena *mem;
    struct tables *tables;
};
bool table_gather(void *context, const struct cell *cells, struct err *err);

/* A row of one number, which `context`, an int64_t, takes; 0 for NULL. */
bool table_take_number(void *context, const struct cell *cells, struct err *err);

#endif
