/*
 * credential.h - what a credential is made of, before anything is encrypted.
 *
 * A body is what people write. One without the field of its secret is a stub:
 * it says that there is to be such a credential, as bundles do.
 */
#ifndef PAWL_DEFINE_CREDENTIAL_H
#define PAWL_DEFINE_CREDENTIAL_H

#include "define/findings.h"

enum credential_type {
#define CREDENTIAL_TYPE(symbol, name, needed, optional, secret) CREDENTIAL_##symbol,
#include "define/credential_types.def"
#undef CREDENTIAL_TYPE
    CREDENTIAL_TYPE_COUNT
};

const char *credential_type_name(enum credential_type type);
bool credential_type_read(struct str name, enum credential_type *out) MUST_USE;

/* The field that holds its secret: "password". */
const char *credential_secret_field(enum credential_type type);

enum {
    SECRET_LEN_MIN = 4, /* a shorter text could not be hidden where it comes up again */
    SECRET_LEN_MAX = 8192,
    SECRET_VALUES_MAX = 50,
};

/*
 * Take a body apart: `shown` is {type, base_url, ...} without the secret, of
 * the type `secret` with `values` being a list of the names; `secret` is the
 * text of its field or, of the type `secret`, a map; absent in a stub.
 * False: `findings` say what is wrong.
 */
bool credential_read(struct arena *mem, struct value body, struct findings *findings,
                     enum credential_type *type, struct value *shown, struct value *secret);

#endif
