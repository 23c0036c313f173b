/* url.h - URLs and headers of outgoing calls, checked before they are used. */
#ifndef PAWL_BASE_URL_H
#define PAWL_BASE_URL_H

#include "base/buf.h"

/*
 * Where a URL leads, "https://shop.example:443" in lower case, in `mem`. NULL;
 * or what is wrong with the URL.
 */
const char *url_host(struct arena *mem, struct str url, struct str *out) MUST_USE;

/* Append text with everything but letters, digits and -._~ percent-encoded. */
void url_encode(struct buf *out, struct str text);

/*
 * What percent-encoded text stands for, in `out`, which has text.len bytes at
 * least. False: a '%' is not followed by two hexadecimal digits.
 */
bool url_decode(struct str text, char *out, size_t *len) MUST_USE;

/*
 * Whether a part of a path between slashes is `.` or `..`, however its dots are
 * written: it leads to the folder itself or to the one above.
 */
bool url_is_dot_segment(struct str segment);

/* Append a parameter to the query of a URL, percent-encoded. */
void url_add_parameter(struct buf *url, struct str name, struct str value);

/* What is wrong with a header that a definition sends; NULL: nothing. */
const char *url_header_mistake(struct str name, struct str value) MUST_USE;

#endif
