/* token.h - the administrator's token: made at the first start, shown by every request. */
#ifndef PAWL_API_TOKEN_H
#define PAWL_API_TOKEN_H

#include "base/err.h"

enum { TOKEN_LEN = 64 }; /* 256 bits in hexadecimal */

/*
 * The token in the file at `path`; made, readable by its owner alone, when
 * there is no such file. ERR_IO with what to do.
 */
bool token_open(struct arena *mem, const char *path, struct str *out, struct err *err) MUST_USE;

/* Read it without making it: for clients on the same machine. */
bool token_read(struct arena *mem, const char *path, struct str *out, struct err *err) MUST_USE;

/* Whether an Authorization header bears this token. Takes the same time however wrong it is. */
bool token_is_borne(struct str authorization, struct str token);

#endif
