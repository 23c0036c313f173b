/*
 * http_stream.c - answers that go on; see http.h.
 *
 * The library asks for bytes whenever the socket can take some. When there are
 * none the connection is suspended, and then the library does not see that its
 * client goes: an epoll set of our own does.
 */
#include "api/http_inner.h"

#include <sys/epoll.h>
#include <sys/socket.h>

enum {
    SPARE_BLOCK_BYTES = 1024, /* only for clients that do not know chunks */
    SOCKET_BYTES = 64 << 10,  /* what the kernel keeps for a client that does not read */
    GONE_AT_ONCE = 64,
};

static ssize_t on_more(void *context, uint64_t position, char *out, size_t room)
{
    struct exchange *x = context;
    struct http_server *s = x->server;
    ssize_t count;

    (void)position;
    if (x->is_cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    count = s->is_quiet ? HTTP_STREAM_END : x->source.more(x->source.context, out, room);
    if (count == HTTP_STREAM_END)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (count > 0) {
        connection_wait_for(s, x->connection);
        return count;
    }
    connection_leave(s, x->connection);
    x->rest = REST_ASLEEP;
    s->asleep_count++;
    MHD_suspend_connection(x->handle);
    return 0;
}

void http_stream(struct http_request *r, const struct http_answer *answer,
                 const struct http_source *source)
{
    struct exchange *x = exchange_of(r);

    x->source = *source;
    exchange_answer(
        x, answer,
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, SPARE_BLOCK_BYTES, on_more, x, NULL));
}

void stream_began(struct exchange *x)
{
    struct http_server *s = x->server;
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = x};
    int bytes = SOCKET_BYTES;

    x->before = NULL;
    x->after = s->first_stream;
    if (x->after != NULL)
        x->after->before = x;
    s->first_stream = x;
    /* Without these a stream works too: it costs more, and its end is found later. */
    (void)setsockopt(x->connection->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    (void)epoll_ctl(s->gone_fd, EPOLL_CTL_ADD, x->connection->fd, &event);
}

void stream_ended(struct exchange *x)
{
    struct http_server *s = x->server;

    *(x->before != NULL ? &x->before->after : &s->first_stream) = x->after;
    if (x->after != NULL)
        x->after->before = x->before;
    (void)epoll_ctl(s->gone_fd, EPOLL_CTL_DEL, x->connection->fd, NULL);
    x->source.gone(x->source.context);
}

void http_stream_wake(struct http_request *r)
{
    struct exchange *x = exchange_of(r);

    if (x->rest != REST_ASLEEP)
        return;
    x->rest = REST_WOKEN;
    exchange_resume(x);
}

void http_stream_cut(struct http_request *r)
{
    struct exchange *x = exchange_of(r);

    x->is_cut = true;
    /* The library finds the end of the stream, at once or when it has been resumed. */
    (void)shutdown(x->connection->fd, SHUT_RDWR);
    x->server->has_more = true;
    http_stream_wake(r);
}

void streams_wake(struct http_server *s)
{
    for (struct exchange *x = s->first_stream; x != NULL; x = x->after)
        http_stream_wake(&x->request);
}

int http_gone_fd(const struct http_server *s)
{
    return s->gone_fd;
}

void http_drop_gone(struct http_server *s)
{
    struct epoll_event events[GONE_AT_ONCE];
    int count = epoll_wait(s->gone_fd, events, GONE_AT_ONCE, 0);

    for (int i = 0; i < count; i++) {
        struct exchange *x = events[i].data.ptr;
        http_stream_cut(&x->request);
    }
}
