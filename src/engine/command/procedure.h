/*
 * procedure.h - the commands of a step, suspending it in the middle of them, and the executions that they start.
 * Internal to src/engine.
 *
 * why: decisions 0063, 0091, 0380, 0381, 0525, 0526
 */
#ifndef PAWL_ENGINE_COMMAND_PROCEDURE_H
#define PAWL_ENGINE_COMMAND_PROCEDURE_H

#include "engine/turn.h"

/* --- procedure.c --- */

/*
 * Run a procedure with this input (absent: none was given), called at `place`,
 * which is empty for a step's own. STEP_DONE with its result, STEP_WAITS when
 * it has asked a worker, STEP_FAILED or STEP_NEEDS.
 */
enum step_result procedure_run(struct turn *t, const struct procedure *p, struct str place,
                               struct value input, struct value *out);

/* Let expressions see what a named procedure sees, until procedure_leave(). */
void procedure_enter(struct turn *t, const struct procedure *p, struct str place,
                     struct value input, struct scope *scope);
void procedure_leave(struct turn *t);

/* The place of a command in the step: that of the call it is in, and its own. */
struct str procedure_place(struct arena *mem, struct str path, struct str position);

/* The same for a command of the current procedure. */
struct str procedure_command_place(struct turn *t, const struct command *c);

/*
 * What was answered to the command at `place`, which has asked: STEP_DONE with
 * the answer, absent when it has not asked yet; STEP_FAILED.
 */
enum step_result procedure_answered(struct turn *t, struct str place, struct value *out);

/* t->failure becomes a line of $.warnings. */
void procedure_warn(struct turn *t);

/*
 * What a command gives to whom it asks is evaluated once a visit: it is kept
 * with what the step has done. Absent when it has not been yet. `json`: of the input, or empty where
 * it is not known.
 */
struct value procedure_noted_input(struct turn *t, const struct command *c);
void procedure_note_input(struct turn *t, const struct command *c, struct value input,
                          struct str json);

/* --- call.c --- */

/* Somebody may hear of the answer of the attempt: no clock ends it. */
bool call_is_in_flight(const struct turn *t, const struct cursor *cursor);

/* The attempt of the strand in hand is in flight: it goes on waiting for the answer. False: it is not. */
bool call_waits_on(struct turn *t);

/* The strand in hand is not held any more: it waits for its call once the execution goes on. */
void call_release(struct turn *t);

/* --- child.c --- */

enum step_result child_start(struct turn *t, const struct command *c, struct value *out);

/* What the commands of the step have started begins with this turn; what they have joined stays. */
void child_begin_staged(struct turn *t);

/* Whether the step waits for an execution that it has started. */
bool child_is_awaited(const struct cursor *cursor);

/* The same, and which one it is. */
bool child_awaited(const struct cursor *cursor, struct uuid *out) MUST_USE;

/* The execution has ended and has a parent: that one is notified. */
void child_notify_end(struct turn *t);
/*
 * It had ended and goes on: children may have ended meanwhile, which nobody
 * told it. Every strand that waits for one looks with the next wake.
 */
void child_look_at_all(struct turn *t);

/* The strand in hand is not held any more: it waits for its child once the execution goes on. */
void child_release(struct turn *t);

/* The same of one that it has started itself, and has not joined: *id. */
bool child_is_own(const struct cursor *cursor, struct uuid *id);

/* What the event says of the end of an execution, or what was read of it; or NULL. */
const struct child_read *child_told(const struct turn *t, struct uuid id);
const struct child_read *child_was_read(const struct turn *t, struct uuid id);

/* Whether the event says that the child which the strand waits for has ended. */
bool child_has_news(const struct turn *t, const struct cursor *cursor);

/* The end of the child that the strand waits for, if it does, is part of this turn. */
void child_hear(struct turn *t);

/* Whether the child of the strand must be read before the strand can look at it: it is asked for. */
bool child_asks_to_read(struct turn *t);

