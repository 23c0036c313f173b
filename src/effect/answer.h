/*
 * answer.h - the answer to a call: its head and its body as they come, and as
 * the JSON that the call brings back. Internal to src/effect: call.c decides
 * whether what has come is the answer.
 */
#ifndef PAWL_EFFECT_ANSWER_H
#define PAWL_EFFECT_ANSWER_H

#include "effect/call.h"

enum {
    ANSWER_HEADS_MAX_BYTES = 1 << 20, /* of all heads of an answer; with more it is given up */
};

/*
 * For libcurl, `context` is the struct transfer. A body above
 * EFFECT_ANSWER_MAX_BYTES and heads above ANSWER_HEADS_MAX_BYTES end the
 * transfer as too large.
 */
size_t answer_take_body(char *data, size_t size, size_t count, void *context);

/* One line of the head; a new status line begins a new head (100, a redirect). */
size_t answer_take_header(char *data, size_t size, size_t count, void *context);

/* What was received so far is not the answer. */
void answer_forget(struct transfer *t);

/*
 * Write the answer_json of the call, without the secrets that the service has
 * repeated. A body that is not whole or cannot be kept is null.
 */
void answer_write(struct transfer *t, long status, bool is_whole);

#endif
