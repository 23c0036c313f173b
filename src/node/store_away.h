/* store_away.h - how long the store has not answered; see node.h. Internal to src/node. */
#ifndef PAWL_NODE_SILENT_H
#define PAWL_NODE_SILENT_H

#include "node/request.h"

/* By the monotonic clock. */
struct store_away {
    int64_t batch_since_us; /* when a batch came back last */
    int64_t read_since_us;  /* when a read of the engine came back, or the first one was sent */
    size_t reads;           /* of the engine, in flight */
};

void store_away_asked(struct node *n, const struct node_read *read);

/* NULL: a batch. */
void store_away_answered(struct node *n, const struct node_read *read);

#endif
