/*
 * router.h - which handler a request belongs to, and on what terms; the table is routes.def.
 *
 * why: decision 0075
 */
#ifndef PAWL_API_ROUTER_H
#define PAWL_API_ROUTER_H

#include "api/right.h"
#include "base/buf.h"

struct call;

typedef void route_fn(struct call *c);

enum { ROUTE_PARAMS_MAX = 3 };

/* How a route knows its caller. */
enum route_auth {
    AUTH_USER,      /* as a user: by token, session cookie or trusted proxy; else 401 */
    AUTH_NONE,      /* it need not; a user who is known is in call.user */
    AUTH_SIGNATURE, /* the handler holds a signature against the body */
};

enum { ROUTE_BUNDLE_BYTES = 16 << 20 };

/* How long a body may be. */
enum route_body {
    SIZE_USUAL,      /* 1 MiB */
    SIZE_SMALL,      /* 4 KiB: what anybody may send */
    SIZE_DEFINITION, /* 2 MiB */
    SIZE_BUNDLE,     /* ROUTE_BUNDLE_BYTES, what an export has at most */
};

/* What a request that changes something must show of where it comes from; see origin.h. */
enum route_csrf {
    CSRF_SAME_ORIGIN, /* that it comes from our own pages, when it rests on a cookie or a proxy */
    CSRF_SIGN_IN,     /* nothing, but it may not say that it comes from elsewhere */
    CSRF_NONE,        /* nothing: other sites call it, and a signature protects it */
};

/* Which answers with 2xx are stored under the caller's Idempotency-Key. */
enum route_keeps {
    KEEPS_ANSWERS, /* those to a change by a known user */
    KEEPS_NOTHING, /* none: it changes nothing that a repeated request could do twice */
    KEEPS_LEASES,  /* those that the handler stores itself: what was leased, not what was said */
};

struct route {
    struct str method;
    struct str pattern;
    route_fn *handle;
    enum right right;
    enum route_auth auth;
    enum route_body body;
    enum route_csrf csrf;
    enum route_keeps keeps;
    const char *rate; /* strangers call it so often as --hook-rate says: what they share; or NULL */
    const char *query; /* the parameters that it takes, with spaces between them; NULL: none */
};

#define QUERY_PAGE "limit cursor"
/* Which executions are meant; see filter.h. */
#define QUERY_EXECUTIONS                                                                           \
    "kind code status key step parent record error waiting from to deadlineBefore q"

extern const struct route routes[];
extern const size_t route_count;

size_t route_body_max(const struct route *route);

/* Whether a request by this route may change something. */
bool route_changes(const struct route *route);

/* Whether answers to it are stored under an Idempotency-Key: it is a change that a user asks for. */
bool route_takes_key(const struct route *route);

/* Whether `words`, with spaces between them, or NULL, have that one. */
bool words_have(const char *words, struct str name);

/* Whether a parameter of that name may stand behind the `?`; probes of health may carry any. */
bool route_takes(const struct route *route, struct str name);

/* Whether the path fits; its words go to `params`, those that it does not have are empty. */
bool route_fits(struct str pattern, struct str path, struct str params[ROUTE_PARAMS_MAX]);

/*
 * The route of a method and path, its words in `params`; or NULL. HEAD is GET.
 * Without a route, `allow` gets the methods that the path has, as the header
 * Allow lists them; nothing when there is no such path.
 */
const struct route *router_find(struct str method, struct str path,
                                struct str params[ROUTE_PARAMS_MAX], struct buf *allow);

/*
 * Decode each word that router_find() found; a tail stays as it was sent. False
 * when one is not text.
 */
bool router_decode(struct arena *mem, const struct route *route,
                   struct str params[ROUTE_PARAMS_MAX]) MUST_USE;

/* The handlers of ui_pages.def, and of routes.def. */
route_fn ui_page, ui_asset;

#define ROUTE(method, pattern, handler, ...) route_fn handler;
#include "api/routes.def"
#undef ROUTE

#endif
