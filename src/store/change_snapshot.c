/* change_snapshot.c - see change_snapshot.h. */
#include "store/change_snapshot.h"

#include "store/gather.h"

enum apply_result snapshot_purge_apply(struct apply *a, struct member *m, enum db_status *status)
{
    const struct snapshot_purge *p = (const struct snapshot_purge *)m->change;

    for (size_t i = 0; i < p->count; i++)
        if (!apply_put(a, SQL_SNAPSHOT_DELETE,
                       DB_PARAMS(db_text(p->hashes[i]), db_int(p->before_us)), status))
            return APPLY_FAILED;
    *status = gather_flush(a);
    return *status == DB_DONE ? APPLY_DONE : APPLY_FAILED;
}
