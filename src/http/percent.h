/*
 * percent.h - reading what was sent percent-encoded: parts of a path, values of a query.
 *
 * why: decision 0076
 */
#ifndef PAWL_HTTP_PERCENT_H
#define PAWL_HTTP_PERCENT_H

#include "base/str.h"

/*
 * The text behind `encoded`, which is `encoded` itself when nothing in it is.
 * False when it is no text: a broken escape, no UTF-8, or U+0000 in it.
 */
bool percent_decode(struct arena *mem, struct str encoded, struct str *out) MUST_USE;

/* The same as forms are encoded: a plus is a space. */
bool percent_decode_form(struct arena *mem, struct str encoded, struct str *out) MUST_USE;

#endif
