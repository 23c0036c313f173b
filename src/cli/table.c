/* table.c - see table.h. */
#include "cli/table.h"

#include "cli/term.h"

#include <stdio.h>

enum { COLUMN_MAX = 40, COLUMN_MIN = 8, GAP = 2 };

void table_add(struct arena *mem, struct table *t, struct str cell)
{
    *VEC_ADD(mem, t) = cell.len > 0 ? cell : STR("-");
}

/* The column to cut next: the widest but the first, which names the row; or the first. */
static size_t column_to_cut(const struct table *t)
{
    size_t widest = 0;

    for (size_t i = 1; i < t->columns; i++)
        if (t->widths[i] > COLUMN_MIN && (widest == 0 || t->widths[i] > t->widths[widest]))
            widest = i;
    return widest;
}

static void set_widths(struct table *t)
{
    size_t all = GAP * (t->columns - 1), width = term_width();

    for (size_t i = 0; i < t->count; i++) {
        size_t column = i % t->columns, wanted = term_columns(t->items[i]);

        if (wanted > COLUMN_MAX && column + 1 < t->columns)
            wanted = COLUMN_MAX;
        if (wanted > t->widths[column])
            t->widths[column] = wanted;
    }
    for (size_t i = 0; i < t->columns; i++)
        all += t->widths[i];
    for (; all > width; all--) {
        size_t column = column_to_cut(t);

        if (t->widths[column] <= COLUMN_MIN)
            return;
        t->widths[column]--;
    }
}

void table_print(struct table *t)
{
    struct buf line;

    ASSERT(t->columns > 0 && t->columns <= TABLE_COLUMNS_MAX && t->count % t->columns == 0);
    if (t->widths[0] == 0)
        set_widths(t);
    buf_init(&line);
    for (size_t i = 0; i < t->count; i++) {
        size_t column = i % t->columns, start = line.len, used;

        term_put_short(&line, t->items[i], t->widths[column]);
        used = term_columns(str_from(line.ptr + start, line.len - start));
        if (column + 1 == t->columns)
            buf_char(&line, '\n');
        else
            for (size_t n = used; n < t->widths[column] + GAP; n++)
                buf_char(&line, ' ');
    }
    (void)fwrite(line.ptr, 1, line.len, stdout);
    buf_fini(&line);
    t->count = 0;
}
