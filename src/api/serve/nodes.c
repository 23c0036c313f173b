/* nodes.c - the nodes that share a store. */
#include "api/list.h"
#include "node/node.h"
#include "store/read_node.h"
#include "value/object.h"

struct nodes_page {
    struct list_page list;
    struct str self;
};

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
}

static const struct list_kind nodes_kind = {.read = nodes_read, .show_members = nodes_show};

void nodes_list(struct call *c)
{
    struct nodes_page *p = ARENA_NEW(c->mem, struct nodes_page);

    p->self = node_own_name(c->node);
    list_start(c, &p->list, &nodes_kind);
}
