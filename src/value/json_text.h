/*
 * json_text.h - the pieces of a JSON text, byte for byte as they were written.
 *
 * Only for texts that json_read() has accepted.
 */
#ifndef PAWL_VALUE_JSON_TEXT_H
#define PAWL_VALUE_JSON_TEXT_H

#include "base/arena.h"
#include "base/str.h"

/* The text of a member of the object that `text` is, or STR_NONE. Points into `text`. */
struct str json_text_member(struct arena *mem, struct str text, struct str name);

/* The object that `text` is without a member and its comma; every other byte stays. */
struct str json_text_without(struct arena *mem, struct str text, struct str name);

/*
 * The texts of the items of the list that `text` is; as many as it has, at most
 * `capacity`, are put into `out`. Answers how many there are.
 */
size_t json_text_items(struct str text, struct str *out, size_t capacity);

/*
 * The byte where the value that a JSON pointer leads to begins, and that of its
 * key, which is the same for an item of a list and for the whole. False when
 * there is none: *key and *value are then those of the last one on the way.
 */
bool json_text_find(struct arena *mem, struct str text, struct str pointer, size_t *key,
                    size_t *value) MUST_USE;

#endif
