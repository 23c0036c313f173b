/* subscriptions.h - the secret of a subscription: kept, sealed, and never shown. */
#ifndef PAWL_API_DEFINITIONS_SUBSCRIPTIONS_H
#define PAWL_API_DEFINITIONS_SUBSCRIPTIONS_H

#include "api/definitions/definitions.h"
#include "effect/secret/vault.h"

struct stored_definition;

/*
 * Make of a subscription that was sent what it is to be: without a secret it
 * keeps the one that it has, and null removes that. The secret is in
 * item->definition, open; item->text is for subscriptions_seal() to make.
 */
bool subscriptions_take(struct reader *reader, struct arena *mem, struct vault *vault,
                        struct definition_item *item, struct err *err) MUST_USE;

/* Make item->text of item->definition, the secret sealed. ERR_CONFLICT: there is no master key. */
bool subscriptions_seal(struct arena *mem, struct vault *vault, struct definition_item *item,
                        struct err *err) MUST_USE;

/* A stored one as a value, with its secret open. */
bool subscriptions_value(struct arena *mem, struct vault *vault, const struct stored_definition *d,
                         struct value *out, struct err *err) MUST_USE;

/* A stored one as JSON without its secret; `has_mark`: with hasSecret in its place. In `mem`. */
struct str subscriptions_shown(struct arena *mem, struct str text, bool has_mark);

#endif
