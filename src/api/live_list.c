/* live_list.c - see live_list.h. */
#include "api/live_list.h"
#include "value/object.h"

enum { LIST_LIMIT = 50 };

struct live_look {
    struct str after;
    int64_t limit;
    live_show_fn *show;
};

static bool run_page(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct kind_spec *spec = definitions_kind(q->call);
    const struct live_look *look = q->args;
    struct stored_definitions all;
    struct str last = STR_NONE, next = STR_NONE;
    int64_t left = look->limit;

    if (!read_published(reader, q->mem, str_of(spec->name), &all, err))
        return false;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < all.count; i++) {
        if (str_cmp(all.items[i].code, look->after) <= 0)
            continue;
        if (left-- == 0) {
            next = last;
            break;
        }
        if (!look->show(q->mem, &q->answer, spec, &all.items[i], err))
            return false;
        last = all.items[i].code;
    }
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

void live_list_page(struct call *c, live_show_fn *show)
{
    struct live_look *look = ARENA_NEW(c->mem, struct live_look);

    look->show = show;
    look->after = http_query(c->http, "cursor");
    if (call_limit(c, LIST_LIMIT, &look->limit))
        lookup_start(c, look, run_page, NULL);
}

static bool run_one(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct kind_spec *spec = definitions_kind(q->call);
    const struct live_look *look = q->args;
    struct stored_definition d;
    bool found;

    if (!read_definition(reader, q->mem, str_of(spec->name), q->call->params[0], -1, &d, &found,
                         err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "there is no %s of this %s", spec->name, spec->key);
    q->etag = str_printf(q->mem, "\"%lld\"", (long long)d.version).ptr;
    return look->show(q->mem, &q->answer, spec, &d, err);
}

void live_list_one(struct call *c, live_show_fn *show)
{
    struct live_look *look = ARENA_NEW(c->mem, struct live_look);

    look->show = show;
    lookup_start(c, look, run_one, NULL);
}
