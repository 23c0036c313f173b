/*
 * disk_delete.c - deleting executions, on the disk of the simulator; see sim.h.
 *
 * As src/store/write/change_execution.c does it, but for the size of a part: small
 * ones make long deletions of short histories.
 */
#include "sim/disk.h"
#include "store/change_retention.h"

enum { PART_ROWS = 4 };

static void refuse_deletion(struct member *m, const char *why)
{
    m->result = MEMBER_FAILED;
    (void)err_set(&m->err, ERR_CONFLICT, "%s", why);
}

/* Waits that were left open by one that was given up. */
static void drop_waits(struct disk *d, struct uuid id)
{
    size_t kept = 0;

    for (size_t i = 0; i < d->waits.count; i++)
        if (uuid_cmp(d->waits.items[i].execution, id) != 0)
            d->waits.items[kept++] = d->waits.items[i];
    d->waits.count = kept;
}

void disk_delete(struct sim *sim, struct member *m)
{
    struct disk *d = &sim->disk;
    struct execution_delete *change = (struct execution_delete *)(void *)m->change;
    struct disk_execution *x = disk_find_ever(d, change->id);
    size_t left;

    m->result = MEMBER_APPLIED;
    change->has_more = false;
    if (x == NULL || x->is_purged || (x->is_deleted && !change->goes_on)) {
        m->result = MEMBER_GONE;
        return;
    }
    if (!status_is_terminal(x->s.status)) {
        refuse_deletion(m, "it cannot be deleted: cancel it first");
        return;
    }
    if (!x->is_deleted && disk_has_live_parent(d, x)) {
        refuse_deletion(m, "the execution that has started it lives");
        return;
    }
    if (!x->is_deleted && disk_is_awaited(d, x)) {
        refuse_deletion(m, "an execution that waits for it has not seen its end yet");
        return;
    }
    if (!x->is_deleted && disk_sends(d, x)) {
        refuse_deletion(m, "messages of it are not delivered yet");
        return;
    }
    /* The first part leaves a tombstone. */
    if (!x->is_deleted) {
        x->is_deleted = true;
        d->deleted++;
        drop_waits(d, x->s.id);
    }
    left = x->history.count - x->rows_deleted;
    change->has_more = left > PART_ROWS;
    x->is_purged = !change->has_more;
    x->rows_deleted += left < PART_ROWS ? left : PART_ROWS;
    sim_note(sim, x->rows_deleted);
    client_saw(sim, x);
}
