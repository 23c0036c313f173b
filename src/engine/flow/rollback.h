/*
 * rollback.h - rolling back what was done.
 * Internal to src/engine.
 *
 * why: decisions 0062, 0121, 0366, 0385
 */
#ifndef PAWL_ENGINE_FLOW_ROLLBACK_H
#define PAWL_ENGINE_FLOW_ROLLBACK_H

#include "engine/turn.h"

/* --- rollback.c: how it begins, goes on and ends --- */

/* Whether anything that the execution has done may have a rollback. */
bool rollback_is_possible(const struct execution *x);

/* From now on the execution rolls back, and ends like this. The last row says why. */
void rollback_begin(struct turn *t, enum execution_status end);

/* ... but undoes nothing: it only waits for those that it has started. */
void rollback_keep_done(struct turn *t);

/* Nothing has been undone yet, and rows have been added: they are looked at, too. */
void rollback_look_from_end(struct turn *t);

/* Begin with what was recorded last: it is known now what became of it. */
void rollback_resume(struct turn *t);

/* Roll back as much as fits this turn. False: reads are needed first. */
bool rollback_run(struct turn *t);

/* How far it has come, as the turn may change it. */
struct rollback *rollback_own(struct turn *t);

/* --- rollback_walk.c: which visit is next --- */

/* The next visit to undo becomes rollback.row. STEP_DONE: there is none left. */
enum step_result rollback_walk_on(struct turn *t);

/* A row of the history, or NULL when it must be read first. */
const struct history_row *rollback_row_at(const struct turn *t, int64_t seq);

/* The page of the history that ends with this row must be read first. */
enum step_result rollback_need_history(struct turn *t, int64_t seq);

/*
 * Rows that were asked for are not there any more: nobody can tell what else
 * there was to roll back. A person must see it, and it goes no further.
 */
enum step_result rollback_lose_history(struct turn *t);

/* --- rollback_entry.c: one attempt --- */

/* One attempt of what is next in the visit of rollback.row: the visit, or one of its commands. */
enum step_result rollback_entry_try(struct turn *t);

/* The row of the current attempt, which is about that one. */
struct history_row *rollback_entry_row(struct turn *t, const struct history_row *about,
                                       struct str status);

/* The rollback in hand has ended, well or not; its row is the last one. */
void rollback_entry_end(struct turn *t, bool ok);

/* turn_evaluate() of a rollback's input: evaluated once, the same for each attempt. */
enum step_result rollback_input(struct turn *t, const struct mapping *input, struct value *out);

/* What the commands of a rollback have done before it stopped; suspend_resume(). */
enum step_result rollback_recall(struct turn *t, const struct procedure *p) MUST_USE;

/* --- rollback_failure.c: attempts that have failed --- */

/* The attempt has failed with t->failure: another one later, or it is given up. */
enum step_result rollback_failed(struct turn *t, struct value delta);

/* The rollback in hand is given up; the last row says why. */
void rollback_give_up(struct turn *t, struct str error_json);

/* t->failure: the program of that name is not there any more. */
void rollback_fail_program(struct turn *t, struct str name);

/* Whether the time that one rollback has is over. */
bool rollback_is_past_budget(const struct turn *t);

/* --- rollback_command.c: rollbacks that commands have of their own --- */

/* The status of the row of a call that was stopped: of a visit, when its answer said what became of that. */
#define STOPPED_CALL_ROW "call_ended"

/* A member "undo" for the last row: what rolling back the finished commands will need. */
void rollback_command_note(struct turn *t);

/* How many there are in that member. */
int64_t rollback_command_count(struct value rollback);

/* Whether a command in it may have happened, and has a rollback for that. */
bool rollback_command_is_in_doubt(struct value rollback);

/* The place of the command whose rollback is next, among those that the row lists in its delta. */
struct str rollback_command_place(const struct turn *t, struct value delta);

/* The visit that the command at a place was done in, when that was not the one of the row; else 0. */
int64_t rollback_command_visit(struct value rollback, struct str place);

/* The program that it was done with, when that was not the one of the row: former_name(); or empty. */
struct str rollback_command_under(struct value rollback, struct str place);

/* Roll back the command that stands there. */
enum step_result rollback_command_run(struct turn *t, const struct step *step,
                                      struct value rollback, struct str place, struct value *out);

/* --- rollback_program.c: what earlier programs have done --- */

/* Rows of other programs are behind this one, or it says that: the walk goes on with theirs. */
void rollback_pass_move(struct turn *t, struct rollback *rollback, const struct history_row *row);

/*
 * The program of that name, empty: the execution's own. STEP_DONE, STEP_NEEDS:
 * it must be read first; STEP_FAILED: there is none.
 */
enum step_result rollback_program(struct turn *t, struct str name, const struct program **out);

/* The turn of an execution, while a visit of another program is rolled back. */
struct rollback_detour {
    const struct program *program;
    struct step_state *steps;
    struct value *slots;
};

/* Let the turn run with that program, until rollback_return(). */
void rollback_detour(struct turn *t, const struct program *p, struct rollback_detour *own);
void rollback_return(struct turn *t, const struct rollback_detour *own);

/* --- rollback_retry.c: rollbacks that were given up --- */

/* The current rollback was given up; the last dead letter and the last row are about it. */
void rollback_retry_note(struct turn *t);

/* The one of the event's letter is tried again. False: there is none, or not now. */
bool rollback_retry_begin(struct turn *t, struct err *err) MUST_USE;

/* It has ended, well or not. */
void rollback_retry_end(struct turn *t, struct str code, int64_t row, bool ok);

#endif
