/* table.c - see table.h. */
#include "cli/table.h"

#include "base/utf8.h"

#include <stdio.h>

enum { COLUMN_MAX = 40, COLUMNS_MAX = 16 };

void table_add(struct arena *mem, struct table *t, struct str cell)
{
    *VEC_ADD(mem, t) = cell.len > 0 ? cell : STR("-");
}

static size_t width_of(struct str cell)
{
    size_t width = utf8_count(cell);

    return width > COLUMN_MAX ? COLUMN_MAX : width;
}

void table_print(const struct table *t)
{
    size_t widths[COLUMNS_MAX] = {0};

    ASSERT(t->columns > 0 && t->columns <= COLUMNS_MAX && t->count % t->columns == 0);
    for (size_t i = 0; i < t->count; i++)
        if (width_of(t->items[i]) > widths[i % t->columns])
            widths[i % t->columns] = width_of(t->items[i]);
    for (size_t i = 0; i < t->count; i++) {
        struct str cell = t->items[i];
        size_t column = i % t->columns, width = width_of(cell);
        bool is_last = column + 1 == t->columns;

        if (utf8_count(cell) > COLUMN_MAX)
            cell = str_slice(cell, 0, utf8_offset(cell, COLUMN_MAX));
        printf("%.*s%*s%s", STR_ARG(cell), is_last ? 0 : (int)(widths[column] - width) + 2, "",
               is_last ? "\n" : "");
    }
}
