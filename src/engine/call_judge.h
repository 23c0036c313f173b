/*
 * call_judge.h - what the answer to a call over HTTP means.
 */
#ifndef PAWL_ENGINE_CALL_JUDGE_H
#define PAWL_ENGINE_CALL_JUDGE_H

#include "engine/step.h"
#include "value/value.h"

/* What {status_code, headers, body} means to the call that the strand in hand waits for. */
enum step_result call_judge(struct turn *t, struct value answer);

#endif
