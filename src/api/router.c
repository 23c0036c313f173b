/* router.c - see router.h. */
#include "api/router.h"

const struct route routes[] = {
#define ROUTE(verb, path, handler, who)                                                            \
    {.method = {(verb), sizeof(verb) - 1},                                                         \
     .pattern = {(path), sizeof(path) - 1},                                                        \
     .handle = (handler),                                                                          \
     .right = RIGHT_##who},
#include "api/routes.def"
#undef ROUTE
};

const size_t route_count = sizeof(routes) / sizeof(routes[0]);

/* Whether the path fits; a word in braces stands for anything but nothing and '/'. */
static bool fits(struct str pattern, struct str path, struct str params[ROUTE_PARAMS_MAX])
{
    size_t at = 0, count = 0;

    for (size_t i = 0; i < pattern.len; i++) {
        size_t start = at;
        if (pattern.ptr[i] != '{') {
            if (at == path.len || path.ptr[at] != pattern.ptr[i])
                return false;
            at++;
            continue;
        }
        while (pattern.ptr[i] != '}')
            i++;
        while (at < path.len && path.ptr[at] != '/')
            at++;
        if (at == start)
            return false;
        params[count++] = str_slice(path, start, at);
    }
    return at == path.len;
}

const struct route *router_find(struct str method, struct str path,
                                struct str params[ROUTE_PARAMS_MAX], struct buf *allow)
{
    if (str_eq(method, STR("HEAD")))
        method = STR("GET");
    for (size_t i = 0; i < route_count; i++)
        if (str_eq(routes[i].method, method) && fits(routes[i].pattern, path, params))
            return &routes[i];
    for (size_t i = 0; i < route_count; i++) {
        if (!fits(routes[i].pattern, path, params))
            continue;
        if (allow->len > 0)
            buf_text(allow, ", ");
        buf_str(allow, routes[i].method);
        if (str_eq(routes[i].method, STR("GET")))
            buf_text(allow, ", HEAD");
    }
    return NULL;
}
