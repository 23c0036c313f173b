/*
 * bench_http.c - send requests to a server on this machine and time the answers.
 *
 * One thread and one epoll set, so that the server keeps the rest of the
 * machine. Each connection sends its next request when the last was answered,
 * until --count requests were sent or --seconds have passed. "@LINE@" in the
 * path or the body is replaced by the next line of --lines. One line of JSON
 * says how it went; --save keeps the first "id" of every answer, a line each.
 */
#include "base/buf.h"
#include "base/time/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_MAX = 2048, EVENTS_MAX = 256, READ_BYTES = 1 << 18, TICK_MS = 100 };

struct settings {
    const char *port, *token, *method, *path, *body, *body_file, *lines, *save;
    int64_t connections, count, seconds, warm_up_ms;
};

struct link {
    int fd;
    struct buf request;
    size_t sent;
    int64_t began_us;
    char head[HEAD_MAX]; /* of the answer, with the beginning of its body */
    size_t head_len;
    bool has_head, is_busy, wants_out;
    int status;
    uint64_t body_left;
};

struct load {
    struct settings set;
    struct link *links;
    int epoll_fd;
    FILE *lines, *save;
    int64_t now_us, counts_from_us, ends_us;
    int64_t sent, busy, answered, refused, broken;
    int refused_status;
    uint32_t *times_us;
    size_t times_count, times_capacity;
};

/* --- one request --- */

static void put_with_line(struct buf *out, const char *text, const char *line)
{
    const char *mark = strstr(text, "@LINE@");

    if (mark == NULL) {
        buf_text(out, text);
        return;
    }
    buf_add(out, text, (size_t)(mark - text));
    buf_text(out, line);
    buf_text(out, mark + 6);
}

/* The next request's bytes. False when the lines have run out. */
static bool make_request(struct load *l, struct buf *out)
{
    char line[512] = "";
    struct buf body;

    if (l->lines != NULL) {
        if (fgets(line, sizeof(line), l->lines) == NULL)
            return false;
        line[strcspn(line, "\n")] = '\0';
    }
    buf_init(&body);
    put_with_line(&body, l->set.body, line);
    buf_clear(out);
    buf_printf(out, "%s ", l->set.method);
    put_with_line(out, l->set.path, line);
    buf_printf(out,
               " HTTP/1.1\r\nHost: pawl\r\nAuthorization: Bearer %s\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
               l->set.token, buf_view(&body).len);
    buf_add(out, buf_view(&body).ptr, buf_view(&body).len);
    buf_fini(&body);
    return true;
}

static void drop(struct load *l, struct link *k)
{
    close(k->fd);
    k->fd = -1;
    l->broken++;
    if (k->is_busy)
        l->busy--;
}

static void send_more(struct load *l, struct link *k)
{
    struct str request = buf_view(&k->request);
    struct epoll_event event = {.data.ptr = k};
    bool wants_out;

    while (k->sent < request.len) {
        ssize_t n =
            send(k->fd, request.ptr + k->sent, request.len - k->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            drop(l, k);
            return;
        }
        k->sent += (size_t)n;
    }
    wants_out = k->sent < request.len;
    if (wants_out == k->wants_out)
        return;
    k->wants_out = wants_out;
    event.events = EPOLLIN | (wants_out ? EPOLLOUT : 0u);
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, k->fd, &event) != 0)
        PANIC("no epoll");
}

static void begin(struct load *l, struct link *k)
{
    k->is_busy = l->now_us < l->ends_us && (l->set.count == 0 || l->sent < l->set.count) &&
                 make_request(l, &k->request);
    if (!k->is_busy)
        return;
    l->sent++;
    l->busy++;
    k->sent = k->head_len = 0;
    k->has_head = false;
    k->began_us = l->now_us;
    send_more(l, k);
}

/* --- its answer --- */

