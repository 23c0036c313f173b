/* http_stream.c - answers that go on; see http.h. */
#include "http/http_inner.h"

#include <stdio.h>
#include <sys/socket.h>

enum { SOCKET_BYTES = 64 << 10 }; /* what the kernel keeps for a client that does not read */

void stream_began(struct exchange *x)
{
    int bytes = SOCKET_BYTES;

    LIST_INSERT_HEAD(&x->server->streams, x, link);
    /* Without it a stream works too, and costs more. */
    (void)setsockopt(x->connection->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

void stream_ended(struct exchange *x)
{
    if (x->phase == PHASE_SENDING)
        LIST_REMOVE(x, link);
    x->source.gone(x->source.context);
}

/* The bytes at s->out + CHUNK_EDGE_BYTES - 4 as a chunk; the edge before it holds a size. */
static struct str chunk_around(struct http_server *s, size_t count)
{
    enum { SIZE_ROOM = CHUNK_EDGE_BYTES - 4 };
    char size[SIZE_ROOM + 1];
    int len = snprintf(size, sizeof(size), "%zx\r\n", count);
    char *data = s->out + SIZE_ROOM;

    memcpy(data - len, size, (size_t)len);
    memcpy(data + count, "\r\n", 2);
    return str_from(data - len, (size_t)len + count + 2);
}

bool stream_fill(struct exchange *x)
{
    struct http_server *s = x->server;
    char *data = s->out + CHUNK_EDGE_BYTES - 4;
    ssize_t count =
        s->is_quiet ? HTTP_STREAM_END : x->source.more(x->source.context, data, OUT_BYTES);

    buf_clear(&x->unsent);
    if (count == 0) {
        connection_leave(x->connection);
        buf_fini(&x->unsent);
        buf_init(&x->unsent);
        x->rest = REST_ASLEEP;
        return false;
    }
    connection_wait_for(x->connection);
    if (count > 0) {
        x->rest = REST_NONE;
        x->out[0] = x->is_1_0 ? str_from(data, (size_t)count) : chunk_around(s, (size_t)count);
    } else {
        x->rest = REST_ENDED;
        x->out[0] = x->is_1_0 ? STR_NONE : STR("0\r\n\r\n");
    }
    return true;
}

void stream_keep_unsent(struct exchange *x)
{
    if (x->unsent.len > 0) /* it is a part of that */
        return;
    buf_str(&x->unsent, x->out[0]);
    x->out[0] = buf_view(&x->unsent);
}

void http_stream_wake(struct http_request *r)
{
    struct exchange *x = exchange_of(r);

    if (x->rest != REST_ASLEEP)
        return;
    x->rest = REST_NONE;
    connection_make_ready(x->connection);
}

void http_stream_abort(struct http_request *r)
{
    struct exchange *x = exchange_of(r);

    x->is_aborted = true;
    connection_make_ready(x->connection);
}

void streams_wake(struct http_server *s)
{
    for (struct exchange *x = LIST_FIRST(&s->streams); x != NULL; x = LIST_NEXT(x, link))
        http_stream_wake(&x->request);
}
