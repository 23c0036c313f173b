/*
 * cluster.h - this node among those that share its store. Internal to src/node.
 *
 * A node owns shards of the executions (store/peers.h). The owner fires timers, reads what is due
 * and what has events. Any node may advance any execution, for `row_version` decides what becomes
 * true: whoever gets a request makes one turn, and what is due after that is the owner's, who is
 * notified. A node that shares its store with nobody owns all of them, and none of this costs it
 * anything.
 *
 * What others are to hear is gathered in a pass and leaves at its end, in one notice. What is
 * heard wakes the chore that would have found it by looking.
 *
 * why: decisions 0461, 0462, 0463, 0498, 0552, 0553
 */
#ifndef PAWL_NODE_CLUSTER_CLUSTER_H
#define PAWL_NODE_CLUSTER_CLUSTER_H

#include "base/map.h"
#include "base/time/clock.h"
#include "node/chore/chore.h"
#include "node/node.h"
#include "store/change_node.h"
#include "store/peers.h"

/* The wall clock of nodes that share a store is the database's: the machine's, less an offset. */
struct shared_clock {
    struct clock clock; /* first */
    const struct clock *machine;
    _Atomic int64_t offset_us;
};

struct cluster {
    struct peers *peers; /* NULL: the store is this node's alone */
    struct shared_clock clock;
    struct shard_set owned;

    /* Shards that are this node's, and those of them that it does not own before crashes are counted. */
    struct shard_set granted, uncounted;
    struct chore takeover;
    struct takeover_count count; /* of some of them */
    bool is_counting;            /* it is in the middle of `count` */

    int64_t changes;        /* of `owned` */
    struct peer_notice out; /* of this pass */

    /* Ids of executions whose end others wait for, in two generations of a minute each. */
    struct arena awaited_mem[2];
    struct map awaited[2];
    int64_t awaited_until_us; /* monotonic: then the older generation is forgotten */
    int64_t all_until_us;     /* monotonic: until then somebody waits for more than fitted */

    /* Shards in which others have committed what is due. */
    struct chore look;
    struct shard_set to_look, looking;
    int64_t look_after_us;
    struct uuid look_after_id;

    /* Calls of nodes that are gone. */
    struct chore lost_calls;
    bool wants_lost_calls; /* a node has gone, or shards have come: read from the beginning */
    int64_t lost_after_us;
    struct uuid lost_after_id;

    void (*access_changed)(void *context); /* or NULL */
    void *access_context;
};

/* `owned` of the loop is what was granted to it, but for what is to be counted. */
void cluster_own_counted(struct node *n);

void cluster_init(struct node *n);
bool cluster_open(struct node *n, struct err *err) MUST_USE;
void cluster_close(struct node *n);

bool cluster_owns(const struct node *n, struct uuid id);

/* Whether calls may leave and timers fire: other nodes do not take this one for dead. */
bool cluster_may_act(const struct node *n);

/* What attempts of calls name, and which of other nodes are nobody's any more. */
int64_t cluster_epoch(const struct node *n); /* 0: there are no others */
bool cluster_epoch_is_over(const struct node *n, int64_t epoch);

/* Whether this node does what only one of all is to do: the owner of a shard does, so one who lives. */
bool cluster_has_duty(const struct node *n, enum chore_id duty);

/* For a start: in a shard that this node owns, if it owns any. */
struct uuid cluster_new_id(struct node *n);

/* --- what others are to hear --- */

/* Something of it is due within a minute, or it has events, and this node does not own it. */
void cluster_note_due(struct node *n, struct uuid id);

/* It has ended, or waits for an operator. */
void cluster_note_ended(struct node *n, struct uuid id);

/* Somebody waits here for the end of an execution that another node owns. */
void cluster_note_awaited(struct node *n, struct uuid id);

void cluster_note_job(struct node *n, struct str org_id, struct str type);
void cluster_note_definitions(struct node *n);

/* The end of a pass: all of it leaves. */
void cluster_notify(struct node *n);

/* Nodes have gone, or shards have come: calls that nobody will answer are to be ended. */
void cluster_seek_lost_calls(struct node *n);

/* Its part of node_stats(). */
void cluster_stats(const struct node *n, struct node_stats *out);

/* The node stops: others get its shards. */
void cluster_drain(struct node *n);

#endif
