/*
 * lookup.h - a call that is answered from a reader thread.
 *
 *     lookup_start --> run (reader thread) --> then, or the answer (loop)
 */
#ifndef PAWL_API_LOOKUP_H
#define PAWL_API_LOOKUP_H

#include "api/call.h"

struct lookup;

/*
 * On a reader thread: read, and put the answer into q->answer; everything in
 * q->mem. Nothing of the loop may be touched. False fills *err; q->findings
 * become part of the refusal.
 */
typedef bool lookup_run_fn(struct lookup *q, struct reader *reader, struct err *err);

/* On the loop, after a run that succeeded: answers the call. */
typedef void lookup_then_fn(struct lookup *q);

enum { PAGE_BYTES_MAX = 4 << 20 }; /* of a list: it ends with the item that exceeds it */

struct lookup {
    struct node_read read;
    struct call *call;
    int socket; /* of the client */
    struct arena *mem;
    void *args; /* the handler's */
    lookup_run_fn *run;
    lookup_then_fn *then; /* NULL: 200 with q->answer */
    struct buf answer;
    const char *etag; /* or NULL */
    bool ok;
    struct err err;
    struct findings findings;
};

/* On the reader thread: whether the client has gone and nobody will read the answer. */
bool lookup_is_gone(void *lookup);

/* Run it; refuses the call when the readers are overloaded, or when `run` fails. */
void lookup_start(struct call *c, void *args, lookup_run_fn *run, lookup_then_fn *then);

/* The same for what may take seconds: other readers of clients are not held up by it. */
void lookup_start_long(struct call *c, void *args, lookup_run_fn *run, lookup_then_fn *then);

#endif
