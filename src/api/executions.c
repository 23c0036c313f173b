/* executions.c - reading executions: one, a list. */
#include "api/filter.h"
#include "api/jobs.h"
#include "api/lookup.h"
#include "api/view.h"
#include "engine/show.h"
#include "value/object.h"

enum { LIST_LIMIT = 50, LIST_PAGES_MAX = 20, SUFFIX_LEN_MIN = 4 };

/* --- one --- */

/* Append an execution without what is sensitive. */
static bool show_masked(struct lookup *q, const struct stored_execution *stored, bool with_context,
                        const struct mask *mask, struct err *err)
{
    struct buf whole;

    if (mask_is_empty(mask))
        return show_stored(q->mem, &q->answer, stored, with_context, err);
    buf_init_arena(&whole, q->mem);
    return show_stored(q->mem, &whole, stored, with_context, err) &&
           mask_view(q->mem, mask, buf_view(&whole), &q->answer, err);
}

static bool run_get(struct lookup *q, struct reader *reader, struct err *err)
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
           show_masked(q, &stored, true, &mask, err);
}

void executions_get(struct call *c)
{
    struct uuid *id = ARENA_NEW(c->mem, struct uuid);

    if (call_execution_id(c, id))
        lookup_start(c, id, run_get, NULL);
}

/* --- a list --- */

static bool is_id_suffix(struct str text)
{
    if (text.len < SUFFIX_LEN_MIN || text.len >= UUID_TEXT_LEN)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char ch = text.ptr[i];
        if (!(ch >= '0' && ch <= '9') && !(ch >= 'a' && ch <= 'f') && ch != '-')
            return false;
    }
    return true;
}

/* Executions whose id ends with q: what a person types for one. */
static bool read_suffix(struct lookup *q, struct reader *reader,
                        const struct execution_filter *filter, struct stored_executions *out,
                        struct err *err)
{
    struct execution_filter by_id = *filter;
    struct dues ids;
    struct str next;

    if (!read_by_suffix(reader, q->mem, filter->q, filter->limit, &ids, err))
        return false;
    for (size_t i = 0; i < ids.count; i++) {
        struct stored_executions found;
        char text[UUID_TEXT_LEN + 1];
        uuid_write(ids.items[i].id, text);
        by_id.q = str_from(text, UUID_TEXT_LEN);
        if (!read_executions(reader, q->mem, &by_id, &found, &next, err))
            return false;
        if (found.count > 0)
            *VEC_ADD(q->mem, out) = found.items[0];
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

static bool show_item(struct lookup *q, struct reader *reader, const struct stored_execution *x,
                      struct plain_versions *plain, struct err *err)
{
    struct mask mask = {0};

    for (size_t i = 0; i < plain->count; i++)
        if (plain->items[i].version == x->version && str_eq(plain->items[i].code, x->code))
            return show_masked(q, x, false, &mask, err);
    if (!read_mask(reader, q->mem, x->id, &mask, err))
        return false;
    if (mask_is_empty(&mask))
        *VEC_ADD(q->mem, plain) = (struct plain_version){.code = x->code, .version = x->version};
    return show_masked(q, x, false, &mask, err);
}

/* Append those that the caller may see. */
static bool show_visible(struct lookup *q, struct reader *reader,
                         const struct stored_executions *list, struct plain_versions *plain,
                         int64_t *left, struct err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct stored_execution *x = &list->items[i];
        bool is_visible;

        if (!view_allows(q->call, q->mem, reader, x->org_id, x->code, x->version, &is_visible, err))
            return false;
        if (!is_visible)
            continue;
        object_next(&q->answer);
        if (!show_item(q, reader, x, plain, err))
            return false;
        --*left;
    }
    return true;
}

/* Make room for a page at once: what the answer outgrows stays until it is sent. */
static void reserve_page(struct lookup *q, const struct stored_executions *list)
{
    size_t bytes = 1000;

    for (size_t i = 0; i < list->count; i++)
        bytes += list->items[i].input_json.len + list->items[i].result_json.len +
                 list->items[i].error_json.len + 1000;
    (void)buf_reserve(&q->answer, bytes);
}

static bool show_list(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct execution_filter *filter = q->args;
    struct execution_filter page = *filter;
    struct stored_executions list = {0};
    struct plain_versions plain = {0};
    struct str next = STR_NONE;
    int64_t left = filter->limit, before;
    int pages = 0;

    buf_text(&q->answer, "{\"items\":[");
    /* What the caller may not see leaves gaps, filled from the next pages: but not for ever. */
    do {
        page.limit = left;
        if (!read_executions(reader, q->mem, &page, &list, &next, err))
            return false;
        page.cursor = next;
        if (pages == 0 && list.count == 0 && filter->cursor.len == 0 && is_id_suffix(filter->q) &&
            !read_suffix(q, reader, filter, &list, err))
            return false;
        before = left;
        reserve_page(q, &list);
        if (!show_visible(q, reader, &list, &plain, &left, err))
            return false;
    } while (before - left < (int64_t)list.count && next.len > 0 && ++pages < LIST_PAGES_MAX &&
             q->answer.len < PAGE_BYTES_MAX);
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

static bool run_list(struct lookup *q, struct reader *reader, struct err *err)
{
    struct arena *whole = q->mem, rows;
    bool ok;

    /* Rows go when the answer is written; that alone lives until it is sent. */
    arena_init(&rows);
    q->mem = &rows;
    ok = show_list(q, reader, err);
    q->mem = whole;
    arena_fini(&rows);
    return ok;
}

void executions_list(struct call *c)
{
    struct execution_filter *filter = ARENA_NEW(c->mem, struct execution_filter);

    if (filter_query(c, filter) && call_limit(c, LIST_LIMIT, &filter->limit))
        lookup_start(c, filter, run_list, NULL);
}
