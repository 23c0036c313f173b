/*
 * gather.h - what the commits of a batch are held against, read for all of them
 * at once, and the rows of executions that they leave.
 *
 * On a database that is a round trip away (db->has_sets) gather() reads the
 * executions, live keys, signals and kept answers that the members name, with
 * one statement each and in one pipeline. Members are then decided in memory,
 * each on what those before it leave; the state of an execution is written
 * once, by gather_flush(), however many members it had. A file is asked as the
 * members come, and written at once: there the maps stay empty.
 *
 * Rows are locked in the order of their keys, and one that somebody else has
 * locked is not waited for: its member is refused, and the others are not.
 */
#ifndef PAWL_STORE_WRITE_GATHER_H
#define PAWL_STORE_WRITE_GATHER_H

#include "engine/status.h"
#include "store/write/apply.h"

/* An execution as the members so far leave it. */
struct cached_execution {
    struct uuid id;
    int64_t row; /* 0: not known */
    bool is_asked, is_found;
    bool is_new;     /* its row is not written yet */
    bool is_changed; /* the same, or its state is not */
    bool is_moved;   /* its version or deadline is not */
    bool is_told;    /* notices to it wait to be written */
    bool opens;      /* waits of it wait to be written */
    bool drops;      /* it has ended: that its notices are dropped waits to be written */
    enum execution_status status;
    int64_t row_version, wake_at_us;
    int64_t stored_version;       /* the row_version in the database */
    const struct commit *last;    /* that changed it */
    const struct commit *context; /* the last of them that has a checkpoint; or NULL */
};

/* Read what the members are held against, and take new rows. Nothing to do for a file. */
enum db_status gather(struct apply *a, const struct members *members);

/* Give the rows of executions that wait to db_put(): they are written by db_flush() or db_commit(). */
enum db_status gather_put(struct apply *a);

/* Write what waits. */
enum db_status gather_flush(struct apply *a);

/* Forget it, and what was read: somebody has changed it by other statements, or rolled it back. */
void gather_forget(struct apply *a);

/* DB_ROW: *out is the execution; DB_DONE: there is none; DB_BUSY: another session has locked it. */
enum db_status gather_execution(struct apply *a, struct uuid id, int64_t row,
                                struct cached_execution **out);

/* The row of an execution that begins; NULL when it is known to be there. */
struct cached_execution *gather_start(struct apply *a, struct uuid id);

/* A commit leaves the execution like this. */
enum db_status gather_change(struct apply *a, struct cached_execution *cached,
                             const struct commit *c) MUST_USE;

/*
 * A notice to the execution is about to be put; those to it are about to be dropped, for it has
 * ended. Statements are sent in the order of the catalogue and not in that of the members: what
 * must come before is written first.
 */
enum db_status gather_tell(struct apply *a, struct uuid id) MUST_USE;
void gather_drop(struct apply *a, struct uuid id);

/* The same of its waits: some of them are about to be deleted; some are about to be put. */
enum db_status gather_close_waits(struct apply *a, struct uuid id) MUST_USE;
void gather_open_waits(struct apply *a, struct uuid id);

/* Who has a live key, as far as was asked. */
struct cached_key {
    bool is_held;
    struct uuid holder;
};
struct cached_key *gather_key(struct apply *a, const struct execution *e);

/* A signal that an execution has received. */
struct cached_signal {
    bool is_known;
    struct str type, payload;
};
struct cached_signal *gather_signal(struct apply *a, int64_t row, struct str id);

/* It was received by a member of this batch. */
void gather_received(struct apply *a, int64_t row, struct str id, struct str type,
                     struct str payload);

/* An answer that is kept for an Idempotency-Key. */
struct cached_answer {
    bool is_kept;
    struct str body_hash, answer;
    int32_t status;
    int64_t created_at_us, row;
};
struct cached_answer *gather_answer(struct apply *a, const struct idempotency *i);

/* Ask for one more with the next flush; take what has come of these. */
enum db_status gather_ask_answer(struct apply *a, const struct idempotency *i) MUST_USE;
enum db_status gather_take_answers(struct apply *a) MUST_USE;

/* A statement that was asked, and what takes a row of its answer. False: the row is damaged, or was not asked for. */
struct gathered_rows {
    enum sql sql;
    bool (*take)(struct apply *a, enum sql sql);
};

/* After the flush: take the rows of the statements, in their order. DB_CORRUPT where one is refused. */
enum db_status gather_take_rows(struct apply *a, const struct gathered_rows *answers,
                                size_t count) MUST_USE;

/* The one in the current row of a statement, from its column `first` on. */
struct cached_answer gather_answer_row(struct apply *a, enum sql sql, unsigned first);

#endif
