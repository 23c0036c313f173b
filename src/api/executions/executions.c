/* executions.c - reading executions: one, a list. */
#include "api/filter.h"
#include "api/list.h"
#include "api/people/jobs.h"
#include "api/search.h"
#include "api/view.h"
#include "base/text/hex.h"
#include "engine/show.h"
#include "store/read_execution.h"
#include "store/read_executions.h"
#include "store/read_find.h"

enum { SUFFIX_LEN_MIN = 4 };

/* --- one --- */

/* Append an execution without what is sensitive. */
static bool show_masked(struct arena *mem, struct buf *out, const struct stored_execution *stored,
                        bool with_context, const struct mask *mask, struct err *err)
{
    struct buf whole;

    if (mask_is_empty(mask))
        return show_stored(mem, out, stored, with_context, err);
    buf_init_arena(&whole, mem);
    if (!show_stored(mem, &whole, stored, with_context, err))
        return false;
    mask_view(mem, mask, buf_view(&whole), out);
    return true;
}

static bool execution_run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct uuid *id = q->args;
    struct stored_execution stored;
    struct mask mask;
    bool found;

    if (!read_execution(reader, q->mem, *id, &stored, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
    return view_check(q->call, q->mem, reader, stored.org_id, stored.code, stored.version, err) &&
           read_again_as(reader, *id, &stored.again_as, &stored.has_again_as, err) &&
           read_step_meta(reader, q->mem, *id, &stored.step_meta, err) &&
           jobs_explain(q, reader, &stored, err) && read_mask(reader, q->mem, *id, &mask, err) &&
           show_masked(q->mem, &q->answer, &stored, true, &mask, err);
}

void executions_get(struct call *c)
{
    struct uuid *id = ARENA_NEW(c->mem, struct uuid);

    if (call_execution_id(c, id))
        lookup_start(c, id, execution_run_get, NULL);
}

/* --- a list --- */

static bool is_id_suffix(struct str text)
{
    if (text.len < SUFFIX_LEN_MIN || text.len >= UUID_TEXT_LEN)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char ch = text.ptr[i];
        if (hex_digit_lower(ch) < 0 && ch != '-')
            return false;
    }
    return true;
}

/* Versions of definitions that have nothing sensitive, found while a list is shown. */
struct plain_version {
    struct str code;
    int64_t version;
};

struct plain_versions {
    VEC_OF(struct plain_version);
};

struct executions_page {
    struct list_page list;
    struct execution_filter filter;
    struct plain_versions plain;
};

/* Executions whose id ends with q: what a person types for one. */
static bool read_suffix(struct executions_page *p, struct stored_executions *out)
{
    struct arena *mem = p->list.mem;
    struct execution_filter by_id = p->filter;
    struct dues ids;
    struct str next;

    if (!read_by_suffix(p->list.reader, mem, p->filter.q, p->filter.limit, &ids, p->list.err))
        return false;
    for (size_t i = 0; i < ids.count; i++) {
        struct stored_executions found;
        by_id.q = UUID_STR(ids.items[i].id);
        if (!read_executions(p->list.reader, mem, &by_id, &found, &next, p->list.err))
            return false;
        if (found.count > 0)
            *VEC_ADD(mem, out) = found.items[0];
    }
    return true;
}

static bool executions_show(struct list_page *l, const void *row)
{
    struct plain_versions *plain = &((struct executions_page *)l)->plain;
    const struct stored_execution *x = row;
    struct mask mask = {0};

    for (size_t i = 0; i < plain->count; i++)
        if (plain->items[i].version == x->version && str_eq(plain->items[i].code, x->code))
            return show_masked(l->mem, l->out, x, false, &mask, l->err);
    if (!read_mask(l->reader, l->mem, x->id, &mask, l->err))
        return false;
    if (mask_is_empty(&mask))
        *VEC_ADD(l->mem, plain) = (struct plain_version){.code = x->code, .version = x->version};
    return show_masked(l->mem, l->out, x, false, &mask, l->err);
}

/* Take memory for a page at once: what the answer outgrows stays until it is sent. */
static void reserve_page(struct buf *answer, const struct stored_executions *list)
{
    size_t bytes = 1000;

    for (size_t i = 0; i < list->count; i++)
        bytes += list->items[i].input_json.len + list->items[i].result_json.len +
                 list->items[i].error_json.len + 1000;
    (void)buf_reserve(answer, bytes);
}

static bool executions_read(struct list_page *l)
{
    struct executions_page *p = (struct executions_page *)l;
    struct stored_executions rows;

    p->filter.cursor = l->cursor;
    p->filter.limit = l->limit;
    if (!search_processes(l->reader, l->mem, &p->filter, l->err) ||
        !read_executions(l->reader, l->mem, &p->filter, &rows, &l->next, l->err))
        return false;
    if (l->cursor.len == 0 && rows.count == 0 && is_id_suffix(p->filter.q) &&
        !read_suffix(p, &rows))
        return false;
    reserve_page(l->out, &rows);
    LIST_ROWS(l, &rows);
    return true;
}

static const struct list_kind executions_kind = {
    .read = executions_read,
    .show = executions_show,
    .owner = LIST_OWNER(struct stored_execution, org_id, code, version),
};

void executions_list(struct call *c)
{
    struct executions_page *p = ARENA_NEW(c->mem, struct executions_page);

    if (filter_query(c, &p->filter))
        list_start(c, &p->list, &executions_kind);
}
