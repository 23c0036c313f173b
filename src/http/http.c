/*
 * http.c - the server: its socket, its connections in one epoll set, and time;
 * see http.h.
 *
 * The epoll descriptor is readable in the epoll set of the loop. Connections
 * that something is expected of stand in a list by age, so that finding the
 * slow ones costs nothing: all in a list have the same time.
 */
#include "base/alloc.h"
#include "base/time/clock.h"
#include "http/http_inner.h"
#include "http/listen.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTIONS_DEFAULT = 20000,
    DESCRIPTORS_SPARED = 64,
    BODIES_DEFAULT_BYTES = 256 << 20,
    EVENTS_AT_ONCE = 256,
    ACCEPTED_AT_ONCE = 256,
    CLOSE_PATIENCE_US = 1000000,
    LINGER_US = 1000000,
    FULL_MS = 100,      /* between two questions for more descriptors */
    CLOSED_MANY = 1000, /* worth giving their memory back to the system */
    IDLE_MS = 50,
};

#define PATIENCE_DEFAULT_US INT64_C(60000000)
#define DECIDE_DEFAULT_US INT64_C(30000000)

/* --- patience --- */

void connection_leave(struct connection *c)
{
    struct waiting *list = c->waiting;

    if (list == NULL)
        return;
    *(c->older != NULL ? &c->older->newer : &list->oldest) = c->newer;
    *(c->newer != NULL ? &c->newer->older : &list->newest) = c->older;
    c->waiting = NULL;
}

void connection_wait_in(struct connection *c, struct waiting *list)
{
    connection_leave(c);
    c->since_us = c->server->now_us;
    c->older = list->newest;
    c->newer = NULL;
    *(c->older != NULL ? &c->older->newer : &list->oldest) = c;
    list->newest = c;
    c->waiting = list;
}

void connection_wait_for(struct connection *c)
{
    connection_wait_in(c, &c->server->patient);
}

/* Close those that have kept us waiting for too long; *due_ms becomes less than the next one has. */
static void abort_slow(struct http_server *s, struct waiting *list, int64_t patience_us,
                       int *due_ms)
{
    while (list->oldest != NULL) {
        struct connection *c = list->oldest;
        int64_t left_us = c->since_us + patience_us - s->now_us;

        if (left_us > 0) {
            int left_ms = (int)(left_us / 1000) + 1;
            *due_ms = *due_ms < 0 || left_ms < *due_ms ? left_ms : *due_ms;
            return;
        }
        connection_leave(c);
        c->state = CONNECTION_OVER;
        connection_run(c);
    }
}

/* When the next request that is kept is overdue. */
static void note_overdue(const struct http_server *s, int *due_ms)
{
    int64_t left_ms =
        s->next_overdue_us == INT64_MAX ? INT_MAX : (s->next_overdue_us - s->now_us) / 1000 + 1;

    if (left_ms < INT_MAX && (*due_ms < 0 || left_ms < *due_ms))
        *due_ms = (int)left_ms;
}

/* --- connections --- */

void connection_make_ready(struct connection *c)
{
    struct http_server *s = c->server;

    if (c->is_ready)
        return;
    c->is_ready = true;
    c->next_ready = NULL;
    *s->ready_end = c;
    s->ready_end = &c->next_ready;
}

static void run_ready(struct http_server *s)
{
    struct connection *c = s->ready, *next;

    s->ready = NULL;
    s->ready_end = &s->ready;
    for (; c != NULL; c = next) {
        next = c->next_ready;
        c->is_ready = false;
        connection_run(c);
    }
}

/* At the limit of connections the socket is not watched: those who come wait in the queue of the system. */
static void listen_or_not(struct http_server *s, bool listens)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = s};

    if (s->listen_fd < 0 || s->is_listening == listens)
        return;
    if (epoll_ctl(s->epoll_fd, listens ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, s->listen_fd, &event) == 0)
        s->is_listening = listens;
}

void server_has_capacity(struct http_server *s)
{
    listen_or_not(s, true);
}

