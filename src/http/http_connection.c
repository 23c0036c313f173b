/*
 * http_connection.c - reading from and writing to one client; see http_inner.h.
 *
 * Bytes are read into memory of the server that all connections share, and are
 * used up at once: heads are copied into the memory of their request, bodies
 * too. What is left of them, the beginning of a head or requests that wait for
 * the answer to an earlier one, is held by the connection. So a connection that
 * is idle, or whose request is kept, has no buffer.
 *
 * epoll reports a change once (EPOLLET): `may_read` remembers it until a read
 * finds that there is no more.
 */
#include "base/alloc.h"
#include "http/http_inner.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    ROUNDS_MAX = 16, /* of one connection, before others have their turn */
    LINGER_MAX_BYTES = 16 << 20,
};

/* --- from open to closed --- */

void connection_open(struct http_server *s, int fd)
{
    struct connection *c = ALLOC_NEW(struct connection);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};

    *c = (struct connection){.server = s, .fd = fd, .state = CONNECTION_HEAD};
    LIST_INSERT_HEAD(&s->all, c, all);
    s->open_count++;
    connection_wait_for(c);
    if (s->tls != NULL) {
        c->state = CONNECTION_HANDSHAKE;
        if (!secure_begin(c))
            PANIC("out of memory");
    }
    if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        connection_free(c);
}

void connection_free(struct connection *c)
{
    struct http_server *s = c->server;

    connection_leave(c);
    if (c->exchange != NULL)
        exchange_free(c->exchange);
    if (c->tls != NULL)
        secure_free(c);
    close(c->fd);
    LIST_REMOVE(c, all);
    s->open_count--;
    s->closed_count++;
    free(c->held);
    free(c);
    server_has_capacity(s);
}

/* --- lingering --- */

