/*
 * step.h - one step and what comes of it: the next one, another attempt, a halt, the end.
 * Internal to src/engine.
 *
 * why: decisions 0060, 0061, 0132
 */
#ifndef PAWL_ENGINE_FLOW_STEP_H
#define PAWL_ENGINE_FLOW_STEP_H

#include "engine/turn.h"

/* --- step.c: one step --- */

/* Run steps until one waits, all are done or one fails for good. False: reads are needed first. */
bool step_run_all(struct turn *t);

/* Whether the turn has done enough. */
bool step_turn_is_long(const struct turn *t);

/* One more attempt of the current visit. */
enum step_result step_attempt(struct turn *t);

/* Whether it waits for a signal, a time or a task: it has no other command. */
bool step_is_wait(const struct step *step);

/* The visit ends: the commands that it has done are in t->run again, no other one runs. */
void step_recall(struct turn *t);

/* A new visit of the step that the cursor stands at, with what ledger_carry() says is done. */
enum step_result step_visit_again(struct turn *t, struct str suspended_json);

/*
 * Record the current step as completed and apply what it staged; `took` is
 * the seq of the signal that its wait took, or 0. STEP_FAILED when its result
 * cannot become part of the state.
 */
enum step_result step_complete(struct turn *t, struct value output, int64_t took);

/* The current visit has ended like this: its row is the last one. */
void step_set(struct turn *t, struct step_state state);

/* A row for the current step, at its visit. */
struct history_row *step_row(struct turn *t, enum history_kind kind, struct str status);

/* What the step has staged becomes part of the commit. */
void step_apply_staged(struct turn *t);

/* Wait: the row and the state say for what. `why` is waitingFor. */
void step_wait(struct turn *t, enum cursor_phase phase, enum waiting_kind kind, struct str status,
               struct str why);

/* --- flow.c: from one step to the next --- */

/* Go on after a step that ended like this. True: the cursor stands at the next one. */
bool flow_settle(struct turn *t, enum step_result end);

/*
 * Jump from the current step, which has completed. STEP_MOVED; STEP_DONE: the
 * loop around it is; STEP_FAILED: a step around it failed; one jump too many: as failure_of_jump().
 */
enum step_result flow_jump(struct turn *t, enum jump_kind kind, uint32_t step);

/* Go on where something behind the current step has failed: cursor.behind. As flow_enter(). */
enum step_result flow_resume(struct turn *t);

/*
 * A step has failed: do the steps around it handle that? Then *end is how the
 * one that does went on.
 */
bool flow_catch(struct turn *t, struct value error, struct str error_json,
                enum step_result *end) MUST_USE;

/* Begin a branch, a loop or a parallel step. STEP_MOVED, STEP_WAITS, STEP_DONE or STEP_FAILED. */
enum step_result flow_enter(struct turn *t, const struct step *step);

/* --- failure.c: what a failure leads to --- */

/* Record the failure of the current step: another attempt, the next step, or the end. */
enum step_result failure_of_step(struct turn *t);

/* t->failure as a value that the context has room for. */
struct value failure_that_fits(struct turn *t, struct str *json);

/* waitingFor of the next attempt of a step, or of its rollback. */
struct str failure_describe_retry(struct turn *t, struct str error_json, int64_t at_us);

/* As failure_of_step(), no policy being asked: the next step, or the end. */
enum step_result failure_for_good(struct turn *t);

/* Record the attempt that failed: the visit goes on with another one at that time. */
void failure_retry(struct turn *t, struct str error_json, int64_t at_us);

/* The strand in hand is not held any more: its next attempt begins once the execution goes on. */
void failure_release(struct turn *t);

/*
 * Whether what failed may have happened: this attempt left it open, or an earlier
 * attempt did and this failure does not prove the opposite.
 */
bool failure_may_have_happened(const struct turn *t);

/* The current step has failed, finally: its row, and the state. */
void failure_record(struct turn *t, struct value error, struct str error_json);

/* A failure after the step had completed: its goto. */
enum step_result failure_of_jump(struct turn *t);

/*
 * The same of the loop or parallel step of the innermost frame, behind one of its rounds. When
 * nothing around it goes on, the frame stays: a retry keeps the rounds that have
 * ended. STEP_WAITS, or STEP_FAILED: the frame is gone, and the loop has failed.
 */
enum step_result failure_of_loop(struct turn *t, enum cursor_behind behind);

/* How long the policy waits after that many tries. */
int64_t failure_delay_us(struct turn *t, const struct retry *policy, int64_t tries);

/* The policy for t->failure of this step, or NULL. */
const struct retry *failure_policy(const struct turn *t, const struct step *step);

/* Whether this policy tries again after t->failure of the strand in hand, and when. */
bool failure_retries(struct turn *t, const struct retry *policy, int64_t *at_us);

/* The same, and the failure is counted. */
bool failure_tries_again(struct turn *t, const struct retry *policy, int64_t *at_us);

/* --- outcome.c: how an execution ends, or comes to a halt --- */

/* All steps are done: the result, and the end. */
void outcome_complete(struct turn *t);

/* An end; the last row says so. */
void outcome_end(struct turn *t, enum execution_status status);

/* It goes no further because of t->failure, which is of no step: a row says so, and hold or fail. */
void outcome_stop(struct turn *t);

/* It failed with t->failure, which the last row has recorded as `error_json`: hold or fail. */
void outcome_fail(struct turn *t, enum on_error on_error, struct str error_json);

/* Something a person must see; the last row says why. */
void outcome_dead_letter(struct turn *t, enum letter_kind kind, struct str step, int64_t attempts,
                         struct str cause_json, struct str payload_json);

/* The same for a visit that may have happened and cannot be undone: `row` says why. */
void outcome_lost(struct turn *t, const struct history_row *row);

#endif
