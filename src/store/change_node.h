/* change_node.h - what operators ask of a node; see peers.h. */
#ifndef PAWL_STORE_CHANGE_NODE_H
#define PAWL_STORE_CHANGE_NODE_H

#include "store/change.h"

/* Let a node stop: it finds out with its next beat. Refused with ERR_NOT_FOUND when it does not live. */
struct node_drain {
    struct change change; /* .apply = node_drain_apply */
    struct str node;
};

change_apply_fn node_drain_apply;

#endif
