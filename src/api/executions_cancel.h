/* executions_cancel.h - what cancelling one execution and many share. */
#ifndef PAWL_API_EXECUTIONS_CANCEL_H
#define PAWL_API_EXECUTIONS_CANCEL_H

#include "api/call.h"

/* The fields that a request may have; absent when it has not. */
struct cancel_fields {
    struct value reason, compensate;
};

/*
 * Fill a request of kind NODE_CANCEL, and say for the audit log what it does;
 * `id` is the execution as text and lives in r->mem.
 */
void cancel_fill(struct call *c, struct node_request *r, const struct cancel_fields *fields,
                 struct str id);

#endif
