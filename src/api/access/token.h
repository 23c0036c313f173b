/*
 * token.h - tokens: 256 random bits that say who someone is.
 *
 * What a token opens is known by its SHA-256 alone (store/users.h); the one
 * exception is the administrator's, made at the first start and kept in a file
 * that only its owner can read.
 *
 * why: decisions 0046, 0191
 */
#ifndef PAWL_API_ACCESS_TOKEN_H
#define PAWL_API_ACCESS_TOKEN_H

#include "base/err.h"

enum { TOKEN_LEN = 69, TOKEN_HASH_LEN = 32 }; /* "pawl_" and 64 hexadecimal digits */

/* A new token, in `mem`. */
struct str token_make(struct arena *mem);

/* Its SHA-256; and the same in hexadecimal, as it is stored. */
void token_hash(struct str token, uint8_t out[TOKEN_HASH_LEN]);
struct str token_hash_hex(struct arena *mem, struct str token);

/* token_hash() with a context that is kept between calls: a third of the time, for every request. */
struct token_hasher;
struct token_hasher *token_hasher_new(void);
void token_hasher_free(struct token_hasher *h);
void token_hasher_run(struct token_hasher *h, struct str token, uint8_t out[TOKEN_HASH_LEN]);

/* A hash as it is stored; and read back. */
void token_hash_write(const uint8_t hash[TOKEN_HASH_LEN], char out[2 * TOKEN_HASH_LEN]);
bool token_hash_read(struct str hex, uint8_t out[TOKEN_HASH_LEN]) MUST_USE;

/* The token that an Authorization header bears. False when it bears none. */
bool token_borne(struct str authorization, struct str *out) MUST_USE;

/*
 * The token in the file at `path`; made, readable by its owner alone, when
 * there is no such file: then *is_new. ERR_IO with what to do.
 */
bool token_open(struct arena *mem, const char *path, struct str *out, bool *is_new,
                struct err *err) MUST_USE;

/* Read it without making it: for clients on the same machine. */
bool token_read(struct arena *mem, const char *path, struct str *out, struct err *err) MUST_USE;

#endif
