/*
 * rollback.h - rolling back what was done.
 * Internal to src/engine.
 */
#ifndef PAWL_ENGINE_ROLLBACK_H
#define PAWL_ENGINE_ROLLBACK_H

#include "engine/turn.h"

/* --- rollback.c: rolling back --- */

/* procedure_input() of a rollback: evaluated once, the same for each attempt. */
enum step_result rollback_input(struct turn *t, const struct mapping *input, struct value *out);

/* Whether anything in the program can be rolled back. */
bool rollback_is_possible(const struct program *p);

/* From now on the execution rolls back, and ends like this. The last row says why. */
void rollback_begin(struct turn *t, enum execution_status end);

/* Begin with what was recorded last: it is known now what became of it. */
void rollback_resume(struct turn *t);

/* Roll back as much as fits this turn. False: reads are needed first. */
bool rollback_run(struct turn *t);

/* --- rollback_command.c: rollbacks that commands have of their own --- */

/* A member "undo" for the last row: what rolling back the finished commands will need. */
void rollback_command_note(struct turn *t);

/*
 * The step under way ends without running its commands again: those that were
 * frozen have finished.
 */
void rollback_command_recall(struct turn *t);

/* How many there are in that member. */
int64_t rollback_command_count(struct value rollback);

/* Roll back the command that stands there. */
enum step_result rollback_command_run(struct turn *t, const struct step *step,
                                      struct value rollback, struct str place, struct value *out);

/* --- rollback_retry.c: rollbacks that were given up --- */

/* The one under way was; the last dead letter and the last row are about it. */
void rollback_retry_note(struct turn *t);

/* The one of the event's letter is tried again. False: there is none, or not now. */
bool rollback_retry_begin(struct turn *t, struct err *err) MUST_USE;

/* It has ended, well or not. */
void rollback_retry_end(struct turn *t, const struct step *step, int64_t row, bool ok);

#endif
