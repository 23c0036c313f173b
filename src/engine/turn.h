/*
 * turn.h - the work of one advance while it runs. Internal to
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
 *
 * why: decisions 0065, 0425
 */
#ifndef PAWL_ENGINE_TURN_H
#define PAWL_ENGINE_TURN_H

#include "base/buf.h"
#include "define/program.h"
#include "engine/advance.h"
#include "engine/state.h"

/*
 * What the expressions of one attempt may take, calls, jobs and waits apart: limit_time. It is
 * counted in units of evaluation, not by a clock: every machine, and every repetition of a turn,
 * comes to the same end. See cel_limits.
 */
enum { ATTEMPT_SECONDS_MAX = 30 };
#define COST_PER_SECOND INT64_C(100000000) /* about what one core does */
#define ATTEMPT_COST_MAX (ATTEMPT_SECONDS_MAX * COST_PER_SECOND)

/* Why a step failed: {code, message, details?, retryable, class, source}. */
enum { FAILURE_TEXT_MAX = 512 }; /* bytes of a message, its end included; a longer one is cut */

struct failure {
    struct str code;
    struct sentence message;
    enum err_class class;
    struct value details; /* or VALUE_ABSENT */
    bool is_foreign;   /* details are what somebody outside said: left out where they do not fit */
    struct str source; /* JSON pointer in the definition: what failed there; or empty */
    int64_t version;   /* ... of this version; 0: the one that runs */
    bool is_own;       /* of our own making (expression_*, limit_*, templates), not compute.fail */
    bool is_final;     /* "retryable": false */
    bool is_unsure;    /* whatever its class: it may have happened, should it be the last attempt */
    int64_t retry_after_us; /* what the other side asked for; 0 = nothing */
    /* Of a command with a policy of its own: that, and the place of the command. */
    const struct retry *retry;
    struct str at;
    bool is_contended;   /* others keep changing the record that it writes */
    bool is_tried_again; /* the policy goes on: nothing may handle it but another attempt */
};

/* How a command or a step went. */
enum step_result {
    STEP_DONE,    /* it has a result; of a step: completed and recorded */
    STEP_SKIPPED, /* of a step: recorded */
    STEP_MOVED,   /* the cursor stands at the step that comes next */
    STEP_WAITS,   /* something is in flight: nothing goes on in this turn */
    STEP_FAILED,  /* turn->failure; of a step: nothing is recorded yet */
    STEP_NEEDS,   /* reads are needed first: out->needs, out->needs_history */
};

/* What the current rollback or reconcile sees of the visit that it is about. */
struct visit_view {
    const struct step *step;
    const struct history_row *row; /* of a rollback */
    struct value view;             /* $.steps.SELF */
    struct value input;            /* of the visit; absent when it had none */
    struct value loop;             /* $.loop, or absent */
};

/* A named procedure while it runs: its commands see its own input alone. */
struct scope {
    const struct scope *outer;
    struct str path; /* of the call in the step, "2.1"; empty: the step's own procedure */
    struct value input;
    struct value *outer_slots;
};

/* What a command has done, should the step have to stop after it, or be undone. */
enum finished_kind {
    FINISHED_RESULT,
    FINISHED_CHOICE, /* the number of the body that it runs; of a try, the error it has caught */
    FINISHED_INPUT,  /* what it gives to the procedure that it calls */
    FINISHED_MAYBE,  /* true: it has failed, and may have happened all the same */
};

struct finished {
    enum finished_kind kind;
    const struct command *command;
    struct str path; /* of the call it is in */
    struct value result;
    struct str json;  /* of the result, where it is known; else empty */
    int64_t visit;    /* RESULT, MAYBE: that it was done in, when that was not this one; else 0 */
    struct str under; /* ... and the program, when that was not this one: former_name(); or empty */
};

/* The commands of one attempt of a step; the compiler has counted them. See ledger.h. */
struct run {
    struct {
        VEC_OF(struct finished);
    } finished;
    struct value frozen;   /* results by position, of what was done before the step stopped */
    struct value warnings; /* a list */
};

/* A text of the state and what reading it has given: it is asked for again and again. */
struct turn_text {
    struct str json;
    struct value value;
};

