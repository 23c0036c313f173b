/* change_stats.c - see change_stats.h. */
#include "store/change_stats.h"

enum apply_result stats_change_apply(struct apply *a, struct member *m, enum db_status *status)
{
    const struct stats_change *c = (const struct stats_change *)m->change;

    for (size_t i = 0; i < c->rows->count; i++) {
        const struct stats_row *row = &c->rows->items[i];

        if (!apply_write(a, SQL_STATS_INSERT,
                         DB_PARAMS(db_int(row->at_us), db_text_or_null(row->org_id),
                                   db_text(row->data_json)),
                         status))
            return APPLY_FAILED;
    }
    return apply_write(a, SQL_STATS_PURGE, DB_PARAMS(db_int(c->before_us)), status) ? APPLY_DONE
                                                                                    : APPLY_FAILED;
}
