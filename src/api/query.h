/*
 * query.h - a call that is answered from a reader thread.
 *
 *     query_start --> run (reader thread) --> then, or the answer (loop)
 */
#ifndef PAWL_API_QUERY_H
#define PAWL_API_QUERY_H

#include "api/call.h"

struct query;

/*
 * On a reader thread: read, and put the answer into q->answer; everything in
 * q->mem. Nothing of the loop may be touched. False fills *err; q->findings
 * become part of the refusal.
 */
typedef bool query_run_fn(struct query *q, struct reader *reader, struct err *err);

/* On the loop, after a run that succeeded: answers the call. */
typedef void query_then_fn(struct query *q);

enum { PAGE_BYTES_MAX = 4 << 20 }; /* of a list: it ends with the item that exceeds it */

struct query {
    struct node_read read;
    struct call *call;
    int socket; /* of the client */
    struct arena *mem;
    void *args; /* the handler's */
    query_run_fn *run;
    query_then_fn *then; /* NULL: 200 with q->answer */
    struct buf answer;
    const char *etag; /* or NULL */
    bool ok;
    struct err err;
    struct findings findings;
};

/* On the reader thread: whether the client has gone and nobody will read the answer. */
bool query_is_gone(void *query);

/* Run it; refuses the call when the readers are overloaded, or when `run` fails. */
void query_start(struct call *c, void *args, query_run_fn *run, query_then_fn *then);

/* The same for what may take seconds: other readers of clients are not held up by it. */
void query_start_long(struct call *c, void *args, query_run_fn *run, query_then_fn *then);

#endif
