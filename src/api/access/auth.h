/*
 * auth.h - who makes a request: by token, by the word of a trusted proxy, or by
 * the cookie of a session.
 *
 *     Authorization: Bearer TOKEN          a token that is known by its hash
 *     X-Forwarded-Email: ada@example.org   believed only from --trusted-proxy
 *     Cookie: pawl_session=...             what POST /session has answered
 *
 * The first of them that is there counts, and the others are not looked at: a
 * program that sends a token means that one, and whom the proxy has signed in is
 * not somebody whose cookie was left in the browser.
 *
 * why: decisions 0047, 0049
 */
#ifndef PAWL_API_ACCESS_AUTH_H
#define PAWL_API_ACCESS_AUTH_H

#include "api/access/directory.h"
#include "http/cidr.h"

struct http_request;
struct node_user;

struct auth_options {
    struct str header; /* of the proxy; empty: none is believed */
    struct cidrs trusted_proxies;
};

/* The cookie of a session. */
#define AUTH_COOKIE "pawl_session"

/* A person as the requests of a call name it, in `mem`. */
void auth_copy_person(struct arena *mem, const struct person *p, struct node_user *out);

/* The active user who bears a token; NULL with ERR_UNAUTHORIZED. See directory_by_token(). */
const struct person *auth_by_token(struct directory *people, struct str token, struct pass *pass,
                                   struct err *err);

/*
 * Who it is, everything in the request's memory. False: nobody that is known;
 * *err (ERR_UNAUTHORIZED) says what to do.
 */
bool auth_identify(struct directory *people, const struct auth_options *options,
                   const struct http_request *r, struct node_user *out, enum role *role,
                   struct pass *pass, struct err *err) MUST_USE;

#endif