static bool read_head(struct link *k)
{
    static const char name[] = "\r\ncontent-length:";
    const char *at = k->head;

    if (strncmp(at, "HTTP/1.1 ", 9) != 0)
        return false;
    k->status = (int)strtol(at + 9, NULL, 10);
    for (; (at = strstr(at, "\r\n")) != NULL; at += 2)
        if (strncasecmp(at, name, sizeof(name) - 1) == 0) {
            k->body_left = strtoull(at + sizeof(name) - 1, NULL, 10);
            return true;
        }
    return k->status == 204;
}

static void save_id(struct load *l, const struct link *k)
{
    const char *body = strstr(k->head, "\r\n\r\n"), *id = strstr(body, "\"id\":\"");

    if (id != NULL)
        fprintf(l->save, "%.36s\n", id + 6);
}

static void note_time(struct load *l, int64_t us)
{
    if (l->times_count == l->times_capacity) {
        l->times_capacity = l->times_capacity == 0 ? 65536 : l->times_capacity * 2;
        l->times_us = realloc(l->times_us, l->times_capacity * sizeof(uint32_t));
        if (l->times_us == NULL)
            PANIC("out of memory");
    }
    l->times_us[l->times_count++] = us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static void end(struct load *l, struct link *k)
{
    l->busy--;
    k->is_busy = false;
    if (l->save != NULL && k->status / 100 == 2)
        save_id(l, k);
    if (k->status / 100 != 2) {
        l->refused++;
        l->refused_status = k->status;
    } else if (l->now_us >= l->counts_from_us) {
        l->answered++;
        note_time(l, l->now_us - k->began_us);
    }
    begin(l, k);
}

/* False when the bytes make no sense. */
static bool take(struct load *l, struct link *k, const char *bytes, size_t len)
{
    if (!k->has_head) {
        size_t before = k->head_len, capacity = sizeof(k->head) - 1 - before;
        size_t part = len < capacity ? len : capacity;
        const char *head_end;

        memcpy(k->head + before, bytes, part);
        k->head_len += part;
        k->head[k->head_len] = '\0';
        head_end = strstr(k->head, "\r\n\r\n");
        if (head_end == NULL)
            return part > 0;
        if (!read_head(k))
            return false;
        k->has_head = true;
        len -= (size_t)(head_end - k->head) + 4 - before;
    }
    if (len > k->body_left)
        return false;
    k->body_left -= len;
    if (k->body_left == 0)
        end(l, k);
    return true;
}

static void handle(struct load *l, struct link *k, uint32_t events)
{
    static char bytes[READ_BYTES];
    ssize_t n;

    if (k->fd >= 0 && (events & EPOLLOUT) != 0)
        send_more(l, k);
    if (k->fd < 0 || (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
        return;
    n = recv(k->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || !k->is_busy || !take(l, k, bytes, (size_t)n))
        drop(l, k);
}

/* --- all of them --- */

static void open_links(struct load *l)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtol(l->set.port, NULL, 10))};
    int on = 1;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int64_t i = 0; i < l->set.connections; i++) {
        struct link *k = &l->links[i];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = k};

        k->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        buf_init(&k->request);
        if (k->fd < 0 || connect(k->fd, (struct sockaddr *)&to, sizeof(to)) != 0 ||
            epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, k->fd, &event) != 0) {
            (void)fprintf(stderr, "bench_http: connection %lld: %s\n", (long long)i + 1,
                          strerror(errno));
            exit(1);
        }
        (void)setsockopt(k->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
}

static void run(struct load *l)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t began_us = clock_mono_us(&clock_system);

    l->now_us = began_us;
    l->counts_from_us = began_us + l->set.warm_up_ms * 1000;
    l->ends_us =
        l->set.seconds == 0 ? INT64_MAX : l->counts_from_us + l->set.seconds * INT64_C(1000000);
    for (int64_t i = 0; i < l->set.connections; i++)
        begin(l, &l->links[i]);
    while (l->busy > 0) {
        int n = epoll_wait(l->epoll_fd, events, EVENTS_MAX, TICK_MS);

        l->now_us = clock_mono_us(&clock_system);
        for (int i = 0; i < n; i++)
            handle(l, events[i].data.ptr, events[i].events);
    }
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static double time_at(const struct load *l, double part)
{
    size_t place = (size_t)((double)l->times_count * part);

    if (l->times_count == 0)
        return 0;
    return (double)l->times_us[place < l->times_count ? place : l->times_count - 1] / 1000;
}

