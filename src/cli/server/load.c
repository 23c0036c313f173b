/*
 * load.c - non-blocking sockets in one epoll set; see load.h.
 *
 * A connection is sending until its request has left, then it reads a head and
 * as many bytes as that announces, and sends again.
 */
#include "cli/server/load.h"

#include "base/alloc.h"
#include "base/time/clock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_MAX = 4096, EVENTS_MAX = 256, READ_BYTES = 65536, PROGRESS_US = 250000 };

struct load_link {
    int fd;
    size_t sent;
    int64_t began_us;
    char head[HEAD_MAX];
    size_t head_len;
    bool has_head;
    int status;
    uint64_t body_left;
};

struct load_state {
    const struct load_options *options;
    struct load_result *result;
    struct load_link *links;
    int epoll_fd;
    unsigned open;
    int64_t counts_from_us, now_us;
};

/* --- times --- */

static unsigned slot_of(int64_t us)
{
    uint64_t n = us < 1 ? 1 : (uint64_t)us;
    unsigned power = 63u - (unsigned)__builtin_clzll(n);
    uint64_t part;

    if (power >= LOAD_POWERS)
        return LOAD_SLOTS - 1;
    part = power >= 6 ? (n >> (power - 6)) - 64 : (n << (6 - power)) - 64;
    return power * LOAD_PARTS + (unsigned)part;
}

void load_times_add(struct load_times *t, int64_t us)
{
    t->count++;
    t->slots[slot_of(us)]++;
}

int64_t load_times_at(const struct load_times *t, double part)
{
    uint64_t wanted = (uint64_t)((double)t->count * part + 0.5), seen = 0;

    for (unsigned i = 0; i < LOAD_SLOTS; i++) {
        seen += t->slots[i];
        if (seen > 0 && seen >= wanted) {
            unsigned power = i / LOAD_PARTS, within = i % LOAD_PARTS;
            /* The upper edge of the slot. */
            return (int64_t)(((uint64_t)(within + 1 + 64) << power) / 64);
        }
    }
    return 0;
}

/* --- one connection --- */

static void load_drop(struct load_state *l, struct load_link *k)
{
    close(k->fd);
    k->fd = -1;
    l->open--;
    l->result->broken++;
}

