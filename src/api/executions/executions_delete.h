/*
 * executions_delete.h - deleting one execution that has ended.
 *
 * A long history is deleted in parts, one change after the other. With the
 * first of them the execution is gone; should the server end meanwhile, the
 * rest goes with the next purge.
 */
#ifndef PAWL_API_EXECUTIONS_EXECUTIONS_DELETE_H
#define PAWL_API_EXECUTIONS_EXECUTIONS_DELETE_H

#include "api/call.h"
#include "store/change_retention.h"
#include "store/store.h"

struct deletion {
    struct call *call;
    struct arena *mem; /* must live until `done` */
    struct uuid id;
    struct str
        note; /* its open dead letters go with it, and this is why; or empty: they are in its way */
    struct idempotency idempotency; /* of the first change; key.len == 0: none */
    /* Called once: r->ok and r->err say how it ended. Must not answer before deletion_start(). */
    void (*done)(struct deletion *d, const struct node_request *r);
    void *owner;

    /* its own */
    struct execution_delete change;
    struct node_request request;
};

/* The caller has filled the upper part. */
void deletion_start(struct deletion *d);

#endif