static void report(struct load *l)
{
    double seconds = (double)(l->now_us - l->counts_from_us) / 1e6;

    qsort(l->times_us, l->times_count, sizeof(uint32_t), by_size);
    printf("{\"connections\":%lld,\"seconds\":%.3f,\"answered\":%lld,\"sent\":%lld,"
           "\"perSecond\":%.1f,\"p50Ms\":%.3f,\"p95Ms\":%.3f,\"p99Ms\":%.3f,\"maxMs\":%.3f,"
           "\"refused\":%lld,\"refusedStatus\":%d,\"broken\":%lld}\n",
           (long long)l->set.connections, seconds, (long long)l->answered, (long long)l->sent,
           seconds > 0 ? (double)l->answered / seconds : 0, time_at(l, 0.5), time_at(l, 0.95),
           time_at(l, 0.99), time_at(l, 1), (long long)l->refused, l->refused_status,
           (long long)l->broken);
}

static bool read_option(struct settings *set, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **text;
        int64_t *number;
    } options[] = {
        {"--port", &set->port, NULL},
        {"--token", &set->token, NULL},
        {"--method", &set->method, NULL},
        {"--path", &set->path, NULL},
        {"--body", &set->body, NULL},
        {"--body-file", &set->body_file, NULL},
        {"--lines", &set->lines, NULL},
        {"--save", &set->save, NULL},
        {"--connections", NULL, &set->connections},
        {"--count", NULL, &set->count},
        {"--seconds", NULL, &set->seconds},
        {"--warm-up-ms", NULL, &set->warm_up_ms},
    };

    for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
        if (strcmp(name, options[i].name) != 0)
            continue;
        if (options[i].text != NULL)
            *options[i].text = value;
        else
            *options[i].number = atoll(value);
        return true;
    }
    return false;
}

static FILE *open_file(const char *path, const char *mode)
{
    FILE *file = path == NULL ? NULL : fopen(path, mode);

    if (path != NULL && file == NULL) {
        (void)fprintf(stderr, "bench_http: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return file;
}

static const char *read_all(const char *path)
{
    FILE *file = open_file(path, "r");
    struct buf text;
    size_t n;

    buf_init(&text);
    do {
        if (!buf_reserve(&text, READ_BYTES))
            PANIC("out of memory");
        n = fread(text.ptr + text.len, 1, READ_BYTES, file);
        text.len += n;
    } while (n > 0);
    buf_char(&text, '\0');
    (void)fclose(file);
    return text.ptr;
}

int main(int argc, char **argv)
{
    static struct load l = {.set = {.method = "POST", .body = "", .connections = 64}};

    for (int i = 1; i + 1 < argc; i += 2)
        if (!read_option(&l.set, argv[i], argv[i + 1])) {
            (void)fprintf(stderr, "bench_http: unknown option %s\n", argv[i]);
            return 2;
        }
    if (l.set.port == NULL || l.set.token == NULL || l.set.path == NULL) {
        (void)fprintf(stderr, "bench_http: needs --port, --token and --path\n");
        return 2;
    }
    if (l.set.body_file != NULL)
        l.set.body = read_all(l.set.body_file);
    l.lines = open_file(l.set.lines, "r");
    l.save = open_file(l.set.save, "w");
    l.links = calloc((size_t)l.set.connections, sizeof(struct link));
    l.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (l.links == NULL || l.epoll_fd < 0)
        PANIC("no memory or no epoll");
    open_links(&l);
    run(&l);
    report(&l);
    if (l.save != NULL && fclose(l.save) != 0)
        return 1;
    return 0;
}
