/*
 * sent.h - what an attempt has sent, read for those who see it; show_sent() says how.
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

struct arena;
struct history_row;
struct reader;

/* Read the row with that seq; *json and *key stay empty when it is not there any more. */
bool sent_read(struct reader *reader, struct arena *mem, struct uuid execution, int64_t seq,
               struct str *json, struct str *key, struct err *err) MUST_USE;

/* Fill sent_json and sent_key of a stored row that has no input of its own. */
bool sent_fill(struct reader *reader, struct arena *mem, struct uuid execution,
               struct history_row *row, struct err *err) MUST_USE;

#endif
