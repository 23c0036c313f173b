/*
 * state.h - the state of an execution as it is stored, and back.
 *
 * The context column is a checkpoint: {"steps": {code: {...}}, "variables":
 * {...}, "signals": [...]}. The cursor column says where the execution stands.
 * Restoring folds the history rows after the checkpoint over it.
 */
#ifndef PAWL_ENGINE_STATE_H
#define PAWL_ENGINE_STATE_H

#include "base/buf.h"
#include "engine/execution.h"
#include "engine/stored_execution.h"

struct findings;

/* In the error of an execution that had nothing to roll back. */
#define NOTHING_ROLLED_BACK "\"compensation\":{\"compensated\":[],\"failed\":[]}"

/* What a new execution is made of. */
struct execution_new {
    struct uuid id;
    struct str key, org_id; /* or empty */
    struct str user_json;   /* who starts it */
    struct str trace;       /* the traceparent that it takes over, or empty */
    struct str chain;       /* the triggers that led to it, or empty: see chain.h */
    struct value input;     /* checked, with defaults */
    struct value webhook;   /* the request that starts it: a map, or anything else for none */
    struct str record;      /* "object/id" of the record whose card it is started from, or empty */
    int64_t now_us;
    bool has_again_of;
    struct uuid again_of;     /* the execution that it is started again for */
    bool is_debugged;         /* it stops behind its first step, or before breakpoints alone: */
    struct value breakpoints; /* a list of codes; absent: none */
};

/*
 * A new execution, pending, in `mem`, with copies of all it is made of.
 * ERR_TOO_LARGE, ERR_EXPRESSION_ERROR: the input is too large, or has no JSON
 * form.
 */
bool execution_new(struct arena *mem, const struct program *program,
                   const struct execution_new *from, struct execution **out,
                   struct err *err) MUST_USE;

/*
 * Whether a list of codes can be breakpoints; anything but a list can. ERR_INVALID: the findings
 * say which are no steps of the program; they are about `pointer`/NUMBER.
 */
enum { BREAKPOINTS_MAX = 1000 };
bool state_check_breakpoints(struct arena *mem, const struct program *p, struct value list,
                             const char *pointer, struct findings *out, struct err *err) MUST_USE;

/*
 * What is wrong with a business key, wherever it is given or computed; NULL: nothing.
 * One that people cannot tell from another, by a blank at its end or a control
 * character, would be a second execution for the same thing.
 */
const char *state_key_mistake(struct str key);

/*
 * The business key of a start or a child: `given`, or if that is empty as
 * settings.key says it; empty without one. ERR_INVALID when that gives no
 * string, or what it gives cannot be a key.
 */
bool state_key(struct arena *mem, const struct program *program, struct str given,
               struct value input, struct value webhook, struct value user, struct value config,
               int64_t now_us, struct str *out, struct err *err) MUST_USE;

/* The context as it is stored. */
struct str state_context_json(struct arena *mem, const struct execution *exec);

/* Where it stands, as it is stored. */
struct str state_cursor_json(struct arena *mem, const struct execution *exec);

/* And back, into an execution that has its program. ERR_INTERNAL when it is damaged. */
bool state_restore_cursor(struct arena *mem, struct execution *x, struct str text,
                          struct err *err) MUST_USE;

/*
 * Rebuild an execution from what was stored: the checkpoint, with the rows
 * after it folded over it. Lives in `mem`. ERR_INTERNAL when the stored form
 * is broken or newer than EXECUTION_FORMAT.
 */
bool state_restore(struct arena *mem, const struct program *program,
                   const struct stored_execution *stored, struct execution **out,
                   struct err *err) MUST_USE;

/* The same for who only shows it: whether it fits its program is not asked. */
bool state_restore_shown(struct arena *mem, const struct program *program,
                         const struct stored_execution *stored, struct execution **out,
                         struct err *err) MUST_USE;

/*
 * --- changing the state: the engine and the fold of history rows do the same,
 * so that replaying a history gives the state that made it ---
 */

/* What the limit of the context counts: input, outputs, errors, variables, signals, as JSON. */
size_t state_context_bytes(const struct execution *x);

