/*
 * turn.h - the work of one advance while it is under way. Internal to
 * src/engine.
 *
 * A turn starts from a copy of the execution's state and changes only that.
 * What a step does beside its result (variables, records, log lines) is staged
 * and applied with its completion; a step that fails leaves no trace of it.
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
    struct str class; /* "business", "transient", "indeterminate" */
    struct value details; /* or VALUE_ABSENT */
    struct str source;    /* JSON pointer in the definition, or empty */
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
    int64_t now_us;
    struct execution *x; /* the state that is being made */
    struct commit *out;
    struct failure failure;

    /* the activation of expressions; filled when asked for */
    struct value *slots;
    uint32_t slot_count;
    struct cel_activation activation;

    /* staged by the step under way */
    struct value variables;
    struct record_writes records;
    struct log_lines logs;
    uint32_t ids; /* made so far by this step */
};

/* --- turn.c --- */

void turn_init(struct turn *t, struct arena *mem, const struct execution *exec,
               const struct event *ev, int64_t now_us, struct commit *out);

/* Forget what the step under way has staged, and everything its expressions saw. */
void turn_begin_step(struct turn *t, const struct step *step);

/* Append a row; its seq and times are set here. Answers it for the rest. */
struct history_row *turn_row(struct turn *t, enum history_kind kind, struct str step,
                             struct str status);

/* Fail the step under way. Answers STEP_FAILED. */
enum step_end turn_fail(struct turn *t, struct str code, struct str class, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Fail it with an error value of an expression that stands at `pointer`. */
enum step_end turn_fail_value(struct turn *t, struct value error, struct str pointer);

/* The failure as JSON and as a value. */
struct value turn_failure_value(struct turn *t);

/* A value as JSON, in the turn's memory. False: t->failure says why it has no such form. */
bool turn_json(struct turn *t, struct value v, struct str *out) MUST_USE;

/* --- context.c: what expressions see --- */

/* cel_activation.load: the roots of the context, made when first asked for. */
struct value context_load(void *turn, uint32_t slot);

/* $.steps.CODE of a step. */
struct value context_step_view(struct arena *mem, const struct step *step,
                               const struct step_state *state);

/* --- command.c: commands that need nothing from outside --- */

/* The value of a field: VALUE_ABSENT when it is not given. False: the step has failed. */
bool command_field(struct turn *t, const struct command *c, enum command_field field,
                   struct value *out) MUST_USE;

/* The same for a field that must be a string. */
bool command_text(struct turn *t, const struct command *c, enum command_field field,
                  struct str fallback, struct str *out) MUST_USE;

/* One map laid over another: members of `over` win. */
struct value command_merge(struct arena *mem, struct value base, struct value over);

/* Run one command; its result goes to *out. Waits are not run here. */
enum step_end command_run(struct turn *t, const struct command *c, struct value *out);

/* --- record.c --- */
enum step_end record_run(struct turn *t, const struct command *c, struct value *out);

/* --- wait.c --- */

bool wait_is(const struct command *c);

/* Begin the wait of a step: it may be over at once, with *out for its result. */
enum step_end wait_begin(struct turn *t, const struct step *step, struct value *out,
                         int64_t *took);

/* The wait under way is told of a signal: whether it takes it, with *out for its result. */
bool wait_takes(struct turn *t, const struct step *step, const struct signal *signal,
                struct value *out);

/* Its time has come. STEP_DONE with *out, or STEP_FAILED. */
enum step_end wait_expired(struct turn *t, const struct step *step, struct value *out);

#endif
