/*
 * inner.h - struct broker, shared by its thread (broker.c) and what it publishes
 * (publish.c). Internal to src/effect/broker.
 *
 *     taken --published--> unconfirmed --acked, or returned and acked--> answered
 *       |                       |
 *       +-- no such exchange    +-- the channel or the connection was closed --> unsent
 */
#ifndef PAWL_EFFECT_BROKER_INNER_H
#define PAWL_EFFECT_BROKER_INNER_H

#include "base/map.h"
#include "effect/broker/broker.h"
#include "effect/broker/link.h"

#include <stdatomic.h>

enum {
    CHANNEL_PUBLISH = 1, /* in confirm mode */
    CHANNEL_ASK = 2,     /* whether an exchange is there: it may be closed for asking */
    WINDOW = 4096,       /* messages that may be unconfirmed; a power of two */
};

struct broker {
    struct broker_options options;
    struct mailbox inbox;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_closing;
    struct broker_wire link;

    /* Messages that are published and not confirmed: tag t is at (t % WINDOW); NULL: it is. */
    struct broker_message *unconfirmed[WINDOW];
    uint64_t first_tag, next_tag; /* first_tag <= tag < next_tag are unconfirmed, or NULL */

    struct arena mem;  /* of `known` */
    struct map known;  /* exchanges that are there, by name; the value is not NULL */
    bool is_returning; /* the header of a returned message is next */
    char return_reason[LINK_REASON_MAX];
    bool is_channel_closed;
    bool is_link_lost;
    char lost_reason[LINK_REASON_MAX];
    unsigned careful; /* so many messages are published one at a time, to know who is refused */

    pthread_mutex_t lock; /* for `view` */
    struct broker_view view;
    atomic_int state; /* enum broker_state, of `view` */
    int change_fd;
};

/* --- publish.c --- */

/* Both channels, and the exchange of events. False: the connection is of no use. */
bool publish_begin(struct broker *b);

/* Publish one; it is answered now if that is impossible. */
void publish_one(struct broker *b, struct broker_message *m);

/* What has come on the connection: confirmations, returned messages, what is closed or blocked. */
void publish_read(struct broker *b);

/* Whether one more may be published now. */
bool publish_has_room(const struct broker *b);

/* The connection or the channel is gone: nobody knows what became of those that are unconfirmed. */
void publish_give_up(struct broker *b);

/* --- broker.c --- */

/* What came of it; the thread has it no more. `reason` is copied. */
void broker_answer(struct broker *b, struct broker_message *m, enum broker_outcome outcome,
                   const char *reason);

void broker_set_state(struct broker *b, enum broker_state state, const char *reason);

#endif