/*
 * What the current strand sees of a step: within an iteration that runs
 * beside others that is its own, and nothing when the step has not run in it.
 */
const struct step_state *state_step(const struct execution *x, uint32_t step);

/* The bytes of the context that a step takes. */
size_t state_step_bytes(const struct step_state *s);

/* The bytes of the context once the current visit has ended with so many of its own. */
size_t state_bytes_with(const struct execution *x, size_t step_bytes);

/* The iteration that the current strand is in, as far as the step is concerned. */
struct round state_round(const struct execution *x, uint32_t step);

/* A visit has ended; `round` is the iteration it was in. A loop that it was holds nothing more. */
void state_set_step(struct arena *mem, struct execution *x, struct round round, uint32_t index,
                    struct step_state step);

/* What the step has come to within the iteration, or NULL. */
const struct round_step *state_find_round_step(const struct execution *x, struct round round,
                                               uint32_t step);

/* Within the iteration alone. */
void state_set_round_step(struct arena *mem, struct execution *x, struct round round, uint32_t step,
                          struct step_state state);

/* The result of a step leaves the context; how often it was visited stays. */
void state_drop_step(struct execution *x, uint32_t index);

/* --- secrets.c: sensitive answers in signals that have left --- */

void state_keep_secrets(struct arena *mem, struct execution *x, const struct signal *left);

/* One of them as it was stored; null: all texts are to be hidden. */
void state_keep_secret(struct arena *mem, struct execution *x, struct value secret);

/* --- past_steps.c: results of steps that the program does not have any more --- */

/* This is the result of the step that rolling back by an earlier program sees. */
void state_keep_step(struct arena *mem, struct execution *x, struct str code,
                     const struct step_state *s);

/* False: there is none. */
bool state_past_step(struct arena *mem, const struct execution *x, struct str code,
                     struct step_state *out) MUST_USE;

/* As they were stored. */
void state_restore_past_steps(struct arena *mem, struct execution *x, struct value stored);

/* A step's result as it is stored. */
struct step_state state_read_step(struct arena *mem, struct value stored);

/* --- visits.c --- */

/* The highest number that a visit of the step has had. */
int64_t state_visits(const struct execution *x, uint32_t step);

/*
 * The number of the visit that begins now. The first ones in iterations that
 * run at once go by the number of the iteration.
 */
int64_t state_next_visit(struct execution *x, uint32_t step);

/* This number was given out, to a step in such iterations. */
void state_give_visit(struct execution *x, uint32_t step, int64_t visit);

/* Of steps that a version has added to such running loops, the first ones are given out too. */
void state_give_visits(struct execution *x);

/* A visit that has no result, or whose step the version does not have, counts all the same. */
void state_count_visit(struct arena *mem, struct execution *x, struct round round, struct str code,
                       int64_t visit);
void state_count_visits(struct arena *mem, struct execution *x, struct round round,
                        struct value visits);

/* What state_write_visits() wrote, once the steps of the checkpoint are there. */
/* The seq of the signal that the step of a stored row took, or 0. */
int64_t state_row_took(struct arena *mem, const struct history_row *row);
void state_restore_visits(struct arena *mem, struct execution *x,
                          struct value visits); /* by code */

/* The execution goes on with `to`; `steps` are its steps, which take over their counts. */
void state_move_visits(struct arena *mem, struct execution *x, const struct program *to,
                       struct step_state *steps);

/* Append the counts that no result says to an object, as they are stored; or nothing. */
void state_write_visits(struct buf *out, const struct execution *x);
const struct past_visit *state_copy_visits(struct arena *mem, const struct past_visit *list);

/* All variables, and the same as JSON: empty when there are none. */
void state_set_variables(struct execution *x, struct value variables, struct str json);

/* Received: `signal` is kept, not copied. */
void state_add_signal(struct arena *mem, struct execution *x, const struct signal *signal);

/*
 * A wait takes the signal of that seq. Signals that are taken and no longer
 * shown leave the state; the store keeps them.
 */
