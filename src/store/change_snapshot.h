/*
 * change_snapshot.h - deleting snapshots that no execution has.
 */
#ifndef PAWL_STORE_CHANGE_SNAPSHOT_H
#define PAWL_STORE_CHANGE_SNAPSHOT_H

#include "store/change.h"

/*
 * Delete those of the named snapshots that were last kept before `before_us`.
 * Never refused. The caller has read all executions, beginning days after
 * `before_us`, and none has them; an execution that came meanwhile has kept its
 * snapshot anew, to within a day, so that it is not deleted here.
 */
struct snapshot_purge {
    struct change change; /* .apply = snapshot_purge_apply */
    const struct str *hashes;
    size_t count;
    int64_t before_us;
};

enum apply_result snapshot_purge_apply(struct apply *a, struct member *m, enum db_status *status);

#endif
