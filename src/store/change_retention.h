/*
 * change_retention.h - deleting what is kept for a time: executions that have
 * ended, snapshots that no execution has, lines of the audit log, figures.
 *
 * What belongs to an execution goes first and its own row last: history,
 * signals, dead letters, what was answered under an Idempotency-Key. Of an
 * answer the id is left, so that a request which is repeated is still known and
 * starts nothing again.
 *
 * why: decision 0056
 */
#ifndef PAWL_STORE_CHANGE_RETENTION_H
#define PAWL_STORE_CHANGE_RETENTION_H

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
 * ERR_CONFLICT while it has not ended, or another waits for its end, with ERR_PARENT_LIVE while the
 * execution that has started it lives, with ERR_LETTER_OPEN while a dead letter of it is open, unless `closes_letters`. Of one with more than
 * DELETE_ROWS_MAX rows some are left (`has_more`): ask again with `goes_on`.
 */
struct execution_delete {
    struct change change; /* .apply = execution_delete_apply */
    struct uuid id;
    bool goes_on;        /* whoever asks has begun the deletion */
    bool closes_letters; /* whoever asks has dealt with its open dead letters */
    bool has_more;       /* out: it is gone, and some of its rows are there */
};

change_apply_fn execution_delete_apply;

/*
 * Delete those of `ids` that ended before `before_us`, as far as
 * DELETE_ROWS_MAX rows and some milliseconds allow, and give pages that are free back to the file
 * system. Those with an open dead letter, or whose parent lives, are left alone. Never refused.
 */
struct execution_purge {
    struct change change; /* .apply = execution_purge_apply */
    const struct uuid *ids;
    size_t count;
    int64_t before_us;
    size_t looked_at;   /* out: that many of the ids are dealt with */
    size_t deleted;     /* out */
    size_t spared;      /* out: a dead letter of them is open */
    int64_t free_pages; /* out: what is left to be given back; `ids` may be none then */
};

change_apply_fn execution_purge_apply;

/* --- snapshots --- */

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

change_apply_fn snapshot_purge_apply;

/* --- notices --- */

/*
 * Delete the notices of these rows of executions, where there is none of that row. A session that
 * had begun before an execution was deleted may write one afterwards. Never refused.
 */
struct notice_purge {
    struct change change; /* .apply = notice_purge_apply */
    int64_t *rows;
    size_t count;
};

change_apply_fn notice_purge_apply;

/* --- the audit log --- */

/* Delete the oldest lines, `limit` at most, of those before `before_us`. Never refused. */
struct audit_purge {
    struct change change; /* .apply = audit_purge_apply */
    int64_t before_us;
    int64_t limit;
    int64_t purged; /* out */
};

change_apply_fn audit_purge_apply;

/* --- figures of one minute: node/chore/minutes.h --- */

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

change_apply_fn stats_change_apply;

#endif
