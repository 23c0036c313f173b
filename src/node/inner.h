/*
 * inner.h - struct node: the parts of a node, each of which has its own header,
 * which those who use that part include. Internal to src/node.
 *
 * A work (work.h) is one thing that is to happen; an entry (entry.h) is an
 * execution in memory with the works that wait for it.
 *
 *     work --entry ready--> engine_advance --> member of the batch being built
 *          --submit--> outstanding (two at most) --done--> answered, or again
 */
#ifndef PAWL_NODE_INNER_H
#define PAWL_NODE_INNER_H

#define NODE_PAUSED_MESSAGE "the server was started with --paused: nothing moves here"

#include "base/arena.h"
#include "base/mailbox.h"
#include "base/uuid.h"
#include "node/node.h"

struct chore;
struct clock;
struct store;

#define PART(type, name) struct type;
#include "node/parts.def"
#undef PART

struct watch {
    node_ready_fn *ready;
    void *context;
    struct watch *next;
};

struct node {
    struct node_options options;
    const struct clock *clock;
    struct arena mem; /* of the process */
    struct uuid_gen ids;
    const struct cel_env *env;

    struct store *store;
    struct mailbox *done; /* where its batches and reads come back */
    struct mailbox own_done;

    /* the loop */
    int epoll_fd, stop_fd;
    struct watch *watches;
    node_before_sleep_fn *before_sleep;
    void *before_sleep_context;
    node_listener_fn *listener; /* or NULL */
    void *listener_context;
    volatile bool stop_requested;
    bool is_draining, is_recovered;
    int64_t draining_since_us; /* monotonic */

#define PART(type, name) struct type *name;
#include "node/parts.def"
#undef PART
    size_t pending;        /* requests in flight */
    struct chore **chores; /* by enum chore_id; NULL: this node does not do it */
};

#endif
