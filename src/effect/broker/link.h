/*
 * link.h - one connection to RabbitMQ, and what its library says. Internal to
 * src/effect/broker.
 *
 * Connecting and every question to the broker end in LINK_TIMEOUT_S. A thread
 * that owns a link waits in it; link_cut() of another one ends that.
 */
#ifndef PAWL_EFFECT_BROKER_LINK_H
#define PAWL_EFFECT_BROKER_LINK_H

#include "base/err.h"
#include "base/str.h"

#include <amqp.h>
#include <pthread.h>

enum {
    LINK_TIMEOUT_S = 4,
    LINK_HEARTBEAT_S = 10,
    LINK_FRAME_MAX = 131072, /* bytes */
    LINK_REASON_MAX = 256,
};

struct broker_wire {
    amqp_connection_state_t state; /* or NULL: there is no connection */
    pthread_mutex_t lock;          /* for what follows */
    int fd;                        /* -1: none that could be cut */
    bool is_cut;                   /* no connection is made any more */
};

void link_init(struct broker_wire *l);
void link_fini(struct broker_wire *l);

/* Connect and sign in, as `url` says. False: `why` says why not, without a password. */
bool link_open(struct broker_wire *l, struct str url, const char *name,
               char why[LINK_REASON_MAX]) MUST_USE;
void link_close(struct broker_wire *l);

/* From another thread: whoever waits in the link is woken, and no further one is made. */
void link_cut(struct broker_wire *l);

/* What a question has come to, if it has failed: why, and whether only the channel is closed. */
bool link_is_usable(amqp_rpc_reply_t reply, char why[LINK_REASON_MAX]);

/* The text of a code of the library. */
void link_status(int status, char why[LINK_REASON_MAX]);

/* A text of the protocol, made fit for a log: printable, and cut. */
void link_text(amqp_bytes_t text, char *out, size_t size);

static inline amqp_bytes_t link_bytes(struct str s)
{
    return (amqp_bytes_t){.len = s.len, .bytes = (void *)(uintptr_t)s.ptr};
}

static inline struct str link_str(amqp_bytes_t b)
{
    return str_from(b.bytes, b.len);
}

#endif
