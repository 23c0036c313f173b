/* base64.h - bytes as text in the standard alphabet (RFC 4648, section 4). */
#ifndef PAWL_BASE_BASE64_H
#define PAWL_BASE_BASE64_H

#include "base/str.h"

/* How many characters `len` bytes become, padding included. */
static inline size_t base64_encoded_len(size_t len)
{
    ASSERT(len <= SIZE_MAX / 2);
    return (len + 2) / 3 * 4;
}

/* An upper bound for the bytes that `len` characters become. */
static inline size_t base64_decoded_max(size_t len)
{
    return len / 4 * 3 + 2;
}

/* Write base64_encoded_len(bytes.len) characters, without a zero byte. Answers their number. */
size_t base64_encode(struct str bytes, char *out);

/*
 * Decode into `out`, which has room for base64_decoded_max(text.len) bytes.
 * Padding may be there, then in full, or not at all. Everything else is
 * strict: no other alphabet, no white space, no bits beyond the last byte. On
 * false *len is the place of the first character that is wrong.
 */
bool base64_decode(struct str text, char *out, size_t *len) MUST_USE;

#endif
