/*
 * waiters.h - those who wait for the end of an execution, or for a signal to be
 * taken. Internal to src/node.
 *
 * A waiter is answered by the commit that it waits for, once that is durable; so it is
 * by one that holds the execution: only an operator ends that.
 * One whose time is up, or who waits for what the node has read to have ended,
 * is answered with the state in memory, after the store has said that this
 * state is still true: another node may have changed it. While it
 * goes on, that answers those alone who waited before the store was asked. Where the store does
 * not say so within seconds, it is answered all the same, with what it was shown
 * before or 503: nobody waits without end (why: decision 0395). Where nodes share a
 * store, what is waited for is looked at every second: what another node has
 * changed is loaded again, and its waiters are answered with the end that it
 * has then.
 */
#ifndef PAWL_NODE_CLUSTER_WAITERS_H
#define PAWL_NODE_CLUSTER_WAITERS_H

#include "node/cache/entry.h"
#include "node/chore/chore.h"

struct waiters {
    size_t count;                /* requests that wait */
    TAILQ_HEAD(, entry) awaited; /* entries that have waiters, and some that had */
    struct chore deadlines;      /* answers those whose time is up */
    struct chore look;           /* asks what other nodes have changed */
};

void waiters_init(struct node *n);

/* The request waits at the entry for wait_us. */
void waiters_add(struct node *n, struct entry *e, struct node_request *r);

/* Nobody waits any longer for one that has ended, or that goes on only when an operator says so. */
bool waiters_are_over(const struct execution *x);

/* Another node says that it has ended: whoever waits here for that is answered. */
void waiters_heard(struct node *n, struct uuid id);

/* It stands so, and nobody waits any longer: answer all who wait. */
void waiters_answer(struct node *n, struct entry *e, const struct execution *x);

void waiters_refuse(struct node *n, struct entry *e, const struct err *err);

/* Its state was read: answer those who wait for its end, if it has ended. */
void waiters_loaded(struct node *n, struct entry *e);

void waiters_unlink(struct node *n, struct entry *e); /* it goes */

/* The node stops: nobody waits any longer. */
void waiters_drain(struct node *n);

#endif
