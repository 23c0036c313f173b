/*
 * debug.h - executions that are debugged stop before a step, until somebody lets
 * them go on. Internal to src/engine.
 *
 *     goes on --a step is about to begin: the next one, a breakpoint, behind `to`--> stopped
 *        ^                                                                             |
 *        +--CONTINUE: one step begins, and all that `to` lets begin--------------------+
 *
 * The stop is the execution's: no strand begins a step. What is in flight (calls, jobs, children)
 * ends and is recorded; a signal that a wait would take is deferred as in a pause. Timers of waits
 * and of retries, and the deadline, stand still: CONTINUE moves them by the time it was stopped.
 * Rolling back and what an operator tries again are not stopped.
 *
 * why: decision 0570
 */
#ifndef PAWL_ENGINE_FLOW_DEBUG_H
#define PAWL_ENGINE_FLOW_DEBUG_H

#include "engine/turn.h"

/* Those of the event are the breakpoints, and a row says so. False: it is not debugged, or they are no steps. */
bool debug_set_breakpoints(struct turn *t, struct err *err) MUST_USE;

/* Whether the current step may begin now. False: the execution is stopped. */
bool debug_may_begin(struct turn *t);

/* A visit of the current step has ended. */
void debug_step_ended(struct turn *t);

/* Whether a strand that is about to begin a step may not. */
bool debug_stops(const struct execution *x, const struct cursor *cursor);

/* Whether the timer of the strand stands still. */
bool debug_holds_timer(const struct execution *x, const struct cursor *cursor);

/* The strand that is shown first: the first that is stopped; 0 when none is. */
uint32_t debug_first(const struct execution *x);

/*
 * It may go on: a row says so, variables are set and timers moved, but no step begins yet. *branch
 * is where one will: the one that the event names, or the first that is stopped.
 */
bool debug_continue(struct turn *t, struct str *branch, struct err *err) MUST_USE;

/* It goes on there, or with the first, should that be over. False: reads are needed first. */
bool debug_run(struct turn *t, struct str branch) MUST_USE;

/* Whether it is stopped, and no strand is. */
bool debug_is_idle(const struct turn *t);

/* It is stopped no more: its timers are moved. */
void debug_release(struct turn *t);

/* It goes on with another version: breakpoints that this does not have are gone. */
void debug_move(struct turn *t);

/* The next timer of what is in flight, or 0. */
int64_t debug_wake_at(const struct execution *x);

/* At the end of a turn: it shows that it is stopped, and before what. */
void debug_settle(struct turn *t);

#endif
