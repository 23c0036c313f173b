/*
 * machine.h - machines: states, the events that they are left by, and what a transition is.
 * Internal to src/engine.
 *
 * why: decision 0580
 */
#ifndef PAWL_ENGINE_COMMAND_MACHINE_H
#define PAWL_ENGINE_COMMAND_MACHINE_H

#include "engine/turn.h"

/* Whether the cursor is at a state, and at no transition. */
bool machine_stands(const struct execution *x);

/* Whether it waits in a state for events: nothing is under way. */
bool machine_is_at_rest(const struct execution *x);

/* $.signal: the event that has led to the transition in hand; null: none has; else absent. */
struct value machine_event(struct turn *t);

/*
 * A state begins to wait. What came meanwhile is judged first, in order, then what is due by itself.
 * STEP_WAITS; STEP_DONE with *out for its result and *took as wait_begin(); STEP_FAILED.
 */
enum step_result machine_wait(struct turn *t, const struct step *step, struct value *out,
                              int64_t *took);

/*
 * The event of the turn: a transition that is open for it is taken; while one is under way it is
 * kept. False: ERR_EVENT_NOT_ALLOWED, ERR_HELD, ERR_INVALID.
 */
bool machine_signal(struct turn *t, bool *complete, struct err *err) MUST_USE;

/* What came during a pause that is over is judged. False: reads are needed first. */
bool machine_judge_kept(struct turn *t);

/* A time of `after` has come. False: reads are needed first. */
bool machine_wake(struct turn *t, const struct step *step);

/* From a state to what its transition does, and from there to the next state. As flow_jump(). */
enum step_result machine_go_on(struct turn *t, const struct step *step);

/* Whether the transition in hand can be undone, to go on in the state that it was to leave. */
bool machine_may_return(const struct execution *x);

/* It is undone; machine_return() when that is over. The last row says why. */
void machine_undo(struct turn *t);
void machine_return(struct turn *t);

/* The execution has moved to another version, and its state waits there for what that has. */
bool machine_moved(struct turn *t, struct err *err) MUST_USE;

#endif
