/*
 * http_linger.c - connections that were answered before their body had come.
 *
 * A socket that is closed with bytes unread resets the connection, and the
 * client, who may still be sending, loses the answer with it. So a copy of the
 * socket stays open for a second: what arrives is thrown away until the client
 * has read its answer and closes.
 */
#include "api/http_inner.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINGER_MS = 20, DRAIN_BYTES = 16 << 10, DRAIN_MAX_BYTES = 16 << 20 };

#define LINGER_US INT64_C(1000000)

void linger_begin(struct http_server *s, int fd)
{
    struct lingering *l = &s->lingering;
    int copy = l->count < LINGERING_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

    if (copy < 0)
        return;
    (void)shutdown(copy, SHUT_WR);
    l->items[l->count].fd = copy;
    l->items[l->count].until_us = clock_mono_us(s->options.clock) + LINGER_US;
    l->items[l->count++].left_bytes = DRAIN_MAX_BYTES;
}

/* Throw away what has come. False: the client has gone, or sends too much. */
static bool drain(int fd, size_t *left_bytes)
{
    char nowhere[DRAIN_BYTES];
    ssize_t n;

    while ((n = recv(fd, nowhere, sizeof(nowhere), MSG_DONTWAIT)) > 0) {
        if ((size_t)n >= *left_bytes)
            return false;
        *left_bytes -= (size_t)n;
    }
    return n < 0;
}

void linger_run(struct http_server *s, int *timeout_ms)
{
    struct lingering *l = &s->lingering;
    int64_t now_us;
    unsigned kept = 0;

    if (l->count == 0)
        return;
    now_us = clock_mono_us(s->options.clock);
    for (unsigned i = 0; i < l->count; i++)
        if (now_us < l->items[i].until_us && drain(l->items[i].fd, &l->items[i].left_bytes))
            l->items[kept++] = l->items[i];
        else
            close(l->items[i].fd);
    l->count = kept;
    if (kept > 0 && (*timeout_ms < 0 || *timeout_ms > LINGER_MS))
        *timeout_ms = LINGER_MS;
}

void linger_end(struct http_server *s)
{
    while (s->lingering.count > 0)
        close(s->lingering.items[--s->lingering.count].fd);
}