/* Send what is left. False when the connection is lost. */
static bool send_more(struct load_state *l, struct load_link *k)
{
    struct str request = l->options->request;

    while (k->sent < request.len) {
        ssize_t n =
            send(k->fd, request.ptr + k->sent, request.len - k->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        k->sent += (size_t)n;
    }
    return true;
}

static bool begin(struct load_state *l, struct load_link *k)
{
    k->sent = 0;
    k->head_len = 0;
    k->has_head = false;
    k->body_left = 0;
    k->began_us = l->now_us;
    return send_more(l, k);
}

/* Status and length out of a whole head. */
static bool read_head(struct load_link *k, size_t len)
{
    struct str head = str_from(k->head, len);
    bool has_length = false;

    if (!str_starts_with(head, STR("HTTP/1.1 ")) || head.len < 12)
        return false;
    k->status = (head.ptr[9] - '0') * 100 + (head.ptr[10] - '0') * 10 + (head.ptr[11] - '0');
    for (int64_t at = 0; (at = str_find(head, STR("\r\n"), (size_t)at)) >= 0; at += 2) {
        static const char name[] = "content-length:";
        size_t rest = head.len - (size_t)at - 2;
        const char *line = head.ptr + at + 2;
        if (rest < sizeof(name) || strncasecmp(line, name, sizeof(name) - 1) != 0)
            continue;
        k->body_left = strtoull(line + sizeof(name) - 1, NULL, 10);
        has_length = true;
    }
    return has_length || k->status == 204;
}

static void load_count(struct load_state *l, const struct load_link *k)
{
    struct load_result *r = l->result;

    if (l->now_us < l->counts_from_us)
        return;
    if (k->status < 200 || k->status > 299) {
        r->refused++;
        r->refused_status = k->status;
        return;
    }
    r->answered++;
    load_times_add(&r->times, l->now_us - k->began_us);
}

/* Take `len` bytes of an answer. False when they make no sense. */
static bool load_take(struct load_state *l, struct load_link *k, const char *bytes, size_t len)
{
    if (!k->has_head) {
        size_t before = k->head_len, capacity = sizeof(k->head) - before;
        size_t part = len < capacity ? len : capacity;
        int64_t end;

        memcpy(k->head + before, bytes, part);
        k->head_len += part;
        end =
            str_find(str_from(k->head, k->head_len), STR("\r\n\r\n"), before > 3 ? before - 3 : 0);
        if (end < 0)
            return k->head_len < sizeof(k->head);
        if (!read_head(k, (size_t)end + 2))
            return false;
        k->has_head = true;
        part = (size_t)end + 4 - before;
        len -= part;
    }
    if (len > k->body_left)
        return false;
    k->body_left -= len;
    if (k->body_left > 0)
        return true;
    load_count(l, k);
    return begin(l, k);
}

enum read_result { READ_SOME, READ_NOTHING, READ_LOST };

static enum read_result read_some(struct load_state *l, struct load_link *k)
{
    char bytes[READ_BYTES];
    ssize_t n = recv(k->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? READ_NOTHING : READ_LOST;
    return n > 0 && load_take(l, k, bytes, (size_t)n) ? READ_SOME : READ_LOST;
}

/* --- all of them --- */

static int connect_to(const struct addrinfo *found)
{
    for (const struct addrinfo *a = found; a != NULL; a = a->ai_next) {
        int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        int on = 1;
        if (fd < 0)
            continue;
        if (connect(fd, a->ai_addr, a->ai_addrlen) == 0) {
            (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            return fd;
        }
        close(fd);
    }
    return -1;
}

static bool open_links(struct load_state *l, struct err *err)
{
    const struct load_options *o = l->options;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    char host[256], port[16];

    snprintf(host, sizeof(host), "%.*s", STR_ARG(o->host));
    snprintf(port, sizeof(port), "%.*s", STR_ARG(o->port));
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return err_set(err, ERR_IO, "there is no host %s", host);
    for (; l->open < o->connections; l->open++) {
        struct load_link *k = &l->links[l->open];
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = k};
        k->fd = connect_to(found);
        if (k->fd < 0 || epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, k->fd, &event) != 0)
            break;
    }
    freeaddrinfo(found);
    if (l->open == o->connections)
        return true;
    return err_set(err, ERR_IO, "cannot open connection %u to %s:%s: %s", l->open + 1, host, port,
                   strerror(errno));
}

static void handle(struct load_state *l, struct load_link *k, uint32_t events)
{
    enum read_result end = READ_SOME;

    if (k->fd < 0)
        return;
    if ((events & EPOLLOUT) != 0 && k->sent < l->options->request.len && !send_more(l, k))
        end = READ_LOST;
    /* Edge triggered: until there is nothing more, or the next answer is still to come. */
    while (end == READ_SOME && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        end = read_some(l, k);
        if (k->head_len == 0)
            break;
    }
    if (end == READ_LOST)
        load_drop(l, k);
}

static void load_run_until_done(struct load_state *l)
{
    const struct load_options *o = l->options;
    int64_t began_us = clock_mono_us(&clock_system), shown_us = began_us;
    int64_t ends_us = began_us + o->warm_up_us + o->duration_us;
    struct epoll_event events[EVENTS_MAX];

    l->counts_from_us = began_us + o->warm_up_us;
    l->now_us = began_us;
    for (unsigned i = 0; i < o->connections; i++)
        if (!begin(l, &l->links[i]))
            load_drop(l, &l->links[i]);
    while (l->now_us < ends_us && l->open > 0) {
        int n = epoll_wait(l->epoll_fd, events, EVENTS_MAX, PROGRESS_US / 1000);
        l->now_us = clock_mono_us(&clock_system);
        for (int i = 0; i < n; i++)
            handle(l, events[i].data.ptr, events[i].events);
        if (o->progress != NULL && l->now_us - shown_us >= PROGRESS_US) {
            shown_us = l->now_us;
            o->progress(o->context, l->now_us - l->counts_from_us, l->result->answered);
        }
    }
    l->result->elapsed_us = l->now_us - l->counts_from_us;
}

bool load_run(const struct load_options *options, struct load_result *out, struct err *err)
{
    struct load_state l = {.options = options, .result = out};
    bool ok;

    memset(out, 0, sizeof(*out));
    l.links = alloc_array(options->connections, sizeof(*l.links));
    l.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (l.epoll_fd < 0)
        PANIC("no epoll");
    ok = open_links(&l, err);
    if (ok)
        load_run_until_done(&l);
    if (ok && l.open == 0)
        ok = err_set(err, ERR_IO, "the server closed every connection");
    for (unsigned i = 0; i < options->connections; i++)
        if (l.links[i].fd > 0)
            close(l.links[i].fd);
    close(l.epoll_fd);
    free(l.links);
    return ok;
}
