/* web.c - see web.h. */
#include "http/web.h"

#include "http/http_inner.h"
#include "http/http_parse.h"

#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

void web_answer(struct http_request *r, int status, const char *text)
{
    http_answer(r, &(struct http_answer){.status = status,
                                         .content_type = "text/plain",
                                         .body = str_of(text),
                                         .headers = {{"X-Test", "yes"}}});
}

void web_handle(void *context, struct http_request *r)
{
    struct web *f = context;

    f->calls++;
    buf_printf(&f->seen, "%.*s %.*s [%.*s]\n", STR_ARG(r->method), STR_ARG(r->path),
               (int)(r->body.len > 40 ? 40 : r->body.len), r->body.ptr);
    if (r->refusal != ERR_NONE)
        web_answer(r, err_http_status(r->refusal), err_code_name(r->refusal));
    else if (str_starts_with(r->path, STR("/later"))) {
        r->wait_us = str_eq(r->path, STR("/later/wait")) ? WEB_WAIT_US : 0;
        f->kept[f->kept_count++] = r;
    } else if (str_eq(r->path, STR("/echo")))
        http_answer(
            r, &(struct http_answer){.status = 200, .content_type = "text/plain", .body = r->body});
    else if (str_eq(r->path, STR("/many"))) {
        struct http_answer answer = {.status = 200};

        for (int i = 0; i < 8; i++)
            answer.headers[i] = (struct http_header){str_printf(r->mem, "X-H%d", i).ptr, "v"};
        http_answer(r, &answer);
    } else if (str_eq(r->path, STR("/asks"))) {
        struct str header = http_header(r, "x-WANTED"), query = http_query(r, "q");
        struct str text =
            str_printf(r->mem, "%.*s|%.*s|%d|%d", STR_ARG(header), STR_ARG(query),
                       http_query(r, "empty").ptr != NULL, http_query(r, "missing").ptr != NULL);
        http_answer(r, &(struct http_answer){.status = 200, .body = text});
    } else if (str_eq(r->path, STR("/cookie"))) {
        struct str cookie = http_cookie(r, "pawl");
        struct str text =
            cookie.ptr == NULL ? STR("none") : str_printf(r->mem, "[%.*s]", STR_ARG(cookie));
        http_answer(r, &(struct http_answer){.status = 200, .body = text});
    } else
        web_answer(r, 200, "hello");
}

bool web_admit(void *context, struct http_request *r, size_t *body_max)
{
    (void)context;
    if (str_eq(r->path, STR("/stranger")))
        r->share = HTTP_SHARE_STRANGER;
    *body_max = str_eq(r->path, STR("/small")) ? WEB_SMALL_MAX : WEB_LARGE_MAX;
    return !str_eq(r->path, STR("/unwanted"));
}

void web_closing(void *context, const struct http_request *r, struct arena *mem,
                 struct http_answer *out)
{
    (void)context;
    *out = (struct http_answer){.status = 503,
                                .content_type = "text/plain",
                                .body = str_printf(mem, "%.*s is closing", STR_ARG(r->path)),
                                .headers = {{"Retry-After", "1"}}};
}

static void web_overdue(void *context, const struct http_request *r, struct arena *mem,
                        struct http_answer *out)
{
    (void)context;
    *out = (struct http_answer){.status = 503,
                                .content_type = "text/plain",
                                .body = str_printf(mem, "%.*s is overdue", STR_ARG(r->path))};
}

static int web_setup_for(void **state, unsigned connections_max)
{
    struct web *f = calloc(1, sizeof(*f));
    struct err err;

    clock_manual_init(&f->clock, 0);
    buf_init(&f->seen);
    f->server = http_open(&(struct http_options){.host = STR("127.0.0.1"),
                                                 .handle = web_handle,
                                                 .admit = web_admit,
                                                 .closing = web_closing,
                                                 .overdue = web_overdue,
                                                 .decide_us = WEB_DECIDE_US,
                                                 .context = f,
                                                 .clock = &f->clock.clock,
                                                 .connections_max = connections_max,
                                                 .bodies_max_bytes = 2 * WEB_LARGE_MAX},
                          &err);
    *state = f;
    return f->server == NULL;
}

int web_setup(void **state)
{
    return web_setup_for(state, 0);
}

int web_setup_for_two(void **state)
{
    return web_setup_for(state, 2);
}

int web_teardown(void **state)
{
    struct web *f = *state;

    if (f->server != NULL)
        http_close(f->server);
    buf_fini(&f->seen);
    free(f);
    return 0;
}

int web_pass(struct web *f)
{
    struct pollfd ready = {.fd = http_fd(f->server), .events = POLLIN};
    int timeout_ms = -1;

    if (poll(&ready, 1, 0) > 0)
        http_run(f->server);
    http_before_sleep(f->server, &timeout_ms);
    return timeout_ms;
}

int web_knock(const struct web *f)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(http_port(f->server))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

