/* executions_again.h - a new start with what an execution was started with, for one or for many. */
#ifndef PAWL_API_EXECUTIONS_AGAIN_H
#define PAWL_API_EXECUTIONS_AGAIN_H

#include "api/call.h"

/* What the new one is started with. */
struct again {
    struct str code, key;        /* the key is empty while another has it */
    struct value input, webhook; /* the latter a map, or absent */
    struct str record;           /* or empty */
};

/*
 * On a reader thread: what the execution was started with, in `mem`.
 * ERR_NOT_FOUND, ERR_FORBIDDEN: not for the caller; ERR_CONFLICT: it has not ended.
 */
bool again_read(const struct call *c, struct arena *mem, struct reader *reader, struct uuid id,
                struct again *out, struct err *err) MUST_USE;

/*
 * Fill a request of kind NODE_START, and say for the audit log what it does;
 * `of` as text lives in r->mem. `version` 0: the published one.
 */
void again_fill(struct call *c, struct node_request *r, const struct again *a, struct uuid of,
                struct str of_text, int64_t version);

/* Answers a request of kind NODE_START: see POST /executions. */
void executions_started(struct node_request *r);

#endif