/* A socket that is closed with bytes unread resets the connection, and the answer is lost. */
static void linger_drop(struct connection *c)
{
    struct http_server *s = c->server;
    ssize_t n = 1;

    while (c->may_read && n > 0) {
        n = recv(c->fd, s->in, sizeof(s->in), MSG_DONTWAIT);
        if (n > 0 && (size_t)n < c->linger_left_bytes)
            c->linger_left_bytes -= (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            c->may_read = false;
        else if (n >= 0 || errno != EINTR)
            c->state = CONNECTION_OVER;
        if (c->state == CONNECTION_OVER)
            return;
    }
}

void connection_linger(struct connection *c)
{
    struct http_server *s = c->server;

    c->state = CONNECTION_LINGERING;
    c->linger_left_bytes = LINGER_MAX_BYTES;
    if (c->tls != NULL)
        secure_end(c);
    (void)shutdown(c->fd, SHUT_WR);
    connection_wait_in(c, &s->lingering);
    linger_drop(c);
}

void connection_answered(struct connection *c, bool is_last)
{
    c->exchange = NULL;
    c->state = CONNECTION_HEAD;
    if (!is_last)
        connection_wait_for(c);
    else if (c->lingers || c->held_len > 0 || c->may_read)
        connection_linger(c);
    else {
        if (c->tls != NULL)
            secure_end(c);
        c->state = CONNECTION_OVER;
    }
}

/* --- reading --- */

static void hold(struct connection *c, const char *bytes, size_t len)
{
    c->held_len = len;
    c->held = NULL;
    if (len == 0)
        return;
    c->held = alloc_bytes(len);
    memcpy(c->held, bytes, len);
}

/* The next head in `in`; answers how many bytes are used up, 0 when it is not whole. */
static size_t take_head(struct connection *c, struct str in)
{
    struct http_head head;

    switch (http_parse_head(in, &head)) {
    case HTTP_PARSE_MORE:
        return 0;
    case HTTP_PARSE_BAD:
        exchange_refuse_head(c, in.ptr, &head);
        return in.len;
    case HTTP_PARSE_DONE:
        exchange_begin(c, in.ptr, &head, head.bytes < in.len);
        return head.bytes;
    }
    PANIC("no such result");
}

static bool is_receiving(const struct connection *c)
{
    return c->state == CONNECTION_HEAD || c->state == CONNECTION_BODY;
}

/* Use up what has come, and hold the rest. */
static void consume(struct connection *c, struct str in)
{
    size_t at = 0;
    bool is_whole = true;

    while (at < in.len && is_receiving(c) && is_whole) {
        struct str rest = str_slice(in, at, in.len);
        if (c->state == CONNECTION_BODY) {
            at += exchange_take_body(c->exchange, rest);
        } else {
            size_t used = take_head(c, rest);
            is_whole = used > 0;
            at += used;
        }
    }
    if (c->state == CONNECTION_LINGERING || c->state == CONNECTION_OVER)
        at = in.len;
    hold(c, in.ptr + at, in.len - at);
    c->held_is_new = at < in.len && is_whole;
}

/* Requests that came behind one that was kept. */
static void consume_held(struct connection *c)
{
    char *held = c->held;
    size_t len = c->held_len;

    c->held = NULL;
    c->held_len = 0;
    c->held_is_new = false;
    consume(c, str_from(held, len));
    free(held);
}

/* One read of the socket, behind what is held of a head. */
static void receive_once(struct connection *c)
{
    struct http_server *s = c->server;
    size_t held = c->held_len;
    size_t capacity = sizeof(s->in) - held;
    ssize_t n;

    ASSERT(held < sizeof(s->in));
    n = c->tls != NULL ? secure_recv(c, s->in + held, capacity)
                       : recv(c->fd, s->in + held, capacity, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR)
        return;
    if (n < 0 && errno == EAGAIN) {
        c->may_read = false;
        return;
    }
    if (n <= 0) {
        c->state = CONNECTION_OVER;
        return;
    }
    if ((size_t)n < capacity && c->tls == NULL && !c->is_half_closed)
        c->may_read = false;
    if (held > 0) {
        memcpy(s->in, c->held, held);
        free(c->held);
    }
    consume(c, str_from(s->in, held + (size_t)n));
}

static void receive(struct connection *c)
{
    for (int rounds = 0; is_receiving(c) && (c->held_is_new || c->may_read); rounds++) {
        if (rounds == ROUNDS_MAX) {
            connection_make_ready(c);
            return;
        }
        if (c->held_is_new)
            consume_held(c);
        else
            receive_once(c);
    }
}

/* --- writing --- */

static ssize_t send_pieces(struct connection *c, const struct str pieces[2])
{
    struct iovec parts[2];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    /* The system only reads what they point to, but does not say so. */
    union {
        const char *ours;
        void *theirs;
    } bytes;

    for (int i = 0; i < 2; i++) {
        bytes.ours = pieces[i].ptr;
        parts[i] = (struct iovec){.iov_base = bytes.theirs, .iov_len = pieces[i].len};
    }
    return sendmsg(c->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool connection_send(struct connection *c, struct str pieces[2])
{
    ssize_t n = c->tls != NULL ? secure_send(c, pieces) : send_pieces(c, pieces);
    size_t sent;

    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0) {
        if (errno != EAGAIN)
            c->state = CONNECTION_OVER;
        return false;
    }
    sent = (size_t)n;
    for (int i = 0; i < 2; i++) {
        size_t part = sent < pieces[i].len ? sent : pieces[i].len;
        pieces[i] = str_slice(pieces[i], part, pieces[i].len);
        sent -= part;
    }
    return true;
}

/* --- what happens --- */

static void shake(struct connection *c)
{
    if (secure_shake(c)) {
        c->state = CONNECTION_HEAD;
        c->may_read = true; /* it may have come with the handshake */
    } else if (errno != EAGAIN) {
        c->state = CONNECTION_OVER;
    }
}

void connection_run(struct connection *c)
{
    if (c->state == CONNECTION_HANDSHAKE)
        shake(c);
    if (c->state == CONNECTION_BUSY && c->exchange->phase == PHASE_SENDING)
        exchange_send_more(c->exchange);
    if (is_receiving(c))
        receive(c);
    if (c->state == CONNECTION_LINGERING)
        linger_drop(c);
    if (c->state == CONNECTION_OVER && !c->is_ready)
        connection_free(c);
}

void connection_hear(struct connection *c, uint32_t events)
{
    c->may_read = c->may_read || (events & ~(uint32_t)EPOLLOUT) != 0;
    c->is_half_closed = c->is_half_closed || (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    connection_run(c);
}
