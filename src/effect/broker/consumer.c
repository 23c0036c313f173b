/* consumer.c - see consumer.h. */
#include "effect/broker/consumer.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "effect/broker/link.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    CHANNEL = 1,
    ACKS_AT_ONCE = 256,
    CONSUMER_IDLE_MS = 1000,
    FIRST_PAUSE_MS = 200,
    LONGEST_PAUSE_MS = 10000,
};

struct consumer {
    struct consumer_options options;
    struct mailbox inbox; /* deliveries that are done with */
    pthread_t thread;
    atomic_bool is_closing;
    struct broker_wire link;
    _Atomic uint64_t connection; /* the number of the one there is; 0 = none */
    uint64_t connections;
    bool is_lost;
    char why[LINK_REASON_MAX];

    /* The message that is coming in. */
    struct broker_delivery *coming; /* or NULL */
    struct buf body;
    uint64_t left; /* bytes of the body that are yet to come */

    pthread_mutex_t lock; /* for `view` */
    struct consumer_view view;
};

struct broker_delivery *broker_delivery_new(void)
{
    struct broker_delivery *d = ALLOC_NEW(struct broker_delivery);

    arena_init_small(&d->mem, 1024);
    return d;
}

void broker_delivery_free(struct broker_delivery *d)
{
    arena_fini(&d->mem);
    free(d);
}

static void consumer_lost(struct consumer *c, const char *why)
{
    if (!c->is_lost)
        snprintf(c->why, sizeof(c->why), "%s", why);
    c->is_lost = true;
}

/* --- the queues --- */

/* Whether the question was answered; after a channel was closed it is open again. */
static bool asked(struct consumer *c, bool *is_closed)
{
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(c->link.state);
    amqp_channel_close_ok_t ok = {0};
    char why[LINK_REASON_MAX] = "";

    *is_closed = false;
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return true;
    if (!link_is_usable(reply, why)) {
        consumer_lost(c, why);
        return false;
    }
    snprintf(c->why, sizeof(c->why), "%s", why);
    *is_closed = true;
    if (amqp_send_method(c->link.state, CHANNEL, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok) !=
            AMQP_STATUS_OK ||
        amqp_channel_open(c->link.state, CHANNEL) == NULL)
        consumer_lost(c, why);
    return false;
}

/* One that was made otherwise, or that this user may not make, will do. */
static bool declare_queue(struct consumer *c, const char *name)
{
    amqp_table_entry_t entry = {
        .key = amqp_cstring_bytes("x-queue-type"),
        .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes("quorum")}};
    amqp_table_t arguments = {.num_entries = 1, .entries = &entry};
    bool is_closed;

    (void)amqp_queue_declare(c->link.state, CHANNEL, amqp_cstring_bytes(name), 0, 1, 0, 0,
                             arguments);
    if (asked(c, &is_closed))
        return true;
    if (!is_closed || c->is_lost)
        return false;
    (void)amqp_queue_declare(c->link.state, CHANNEL, amqp_cstring_bytes(name), 1, 1, 0, 0,
                             amqp_empty_table);
    return asked(c, &is_closed);
}

