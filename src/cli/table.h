/*
 * table.h - rows of texts under a head, in columns as wide as they need to be.
 *
 *     static const struct str head[] = {...};
 *     struct table t = {.head = head, .columns = 2};
 *
 *     table_print(&t, cells, rows);
 */
#ifndef PAWL_CLI_TABLE_H
#define PAWL_CLI_TABLE_H

#include "base/str.h"

enum { TABLE_COLUMNS_MAX = 8 };

struct table {
    const struct str *head;
    unsigned columns;
    size_t widths[TABLE_COLUMNS_MAX]; /* so far */
    bool has_head;                    /* it was printed */
};

/*
 * Print some rows, `columns` cells each; before the first ones the head. An
 * empty cell is shown as -. What is printed is as wide as all of it so far: what is longer later
 * is not cut for it.
 */
void table_print(struct table *t, const struct str *cells, size_t rows);

#endif
