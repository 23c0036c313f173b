/* records_executions.c - which executions have made, changed or deleted a record. */
#include "api/api.h"
#include "api/lookup.h"
#include "api/records.h"
#include "api/view.h"
#include "store/record_changes.h"
#include "value/object.h"

enum { CHANGES_LIMIT = 50, CHANGES_PAGES_MAX = 20 };

static void show_change(struct buf *out, const struct record_change_row *change)
{
    object_next(out);
    buf_char(out, '{');
    object_id(out, "executionId", change->execution);
    object_text(out, "kind", change->kind);
    object_text(out, "code", change->code);
    object_int(out, "version", change->code_version);
    object_text(out, "key", change->key);
    object_text(out, "status", change->status);
    object_text(out, "waiting", change->waiting);
    object_text(out, "action", change->action);
    object_int(out, "recordVersion", change->version);
    object_text(out, "step", change->step);
    object_text(out, "stepKind", str_of(history_kind_name(change->step_kind)));
    object_int(out, "visit", change->visit);
    object_int(out, "attempt", change->attempt);
    object_time(out, "at", change->at_us);
    buf_char(out, '}');
}

static bool show_visible_changes(struct lookup *q, struct reader *reader,
                                 const struct record_change_rows *list, int64_t *shown,
                                 struct err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct record_change_row *change = &list->items[i];
        bool is_visible;

        if (!view_allows(q->call, q->mem, reader, change->org_id, change->code,
                         change->code_version, &is_visible, err))
            return false;
        if (!is_visible)
            continue;
        show_change(&q->answer, change);
        ++*shown;
    }
    return true;
}

/* A page is filled up when the caller may not see all that it would have. */
static bool run_changes(struct lookup *q, struct reader *reader, struct err *err)
{
    struct record_change_filter page = *(const struct record_change_filter *)q->args;
    const int64_t limit = page.limit;
    struct record_change_rows list;
    struct str next;
    int64_t shown = 0, before;
    int pages = 0;

    buf_text(&q->answer, "{\"items\":[");
    do {
        before = shown;
        page.limit = limit - shown;
        if (!read_record_changes(reader, q->mem, &page, &list, &next, err) ||
            !show_visible_changes(q, reader, &list, &shown, err))
            return false;
        page.cursor = next;
    } while (shown - before < (int64_t)list.count && next.len > 0 && ++pages < CHANGES_PAGES_MAX);
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

void records_executions(struct call *c)
{
    struct record_change_filter *f = arena_zalloc(c->mem, sizeof(*f));

    f->org_id = c->user.org_id;
    f->object = c->params[0];
    f->id = c->params[1];
    f->cursor = http_query(c->http, "cursor");
    if (records_check_path(c) && call_limit(c, CHANGES_LIMIT, &f->limit))
        lookup_start(c, f, run_changes, NULL);
}
