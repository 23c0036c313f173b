/*
 * secret.h - what a call sends that is not in its request: the secrets of
 * credentials. Internal to src/effect.
 *
 * A request may name a `credential`, whose secret goes with it, and list
 * `secrets`, which stand in its URL, headers and body (engine/command/call_secret.h). They are
 * put there when the call leaves, each only where its base_url allows; what is
 * stored, and what comes back, does not hold them.
 */
#ifndef PAWL_EFFECT_SECRET_SECRET_H
#define PAWL_EFFECT_SECRET_SECRET_H

#include "effect/effect.h"
#include "effect/secret/vault.h"
#include "value/mask.h"

/* In the memory of its call. */
struct call_secrets {
    struct mask mask;               /* what must not come back */
    struct str header_name, header; /* that goes with the call; or empty */
    const struct credential *oauth; /* it needs a token of this one; or NULL */
    struct str token;               /* that it is sent with */
    bool has_retried;               /* with a new token, after 401 */
    struct str code;                /* of the credential, or of the first whose value is sent */
    bool is_in_headers_only;        /* URL and body hold none */
};

enum secret_result {
    SECRET_READY,
    SECRET_FAILED, /* the error says why; nothing may leave */
    SECRET_WAITS,  /* for a token */
};

struct secret_failure {
    const char *code;
    enum err_class class;
    struct str message;
};

/*
 * Put the secrets into the request, which is replaced. *out is NULL when the
 * call has none. `token` is one that is at hand for a credential of type
 * oauth2_client, or empty.
 */
enum secret_result secret_fill(struct vault *vault, struct arena *mem, struct value *request,
                               struct call_secrets **out, struct secret_failure *failure);

/* The token is there. */
void secret_take_token(struct arena *mem, struct call_secrets *s, struct str token);

/* "Basic ..." of "user:password". */
struct str secret_basic_header(struct arena *mem, struct str both);

/* The call is over. */
void secret_release(struct call_secrets *s);

#endif
