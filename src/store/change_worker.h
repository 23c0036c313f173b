/*
 * change_worker.h - endpoints that do the jobs of a namespace: the engine calls
 * them in place of waiting for a worker that claims.
 */
#ifndef PAWL_STORE_CHANGE_WORKER_H
#define PAWL_STORE_CHANGE_WORKER_H

#include "base/buf.h"
#include "store/change.h"

/* Register an endpoint, or change the one that the namespace has. Never refused. */
struct worker_put {
    struct change change; /* .apply = worker_put_apply */
    struct str name;      /* the namespace */
    struct str url;
    struct str credential; /* or empty */
};

change_apply_fn worker_put_apply;

/* Its jobs wait for workers again. Refused with ERR_NOT_FOUND. */
struct worker_delete {
    struct change change; /* .apply = worker_delete_apply */
    struct str name;
};

change_apply_fn worker_delete_apply;

struct stored_worker {
    struct str name, url, credential;
    int64_t created_at_us, updated_at_us;
};

struct stored_workers {
    VEC_OF(struct stored_worker);
};

/* Append it as the API shows it. */
void worker_show(struct buf *out, const struct stored_worker *w);

#endif
