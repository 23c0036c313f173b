/*
 * http_tell.c - answering a client while its request goes on; see http.h.
 *
 * The library gives the memory of a request back with its answer, and headers
 * lie in it. So it is not told: the connection stays suspended, these bytes go
 * to its socket directly, and nothing can be sent after them. Once the handler
 * answers, the library finds the connection closed.
 */
#include "api/http_inner.h"

#include <sys/socket.h>

static void write_answer(struct buf *out, const struct exchange *x, const struct http_answer *a)
{
    buf_printf(out, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Length: %zu\r\n", a->status,
               MHD_get_reason_phrase_for((unsigned)a->status), a->body.len);
    for (size_t i = 0; i < http_protection_count; i++)
        buf_printf(out, "%s: %s\r\n", http_protections[i].name, http_protections[i].value);
    if (a->content_type != NULL)
        buf_printf(out, "Content-Type: %s\r\n", a->content_type);
    for (int i = 0; i < HTTP_HEADERS_MAX && a->headers[i].name != NULL; i++)
        buf_printf(out, "%s: %s\r\n", a->headers[i].name, a->headers[i].value);
    buf_text(out, "\r\n");
    if (!str_eq(x->request.method, STR("HEAD")))
        buf_str(out, a->body);
}

static void tell(struct exchange *x, http_closing_fn *what)
{
    struct http_server *s = x->server;
    struct http_answer answer = {.status = 503};
    struct arena mem;
    struct buf out;

    x->is_told = true;
    if (s->options.tls_cert == NULL) {
        /* The memory of the request may be in use by another thread. */
        arena_init(&mem);
        what(s->options.context, &x->request, &mem, &answer);
        buf_init_arena(&out, &mem);
        write_answer(&out, x, &answer);
        /* A client that has not read what it got before will not read this. */
        (void)!send(x->connection->fd, out.ptr, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        arena_fini(&mem);
    }
    /* Only the library can encrypt: such a client sees that its connection ends. */
    (void)shutdown(x->connection->fd, SHUT_WR);
}

void http_tell_kept(struct http_server *s, http_closing_fn *what)
{
    for (struct exchange *x = s->first_kept; x != NULL; x = x->after)
        if (!x->is_told)
            tell(x, what);
}
