/* change_node.c - see change_node.h. */
#include "store/change_node.h"

#include "store/db/db.h"
#include "store/store.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"

enum apply_result node_drain_apply(struct apply *a, struct member *m)
{
    const struct node_drain *d = (const struct node_drain *)m->change;

    if (!apply_write(a, SQL_NODE_DRAIN, DB_PARAMS(db_text(d->node), db_int(d->change.now_us))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return apply_refuse_with(a, m, ERR_NOT_FOUND, "there is no node with this id that runs");
    return APPLY_DONE;
}
