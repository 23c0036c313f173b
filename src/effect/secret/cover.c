/*
 * cover.c - whether a credential may be sent to an address (credential_covers() of vault.h).
 *
 * A secret goes to the host of its base_url alone, and there only below the base's path. A path
 * with a part `.` or `..` is refused, because the server may fold it into another path.
 */
#include "base/url.h"
#include "effect/secret/vault.h"

#include <string.h>

/* The path of a URL: what stands behind the host, up to the query. */
static struct str url_path(struct str url)
{
    size_t start = (size_t)str_find(url, STR("://"), 0) + 3, end;

    while (start < url.len && strchr("/?#", url.ptr[start]) == NULL)
        start++;
    for (end = start; end < url.len && url.ptr[end] != '?' && url.ptr[end] != '#'; end++)
        ;
    return str_slice(url, start, end);
}

static bool path_dot_at(struct str path, size_t *at)
{
    if (path.ptr[*at] == '.') {
        *at += 1;
        return true;
    }
    if (*at + 2 < path.len && path.ptr[*at] == '%' && path.ptr[*at + 1] == '2' &&
        (path.ptr[*at + 2] == 'e' || path.ptr[*at + 2] == 'E')) {
        *at += 3;
        return true;
    }
    return false;
}

/* Whether a part of the path is `.` or `..`, however it is written: it leads elsewhere. */
static bool path_has_dots(struct str path)
{
    for (size_t at = 0; at < path.len; at++) {
        size_t end = at + 1;
        unsigned dots = 0;

        if (path.ptr[at] != '/')
            continue;
        while (end < path.len && dots < 3 && path_dot_at(path, &end))
            dots++;
        if (dots > 0 && dots < 3 && (end == path.len || path.ptr[end] == '/'))
            return true;
    }
    return false;
}

bool credential_covers(const struct credential *c, struct str url)
{
    struct str ours, theirs, base, path;
    struct arena mem;
    bool ok;

    if (c->base_url.len == 0)
        return false;
    arena_init(&mem);
    ok = url_host(&mem, c->base_url, &ours) == NULL && url_host(&mem, url, &theirs) == NULL &&
         str_eq(ours, theirs);
    arena_fini(&mem);
    if (!ok)
        return false;
    base = url_path(c->base_url);
    path = url_path(url);
    return str_starts_with(path, base) && !path_has_dots(path) &&
           (path.len == base.len || path.ptr[base.len] == '/');
}
