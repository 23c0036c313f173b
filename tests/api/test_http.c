/*
 * test_http.c - the HTTP server, driven by hand: the test is the loop, and the
 * clients are sockets in the same thread.
 */
#include "api/http.h"
#include "base/buf.h"

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

enum { KEPT_MAX = 4096, SMALL_MAX = 1024, LARGE_MAX = 1 << 20, WAIT_MS = 120000 };

/* A server and what its handler saw. */
struct fixture {
    struct http_server *server;
    struct clock_manual clock;
    struct http_request *kept[KEPT_MAX];
    size_t kept_count;
    size_t calls;
    struct buf seen; /* method, path and body of each request */
};

static void answer_text(struct http_request *r, int status, const char *text)
{
    http_answer(r, &(struct http_answer){.status = status,
                                         .content_type = "text/plain",
                                         .body = str_of(text),
                                         .headers = {{"X-Test", "yes"}}});
}

static void handle(void *context, struct http_request *r)
{
    struct fixture *f = context;

    f->calls++;
    buf_printf(&f->seen, "%.*s %.*s [%.*s]\n", STR_ARG(r->method), STR_ARG(r->path),
               (int)(r->body.len > 40 ? 40 : r->body.len), r->body.ptr);
    if (r->refusal != ERR_NONE)
        answer_text(r, err_http_status(r->refusal), err_code_name(r->refusal));
    else if (str_starts_with(r->path, STR("/later")))
        f->kept[f->kept_count++] = r;
    else if (str_eq(r->path, STR("/echo")))
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
    } else
        answer_text(r, 200, "hello");
}

static bool admit(void *context, struct http_request *r, size_t *body_max)
{
    (void)context;
    *body_max = str_eq(r->path, STR("/small")) ? SMALL_MAX : LARGE_MAX;
    return !str_eq(r->path, STR("/unwanted"));
}

static void closing(void *context, const struct http_request *r, struct arena *mem,
                    struct http_answer *out)
{
    (void)context;
    *out = (struct http_answer){.status = 503,
                                .content_type = "text/plain",
                                .body = str_printf(mem, "%.*s is closing", STR_ARG(r->path)),
                                .headers = {{"Retry-After", "1"}}};
}

static int setup_for(void **state, unsigned connections_max)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err;

    clock_manual_init(&f->clock, 0);
    buf_init(&f->seen);
    f->server = http_open(&(struct http_options){.host = STR("127.0.0.1"),
                                                 .handle = handle,
                                                 .admit = admit,
                                                 .closing = closing,
                                                 .context = f,
                                                 .clock = &f->clock.clock,
                                                 .connections_max = connections_max,
                                                 .bodies_max_bytes = 2 * LARGE_MAX},
                          &err);
    *state = f;
    return f->server == NULL;
}

static int setup(void **state)
{
    return setup_for(state, 0);
}

static int setup_for_two(void **state)
{
    return setup_for(state, 2);
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    if (f->server != NULL)
        http_close(f->server);
    buf_fini(&f->seen);
    free(f);
    return 0;
}

/* One pass of the loop, without sleeping. */
static int pass(struct fixture *f)
{
    struct pollfd ready = {.fd = http_fd(f->server), .events = POLLIN};
    int timeout_ms = -1;

    if (poll(&ready, 1, 0) > 0)
        http_run(f->server);
    http_before_sleep(f->server, &timeout_ms);
    return timeout_ms;
}

/* A client that the system has taken in, and the server perhaps not yet. */
static int client_knock(const struct fixture *f)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(http_port(f->server))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static int client_connect(struct fixture *f)
{
    struct pollfd ready = {.fd = http_fd(f->server), .events = POLLIN};
    int fd = client_knock(f);

    /* The server may hear of it a moment later than the client. */
    assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
    (void)pass(f);
    return fd;
}

/* Send everything, running the server where the client would block. */
static void client_send(struct fixture *f, int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else {
            (void)pass(f);
        }
    }
}

static void client_say(struct fixture *f, int fd, const char *text)
{
    client_send(f, fd, text, strlen(text));
}

/* Until the server or the client has something to read. */
static void sleep_until_ready(const struct fixture *f, int fd, int timeout_ms)
{
    struct pollfd ready[] = {{.fd = fd, .events = POLLIN},
                             {.fd = http_fd(f->server), .events = POLLIN}};

    (void)poll(ready, 2, timeout_ms < 0 || timeout_ms > 1000 ? 1000 : timeout_ms);
}

