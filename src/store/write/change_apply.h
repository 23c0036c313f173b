/*
 * change_apply.h - how a change is applied, and what changes share.
 *
 * The function of a change looks first, refuses with apply_refuse() or
 * apply_refuse_with(), then writes with apply_write(). Its answer lives in
 * a->mem, which is that of the batch: `answer_json` is copied before the batch
 * goes.
 */
#ifndef PAWL_STORE_WRITE_CHANGE_APPLY_H
#define PAWL_STORE_WRITE_CHANGE_APPLY_H

#include "store/change_job.h"
#include "store/change_schedule.h"
#include "store/users.h"
#include "store/write/apply.h"

/* Refuse a member with a code and a sentence of its own. */
enum apply_result apply_refuse_with(const struct apply *a, struct member *m, enum err_code code,
                                    const char *format, ...) PRINTF_LIKE(4, 5);

/* An open letter: its row, and that of the execution it tells of. */
struct open_letter {
    int64_t row, execution;
};

/* The letter, which must be open. False: the member is refused, as letter_resolve is, or failed: *end. */
bool letter_find_open(struct apply *a, struct member *m, struct uuid id, struct open_letter *out,
                      enum apply_result *end) MUST_USE;

/* Write the letter of an execution that is parked, unless it has one. False: a->status says why. */
bool apply_parked_letter(struct apply *a, const struct member *m, struct uuid execution,
                         struct uuid letter, struct str cause_json, int64_t now_us) MUST_USE;

/* --- rows that changes and reads have in common --- */

/* Of JOB_COLUMNS. */
enum { JOB_COLUMN_COUNT = 18 };

/* The columns JOB_COLUMNS of a row; texts are copied. False: the row is damaged. */
bool job_of_row(struct db *db, enum sql sql, struct arena *mem, struct stored_job *out) MUST_USE;

/* The columns USER_COLUMNS of a row; texts are copied. */
struct stored_user user_of_row(struct db *db, enum sql sql, struct arena *mem);

/* Of SCHEDULE_COLUMNS. */
enum { SCHEDULE_COLUMN_COUNT = 17 };

/* Of SCHEDULE_COLUMNS; false: the row is damaged. In `mem`. */
bool schedule_of_row(struct db *db, enum sql sql, struct arena *mem,
                     struct stored_schedule *out) MUST_USE;

/* --- what is derived from published processes --- */

/*
 * Within the writer's transaction: the rows of a process become those of the
 * version that is published or retired now; none when nothing is.
 * False: a->status says why.
 */
bool triggers_derive(struct apply *a, struct str kind, struct str code) MUST_USE;

/*
 * Within the writer's transaction, after triggers_derive(): the schedules of a
 * process become those of its triggers. One whose expression and zone are as
 * before keeps its tick that is next, and stays paused if it was. False:
 * a->status says why.
 */
bool schedules_derive(struct apply *a, struct str kind, struct str code, int64_t now_us) MUST_USE;

/* The first tick after a time; 0: none, or the expression cannot be read. */
int64_t schedule_next_us(struct str cron, struct str zone, int64_t after_us);

#endif
