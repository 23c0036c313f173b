/* call_url.h - URLs and headers of calls, looked at before they leave. */
#ifndef PAWL_ENGINE_CALL_URL_H
#define PAWL_ENGINE_CALL_URL_H

#include "base/buf.h"

/*
 * Where a URL leads, "https://shop.example:443" in lower case, in `mem`. NULL;
 * or what is wrong with the URL.
 */
const char *url_host(struct arena *mem, struct str url, struct str *out) MUST_USE;

/* Append a parameter to the query of a URL, percent-encoded. */
void url_add_parameter(struct buf *url, struct str name, struct str value);

/* What is wrong with a header that a definition sends; NULL: nothing. */
const char *url_header_mistake(struct str name, struct str value) MUST_USE;

#endif
