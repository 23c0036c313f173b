/* records_executions.c - which executions have made, changed or deleted a record. */
#include "api/executions/records.h"
#include "api/list.h"
#include "store/read_execution.h"
#include "store/read_record.h"
#include "value/object.h"

struct changes_page {
    struct list_page list;
    struct record_change_filter filter;
};

static bool record_changes_read(struct list_page *l)
{
    struct record_change_filter *filter = &((struct changes_page *)l)->filter;
    struct record_change_rows rows;

    filter->cursor = l->cursor;
    filter->limit = l->limit;
    if (!read_record_changes(l->reader, l->mem, filter, &rows, &l->next, l->err))
        return false;
    LIST_ROWS(l, &rows);
    return true;
}

static bool record_changes_show(struct list_page *l, const void *row)
{
    const struct record_change_row *change = row;
    struct buf *out = l->out;
    struct mask mask;

    if (!read_mask(l->reader, l->mem, change->execution, &mask, l->err))
        return false;
    buf_char(out, '{');
    object_id(out, "executionId", change->execution);
    object_text(out, "kind", change->kind);
    object_text(out, "code", change->code);
    object_int(out, "version", change->code_version);
    object_text(out, "key", mask_text(l->mem, &mask, change->key));
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
    return true;
}

static const struct list_kind record_changes_kind = {
    .read = record_changes_read,
    .show = record_changes_show,
    .owner = LIST_OWNER(struct record_change_row, org_id, code, code_version),
};

void records_executions(struct call *c)
{
    struct changes_page *p = ARENA_NEW(c->mem, struct changes_page);

    p->filter.org_id = c->user.org_id;
    p->filter.object = c->params[0];
    p->filter.id = c->params[1];
    if (records_check_path(c))
        list_start(c, &p->list, &record_changes_kind);
}
