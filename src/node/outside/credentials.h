/*
 * credentials.h - the vault of the node; see effect/secret/vault.h. Internal to src/node.
 *
 * It is filled before anything else is done with the store, so that a server
 * with the wrong master key does not start. Changes of this node reach it when
 * they are durable, those of others as those of the config do (config.h). What
 * the engine sees of a credential is its base_url.
 */
#ifndef PAWL_NODE_OUTSIDE_CREDENTIALS_H
#define PAWL_NODE_OUTSIDE_CREDENTIALS_H

#include "base/map.h"
#include "engine/commit/link.h"
#include "store/read_definition.h"
#include "store/store.h"

struct node;

struct credentials {
    struct value urls;       /* {code: base_url}: what the engine sees */
    struct arena mem;        /* of `urls` */
    struct link_maker links; /* no base: there are none */
    struct map uses;         /* by code: when the last one was written, monotonic */
    uint64_t nonce_count;
};

bool credentials_open(struct node *n, struct err *err) MUST_USE; /* before all else */
void credentials_replace(struct node *n, const struct stored_definitions *all,
                         const struct stored_definitions *subscriptions);
/* Whether they need another master key than this node has. */
bool credentials_are_locked(const struct node *n);
void credentials_changed(struct node *n, const struct definition_change *d, bool is_removed);

/* A call of the execution was sent with it: a line in the audit log, now and then. */
void credentials_used(struct node *n, struct str code, struct uuid execution);

/* Numbers that nobody outside can guess, others for each event. */
void credentials_nonce(struct node *n, uint64_t out[2]);

/* --- seal_old.c --- */

/* Seal the secrets of those that have them unsealed; the row of the key has this version. */
void subscriptions_seal_old(struct node *n, const struct stored_definitions *all,
                            int64_t key_version);

#endif
