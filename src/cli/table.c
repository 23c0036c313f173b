/* table.c - see table.h. */
#include "cli/table.h"

#include "base/utf8.h"

#include <stdio.h>

enum { COLUMN_MAX = 40 };

static size_t width_of(struct str cell)
{
    size_t width = utf8_count(cell);

    return width < COLUMN_MAX ? width : COLUMN_MAX;
}

static void widen(struct table *t, const struct str *row)
{
    for (unsigned i = 0; i < t->columns; i++)
        if (width_of(row[i]) > t->widths[i])
            t->widths[i] = width_of(row[i]);
}

static void print_row(const struct table *t, const struct str *row)
{
    for (unsigned i = 0; i < t->columns; i++) {
        struct str text = row[i].len > 0 ? row[i] : STR("-");
        size_t width = width_of(text);

        text = str_slice(text, 0, utf8_offset(text, width));
        printf("%.*s%*s", STR_ARG(text),
               i + 1 < t->columns ? (int)(t->widths[i] > width ? t->widths[i] - width : 0) + 2 : 0,
               "");
    }
    putchar('\n');
}

void table_print(struct table *t, const struct str *cells, size_t rows)
{
    ASSERT(t->columns <= TABLE_COLUMNS_MAX);
    widen(t, t->head);
    for (size_t i = 0; i < rows; i++)
        widen(t, cells + i * t->columns);
    if (!t->has_head)
        print_row(t, t->head);
    t->has_head = true;
    for (size_t i = 0; i < rows; i++)
        print_row(t, cells + i * t->columns);
}
