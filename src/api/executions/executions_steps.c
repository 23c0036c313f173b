/* executions_steps.c - the history of an execution: its steps, and the context after one. */
#include "api/context.h"
#include "api/executions/executions_history_acts.h"
#include "api/list.h"
#include "api/sent.h"
#include "api/view.h"
#include "engine/advance.h"
#include "engine/show.h"
#include "store/read_execution.h"
#include "value/json.h"
#include "value/object.h"

enum {
    STEPS_LIMIT = 500,
    HISTORY_PAGE = 512,
};

static bool execution_not_found(struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
}

/* --- steps --- */

struct steps_args {
    struct uuid id;
    int64_t cursor, limit; /* the seq of the last row before; 0: begin */
    bool is_newest_first;
    bool has_acts;  /* what operators did is shown too */
    bool has_calls; /* what was sent, when it was sent, too */
    struct mask mask;
};

/* An event as it is shown, in *out; false: it is not. */
static bool steps_event(const struct steps_args *args, struct arena *scratch,
                        const struct history_row *row, struct history_row *out)
{
    if (args->has_calls && show_is_sent(row)) {
        *out = *row;
        out->input_json = show_sent(scratch, row);
        return true;
    }
    return args->has_acts && executions_act_row(scratch, row, out);
}

/* Append a row, if clients may see it; then *is_shown. */
static bool steps_show_row(struct lookup *q, struct reader *reader, struct arena *scratch,
                           const struct history_row *row, bool *is_shown, struct err *err)
{
    const struct steps_args *args = q->args;
    struct history_row shown = *row;

    *is_shown = row->kind != HISTORY_EVENT || steps_event(args, scratch, row, &shown);
    if (!*is_shown)
        return true;
    if (row->kind != HISTORY_EVENT && !sent_fill(reader, scratch, args->id, &shown, err))
        return false;
    object_next(&q->answer);
    view_history_row(scratch, &q->answer, &args->mask, args->id, &shown);
    return true;
}

/*
 * Append what clients may see of a page; *last is the seq of the last row shown. What was
 * sent is no part of the page: the answer may become full in the middle, then *left is 0.
 */
static bool steps_show_page(struct lookup *q, struct reader *reader, struct arena *scratch,
                            const struct history *page, int64_t *left, int64_t *last,
                            struct err *err)
{
    for (size_t i = 0; i < page->count && (*left) > 0; i++) {
        bool is_shown;

        if (!steps_show_row(q, reader, scratch, &page->items[i], &is_shown, err))
            return false;
        if (!is_shown)
            continue;
        *last = page->items[i].seq;
        *left = q->answer.len < PAGE_BYTES_MAX ? *left - 1 : 0;
    }
    return true;
}

/* One page of the store. *is_last: nothing comes behind it. */
static bool add_page(struct lookup *q, struct reader *reader, int64_t *after, int64_t *left,
                     int64_t *last, bool *is_last, struct err *err)
{
    const struct steps_args *args = q->args;
    struct history page;
    struct arena scratch;
    bool found, is_cut, ok;

    arena_init(&scratch);
    ok = read_history_page(reader, &scratch, args->id, *after, HISTORY_PAGE, PAGE_BYTES_MAX, &page,
                           &is_cut, &found, err) &&
         (found || execution_not_found(err));
    ok = ok && steps_show_page(q, reader, &scratch, &page, left, last, err);
    if (ok && page.count > 0)
        *after = page.items[page.count - 1].seq;
    *is_last = ok && !is_cut && page.count < HISTORY_PAGE;
    arena_fini(&scratch);
    return ok;
}

/*
 * The rows right before *before, the last first; at most *window of them, which
 * becomes smaller when they are too large to be read at once. Seqs have no gaps.
 */