void state_take_signal(struct arena *mem, struct execution *x, int64_t seq);

/* Another input than the one it was started with. */
void state_set_input(struct execution *x, struct value input, struct str json);

/*
 * Another loop begins: `list` is what it goes over, or absent; `started` is how
 * many iterations begin at once, or 0 when they run one after the other.
 */
void state_begin_loop(struct arena *mem, struct execution *x, uint32_t step, int64_t visit,
                      struct value list, size_t list_bytes, int64_t started);

/* What a checkpoint takes, about: the context, and the lists that loops go over. */
size_t state_checkpoint_bytes(const struct execution *x);

/* One that has begun, as it was stored: list, base, started and ended. */
void state_resume_loop(struct arena *mem, struct execution *x, uint32_t step, int64_t visit,
                       struct loop_data stored);

/* [number, value], as a loop or parallel step holds it whose iterations or branches run at once. */
struct value state_numbered(struct arena *mem, int64_t number, struct value v);

/* One more result, or error, of a running loop or parallel step. `bytes` as JSON. */
void state_add_collected(struct arena *mem, struct execution *x, uint32_t step, int64_t visit,
                         struct value item, size_t bytes);
void state_add_loop_error(struct arena *mem, struct execution *x, uint32_t step, int64_t visit,
                          struct value error, size_t bytes);

/* It is over. */
void state_end_loop(struct arena *mem, struct execution *x, uint32_t step, int64_t visit);

/* An iteration that ran beside others is over: what was its own is gone, and the next may begin. */
void state_end_round(struct arena *mem, struct execution *x, struct round round);

/* What the loop holds, or NULL; visit 0: there is but one. */
const struct loop_data *state_loop(const struct execution *x, uint32_t step, int64_t visit);

/*
 * What loops and iterations hold in which no strand is any more is gone; those
 * that run know their visit.
 */
void state_prune(struct arena *mem, struct execution *x);

/* A step was rolled back, or could not be. */
void state_add_compensated(struct arena *mem, struct execution *x, struct str code, bool ok);

/* What was undone belongs to a transition of a machine, which goes on without it. */
void state_forget_compensation(struct execution *x);

/* A rollback was given up; it is tried again; the step is undone after all. */
void state_add_given_up(struct arena *mem, struct execution *x, struct value given_up);
void state_drop_given_up(struct arena *mem, struct execution *x, struct str letter);
void state_move_compensated(struct arena *mem, struct execution *x, struct str code);

/* One map laid over another: members of `over` win, new ones come last. */
struct value state_merge(struct arena *mem, struct value base, struct value over);

/* The same with a map of one member. */
struct value state_with(struct arena *mem, struct value base, struct str name, struct value v);

/* What a row adds to the log that the next checkpoint is weighed against. */
int64_t state_row_bytes(const struct history_row *row);

/*
 * waiting_kind and is_rolled_back of what was stored before they had columns of
 * their own. False: it is damaged.
 */
bool state_restore_facts(struct arena *mem, struct stored_execution *stored,
                         struct err *err) MUST_USE;

/* What a strand waits for, by the waitingFor that it was stored with; absent: nothing. */
enum waiting_kind state_waiting_kind(struct value waiting_for);

/* A copy in another arena: for the cache, and when garbage exceeds live data. */
struct execution *state_copy(struct arena *mem, const struct execution *exec);

/* The strand waits for nobody's answer any more. */
/*
 * The row `call` or `job` that has what the attempt of a stored row sent last; 0: it has
 * sent nothing, or what it was given stands in its own input.
 */
int64_t state_row_sent(struct arena *mem, const struct history_row *row);

static inline void cursor_forget_asked(struct cursor *cursor)
{
    cursor->awaited = cursor->host = cursor->child_code = STR_NONE;
    cursor->ask = ASK_NONE;
    cursor->is_joined = cursor->is_started = false;
    cursor->asked_seq = cursor->asked_epoch = 0;
    if (cursor->deferred_answer_json.len > 0) {
        cursor->deferred_answer_json = STR_NONE;
        cursor->deferred_seq = 0;
    }
}

#endif