static bool begin(struct consumer *c)
{
    bool is_closed;

    c->is_lost = false;
    if (!link_open(&c->link, c->options.url, "pawl consumes", c->why))
        return false;
    (void)amqp_channel_open(c->link.state, CHANNEL);
    if (!asked(c, &is_closed) || !declare_queue(c, c->options.dead_queue) ||
        !declare_queue(c, c->options.queue))
        return false;
    (void)amqp_basic_qos(c->link.state, CHANNEL, 0, CONSUMER_PREFETCH, 0);
    if (!asked(c, &is_closed))
        return false;
    /* Numbered before the first message can come. */
    atomic_store(&c->connection, ++c->connections);
    (void)amqp_basic_consume(c->link.state, CHANNEL, amqp_cstring_bytes(c->options.queue),
                             amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    return asked(c, &is_closed);
}

/* --- what comes in --- */

static void drop_coming(struct consumer *c)
{
    if (c->coming != NULL)
        broker_delivery_free(c->coming);
    c->coming = NULL;
    buf_fini(&c->body);
    buf_init(&c->body);
}

static void came(struct consumer *c)
{
    struct broker_delivery *d = c->coming;

    d->body = str_copy(&d->mem, buf_view(&c->body));
    d->fresh = arena_mark(&d->mem);
    c->coming = NULL;
    buf_fini(&c->body);
    buf_init(&c->body);
    pthread_mutex_lock(&c->lock);
    c->view.delivered++;
    c->view.again += d->is_again;
    pthread_mutex_unlock(&c->lock);
    if (mailbox_put(c->options.deliveries, d))
        return;
    /* It comes again with the next connection. */
    broker_delivery_free(d);
    consumer_lost(c, "the node does not keep up");
}

static void take_deliver(struct consumer *c, const amqp_basic_deliver_t *deliver)
{
    drop_coming(c);
    c->coming = broker_delivery_new();
    c->coming->tag = deliver->delivery_tag;
    c->coming->connection = atomic_load(&c->connection);
    c->coming->is_again = deliver->redelivered != 0;
}

static void take_header(struct consumer *c, const amqp_frame_t *frame)
{
    const amqp_basic_properties_t *p = frame->payload.properties.decoded;
    struct broker_delivery *d = c->coming;

    if (d == NULL)
        return;
    d->has_id = (p->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0;
    if (d->has_id)
        d->id = str_copy(&d->mem, link_str(p->message_id));
    if ((p->_flags & AMQP_BASIC_TYPE_FLAG) != 0)
        d->type = str_copy(&d->mem, link_str(p->type));
    d->size = c->left = frame->payload.properties.body_size;
    if (c->left == 0)
        came(c);
}

/* Of a body that is too large only the beginning is kept. */
static void take_body(struct consumer *c, amqp_bytes_t part)
{
    size_t max = c->coming != NULL && c->coming->size > CONSUMER_KEPT_MAX ? CONSUMER_SHOWN_MAX
                                                                          : CONSUMER_KEPT_MAX;
    size_t room = c->body.len < max ? max - c->body.len : 0;

    if (c->coming == NULL)
        return;
    buf_add(&c->body, part.bytes, part.len < room ? part.len : room);
    c->left -= part.len < c->left ? part.len : c->left;
    if (c->left == 0)
        came(c);
}

static void consumer_take(struct consumer *c, const amqp_frame_t *frame)
{
    char why[LINK_REASON_MAX];

    if (frame->frame_type == AMQP_FRAME_HEADER) {
        take_header(c, frame);
    } else if (frame->frame_type == AMQP_FRAME_BODY) {
        take_body(c, frame->payload.body_fragment);
    } else if (frame->frame_type == AMQP_FRAME_METHOD) {
        const amqp_method_t *method = &frame->payload.method;

        if (method->id == AMQP_BASIC_DELIVER_METHOD) {
            take_deliver(c, method->decoded);
        } else if (method->id == AMQP_BASIC_CANCEL_METHOD) {
            consumer_lost(c, "the queue was deleted");
        } else if (method->id == AMQP_CHANNEL_CLOSE_METHOD) {
            link_text(((const amqp_channel_close_t *)method->decoded)->reply_text, why,
                      sizeof(why));
            consumer_lost(c, why);
        } else if (method->id == AMQP_CONNECTION_CLOSE_METHOD) {
            link_text(((const amqp_connection_close_t *)method->decoded)->reply_text, why,
                      sizeof(why));
            consumer_lost(c, why);
        }
    }
}

static void consumer_read(struct consumer *c)
{
    const struct timeval now = {0};
    amqp_frame_t frame;
    char why[LINK_REASON_MAX];

    while (!c->is_lost) {
        int status = amqp_simple_wait_frame_noblock(c->link.state, &frame, &now);

        if (status == AMQP_STATUS_TIMEOUT)
            return;
        if (status == AMQP_STATUS_OK) {
            consumer_take(c, &frame);
            amqp_maybe_release_buffers(c->link.state);
        } else {
            link_status(status, why);
            consumer_lost(c, why);
        }
    }
}

/* --- the thread --- */

bool consumer_has(struct consumer *c, const struct broker_delivery *d)
{
    return d->connection == atomic_load(&c->connection);
}

static void acknowledge(struct consumer *c)
{
    void *items[ACKS_AT_ONCE];
    size_t count = mailbox_take(&c->inbox, items, ACKS_AT_ONCE);
    char why[LINK_REASON_MAX];

    for (size_t i = 0; i < count; i++) {
        struct broker_delivery *d = items[i];

        if (!c->is_lost && consumer_has(c, d)) {
            int status = amqp_basic_ack(c->link.state, CHANNEL, d->tag, 0);

            if (status != AMQP_STATUS_OK) {
                link_status(status, why);
                consumer_lost(c, why);
            }
        }
        broker_delivery_free(d);
    }
}

static void wait_for_more(struct consumer *c, int fd, int timeout_ms)
{
    struct pollfd fds[] = {{.fd = mailbox_fd(&c->inbox), .events = POLLIN},
                           {.fd = fd, .events = POLLIN}};

    if (poll(fds, ARRAY_SIZE(fds), timeout_ms) < 0 && errno != EINTR)
        PANIC("poll failed");
}

static void show(struct consumer *c, bool is_up)
{
    bool was_up;

    pthread_mutex_lock(&c->lock);
    was_up = c->view.is_up || c->view.reason[0] == '\0';
    c->view.is_up = is_up;
    snprintf(c->view.reason, sizeof(c->view.reason), "%s", is_up ? "" : c->why);
    pthread_mutex_unlock(&c->lock);
    if (!is_up && was_up)
        log_write(LOG_WARN, "messages of a queue cannot be taken",
                  LOG_FIELDS(log_str("queue", str_of(c->options.queue)),
                             log_str("reason", str_of(c->why))));
    else if (is_up)
        log_write(LOG_INFO, "messages of a queue are taken",
                  LOG_FIELDS(log_str("queue", str_of(c->options.queue))));
}

static bool consumer_is_closing(struct consumer *c)
{
    return atomic_load(&c->is_closing);
}

static void consume(struct consumer *c)
{
    show(c, true);
    while (!c->is_lost && !consumer_is_closing(c)) {
        consumer_read(c);
        acknowledge(c);
        if (!c->is_lost && mailbox_depth(&c->inbox) == 0) {
            /* Acknowledging may have read what has come. */
            if (amqp_frames_enqueued(c->link.state) || amqp_data_in_buffer(c->link.state))
                continue;
            wait_for_more(c, amqp_get_sockfd(c->link.state), CONSUMER_IDLE_MS);
        }
    }
}

static void *run_consumer(void *context)
{
    struct consumer *c = context;
    int pause_ms = FIRST_PAUSE_MS;

    while (!consumer_is_closing(c)) {
        int64_t end_us;

        if (begin(c)) {
            pause_ms = FIRST_PAUSE_MS;
            consume(c);
        }
        atomic_store(&c->connection, 0);
        drop_coming(c);
        link_close(&c->link);
        if (!consumer_is_closing(c))
            show(c, false);
        end_us = clock_mono_us(&clock_system) + (int64_t)pause_ms * 1000;
        while (!consumer_is_closing(c) && clock_mono_us(&clock_system) < end_us) {
            acknowledge(c);
            wait_for_more(c, -1, pause_ms);
        }
        pause_ms = pause_ms * 2 < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS;
    }
    return NULL;
}

/* --- opening and closing --- */

static void consumer_free(struct consumer *c)
{
    void *items[ACKS_AT_ONCE];
    size_t count;

    while ((count = mailbox_take(&c->inbox, items, ACKS_AT_ONCE)) > 0)
        for (size_t i = 0; i < count; i++)
            broker_delivery_free(items[i]);
    drop_coming(c);
    mailbox_fini(&c->inbox);
    link_fini(&c->link);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

struct consumer *consumer_open(const struct consumer_options *options, struct err *err)
{
    struct consumer *c = ALLOC_NEW(struct consumer);

    c->options = *options;
    buf_init(&c->body);
    link_init(&c->link);
    pthread_mutex_init(&c->lock, NULL);
    if (mailbox_init(&c->inbox, 2 * CONSUMER_DELIVERIES_MAX, err)) {
        if (pthread_create(&c->thread, NULL, run_consumer, c) == 0)
            return c;
        err_set(err, ERR_IO, "cannot start a thread for messages of the broker");
    }
    consumer_free(c);
    return NULL;
}

void consumer_close(struct consumer *c)
{
    atomic_store(&c->is_closing, true);
    mailbox_close(&c->inbox);
    link_cut(&c->link);
    (void)pthread_join(c->thread, NULL);
    consumer_free(c);
}

/* --- for the loop --- */

void consumer_ack(struct consumer *c, struct broker_delivery *d)
{
    /* There are never so many: then it comes again. */
    if (!mailbox_put(&c->inbox, d))
        broker_delivery_free(d);
}

void consumer_look(struct consumer *c, struct consumer_view *out)
{
    pthread_mutex_lock(&c->lock);
    *out = c->view;
    pthread_mutex_unlock(&c->lock);
}
