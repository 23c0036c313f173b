/*
 * seal.h - secrets as they are stored: AES-256-GCM under the master key.
 *
 *     sealed = KEYID "." base64(nonce of 12 bytes, ciphertext, tag of 16 bytes)
 *
 * The id of a key is 16 hexadecimal digits of an HMAC under it: it says which
 * key is needed and nothing of the key. `about` is authenticated with the
 * secret and not stored with it: what was sealed about one thing does not open
 * as part of another, so whoever can write to the database cannot give a
 * secret another address.
 */
#ifndef PAWL_EFFECT_SECRET_SEAL_H
#define PAWL_EFFECT_SECRET_SEAL_H

#include "base/err.h"

enum { SEAL_KEY_LEN = 32, SEAL_ID_LEN = 16 };

struct seal_key {
    uint8_t bytes[SEAL_KEY_LEN];
    char id[SEAL_ID_LEN + 1];
};

/* A new key of random bytes. */
void seal_key_make(struct seal_key *out);

/* 64 hexadecimal digits, or base64 of 32 bytes; white space around them. ERR_INVALID. */
bool seal_key_read(struct str text, struct seal_key *out, struct err *err) MUST_USE;

/* The 64 digits of a key. */
void seal_key_write(const struct seal_key *key, char out[2 * SEAL_KEY_LEN]);

/* Overwrite memory that held a secret. */
void seal_wipe(void *memory, size_t len);

struct str seal_close(struct arena *mem, const struct seal_key *key, struct str about,
                      struct str plain);

/* ERR_INVALID: it was sealed with another key, about something else, or was changed. */
bool seal_open(struct arena *mem, const struct seal_key *key, struct str about, struct str sealed,
               struct str *out, struct err *err) MUST_USE;

/* The id of the key that a text was sealed with, or empty. */
struct str seal_id(struct str sealed);

#endif
