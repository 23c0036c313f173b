/*
 * repair.h - what operators do: pause, resume, retry, skip, migrate, resolve.
 * Internal to src/engine.
 *
 * why: decisions 0064, 0100, 0374
 */
#ifndef PAWL_ENGINE_FLOW_REPAIR_H
#define PAWL_ENGINE_FLOW_REPAIR_H

#include "engine/turn.h"

/* --- pause.c: nothing goes on until an operator says so --- */

/* The execution is paused, and a row says so. False: not now. */
bool pause_begin(struct turn *t, struct err *err) MUST_USE;

/* It is no more, and a row says so: what was deferred is to be acted upon. False: it was not. */
bool pause_end(struct turn *t, struct err *err) MUST_USE;

/*
 * It ends otherwise: no signal that is still deferred for the current strand is
 * acted upon. An answer stays, for whoever goes on with its attempt: rolling
 * back that waits for it, or a retry.
 */
void pause_forget(struct turn *t);

/* Who does what the event says, as JSON; or empty. */
struct str pause_who(struct turn *t);

/* The current wait ends, once the execution goes on, with the signal of that row. */
void pause_defer_signal(struct turn *t, const struct signal *signal);

/* The same with an answer; `output` absent: with that error. A row says so. */
void pause_defer_answer(struct turn *t, struct value output, struct value error);

/* Whether the signal of that row is deferred for a wait: no other one takes it. */
bool pause_defers(const struct execution *x, int64_t seq);

/* What was deferred for the current strand. */
struct pause_deferred {
    const struct signal *signal; /* or NULL: an answer */
    struct value output;         /* or absent: then error */
    struct value error;
};

/* Whether an answer was deferred that the execution can go on with, unless it is paused. */
bool pause_has_answer(const struct turn *t);

/* Take up the strand for which something was deferred first; it is no more. False: none. */
bool pause_take(struct turn *t, struct pause_deferred *out);

/* The same of signals alone: the one that came first; NULL: none. */
const struct signal *pause_take_signal(struct turn *t);

/* At the end of a turn: it shows that it is paused, and the waits under it. */
void pause_settle(struct turn *t);

/* --- repair.c: what operators do --- */

/* ERR_INVALID with a finding about one field of the request. Answers false. */
bool repair_refuse(struct turn *t, const char *pointer, const char *code, struct sentence hint,
                   struct sentence message, struct err *err);

/* The code of the step that was probably meant, as a hint; or empty. */
struct sentence repair_nearest_step(struct arena *mem, const struct program *p, struct str code);

/* False: it cannot be done now. */
bool repair_resolve(struct turn *t, bool *complete, struct err *err) MUST_USE;
bool repair_retry(struct turn *t, bool *complete, struct err *err) MUST_USE;
bool repair_skip(struct turn *t, bool *complete, struct err *err) MUST_USE;
bool repair_migrate(struct turn *t, struct err *err) MUST_USE;

/*
 * BEHIND_LEDGER: the retry of an execution goes on with a strand whose step had failed: with the same
 * visit when that may have happened, with its ledger in the next one when it has done something, else
 * from nothing. As flow_enter().
 */
enum step_result repair_take_up(struct turn *t);

#endif
