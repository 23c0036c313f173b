/* pass.h - by what the caller of a request was let in. */
#ifndef PAWL_API_ACCESS_PASS_H
#define PAWL_API_ACCESS_PASS_H

#include "base/str.h"

/* By what someone came in; whether that still holds can be asked later. */
enum pass_kind { PASS_TOKEN, PASS_SESSION, PASS_PROXY };

struct pass {
    enum pass_kind kind;
    struct str session; /* hash of the cookie, in bytes; or empty */
    struct str user_id;
    struct str token_id; /* or empty: the administrator's file, a proxy */
    uint64_t revision;
};

#endif
