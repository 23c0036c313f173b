/* router.h - which handler a request belongs to; the table is routes.def. */
#ifndef PAWL_API_ROUTER_H
#define PAWL_API_ROUTER_H

#include "api/right.h"
#include "base/buf.h"

struct call;

typedef void route_fn(struct call *c);

enum { ROUTE_PARAMS_MAX = 2 };

struct route {
    struct str method;
    struct str pattern;
    route_fn *handle;
    enum right right;
};

extern const struct route routes[];
extern const size_t route_count;

/*
 * The route of a method and path, its words in `params`; or NULL. HEAD is GET.
 * Without a route, `allow` gets the methods that the path has, as the header
 * Allow lists them; nothing when there is no such path.
 */
const struct route *router_find(struct str method, struct str path,
                                struct str params[ROUTE_PARAMS_MAX], struct buf *allow);

#define ROUTE(method, pattern, handler, right) route_fn handler;
#include "api/routes.def"
#undef ROUTE

#endif
