/*
 * call_judge.h - what the answer to a call over HTTP means.
 *
 * why: decisions 0332, 0365
 */
#ifndef PAWL_ENGINE_COMMAND_CALL_JUDGE_H
#define PAWL_ENGINE_COMMAND_CALL_JUDGE_H

#include "engine/flow/step.h"
#include "value/value.h"

/* What {status_code, headers, body} means to the call that the strand in hand waits for. */
enum step_result call_judge(struct turn *t, struct value answer);

/* The same answer with `body` null, and beside it `contentType` and `size`. */
struct value call_reduce(struct turn *t, struct value answer);

/* A line in $.warnings when the body of an answer that is a success was not kept. */
void call_warn(struct turn *t, struct value answer);

#endif
