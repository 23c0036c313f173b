/* test_http.c - the HTTP server: requests and answers; see web.h. */
#include "http/http_parse.h"
#include "http/web.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void test_http__answers_at_once(void **state)
{
    struct web *f = *state;

    web_expect(f, "GET /a%20b HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    web_expect(f, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n", "X-Test: yes");
    assert_true(web_contains(buf_view(&f->seen), "GET /a%20b []\n"));
}

static void test_http__path_stays_as_it_was_sent(void **state)
{
    struct web *f = *state;

    web_expect(f, "GET /a%00b HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    web_expect(f, "GET /a%2Fb HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    assert_true(web_contains(buf_view(&f->seen), "GET /a%00b []\nGET /a%2Fb []\n"));
}

static void test_http__headers_and_query_are_found_whatever_their_case(void **state)
{
    struct web *f = *state;

    web_expect(f, "GET /asks?q=a%2Fb+c&empty HTTP/1.1\r\nHost: x\r\nX-Wanted: this\r\n\r\n",
               "this|a/b c|1|0");
}

static void test_http__query_that_is_no_text_is_refused(void **state)
{
    static const char *const queries[] = {"q=%00", "q=%ff", "q=%",
                                          "q=%zz", "%ff=1", "a=b&c=%c0%80"};
    struct web *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
        char request[100];
        snprintf(request, sizeof(request), "GET /asks?%s HTTP/1.1\r\nHost: x\r\n\r\n", queries[i]);
        web_expect(f, request, "bad_request");
    }
}

static void test_http__connection_is_kept_for_the_next_request(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);

    for (int i = 0; i < 3; i++) {
        struct buf answer;
        buf_init(&answer);
        web_say(f, fd, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_true(web_contains(web_hear(f, fd, &answer), "hello"));
        buf_fini(&answer);
    }
    close(fd);
    assert_int_equal(f->calls, 3);
}

