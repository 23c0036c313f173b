/*
 * poll.h - workers that ask a node for jobs; see outside/jobs.h.
 *
 * All of this is called on the loop; see node.h.
 */
#ifndef PAWL_NODE_POLL_H
#define PAWL_NODE_POLL_H

#include "store/read_job.h"

#include <sys/queue.h>

struct node;
struct job_queue;
struct node_poll;

/* Its place among those who wait for a type. */
struct poll_link {
    struct node_poll *poll;
    struct job_queue *queue;
    TAILQ_ENTRY(poll_link) by_arrival;
};

/*
 * Who asks for jobs, until there are some or its time is up. The caller fills
 * the upper part; `done` is called exactly once, and what poll.found holds
 * lives until it returns.
 */
struct node_poll {
    struct job_poll poll; /* org_id, worker, types, max, lease_us; found is the answer */
    int64_t wait_us;      /* 0 = what is there now */
    bool (*is_gone)(
        const struct node_poll *p); /* whether nobody would receive the answer; or NULL */
    void (*done)(struct node_poll *p);
    void *owner;
    struct arena *mem;

    bool ok;
    struct err err; /* !ok */

    /* the node's own */
    struct poll_link *links; /* for each type */
    struct node_poll *before, *next;
    struct str key;              /* names its Idempotency-Key; empty: it has none */
    struct node_poll *followers; /* that came under this key meanwhile, through `next` */
    int64_t deadline_us;
};

/* Endpoints have been registered or removed. */
void node_look_at_workers(struct node *n);

/* A job was given back: whoever waits for its type, here or at another node, is notified. */
void node_job_returned(struct node *n, struct str org_id, struct str type);

/* Take it. False: refused at once, and `done` will not be called. */
bool node_poll(struct node *n, struct node_poll *p, struct err *err) MUST_USE;

#endif
