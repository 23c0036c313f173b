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
    struct str source;    /* JSON pointer in the definition: what failed there; or empty */
    bool is_own;   /* of our own making (expression_*, limit_*), not the user's compute.fail */
    bool is_final; /* "retryable": false */
    int64_t retry_after_us; /* what the other side asked for; 0 = nothing */
    /* Of a command with a policy of its own: that, and the place of the command. */
    const struct retry *retry;
    struct str at;
    bool is_contended;   /* others keep changing the record that it writes */
    bool is_tried_again; /* the policy goes on: nothing may handle it but another attempt */
};

/* How a command or a step went. */
enum step_end {
    STEP_DONE,    /* it has a result; of a step: completed and recorded */
    STEP_SKIPPED, /* of a step: recorded */
    STEP_MOVED,   /* the cursor stands at the step that comes next */
    STEP_WAITS,   /* something is under way: nothing goes on in this turn */
    STEP_FAILED,  /* turn->failure; of a step: nothing is recorded yet */
    STEP_NEEDS,   /* reads are needed first: out->needs, out->needs_history */
};

/* What the rollback, or the reconcile, under way sees of the visit that it is about. */
struct undone {
    const struct step *step;
    const struct history_row *row; /* of a rollback */
    struct value view;             /* $.steps.SELF */
    struct value input;            /* of the visit; absent when it had none */
    struct value loop;             /* $.loop, or absent */
};

/* A named procedure under way: its commands see its own input alone. */
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
};

struct finished {
    enum finished_kind kind;
    const struct command *command;
    struct str path; /* of the call it is in */
    struct value result;
};

/* The commands of one attempt of a step; the compiler has counted them. */
struct run {
    struct {
        VEC_OF(struct finished);
    } finished;
    struct value frozen;   /* results by position, of what was done before the step stopped */
    struct value warnings; /* a list */
};

struct turn {
    struct arena *mem;
    const struct event *ev;
    int64_t now_us, wall_us;
    struct execution *x; /* the state that is being made */
    struct commit *out;
    struct failure failure;
    struct str refused_output_json; /* of a step that failed because its output is too large */
    unsigned steps;                 /* run so far, iterations and rollbacks included */
    size_t row_bytes;               /* of the history rows of steps made so far */

    /* the activation of expressions; filled when asked for */
    struct value *slots;
    struct cel_activation activation;

    /* where expressions stand */
    const struct scope *scope;   /* or NULL: in the process itself */
    const struct undone *undone; /* or NULL: the step itself */
    struct value error;          /* $.error, or absent */
    int64_t reminder;            /* $.reminder.index, from 1 on; 0 = none */
    struct str key_suffix;       /* "-rollback" and such */
    bool has_nothing_to_wake;    /* the child that it waits for has not ended */
    bool is_answered;       /* the attempt of the rollback, or the question, under way goes on */
    bool has_strands;       /* there are several, or were in this turn */
    bool has_stopped;       /* strands, which may have held something */
    bool is_stopping;       /* commands that are done are gone through, no other runs */
    struct str refused_at;  /* the place of the command that asked and fails with this; */
    struct failure refusal; /* or empty */
    struct run run;
    const struct strand **others; /* x->others, once the turn has changed it; with room for: */
    uint32_t others_room;

    /* staged by the step under way */
    struct value variables; /* all of them */
    struct value assigned;  /* those that the step has set */
    struct record_writes records;
    struct record_queries looked; /* what its commands have read: id empty for a query */
    struct log_lines logs;
    struct {
        VEC_OF(struct execution *);
    } starts;
    uint32_t ids; /* made so far by this step */
};

/* --- turn.c --- */

void turn_init(struct turn *t, struct arena *mem, const struct execution *exec,
               const struct event *ev, int64_t now_us, struct commit *out);

/* The step that the cursor stands at. */
const struct step *turn_step(const struct turn *t);

/* Forget what the last step has staged, and everything its expressions saw. */
void turn_begin_step(struct turn *t);

static inline struct value turn_or_null(struct value v)
{
    return v.kind == VALUE_ABSENT ? value_null() : v;
}

