/*
 * advance.h - move one execution forward by one event.
 *
 * The heart of the engine, and pure: no clock, no randomness, no I/O. The same
 * program, execution and event give the same commit on every machine; replay
 * and the crash tests rely on it.
 *
 *     program + execution + event  --advance-->  commit  --store-->  durable
 */
#ifndef PAWL_ENGINE_ADVANCE_H
#define PAWL_ENGINE_ADVANCE_H

#include "engine/commit/commit.h"
#include "engine/event.h"

/*
 * Run what `ev` wakes until everything waits or the execution ends, and
 * describe the outcome in `*out`.
 *
 * `exec` and `ev` are only read; `*out` lives in `mem`. Nothing has happened
 * when this returns: the outcome becomes true when the store has committed it.
 * A step that fails is an outcome, not an error. False means that `ev` cannot
 * apply: ERR_CONFLICT (not allowed in this state), ERR_TOO_LARGE (a signal that
 * would overfill the context), ERR_INVALID (out->findings may say more) or
 * ERR_INTERNAL (what is stored of the execution is damaged: it is to be parked).
 */
bool engine_advance(struct arena *mem, const struct execution *exec, const struct event *ev,
                    int64_t now_us, struct commit *out, struct err *err) MUST_USE;

/*
 * Whether an operator may RETRY, SKIP or MIGRATE the execution as it stands,
 * whatever else the request says; ERR_CONFLICT says why not.
 */
bool engine_may_repair(const struct execution *exec, enum event_kind kind,
                       struct err *err) MUST_USE;

/* Whether an execution has received a signal of this id already. */
enum signal_known { SIGNAL_NEW, SIGNAL_SAME, SIGNAL_DIFFERS };

/* Looks at those that the state still holds; the store knows all of them. */
enum signal_known engine_signal_known(const struct execution *exec, struct str id, struct str type,
                                      struct value payload);

/*
 * Whether an execution is notified by the one that started it that it is cancelled:
 * then that is the event. Its texts are in `mem`, or those of `notice`.
 */
bool engine_notice_cancel(struct arena *mem, const struct notice_row *notice, struct event *out);

/*
 * Whether `notice` says that another waits for the end of this execution, which
 * has ended: then *out tells that one. Its texts are in `mem`.
 */
bool engine_notice_join(struct arena *mem, const struct execution *exec,
                        const struct notice_row *notice, struct notice *out);

/*
 * Whether `notice` says that an execution which this one has started, or joined, has ended: then
 * that is *out. Its values are in `mem`.
 */
bool engine_notice_child(struct arena *mem, const struct notice_row *notice,
                         struct child_read *out);

/* Whether `notice` says what became of a task: then that is *out. Its texts are in `mem`. */
bool engine_notice_task(struct arena *mem, const struct notice_row *notice,
                        struct task_answer *out);

/* The id of history row `seq`, as the API and the view scenario_step_history show it. */
struct uuid engine_row_id(struct uuid execution, int64_t seq, int64_t completed_at_us);

#endif
