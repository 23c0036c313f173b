/*
 * bench_service.c - a service that calls are made to: it answers every POST at
 * once, or those to /slow after --slow-ms, and counts.
 *
 * One thread and one epoll set, HTTP/1.1 with keep-alive, no pipelining: it is
 * to cost as little as a service can. It prints its port; GET /count says how
 * many requests came, under how many different keys, and how many were under
 * way at most.
 */
#include "base/buf.h"
#include "base/time/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MAX = 8192, EVENTS_MAX = 256, KEYS_MAX = 1 << 22, LISTEN_MAX = 4096 };

struct peer {
    int fd;
    bool waits;
    size_t len;
    struct peer *next; /* of those that wait, the first is due first */
    int64_t due_us;
    char bytes[REQUEST_MAX];
};

struct service {
    int listen_fd, epoll_fd;
    int64_t slow_us;
    struct peer *first, *last;
    uint64_t requests, keys, waiting, most_waiting;
    uint64_t *seen; /* hashes of keys, 0 = free */
};

static void peer_drop(struct service *s, struct peer *p)
{
    close(p->fd);
    p->fd = -1;
    if (!p->waits)
        free(p);
    (void)s;
}

static void peer_answer(struct service *s, struct peer *p, const char *body)
{
    char text[512];
    int len = snprintf(text, sizeof(text),
                       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       strlen(body), body);

    if (send(p->fd, text, (size_t)len, MSG_NOSIGNAL) != len)
        peer_drop(s, p);
}

/* --- keys --- */

static void note_key(struct service *s, struct str key)
{
    uint64_t hash = 14695981039346656037u, place;

    for (size_t i = 0; i < key.len; i++)
        hash = (hash ^ (unsigned char)key.ptr[i]) * 1099511628211u;
    if (hash == 0)
        hash = 1;
    for (place = hash % KEYS_MAX; s->seen[place] != 0; place = (place + 1) % KEYS_MAX)
        if (s->seen[place] == hash)
            return;
    if (s->keys < KEYS_MAX / 2) {
        s->seen[place] = hash;
        s->keys++;
    }
}

/* The value of a header; empty when there is none. `name` with its colon, as libcurl writes it. */
static struct str header(struct str head, struct str name)
{
    int64_t at = str_find(head, name, 0), end;

    if (at < 0)
        return STR_NONE;
    end = str_find(head, STR("\r\n"), (size_t)at);
    return str_trim(str_slice(head, (size_t)at + name.len, end < 0 ? head.len : (size_t)end));
}

/* --- requests --- */

static void answer_count(struct service *s, struct peer *p)
{
    char body[200];

    snprintf(body, sizeof(body),
             "{\"requests\":%llu,\"keys\":%llu,\"underWay\":%llu,\"mostUnderWay\":%llu}",
             (unsigned long long)s->requests, (unsigned long long)s->keys,
             (unsigned long long)s->waiting, (unsigned long long)s->most_waiting);
    peer_answer(s, p, body);
}

static void take_request(struct service *s, struct peer *p, struct str head)
{
    if (str_starts_with(head, STR("GET /count"))) {
        answer_count(s, p);
        return;
    }
    s->requests++;
    note_key(s, header(head, STR("Idempotency-Key:")));
    if (!str_starts_with(head, STR("POST /slow"))) {
        peer_answer(s, p, "{\"ok\":true,\"id\":\"r-1\"}");
        return;
    }
    p->waits = true;
    p->next = NULL;
    p->due_us = clock_mono_us(&clock_system) + s->slow_us;
    *(s->last != NULL ? &s->last->next : &s->first) = p;
    s->last = p;
    if (++s->waiting > s->most_waiting)
        s->most_waiting = s->waiting;
}

static void take_bytes(struct service *s, struct peer *p)
{
    ssize_t n = recv(p->fd, p->bytes + p->len, sizeof(p->bytes) - p->len, MSG_DONTWAIT);
    struct str all, length;
    int64_t end;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        peer_drop(s, p);
        return;
    }
    p->len += (size_t)n;
    all = str_from(p->bytes, p->len);
    end = str_find(all, STR("\r\n\r\n"), 0);
    if (end < 0)
        return;
    length = header(str_slice(all, 0, (size_t)end), STR("Content-Length:"));
    if (p->len < (size_t)end + 4 + (length.len > 0 ? strtoul(length.ptr, NULL, 10) : 0))
        return;
    p->len = 0;
    take_request(s, p, str_slice(all, 0, (size_t)end));
}

/* Answer those whose time has come. Answers how long until the next, -1 = nobody waits. */
static int answer_due(struct service *s)
{
    int64_t now_us = clock_mono_us(&clock_system);

    while (s->first != NULL && s->first->due_us <= now_us) {
        struct peer *p = s->first;

        s->first = p->next;
        if (s->first == NULL)
            s->last = NULL;
        s->waiting--;
        p->waits = false;
        if (p->fd < 0)
            free(p);
        else
            peer_answer(s, p, "{\"ok\":true,\"id\":\"r-1\"}");
    }
    return s->first == NULL ? -1 : (int)((s->first->due_us - now_us + 999) / 1000);
}

static void take_peers(struct service *s)
{
    int fd, on = 1;

    while ((fd = accept(s->listen_fd, NULL, NULL)) >= 0) {
        struct peer *p = calloc(1, sizeof(*p));
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = p};

        if (p == NULL)
            PANIC("out of memory");
        p->fd = fd;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); // NOLINT: epoll has p
        if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
            PANIC("no epoll");
    }
}

static void open_service(struct service *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    socklen_t len = sizeof(at);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->seen = calloc(KEYS_MAX, sizeof(*s->seen));
    if (s->listen_fd < 0 || s->epoll_fd < 0 || s->seen == NULL ||
        bind(s->listen_fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
        listen(s->listen_fd, LISTEN_MAX) != 0 ||
        getsockname(s->listen_fd, (struct sockaddr *)&at, &len) != 0 ||
        epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->listen_fd, &event) != 0)
        PANIC("no socket, no epoll or no memory");
    printf("%u\n", (unsigned)ntohs(at.sin_port));
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static struct service s;
    struct rlimit files;
    struct epoll_event events[EVENTS_MAX];
    int timeout_ms = -1;

    if (argc == 3 && strcmp(argv[1], "--slow-ms") == 0)
        s.slow_us = atoll(argv[2]) * 1000;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    open_service(&s);
    for (;;) {
        int count = epoll_wait(s.epoll_fd, events, EVENTS_MAX, timeout_ms);

        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL)
                take_peers(&s);
            else
                take_bytes(&s, events[i].data.ptr);
        }
        timeout_ms = answer_due(&s);
    }
}