/* Append a row; its seq and times are set here. Answers it for the rest. */
struct history_row *turn_row(struct turn *t, enum history_kind kind, struct str step,
                             struct str status);

/* Add a member to what the last row changed. There must be a row. */
void turn_note(struct turn *t, const char *name, struct str json);

/* A round as rows have it, "CODE:visit:index"; empty for none. */
struct str turn_round_text(struct turn *t, struct round round);

/* The same with the name "name:code", so that several steps may note it. */
void turn_note_of(struct turn *t, const char *name, struct str code, struct str json);

/* Whether the execution stands in a visit that has no end yet. */
bool turn_is_in_visit(const struct execution *x);

/* Whether nobody knows if the visit that it stands in has happened. */
bool turn_is_in_doubt(const struct execution *x);

/* Give such a visit up, if there is one: the next one of the step has another number. */
void turn_leave_visit(struct turn *t);

/* Fail the step under way. Answers STEP_FAILED. */
enum step_end turn_fail(struct turn *t, struct str code, struct str class, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Fail it with an error value of an expression that stands at `pointer`. */
enum step_end turn_fail_value(struct turn *t, struct value error, struct str pointer);

/* Fail it as somebody else says: {code, message, class, details, retryable}. */
enum step_end turn_fail_answer(struct turn *t, struct value error);

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

/* waitingFor: {kind, ... */
void member_kind(struct buf *out, enum waiting_kind kind);

/* Neither at its end nor on its way back. */
static inline bool turn_goes_forward(const struct turn *t)
{
    return t->x->undo == NULL && !status_is_terminal(t->x->status);
}

/* --- context.c: what expressions see --- */

/* cel_activation.load: the roots of the context, made when first asked for. */
struct value context_load(void *turn, uint32_t slot);

/* $.steps.CODE of a step. */
struct value context_step_view(struct arena *mem, const struct step *step,
                               const struct step_state *state);

/* Whether the engine sets this field of it itself, whatever the result has under that name. */
bool context_is_engines(struct str name);

/* $.signals: the last SIGNALS_SHOWN of them. */
struct value context_signals(struct arena *mem, const struct signals *signals);

/* A time as expressions have it, and as JSON text. */
struct value time_value(int64_t us);
struct value time_text(struct arena *mem, int64_t us);

/* $.loop where the execution stands, or absent outside of loops. */
struct value context_loop(struct turn *t);

/* $.compensation */
struct value context_compensation(struct turn *t);

/* $.input of a procedure by name, or that of the step under way over the execution's. */
struct value context_input(struct turn *t);

/* The step's input over the execution's. */
struct value context_input_over(struct turn *t, struct value input);

/* --- command.c: commands that need nothing from outside --- */

/* The value of a field: VALUE_ABSENT when it is not given. False: the step has failed. */
bool command_field(struct turn *t, const struct command *c, enum command_field field,
                   struct value *out) MUST_USE;

/* The same for a field that must be a string. */
bool command_text(struct turn *t, const struct command *c, enum command_field field,
                  struct str fallback, struct str *out) MUST_USE;

/* Run one command that has no commands in it; its result goes to *out. */
enum step_end command_run(struct turn *t, const struct command *c, struct value *out);

/* The field `result` makes something else of what a command answered. */
enum step_end command_shape(struct turn *t, const struct command *c, struct value *out);

/* A condition that must be true or false; NULL is true. STEP_DONE or STEP_FAILED. */
enum step_end command_condition(struct turn *t, const struct cel_program *when, const char *name,
                                struct str pointer, bool *is_true);

/* The same for one of an item of a list: /steps/0, goto, 1, when. */
enum step_end command_condition_at(struct turn *t, const struct cel_program *when,
                                   struct str pointer, const char *list, uint32_t index,
                                   const char *name, bool *is_true);

/* --- compute.c --- */

enum step_end compute_validate(struct turn *t, const struct command *c, struct value *out);
enum step_end compute_aggregate(struct turn *t, const struct command *c, struct value *out);

/* --- procedure.c --- */

/*
 * Run a procedure with this input (absent: none was given), called at `place`,
 * which is empty for a step's own. STEP_DONE with its result, STEP_WAITS when
 * it has asked a worker, STEP_FAILED or STEP_NEEDS.
 */
enum step_end procedure_run(struct turn *t, const struct procedure *p, struct str place,
                            struct value input, struct value *out);

/* Evaluate the input of a call; absent when it has none. STEP_DONE or STEP_FAILED. */
enum step_end procedure_input(struct turn *t, const struct mapping *input, struct value *out);

/* Let expressions see what a named procedure sees, until procedure_leave(). */
void procedure_enter(struct turn *t, const struct procedure *p, struct str place,
                     struct value input, struct scope *scope);
void procedure_leave(struct turn *t);

/* The place of a command in the step: that of the call it is in, and its own. */
struct str procedure_place(struct arena *mem, struct str path, struct str position);

/* The same for a command of the procedure under way. */
struct str procedure_command_place(struct turn *t, const struct command *c);

/*
 * What was answered to the command at `place`, which has asked: STEP_DONE with
 * the answer, absent when it has not asked yet; STEP_FAILED.
 */
enum step_end procedure_answered(struct turn *t, struct str place, struct value *out);

/* --- probe.c: what trials ask for --- */

/* Whether the event answers for this procedure. */
bool probe_is_mocked(const struct turn *t, const struct procedure *p);

/* What it answers to a call with this input, at `place`. STEP_DONE, STEP_FAILED or STEP_NEEDS. */
enum step_end probe_answer(struct turn *t, const struct procedure *p, struct str place,
                           struct value input, struct value *out);

/* This command runs now: if the event traces, the commit says so. */
void probe_trace(struct turn *t, const struct command *c);

/* --- child.c --- */

enum step_end child_start(struct turn *t, const struct command *c, struct value *out);

/* Whether the step waits for an execution that it has started. */
bool child_is_awaited(const struct cursor *cursor);

/* The execution has ended and has a parent: that one is told. */
void child_tell_end(struct turn *t);
/*
 * It had ended and goes on: children may have ended meanwhile, which nobody
 * told it. Every strand that waits for one looks with the next wake.
 */
void child_look_at_all(struct turn *t);

/* Nobody waits any more for the child that the strand waits for, if there is one: it is cancelled. */
void child_tell_cancel(struct turn *t, const struct cursor *cursor);

/* The same for the children of all strands. */
void child_tell_cancel_all(struct turn *t);

/*
 * Look how that stands. STEP_DONE: it has ended, with *output, else *error;
 * STEP_WAITS: it has not, and a row says so; STEP_SKIPPED: it has not, and it
 * was not yet time to look; STEP_FAILED: it took too long.
 */
enum step_end child_look(struct turn *t, struct value *output, struct value *error);

/* --- freeze.c --- */

/* Freeze what the step has done, stopping at that place. False: the step has failed. */
bool freeze_step(struct turn *t, struct str asks) MUST_USE;

/*
 * Take it up again, with what it has staged. STEP_DONE, STEP_NEEDS: records
 * that it writes must be read again; STEP_FAILED: another has changed one.
 */
enum step_end freeze_thaw(struct turn *t) MUST_USE;

/* The same for a step that will not complete: what it has staged is forgotten. */
void freeze_recall(struct turn *t);

/* The answer of the worker that was asked becomes part of it. False: t->failure says why not. */
bool freeze_answer(struct turn *t, struct value output) MUST_USE;

/* There is no answer: the command that asked fails with t->failure once the step gets there. */
void freeze_refuse(struct turn *t);

/* --- undo_command.c: rollbacks that commands have of their own --- */

/* A member "undo" for the last row: what rolling back the finished commands will need. */
void undo_command_note(struct turn *t);

/*
 * The step under way ends without running its commands again: those that were
 * frozen have finished.
 */
void undo_command_recall(struct turn *t);

/* How many there are in that member. */
int64_t undo_command_count(struct value undo);

/* Roll back the command that stands there. */
enum step_end undo_command_run(struct turn *t, const struct step *step, struct value undo,
                               struct str place, struct value *out);

/* --- key.c: idempotency keys --- */

/* {execution}-{step}, -{visit} from the second on, then `rest`. */
struct str key_make(struct arena *mem, struct uuid execution, struct str step, int64_t visit,
                    struct str rest);

/* The key of what the step under way does, with the suffix of the turn and then `rest`. */
struct str turn_key(struct turn *t, struct str rest);

/* ".2" of a position: nothing for the first command alone. */
struct str key_position(struct arena *mem, struct str position);

/* --- record.c, query.c --- */

enum step_end record_run(struct turn *t, const struct command *c, struct value *out);
enum step_end query_run(struct turn *t, const struct command *c, struct str object,
                        struct value *out);

/* The write of this record that the step, else the turn, has staged; or NULL. */
const struct record_write *record_staged(const struct turn *t, struct str object, struct str id);

/* Stage once more what a step had staged before it was suspended. STEP_DONE, STEP_NEEDS, STEP_FAILED. */
enum step_end record_resume(struct turn *t, struct record_write write) MUST_USE;

/* Add a write to those of the turn: one for each record, resting on what was read first. */
void record_put(struct arena *mem, struct record_writes *writes, struct record_write write);

/* --- wait.c --- */

bool wait_is(const struct command *c);

/*
 * Begin the wait of a step, which is inline. STEP_WAITS, or it is over at once: STEP_DONE with
 * *out for its result and *took for the seq of the signal it takes, or 0.
 */
enum step_end wait_begin(struct turn *t, const struct step *step, struct value *out, int64_t *took);

/* The wait under way is told of a signal: whether it takes it, with *out for its result. */
bool wait_takes(struct turn *t, const struct step *step, const struct signal *signal,
                struct value *out);

/*
 * The wait under way, which was closed for a while, looks at what is kept for
 * its correlation. STEP_DONE: *took is the seq of the one that it takes, with
 * *out for its result, or 0; or STEP_NEEDS.
 */
enum step_end wait_looks(struct turn *t, const struct step *step, struct value *out, int64_t *took);

/* Whether it is for signals of the type that the event has. */
bool wait_is_for(struct turn *t, const struct step *step);

/* Whether the payload of the event is what the form of the wait under way asks for. */
bool wait_checks_form(struct turn *t, const struct step *step, struct err *err) MUST_USE;

/* Its time has come. STEP_DONE with *out, or STEP_FAILED. */
enum step_end wait_expired(struct turn *t, const struct step *step, struct value *out);

/* Whether the time of the wait under way is up. */
bool wait_is_over(const struct turn *t);

/* Send a reminder. False: reads are needed first. */
bool wait_remind(struct turn *t, const struct step *step);

/* --- wake.c: what stood still goes on --- */

/*
 * Whatever has become due. *complete: false when reads are needed first.
 * False: there is nothing to wake.
 */
bool wake_apply(struct turn *t, bool *complete);

/* Whether there is anything to do now. */
bool wake_is_due(const struct turn *t);

/* The wait under way has ended with `output`, or failed. False: reads are needed first. */
bool wake_leave_wait(struct turn *t, enum step_end end, struct value output, int64_t took);

/* The step goes on with the answer to what it has asked for. False: reads are needed first. */
bool wake_with_answer(struct turn *t, struct value output, struct value error);

/* The answer of the event. False: nobody waits for it, `err` says so. */
bool wake_answered(struct turn *t, bool *complete, struct err *err);

/* --- deliver.c: signals come to waits --- */

/* The signal of the event is recorded, and a wait that takes it ends. False: it is refused. */
bool deliver_signal(struct turn *t, bool *complete, struct err *err);

/*
 * Waits beside the step that failed were closed with the execution, and are
 * open again: what came for them meanwhile is kept. False: reads are needed
 * first.
 */
bool deliver_kept(struct turn *t, const struct execution *before);

/* --- receive.c: signals come in --- */

/* What it becomes in the state; nothing has changed yet. ERR_TOO_LARGE or ERR_INVALID. */
bool receive_make(struct turn *t, const struct arrival *a, struct signal *out,
                  struct err *err) MUST_USE;

/* It is part of the state, and a row says so. Nothing may come between making it and this. */
void receive(struct turn *t, const struct signal *signal);

/* --- correlation.c: waits that signals find by a correlation --- */

/* What is kept for it: *out, or NULL when nobody keeps any. False: that must be read first. */
bool correlation_look(struct turn *t, struct str correlation,
                      const struct kept_read **out) MUST_USE;

/* Whether the execution has received it. */
bool correlation_has(const struct turn *t, const struct kept_signal *kept);

/* The execution receives it, and nobody else will. */
void correlation_take(struct turn *t, const struct kept_signal *kept, const struct signal *signal);

/* The commit says which waits it opens and closes, `before` being the state that it rests on. */
void correlation_compare(struct turn *t, const struct execution *before);

/* --- step.c: one step --- */

/* Run steps until one waits, all are done or one fails for good. False: reads are needed first. */
bool step_run_all(struct turn *t);

/* Whether the turn has done enough. */
bool step_turn_is_long(const struct turn *t);

/* One more attempt of the visit under way. */
enum step_end step_attempt(struct turn *t);

/*
 * Record the step under way as completed and apply what it staged; `took` is
 * the seq of the signal that its wait took, or 0. STEP_FAILED when its result
 * cannot become part of the state.
 */
enum step_end step_complete(struct turn *t, struct value output, int64_t took);

/* The visit under way has ended like this: its row is the last one. */
void step_set(struct turn *t, struct step_state state);

/* A row for the step under way, at its visit. */
struct history_row *step_row(struct turn *t, enum history_kind kind, struct str status);

/* What the step has staged becomes part of the commit. */
void step_apply_staged(struct turn *t);

/* Wait: the row and the state say for what. `why` is waitingFor. */
void step_wait(struct turn *t, enum cursor_phase phase, enum waiting_kind kind, struct str status,
               struct str why);

/* --- strand.c: several lines of work --- */

/* Take up the strand at that place, from 0 on, in place of the one under way. */
void strand_take(struct turn *t, uint32_t place);

/* The place of a strand: the one that `is` says so of, with the lowest seq; or NO_STRAND. */
#define NO_STRAND UINT32_MAX
uint32_t strand_find(const struct turn *t, bool (*is)(const struct turn *, const struct cursor *));

/* The same for the one in that visit of that step. */
uint32_t strand_at_visit(const struct turn *t, uint32_t step, int64_t visit);

/* Whether there may be so many more: else the step fails with limit_strands. */
bool strand_may_add(struct turn *t, int64_t count) MUST_USE;

/* One more, behind `before` of those that were added with it: at that step, with that frame. */
void strand_add(struct turn *t, uint32_t before, uint32_t step, struct frame frame);

/* The strand under way has ended; another is taken up. There must be one. */
void strand_drop(struct turn *t);

/* Whether another strand is in the step of this frame. */
bool strand_has_others(const struct turn *t, const struct frame *frame);

/*
 * Stop the other strands that are in the step of this frame; NULL: all of them.
 * What may have happened is recorded as such, everything else is over.
 */
void strand_stop_others(struct turn *t, const struct frame *frame);

/* Stop all others before everything is rolled back, and take them up again if nothing was. */
void strand_leave_others(struct turn *t, struct undo *undo);
void strand_resume_others(struct turn *t, const struct undo *undo);

/* Run those that are ready until all wait. False: reads are needed first. */
bool strand_run_rest(struct turn *t);

/* At the end of a turn: which comes first, whether they wait, and what for. */
void strand_settle(struct turn *t);

/*
 * Append what strands wait for, with commas, up to BRANCHES_SHOWN of them; `first` is that of the
 * one in hand. How many wait.
 */
uint32_t strand_write_waits(const struct execution *x, struct str first, struct buf *out);

/* --- frame.c: the steps around the one under way --- */

/* Stand at a step that is about to be entered. */
void frame_move_to(struct turn *t, uint32_t step);

void frame_push(struct turn *t, struct frame frame);
const struct frame *frame_top(const struct turn *t);

/* Another in place of the innermost one. */
void frame_replace(struct turn *t, struct frame frame);

/*
 * The innermost frame is over for all strands, those that are in it beside this
 * one are stopped: its step is the one under way again.
 */
const struct step *frame_pop(struct turn *t);

/* Whether a step is parallel, or a loop whose iterations run at once. */
bool frame_runs_at_once(const struct step *step);

/* What the last row adds to what the step of a frame holds; `number`: of whom, or -1. */
void frame_note(struct turn *t, const char *name, const struct frame *frame, int64_t number,
                struct str json);

/* [number, value], as such a step holds it. */
struct value frame_numbered(struct turn *t, int64_t number, struct value v);

/* --- loop.c --- */

/* Begin a loop. STEP_MOVED, STEP_DONE or STEP_FAILED. */
enum step_end loop_enter(struct turn *t, const struct step *step);

/* What the iteration that is over adds to the loop's result. STEP_DONE or STEP_FAILED. */
enum step_end loop_collect(struct turn *t);

/* The iteration under way is over. STEP_MOVED, STEP_DONE, STEP_FAILED, or STEP_WAITS: for others. */
enum step_end loop_next(struct turn *t);

/* The same of one that has failed, which the loop records. */
enum step_end loop_fail(struct turn *t, struct value error);

/* The loop, whose frame is gone, is done after so many. STEP_DONE or STEP_FAILED. */
enum step_end loop_complete(struct turn *t, int64_t count);

/* --- parallel.c --- */

/* Begin a parallel step. STEP_MOVED, STEP_DONE or STEP_FAILED. */
enum step_end parallel_enter(struct turn *t, const struct step *step);

/* The step under way was the last of its branch. STEP_DONE, STEP_FAILED, or STEP_WAITS: for others. */
enum step_end parallel_end_branch(struct turn *t);

/* The step, whose frame is gone, is done with what has ended. STEP_DONE or STEP_FAILED. */
enum step_end parallel_complete(struct turn *t);

/* --- flow.c: from one step to the next --- */

/* Go on after a step that ended like this. True: the cursor stands at the next one. */
bool flow_settle(struct turn *t, enum step_end end);

/*
 * Jump from the step under way, which has completed. STEP_MOVED; STEP_DONE: the
 * loop around it is; STEP_FAILED: limit_goto, or a step around it failed.
 */
enum step_end flow_jump(struct turn *t, enum jump_kind kind, uint32_t step);

/*
 * A step has failed: do the steps around it handle that? Then *end is how the
 * one that does went on.
 */
bool flow_catch(struct turn *t, struct value error, struct str error_json,
                enum step_end *end) MUST_USE;

/* Begin a branch, a loop or a parallel step. STEP_MOVED, STEP_WAITS, STEP_DONE or STEP_FAILED. */
enum step_end flow_enter(struct turn *t, const struct step *step);

/* --- failure.c: what a failure leads to --- */

/* Record the failure of the step under way: another attempt, the next step, or the end. */
enum step_end failure_of_step(struct turn *t);

/* t->failure as a value that the context has room for. */
struct value failure_that_fits(struct turn *t, struct str *json);

/* The same when no policy is asked: the next step, or the end. */
enum step_end failure_for_good(struct turn *t);

/* Record the attempt that failed: the visit goes on with another one at that time. */
void failure_retry(struct turn *t, struct str error_json, int64_t at_us);

/* The step under way has failed, finally: its row, and the state. */
void failure_record(struct turn *t, struct value error, struct str error_json);

/* A failure after the step had completed: its goto. */
enum step_end failure_of_jump(struct turn *t);

/* How long to wait after that many attempts. */
int64_t failure_delay_us(struct turn *t, const struct retry *policy, int64_t attempt);

/* Whether this policy tries again after t->failure, `attempt` having failed, and when. */
bool failure_retries(struct turn *t, const struct retry *policy, int64_t attempt,
                     int64_t attempts_max, int64_t *at_us);

/* --- reconcile.c: what became of an attempt without an answer --- */

/* Whether t->failure leaves that open and the step under way says how to find out. */
bool reconcile_is_wanted(const struct turn *t);

/*
 * The attempt under way ended with that error: it is asked what became of it.
 * `retry_at_us`: when its policy tries again, or 0. Answers STEP_WAITS.
 */
enum step_end reconcile_begin(struct turn *t, struct str error_json, int64_t retry_at_us);

/*
 * Ask, or go on with the question that somebody has answered, and go on with
 * the execution as the answer says. False: reads are needed first.
 */
bool reconcile_ask(struct turn *t);

/* Ask anew, as often as at first: an operator says so. */
void reconcile_restart(struct turn *t);

/* Nobody asks any more: the visit has failed, and may have happened. Its row says so. */
void reconcile_give_up(struct turn *t);

/*
 * It is known now: `answer` is the output of the step, or the error that it
 * failed with, or absent. STEP_FAILED: t->failure, which no policy is asked about.
 */
enum step_end reconcile_decide(struct turn *t, enum outcome_said said, struct value answer);

/* Go on after that: with the next step, or with rolling back. False: reads are needed first. */
bool reconcile_settle(struct turn *t, enum step_end end);

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

/* --- undo.c: rolling back --- */

/* procedure_input() of a rollback: evaluated once, the same for each attempt. */
enum step_end undo_input(struct turn *t, const struct mapping *input, struct value *out);

/* Whether anything in the program can be rolled back. */
bool undo_is_possible(const struct program *p);

/* From now on the execution rolls back, and ends like this. The last row says why. */
void undo_begin(struct turn *t, enum execution_status end);

/* Begin with what was recorded last: it is known now what became of it. */
void undo_resume(struct turn *t);

/* Roll back as much as fits this turn. False: reads are needed first. */
bool undo_run(struct turn *t);

/* --- undo_again.c: rollbacks that were given up --- */

/* The one under way was; the last dead letter and the last row are about it. */
void undo_again_note(struct turn *t);

/* The one of the event's letter is tried again. False: there is none, or not now. */
bool undo_again_begin(struct turn *t, struct err *err) MUST_USE;

/* It has ended, well or not. */
void undo_again_end(struct turn *t, const struct step *step, int64_t row, bool ok);

/* --- pause.c: nothing goes on until an operator says so --- */

/* The execution is paused, and a row says so. False: not now. */
bool pause_begin(struct turn *t, struct err *err) MUST_USE;

/* It is no more, and a row says so: what was kept is to be acted upon. False: it was not. */
bool pause_end(struct turn *t, struct err *err) MUST_USE;

/* It ends otherwise: nothing that was kept for the strand under way is acted upon. */
void pause_forget(struct turn *t);

/* The wait under way ends, once the execution goes on, with the signal of that row. */
void pause_keep_signal(struct turn *t, const struct signal *signal);

/* The same with an answer; `output` absent: with that error. A row says so. */
void pause_keep_answer(struct turn *t, struct value output, struct value error);

/* Whether the signal of that row is kept for a wait: no other one takes it. */
bool pause_keeps(const struct execution *x, int64_t seq);

/* What was kept for the strand under way. */
struct pause_kept {
    const struct signal *signal; /* or NULL: an answer */
    struct value output;         /* or absent: then error */
    struct value error;
};

/* Take up the strand for which something was kept first; it keeps it no more. False: none. */
bool pause_take(struct turn *t, struct pause_kept *out);

/* At the end of a turn: it shows that it is paused, and the waits under it. */
void pause_settle(struct turn *t);

/* --- repair.c: what operators do --- */

/* False: it cannot be done now. */
bool repair_resolve(struct turn *t, bool *complete, struct err *err) MUST_USE;
bool repair_retry(struct turn *t, bool *complete, struct err *err) MUST_USE;
bool repair_skip(struct turn *t, bool *complete, struct err *err) MUST_USE;
bool repair_migrate(struct turn *t, struct err *err) MUST_USE;

#endif
