/*
 * chore.h - what a node does by the clock: a table of chores. Internal to src/node.
 *
 *     resting --next_us--> run --chore_rest()--> resting
 *                           |
 *                           +--a read or a request--> busy --chore_rest()--> resting
 *
 * A chore is a struct that begins with struct chore, a struct chore_kind with
 * its functions, and a row of chores.def: that opens, runs and closes it, and
 * the loop sleeps no longer than until the next one is due.
 *
 * why: decision 0348
 */
#ifndef PAWL_NODE_CHORE_CHORE_H
#define PAWL_NODE_CHORE_CHORE_H

#include "node/request.h"

struct chore;

enum chore_id {
#define CHORE(symbol, kind, phase, ...) CHORE_##symbol,
#include "node/chore/chores.def"
#undef CHORE
    CHORE_COUNT
};

/* What must hold before it is run. */
enum chore_needs {
    CHORE_NEEDS_RUNNING = 1,  /* the node is not stopping */
    CHORE_NEEDS_RECOVERY = 2, /* all that was due at the start is known */
    CHORE_NEEDS_CONFIG = 4,   /* $.config is known */
    CHORE_MOVES_NOTHING = 8,  /* it is done on a paused node too */
    CHORE_IS_DUTY = 16,       /* of the nodes that share a store one does it: cluster_has_duty() */
};

struct chore_kind {
    unsigned needs; /* of enum chore_needs */

    /* Of the struct that begins with its struct chore; 0: it is a member of a part of the node. */
    size_t size;

    /* It is zeroed but for its struct chore. What fails leaves nothing open. NULL: nothing is to be done. */
    bool (*open)(struct chore *c, struct err *err);

    /* It is due and not busy. */
    void (*run)(struct chore *c);

    /* Until it is due, if it is not busy; INT64_MAX = not by time. NULL: next_us alone says it. */
    int64_t (*in_us)(const struct chore *c);

    /* NULL: nothing is to be done beside freeing `mem`. */
    void (*close)(struct chore *c);
};

/* The first member of a chore. */
struct chore {
    const struct chore_kind *kind;
    struct node *node;
    enum chore_id id;
    bool is_busy;     /* a read or a request of it is in flight: it is not run */
    int64_t next_us;  /* monotonic; when it is due */
    struct arena mem; /* of what is in flight; chore_rest() leaves it as it is */
    struct node_request request;
};

/* Which part of a pass it belongs to: what it asks for is in the batch of this pass, or the next. */
enum chore_phase {
    CHORE_BEFORE_WORKS,
    CHORE_AFTER_WORKS,
};

bool chores_open(struct node *n, struct err *err) MUST_USE;
void chores_run(struct node *n, enum chore_phase phase);
int64_t chores_in_us(const struct node *n); /* until one of them is due */
void chores_close(struct node *n);

/* It is not busy any more, and due in so many microseconds. */
void chore_rest(struct chore *c, int64_t us);

/* It is due in so many microseconds, unless that is sooner already. */
void chore_hurry(struct chore *c, int64_t us);

/* Until next_us has come; 0 when it has. */
int64_t chore_left_us(const struct chore *c);

/*
 * Ask for a change, whose time is now; `done` is called with request->owner
 * being the chore, which is busy until it rests. False: refused at once.
 */
bool chore_change(struct chore *c, struct change *change, void (*done)(struct node_request *r),
                  struct err *err) MUST_USE;

#endif