int web_connect(struct web *f)
{
    struct pollfd ready = {.fd = http_fd(f->server), .events = POLLIN};
    int fd = web_knock(f);

    /* The server may hear of it a moment later than the client. */
    assert_int_equal(poll(&ready, 1, WEB_WAIT_MS), 1);
    (void)web_pass(f);
    return fd;
}

void web_send(struct web *f, int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else {
            (void)web_pass(f);
        }
    }
}

void web_say(struct web *f, int fd, const char *text)
{
    web_send(f, fd, text, strlen(text));
}

/* Until the server or the client has something to read. */
static void sleep_until_ready(const struct web *f, int fd, int timeout_ms)
{
    struct pollfd ready[] = {{.fd = fd, .events = POLLIN},
                             {.fd = http_fd(f->server), .events = POLLIN}};

    (void)poll(ready, 2, timeout_ms < 0 || timeout_ms > 1000 ? 1000 : timeout_ms);
}

struct str web_hear(struct web *f, int fd, struct buf *out)
{
    int64_t until_us = clock_mono_us(&clock_system) + INT64_C(1000) * WEB_WAIT_MS;

    while (clock_mono_us(&clock_system) < until_us) {
        char bytes[65536];
        int64_t head = str_find(buf_view(out), STR("\r\n\r\n"), 0);
        int64_t at = str_find(buf_view(out), STR("Content-Length: "), 0);
        int timeout_ms;
        ssize_t n;

        if (head >= 0 && at >= 0 &&
            out->len >= (size_t)head + 4 + strtoul(out->ptr + at + 16, NULL, 10))
            break;
        timeout_ms = web_pass(f);
        n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n == 0)
            break;
        if (n > 0)
            buf_add(out, bytes, (size_t)n);
        else
            sleep_until_ready(f, fd, timeout_ms);
    }
    return buf_view(out);
}

bool web_contains(struct str s, const char *part)
{
    return str_find(s, str_of(part), 0) >= 0;
}

void web_expect(struct web *f, const char *request, const char *wanted)
{
    int fd = web_connect(f);
    struct buf answer;

    buf_init(&answer);
    web_say(f, fd, request);
    if (!web_contains(web_hear(f, fd, &answer), wanted))
        fail_msg("no \"%s\" in: %.*s", wanted, STR_ARG(buf_view(&answer)));
    buf_fini(&answer);
    close(fd);
}

bool web_stays_open(struct web *f, const char *request)
{
    int fd = web_connect(f);
    struct buf answer;
    bool stays;

    buf_init(&answer);
    web_say(f, fd, request);
    stays = !web_contains(web_hear(f, fd, &answer), "Connection: close");
    buf_fini(&answer);
    close(fd);
    return stays;
}

bool web_is_cut(struct web *f, int fd)
{
    char byte;

    for (int i = 0; i < 10; i++)
        (void)web_pass(f);
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* What the server has sent may be on its way. */
bool web_gets_cut(struct web *f, int fd)
{
    int64_t until_us = clock_mono_us(&clock_system) + INT64_C(1000) * WEB_WAIT_MS;

    while (!web_is_cut(f, fd))
        if (clock_mono_us(&clock_system) > until_us)
            return false;
    return true;
}

size_t web_keep_many(struct web *f, int *fds, size_t count)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < 2 * count + 200)
        count = (limit.rlim_cur - 200) / 2;
    for (size_t i = 0; i < count; i++) {
        fds[i] = web_connect(f);
        web_say(f, fds[i], "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
        (void)web_pass(f);
    }
    while (f->kept_count < count)
        (void)web_pass(f);
    assert_int_equal(web_kept(f), count);
    return count;
}

size_t web_kept(const struct web *f)
{
    size_t count = 0;

    for (const struct exchange *x = LIST_FIRST(&f->server->kept); x != NULL; x = LIST_NEXT(x, link))
        count++;
    return count;
}

void web_passes(struct web *f)
{
    for (int i = 0; i < 10; i++)
        (void)web_pass(f);
}

static int count_of(const struct buf *text, const char *part)
{
    int found = 0;
    int64_t at = 0;

    while ((at = str_find(buf_view(text), str_of(part), (size_t)at)) >= 0) {
        found++;
        at++;
    }
    return found;
}

void web_hear_times(struct web *f, int fd, struct buf *out, const char *wanted, int times)
{
    while (count_of(out, wanted) < times) {
        char bytes[65536];
        int timeout_ms = web_pass(f);
        ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

        if (n == 0)
            fail_msg("the stream ended after: %.*s", STR_ARG(buf_view(out)));
        if (n > 0)
            buf_add(out, bytes, (size_t)n);
        else
            sleep_until_ready(f, fd, timeout_ms);
    }
}

void web_keep(struct web *f, size_t count)
{
    while (f->kept_count < count)
        (void)web_pass(f);
}

void web_raise_limits(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}
