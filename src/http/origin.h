/*
 * origin.h - whether a request comes from our own pages.
 *
 * A browser adds a cookie, and a proxy its header, to whatever any page makes it
 * send. What a browser says about the page cannot be forged by that page:
 *
 *     Origin           scheme, host and port of the page
 *     Sec-Fetch-Site   how that relates to us
 */
#ifndef PAWL_HTTP_ORIGIN_H
#define PAWL_HTTP_ORIGIN_H

#include "base/str.h"

/* The headers of a request, each STR_NONE when it is not there. */
struct origin_claim {
    struct str origin;
    struct str fetch_site;
    struct str host;
};

/*
 * Whether it is said, and by nothing denied, that the request comes from our own
 * pages: those of `public_url`, or, when that is empty, of the host that the
 * request names.
 */
bool origin_is_ours(const struct origin_claim *claim, struct str public_url);

/* Whether something says that it comes from elsewhere. Of what says nothing, nothing is known. */
bool origin_is_foreign(const struct origin_claim *claim, struct str public_url);

#endif
