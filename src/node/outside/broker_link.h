/*
 * broker_link.h - RabbitMQ as the node sees it: messages of the outbox that
 * leave through it. Internal to src/node.
 *
 * Without --broker there is none, and messages for it wait in the outbox. While it is
 * away or blocked nothing is read for its lanes either: a broker that cannot be
 * reached uses up no attempt of a message.
 *
 * why: decision 0560
 */
#ifndef PAWL_NODE_OUTSIDE_BROKER_LINK_H
#define PAWL_NODE_OUTSIDE_BROKER_LINK_H

#include "base/mailbox.h"
#include "effect/broker/broker.h"

struct node;
struct relayed;

/* The lane of events that go to the broker. */
#define BROKER_EVENTS_LANE "exchange:" BROKER_EVENTS_EXCHANGE

struct broker_link {
    struct broker *broker; /* or NULL: there is none */
    struct mailbox answers;
    bool has_answers;
};

bool broker_link_open(struct node *n, struct err *err) MUST_USE;
void broker_link_close(struct node *n);

/* Whether messages leave through it now. */
bool broker_link_is_up(const struct node *n);

/* Publish a message of the outbox; relay_published() follows. */
void broker_link_publish(struct node *n, struct relayed *m);

#endif
