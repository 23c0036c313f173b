/* nodes.c - the nodes that share a store. */
#include "api/query.h"
#include "value/object.h"

static bool run_nodes(struct query *q, struct reader *reader, struct err *err)
{
    const struct str *self = q->args;
    struct stored_nodes nodes;

    if (!read_nodes(reader, q->mem, &nodes, err))
        return false;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < nodes.count; i++) {
        const struct stored_node *n = &nodes.items[i];
        bool is_self = str_eq(n->name, *self);

        object_next(&q->answer);
        buf_char(&q->answer, '{');
        object_text(&q->answer, "id", n->name);
        object_text(&q->answer, "status", is_self || n->is_connected ? STR("live") : STR("gone"));
        object_bool(&q->answer, "self", is_self);
        object_time(&q->answer, "startedAt", n->started_at_us);
        object_int(&q->answer, "batches", n->batches);
        buf_char(&q->answer, '}');
    }
    buf_text(&q->answer, "],\"nextCursor\":null}");
    return true;
}

void nodes_list(struct call *c)
{
    struct str *self = ARENA_NEW(c->mem, struct str);

    *self = node_own_name(c->node);
    query_start(c, self, run_nodes, NULL);
}
