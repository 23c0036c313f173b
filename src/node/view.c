/* view.c - executions as clients see them, without what is sensitive; see view.h. */
#include "node/view.h"

#include "engine/execution.h"
#include "engine/show.h"

/* Append what was shown without what is sensitive. */
static void append(struct arena *mem, struct buf *out, const struct mask *mask, struct str json)
{
    if (mask_is_empty(mask))
        buf_str(out, json);
    else
        mask_view(mem, mask, json, out);
}

void view_execution(struct arena *mem, struct buf *out, const struct execution *x)
{
    struct mask mask;
    struct buf whole;

    show_mask(mem, x, &mask);
    if (mask_is_empty(&mask)) {
        show_execution(out, x);
        return;
    }
    buf_init_arena(&whole, mem);
    show_execution(&whole, x);
    append(mem, out, &mask, buf_view(&whole));
}

void view_row(struct arena *mem, struct buf *out, const struct execution *x,
              const struct history_row *row)
{
    struct mask mask;
    struct buf whole;

    show_mask(mem, x, &mask);
    buf_init_arena(&whole, mem);
    show_history_row(&whole, x->id, row);
    append(mem, out, &mask, buf_view(&whole));
}
