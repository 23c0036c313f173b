/*
 * token.h - tokens of credentials of type oauth2_client. Internal to src/effect.
 *
 * A token is fetched when a call needs one, by a call of the thread's own, and
 * kept until it is about to end. One request for it is in flight at a time;
 * further calls wait for its answer. Belongs to the effect thread.
 *
 *     none --call needs it--> asked --answer--> there --end, or 401--> none
 */
#ifndef PAWL_EFFECT_SECRET_TOKEN_H
#define PAWL_EFFECT_SECRET_TOKEN_H

#include "base/map.h"
#include "effect/call.h"

/* So long a service may take to give one out: calls wait no longer than their grace allows. */
#define TOKEN_TIMEOUT_US INT64_C(4000000)

struct tokens {
    struct arena mem;
    struct map all; /* of struct token, by code */
};

void tokens_init(struct tokens *all);
void tokens_fini(struct tokens *all);

/* A token that is at hand, for so long as nothing else is done; or empty. */
struct str token_find(struct tokens *all, const struct credential *c, int64_t now_us);

/*
 * The transfer waits for a token of its credential. The call that fetches it,
 * to be made; or NULL: one is in flight.
 */
struct effect_call *token_wait(struct tokens *all, struct transfer *t);

/*
 * Such a call is over. Those that have waited, linked by `waiting`: the token
 * is at hand for them, or they have the error.
 */
struct transfer *token_answered(struct tokens *all, const struct effect_call *call, int64_t now_us);

/* A service refused this token: it is used no more. */
void token_refused(struct tokens *all, const struct credential *c, struct str token);

#endif
