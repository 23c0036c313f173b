/* change_node.c - see change_node.h. */
#include "store/change_node.h"

#include "base/buf.h"
#include "store/db/db.h"
#include "store/store.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"
#include "store/write/gather.h"

enum apply_result node_drain_apply(struct apply *a, struct member *m)
{
    const struct node_drain *d = (const struct node_drain *)m->change;

    if (!apply_write(a, SQL_NODE_DRAIN, DB_PARAMS(db_text(d->node), db_int(d->change.now_us))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return apply_refuse_with(a, m, ERR_NOT_FOUND, "there is no node with this id that runs");
    return APPLY_DONE;
}

/* --- taking over --- */

struct parked {
    struct uuid id, letter;
};
struct parked_list {
    VEC_OF(struct parked);
};

/* Count a page; who is parked by it is in `parked`. */
static enum db_status takeover_page(struct apply *a, struct takeover_count *t,
                                    struct parked_list *parked)
{
    const enum sql sql = SQL_TAKEOVER_COUNT;
    struct buf shards;
    enum db_status status;

    buf_init_arena(&shards, a->mem);
    for (unsigned shard = 0; shard < SHARD_COUNT; shard++)
        if (shard_set_has(&t->shards, shard))
            buf_printf(&shards, "%s%u", shards.len > 0 ? "," : "{", shard);
    buf_text(&shards, "}");
    t->looked_at = t->counted = 0;
    status = db_run(a->db, sql,
                    DB_PARAMS(db_text(buf_view(&shards)), db_int(t->until_us), db_int(t->after_us),
                              db_int(t->after_row), db_int(TAKEOVER_PAGE)));
    for (; status == DB_ROW; status = db_next(a->db, sql)) {
        struct parked p;

        t->looked_at = db_column_int(a->db, sql, 0);
        t->counted = db_column_int(a->db, sql, 1);
        t->last_us = db_column_int(a->db, sql, 2);
        t->last_row = db_column_int(a->db, sql, 3);
        if (uuid_read(db_column_text(a->db, sql, 4), &p.id) &&
            uuid_read(db_column_text(a->db, sql, 5), &p.letter))
            *VEC_ADD(a->mem, parked) = p;
    }
    db_end(a->db, sql);
    return status;
}

enum apply_result takeover_count_apply(struct apply *a, struct member *m)
{
    struct takeover_count *t = (struct takeover_count *)m->change;
    struct parked_list parked = {0};

    a->status = gather_flush(a);
    if (a->status == DB_DONE)
        a->status = takeover_page(a, t, &parked);
    if (a->status != DB_DONE)
        return APPLY_FAILED;
    for (size_t i = 0; i < parked.count; i++)
        if (!apply_parked_letter(a, m, parked.items[i].id, parked.items[i].letter,
                                 STR("{\"code\":\"internal_crash\",\"message\":\"nodes that had "
                                     "this execution ended without a word, as often as it is "
                                     "allowed to\",\"class\":\"transient\"}"),
                                 t->change.now_us))
            return APPLY_FAILED;
    return APPLY_DONE;
}
