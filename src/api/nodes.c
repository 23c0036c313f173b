/* nodes.c - the nodes that share a store. */
#include "api/lookup.h"
#include "value/object.h"

enum { LIST_LIMIT = 50 };

struct node_page {
    struct str self;
    struct str after; /* the name of the last one before, or empty */
    int64_t limit;
};

static bool run_nodes(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct node_page *page = q->args;
    struct str next = STR_NONE, last = STR_NONE;
    struct stored_nodes nodes;
    int64_t shown = 0;

    if (!read_nodes(reader, q->mem, &nodes, err))
        return false;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < nodes.count; i++) {
        const struct stored_node *n = &nodes.items[i];
        bool is_self = str_eq(n->name, page->self);

        if (page->after.len > 0 && str_cmp(n->name, page->after) <= 0)
            continue;
        if (shown++ == page->limit) {
            next = last;
            break;
        }
        last = n->name;
        object_next(&q->answer);
        buf_char(&q->answer, '{');
        object_text(&q->answer, "id", n->name);
        object_text(&q->answer, "status", is_self || n->is_connected ? STR("live") : STR("gone"));
        object_bool(&q->answer, "self", is_self);
        object_time(&q->answer, "startedAt", n->started_at_us);
        object_int(&q->answer, "batches", n->batches);
        buf_char(&q->answer, '}');
    }
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

void nodes_list(struct call *c)
{
    struct node_page *page = ARENA_NEW(c->mem, struct node_page);

    page->self = node_own_name(c->node);
    page->after = http_query(c->http, "cursor");
    if (call_limit(c, LIST_LIMIT, &page->limit))
        lookup_start(c, page, run_nodes, NULL);
}
