/*
 * subscription_secret.h - the secret of a subscription as it is stored: sealed
 * with the master key, like that of a credential (vault.h).
 *
 * Earlier versions stored it as it is, in the field `secret`. Such rows are
 * read, too; the node seals them when it starts (node/outside/seal_old.c).
 *
 * why: decision 0275
 */
#ifndef PAWL_EFFECT_SECRET_SUBSCRIPTION_SECRET_H
#define PAWL_EFFECT_SECRET_SUBSCRIPTION_SECRET_H

#include "effect/secret/vault.h"

struct subscription_parts {
    struct value shown;  /* the definition without its secret */
    struct value secret; /* a text, or absent */
    bool is_plain;       /* the secret is stored unsealed */
};

/*
 * Take apart what is stored, in `mem`. `v` may be NULL: then nothing that is
 * sealed opens. False: *err says why the secret cannot be opened.
 */
bool subscription_open(struct vault *v, struct arena *mem, struct str code, struct str text,
                       struct subscription_parts *out, struct err *err) MUST_USE;

/* What is to be stored. A secret needs a vault. */
struct str subscription_seal(struct vault *v, struct arena *mem, struct str code,
                             const struct subscription_parts *parts);

/* A map without its member `secret`, which is absent or null unless it is a text. */
struct subscription_parts subscription_split(struct arena *mem, struct value definition);

#endif
