/*
 * sent.h - what an attempt has sent, as clients see it.
 *
 * Every call and job has a row of history of its own from the commit that sends it:
 * an event `call` or `job`, with the request and its idempotency key. The row of the
 * step that follows and dead letters name it by its seq; they are shown with what it
 * has. Masks are laid over it with the rest of the view.
 *
 * why: decision 0401
 */
#ifndef PAWL_API_SENT_H
#define PAWL_API_SENT_H

#include "base/err.h"
#include "base/uuid.h"
#include "engine/commit/history.h"

struct reader;

/* Whether a row of kind event is such a one. */
bool sent_is(const struct history_row *row);

/*
 * What it has sent, as JSON in `mem`: of a call {method, url, headers, body?, credential?},
 * of a job its input.
 */
struct str sent_json(struct arena *mem, const struct history_row *row);

/* Read the row with that seq; *json and *key stay empty when it is not there any more. */
bool sent_read(struct reader *reader, struct arena *mem, struct uuid execution, int64_t seq,
               struct str *json, struct str *key, struct err *err) MUST_USE;

/* Fill sent_json and sent_key of a stored row that has no input of its own. */
bool sent_fill(struct reader *reader, struct arena *mem, struct uuid execution,
               struct history_row *row, struct err *err) MUST_USE;

#endif
