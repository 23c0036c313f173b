/*
 * change_outbox.h - what becomes of messages: they are delivered, tried again
 * later, parked; and which node delivers them.
 *
 *     pending --delivered--> gone
 *     pending --not delivered--> pending, later
 *     pending --given up--> parked, with a dead letter
 *     parked  --an operator: retry--> pending, out of order
 *     parked  --an operator: resolve--> gone, its dead letter closed
 *     pending --an operator: resolve--> gone
 *
 * Of one execution and destination the first that is pending goes first; those
 * behind it wait. One that was parked lets them pass and does not hold them up
 * again.
 */
#ifndef PAWL_STORE_CHANGE_OUTBOX_H
#define PAWL_STORE_CHANGE_OUTBOX_H

#include "store/change.h"

enum delivery_result {
    DELIVERY_DONE,   /* confirmed: the row goes */
    DELIVERY_LATER,  /* tried again at next_at_us */
    DELIVERY_PARKED, /* given up: a dead letter says why */
};

/* How an attempt to deliver a message went. */
struct delivery {
    int64_t row, execution;
    struct str destination, name;
    enum delivery_result result;
    bool is_late;     /* it was parked once: nothing waits for it */
    int64_t attempts; /* this one included */
    int64_t next_at_us;
    struct str error_json;   /* LATER, PARKED */
    struct uuid letter;      /* PARKED: the id of the dead letter */
    struct str payload_json; /* PARKED: of the dead letter */
};

/* Record how a number of attempts went. What is gone or parked by now stays as it is. */
struct outbox_settle {
    struct change change; /* .apply = outbox_settle_apply */
    const struct delivery *deliveries;
    size_t count;
};

change_apply_fn outbox_settle_apply;

/* A destination that a node wants to deliver to. */
struct lane_claim {
    struct str destination;
    bool is_granted; /* filled: nobody else has it until the lease ends */
};

/* Take or renew leases on destinations, by the clock of the database. */
struct outbox_claim {
    struct change change; /* .apply = outbox_claim_apply */
    struct str node;
    int64_t lease_us;
    struct lane_claim *lanes;
    size_t count;
};

change_apply_fn outbox_claim_apply;

/*
 * An operator wants a message tried now. One that is parked becomes pending
 * again with all its attempts, and its dead letter is closed as retried; one
 * that waits for its next attempt is due. Refused with ERR_NOT_FOUND when there
 * is none (any more), with ERR_CONFLICT when an earlier one must go first.
 */
struct outbox_retry {
    struct change change; /* .apply = outbox_retry_apply */
    struct uuid id;       /* of the message, or: */
    bool by_letter;       /* ... of its dead letter */
    struct str user_id;
};

change_apply_fn outbox_retry_apply;

/*
 * An operator gives a message up: it goes, and those behind it are due. The dead
 * letter of one that is parked is closed with the note. An attempt that is in
 * flight may still arrive. Refused with ERR_NOT_FOUND when there is none (any more).
 */
struct outbox_resolve {
    struct change change; /* .apply = outbox_resolve_apply */
    struct uuid id;
    struct str note, user_id;
};

change_apply_fn outbox_resolve_apply;

#endif