static void test_http__kept_request_is_answered_later(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    struct buf answer;

    buf_init(&answer);
    web_say(f, fd, "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    while (f->kept_count == 0)
        (void)web_pass(f);
    for (int i = 0; i < 10; i++)
        (void)web_pass(f);
    assert_int_equal(web_kept(f), 1);
    assert_int_equal(recv(fd, &(char){0}, 1, MSG_DONTWAIT), -1);
    assert_true(str_eq(f->kept[0]->body, STR("hi")));
    web_answer(f->kept[0], 201, "at last");
    assert_int_equal(web_kept(f), 0);
    assert_true(web_contains(web_hear(f, fd, &answer), "HTTP/1.1 201"));
    buf_fini(&answer);
    close(fd);
}

static void test_http__kept_request_may_be_answered_in_the_pass_that_brought_it(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    struct buf answer;

    buf_init(&answer);
    web_say(f, fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    while (f->kept_count == 0) {
        struct pollfd ready = {.fd = http_fd(f->server), .events = POLLIN};
        if (poll(&ready, 1, 0) > 0)
            http_run(f->server);
    }
    web_answer(f->kept[0], 200, "same pass");
    assert_true(web_contains(web_hear(f, fd, &answer), "same pass"));
    buf_fini(&answer);
    close(fd);
}

/* What it points to may be read by another thread until its handler answers. */
static void test_http__client_may_be_told_while_its_request_goes_on(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    struct buf answer;
    struct str text;

    buf_init(&answer);
    web_say(f, fd,
            "POST /later HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k1\r\n"
            "Content-Length: 2\r\n\r\nhi");
    while (f->kept_count == 0)
        (void)web_pass(f);
    http_answer_kept(f->server, web_closing);
    http_answer_kept(f->server, web_closing); /* once each */
    text = web_hear(f, fd, &answer);
    assert_true(web_contains(text, "HTTP/1.1 503 Service Unavailable"));
    assert_true(web_contains(text, "Retry-After: 1"));
    assert_true(web_contains(text, "X-Content-Type-Options: nosniff"));
    assert_true(web_contains(text, "/later is closing"));
    assert_int_equal(recv(fd, &(char){0}, 1, 0), 0);
    close(fd);
    for (int i = 0; i < 10; i++)
        (void)web_pass(f);
    assert_int_equal(web_kept(f), 1);
    assert_true(str_eq(f->kept[0]->body, STR("hi")));
    assert_true(str_eq(f->kept[0]->path, STR("/later")));
    assert_true(str_eq(http_header(f->kept[0], "Idempotency-Key"), STR("k1")));
    web_answer(f->kept[0], 200, "nobody hears this");
    assert_int_equal(web_kept(f), 0);
    for (int i = 0; i < 10; i++)
        (void)web_pass(f);
    web_expect(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    buf_fini(&answer);
}

/* Send a request that is kept, and let its handler decide after so much time: what the client hears. */
static void overdue_ask(struct web *f, const char *path, int64_t us, struct buf *answer)
{
    int fd = web_connect(f);
    size_t before = f->kept_count;
    char request[100];

    buf_clear(answer);
    (void)snprintf(request, sizeof(request), "POST %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    web_say(f, fd, request);
    web_keep(f, before + 1);
    clock_manual_advance(&f->clock, us);
    (void)web_pass(f);
    web_answer(f->kept[before], 200, "decided");
    (void)web_hear(f, fd, answer);
    web_passes(f);
    close(fd);
}

/* Whatever became of it behind its handler: nobody waits for an answer without end. */
static void test_http__request_that_is_not_decided_in_time_is_answered(void **state)
{
    struct web *f = *state;
    struct buf answer;

    buf_init(&answer);
    overdue_ask(f, "/later", WEB_DECIDE_US - 1, &answer);
    assert_true(web_contains(buf_view(&answer), "decided"));
    overdue_ask(f, "/later", WEB_DECIDE_US, &answer);
    assert_true(web_contains(buf_view(&answer), "HTTP/1.1 503 Service Unavailable"));
    assert_true(web_contains(buf_view(&answer), "/later is overdue"));
    assert_false(web_contains(buf_view(&answer), "decided"));
    overdue_ask(f, "/later/wait", WEB_DECIDE_US + WEB_WAIT_US - 1, &answer);
    assert_true(web_contains(buf_view(&answer), "decided"));
    overdue_ask(f, "/later/wait", WEB_DECIDE_US + WEB_WAIT_US, &answer);
    assert_true(web_contains(buf_view(&answer), "/later/wait is overdue"));
    assert_int_equal(web_kept(f), 0);
    web_expect(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    buf_fini(&answer);
}

/* The loop need not be woken by anything else for that. */
static void test_http__loop_sleeps_no_longer_than_until_a_request_is_overdue(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);

    web_say(f, fd, "POST /later HTTP/1.1\r\nHost: x\r\n\r\n");
    web_keep(f, 1);
    assert_in_range(web_pass(f), 1, WEB_DECIDE_US / 1000 + 1);
    web_answer(f->kept[0], 200, "decided");
    (void)web_pass(f);
    close(fd);
}

/* In one header, and in many: what is noted about each takes room, too. */
static void test_http__headers_of_32_kib_are_read(void **state)
{
    struct web *f = *state;

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
        web_expect(f, request.ptr, "this|1|0|0");
        buf_fini(&request);
    }
}

static void test_http__headers_have_a_limit(void **state)
{
    struct web *f = *state;
    struct buf request;

    buf_init(&request);
    buf_text(&request, "GET /x HTTP/1.1\r\nHost: x\r\nX-Long: ");
    for (int i = 0; i < 3 * HTTP_HEAD_MAX_BYTES; i++)
        buf_char(&request, 'x');
    buf_text(&request, "\r\n\r\n");
    buf_char(&request, '\0');
    web_expect(f, request.ptr, "HTTP/1.1 431");
    web_expect(f, request.ptr, "headers_too_large");
    buf_clear(&request);
    buf_text(&request, "GET /");
    for (int i = 0; i < 3 * HTTP_HEAD_MAX_BYTES; i++)
        buf_char(&request, 'x');
    buf_text(&request, " HTTP/1.1\r\nHost: x\r\n\r\n");
    buf_char(&request, '\0');
    web_expect(f, request.ptr, "HTTP/1.1 414");
    buf_fini(&request);
    assert_int_equal(f->calls, 3);
}

/* The handler says what is wrong with it, as with any other; its connection ends. */
static void test_http__what_is_no_request_is_refused_by_the_handler(void **state)
{
    static const char *const requests[][2] = {
        {"hello\r\n\r\n", "bad_request"},
        {"GET /x HTTP/2.0\r\nHost: x\r\n\r\n", "http_version"},
        {"GET /x HTTP/1.1\r\n\r\n", "bad_request"},
        {"GET /x HTTP/1.1\nHost: x\n\n", "bad_request"},
        {"GET /x HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n", "bad_request"},
    };
    struct web *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
        web_expect(f, requests[i][0], requests[i][1]);
        web_expect(f, requests[i][0], "X-Content-Type-Options: nosniff");
        assert_false(web_stays_open(f, requests[i][0]));
    }
    assert_true(web_contains(buf_view(&f->seen), "GET /x []\n"));
}

/* Whoever goes on sending after a refusal gets to read it. */
static void test_http__refused_client_reads_its_answer_whatever_it_sends(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    char *more = calloc(1, WEB_LARGE_MAX);
    struct buf answer;

    buf_init(&answer);
    web_say(f, fd, "POST /x HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 1048576\r\n\r\n");
    web_send(f, fd, more, WEB_LARGE_MAX);
    assert_true(web_contains(web_hear(f, fd, &answer), "HTTP/1.1 400"));
    /* A second is what it has. */
    assert_true(web_is_cut(f, fd));
    clock_manual_advance(&f->clock, 999000);
    web_passes(f);
    assert_true(send(fd, more, 1, MSG_NOSIGNAL) == 1);
    clock_manual_advance(&f->clock, 2000);
    web_passes(f);
    while (send(fd, more, 1, MSG_NOSIGNAL) == 1) /* until the system has told it */
        web_passes(f);
    buf_fini(&answer);
    free(more);
    close(fd);
}

static void test_http__old_clients_are_served(void **state)
{
    struct web *f = *state;

    assert_false(web_stays_open(f, "GET /x HTTP/1.0\r\n\r\n"));
    assert_true(web_stays_open(f, "GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    web_expect(f, "GET /x HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "Connection: keep-alive");
    assert_false(web_stays_open(f, "GET /x HTTP/1.1\r\nHost: x\r\nConnection: te, close\r\n\r\n"));
}

static void test_http__head_is_answered_without_a_body(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    struct buf answer;

    buf_init(&answer);
    web_say(f, fd, "HEAD /x HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    web_hear_times(f, fd, &answer, "HTTP/1.1 200 OK", 2);
    assert_true(web_contains(buf_view(&answer), "Content-Length: 5\r\n"));
    assert_false(web_contains(buf_view(&answer), "hello"));
    buf_fini(&answer);
    close(fd);
}

static void test_http__date_follows_the_clock(void **state)
{
    struct web *f = *state;

    web_expect(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "Date: Thu, 01 Jan 1970 00:00:00 GMT");
    clock_manual_advance(&f->clock, INT64_C(951782399) * 1000000);
    web_expect(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "Date: Mon, 28 Feb 2000 23:59:59 GMT");
    clock_manual_advance(&f->clock, 1000000);
    web_expect(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "Date: Tue, 29 Feb 2000 00:00:00 GMT");
}

static void test_http__cookies_are_found_by_their_names(void **state)
{
    struct web *f = *state;

    web_expect(f, "GET /cookie HTTP/1.1\r\nHost: x\r\nCookie: a=1; pawl=abc=; pawl=2\r\n\r\n",
               "[abc=]");
    web_expect(f, "GET /cookie HTTP/1.1\r\nHost: x\r\nCookie: a=1\r\nCookie: pawl=3\r\n\r\n",
               "[3]");
    web_expect(f, "GET /cookie HTTP/1.1\r\nHost: x\r\nCookie: xpawl=4\r\n\r\n", "none");
}

static void test_http__large_answers_arrive_whole(void **state)
{
    struct web *f = *state;
    size_t size = 1 << 20;
    char *body = malloc(size);
    int fd = web_connect(f);
    struct buf answer;

    memset(body, 'y', size);
    buf_init(&answer);
    web_say(f, fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n");
    web_send(f, fd, body, size);
    assert_true(web_hear(f, fd, &answer).len > size);
    assert_memory_equal(answer.ptr + answer.len - size, body, size);
    buf_fini(&answer);
    free(body);
    close(fd);
}

static void test_http__closing_answers_what_is_kept(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    char bytes[1024];
    ssize_t n;

    web_say(f, fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    while (f->kept_count == 0)
        (void)web_pass(f);
    http_close(f->server);
    f->server = NULL;
    n = recv(fd, bytes, sizeof(bytes), 0);
    assert_true(n > 0);
    assert_true(web_contains(str_from(bytes, (size_t)n), "HTTP/1.1 503"));
    assert_true(web_contains(str_from(bytes, (size_t)n), "Retry-After: 1"));
    assert_true(web_contains(str_from(bytes, (size_t)n), "/later is closing"));
    close(fd);
}

static void test_http__every_answer_has_the_headers_that_protect(void **state)
{
    static const char *const headers[] = {"X-Content-Type-Options: nosniff",
                                          "Referrer-Policy: no-referrer", "X-Frame-Options: DENY",
                                          "Cache-Control: no-store"};
    static const char *const requests[] = {
        "GET /x HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /asks?q=%ff HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
        "POST /unwanted HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody",
    };

    for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
        for (size_t k = 0; k < ARRAY_SIZE(headers); k++)
            web_expect(*state, requests[i], headers[k]);
}

static void test_http__more_headers_than_four_are_sent(void **state)
{
    struct web *f = *state;

    web_expect(f, "GET /many HTTP/1.1\r\nHost: x\r\n\r\n", "X-H0: v\r\n");
    web_expect(f, "GET /many HTTP/1.1\r\nHost: x\r\n\r\n", "X-H7: v\r\n");
}

static void test_http__two_servers_cannot_have_one_port(void **state)
{
    struct web *f = *state;
    struct http_options options = {.host = STR("127.0.0.1"),
                                   .port = http_port(f->server),
                                   .handle = web_handle,
                                   .admit = web_admit,
                                   .clock = &clock_system};
    struct err err;

    assert_null(http_open(&options, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_true(web_contains(str_of(err.message), "in use"));
    options.host = STR("no.such.host.invalid");
    assert_null(http_open(&options, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_http__##name, web_setup, web_teardown)
        TEST(answers_at_once),
        TEST(path_stays_as_it_was_sent),
        TEST(headers_and_query_are_found_whatever_their_case),
        TEST(query_that_is_no_text_is_refused),
        TEST(connection_is_kept_for_the_next_request),
        TEST(kept_request_is_answered_later),
        TEST(kept_request_may_be_answered_in_the_pass_that_brought_it),
        TEST(client_may_be_told_while_its_request_goes_on),
        TEST(request_that_is_not_decided_in_time_is_answered),
        TEST(loop_sleeps_no_longer_than_until_a_request_is_overdue),
        TEST(headers_of_32_kib_are_read),
        TEST(headers_have_a_limit),
        TEST(what_is_no_request_is_refused_by_the_handler),
        TEST(refused_client_reads_its_answer_whatever_it_sends),
        TEST(old_clients_are_served),
        TEST(head_is_answered_without_a_body),
        TEST(date_follows_the_clock),
        TEST(cookies_are_found_by_their_names),
        TEST(large_answers_arrive_whole),
        TEST(closing_answers_what_is_kept),
        TEST(every_answer_has_the_headers_that_protect),
        TEST(more_headers_than_four_are_sent),
        TEST(two_servers_cannot_have_one_port),
    };

    web_raise_limits();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
