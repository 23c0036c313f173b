/*
 * step.h - one step and what comes of it: the next one, another attempt, a halt, the end.
 * Internal to src/engine.
 */
#ifndef PAWL_ENGINE_STEP_H
#define PAWL_ENGINE_STEP_H

#include "engine/turn.h"

/* --- step.c: one step --- */

/* Run steps until one waits, all are done or one fails for good. False: reads are needed first. */
bool step_run_all(struct turn *t);

/* Whether the turn has done enough. */
bool step_turn_is_long(const struct turn *t);

/* One more attempt of the visit under way. */
enum step_result step_attempt(struct turn *t);

/*
 * Record the step under way as completed and apply what it staged; `took` is
 * the seq of the signal that its wait took, or 0. STEP_FAILED when its result
 * cannot become part of the state.
 */
enum step_result step_complete(struct turn *t, struct value output, int64_t took);

/* The visit under way has ended like this: its row is the last one. */
void step_set(struct turn *t, struct step_state state);

/* A row for the step under way, at its visit. */
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
 * Jump from the step under way, which has completed. STEP_MOVED; STEP_DONE: the
 * loop around it is; STEP_FAILED: limit_goto, or a step around it failed.
 */
enum step_result flow_jump(struct turn *t, enum jump_kind kind, uint32_t step);

/*
 * A step has failed: do the steps around it handle that? Then *end is how the
 * one that does went on.
 */
bool flow_catch(struct turn *t, struct value error, struct str error_json,
                enum step_result *end) MUST_USE;

/* Begin a branch, a loop or a parallel step. STEP_MOVED, STEP_WAITS, STEP_DONE or STEP_FAILED. */
enum step_result flow_enter(struct turn *t, const struct step *step);

/* --- failure.c: what a failure leads to --- */

/* Record the failure of the step under way: another attempt, the next step, or the end. */
enum step_result failure_of_step(struct turn *t);

/* t->failure as a value that the context has room for. */
struct value failure_that_fits(struct turn *t, struct str *json);

/* waitingFor of the next attempt of a step, or of its rollback. */
struct str failure_describe_retry(struct turn *t, struct str error_json, int64_t at_us);

/* As failure_of_step(), no policy being asked: the next step, or the end. */
enum step_result failure_for_good(struct turn *t);

/* Record the attempt that failed: the visit goes on with another one at that time. */
void failure_retry(struct turn *t, struct str error_json, int64_t at_us);

/* The step under way has failed, finally: its row, and the state. */
void failure_record(struct turn *t, struct value error, struct str error_json);

/* A failure after the step had completed: its goto. */
enum step_result failure_of_jump(struct turn *t);

/* How long to wait after that many attempts. */
int64_t failure_delay_us(struct turn *t, const struct retry *policy, int64_t attempt);

/* Whether this policy tries again after t->failure, `attempt` having failed, and when. */
bool failure_retries(struct turn *t, const struct retry *policy, int64_t attempt,
                     int64_t attempts_max, int64_t *at_us);

/* --- outcome.c: how an execution ends, or comes to a halt --- */

/* All steps are done: the result, and the end. */
void outcome_complete(struct turn *t);

/* An end; the last row says so. */
void outcome_end(struct turn *t, enum execution_status status);

/* It failed with t->failure, which the last row has recorded as `error_json`: hold or fail. */
void outcome_fail(struct turn *t, enum on_error on_error, struct str error_json);

/* Something a person must see; the last row says why. */
void outcome_dead_letter(struct turn *t, enum letter_kind kind, struct str step, int64_t attempts,
                         struct str cause_json, struct str payload_json);

/* The same for a visit that may have happened and cannot be undone: `row` says why. */
void outcome_lost(struct turn *t, const struct history_row *row);

#endif
