/*
 * consumer.h - messages from a queue of RabbitMQ, taken by a thread of their own
 * on a connection of their own: one that publishes may be blocked.
 *
 *     queue --basic.deliver--> thread --mailbox--> loop
 *           <--basic.ack------ thread <--consumer_ack()-- when it is durable
 *
 * What is not acknowledged comes again, when the connection is lost at the latest.
 * So many messages are unacknowledged at a time as the options say, and none is kept
 * above CONSUMER_KEPT_MAX: there is no way to fill the memory.
 *
 * why: decision 0561
 */
#ifndef PAWL_EFFECT_BROKER_CONSUMER_H
#define PAWL_EFFECT_BROKER_CONSUMER_H

#include "base/arena.h"
#include "base/mailbox.h"

enum {
    CONSUMER_KEPT_MAX = 2 << 20,   /* bytes of a body; of a larger one ... */
    CONSUMER_SHOWN_MAX = 64 << 10, /* ... its beginning */
    CONSUMER_PREFETCH = 32,
    CONSUMER_DELIVERIES_MAX = 4096, /* that the loop may have, those of lost connections included */
};

/* A message as it came. Its texts are in its own memory, and may be any bytes. */
struct broker_delivery {
    struct arena mem;
    uint64_t tag, connection; /* the thread's own */
    bool has_id;
    struct str id;   /* message_id */
    struct str type; /* or empty */
    struct str body; /* cut when it is not `size` long */
    uint64_t size;
    bool is_again; /* it was delivered before */

    struct arena_mark fresh;      /* what the loop puts into `mem` lies behind it */
    struct broker_delivery *next; /* the loop's own */
};

struct consumer_options {
    struct str url;
    const char *queue, *dead_queue; /* both are declared: durable, of type quorum */
    struct mailbox *deliveries;     /* room for CONSUMER_DELIVERIES_MAX */
};

struct consumer_view {
    bool is_up;
    char reason[256]; /* why not; or empty */
    int64_t delivered, again;
};

struct consumer;

struct consumer *consumer_open(const struct consumer_options *options, struct err *err) MUST_USE;
void consumer_close(struct consumer *c); /* in bounded time; what is not acknowledged comes again */

/* It is done with: acknowledged, unless its connection is lost, and freed. */
void consumer_ack(struct consumer *c, struct broker_delivery *d);

/* Whether it can still be acknowledged; else it comes again, and this one is to be freed. */
bool consumer_has(struct consumer *c, const struct broker_delivery *d);

void consumer_look(struct consumer *c, struct consumer_view *out);

struct broker_delivery *broker_delivery_new(void);
void broker_delivery_free(struct broker_delivery *d);

#endif
