/* broker.c - the thread that keeps a connection to RabbitMQ; see broker.h. */
#include "effect/broker/broker.h"

#include "base/alloc.h"
#include "base/log.h"
#include "effect/broker/inner.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    TAKEN_AT_ONCE = 256,
    IDLE_MS = 1000, /* heartbeats are sent and missed ones noticed at least this often */
    PAUSE_FIRST_MS = 200,
    PAUSE_MAX_MS = 10000,
};

/* --- what others see --- */

void broker_set_state(struct broker *b, enum broker_state state, const char *reason)
{
    uint64_t one = 1;

    pthread_mutex_lock(&b->lock);
    b->view.state = state;
    snprintf(b->view.reason, sizeof(b->view.reason), "%s", reason);
    if (state == BROKER_UP)
        b->view.reason[0] = '\0';
    pthread_mutex_unlock(&b->lock);
    atomic_store(&b->state, state);
    if (write(b->change_fd, &one, sizeof(one)) < 0) {
        /* The counter is full: it is readable already. */
    }
}

static void count(struct broker *b, enum broker_outcome outcome)
{
    pthread_mutex_lock(&b->lock);
    switch (outcome) {
    case BROKER_CONFIRMED:
        b->view.confirmed++;
        break;
    case BROKER_UNROUTABLE:
        b->view.unroutable++;
        break;
    case BROKER_REFUSED:
        b->view.refused++;
        break;
    case BROKER_UNSENT:
        b->view.unsent++;
        break;
    }
    pthread_mutex_unlock(&b->lock);
}

void broker_answer(struct broker *b, struct broker_message *m, enum broker_outcome outcome,
                   const char *reason)
{
    m->outcome = outcome;
    m->reason = reason[0] != '\0' ? str_copy(&m->mem, str_of(reason)) : STR_NONE;
    count(b, outcome);
    mailbox_put_reserved(b->options.answers, m);
}

void broker_look(struct broker *b, struct broker_view *out)
{
    pthread_mutex_lock(&b->lock);
    *out = b->view;
    pthread_mutex_unlock(&b->lock);
}

enum broker_state broker_state_now(struct broker *b)
{
    return (enum broker_state)atomic_load(&b->state);
}

int broker_change_fd(const struct broker *b)
{
    return b->change_fd;
}

void broker_take_change(struct broker *b)
{
    uint64_t changes;

    if (read(b->change_fd, &changes, sizeof(changes)) < 0) {
        /* Nothing has changed. */
    }
}

/* --- the thread --- */

static bool is_closing(struct broker *b)
{
    return atomic_load(&b->is_closing);
}

/* Take what has been handed over: it is published, or goes back. */
static void take(struct broker *b, bool publishes)
{
    void *items[TAKEN_AT_ONCE];
    size_t max = TAKEN_AT_ONCE, room = WINDOW - (size_t)(b->next_tag - b->first_tag), found;

    if (publishes && room < max)
        max = room;
    if (publishes && b->careful > 0)
        max = 1;
    found = mailbox_take(&b->inbox, items, max);
    for (size_t i = 0; i < found; i++) {
        if (publishes && !b->is_link_lost && !b->is_channel_closed)
            publish_one(b, items[i]);
        else
            broker_answer(b, items[i], BROKER_UNSENT, "the broker is away");
    }
}

/* Wait for the broker, for messages if there is room for any, and for the end. */
static void wait_for(struct broker *b, int fd, bool wants_messages, int timeout_ms)
{
    struct pollfd fds[] = {
        {.fd = wants_messages ? mailbox_fd(&b->inbox) : -1, .events = POLLIN},
        {.fd = fd, .events = POLLIN},
    };

    if (poll(fds, ARRAY_SIZE(fds), timeout_ms) < 0 && errno != EINTR)
        PANIC("poll failed");
}

/* Nothing leaves for so long; what comes goes back at once. */
static void rest(struct broker *b, int pause_ms)
{
    int64_t end_us = clock_mono_us(&clock_system) + (int64_t)pause_ms * 1000, left_us;

    while (!is_closing(b) && (left_us = end_us - clock_mono_us(&clock_system)) > 0) {
        take(b, false);
        wait_for(b, -1, true, (int)(left_us / 1000) + 1);
    }
}