/*
 * Look how that stands, by what it has said or, when it is time to look, by what is read.
 * STEP_DONE: it has ended, with *output, else *error;
 * STEP_WAITS: it has not, and a row says so; STEP_SKIPPED: it has not, and it
 * was not yet time to look; STEP_FAILED: it took too long.
 */
enum step_result child_look(struct turn *t, struct value *output, struct value *error);

/* Rolling back begins: the child that the strand waits for ends when it has been undone. */
void child_await_undone(struct cursor *cursor);

/* --- stopped.c: children that are waited for no more --- */

#define CHILD_KEY "child:"
#define CHILD_PARENT_KEY "parent:"

/*
 * A child that a strand has left in this turn is cancelled; so are all when rolling back begins.
 * One that this turn was to start and nobody waits for is not started.
 */
void child_compare(struct turn *t);

/*
 * Whether a child of this turn begins with it: no strand was to wait for it, one does, or a step
 * has said its id. Else it holds its key for nobody.
 */
bool child_is_wanted(const struct turn *t, struct uuid id);

/* Whether a child of its own has not ended that it waits for, or has waited for and left. */
bool child_is_left(const struct turn *t);

/* How a child is cancelled, by its name. */
enum cancel_rollback child_read_rollback(struct str name);

/* The last row says which steps the child of that step could not undo, if there are any. */
void child_note_unrolled(struct turn *t, struct str step, struct value error);

/* The strand in hand is stopped: rolling back waits for the answer of its call, if one has left. */
void stopped_add_call(struct turn *t);

/* --- stopped_call.c: what became of a call that was stopped (why: decision 0530) --- */

/*
 * The strand in hand as it stands, with $.loop of its visit, for the answer of its call; NULL: all
 * those that are kept would be too large.
 */
const struct strand *stopped_keep(struct turn *t, struct str *loop_json);

/* The answer is part of what is recorded next. It must have kept its strand. */
void stopped_answered(struct turn *t, const struct stopped_child *c);

/* The same, and a row says what became of the visit. */
void stopped_judge(struct turn *t, const struct stopped_child *c);

/* --- stopped.c --- */

/* The answer that came is that of a call which was stopped: it is not waited for. False: it is not. */
bool stopped_hear_call(struct turn *t);

/* Whether the event, or the time, says something about those that were cancelled. */
bool stopped_has_news(const struct turn *t);

/* Whether rolling back has waited for that one for a day. */
bool stopped_is_old(const struct turn *t, struct uuid id);

/*
 * Those that have ended are struck off; who rolls back waits until all have. False: reads are
 * needed first.
 */
bool stopped_settle(struct turn *t) MUST_USE;

/* The next time it matters, all of them are looked at. */
void stopped_look_at_all(struct turn *t);

/* --- suspend.c --- */

/* Whether what all strands hold, inputs and what their steps have done, is within STRANDS_BYTES_MAX. */
bool suspend_fits(const struct turn *t);

/* Freeze what the step has done, stopping at that place. False: the step has failed. */
bool suspend_step(struct turn *t, struct str asks) MUST_USE;

/*
 * Take up again what it has done in this procedure, with what it has staged. STEP_DONE, STEP_NEEDS: records
 * that it writes must be read again; STEP_FAILED: another has changed one.
 */
enum step_result suspend_resume(struct turn *t, const struct procedure *p) MUST_USE;

/* The same for a step that will not complete: what it has staged is forgotten. */
void suspend_recall(struct turn *t, const struct procedure *p);

/* The answer of the worker that was asked becomes part of it. False: t->failure says why not. */
bool suspend_answer(struct turn *t, struct value output) MUST_USE;

/* What the command that asked gives to whom it asks: procedure_note_input(). */
struct value suspend_asked(struct turn *t);

/* There is no answer: the command that asked fails with t->failure once the step gets there. */
void suspend_refuse(struct turn *t);

#endif
