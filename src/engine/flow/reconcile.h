/*
 * reconcile.h - what became of an attempt without an answer.
 * Internal to src/engine.
 *
 * why: decision 0120
 */
#ifndef PAWL_ENGINE_FLOW_RECONCILE_H
#define PAWL_ENGINE_FLOW_RECONCILE_H

#include "engine/turn.h"

/* --- reconcile.c: what became of an attempt without an answer --- */

/* Whether t->failure leaves that open and the current step says how to find out. */
bool reconcile_is_wanted(const struct turn *t);

/*
 * The current attempt ended with that error: it is asked what became of it.
 * `retry_at_us`: when its policy tries again, or 0. Answers STEP_WAITS.
 */
enum step_result reconcile_begin(struct turn *t, struct str error_json, int64_t retry_at_us);

/*
 * Ask, or go on with the question that somebody has answered, and go on with
 * the execution as the answer says. False: reads are needed first.
 */
bool reconcile_ask(struct turn *t);

/* Ask anew, as often as at first: an operator says so. */
void reconcile_restart(struct turn *t);

/* The strand in hand is not held any more: once the execution goes on, it asks. */
void reconcile_release(struct turn *t);

/* Nobody asks any more: the visit has failed, and may have happened. Its row says so. */
void reconcile_give_up(struct turn *t);

/*
 * The visit is done with this result, as somebody knows who was not asked: nobody outside is asked
 * any more. STEP_DONE, STEP_NEEDS, or STEP_FAILED with t->failure.
 */
enum step_result reconcile_complete(struct turn *t, struct value output);

/*
 * It is known now: `answer` is the output of the step, or the error that it
 * failed with, or absent. STEP_FAILED: t->failure, which no policy is asked about.
 */
enum step_result reconcile_decide(struct turn *t, enum verdict verdict, struct value answer);

/* Go on after that: with the next step, or with rolling back. False: reads are needed first. */
bool reconcile_settle(struct turn *t, enum step_result end);

#endif
