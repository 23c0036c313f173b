/*
 * turn.h - the work of one advance while it is under way. Internal to
 * src/engine.
 *
 * A turn starts from a copy of the execution's state and changes only that;
 * what the copy shares with the execution (values, texts, signals) is never
 * written to. What a step does beside its result (variables, records, log
 * lines) is staged and applied with its completion; a step that fails leaves
 * no trace of it.
 *
 * A turn has two times: `now_us` is what history records and expressions see,
 * and never goes back within one execution; `wall_us` is what the clock says,
 * which may have been set back, and is what timers are held against.
 */
#ifndef PAWL_ENGINE_TURN_H
#define PAWL_ENGINE_TURN_H

#include "base/buf.h"
#include "engine/advance.h"
#include "engine/state.h"

/* Why a step failed: {code, message, details?, retryable, class, source}. */
struct failure {
    struct str code;
    struct str message;
    struct str class;     /* "business", "transient", "indeterminate" */
    struct value details; /* or VALUE_ABSENT */
    struct str source;    /* JSON pointer in the definition, or empty */
    bool is_own; /* of our own making (expression_*, limit_*), not the user's compute.fail */
};

enum step_end {
    STEP_DONE,   /* completed or skipped */
    STEP_WAITS,  /* a wait is under way */
    STEP_FAILED, /* turn->failure */
    STEP_NEEDS,  /* records must be read first: out->needs */
};

struct turn {
    struct arena *mem;
    const struct event *ev;
    int64_t now_us, wall_us;
    struct execution *x; /* the state that is being made */
    struct commit *out;
    struct failure failure;
    struct str refused_output_json; /* of a step that failed because its output is too large */
    size_t row_bytes;               /* of the history rows of steps made so far */

    /* the activation of expressions; filled when asked for */
    struct value *slots;
    struct cel_activation activation;

    /* staged by the step under way */
    struct value variables; /* all of them */
    struct value assigned;  /* those that the step has set */
    struct record_writes records;
    struct log_lines logs;
    uint32_t ids; /* made so far by this step */
};

/* --- turn.c --- */

void turn_init(struct turn *t, struct arena *mem, const struct execution *exec,
               const struct event *ev, int64_t now_us, struct commit *out);

/* The step that the cursor stands at. */
const struct step *turn_step(const struct turn *t);

/* Forget what the last step has staged, and everything its expressions saw. */
void turn_begin_step(struct turn *t);

/* Append a row; its seq and times are set here. Answers it for the rest. */
struct history_row *turn_row(struct turn *t, enum history_kind kind, struct str step,
                             struct str status);

/* Add a member to what the last row changed. There must be a row. */
void turn_note(struct turn *t, const char *name, struct str json);

/* Fail the step under way. Answers STEP_FAILED. */
enum step_end turn_fail(struct turn *t, struct str code, struct str class, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Fail it with an error value of an expression that stands at `pointer`. */
enum step_end turn_fail_value(struct turn *t, struct value error, struct str pointer);

/* Fail it because the context would be too large. */
enum step_end turn_fail_size(struct turn *t);

/* The failure as {code, message, class, ...} and as JSON. */
struct value turn_failure(struct turn *t, struct str *json);

/* A value as JSON, in the turn's memory. False: t->failure says why it has no such form. */
bool turn_json(struct turn *t, struct value v, struct str *out) MUST_USE;

/*
 * The same for a value that becomes part of the state: *v is then what reading
 * the JSON gives (a timestamp is a string), so that an execution that was
 * loaded again sees nothing else than one that stayed in memory.
 */
bool turn_freeze(struct turn *t, struct value *v, struct str *json) MUST_USE;

/* --- JSON objects, written member by member: open with an empty buffer --- */

void member_json(struct buf *out, const char *name, struct str json);
void member_text(struct buf *out, const char *name, struct str text);
void member_time(struct buf *out, const char *name, int64_t us);
struct str member_end(struct buf *out);

/* --- context.c: what expressions see --- */

/* cel_activation.load: the roots of the context, made when first asked for. */
struct value context_load(void *turn, uint32_t slot);

/* $.steps.CODE of a step. */
struct value context_step_view(struct arena *mem, const struct step *step,
                               const struct step_state *state);

/* $.signals: the last SIGNALS_SHOWN of them. */
struct value context_signals(struct arena *mem, const struct signals *signals);

/* A time as expressions have it, and as JSON text. */
struct value time_value(int64_t us);
struct value time_text(struct arena *mem, int64_t us);

/* --- command.c: commands that need nothing from outside --- */

/* The value of a field: VALUE_ABSENT when it is not given. False: the step has failed. */
bool command_field(struct turn *t, const struct command *c, enum command_field field,
                   struct value *out) MUST_USE;

/* The same for a field that must be a string. */
bool command_text(struct turn *t, const struct command *c, enum command_field field,
                  struct str fallback, struct str *out) MUST_USE;

/* Run one command; its result goes to *out. Waits are not run here. */
enum step_end command_run(struct turn *t, const struct command *c, struct value *out);

/* The field `result` makes something else of what a command answered. */
enum step_end command_shape(struct turn *t, const struct command *c, struct value *out);

/* --- record.c, query.c --- */

enum step_end record_run(struct turn *t, const struct command *c, struct value *out);
enum step_end query_run(struct turn *t, const struct command *c, struct str object,
                        struct value *out);

/* {id, version, ...data} */
struct value record_value(struct arena *mem, struct str id, int64_t version, struct value data);

/* The write of this record that the step, else the turn, has staged; or NULL. */
const struct record_write *record_staged(const struct turn *t, struct str object, struct str id);

/* Add a write to those of the turn: one for each record, resting on what was read first. */
void record_put(struct arena *mem, struct record_writes *writes, struct record_write write);

/* --- wait.c --- */

bool wait_is(const struct command *c);

/*
 * Begin the wait of a step. STEP_WAITS, or it is over at once: STEP_DONE with
 * *out for its result and *took for the seq of the signal it takes, or 0.
 */
enum step_end wait_begin(struct turn *t, const struct step *step, struct value *out, int64_t *took);

/* The wait under way is told of a signal: whether it takes it, with *out for its result. */
bool wait_takes(struct turn *t, const struct step *step, const struct signal *signal,
                struct value *out);

/* Its time has come. STEP_DONE with *out, or STEP_FAILED. */
enum step_end wait_expired(struct turn *t, const struct step *step, struct value *out);

/* --- step.c --- */

/* Run steps until one waits, all are done or one fails for good. False: reads are needed first. */
bool step_run_all(struct turn *t);

/*
 * Record the step under way as completed and apply what it staged; `took` is
 * the seq of the signal that its wait took, or 0. STEP_FAILED when its result
 * cannot become part of the state.
 */
enum step_end step_complete(struct turn *t, struct value output, int64_t took);

/* Record its failure and do what onError says. Answers whether the execution goes on. */
bool step_fail(struct turn *t);

/* --- outcome.c: how an execution ends, or comes to a halt --- */

/* All steps are done: the result, and the end. */
void outcome_complete(struct turn *t);

/* It was cancelled; the last row says so. */
void outcome_cancel(struct turn *t);

/* It failed with t->failure, which the last row has recorded as `error_json`: hold or fail. */
void outcome_fail(struct turn *t, enum on_error on_error, struct str error_json);

#endif
