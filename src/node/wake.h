/*
 * wake.h - when executions are due. Internal to src/node.
 *
 * The column wake_at is the truth. The heap holds what is due up to
 * filled_until_us, read from the store a page at a time, and what commits of
 * this node have set since. A timer may be of an older state: waking an
 * execution that is not due does nothing, and sets the timer anew. Now and then
 * the store is asked for what is overdue and should have been in the heap, and
 * for executions that have rows in execution_events: these are due, too. Where
 * nodes share a store, each one does this for the shards that it owns.
 */
#ifndef PAWL_NODE_WAKE_H
#define PAWL_NODE_WAKE_H

#include "node/chore/chore.h"
#include "node/timers.h"
#include "store/change_retention.h"

struct execution;

#define TIMER_WINDOW_US INT64_C(60000000) /* the heap holds what is due within this */
#define RETRY_SOON_US INT64_C(1000000)    /* what failed for a reason that may pass */
#define RETRY_LATER_US INT64_C(60000000)  /* what failed for a reason that will hardly pass */

/* Times are wall time unless they say otherwise. */
struct wake {
    struct timers timers; /* of executions: all that are due up to filled_until_us */
    size_t count;         /* works that are wakes */

    struct chore refill; /* reads the next page of timers */
    int64_t filled_until_us;
    struct uuid filled_id;
    int64_t filling_until_us; /* of the read in flight */
    int64_t refill_pause_us;  /* monotonic; after a read that failed */
    bool is_taking;           /* what others had in hand is being read: nobody's queue has it */

    struct chore overdue;     /* reads what is overdue and unknown */
    int64_t overdue_after_us; /* with the id: where the last page ended */
    struct uuid overdue_after_id;

    struct chore events;         /* reads who has rows in execution_events */
    int64_t events_after;        /* the row of the execution that the last page ended with */
    int64_t events_pages;        /* that were read since the first */
    int64_t events_rest_us;      /* how long `events` rests when `orphans` are gone */
    struct notice_purge orphans; /* rows of execution_events of no execution */
};

void wake(struct node *n, struct uuid id); /* give it a work_wake */

/* Its durable state is `x`: set or remove its timer. */
void wake_arm(struct node *n, const struct execution *x);

void wake_later(struct node *n, struct uuid id, int64_t delay_us);
bool wake_may_fire(const struct node *n);
bool wake_fire(struct node *n);                        /* what is due; whether anything was */
int64_t wake_in_us(const struct node *n);              /* until wake_fire() has something to do */
void wake_with_events(struct node *n, struct uuid id); /* it has a row in execution_events */

/* The same, unless another node owns it: that one is notified. */
void wake_or_notify(struct node *n, struct uuid id);
void wake_events_or_notify(struct node *n, struct uuid id);

/* Shards were added to those of this node: what is due in them is not in the heap. */
void wake_read_again(struct node *n);

#endif
