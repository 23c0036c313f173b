/* batch.h - group commit: works become members of batches. Internal to src/node. */
#ifndef PAWL_NODE_BATCH_H
#define PAWL_NODE_BATCH_H

#include "node/work.h"
#include "store/store.h"

enum {
    BATCH_MEMBERS_MAX = 1024,
    OUTSTANDING_MAX = 2,
    DELETIONS_MAX = 4, /* in a batch, on a full volume: they share what the reserve has */
    TRIES_MAX = 5,     /* of one event, when its commit is refused */
    BUFFERED_TRIES_MAX =
        100,               /* ... because others take and buffer signals: each time one gets on */
    START_TRIES_MAX = 100, /* ... because others have the key of what it starts: the same */
};

struct batches {
    struct batch *current; /* being built; never NULL */
    struct batch *sent[OUTSTANDING_MAX];
    int64_t sent_at_us[OUTSTANDING_MAX]; /* monotonic */
    unsigned outstanding;
    int64_t number;         /* of the last one that was handed over */
    int64_t seen;           /* ... and of the last one that came back */
    int64_t pause_until_us; /* monotonic; the store refused: nothing is advanced or sent before */
    int64_t pause_us;       /* the last one */
    struct batch *spare[4];
    unsigned spare_count;
    int64_t refused, members_applied, members_refused;
    bool no_space; /* the volume is full, until chore/space.c has found that it is not */
    /* What the log says of batches that are refused: the first, then a sum now and then. */
    int64_t told_at_us, refused_at_us; /* monotonic; 0 = nothing is to be told */
    int64_t untold;                    /* refused since then */
};

void batch_init(struct node *n);
/* Who gets the events that a member may publish; in `mem`, that of the batch which it is in. */
void batch_route(struct node *n, struct arena *mem, struct work *w);

void batch_add(struct node *n, struct work *w); /* its change becomes a member */
bool batch_is_due(const struct node *n);        /* whether batch_submit() would hand it over */
int64_t batch_pause_us(const struct node *n);   /* so long nothing is handed over; 0: it may be */
bool batch_is_full(const struct node *n);       /* whether the next member is for the next one */
struct batch *batch_make(struct node *n);       /* an empty one */
void batch_recycle(struct node *n, struct batch *b);
void batch_submit(struct node *n);
void batch_done(struct node *n, struct batch *batch);
void batches_free(struct node *n);

#endif