/* What the turn has put aside while it has a reminder in hand: remind.c. */
struct reminded {
    struct strand
        wait; /* the one that it reminds of; or, when that is over, whichever was in hand */
    enum execution_status status;
    bool is_over;
};

struct turn {
    struct arena *mem;
    const struct event *ev;
    int64_t now_us, wall_us;
    struct execution *x;            /* the state that is being made */
    const struct execution *before; /* what it rests on */
    struct commit *out;
    struct failure failure;
    struct str refused_output_json; /* of a step that failed because its output is too large */
    struct str answered;            /* the key of an attempt whose answer no row records yet, */
    struct str answered_step;       /* ... and its step: see turn_answered() */
    unsigned steps;                 /* run so far, iterations and rollbacks included */
    size_t row_bytes;               /* of the history rows of steps made so far */
    struct cel_limits spent;        /* by its expressions so far: cost and memory */

    /* the activation of expressions; filled when asked for */
    struct value *slots;
    struct cel_activation activation;

    /* where expressions stand */
    const struct scope *scope;       /* or NULL: in the process itself */
    const struct visit_view *about;  /* or NULL: the step itself */
    struct value error;              /* $.error, or absent */
    int64_t reminder;                /* $.reminder.index, from 1 on; 0 = none */
    const struct reminded *reminded; /* or NULL: there is no reminder in hand */
    struct str key_suffix;           /* "-rollback" and such */
    int64_t key_visit;               /* the visit that keys name; 0: the cursor's */
    struct str dep;                  /* the host whose answer the attempt goes on with, or empty */
    int64_t sent;                    /* the row of what that host or a worker was sent, or 0 */
    bool has_nothing_to_wake;        /* the child that it waits for has not ended */
    bool is_answered;                /* the current attempt of the rollback, or question, goes on */
    bool has_strands;                /* there are several, or were in this turn */
    bool has_stopped;                /* strands, which may have held something */
    bool may_begin_step;             /* one, whatever the debugger says: see debug.h */
    bool is_continued;               /* signals that came while it was stopped end their waits */
    const char *damaged;             /* what is wrong with the stored state; or NULL */
    bool is_stopping;                /* commands that are done are gone through, no other runs */
    bool is_judging;                 /* ... and its output is kept for its row: nothing happens */
    struct str refused_at;           /* the place of the command that asked and fails with this; */
    struct failure refusal;          /* or empty */
    struct run run;
    struct turn_text last_read; /* see turn_read() */
    struct {
        VEC_OF(struct uuid);
    } awaited_starts, heard; /* children that strands wait for from now on; that have ended */
    struct {
        VEC_OF(struct uuid);
    } named; /* executions that steps without waiting for them have joined: their ids are known */
    const struct strand **others; /* x->others, once the turn has changed it; with room for: */
    uint32_t others_capacity;

    /* staged by the current step */
    struct value variables; /* all of them */
    struct value assigned;  /* those that the step has set */
    struct record_writes records;
    struct record_queries looked; /* what its commands have read: id empty for a query */
    struct log_lines logs;
    struct messages messages;
    struct {
        VEC_OF(struct execution *);
    } starts;
    struct {
        VEC_OF(struct uuid);
    } joined;     /* in place of such a start, by its key */
    uint32_t ids; /* made so far by this step */
};

/* --- turn.c --- */

void turn_init(struct turn *t, struct arena *mem, const struct execution *exec,
               const struct event *ev, int64_t now_us, struct commit *out);

/* The step that the cursor stands at. */
const struct step *turn_step(const struct turn *t);

/* Its code, also of one that only an earlier version has. */
struct str turn_code(const struct turn *t);

/* The answer that the attempt goes on with belongs to this row, which says who gave it and to what. */
void turn_note_sent(struct turn *t, struct history_row *row);

/* Forget what the last step has staged, and everything its expressions saw. */
void turn_begin_step(struct turn *t);

static inline struct value turn_or_null(struct value v)
{
    return v.kind == VALUE_ABSENT ? value_null() : v;
}

/* Append a row; its seq and times are set here. Answers it for the rest. */
struct history_row *turn_row(struct turn *t, enum history_kind kind, struct str step,
                             struct str status);

