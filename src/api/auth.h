/*
 * auth.h - who makes a request: by token, or by the word of a trusted proxy.
 *
 *     Authorization: Bearer TOKEN          a token that is known by its hash
 *     X-Forwarded-Email: ada@example.org   believed only from --trusted-proxy
 *
 * A request that bears a token is never looked at for the other header.
 */
#ifndef PAWL_API_AUTH_H
#define PAWL_API_AUTH_H

#include "api/cidr.h"
#include "api/directory.h"
#include "api/http.h"

struct auth_options {
    struct str header; /* of the proxy; empty: none is believed */
    struct cidrs trusted_proxies;
};

/*
 * Who it is, everything in the request's memory. False: nobody that is known;
 * *err (ERR_UNAUTHORIZED) says what to do.
 */
bool auth_identify(struct directory *people, const struct auth_options *options,
                   const struct http_request *r, struct node_user *out, enum role *role,
                   struct pass *pass, struct err *err) MUST_USE;

#endif
