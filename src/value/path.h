/*
 * path.h - JSON Pointer (RFC 6901): "/items/0/name", and "" for the whole.
 *
 * In a token "~" is written "~0" and "/" is written "~1".
 */
#ifndef PAWL_VALUE_PATH_H
#define PAWL_VALUE_PATH_H

#include "base/buf.h"
#include "value/value.h"

/* Append "/" and a token, escaped. */
void path_add(struct buf *path, struct str token);
void path_add_index(struct buf *path, uint64_t index);

/* Whether a text is a JSON Pointer at all: empty or starting with '/', each '~' before 0 or 1. */
bool path_is_valid(struct str path);

/*
 * What `path` points to in `root`, or VALUE_ABSENT when there is nothing, or
 * the path is not valid. A map is entered by a string key, a list by an index
 * without leading zeros; "-", the place after the last item, is nothing.
 */
struct value path_resolve(struct value root, struct str path);

#endif
