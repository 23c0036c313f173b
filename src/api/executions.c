/* executions.c - reading executions: one, a list, the steps of one. */
#include "api/query.h"
#include "api/view.h"
#include "engine/show.h"
#include "value/object.h"

enum {
    LIST_LIMIT = 50,
    LIST_PAGES_MAX = 20,
    STEPS_LIMIT = 500,
    HISTORY_PAGE = 512,
    SUFFIX_LEN_MIN = 4
};

/* --- one --- */

static bool run_get(struct query *q, struct reader *reader, struct err *err)
{
    const struct uuid *id = q->args;
    struct stored_execution stored;
    bool found;

    if (!read_execution(reader, q->mem, *id, &stored, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
    if (!view_check(q->call, q->mem, reader, stored.org_id, stored.code, stored.version, err))
        return false;
    return show_stored(q->mem, &q->answer, &stored, true, err);
}

void executions_get(struct call *c)
{
    struct uuid *id = ARENA_NEW(c->mem, struct uuid);

    if (call_execution_id(c, id))
        query_start(c, id, run_get, NULL);
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
static bool read_suffix(struct query *q, struct reader *reader,
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

/* Append those that the caller may see. */
static bool show_visible(struct query *q, struct reader *reader,
                         const struct stored_executions *list, int64_t *left, struct err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct stored_execution *x = &list->items[i];
        bool is_visible;

        if (!view_allows(q->call, q->mem, reader, x->org_id, x->code, x->version, &is_visible, err))
            return false;
        if (!is_visible)
            continue;
        object_next(&q->answer);
        if (!show_stored(q->mem, &q->answer, x, false, err))
            return false;
        --*left;
    }
    return true;
}

static bool run_list(struct query *q, struct reader *reader, struct err *err)
{
    const struct execution_filter *filter = q->args;
    struct execution_filter page = *filter;
    struct stored_executions list = {0};
    struct str next = STR_NONE;
    int64_t left = filter->limit;
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
        if (!show_visible(q, reader, &list, &left, err))
            return false;
    } while (left > 0 && next.len > 0 && ++pages < LIST_PAGES_MAX);
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

static bool is_status(struct str text)
{
    for (int i = 0; i < STATUS_COUNT; i++)
        if (str_eq(text, str_of(status_name((enum execution_status)i))))
            return true;
    return false;
}

static bool is_kind(struct str text)
{
    return str_eq(text, STR("scenario")) || str_eq(text, STR("schema")) ||
           str_eq(text, STR("machine"));
}

void executions_list(struct call *c)
{
    struct execution_filter *filter = ARENA_NEW(c->mem, struct execution_filter);

    *filter = (struct execution_filter){
        .kind = http_query(c->http, "kind"),
        .code = http_query(c->http, "code"),
        .status = http_query(c->http, "status"),
        .key = http_query(c->http, "key"),
        .step = http_query(c->http, "step"),
        .q = http_query(c->http, "q"),
        .org_id = c->user.org_id,
        .cursor = http_query(c->http, "cursor"),
    };
    if (filter->kind.len > 0 && !is_kind(filter->kind))
        call_refuse_text(c, ERR_BAD_REQUEST, "kind is one of scenario, schema, machine");
    else if (filter->status.len > 0 && !is_status(filter->status))
        call_refuse_text(c, ERR_BAD_REQUEST,
                         "status is one of pending, running, waiting, waiting_debug, "
                         "compensating, completed, failed, cancelled");
    else if (call_limit(c, LIST_LIMIT, &filter->limit) && call_time(c, "from", &filter->from_us) &&
             call_time(c, "to", &filter->to_us))
        query_start(c, filter, run_list, NULL);
}

/* --- steps --- */

struct steps_args {
    struct uuid id;
    int64_t after, limit;
};

/* Append what clients may see of a page; *last is the seq of the last row shown. */
static int64_t show_page(struct query *q, const struct history *page, int64_t room, int64_t *last)
{
    const struct steps_args *args = q->args;
    int64_t shown = 0;

    for (size_t i = 0; i < page->count && shown < room; i++) {
        if (page->items[i].kind == HISTORY_EVENT)
            continue;
        object_next(&q->answer);
        show_history_row(&q->answer, args->id, &page->items[i]);
        *last = page->items[i].seq;
        shown++;
    }
    return shown;
}

static bool run_steps(struct query *q, struct reader *reader, struct err *err)
{
    const struct steps_args *args = q->args;
    int64_t after = args->after, last = 0, left = args->limit;
    struct history page;
    bool found;

    if (!view_check_id(q->call, q->mem, reader, args->id, err))
        return false;
    buf_text(&q->answer, "{\"items\":[");
    do {
        if (!read_history(reader, q->mem, args->id, after, HISTORY_PAGE, &page, &found, err))
            return false;
        if (!found)
            return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
        left -= show_page(q, &page, left, &last);
        if (page.count > 0)
            after = page.items[page.count - 1].seq;
    } while (left > 0 && page.count == HISTORY_PAGE);
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor",
                left > 0 ? STR_NONE : str_printf(q->mem, "%lld", (long long)last));
    buf_char(&q->answer, '}');
    return true;
}

void executions_steps(struct call *c)
{
    struct steps_args *args = ARENA_NEW(c->mem, struct steps_args);
    struct str cursor = http_query(c->http, "cursor");

    if (!call_execution_id(c, &args->id) || !call_limit(c, STEPS_LIMIT, &args->limit))
        return;
    if (cursor.len > 0 && (!str_to_int64(cursor, &args->after) || args->after < 0))
        call_refuse_text(c, ERR_BAD_REQUEST, "this cursor is not one of ours");
    else
        query_start(c, args, run_steps, NULL);
}
