/*
 * wait.h - waits, the signals that end them, and what wakes a step that stood still.
 * Internal to src/engine.
 *
 * why: decisions 0476, 0477
 */
#ifndef PAWL_ENGINE_COMMAND_WAIT_H
#define PAWL_ENGINE_COMMAND_WAIT_H

#include "engine/turn.h"

/* --- wait.c --- */

bool wait_is(const struct command *c);

/*
 * Begin the wait of a step, which is inline. STEP_WAITS, or it is over at once: STEP_DONE with
 * *out for its result and *took for the seq of the signal it takes, or 0.
 */
enum step_result wait_begin(struct turn *t, const struct step *step, struct value *out,
                            int64_t *took);

/* The current wait is notified of a signal: whether it takes it, with *out for its result. */
bool wait_takes(struct turn *t, const struct step *step, const struct signal *signal,
                struct value *out);

/*
 * The current wait, which was closed for a while, looks at what is kept for
 * its correlation. STEP_DONE: *took is the seq of the one that it takes, with
 * *out for its result, or 0; or STEP_NEEDS.
 */
enum step_result wait_looks(struct turn *t, const struct step *step, struct value *out,
                            int64_t *took);

/* Whether it is for signals of the type that the event has. */
bool wait_is_for(struct turn *t, const struct step *step);

/* Whether the payload of the event is what the form of the current wait asks for. */
bool wait_checks_form(struct turn *t, const struct step *step, struct err *err) MUST_USE;

/* Its time has come. STEP_DONE with *out, or STEP_FAILED. */
enum step_result wait_expired(struct turn *t, const struct step *step, struct value *out);

/* What the current wait waits for has this member, too, or in place of an earlier one. */
void wait_describe_more(struct turn *t, struct str name, struct value v);

/* Whether the time of the current wait is up. */
bool wait_is_over(const struct turn *t);

/* {type, payload, by, receivedAt, timedOut}: what a wait gives; NULL: nobody has answered it. */
struct value wait_answer(struct turn *t, const struct signal *signal, struct value payload);

/*
 * Whether the form lets the payload of a signal through, with *filled what it is with its defaults.
 * One that does not fit is no match: nobody has checked a signal that came before its wait.
 */
bool wait_fits_form(struct turn *t, const struct command *c, const struct signal *signal,
                    struct value *filled);

/* The wait of a step, whose timers are known, begins. STEP_WAITS or STEP_FAILED. */
enum step_result wait_stand(struct turn *t, const struct step *step);

/* When a span that began at `from_us` is over. False: the step has failed. */
bool wait_span_from(struct turn *t, int64_t from_us, struct value v, struct str field,
                    int64_t *out_us);

/* The same of one that begins now. */
bool wait_span_end(struct turn *t, struct value v, struct str field, int64_t *out_us);

/* The timer of a wait: its end, or a reminder before that. */
void wait_set_timer(struct cursor *cursor);

/* --- remind.c --- */

/* When the first reminder of a wait that begins comes. False: the step has failed. */
bool remind_begin(struct turn *t, const struct wait *wait);

/* The wait goes on as `wait` of another version, or NULL, has it: without its reminders if it has none. */
void remind_move(struct cursor *cursor, const struct wait *wait);

/* A reminder of the current wait begins. False: reads are needed first. */
bool remind_send(struct turn *t, const struct step *step);

/* The reminder of that index has its answer; or it is kept, while nothing goes on. As above. */
bool remind_answered(struct turn *t, uint32_t index, struct value output, struct value error,
                     bool is_only_kept);

/* The reminder in hand goes on behind its answer. As above. */
bool remind_go_on(struct turn *t);

/* Whether answers were kept that reminders go on with now; they do. As above. */
bool remind_has_kept(const struct execution *x);
bool remind_take_kept(struct turn *t);

/* Reminders whose time has come, or for which there is news. As above. */
bool remind_wake(struct turn *t);

/* At the end of a turn: what has not left does not leave once its wait is over. */
void remind_settle(struct turn *t);

/* --- wake.c: what stood still goes on --- */

/*
 * What the step has asked for is there, or will never be: its commands go on
 * behind it, or handle that. False: reads are needed first.
 */
bool wake_go_on_behind(struct turn *t);

/*
 * Whatever has become due. *complete: false when reads are needed first.
 * False: there is nothing to wake.
 */
bool wake_apply(struct turn *t, bool *complete);

/*
 * The execution has failed, and an answer has come that a strand of it was waiting for: it is kept
 * for an operator's retry, and nothing else changes. False: nobody waits for it.
 */
bool wake_keep_answer(struct turn *t, struct err *err) MUST_USE;

/*
 * It rolls back, and the event says that the child has ended whose end it still waits for: it goes
 * on with that. False: reads are needed first.
 */
bool wake_told(struct turn *t) MUST_USE;

/* Whether there is anything to do now. */
bool wake_is_due(const struct turn *t);

/* The current wait has ended with `output`, or failed. False: reads are needed first. */
bool wake_leave_wait(struct turn *t, enum step_result end, struct value output, int64_t took);

enum answer_taken {
    ANSWER_TAKEN,      /* it is part of what the step has done */
    ANSWER_REFUSED,    /* the attempt has failed, as t->failure says */
    ANSWER_NEVER_SENT, /* the node says that the attempt has not left */
};

/* The answer of the current strand becomes part of the step, which does not go on yet. */
enum answer_taken wake_take_answer(struct turn *t, struct value output, struct value error);

/* The step goes on with the answer to what it has asked for. False: reads are needed first. */
bool wake_with_answer(struct turn *t, struct value output, struct value error);

/*
 * An operator goes on with one that had ended: what its strands had asked
 * workers for ended then, and its answer was refused. False: reads are needed
 * first.
 */
bool wake_unheard(struct turn *t, const struct execution *before);

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

/* --- people.c: waits of people --- */

/* In whose inbox the wait that begins is, and what they are asked. False: the step has failed. */
bool people_begin(struct turn *t, const struct command *c) MUST_USE;

/* The wait of this command is over: links to answer it are spent. */
void people_leave(struct turn *t, const struct command *c);

/* The step of the current wait has completed with an answer of `by`, which may be absent. */
void people_answered(struct turn *t, struct value by);

/* Whether the current wait may take an answer of the event; else `err`. */
bool people_may_answer(struct turn *t, struct err *err) MUST_USE;

/* An operator gives a wait to somebody else. False: it is refused. */
bool people_assign(struct turn *t, struct err *err) MUST_USE;

/* --- receive.c: signals come in --- */

/* What it becomes in the state; nothing has changed yet. ERR_TOO_LARGE or ERR_INVALID. */
bool receive_make(struct turn *t, const struct arrival *a, struct signal *out,
                  struct err *err) MUST_USE;

/* It is part of the state, and a row says so. Nothing may come between making it and this. */
void receive(struct turn *t, const struct signal *signal);

/* --- correlation.c: waits that are found from outside --- */

/* What is kept for it: *out, or NULL when nobody keeps any. False: that must be read first. */
bool correlation_look(struct turn *t, struct str correlation,
                      const struct kept_read **out) MUST_USE;

/* Whether the execution has received it. */
bool correlation_has(const struct turn *t, const struct buffered_signal *kept);

/* The execution receives it, and nobody else will. */
void correlation_take(struct turn *t, const struct buffered_signal *kept,
                      const struct signal *signal);

/* The commit says which waits it opens and closes, `before` being the state that it rests on. */
void correlation_compare(struct turn *t, const struct execution *before);

#endif