static void accept_some(struct http_server *s)
{
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        struct sockaddr_storage peer;
        socklen_t peer_len = sizeof(peer);
        int fd;

        if (s->open_count >= s->options.connections_max) {
            listen_or_not(s, false);
            return;
        }
        fd = accept4(s->listen_fd, (struct sockaddr *)&peer, &peer_len,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            connection_open(s, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            listen_or_not(s, false);
            s->full_us = s->now_us;
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

/* The system could not take a connection: ask again soon. */
static void listen_again(struct http_server *s, int *due_ms)
{
    if (s->is_listening || s->listen_fd < 0 || s->open_count >= s->options.connections_max)
        return;
    if (s->now_us - s->full_us >= FULL_MS * 1000)
        listen_or_not(s, true);
    *due_ms = *due_ms < 0 || *due_ms > FULL_MS ? FULL_MS : *due_ms;
}

/* --- opening --- */

static unsigned connections_allowed(unsigned wanted)
{
    struct rlimit limit;

    if (wanted == 0)
        wanted = CONNECTIONS_DEFAULT;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 2 * DESCRIPTORS_SPARED &&
        wanted > limit.rlim_cur - DESCRIPTORS_SPARED)
        wanted = (unsigned)limit.rlim_cur - DESCRIPTORS_SPARED;
    return wanted;
}

static void set_options(struct http_server *s, const struct http_options *options)
{
    s->options = *options;
    s->options.connections_max = connections_allowed(options->connections_max);
    if (s->options.patience_us == 0)
        s->options.patience_us = PATIENCE_DEFAULT_US;
    if (s->options.decide_us == 0)
        s->options.decide_us = DECIDE_DEFAULT_US;
    if (s->options.bodies_max_bytes == 0)
        s->options.bodies_max_bytes = BODIES_DEFAULT_BYTES;
}

static bool start(struct http_server *s, struct err *err)
{
    if (!listen_open(s->options.host, s->options.port, &s->listen_fd, err))
        return false;
    s->port = listen_port(s->listen_fd);
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll_fd < 0)
        return err_set(err, ERR_IO, "cannot watch connections: %s", strerror(errno));
    if (s->options.tls_cert != NULL &&
        !http_use_tls(s, s->options.tls_cert, s->options.tls_key, err))
        return false;
    listen_or_not(s, true);
    return s->is_listening || err_set(err, ERR_IO, "cannot watch connections: %s", strerror(errno));
}

static void forget(struct http_server *s)
{
    http_quiesce(s);
    if (s->epoll_fd >= 0)
        close(s->epoll_fd);
    secure_close(s);
    free(s);
}

struct http_server *http_open(const struct http_options *options, struct err *err)
{
    struct http_server *s = ALLOC_NEW(struct http_server);

    set_options(s, options);
    s->listen_fd = s->epoll_fd = -1;
    s->answered_end = &s->answered;
    s->ready_end = &s->ready;
    s->next_overdue_us = INT64_MAX;
    s->now_us = clock_mono_us(options->clock);
    s->date_s = -1;
    server_set_date(s);
    if (start(s, err))
        return s;
    forget(s);
    return NULL;
}

uint16_t http_port(const struct http_server *s)
{
    return s->port;
}

int http_fd(const struct http_server *s)
{
    return s->epoll_fd;
}

/* --- the loop's calls --- */

static void look_at_clocks(struct http_server *s)
{
    s->now_us = clock_mono_us(s->options.clock);
    server_set_date(s);
}

void http_run(struct http_server *s)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(s->epoll_fd, events, EVENTS_AT_ONCE, 0);

    look_at_clocks(s);
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == s)
            accept_some(s);
        else
            connection_hear(events[i].data.ptr, events[i].events);
    }
}

/* Memory of connections that have gone lies between what is in use: give it back when idle. */
static void trim_memory(struct http_server *s)
{
    if (s->closed_count < CLOSED_MANY || s->closed_count < s->open_count)
        return;
    s->closed_count = 0;
    (void)malloc_trim(0);
}

void http_before_sleep(struct http_server *s, int *timeout_ms)
{
    uint64_t handled = s->handled;
    int due_ms = -1;

    look_at_clocks(s);
    exchanges_send_answered(s);
    exchanges_answer_overdue(s);
    run_ready(s);
    abort_slow(s, &s->patient, s->options.patience_us, &due_ms);
    abort_slow(s, &s->lingering, LINGER_US, &due_ms);
    listen_again(s, &due_ms);
    note_overdue(s, &due_ms);
    /* Requests that were handled just now are work for the loop, or answers to be sent. */
    if (s->handled != handled || s->ready != NULL || s->answered != NULL)
        due_ms = 0;
    if (due_ms >= 0 && (*timeout_ms < 0 || due_ms < *timeout_ms))
        *timeout_ms = due_ms;
    if (*timeout_ms < 0 || *timeout_ms > IDLE_MS)
        trim_memory(s);
}

void http_quiesce(struct http_server *s)
{
    if (s->listen_fd < 0)
        return;
    listen_or_not(s, false);
    close(s->listen_fd);
    s->listen_fd = -1;
}

void http_close(struct http_server *s)
{
    int64_t until_us = clock_mono_us(&clock_system) + CLOSE_PATIENCE_US;

    http_quiesce(s);
    s->is_quiet = true;
    exchanges_answer_closing(s);
    streams_wake(s);
    while ((s->answered != NULL || s->sending_count > 0) &&
           clock_mono_us(&clock_system) < until_us) {
        struct pollfd ready = {.fd = s->epoll_fd, .events = POLLIN};
        int timeout_ms = 10;
        http_before_sleep(s, &timeout_ms);
        if (s->sending_count > 0)
            (void)poll(&ready, 1, timeout_ms);
        http_run(s);
    }
    exchanges_send_answered(s);
    while (!LIST_EMPTY(&s->all)) {
        connection_free(LIST_FIRST(&s->all));
        /* It may have been in this list, and a source that was notified may put others there. */
        s->ready = NULL;
        s->ready_end = &s->ready;
    }
    exchanges_free_spare(s);
    forget(s);
}
