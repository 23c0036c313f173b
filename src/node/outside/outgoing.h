/*
 * outgoing.h - what commits ask others for, on its way out. Internal to src/node.
 *
 * Each kind of engine/commit/ask.def has its functions here, outgoing_<kind>, in a
 * file of its own; the loop knows no kinds.
 *
 *     commit --reserve--> member of a batch --durable--> send
 *                               |
 *                               +--not applied--> release
 */
#ifndef PAWL_NODE_OUTSIDE_OUTGOING_H
#define PAWL_NODE_OUTSIDE_OUTGOING_H

struct ask;
struct commit;

struct node;

struct outgoing {
    /* Its commit is about to become a member; or did not become true. NULL: nothing is reserved. */
    void (*reserve)(struct node *n, const struct commit *commit, struct ask *a);
    void (*release)(struct node *n, const struct commit *commit, const struct ask *a);

    /* Its commit is durable. */
    void (*send)(struct node *n, const struct commit *commit, const struct ask *a);
};

extern const struct outgoing outgoing_call, outgoing_job;

/* The same for all that a commit asks for. */
void outgoing_reserve(struct node *n, struct commit *commit);
void outgoing_release(struct node *n, const struct commit *commit);
void outgoing_send(struct node *n, const struct commit *commit);

#endif
