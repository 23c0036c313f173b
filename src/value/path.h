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

#endif
