/*
 * change_execution.h - deleting executions that have ended.
 *
 * What belongs to an execution goes first and its own row last: history, signals, dead letters, what was answered under
 * an Idempotency-Key. Of an answer the id is left, so that a request which is
 * repeated is still known and starts nothing again.
 */
#ifndef PAWL_STORE_CHANGE_EXECUTION_H
#define PAWL_STORE_CHANGE_EXECUTION_H

#include "store/change.h"

/*
 * What one member cannot delete is deleted in parts. The first of them leaves a
 * tombstone (deleted_at): from then on nobody finds the execution, and no
 * commit of it is applied. Who died meanwhile leaves the rest to the next purge.
 */

/* How many rows of history, signals and dead letters one member may delete. */
enum { DELETE_ROWS_MAX = 4000 };

/*
 * Delete one execution: MEMBER_GONE when there is none, refused with
 * ERR_CONFLICT while it has not ended, or its parent waits for its end. Of one with more than
 * DELETE_ROWS_MAX rows some are left (`has_more`): ask again with `goes_on`.
 */
struct execution_delete {
    struct change change; /* .apply = execution_delete_apply */
    struct uuid id;
    bool goes_on;  /* whoever asks has begun the deletion */
    bool has_more; /* out: it is gone, and some of its rows are there */
};

enum apply_result execution_delete_apply(struct apply *a, struct member *m, enum db_status *status);

/*
 * Delete those of `ids` that ended before `before_us`, as far as
 * DELETE_ROWS_MAX rows and some milliseconds allow, and give pages that are free back to the file
 * system. Never refused.
 */
struct execution_purge {
    struct change change; /* .apply = execution_purge_apply */
    const struct uuid *ids;
    size_t count;
    int64_t before_us;
    size_t looked_at;   /* out: that many of the ids are dealt with */
    size_t deleted;     /* out */
    int64_t free_pages; /* out: what is left to be given back; `ids` may be none then */
};

enum apply_result execution_purge_apply(struct apply *a, struct member *m, enum db_status *status);

#endif
