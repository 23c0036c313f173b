/* context.h - the context of an execution, now or as it was right after one of its steps. */
#ifndef PAWL_API_CONTEXT_H
#define PAWL_API_CONTEXT_H

#include "api/lookup.h"

/*
 * On a reader thread: the context as the caller may see it, without what is sensitive;
 * a JSON object in q->mem. `at` is the id of a row of history, or NULL: now.
 * ERR_NOT_FOUND: there is no such execution or row, or not for the caller.
 */
bool context_read(struct lookup *q, struct reader *reader, struct uuid id, const struct uuid *at,
                  struct str *out, struct err *err) MUST_USE;

#endif