/*
 * The answer that the current step has asked for is there. The row that ends the step, or an attempt
 * of it, records that; where another row comes first, or none, it has a row `answer` of its own.
 */
void turn_answered(struct turn *t);

/* Give the answer its row if no row records it yet. */
void turn_record_answer(struct turn *t);

/* Add a member to what the last row changed. There must be a row. */
void turn_note(struct turn *t, const char *name, struct str json);

/* A round as rows have it, "CODE:visit:index"; empty for none. */
struct str turn_round_text(struct turn *t, struct round round);

/* The same for the current visit: {code of the step: visit}. */
void turn_note_visit(struct turn *t, const char *name);

/* Whether the execution stands in a visit that has no end yet. */
bool turn_is_in_visit(const struct execution *x);

/* Whether nobody knows if the visit that it stands in has happened. */
bool turn_is_in_doubt(const struct execution *x);

/* Give such a visit up, if there is one: the next one of the step has another number. */
void turn_leave_visit(struct turn *t);

/* Fail the current step. Answers STEP_FAILED. */
enum step_result turn_fail(struct turn *t, struct str code, enum err_class class,
                           const char *format, ...) PRINTF_LIKE(4, 5);

/* Fail it with an error value of an expression that stands at `pointer`. */
enum step_result turn_fail_value(struct turn *t, struct value error, struct str pointer);

/* Fail it as somebody else says: {code, message, class, details, retryable}. */
enum step_result turn_fail_answer(struct turn *t, struct value error);

/* Fail it because the context would be too large. */
enum step_result turn_fail_size(struct turn *t);

/* The failure as {code, message, class, ...} and as JSON. */
struct value turn_failure(struct turn *t, struct str *json);

/* Leave out what somebody outside said about the failure. False: there is nothing of that. */
bool turn_drop_details(struct turn *t);

/* What a mapping gives now, absent for NULL. STEP_DONE, or STEP_FAILED with t->failure. */
enum step_result turn_evaluate(struct turn *t, const struct mapping *m, struct value *out);

/* A value as JSON, in the turn's memory. False: t->failure says why it has no such form. */
bool turn_json(struct turn *t, struct value v, struct str *out) MUST_USE;

/*
 * What the execution has stored cannot be: the turn goes on with whatever is harmless, and
 * engine_advance() answers ERR_INTERNAL in place of its commit.
 */
void turn_damaged(struct turn *t, const char *what);

/* What the state holds as JSON; `none` where it holds nothing, or what is damaged. */
struct value turn_read(struct turn *t, struct str json, struct value none);

/* This text was written from this value, which turn_read() may give for it. */
void turn_has_read(struct turn *t, struct str json, struct value v);

/*
 * The same as turn_json() for a value that becomes part of the state: *v is then what reading
 * the JSON gives (a timestamp is a string), so that an execution that was
 * loaded again sees nothing else than one that stayed in memory.
 */
bool turn_freeze(struct turn *t, struct value *v, struct str *json) MUST_USE;

/*
 * The same for a value whose JSON is written as a part of something larger: it becomes what reading
 * that gives. Whether it is too large is seen there.
 */
bool turn_make_plain(struct turn *t, struct value *v) MUST_USE;

/* --- JSON objects, written field by field: open with an empty buffer --- */

void field_json(struct buf *out, const char *name, struct str json);
void field_text(struct buf *out, const char *name, struct str text);
void field_time(struct buf *out, const char *name, int64_t us);
struct str field_end(struct buf *out);

/* waitingFor: {kind, ... */
void field_kind(struct buf *out, enum waiting_kind kind);

/* Neither at its end nor on its way back. */
static inline bool turn_goes_forward(const struct turn *t)
{
    return t->x->rollback == NULL && !status_is_terminal(t->x->status);
}

/* --- key.c: idempotency keys --- */

/* The key of what the current step does, with the suffix of the turn and then `rest`. */
struct str turn_key(struct turn *t, struct str rest);

/* ".2" of a position: nothing for the first command alone. */
struct str key_position(struct arena *mem, struct str position);

#endif
