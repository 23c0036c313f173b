/*
 * job_queue.h - those who wait for jobs, by type and by deadline. Internal to jobs.c,
 * which decides who asks, claims and answers; see jobs.h.
 *
 *     poll_wait(): in the queues of its types and in the wheel --notified, or its time is up--> poll_leave()
 */
#ifndef PAWL_NODE_OUTSIDE_JOB_QUEUE_H
#define PAWL_NODE_OUTSIDE_JOB_QUEUE_H

#include "node/inner.h"
#include "node/outside/jobs.h"

#define WHEEL_TICK_US INT64_C(50000)

/* Those who wait for jobs of a type, in the order in which they came. */
struct job_queue {
    struct str name; /* "organisation\ntype" */
    TAILQ_HEAD(, poll_link) waiting;
    size_t users;     /* who have it in their links, waiting or not */
    bool may_have;    /* jobs may be there: the store is to be asked */
    size_t covered;   /* so many more jobs are for those who were notified */
    bool is_noted;    /* that it was asked for is stored, ... */
    int64_t noted_us; /* ... since then, by the monotonic clock */
};

/* The queue of a type or a pattern; it is made when there is none. Of one that was not known, nobody knows whether there are jobs. */
struct job_queue *job_queue_get(struct node *n, struct str org_id, struct str type);

/* All of them are freed. */
void job_queues_free(struct node *n);

/* There is one more job of the type: who has waited longest asks, unless enough do already. */
void job_queue_notify(struct node *n, struct job_queue *q);

/* The same for those who ask for the type, by its name or by a pattern that it fits. */
void job_type_notify(struct node *n, struct str org_id, struct str type);

/* It waits in the queues of its types and in the wheel; it leaves them; it asks with the next claim. */
void poll_wait(struct node *n, struct node_poll *p);
void poll_leave(struct node *n, struct node_poll *p);
void poll_ask(struct node *n, struct node_poll *p);

/* The tick of the wheel that it is now. */
int64_t wheel_now(const struct node *n);

#endif
