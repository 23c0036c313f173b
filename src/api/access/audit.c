/*
 * audit.c - who did what.
 *
 * why: decision 0127
 */
#include "api/access/directory.h"
#include "api/api.h"
#include "api/list.h"
#include "store/read_audit.h"
#include "value/object.h"

struct audit_page {
    struct list_page list;
    struct audit_filter filter;
};

static bool audit_read(struct list_page *l)
{
    struct audit_filter *filter = &((struct audit_page *)l)->filter;
    struct stored_audits rows;

    filter->cursor = l->cursor;
    filter->limit = l->limit;
    if (!read_audit(l->reader, l->mem, filter, &rows, &l->next, l->err))
        return false;
    LIST_ROWS(l, &rows);
    return true;
}

static void audit_show(struct list_page *l, const void *row)
{
    const struct stored_audit *a = row;
    struct buf *out = l->out;

    object_text(out, "id", a->id);
    object_time(out, "at", a->at_us);
    object_nested(out, "user");
    object_text(out, "id", a->user_id);
    object_text(out, "name", a->user_name);
    buf_char(out, '}');
    object_text(out, "action", a->action);
    object_text(out, "target", a->target);
    object_json(out, "details", a->details_json);
}

static const struct list_kind audit_kind = {.read = audit_read, .show_members = audit_show};

void audit_list(struct call *c)
{
    struct audit_page *page = ARENA_NEW(c->mem, struct audit_page);
    struct str user = http_query(c->http, "user"), object = http_query(c->http, "object");
    const struct person *p =
        user.len > 0 ? directory_find(api_parts(c->api)->people, call_scope(c), user) : NULL;

    page->filter = (struct audit_filter){
        .user_id = p != NULL ? str_copy(c->mem, p->id) : user,
        .action = http_query(c->http, "action"),
        .target = object.len > 0 ? object : http_query(c->http, "target"),
        .org_id = call_scope(c),
    };
    if (call_time(c, "from", &page->filter.from_us) && call_time(c, "to", &page->filter.to_us))
        list_start(c, &page->list, &audit_kind);
}
