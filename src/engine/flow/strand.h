/*
 * strand.h - several lines of work, the steps around them, loops and parallel steps.
 * Internal to src/engine.
 *
 * why: decisions 0116, 0117, 0118
 */
#ifndef PAWL_ENGINE_FLOW_STRAND_H
#define PAWL_ENGINE_FLOW_STRAND_H

#include "engine/turn.h"

/* --- strand.c: several lines of work --- */

/* The strand in hand as such, and back: for whoever puts it aside for a while. */
struct strand strand_in_hand(const struct execution *x);
void strand_put_in_hand(struct execution *x, const struct strand *s);

/* The strand of that index, from 0 on, in the order of branches and iterations. */
struct strand strand_at(const struct execution *x, uint32_t index);

/* Take up the strand of that index, from 0 on, in place of the current one. */
void strand_take(struct turn *t, uint32_t index);

/* The index of a strand: the one that `is` says so of, with the lowest seq; or NO_STRAND. */
#define NO_STRAND UINT32_MAX
uint32_t strand_find(const struct turn *t, bool (*is)(const struct turn *, const struct cursor *));

/* Whether the strand is held, for strand_find(). */
bool strand_is_held(const struct turn *t, const struct cursor *cursor);

/* Take up the strand that is in the visit of this cursor. False: there is none any more. */
bool strand_take_visit(struct turn *t, const struct cursor *cursor);

/* Whether there may be so many more: else the step fails with limit_strands. */
bool strand_may_add(struct turn *t, int64_t count) MUST_USE;

/* One more, behind `before` of those that were added with it: at that step, with that frame. */
void strand_add(struct turn *t, uint32_t before, uint32_t step, struct frame frame);

/* The current strand has ended; another is taken up. There must be one. */
void strand_drop(struct turn *t);

/* Whether another strand is in the step of this frame. */
bool strand_has_others(const struct turn *t, const struct frame *frame);

/*
 * Stop the other strands that are in the step of this frame; NULL: all of them.
 * What may have happened is recorded as such, everything else is over.
 */
void strand_stop_others(struct turn *t, const struct frame *frame);

#define STRAND_STOPPED "it was stopped before it had ended"

/*
 * The current visit has failed with "stopped" and this message. Its commands that are done are
 * gone through, so that they can be undone; with ERR_CLASS_INDETERMINATE the step itself is too.
 */
void strand_fail_stopped(struct turn *t, enum err_class class, const char *why);

/* Stop all others before everything is rolled back, and take them up again if nothing was. */
void strand_leave_others(struct turn *t, struct rollback *rollback);
void strand_resume_others(struct turn *t, const struct rollback *rollback);

/* Run those that are ready until all wait. False: reads are needed first. */
bool strand_run_rest(struct turn *t);

/* At the end of a turn: which comes first, whether they wait, and what for. */
void strand_settle(struct turn *t);

/*
 * Append what strands wait for, with commas, up to BRANCHES_SHOWN of them; `first` is that of the
 * one in hand. How many wait.
 */
uint32_t strand_write_waits(const struct execution *x, struct str first, struct buf *out);

/* --- frame.c: the steps around the current one --- */

/* Stand at a step that is about to be entered. */
void frame_move_to(struct turn *t, uint32_t step);

void frame_push(struct turn *t, struct frame frame);
const struct frame *frame_top(const struct turn *t);

/* Another in place of the innermost one. */
void frame_replace(struct turn *t, struct frame frame);

/*
 * The innermost frame is over for all strands, those that are in it beside this
 * one are stopped: its step is the current one again.
 */
const struct step *frame_pop(struct turn *t);

/* Whether a step is parallel, or a loop whose iterations run at once. */
bool frame_runs_at_once(const struct step *step);

/* What the last row adds to what the step of a frame holds; `number`: of whom, or -1. */
void frame_note(struct turn *t, const char *name, const struct frame *frame, int64_t number,
                struct str json);

/* --- loop.c --- */

/* Begin a loop. STEP_MOVED, STEP_DONE or STEP_FAILED. */
enum step_result loop_enter(struct turn *t, const struct step *step);

/* What the iteration that is over adds to the loop's result. STEP_DONE or STEP_FAILED. */
enum step_result loop_collect(struct turn *t);

/* The current iteration is over. STEP_MOVED, STEP_DONE, STEP_FAILED, or STEP_WAITS: for others. */
enum step_result loop_next(struct turn *t);

/* What failed behind a round, BEHIND_ROUND, is tried again. As loop_next(). */
enum step_result loop_resume(struct turn *t);

/* The same of one that has failed, which the loop records. */
enum step_result loop_fail(struct turn *t, struct value error);

/* The loop, whose frame is gone, is done after so many. STEP_DONE or STEP_FAILED. */
enum step_result loop_complete(struct turn *t, int64_t count);

/* --- parallel.c --- */

/*
 * The parallel step of the frame at `depth` had so many branches in the version
 * that the execution comes from: those that it has gained begin, behind the
 * strand in hand. False: t->failure says that there would be too many strands.
 */
bool parallel_begin_gained(struct turn *t, uint32_t depth, uint32_t had) MUST_USE;

/* Begin a parallel step. STEP_MOVED, STEP_DONE or STEP_FAILED. */
enum step_result parallel_enter(struct turn *t, const struct step *step);

/* The current step was the last of its branch. STEP_DONE, STEP_FAILED, or STEP_WAITS: for others. */
enum step_result parallel_end_branch(struct turn *t);

/* The step, whose frame is gone, is done with what has ended. STEP_DONE or STEP_FAILED. */
enum step_result parallel_complete(struct turn *t);

#endif
