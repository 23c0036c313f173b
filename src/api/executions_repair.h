/* executions_repair.h - what retries, skips and migrations share, of one execution or of many. */
#ifndef PAWL_API_EXECUTIONS_REPAIR_H
#define PAWL_API_EXECUTIONS_REPAIR_H

#include "api/call.h"

/* The fields that a request may have; absent when it has not. */
struct repair_fields {
    struct value from, version, input, output;
};

/* Whether they can be meant; else the call is refused. */
bool repair_check(struct call *c, const struct repair_fields *fields) MUST_USE;

/*
 * Fill a request of kind NODE_RETRY, NODE_SKIP or NODE_MIGRATE, and say for the
 * audit log what it does; `id` is the execution as text and lives in r->mem.
 */
void repair_fill(struct call *c, struct node_request *r, const struct repair_fields *fields,
                 struct str id);

#endif
