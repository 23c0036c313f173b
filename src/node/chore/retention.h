/* retention.h - executions that ended long ago are deleted. Internal to src/node. */
#ifndef PAWL_NODE_CHORE_RETENTION_H
#define PAWL_NODE_CHORE_RETENTION_H

#include <stdint.h>

struct node;

/* How many were deleted. */
int64_t retention_purged(const struct node *n);

/* How many the last sweep has left alone because a dead letter of them is open. */
int64_t retention_spared(const struct node *n);

#endif
