/* audit.c - who did what. */
#include "api/api.h"
#include "api/lookup.h"
#include "value/object.h"

enum { LIST_LIMIT = 50 };

static void show(struct buf *out, const struct stored_audit *a)
{
    object_next(out);
    buf_char(out, '{');
    object_text(out, "id", a->id);
    object_time(out, "at", a->at_us);
    object_name(out, "user");
    buf_char(out, '{');
    object_text(out, "id", a->user_id);
    object_text(out, "name", a->user_name);
    buf_char(out, '}');
    object_text(out, "action", a->action);
    object_text(out, "target", a->target);
    object_json(out, "details", a->details_json);
    buf_char(out, '}');
}

static bool audit_run(struct lookup *q, struct reader *reader, struct err *err)
{
    struct stored_audits list;
    struct str next;

    if (!read_audit(reader, q->mem, q->args, &list, &next, err))
        return false;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < list.count; i++)
        show(&q->answer, &list.items[i]);
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

void audit_list(struct call *c)
{
    struct audit_filter *filter = ARENA_NEW(c->mem, struct audit_filter);
    struct str user = http_query(c->http, "user");
    const struct person *p =
        user.len > 0 ? directory_find(api_people(c->api), call_scope(c), user) : NULL;

    *filter = (struct audit_filter){
        .user_id = p != NULL ? str_copy(c->mem, p->id) : user,
        .action = http_query(c->http, "action"),
        .target = http_query(c->http, "target"),
        .org_id = call_scope(c),
        .cursor = http_query(c->http, "cursor"),
    };
    if (call_limit(c, LIST_LIMIT, &filter->limit) && call_time(c, "from", &filter->from_us) &&
        call_time(c, "to", &filter->to_us))
        lookup_start(c, filter, audit_run, NULL);
}
