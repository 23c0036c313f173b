/* subscriptions.h - the secret of a subscription: kept, and never shown. */
#ifndef PAWL_API_SUBSCRIPTIONS_H
#define PAWL_API_SUBSCRIPTIONS_H

#include "api/definitions.h"

/*
 * Make of a subscription that was sent what is to be stored: without a secret
 * it keeps the one that it has, and null removes that. In `mem`.
 */
bool subscriptions_take(struct reader *reader, struct arena *mem, struct definition_item *item,
                        struct err *err) MUST_USE;

/* A stored one as JSON without its secret; `tells`: with hasSecret in its place. In `mem`. */
struct str subscriptions_shown(struct arena *mem, struct str text, bool tells);

#endif
