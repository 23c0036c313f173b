/* change_node.h - what operators ask of a node, and what the end of one leads to; see peers.h. */
#ifndef PAWL_STORE_CHANGE_NODE_H
#define PAWL_STORE_CHANGE_NODE_H

#include "store/change.h"
#include "store/peers.h"

/* Let a node stop: it finds out with its next beat. Refused with ERR_NOT_FOUND when it does not live. */
struct node_drain {
    struct change change; /* .apply = node_drain_apply */
    struct str node;
};

change_apply_fn node_drain_apply;

/*
 * A node has gone without a word, and what it worked on is not known: what was ready in its shards
 * gets one crash more, page by page, and who has as many as it may is parked. Never refused.
 */
struct takeover_count {
    struct change change; /* .apply = takeover_count_apply */
    struct shard_set shards;
    int64_t until_us; /* what was due then is ready */
    int64_t after_us, after_row;
    int64_t looked_at, counted; /* out; fewer than TAKEOVER_PAGE: there is no more */
    int64_t last_us, last_row;  /* out */
};

enum { TAKEOVER_PAGE = 1000 };

change_apply_fn takeover_count_apply;

#endif
