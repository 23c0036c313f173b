/*
 * hooks.h - what comes to `/hooks`: a request as expressions see it, and proof of who sent it.
 *
 * why: decision 0286
 */
#ifndef PAWL_API_EXECUTIONS_HOOKS_H
#define PAWL_API_EXECUTIONS_HOOKS_H

#include "api/call.h"

struct vault;

/*
 * $.webhook of a request: {payload, headers, query, method, path}, in `mem`. The
 * body is read by its content type: JSON, a form, or a text; an empty one is
 * null. ERR_BAD_REQUEST: it is not what its type says, or the query is no text.
 */
bool hook_request(struct arena *mem, const struct http_request *r, struct str path,
                  struct value *out, struct err *err) MUST_USE;

/* The parameters behind the `?`, as a map. */
bool hook_query(struct arena *mem, struct str query, struct value *out, struct err *err) MUST_USE;

/*
 * The same as an execution keeps it: without the headers whose names say that
 * they let somebody in, and without the one that a proxy names the user in.
 */
struct value hook_kept(struct arena *mem, struct value webhook, struct str auth_header);

/* Whether what has this name lets somebody in: "x-api-key", "password". */
bool hook_is_secret(struct str name);

/*
 * Whether the body was signed as `verify` of the trigger demands; true where it
 * demands nothing. ERR_UNAUTHORIZED: also what was signed more than 5 minutes before now, where
 * the time is signed, too. Compares in constant time.
 */
bool hook_verify(struct arena *mem, struct vault *vault, const struct http_request *r,
                 struct value spec, int64_t now_us, struct err *err) MUST_USE;

#endif
