/* list.c - see list.h. */
#include "api/list.h"

#include "api/view.h"
#include "value/object.h"

bool list_bad_cursor(struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
}

bool list_cursor_number(struct str cursor, int64_t *out, struct err *err)
{
    *out = 0;
    if (cursor.len == 0 || (str_to_int64(cursor, out) && *out > 0))
        return true;
    return list_bad_cursor(err);
}

struct str list_number_cursor(struct arena *mem, int64_t number)
{
    return str_printf(mem, "%lld", (long long)number);
}

bool list_cursor_id(struct str cursor, struct err *err)
{
    struct uuid id;

    return cursor.len == 0 || uuid_read(cursor, &id) || list_bad_cursor(err);
}

void list_open(struct buf *out)
{
    buf_text(out, "{\"items\":[");
}

void list_close(struct buf *out, struct str next)
{
    buf_char(out, ']');
    object_text(out, "nextCursor", next);
    buf_char(out, '}');
}

const void *list_rows(struct list_page *l, const void *rows, size_t row_bytes, size_t count)
{
    bool has_more = (int64_t)count > l->limit;

    l->rows = rows;
    l->row_bytes = row_bytes;
    l->count = has_more ? (size_t)l->limit : count;
    return has_more ? l->rows + (l->count - 1) * row_bytes : NULL;
}

static bool list_may_show(struct list_page *l, const char *row, bool *out)
{
    const struct list_owner *o = &l->kind->owner;

    *out = true;
    return !o->is_set ||
           view_allows(l->call, l->mem, l->reader, *(const struct str *)(row + o->org_id),
                       *(const struct str *)(row + o->code), *(const int64_t *)(row + o->version),
                       out, l->err);
}

static bool list_show_row(struct list_page *l, const void *row)
{
    if (l->kind->show_members == NULL) {
        object_next(l->out);
        return l->kind->show(l, row);
    }
    object_item(l->out);
    l->kind->show_members(l, row);
    buf_char(l->out, '}');
    return true;
}

/* Append the rows of one read that the caller may see; *is_thinned: some were left out. */
static bool list_show_rows(struct list_page *l, bool *is_thinned)
{
    *is_thinned = false;
    for (size_t i = 0; i < l->count; i++) {
        const char *row = l->rows + i * l->row_bytes;
        bool is_visible;

        if (!list_may_show(l, row, &is_visible))
            return false;
        if (!is_visible) {
            *is_thinned = true;
            continue;
        }
        if (!list_show_row(l, row))
            return false;
        l->limit--;
    }
    return true;
}

static bool list_fill(struct list_page *l)
{
    bool is_thinned;
    int pages = 0;

    list_open(l->out);
    do {
        l->count = 0;
        l->next = STR_NONE;
        if (!l->kind->read(l) || !list_show_rows(l, &is_thinned))
            return false;
        l->cursor = l->next;
    } while (is_thinned && l->next.len > 0 && ++pages < LIST_PAGES_MAX &&
             l->out->len < PAGE_BYTES_MAX);
    list_close(l->out, l->next);
    return true;
}

static bool list_run(struct lookup *q, struct reader *reader, struct err *err)
{
    struct list_page *l = q->args;
    struct arena rows;
    bool ok;

    /* Rows go when the answer is written; that alone lives until it is sent. */
    arena_init(&rows);
    l->call = q->call;
    l->reader = reader;
    l->mem = &rows;
    l->out = &q->answer;
    l->err = err;
    ok = list_fill(l);
    arena_fini(&rows);
    return ok;
}

void list_start(struct call *c, struct list_page *l, const struct list_kind *kind)
{
    l->kind = kind;
    l->cursor = http_query(c->http, "cursor");
    if (call_limit(c, LIST_LIMIT, &l->limit))
        lookup_start(c, l, list_run, NULL);
}