/* Run the server until the client has a whole answer, or its stream has ended. */
static struct str client_hear(struct fixture *f, int fd, struct buf *out)
{
    int64_t until_us = clock_mono_us(&clock_system) + INT64_C(1000) * WAIT_MS;

    while (clock_mono_us(&clock_system) < until_us) {
        char bytes[65536];
        int64_t head = str_find(buf_view(out), STR("\r\n\r\n"), 0);
        int64_t at = str_find(buf_view(out), STR("Content-Length: "), 0);
        int timeout_ms;
        ssize_t n;

        if (head >= 0 && at >= 0 &&
            out->len >= (size_t)head + 4 + strtoul(out->ptr + at + 16, NULL, 10))
            break;
        timeout_ms = pass(f);
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

static bool contains(struct str s, const char *part)
{
    return str_find(s, str_of(part), 0) >= 0;
}

/* A client that says one thing; what it hears must contain `wanted`. */
static void expect(struct fixture *f, const char *request, const char *wanted)
{
    int fd = client_connect(f);
    struct buf answer;

    buf_init(&answer);
    client_say(f, fd, request);
    if (!contains(client_hear(f, fd, &answer), wanted))
        fail_msg("no \"%s\" in: %.*s", wanted, STR_ARG(buf_view(&answer)));
    buf_fini(&answer);
    close(fd);
}

/* Whether the connection of a request is kept for the next one. */
static bool stays_open(struct fixture *f, const char *request)
{
    int fd = client_connect(f);
    struct buf answer;
    bool stays;

    buf_init(&answer);
    client_say(f, fd, request);
    stays = !contains(client_hear(f, fd, &answer), "Connection: close");
    buf_fini(&answer);
    close(fd);
    return stays;
}

static void test_http__answers_at_once(void **state)
{
    struct fixture *f = *state;

    expect(f, "GET /a%20b HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    expect(f, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n", "X-Test: yes");
    assert_true(contains(buf_view(&f->seen), "GET /a%20b []\n"));
}

static void test_http__path_stays_as_it_was_sent(void **state)
{
    struct fixture *f = *state;

    expect(f, "GET /a%00b HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    expect(f, "GET /a%2Fb HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    assert_true(contains(buf_view(&f->seen), "GET /a%00b []\nGET /a%2Fb []\n"));
}

static void test_http__handler_is_called_once_with_the_whole_body(void **state)
{
    struct fixture *f = *state;

    expect(f, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde", "abcde");
    expect(f,
           "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
           "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
           "abcdefg");
    assert_int_equal(f->calls, 2);
}

static void test_http__headers_and_query_are_found_whatever_their_case(void **state)
{
    struct fixture *f = *state;

    expect(f, "GET /asks?q=a%2Fb+c&empty HTTP/1.1\r\nHost: x\r\nX-Wanted: this\r\n\r\n",
           "this|a/b c|1|0");
}

static void test_http__query_that_is_no_text_is_refused(void **state)
{
    static const char *const queries[] = {"q=%00", "q=%ff", "q=%",
                                          "q=%zz", "%ff=1", "a=b&c=%c0%80"};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        char request[100];
        snprintf(request, sizeof(request), "GET /asks?%s HTTP/1.1\r\nHost: x\r\n\r\n", queries[i]);
        expect(f, request, "bad_request");
    }
}

/* One of them would be a second request to a reader that believes the other header. */
static void test_http__body_with_two_ends_is_refused_and_the_connection_closed(void **state)
{
    static const char *const headers[] = {
        "Content-Length: 5\r\nContent-Length: 3",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Transfer-Encoding: gzip",
        "Content-Length : 5",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        char request[200];
        snprintf(request, sizeof(request), "POST /echo HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n0\r\n\r\n",
                 headers[i]);
        expect(f, request, "HTTP/1.1 400");
        expect(f, request, "Connection: close");
        assert_int_equal(f->calls, 2 * (i + 1));
    }
}

static void test_http__connection_is_kept_for_the_next_request(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);

    for (int i = 0; i < 3; i++) {
        struct buf answer;
        buf_init(&answer);
        client_say(f, fd, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_true(contains(client_hear(f, fd, &answer), "hello"));
        buf_fini(&answer);
    }
    close(fd);
    assert_int_equal(f->calls, 3);
}

static void test_http__kept_request_is_answered_later(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);
    struct buf answer;

    buf_init(&answer);
    client_say(f, fd, "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    while (f->kept_count == 0)
        (void)pass(f);
    for (int i = 0; i < 10; i++)
        (void)pass(f);
    assert_int_equal(http_kept(f->server), 1);
    assert_int_equal(recv(fd, &(char){0}, 1, MSG_DONTWAIT), -1);
    assert_true(str_eq(f->kept[0]->body, STR("hi")));
    answer_text(f->kept[0], 201, "at last");
    assert_int_equal(http_kept(f->server), 0);
    assert_true(contains(client_hear(f, fd, &answer), "HTTP/1.1 201"));
    buf_fini(&answer);
    close(fd);
}

static void test_http__kept_request_may_be_answered_in_the_pass_that_brought_it(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);
    struct buf answer;

    buf_init(&answer);
    client_say(f, fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    while (f->kept_count == 0) {
        struct pollfd ready = {.fd = http_fd(f->server), .events = POLLIN};
        if (poll(&ready, 1, 0) > 0)
            http_run(f->server);
    }
    answer_text(f->kept[0], 200, "same pass");
    assert_true(contains(client_hear(f, fd, &answer), "same pass"));
    buf_fini(&answer);
    close(fd);
}

/* Whether the handler was called before sleeping, for a body of that size. */
static bool arrives_before_sleep(struct fixture *f, size_t size)
{
    struct pollfd ready = {.fd = http_fd(f->server), .events = POLLIN};
    size_t calls = f->calls;
    int fd = client_connect(f);
    bool arrived = false;
    struct buf text;

    buf_init(&text);
    buf_printf(&text, "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", size);
    for (size_t i = 0; i < size; i++)
        buf_char(&text, 'x');
    client_send(f, fd, text.ptr, text.len);
    while (f->calls == calls) {
        int timeout_ms = 1000;

        if (poll(&ready, 1, 0) > 0)
            http_run(f->server);
        if (f->calls > calls)
            break;
        http_before_sleep(f->server, &timeout_ms);
        arrived = f->calls > calls;
        if (arrived)
            assert_int_equal(timeout_ms, 0);
    }
    answer_text(f->kept[f->kept_count - 1], 200, "done");
    buf_fini(&text);
    close(fd);
    return arrived;
}

static void test_http__loop_does_not_sleep_on_a_request_whose_body_came_last(void **state)
{
    int arrived = 0;

    for (size_t size = 10000; size <= 100000; size += 10000)
        arrived += arrives_before_sleep(*state, size);
    assert_true(arrived > 0);
}

/* What it points to may be read by another thread until its handler answers. */
static void test_http__client_may_be_told_while_its_request_goes_on(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);
    struct buf answer;
    struct str text;

    buf_init(&answer);
    client_say(f, fd,
               "POST /later HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k1\r\n"
               "Content-Length: 2\r\n\r\nhi");
    while (f->kept_count == 0)
        (void)pass(f);
    http_tell_kept(f->server, closing);
    http_tell_kept(f->server, closing); /* once each */
    text = client_hear(f, fd, &answer);
    assert_true(contains(text, "HTTP/1.1 503 Service Unavailable"));
    assert_true(contains(text, "Retry-After: 1"));
    assert_true(contains(text, "X-Content-Type-Options: nosniff"));
    assert_true(contains(text, "/later is closing"));
    assert_int_equal(recv(fd, &(char){0}, 1, 0), 0);
    close(fd);
    for (int i = 0; i < 10; i++)
        (void)pass(f);
    assert_int_equal(http_kept(f->server), 1);
    assert_true(str_eq(f->kept[0]->body, STR("hi")));
    assert_true(str_eq(f->kept[0]->path, STR("/later")));
    assert_true(str_eq(http_header(f->kept[0], "Idempotency-Key"), STR("k1")));
    answer_text(f->kept[0], 200, "nobody hears this");
    assert_int_equal(http_kept(f->server), 0);
    for (int i = 0; i < 10; i++)
        (void)pass(f);
    expect(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    buf_fini(&answer);
}

static void test_http__client_that_left_does_no_harm(void **state)
{
    struct fixture *f = *state;
    struct linger at_once = {.l_onoff = 1};
    int fd = client_connect(f), other = client_connect(f);

    client_say(f, fd, "GET /later/1 HTTP/1.1\r\nHost: x\r\n\r\n");
    client_say(f, other, "GET /later/2 HTTP/1.1\r\nHost: x\r\n\r\n");
    while (f->kept_count < 2)
        (void)pass(f);
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd); /* with a reset */
    close(other);
    for (int i = 0; i < 10; i++)
        (void)pass(f);
    assert_true(str_starts_with(f->kept[0]->path, STR("/later")));
    answer_text(f->kept[0], 200, "nobody hears this");
    answer_text(f->kept[1], 200, "nor this");
    for (int i = 0; i < 10; i++)
        (void)pass(f);
    expect(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
}

static void test_http__client_that_leaves_in_the_middle_of_a_body_does_no_harm(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);

    client_say(f, fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    for (int i = 0; i < 10; i++)
        (void)pass(f);
    close(fd);
    expect(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    assert_int_equal(f->calls, 1);
}

static void test_http__body_up_to_the_limit_is_taken(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);
    char *body = malloc(SMALL_MAX + 1);
    struct buf answer;

    memset(body, 'x', SMALL_MAX + 1);
    for (size_t extra = 0; extra < 2; extra++) {
        char head[100];
        buf_init(&answer);
        snprintf(head, sizeof(head),
                 "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
                 SMALL_MAX + extra);
        client_say(f, fd, head);
        client_send(f, fd, body, SMALL_MAX + extra);
        if (!contains(client_hear(f, fd, &answer), extra ? "too_large" : "hello"))
            fail_msg("%.*s", STR_ARG(buf_view(&answer)));
        buf_fini(&answer);
    }
    free(body);
    close(fd);
}

static void test_http__oversized_bodies_are_refused_however_they_come(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);
    char *body = calloc(1, 2 * LARGE_MAX);
    struct buf answer;

    /* Chunked, so that only reading it tells. */
    buf_init(&answer);
    memset(body, 'x', 2 * LARGE_MAX);
    client_say(f, fd,
               "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n");
    client_send(f, fd, body, 2 * LARGE_MAX);
    client_say(f, fd, "\r\n0\r\n\r\n");
    assert_true(contains(client_hear(f, fd, &answer), "HTTP/1.1 413"));
    buf_fini(&answer);
    close(fd);
    free(body);
    /* One that asks first is told before it sends, as is one too large to be read to its end. */
    expect(f,
           "POST /x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1048577\r\n\r\n",
           "HTTP/1.1 413");
    expect(f, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", "HTTP/1.1 413");
}

static void test_http__client_that_asks_first_is_told_to_go_on(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);
    char bytes[256];
    ssize_t n = -1;
    struct buf answer;

    client_say(f, fd,
               "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
               "Content-Length: 4\r\n\r\n");
    while (n < 0) {
        (void)pass(f);
        n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    }
    assert_true(contains(str_from(bytes, (size_t)n), "HTTP/1.1 100 Continue"));
    client_say(f, fd, "body");
    buf_init(&answer);
    assert_true(contains(client_hear(f, fd, &answer), "body"));
    buf_fini(&answer);
    close(fd);
}

static void test_http__bodies_together_have_a_limit(void **state)
{
    struct fixture *f = *state;
    char *body = malloc(LARGE_MAX);
    struct buf answer;
    int fds[3];

    memset(body, 'x', LARGE_MAX);
    for (int i = 0; i < 3; i++) {
        fds[i] = client_connect(f);
        client_say(f, fds[i], "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n");
        client_send(f, fds[i], body, LARGE_MAX);
        if (i < 2)
            while (f->kept_count <= (size_t)i)
                (void)pass(f);
    }
    buf_init(&answer);
    assert_true(contains(client_hear(f, fds[2], &answer), "overloaded"));
    buf_fini(&answer);
    answer_text(f->kept[0], 200, "done");
    buf_init(&answer);
    (void)client_hear(f, fds[0], &answer);
    buf_fini(&answer);
    expect(f, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok", "ok");
    answer_text(f->kept[1], 200, "done");
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    free(body);
}

/* In one header, and in many: what is noted about each takes room, too. */
static void test_http__headers_of_32_kib_are_read(void **state)
{
    struct fixture *f = *state;

    for (int lines = 1; lines <= 100; lines += 99) {
        struct buf request;

        buf_init(&request);
        buf_text(&request, "POST /asks?q=1 HTTP/1.1\r\nHost: x\r\nX-Wanted: this\r\n"
                           "Content-Length: 4\r\n");
        for (int i = 0; i < lines; i++) {
            buf_printf(&request, "X-%d: ", i);
            for (int k = 0; k < (HTTP_HEAD_MAX_BYTES - 200) / lines - 10; k++)
                buf_char(&request, 'x');
            buf_text(&request, "\r\n");
        }
        buf_text(&request, "\r\nbody");
        buf_char(&request, '\0');
        expect(f, request.ptr, "this|1|0|0");
        buf_fini(&request);
    }
}

static void test_http__headers_have_a_limit(void **state)
{
    struct fixture *f = *state;
    struct buf request;

    buf_init(&request);
    buf_text(&request, "GET /x HTTP/1.1\r\nHost: x\r\nX-Long: ");
    for (int i = 0; i < 3 * HTTP_HEAD_MAX_BYTES; i++)
        buf_char(&request, 'x');
    buf_text(&request, "\r\n\r\n");
    buf_char(&request, '\0');
    expect(f, request.ptr, "HTTP/1.1 431");
    buf_fini(&request);
    assert_int_equal(f->calls, 0);
}

/* Whether the stream of a client has ended. */
static bool is_cut(struct fixture *f, int fd)
{
    char byte;

    for (int i = 0; i < 10; i++)
        (void)pass(f);
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* The same where it must be so: what the server has sent may be on its way. */
static bool gets_cut(struct fixture *f, int fd)
{
    int64_t until_us = clock_mono_us(&clock_system) + INT64_C(1000) * WAIT_MS;

    while (!is_cut(f, fd))
        if (clock_mono_us(&clock_system) > until_us)
            return false;
    return true;
}

static void test_http__client_that_drips_is_cut(void **state)
{
    struct fixture *f = *state;
    int silent = client_connect(f), headers = client_connect(f), body = client_connect(f);

    client_say(f, headers, "GET /x HTTP/1.1\r\n");
    client_say(f, body, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
    for (int second = 0; second < 59; second++) {
        (void)pass(f);
        clock_manual_advance(&f->clock, 1000000);
        client_say(f, headers, "X-A: b\r\n");
        client_say(f, body, "x");
    }
    assert_false(is_cut(f, silent));
    assert_false(is_cut(f, headers));
    assert_false(is_cut(f, body));
    clock_manual_advance(&f->clock, 2000000);
    assert_true(gets_cut(f, silent));
    assert_true(gets_cut(f, headers));
    assert_true(gets_cut(f, body));
    close(silent);
    close(headers);
    close(body);
    assert_int_equal(f->calls, 0);
}

static void test_http__kept_request_may_take_any_time(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);
    struct buf answer;

    buf_init(&answer);
    client_say(f, fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    while (f->kept_count == 0)
        (void)pass(f);
    clock_manual_advance(&f->clock, INT64_C(3600000000));
    assert_false(is_cut(f, fd));
    answer_text(f->kept[0], 200, "after an hour");
    assert_true(contains(client_hear(f, fd, &answer), "after an hour"));
    buf_fini(&answer);
    close(fd);
}

static void test_http__loop_is_woken_when_a_client_runs_out_of_time(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);
    int64_t until_us;

    for (int i = 0; i < 10; i++)
        (void)pass(f);
    clock_manual_advance(&f->clock, 59000000);
    assert_in_range(pass(f), 1, 1001);
    close(fd);
    until_us = clock_mono_us(&clock_system) + INT64_C(1000) * WAIT_MS;
    while (pass(f) != -1)
        assert_true(clock_mono_us(&clock_system) < until_us);
}

/* Keep `count` requests, or as many as the system lets us; answers how many. */
static size_t keep_many(struct fixture *f, int *fds, size_t count)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < 2 * count + 200)
        count = (limit.rlim_cur - 200) / 2;
    for (size_t i = 0; i < count; i++) {
        fds[i] = client_connect(f);
        client_say(f, fds[i], "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
        (void)pass(f);
    }
    while (f->kept_count < count)
        (void)pass(f);
    assert_int_equal(http_kept(f->server), count);
    return count;
}

static void test_http__answers_leave_together_when_very_many_are_kept(void **state)
{
    struct fixture *f = *state;
    int fds[2000];
    size_t count = keep_many(f, fds, 2000);
    struct buf answer;
    int timeout_ms = 0;

    if (count < 2000) {
        for (size_t i = 0; i < count; i++)
            close(fds[i]);
        skip(); /* the system lets us have too few descriptors */
    }
    buf_init(&answer);
    answer_text(f->kept[0], 200, "first");
    assert_true(contains(client_hear(f, fds[0], &answer), "first"));
    answer_text(f->kept[1], 200, "second");
    for (int i = 0; i < 10; i++)
        timeout_ms = pass(f);
    assert_int_equal(timeout_ms, 1);
    assert_int_equal(recv(fds[1], &(char){0}, 1, MSG_DONTWAIT), -1);
    clock_manual_advance(&f->clock, 1000);
    buf_clear(&answer);
    assert_true(contains(client_hear(f, fds[1], &answer), "second"));
    buf_fini(&answer);
    for (size_t i = 0; i < count; i++) {
        if (i > 1)
            answer_text(f->kept[i], 200, "rest");
        close(fds[i]);
    }
}

static void test_http__many_connections_are_kept_at_once(void **state)
{
    struct fixture *f = *state;
    int fds[2000];
    size_t count = keep_many(f, fds, 2000);

    for (size_t i = 0; i < count; i++)
        answer_text(f->kept[i], 200, "all");
    for (size_t i = 0; i < count; i++) {
        struct buf answer;
        buf_init(&answer);
        assert_true(contains(client_hear(f, fds[i], &answer), "all"));
        buf_fini(&answer);
        close(fds[i]);
    }
}

/* The clock stands still, so that nobody is cut for being slow. */
static void test_http__whoever_waits_for_room_comes_in_when_others_leave(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 20; i++) {
        int first = client_connect(f), second = client_connect(f), third = client_knock(f);
        struct buf answer;

        client_say(f, third, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_false(is_cut(f, third));
        assert_int_equal(f->calls, i);
        close(first);
        close(second);
        buf_init(&answer);
        assert_true(contains(client_hear(f, third, &answer), "hello"));
        buf_fini(&answer);
        close(third);
        while (pass(f) != -1)
            ;
    }
}

static void test_http__large_answers_arrive_whole(void **state)
{
    struct fixture *f = *state;
    size_t size = 1 << 20;
    char *body = malloc(size);
    int fd = client_connect(f);
    struct buf answer;

    memset(body, 'y', size);
    buf_init(&answer);
    client_say(f, fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n");
    client_send(f, fd, body, size);
    assert_true(client_hear(f, fd, &answer).len > size);
    assert_memory_equal(answer.ptr + answer.len - size, body, size);
    buf_fini(&answer);
    free(body);
    close(fd);
}

static void test_http__closing_answers_what_is_kept(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);
    char bytes[1024];
    ssize_t n;

    client_say(f, fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    while (f->kept_count == 0)
        (void)pass(f);
    http_close(f->server);
    f->server = NULL;
    n = recv(fd, bytes, sizeof(bytes), 0);
    assert_true(n > 0);
    assert_true(contains(str_from(bytes, (size_t)n), "HTTP/1.1 503"));
    assert_true(contains(str_from(bytes, (size_t)n), "Retry-After: 1"));
    assert_true(contains(str_from(bytes, (size_t)n), "/later is closing"));
    close(fd);
}

/* Its client does not wait for a word before it sends, and sends on after the answer. */
static void test_http__body_that_is_not_wanted_is_answered_before_it_comes(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(f);
    char *body = calloc(1, LARGE_MAX);
    struct buf answer;

    buf_init(&answer);
    client_say(f, fd, "POST /unwanted HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n");
    while (f->calls == 0)
        (void)pass(f);
    assert_true(contains(buf_view(&f->seen), "POST /unwanted []\n"));
    for (int i = 0; i < 10; i++)
        (void)pass(f);
    client_send(f, fd, body, LARGE_MAX);
    assert_true(contains(client_hear(f, fd, &answer), "Connection: close"));
    assert_true(contains(buf_view(&answer), "hello"));
    assert_int_equal(f->calls, 1);
    buf_fini(&answer);
    free(body);
    close(fd);
    /* Without a body there is no reason to close. */
    assert_true(stays_open(f, "POST /unwanted HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"));
}

static void test_http__every_answer_has_the_headers_that_protect(void **state)
{
    static const char *const headers[] = {"X-Content-Type-Options: nosniff",
                                          "Referrer-Policy: no-referrer", "X-Frame-Options: DENY"};
    static const char *const requests[] = {
        "GET /x HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /asks?q=%ff HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
        "POST /unwanted HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody",
    };

    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
        for (size_t k = 0; k < sizeof(headers) / sizeof(headers[0]); k++)
            expect(*state, requests[i], headers[k]);
}

static void test_http__more_headers_than_four_are_sent(void **state)
{
    struct fixture *f = *state;

    expect(f, "GET /many HTTP/1.1\r\nHost: x\r\n\r\n", "X-H0: v\r\n");
    expect(f, "GET /many HTTP/1.1\r\nHost: x\r\n\r\n", "X-H7: v\r\n");
}

/* Beyond, every answer ends its connection: the library has touched all memory of those that stay. */
static void test_http__connections_that_are_used_again_are_bounded(void **state)
{
    enum { REUSED_MAX = 600, MORE = 10 };
    struct fixture *f = *state;
    int fds[REUSED_MAX + MORE];
    struct rlimit limit;
    int ended = 0;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < 2 * (REUSED_MAX + MORE) + 200)
        skip(); /* the system lets us have too few descriptors */
    for (int i = 0; i < REUSED_MAX + MORE; i++) {
        struct buf answer;

        buf_init(&answer);
        fds[i] = client_connect(f);
        client_say(f, fds[i], "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
        ended += contains(client_hear(f, fds[i], &answer), "Connection: close");
        assert_true(contains(buf_view(&answer), "hello"));
        buf_fini(&answer);
    }
    assert_int_equal(ended, MORE);
    for (int i = 0; i < REUSED_MAX + MORE; i++)
        close(fds[i]);
    while (pass(f) != -1)
        ;
    assert_true(stays_open(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n"));
}

static void test_http__two_servers_cannot_have_one_port(void **state)
{
    struct fixture *f = *state;
    struct http_options options = {.host = STR("127.0.0.1"),
                                   .port = http_port(f->server),
                                   .handle = handle,
                                   .admit = admit,
                                   .clock = &clock_system};
    struct err err;

    assert_null(http_open(&options, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_true(contains(str_of(err.message), "in use"));
    options.host = STR("no.such.host.invalid");
    assert_null(http_open(&options, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_http__##name, setup, teardown)
        TEST(answers_at_once),
        TEST(handler_is_called_once_with_the_whole_body),
        TEST(headers_and_query_are_found_whatever_their_case),
        TEST(path_stays_as_it_was_sent),
        TEST(query_that_is_no_text_is_refused),
        TEST(body_with_two_ends_is_refused_and_the_connection_closed),
        TEST(connection_is_kept_for_the_next_request),
        TEST(kept_request_is_answered_later),
        TEST(kept_request_may_be_answered_in_the_pass_that_brought_it),
        TEST(loop_does_not_sleep_on_a_request_whose_body_came_last),
        TEST(client_may_be_told_while_its_request_goes_on),
        TEST(client_that_left_does_no_harm),
        TEST(client_that_leaves_in_the_middle_of_a_body_does_no_harm),
        TEST(body_up_to_the_limit_is_taken),
        TEST(oversized_bodies_are_refused_however_they_come),
        TEST(client_that_asks_first_is_told_to_go_on),
        TEST(bodies_together_have_a_limit),
        TEST(headers_of_32_kib_are_read),
        TEST(headers_have_a_limit),
        TEST(body_that_is_not_wanted_is_answered_before_it_comes),
        TEST(every_answer_has_the_headers_that_protect),
        TEST(more_headers_than_four_are_sent),
        TEST(connections_that_are_used_again_are_bounded),
        TEST(client_that_drips_is_cut),
        TEST(kept_request_may_take_any_time),
        TEST(loop_is_woken_when_a_client_runs_out_of_time),
        TEST(many_connections_are_kept_at_once),
        TEST(answers_leave_together_when_very_many_are_kept),
        cmocka_unit_test_setup_teardown(
            test_http__whoever_waits_for_room_comes_in_when_others_leave, setup_for_two, teardown),
        TEST(large_answers_arrive_whole),
        TEST(closing_answers_what_is_kept),
        TEST(two_servers_cannot_have_one_port),
    };
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