static bool add_page_back(struct lookup *q, struct reader *reader, int64_t *before, int64_t *window,
                          int64_t *left, struct err *err)
{
    const struct steps_args *args = q->args;
    int64_t count = *window < *before - 1 ? *window : *before - 1;
    struct history page;
    struct arena scratch;
    bool found, is_cut, is_shown, ok;

    arena_init(&scratch);
    ok = read_history_page(reader, &scratch, args->id, *before - 1 - count, count, PAGE_BYTES_MAX,
                           &page, &is_cut, &found, err) &&
         (found || execution_not_found(err));
    if (ok && is_cut && count > 1) {
        *window = (count + 1) / 2;
    } else if (ok) {
        /* Those that do not fit are left to the next page. */
        for (size_t i = page.count; ok && i-- > 0 && q->answer.len < PAGE_BYTES_MAX;) {
            ok = steps_show_row(q, reader, &scratch, &page.items[i], &is_shown, err);
            *left -= ok && is_shown;
            *before = page.items[i].seq;
        }
    }
    arena_fini(&scratch);
    return ok;
}

static bool show_steps_back(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct steps_args *args = q->args;
    int64_t before = args->cursor, left = args->limit, window;
    struct progress now;
    bool found;

    if (before == 0) {
        if (!read_progress(reader, q->mem, args->id, INT64_MAX - 1, 1, &now, &found, err))
            return false;
        if (!found)
            return execution_not_found(err);
        before = now.seq + 1;
    }
    list_open(&q->answer);
    while (before > 1 && left > 0 && q->answer.len < PAGE_BYTES_MAX) {
        window = left < HISTORY_PAGE ? left : HISTORY_PAGE;
        for (int64_t at = before; before == at;)
            if (!add_page_back(q, reader, &before, &window, &left, err))
                return false;
    }
    list_close(&q->answer, before > 1 ? list_number_cursor(q->mem, before) : STR_NONE);
    return true;
}

static bool run_steps(struct lookup *q, struct reader *reader, struct err *err)
{
    struct steps_args *args = q->args;
    int64_t after, last = 0, left = args->limit;
    bool is_last = false;

    if (!list_cursor_number(http_query(q->call->http, "cursor"), &args->cursor, err) ||
        !view_check_id(q->call, q->mem, reader, args->id, err) ||
        !read_mask(reader, q->mem, args->id, &args->mask, err))
        return false;
    if (args->is_newest_first)
        return show_steps_back(q, reader, err);
    after = args->cursor;
    list_open(&q->answer);
    while (left > 0 && !is_last && q->answer.len < PAGE_BYTES_MAX)
        if (!add_page(q, reader, &after, &left, &last, &is_last, err))
            return false;
    /* Rows of events are not shown, but may be the last that were looked at. */
    list_close(&q->answer, is_last && left > 0
                               ? STR_NONE
                               : list_number_cursor(q->mem, left > 0 ? after : last));
    return true;
}

void executions_steps(struct call *c)
{
    struct steps_args *args = ARENA_NEW(c->mem, struct steps_args);
    struct str events = http_query(c->http, "events");
    struct str order = http_query(c->http, "order");

    if (!call_execution_id(c, &args->id) || !call_limit(c, STEPS_LIMIT, &args->limit))
        return;
    args->has_calls = str_eq(events, STR("all"));
    args->has_acts = args->has_calls || str_eq(events, STR("true"));
    args->is_newest_first = str_eq(order, STR("newest"));
    if (events.len > 0 && !args->has_acts && !str_eq(events, STR("false")))
        call_refuse_text(c, ERR_BAD_REQUEST, "events is true, all or false");
    else if (order.len > 0 && !args->is_newest_first && !str_eq(order, STR("oldest")))
        call_refuse_text(c, ERR_BAD_REQUEST, "order is newest or oldest");
    else
        lookup_start(c, args, run_steps, NULL);
}

/* --- the context after a step --- */

struct context_args {
    struct uuid id;
    struct uuid at;
    bool has_at;
};

static bool run_context(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct context_args *args = q->args;
    struct str context;

    if (!context_read(q, reader, args->id, args->has_at ? &args->at : NULL, &context, err))
        return false;
    buf_str(&q->answer, context);
    return true;
}

void executions_context(struct call *c)
{
    struct context_args *args = ARENA_NEW(c->mem, struct context_args);
    struct str at = http_query(c->http, "at");

    args->has_at = at.len > 0;
    if (!call_execution_id(c, &args->id))
        return;
    if (args->has_at && !uuid_read(at, &args->at))
        call_refuse_text(c, ERR_NOT_FOUND, "`at` is the id of a step, as /steps shows it");
    else
        lookup_start(c, args, run_context, NULL);
}