/* Publish and listen until the connection is lost. */
static void serve(struct broker *b)
{
    while (!is_closing(b) && !b->is_link_lost) {
        publish_read(b);
        if (b->is_link_lost)
            break;
        if (b->is_channel_closed) {
            publish_give_up(b);
            if (!publish_begin(b))
                break;
            continue;
        }
        if (broker_state_now(b) == BROKER_BLOCKED)
            take(b, false);
        else if (publish_has_room(b) && mailbox_depth(&b->inbox) > 0) {
            take(b, true);
            continue; /* publishing may have read what has come */
        }
        wait_for(b, amqp_get_sockfd(b->link.state), publish_has_room(b), IDLE_MS);
    }
}

static void lost(struct broker *b, bool was_up)
{
    publish_give_up(b);
    link_close(&b->link);
    if (is_closing(b))
        return;
    if (was_up || broker_state_now(b) != BROKER_AWAY || b->view.connects == 0)
        log_write(LOG_WARN,
                  was_up ? "the connection to the broker is lost: messages wait in the outbox"
                         : "the broker cannot be reached: messages wait in the outbox",
                  LOG_FIELDS(log_str("reason", str_of(b->lost_reason))));
    broker_set_state(b, BROKER_AWAY, b->lost_reason);
}

static bool connect_once(struct broker *b)
{
    b->is_link_lost = false;
    if (!link_open(&b->link, b->options.url, "pawl publishes", b->lost_reason) || !publish_begin(b))
        return false;
    pthread_mutex_lock(&b->lock);
    b->view.connects++;
    pthread_mutex_unlock(&b->lock);
    log_write(LOG_INFO, "connected to the broker", NULL);
    broker_set_state(b, BROKER_UP, "");
    return true;
}

static void *run_broker(void *context)
{
    struct broker *b = context;
    int pause_ms = PAUSE_FIRST_MS;

    while (!is_closing(b)) {
        bool was_up = connect_once(b);

        if (was_up) {
            pause_ms = PAUSE_FIRST_MS;
            serve(b);
        }
        lost(b, was_up);
        rest(b, pause_ms);
        pause_ms = pause_ms * 2 < PAUSE_MAX_MS ? pause_ms * 2 : PAUSE_MAX_MS;
    }
    return NULL;
}

/* --- opening and closing --- */

static void broker_free(struct broker *b)
{
    void *items[TAKEN_AT_ONCE];
    size_t found;

    for (uint64_t tag = b->first_tag; tag < b->next_tag; tag++)
        if (b->unconfirmed[tag % WINDOW] != NULL)
            broker_message_free(b->unconfirmed[tag % WINDOW]);
    while ((found = mailbox_take(&b->inbox, items, TAKEN_AT_ONCE)) > 0)
        for (size_t i = 0; i < found; i++)
            broker_message_free(items[i]);
    mailbox_fini(&b->inbox);
    link_fini(&b->link);
    arena_fini(&b->mem);
    pthread_mutex_destroy(&b->lock);
    if (b->change_fd >= 0)
        close(b->change_fd);
    free(b);
}

struct broker *broker_open(const struct broker_options *options, struct err *err)
{
    struct broker *b = ALLOC_NEW(struct broker);

    b->options = *options;
    b->first_tag = b->next_tag = 1;
    snprintf(b->view.reason, sizeof(b->view.reason), "it is not connected yet");
    pthread_mutex_init(&b->lock, NULL);
    link_init(&b->link);
    arena_init(&b->mem);
    b->change_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!mailbox_init(&b->inbox, BROKER_MESSAGES_MAX, err)) {
        err_set(err, ERR_IO, "cannot make what the broker needs");
    } else if (b->change_fd < 0) {
        err_set(err, ERR_IO, "cannot make what the broker needs: %s", strerror(errno));
    } else if (pthread_create(&b->thread, NULL, run_broker, b) != 0) {
        err_set(err, ERR_IO, "cannot start a thread for the broker");
    } else {
        b->has_thread = true;
        return b;
    }
    broker_free(b);
    return NULL;
}

void broker_close(struct broker *b)
{
    atomic_store(&b->is_closing, true);
    mailbox_close(&b->inbox);
    link_cut(&b->link);
    if (b->has_thread)
        (void)pthread_join(b->thread, NULL);
    broker_free(b);
}

/* --- for the loop --- */

struct broker_message *broker_message_new(void)
{
    struct broker_message *m = ALLOC_NEW(struct broker_message);

    arena_init_small(&m->mem, 1024);
    return m;
}

void broker_message_free(struct broker_message *m)
{
    arena_fini(&m->mem);
    free(m);
}

void broker_send(struct broker *b, struct broker_message *m)
{
    /* As many fit as may be in flight. */
    if (!mailbox_reserve(b->options.answers) || !mailbox_put(&b->inbox, m))
        PANIC("more messages are in flight than may be");
}
