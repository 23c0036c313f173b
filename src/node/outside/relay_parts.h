/*
 * relay_parts.h - what the files of the relay share: relay.c reads messages and
 * sends them lane by lane, relay_settle.c records what became of them.
 *
 * why: decisions 0282, 0396
 */
#ifndef PAWL_NODE_OUTSIDE_RELAY_PARTS_H
#define PAWL_NODE_OUTSIDE_RELAY_PARTS_H

#include "base/map.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "store/change_outbox.h"

#define RELAY_TROUBLE_US INT64_C(1000000) /* the pause after something that failed */

struct lane {
    struct str name;
    struct arena mem;
    bool is_due; /* something may be due that was not read yet */
    bool is_reading;
    int64_t next_at_us;     /* wall: when the next message is due; 0 = none that is known */
    unsigned in_flight;     /* messages that are not settled */
    int64_t pause_until_us; /* monotonic: a read failed, or another node has it */
    int64_t lease_until_us; /* monotonic; 0 = none */
    bool is_claiming;
    struct relayed *leaving; /* settled while a page was read, which may still hold them */
};

struct relay {
    struct chore chore; /* first: see chore.h */
    struct map lanes;   /* of struct lane, by name */
    struct map known;   /* of struct relayed, by row: what is not settled */
    size_t in_flight, sent, bytes;
    bool is_looking;
    int64_t next_look_us; /* monotonic */

    struct relayed *answered, *last_answered;
    bool is_settling;
    int64_t settle_pause_us; /* monotonic */
    struct relayed *settled; /* those of the change in flight */
    struct arena settle_mem;
    struct outbox_settle settle;
    struct node_request settle_request;

    bool is_claiming;
    struct arena claim_mem;
    struct outbox_claim claim;
    struct node_request claim_request;
};

struct relay *relay_of(const struct node *n);

/* The relay has something to do now. */
void relay_wake(struct relay *r);

int64_t relay_mono_us(const struct relay *r);

/* It is over, and nothing more is to be recorded. */
void relay_leave(struct relay *r, struct relayed *m);

/* Record what became of the messages that were answered. */
void relay_settle(struct relay *r);

#endif
