/* origin.c - see origin.h. */
#include "http/origin.h"

#include "http/http_parse.h"

/* "https://pawl.example.org:443/x" in its parts; false when it has no scheme and host. */
static bool split(struct str url, struct str *scheme, struct str *authority)
{
    int64_t colon = str_find(url, STR("://"), 0), slash;
    size_t end = url.len;

    if (colon <= 0)
        return false;
    *scheme = str_slice(url, 0, (size_t)colon);
    slash = str_find(url, STR("/"), (size_t)colon + 3);
    if (slash >= 0)
        end = (size_t)slash;
    *authority = str_slice(url, (size_t)colon + 3, end);
    return authority->len > 0;
}

/* Without the port that the scheme has anyway: "a.org:443" under https is "a.org". */
static struct str without_default_port(struct str scheme, struct str authority)
{
    struct str port = http_same_word(scheme, STR("https"))  ? STR(":443")
                      : http_same_word(scheme, STR("http")) ? STR(":80")
                                                            : STR_NONE;

    return port.len > 0 && str_ends_with(authority, port)
               ? str_slice(authority, 0, authority.len - port.len)
               : authority;
}

/* A host names no scheme: behind a proxy that speaks TLS ours is not the browser's. */
static bool is_own(struct str origin, struct str host, struct str public_url)
{
    struct str scheme, authority, own_scheme, own_authority;

    if (!split(origin, &scheme, &authority))
        return false;
    authority = without_default_port(scheme, authority);
    if (public_url.len == 0)
        return host.len > 0 && http_same_word(authority, without_default_port(scheme, host));
    return split(public_url, &own_scheme, &own_authority) && http_same_word(scheme, own_scheme) &&
           http_same_word(authority, without_default_port(own_scheme, own_authority));
}

bool origin_is_foreign(const struct origin_claim *claim, struct str public_url)
{
    if (claim->fetch_site.ptr != NULL && !str_eq(claim->fetch_site, STR("same-origin")) &&
        !str_eq(claim->fetch_site, STR("none")))
        return true;
    return claim->origin.ptr != NULL && !is_own(claim->origin, claim->host, public_url);
}

bool origin_is_ours(const struct origin_claim *claim, struct str public_url)
{
    return (claim->origin.ptr != NULL || claim->fetch_site.ptr != NULL) &&
           !origin_is_foreign(claim, public_url);
}
