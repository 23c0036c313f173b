/*
 * apply_commit.h - the parts of a commit, each in a file of its own: apply.c
 * decides and calls them. Internal to src/store.
 */
#ifndef PAWL_STORE_WRITE_APPLY_COMMIT_H
#define PAWL_STORE_WRITE_APPLY_COMMIT_H

#include "engine/status.h"
#include "store/write/apply.h"

/* An execution as it stands before the commit. */
struct before {
    int64_t row, row_version;
    enum execution_status status;
    struct cached_execution *cached; /* where the state waits to be written; or NULL */
};

/* --- apply.c --- */

/* Tell another execution, unless it has ended or is gone. False: a->status says why. */
bool apply_notice(struct apply *a, const struct notice *t) MUST_USE;

/* --- apply_execution.c --- */

/* `context`: the commit whose checkpoint it has; or NULL. */
enum db_status apply_insert_execution(struct apply *a, const struct commit *c,
                                      const struct commit *context, int64_t row);
enum db_status apply_move_execution(struct apply *a, const struct execution *e, int64_t row);

/* False of these: a->status says why. */
bool apply_update_execution(struct apply *a, const struct commit *c, int64_t row) MUST_USE;
bool apply_keep_snapshot(struct apply *a, const struct execution *e) MUST_USE;
bool apply_history(struct apply *a, const struct commit *c, int64_t row) MUST_USE;

/* --- apply_task.c --- */

/* What the commit asks the planner for. False: a->status says why. */
bool apply_tasks(struct apply *a, struct member *m) MUST_USE;

/* --- apply_record.c --- */

/* Ask which versions the records have that the commit writes; take a row of the answer: gather.h. */
enum db_status apply_ask_records(struct apply *a, const struct commit *c) MUST_USE;
bool apply_take_record(struct apply *a, enum sql sql) MUST_USE;

/* APPLY_DONE with m->result RECORD_STALE, or unchanged when all were written. */
enum apply_result apply_records(struct apply *a, struct member *m, int64_t now_us);

/* Which execution made the versions that apply_records() has written. False: a->status says why. */
bool apply_record_changes(struct apply *a, const struct member *m) MUST_USE;

/* --- apply_signal.c --- */

struct signal_texts {
    struct str payload, by;
};

bool apply_signal_texts(struct apply *a, const struct signal *s, struct signal_texts *out,
                        struct err *err) MUST_USE;

/* DB_ROW: a signal of this id is stored; m->result says whether it is the same one. */
enum db_status apply_find_signal(struct apply *a, struct member *m, int64_t row,
                                 const struct signal_texts *texts);

/* False of these: a->status says why. */
bool apply_signal(struct apply *a, const struct signal *s, int64_t row,
                  const struct signal_texts *texts) MUST_USE;
bool apply_taken(struct apply *a, struct member *m) MUST_USE;

/* --- change_job.c --- */

/*
 * What a commit says that nobody has begun must not be leased: a worker that
 * was faster makes it stale, and the same event finds the lease.
 */
enum apply_result apply_check_jobs(struct apply *a, struct member *m);

/* The jobs that a commit asks for, and those that end with it. False: a->status says why. */
bool apply_jobs(struct apply *a, const struct member *m) MUST_USE;

/* --- change_outbox.c --- */

/*
 * The message that a commit answers (member.message). The first looks whether
 * it is still there, before anything is written: m->result is MEMBER_GONE when
 * it is not. False of the second: a->status says why.
 */
enum apply_result apply_check_message(struct apply *a, struct member *m);
bool apply_take_message(struct apply *a, const struct member *m) MUST_USE;

/* --- change_schedule.c --- */

/* Of a commit that starts: APPLY_DONE with MEMBER_TICK_GONE when somebody else was faster. */
enum apply_result apply_check_tick(struct apply *a, struct member *m);
bool apply_tick(struct apply *a, const struct member *m) MUST_USE;

#endif
