/*
 * table.h - rows of texts under each other, for people.
 *
 * A table is no wider than the terminal: the widest columns are cut, what names
 * a row last of all.
 */
#ifndef PAWL_CLI_TABLE_H
#define PAWL_CLI_TABLE_H

#include "base/str.h"
#include "base/vec.h"

enum { TABLE_COLUMNS_MAX = 16 };

/* Row after row, `columns` cells each; the first row is the head. */
struct table {
    size_t columns;
    VEC_OF(struct str);
    size_t widths[TABLE_COLUMNS_MAX]; /* since it was first printed */
};

/* Add a cell; "-" for nothing. */
void table_add(struct arena *mem, struct table *t, struct str cell);

/*
 * Print the rows and forget them: further ones are printed below with the same widths. Columns are
 * as wide as their widest cell, 40 characters at most, but for the last one.
 */
void table_print(struct table *t);

#endif
