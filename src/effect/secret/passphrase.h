/*
 * passphrase.h - a short secret sealed under words that a person keeps.
 *
 *     "scrypt1:" base64(salt of 16 bytes) ":" what seal_close() makes under the derived key
 *
 * scrypt with N = 2^15, r = 8, p = 1 turns the words into a key: a guess takes 32 MiB and some
 * tenths of a second.
 *
 * why: decision 0541
 */
#ifndef PAWL_EFFECT_SECRET_PASSPHRASE_H
#define PAWL_EFFECT_SECRET_PASSPHRASE_H

#include "base/err.h"

enum { PASSPHRASE_LEN_MIN = 8, PASSPHRASE_LEN_MAX = 1000, PASSPHRASE_SEALED_MAX = 400 };

/* *out is in `mem`. ERR_IO: there is not enough memory to derive the key. */
bool passphrase_close(struct arena *mem, struct str words, struct str about, struct str plain,
                      struct str *out, struct err *err) MUST_USE;

/* ERR_INVALID: other words, or the text was changed; ERR_IO as above. */
bool passphrase_open(struct arena *mem, struct str words, struct str about, struct str sealed,
                     struct str *out, struct err *err) MUST_USE;

#endif
