/* digest.h - what content is known by: the same text has the same digest on every machine. */
#ifndef PAWL_BASE_DIGEST_H
#define PAWL_BASE_DIGEST_H

#include "base/arena.h"
#include "base/str.h"

enum { DIGEST_LEN = 32, DIGEST_HEX_LEN = 2 * DIGEST_LEN };

/* SHA-256; and the same in lower-case hexadecimal, DIGEST_HEX_LEN characters in `mem`. */
void digest_sha256(struct str text, uint8_t out[DIGEST_LEN]);
struct str digest_hex(struct arena *mem, struct str text);

/* HMAC-SHA256 under a key, as bytes and in hexadecimal. */
void digest_hmac(struct str key, struct str text, uint8_t out[DIGEST_LEN]);
struct str digest_hmac_hex(struct arena *mem, struct str key, struct str text);

#endif
