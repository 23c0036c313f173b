/* router.c - see router.h. */
#include "api/router.h"

#include "http/percent.h"

const struct route routes[] = {
/* The right is the first of the rest; columns that differ from the usual follow it by name. */
#define ROUTE(verb, path, handler, ...)                                                            \
    {.method = {(verb), sizeof(verb) - 1},                                                         \
     .pattern = {(path), sizeof(path) - 1},                                                        \
     .handle = (handler),                                                                          \
     .right = RIGHT_##__VA_ARGS__},
#include "api/routes.def"
/* What a browser opens. */
#include "api/serve/ui_pages.def"
#undef ROUTE
};

const size_t route_count = ARRAY_SIZE(routes);

size_t route_body_max(const struct route *route)
{
    switch (route->body) {
    case SIZE_USUAL:
        return 1 << 20;
    case SIZE_SMALL:
        return 4 << 10;
    case SIZE_DEFINITION:
        return 2 << 20;
    case SIZE_BUNDLE:
        return ROUTE_BUNDLE_BYTES;
    }
    PANIC("no such size");
}

bool route_changes(const struct route *route)
{
    return !str_eq(route->method, STR("GET"));
}

bool route_takes_key(const struct route *route)
{
    return route->auth == AUTH_USER && route_changes(route) && route->keeps != KEEPS_NOTHING;
}

bool words_have(const char *words, struct str name)
{
    for (; words != NULL && *words != '\0'; words += words[0] == ' ') {
        size_t len = strcspn(words, " ");

        if (str_eq(str_from(words, len), name))
            return true;
        words += len;
    }
    return false;
}

bool route_takes(const struct route *route, struct str name)
{
    return words_have(route->query, name) || !str_starts_with(route->pattern, STR("/api/"));
}

/* Whether a part of a path names the folder itself or the one above, which proxies fold away. */
static bool is_dot_segment(struct str part)
{
    return str_eq(part, STR(".")) || str_eq(part, STR(".."));
}

/*
 * A word in braces stands for anything but nothing, '/', "." and ".."; with a star for anything but
 * nothing.
 */
bool route_fits(struct str pattern, struct str path, struct str params[ROUTE_PARAMS_MAX])
{
    size_t at = 0, count = 0;

    for (size_t i = 0; i < ROUTE_PARAMS_MAX; i++)
        params[i] = STR_NONE;
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
        while (at < path.len && (pattern.ptr[i - 1] == '*' || path.ptr[at] != '/'))
            at++;
        if (at == start ||
            (pattern.ptr[i - 1] != '*' && is_dot_segment(str_slice(path, start, at))))
            return false;
        ASSERT(count < ROUTE_PARAMS_MAX);
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
        if (str_eq(routes[i].method, method) && route_fits(routes[i].pattern, path, params))
            return &routes[i];
    for (size_t i = 0; i < route_count; i++) {
        if (!route_fits(routes[i].pattern, path, params) ||
            str_find(buf_view(allow), routes[i].method, 0) >= 0)
            continue;
        if (allow->len > 0)
            buf_text(allow, ", ");
        buf_str(allow, routes[i].method);
        if (str_eq(routes[i].method, STR("GET")))
            buf_text(allow, ", HEAD");
    }
    return NULL;
}

bool router_decode(struct arena *mem, const struct route *route,
                   struct str params[ROUTE_PARAMS_MAX])
{
    bool has_tail = str_ends_with(route->pattern, STR("*}"));
    size_t count = 0;

    while (count < ROUTE_PARAMS_MAX && params[count].ptr != NULL)
        count++;
    for (size_t i = 0; i + has_tail < count; i++)
        if (!percent_decode(mem, params[i], &params[i]))
            return false;
    return true;
}
