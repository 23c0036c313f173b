/* notify.h - the listener of a node is notified of commits; see node.h. Internal to src/node. */
#ifndef PAWL_NODE_NOTIFY_H
#define PAWL_NODE_NOTIFY_H

#include "node/cache/entry.h"

/* A commit has become durable. */
void notify_commit(struct node *n, struct entry *e, const struct commit *commit);

/* The durable state was read: a later commit is compared with it; the listener is not notified. */
void notify_known(struct entry *e, const struct execution *x);

/*
 * Whether the execution, which was `before`, has ended with this commit. One that
 * failed, goes on by an operator's retry and fails again at once has ended again.
 */
bool notify_is_end(const struct commit *commit, enum execution_status before);

#endif
