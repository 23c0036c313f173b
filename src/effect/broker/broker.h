/*
 * broker.h - messages to RabbitMQ, published by a thread of their own.
 *
 *     loop --broker_send()--> thread --basic.publish--> RabbitMQ
 *          <--mailbox-------- thread <--basic.ack-----
 *
 * Every message that was taken comes back exactly once, unless broker_close()
 * comes first: confirmed, unroutable, refused; or unsent, because the broker
 * went away first, and then nobody knows whether it has arrived. The connection
 * is made again by itself, with growing pauses. RabbitMQ stops reading from who
 * publishes when it is short of memory or disk: the thread waits for that, and
 * nothing else does.
 *
 * why: decision 0560
 */
#ifndef PAWL_EFFECT_BROKER_BROKER_H
#define PAWL_EFFECT_BROKER_BROKER_H

#include "base/arena.h"
#include "base/mailbox.h"

/* Messages that are in flight at once. */
enum { BROKER_MESSAGES_MAX = 16384 };

/* The exchange of events, which Pawl declares: durable, of type topic. */
#define BROKER_EVENTS_EXCHANGE "pawl.events"

struct node;

enum broker_outcome {
    BROKER_CONFIRMED,
    BROKER_UNROUTABLE, /* no queue is bound that would take it, or there is no such exchange */
    BROKER_REFUSED,    /* the broker says no: another attempt may help */
    BROKER_UNSENT,     /* the connection was lost first: it is no attempt */
};

/* One message. Its texts are in its own memory; broker_message_free(). */
struct broker_message {
    struct arena mem;
    /* {exchange, routing_key, body, headers, type}, as message.publish writes it; or empty: */
    struct str spec_json;
    struct str exchange, routing_key, body, headers_json; /* in place of it */
    struct str id;                                        /* becomes message_id */
    struct str type;                                      /* the name of an event; or empty */
    bool is_opaque;                                       /* the body may be any bytes */
    /* The loop's own: whose it is, and who is told, if it is not the outbox. */
    void *owner;
    void (*answered)(struct node *n, struct broker_message *m);

    /* What came of it. */
    enum broker_outcome outcome;
    struct str reason; /* unless it was confirmed; in `mem` */
    bool is_returned;  /* the thread's own: it has come back, and will be confirmed yet */
};

enum broker_state {
    BROKER_AWAY,    /* there is no connection */
    BROKER_UP,      /* messages leave */
    BROKER_BLOCKED, /* it is short of memory or disk and takes nothing */
};

struct broker_view {
    enum broker_state state;
    char reason[256]; /* why it is away or blocked; or empty */
    int64_t confirmed, unroutable, refused, unsent, connects;
};

struct broker_options {
    struct str url;          /* amqp:// or amqps://, checked by broker_url_mistake() */
    struct mailbox *answers; /* where messages come back: room for BROKER_MESSAGES_MAX */
};

struct broker;

/* What is wrong with the URL; NULL: nothing. It names no part of it: a password may be in it. */
const char *broker_url_mistake(struct str url) MUST_USE;

struct broker *broker_open(const struct broker_options *options, struct err *err) MUST_USE;

/* End the thread, in bounded time. Messages that are in flight are given up, and nobody is notified. */
void broker_close(struct broker *b);

/* A message with its memory, to be filled. */
struct broker_message *broker_message_new(void);
void broker_message_free(struct broker_message *m);

/* Publish it. There are never more than BROKER_MESSAGES_MAX in flight. */
void broker_send(struct broker *b, struct broker_message *m);

/* How it stands; any thread. */
void broker_look(struct broker *b, struct broker_view *out);
enum broker_state broker_state_now(struct broker *b);

/* Readable when the state has changed, until broker_take_change(). */
int broker_change_fd(const struct broker *b);
void broker_take_change(struct broker *b);

#endif
