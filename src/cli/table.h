/* table.h - rows of texts under each other, for people. */
#ifndef PAWL_CLI_TABLE_H
#define PAWL_CLI_TABLE_H

#include "base/str.h"
#include "base/vec.h"

/* Row after row, `columns` cells each; the first row is the head. */
struct table {
    size_t columns;
    VEC_OF(struct str);
};

void table_add(struct arena *mem, struct table *t, struct str cell);

/* Print it: columns as wide as their widest cell, 40 characters at most; "-" for nothing. */
void table_print(const struct table *t);

#endif
