/* nodes.c - the nodes that share a store. */
#include "api/list.h"
#include "api/repeat.h"
#include "node/node.h"
#include "store/change_node.h"
#include "store/read_node.h"
#include "value/object.h"

struct nodes_page {
    struct list_page list;
    struct str self;
};

/* For so long a node may be silent: store/peers.h. */
#define NODE_SILENT_MAX_US INT64_C(10000000)

/* All of them are read, in the order of their names: there are few. */
static bool nodes_read(struct list_page *l)
{
    const struct stored_node *last;
    struct stored_nodes rows;

    if (!read_nodes(l->reader, l->mem, &rows, l->err))
        return false;
    for (; rows.count > 0 && l->cursor.len > 0 && str_cmp(rows.items->name, l->cursor) <= 0;
         rows.count--)
        rows.items++;
    last = LIST_ROWS(l, &rows);
    if (last != NULL)
        l->next = last->name;
    return true;
}

static void nodes_show(struct list_page *l, const void *row)
{
    const struct stored_node *n = row;
    struct buf *out = l->out;
    bool is_self = str_eq(n->name, ((struct nodes_page *)l)->self);

    object_text(out, "id", n->name);
    object_text(out, "status", is_self || n->is_connected ? STR("live") : STR("gone"));
    object_bool(out, "self", is_self);
    object_time(out, "startedAt", n->started_at_us);
    object_int(out, "batches", n->batches);
    if (n->epoch == 0)
        return; /* it has the store for itself, or is of an older version */
    object_text(out, "version", n->version);
    object_int(out, "epoch", n->epoch);
    object_time(out, "leaseUntil", n->beat_at_us + NODE_SILENT_MAX_US);
    object_int(out, "shards", n->shards);
    object_int(out, "executions", n->executions);
    object_int(out, "callsUnderWay", n->calls);
    object_int(out, "lagMs", n->lag_ms);
    object_int(out, "skewMs", n->skew_ms);
    object_int(out, "cpu", n->cpu_percent);
    object_int(out, "rss", n->rss_bytes);
    object_bool(out, "draining", n->is_draining);
}

static const struct list_kind nodes_kind = {.read = nodes_read, .show_members = nodes_show};

void nodes_list(struct call *c)
{
    struct nodes_page *p = ARENA_NEW(c->mem, struct nodes_page);

    p->self = node_own_name(c->node);
    list_start(c, &p->list, &nodes_kind);
}

/* --- draining --- */

static void nodes_drained(struct node_request *r)
{
    struct call *c = r->owner;

    if (r->ok && str_eq(c->params[0], node_own_name(c->node)))
        node_stop(c->node);
    repeat_changed(r);
}

/* Another node finds it out with its next beat; this one at once. */
void nodes_drain(struct call *c)
{
    struct node_drain *d = ARENA_NEW(c->mem, struct node_drain);

    if (!call_body(c, NULL, 0))
        return;
    *d = (struct node_drain){
        .change = {.apply = node_drain_apply,
                   .leaves_executions = true,
                   .answer_status = 202,
                   .answer_json = STR("{\"status\":\"draining\"}")},
        .node = c->params[0],
    };
    call_submit_change(c, &d->change, nodes_drained, "node.drain", c->params[0], STR("{}"));
}
