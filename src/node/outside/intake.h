/*
 * intake.h - starts and signals that come through the queue pawl.signals.
 * Internal to src/node.
 *
 *     delivered --read--> asked of the node --durable--> acknowledged
 *         |                    |
 *         |                    +-- the node or the store cannot now --> rests, then again
 *         +-- refused, now or by the node --> copied to pawl.signals.dlq, with the
 *                                             reason --confirmed--> acknowledged
 *
 * message_id and the digest of the body become durable with what the message
 * asks for, so one that comes again within RECEIVED_KEPT_US changes nothing.
 * Nothing is acknowledged before that; what rests is bounded by the prefetch.
 *
 * why: decision 0561
 */
#ifndef PAWL_NODE_OUTSIDE_INTAKE_H
#define PAWL_NODE_OUTSIDE_INTAKE_H

#include "base/err.h"
#include "base/mailbox.h"

#define INTAKE_QUEUE "pawl.signals"
#define INTAKE_DEAD_QUEUE "pawl.signals.dlq"

struct broker_delivery;
struct consumer;
struct node;
struct node_broker;

struct intake {
    struct consumer *consumer; /* or NULL: there is none */
    struct mailbox deliveries;
    bool has_deliveries;
    struct broker_delivery *resting, *last_resting; /* tried again by chore_intake */
    int64_t taken, refused, repeated;
};

bool intake_open(struct node *n, struct err *err) MUST_USE;
void intake_close(struct node *n);

/* Fill in what concerns the queue. */
void intake_figures(const struct node *n, struct node_broker *out);

#endif
