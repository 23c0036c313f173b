/* digest.h - what content is known by: the same text has the same digest on every machine. */
#ifndef PAWL_STORE_DIGEST_H
#define PAWL_STORE_DIGEST_H

#include "base/arena.h"
#include "base/str.h"

enum { DIGEST_HEX_LEN = 64 };

/* SHA-256 in lower-case hexadecimal, DIGEST_HEX_LEN characters in `mem`. */
struct str digest_hex(struct arena *mem, struct str text);

/* HMAC-SHA256 under a key, written the same way. */
struct str digest_hmac_hex(struct arena *mem, struct str key, struct str text);

#endif
