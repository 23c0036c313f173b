/*
 * apply.h - the members of a batch as statements, within the writer's transaction.
 *
 * What can refuse a member is looked at before anything is written, so that
 * usually no savepoint is needed. Where another node was faster all the same,
 * the answer is APPLY_AGAIN and the writer repeats the batch carefully, with a
 * savepoint around each member.
 */
#ifndef PAWL_STORE_WRITE_APPLY_H
#define PAWL_STORE_WRITE_APPLY_H

#include "base/map.h"
#include "base/str.h"
#include "engine/commit/commit.h"
#include "engine/status.h"
#include "store/change.h"
#include "store/db/db.h"
#include "store/store.h"
#include "store/write/new_rows.h"

/* A history row's key is the execution's row << HISTORY_SEQ_BITS | seq. */
enum { HISTORY_SEQ_BITS = 24 };
#define HISTORY_SEQ_MAX ((INT64_C(1) << HISTORY_SEQ_BITS) - 1)

static inline int64_t history_key(int64_t row, int64_t seq)
{
    return row << HISTORY_SEQ_BITS | seq;
}

/* A status as it is stored; status_read() is the way back. */
static inline struct str status_text(enum execution_status status)
{
    return str_of(status_name(status));
}

static inline bool status_is_live(enum execution_status status)
{
    return !status_is_terminal(status);
}

/* Who wants a lock: see row_locks.h. */
struct lock_wanted {
    struct member *member;
    struct lock_wanted *next;
};

/* What the members of one transaction share. */
struct apply {
    struct db *db;
    enum db_status status;     /* after a failure: what failed */
    struct arena *mem;         /* of the batch */
    struct new_rows *new_rows; /* of the writer */
    const int64_t *rows;       /* keys for the executions that start here */
    size_t starts, next_row;
    struct map locks;             /* by what was asked for: struct lock_wanted, see row_locks.h */
    bool waits;                   /* its rows are waited for: see struct batch */
    bool leaves_out;              /* members that may have to wait are refused with MEMBER_LOCKED */
    bool has_waited;              /* a statement has waited for a lock in vain */
    bool asks;                    /* members are held against something in the database */
    int64_t counts[STATUS_COUNT]; /* how many more executions have this status */
    int64_t open_letters;         /* how many more dead letters are open */
    int64_t outbox_pending;       /* how many more messages wait for their delivery */
    int64_t buffered_signals;     /* how many more signals are kept for a wait */
    int64_t stored_received;      /* the same of what came through a queue */
    int64_t stored_answers;       /* how many were put into http_idempotency ... */
    int64_t answered_at_us;       /* ... and when */
    bool wrote;                   /* the current member has changed something */
    bool is_repeated;             /* the batch was tried before, and met somebody else */
    struct map executions, keys, signals, answers; /* what was gathered: gather.h */
    struct map records;                            /* ... and versions: apply_commit.h */
    struct map tasks, people, policies, events;    /* ... for transitions: planner/facts.h */
    struct map snapshots;                          /* those that are kept already */
    struct map refused;                            /* executions with a member that did not apply */
    bool is_tight;  /* the log may take what was in the reserve, and no more: delete little */
    bool gave_back; /* the file may be shorter once the log is moved into it */
};

enum apply_result apply_member(struct apply *a, struct member *m);

/* Further members of this execution rest on one that did not apply; `id` must live as long. */
void apply_note_refused(struct apply *a, const struct uuid *id);

/*
 * The last version of a record that is gone, 0 when there never was one:
 * a record that is made goes on counting from there, so that no version of one
 * id comes twice and who holds an old one cannot take it for the new.
 */
bool apply_record_last(struct apply *a, struct str org_id, struct str object, struct str id,
                       int64_t *version) MUST_USE;

/* What the counter of open dead letters is called. */
#define COUNTER_OPEN_LETTERS "dead_letters"

/* The dead letters that a commit closes and writes, in change_letter.c. False: a->status says why. */
bool apply_letters(struct apply *a, const struct member *m) MUST_USE;

/* What the counter of messages that wait for their delivery is called. */
#define COUNTER_OUTBOX "outbox"

/* What the counter of signals that are kept for a wait is called. */
#define COUNTER_BUFFERED_SIGNALS "kept_signals" /* as installations have stored it */

/*
 * What a commit has to do with correlations, in change_signal.c. The first is
 * before anything is written: APPLY_DONE with m->result, which is unchanged
 * when nothing speaks against it. False of the second: a->status says why.
 */
enum apply_result apply_check_correlation(struct apply *a, struct member *m);
bool apply_correlation(struct apply *a, const struct member *m) MUST_USE;

/* Delete rows of execution_events that an execution has applied. False: a->status says why. */
bool apply_consume(struct apply *a, int64_t row, const struct notice_numbers *numbers) MUST_USE;

/* The row of an execution that commits of this batch have made or changed: see gather.h. */
struct cached_execution;
enum db_status apply_put_execution(struct apply *a, const struct cached_execution *cached);

/* One kind of member each; used by apply_member(). */
enum apply_result apply_assertion(struct apply *a, struct member *m);
enum apply_result apply_commit(struct apply *a, struct member *m);
enum apply_result apply_definition(struct apply *a, struct member *m);

/*
 * Whether the member's request was made before under its Idempotency-Key: then
 * m->result says so, and *end is set.
 */
bool apply_find_answer(struct apply *a, struct member *m, int64_t now_us,
                       enum apply_result *end) MUST_USE;

/* What is kept under this key, unless it is too old; out->is_kept. */
struct cached_answer;
bool apply_load_answer(struct apply *a, const struct idempotency *i, int64_t now_us,
                       struct cached_answer *out) MUST_USE;

/* Keep the answer for a repeated request; `row` is the execution that it tells of, or 0. */
bool apply_store_answer(struct apply *a, const struct idempotency *i, int64_t row,
                        int64_t now_us) MUST_USE;

/* The same in place of one that may be there. */
bool apply_replace_answer(struct apply *a, const struct idempotency *i, int64_t now_us) MUST_USE;

/* Answer for a member that is refused: APPLY_DONE, or APPLY_AGAIN when it has written. */
enum apply_result apply_refuse(const struct apply *a, struct member *m, enum member_result result);

/* APPLY_DONE, or APPLY_FAILED where a->status says why. */
static inline enum apply_result apply_done_if(bool ok)
{
    return ok ? APPLY_DONE : APPLY_FAILED;
}

/* Write a row that nothing is decided by, now or with gather_flush(). False: a->status says why. */
bool apply_put(struct apply *a, enum sql sql, const struct db_value *params,
               unsigned count) MUST_USE;

/* Run a statement that changes something. False: a->status says why. */
bool apply_write(struct apply *a, enum sql sql, const struct db_value *params,
                 unsigned count) MUST_USE;

/* The same, and take the rows that it changes off a counter: one of *a, or the caller's own. */
bool apply_write_off(struct apply *a, int64_t *counter, enum sql sql, const struct db_value *params,
                     unsigned count) MUST_USE;

/* Run a statement of which only matters whether it finds a row. False: a->status says why. */
bool apply_finds(struct apply *a, enum sql sql, const struct db_value *params, unsigned count,
                 bool *found) MUST_USE;

#endif
