/* table.c - see table.h: what both databases share. */
#include "store/db/table.h"

void table_write_columns(struct buf *out, const struct whole_table *t)
{
    for (size_t i = 0; i < t->columns.count; i++)
        buf_printf(out, "%s\"%.*s\"", i > 0 ? ", " : "", STR_ARG(t->columns.items[i]));
}

bool table_gather(void *context, const struct cell *cells, struct err *err)
{
    struct table_gathering *g = context;
    struct whole_table *last =
        g->tables->count == 0 ? NULL : &g->tables->items[g->tables->count - 1];

    if (last == NULL || !str_eq(last->name, cells[0].text)) {
        last = VEC_ADD(g->mem, g->tables);
        *last = (struct whole_table){.name = str_copy(g->mem, cells[0].text)};
    }
    if (last->columns.count == TABLE_COLUMNS_MAX)
        return err_set(err, ERR_INTERNAL, "table %.*s has too many columns", STR_ARG(last->name));
    *VEC_ADD(g->mem, &last->columns) = str_copy(g->mem, cells[1].text);
    return true;
}

bool table_take_number(void *context, const struct cell *cells, struct err *err)
{
    int64_t *out = context;

    (void)err;
    if (!cells[0].is_null && !str_to_int64(cells[0].text, out))
        *out = 0;
    return true;
}
