/* change_stats.h - figures of one minute, see node/minutes.h. */
#ifndef PAWL_STORE_CHANGE_STATS_H
#define PAWL_STORE_CHANGE_STATS_H

#include "store/change.h"

struct stats_row {
    int64_t at_us;
    struct str org_id; /* empty: of all organisations */
    struct str data_json;
};

struct stats_rows {
    VEC_OF(struct stats_row);
};

/* Store the rows, and delete those before `before_us`. Never refused. */
struct stats_change {
    struct change change; /* .apply = stats_change_apply */
    const struct stats_rows *rows;
    int64_t before_us;
};

enum apply_result stats_change_apply(struct apply *a, struct member *m, enum db_status *status);

#endif
