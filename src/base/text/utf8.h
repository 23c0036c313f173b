/* utf8.h - checking, counting and stepping through UTF-8. */
#ifndef PAWL_BASE_UTF8_H
#define PAWL_BASE_UTF8_H

#include "base/str.h"

/* Whether all of `s` is UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
bool utf8_is_valid(struct str s);

/* The place of the first byte that does not belong, or s.len. */
size_t utf8_valid_prefix(struct str s);

/* The length of the well-formed sequence at `at`, of which `left` >= 1 bytes are there; or 0. */
size_t utf8_sequence_length(const char *at, size_t left);

/* How many code points a valid text has. */
size_t utf8_count(struct str s);

/* The byte offset of code point number `n`; s.len when there are only n. `n` must not be larger. */
size_t utf8_offset(struct str s, size_t n);

/* Decode the code point at *pos of a valid text and step over it. */
uint32_t utf8_next(struct str s, size_t *pos);

/* Write one code point (not a surrogate) and answer its length, 1 to 4. */
size_t utf8_encode(char out[4], uint32_t code_point);

#endif
