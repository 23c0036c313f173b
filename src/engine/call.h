/*
 * call.h - integration.http: calls over HTTP. Internal to src/engine.
 *
 *     command --room--> attempt in the commit --durable--> sent --> answer, an event
 *        |                    |
 *        +-- no room: queued -+          no answer: the attempt may have happened
 */
#ifndef PAWL_ENGINE_CALL_H
#define PAWL_ENGINE_CALL_H

#include "engine/turn.h"

enum step_result call_run(struct turn *t, const struct command *c, struct value *out);

/* Whether there is room for the call that the strand waits to make. */
bool call_has_news(const struct turn *t, const struct cursor *cursor);

/*
 * The strand in hand, which waits for a call, is woken. STEP_WAITS: its attempt
 * leaves with this commit, or it waits for room on; STEP_FAILED: there will be
 * no answer; STEP_SKIPPED: nothing has changed.
 */
enum step_result call_wake(struct turn *t);

/*
 * What an answer {status_code, headers, body} means to the call that the strand
 * in hand waits for. STEP_DONE: it is the result; STEP_FAILED.
 */
enum step_result call_judge(struct turn *t, struct value answer);

#endif
