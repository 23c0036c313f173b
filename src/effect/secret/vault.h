/*
 * vault.h - the credentials of the installation, open, in memory.
 *
 * A credential is stored as a definition of kind `credential`: what may be
 * shown as it is, and `sealed`, its secret under the master key (seal.h),
 * bound to its code and to all that is shown. The vault holds them open. It is
 * filled by the loop of the node (node/outside/credentials.c) before anything is
 * advanced and before a change is answered; any thread may take one:
 *
 *     const struct credential *c = vault_take(vault, STR("erp"));
 *     if (c != NULL && c->is_filled)
 *         ... c->secret ...;
 *     credential_release(c);
 *
 * Whoever sends a secret holds the address against the credential first:
 * credential_covers(). Whoever stores or logs what came back hides it first:
 * secret_mask.h. Definitions of another kind with a secret (subscriptions) are
 * stored in the same shape under the same key, and are opened by vault_open().
 *
 * why: decision 0210
 */
#ifndef PAWL_EFFECT_SECRET_VAULT_H
#define PAWL_EFFECT_SECRET_VAULT_H

#include "base/digest.h"
#include "define/credential.h"
#include "effect/secret/master_key.h"

#include <stdatomic.h>

struct secret_value {
    struct str name, text;
};

/* Immutable. What a type does not have is empty. */
struct credential {
    atomic_uint refs;
    struct arena mem;
    struct str code;
    enum credential_type type;
    int64_t version;
    struct str base_url; /* without a slash at its end */
    struct str header_name, username, token_url, client_id, scope;
    bool is_filled;    /* it has its secret: it is no stub, and could be opened */
    bool is_locked;    /* it has a secret that this node cannot open */
    struct str secret; /* header_value, password, client_secret or secret */
    struct {
        VEC_OF(struct secret_value);
    } values; /* of the type `secret` */
};

/* A definition with a secret in it, as it is stored. */
struct sealed_definition {
    struct str code;
    int64_t version;
    struct str text;
};

struct sealed_definitions {
    VEC_OF(struct sealed_definition);
};

struct vault;

/* The key is in the file at `key_path`, which must outlive it. Nothing is opened yet. */
struct vault *vault_new(const char *key_path);
void vault_free(struct vault *v);

/*
 * At the start: open the key and all that is stored; `others` are definitions
 * of other kinds with a secret, `named` is the id of the installation's key, or
 * empty: one is made unless it is there. ERR_IO, and nothing was changed: this is not
 * the key that they need.
 */
bool vault_start(struct vault *v, const struct sealed_definitions *all,
                 const struct sealed_definitions *others, struct str named,
                 struct err *err) MUST_USE;

/*
 * What is stored now, written by another node perhaps. The key is read again
 * when the credentials need another one; what cannot be opened stays as it was
 * open before, or is there without its secret, and the log says so once.
 */
void vault_replace(struct vault *v, const struct sealed_definitions *all,
                   const struct sealed_definitions *others);

/*
 * Whether what is stored needs another key than the one that is here. Calls with a credential that
 * cannot be opened are not sent, and may be tried again: another node may do better. Any thread.
 */
bool vault_is_locked(struct vault *v);

/* One has changed; an empty text: it is gone. */
void vault_put(struct vault *v, struct str code, int64_t version, struct str text);

/* The credential, to be released; or NULL. */
const struct credential *vault_take(struct vault *v, struct str code);
void credential_release(const struct credential *c);

/* One more who will release it. */
const struct credential *credential_share(const struct credential *c);

/* {code: base_url} of those that have one, in `mem`. */
struct value vault_bases(struct vault *v, struct arena *mem);

/* Whether a URL stands at or below the base_url of the credential. */
bool credential_covers(const struct credential *c, struct str url);

/* --- storing --- */

/*
 * What is stored of a credential, or of another kind of definition with a
 * secret: `shown` with the secret sealed, unless that is absent.
 */
struct str vault_seal(struct vault *v, struct arena *mem, struct str kind, struct str code,
                      struct value shown, struct value secret);

/* Both parts of what is stored; a secret that is not there is absent. ERR_INVALID: see seal.h. */
bool vault_open(struct vault *v, struct arena *mem, struct str kind, struct str code,
                struct str text, struct value *shown, struct value *secret,
                struct err *err) MUST_USE;

/* `shown` of what is stored; *is_filled: it has a secret. False: it is none of ours. */
bool vault_shown(struct arena *mem, struct str text, struct value *shown, bool *is_filled);

/* The id of the key that a stored text needs, or empty; and that of the vault. */
struct str vault_needs(struct arena *mem, struct str text);
struct str vault_key_id(struct vault *v, struct arena *mem);

/*
 * HMAC-SHA256 under a key that is derived from the master key for one use,
 * named by `use`. With another master key it is another one. Any thread.
 */
void vault_sign(struct vault *v, struct str use, struct str text, uint8_t out[DIGEST_LEN]);

/* --- rotating the key; see master_key.h --- */

/* Prepare a new key. */
bool vault_rekey_begin(struct vault *v, struct seal_key *next, struct err *err) MUST_USE;

/* A stored text, sealed anew with that key. */
bool vault_rekey(struct vault *v, struct arena *mem, const struct seal_key *next, struct str kind,
                 struct str code, struct str text, struct str *out, struct err *err) MUST_USE;

enum rekey_result {
    REKEY_DONE,    /* all are stored so */
    REKEY_REFUSED, /* none of them */
    REKEY_UNKNOWN, /* nobody knows: both files stay, and the next who reads the rows finds out */
};

/* Follow it with the file. False: that could not be replaced; *err says why. */
bool vault_rekey_end(struct vault *v, const struct seal_key *next, enum rekey_result result,
                     struct err *err) MUST_USE;

#endif
