/* deliver.h - which messages of the outbox this node can deliver; see node.h. */
#ifndef PAWL_NODE_DELIVER_H
#define PAWL_NODE_DELIVER_H

#include "engine/commit/message.h"

struct node;

/* Whether messages of this kind can be delivered, or wait until a server for them is configured. */
bool node_can_deliver(const struct node *n, enum message_kind kind);

#endif
