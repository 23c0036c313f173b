/* test_http_body.c - the HTTP server: bodies of requests; see web.h. */
#include "http/http_parse.h"
#include "http/web.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void test_http__handler_is_called_once_with_the_whole_body(void **state)
{
    struct web *f = *state;

    web_expect(f, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde", "abcde");
    web_expect(f,
               "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
               "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
               "abcdefg");
    assert_int_equal(f->calls, 2);
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
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding:\013chunked",
        "Transfer-Encoding\t: chunked",
        "Content-Length: +5",
        "Content-Length: 5, 5",
        "Content-Length: 0x5",
        "Content-Length: 99999999999999999999999",
        "Content-Length: ",
    };
    struct web *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
        char request[200];
        snprintf(request, sizeof(request), "POST /echo HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n0\r\n\r\n",
                 headers[i]);
        web_expect(f, request, "HTTP/1.1 400");
        web_expect(f, request, "Connection: close");
        assert_int_equal(f->calls, 2 * (i + 1));
    }
}

static void test_http__client_that_leaves_in_the_middle_of_a_body_does_no_harm(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);

    web_say(f, fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    for (int i = 0; i < 10; i++)
        (void)web_pass(f);
    close(fd);
    web_expect(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    assert_int_equal(f->calls, 1);
}

static void test_http__body_up_to_the_limit_is_taken(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    char *body = malloc(WEB_SMALL_MAX + 1);
    struct buf answer;

    memset(body, 'x', WEB_SMALL_MAX + 1);
    for (size_t extra = 0; extra < 2; extra++) {
        char head[100];
        buf_init(&answer);
        snprintf(head, sizeof(head),
                 "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
                 WEB_SMALL_MAX + extra);
        web_say(f, fd, head);
        web_send(f, fd, body, WEB_SMALL_MAX + extra);
        if (!web_contains(web_hear(f, fd, &answer), extra ? "too_large" : "hello"))
            fail_msg("%.*s", STR_ARG(buf_view(&answer)));
        buf_fini(&answer);
    }
    free(body);
    close(fd);
}

static void test_http__oversized_bodies_are_refused_however_they_come(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    char *body = calloc(1, 2 * WEB_LARGE_MAX);
    struct buf answer;

    /* Chunked, so that only reading it tells. */
    buf_init(&answer);
    memset(body, 'x', 2 * WEB_LARGE_MAX);
    web_say(f, fd, "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n");
    web_send(f, fd, body, 2 * WEB_LARGE_MAX);
    web_say(f, fd, "\r\n0\r\n\r\n");
    assert_true(web_contains(web_hear(f, fd, &answer), "HTTP/1.1 413"));
    buf_fini(&answer);
    close(fd);
    free(body);
    /* One that asks first is told before it sends, as is one too large to be read to its end. */
    web_expect(
        f, "POST /x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1048577\r\n\r\n",
        "HTTP/1.1 413");
    web_expect(f, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
               "HTTP/1.1 413");
}

static void test_http__client_that_asks_first_is_told_to_go_on(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    char bytes[256];
    ssize_t n = -1;
    struct buf answer;

    web_say(f, fd,
            "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
            "Content-Length: 4\r\n\r\n");
    while (n < 0) {
        (void)web_pass(f);
        n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    }
    assert_true(web_contains(str_from(bytes, (size_t)n), "HTTP/1.1 100 Continue"));
    web_say(f, fd, "body");
    buf_init(&answer);
    assert_true(web_contains(web_hear(f, fd, &answer), "body"));
    buf_fini(&answer);
    close(fd);
}

static void test_http__bodies_together_have_a_limit(void **state)
{
    struct web *f = *state;
    char *body = malloc(WEB_LARGE_MAX);
    struct buf answer;
    int fds[3];

    memset(body, 'x', WEB_LARGE_MAX);
    for (int i = 0; i < 3; i++) {
        fds[i] = web_connect(f);
        web_say(f, fds[i], "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n");
        web_send(f, fds[i], body, WEB_LARGE_MAX);
        if (i < 2)
            while (f->kept_count <= (size_t)i)
                (void)web_pass(f);
    }
    buf_init(&answer);
    assert_true(web_contains(web_hear(f, fds[2], &answer), "overloaded"));
    buf_fini(&answer);
    web_answer(f->kept[0], 200, "done");
    buf_init(&answer);
    (void)web_hear(f, fds[0], &answer);
    buf_fini(&answer);
    web_expect(f, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok", "ok");
    web_answer(f->kept[1], 200, "done");
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    free(body);
}

/* Two MiB for all, half a MiB of them for strangers. */
static void test_http__strangers_use_up_no_more_than_their_share(void **state)
{
    struct web *f = *state;
    char *body = malloc(WEB_LARGE_MAX);
    struct buf answer;
    int slow = web_connect(f), late = web_connect(f), known = web_connect(f);

    memset(body, 'x', WEB_LARGE_MAX);
    web_say(f, slow, "POST /stranger HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n");
    web_send(f, slow, body, 499999);
    for (int i = 0; i < 100; i++)
        (void)web_pass(f);
    web_say(f, late, "POST /stranger HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    web_send(f, late, body, 100000);
    buf_init(&answer);
    assert_true(web_contains(web_hear(f, late, &answer), "overloaded"));
    buf_fini(&answer);
    web_say(f, known, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n");
    web_send(f, known, body, WEB_LARGE_MAX);
    buf_init(&answer);
    assert_true(web_contains(web_hear(f, known, &answer), "HTTP/1.1 200"));
    buf_fini(&answer);
    close(slow);
    close(late);
    close(known);
    free(body);
    for (int i = 0; i < 100; i++)
        (void)web_pass(f);
    web_expect(f, "POST /stranger HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1");
}

/* Its client does not wait for a word before it sends, and sends on after the answer. */
static void test_http__body_that_is_not_wanted_is_answered_before_it_comes(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    char *body = calloc(1, WEB_LARGE_MAX);
    struct buf answer;

    buf_init(&answer);
    web_say(f, fd, "POST /unwanted HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n");
    while (f->calls == 0)
        (void)web_pass(f);
    assert_true(web_contains(buf_view(&f->seen), "POST /unwanted []\n"));
    for (int i = 0; i < 10; i++)
        (void)web_pass(f);
    web_send(f, fd, body, WEB_LARGE_MAX);
    assert_true(web_contains(web_hear(f, fd, &answer), "Connection: close"));
    assert_true(web_contains(buf_view(&answer), "hello"));
    assert_int_equal(f->calls, 1);
    buf_fini(&answer);
    free(body);
    close(fd);
    /* Without a body there is no reason to close. */
    assert_true(
        web_stays_open(f, "POST /unwanted HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"));
}

/* A reader that took another end for its body would see a second request in it. */
static void test_http__nothing_is_handled_behind_a_body_that_is_not_clear(void **state)
{
    static const char *const requests[] = {
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n"
        "0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\nabcde\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\r\nabcdef\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "ffffffffffffffffff\r\nGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "-1\r\nGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n",
    };
    struct web *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
        web_expect(f, requests[i], "HTTP/1.1 400");
        web_expect(f, requests[i], "Connection: close");
    }
    assert_false(web_contains(buf_view(&f->seen), "hidden"));
    assert_int_equal(f->calls, 2 * ARRAY_SIZE(requests));
}

static void test_http__what_is_around_chunks_is_bounded(void **state)
{
    struct web *f = *state;

    for (int trailer = 0; trailer < 2; trailer++) {
        struct buf request;

        buf_init(&request);
        buf_text(&request, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        buf_text(&request, trailer ? "0\r\nX: " : "1;");
        for (int i = 0; i < 20000; i++)
            buf_char(&request, 'x');
        buf_char(&request, '\0');
        web_expect(f, request.ptr, "HTTP/1.1 400");
        buf_fini(&request);
    }
}

static void test_http__endless_chunks_are_refused_in_the_end(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    char *body = calloc(1, WEB_LARGE_MAX);
    struct buf answer;

    buf_init(&answer);
    web_say(f, fd,
            "POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n");
    for (int i = 0; i < 17; i++)
        web_send(f, fd, body, WEB_LARGE_MAX);
    assert_true(web_contains(web_hear(f, fd, &answer), "HTTP/1.1 413"));
    assert_true(web_contains(buf_view(&answer), "Connection: close"));
    buf_fini(&answer);
    free(body);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_http__##name, web_setup, web_teardown)
        TEST(handler_is_called_once_with_the_whole_body),
        TEST(body_with_two_ends_is_refused_and_the_connection_closed),
        TEST(nothing_is_handled_behind_a_body_that_is_not_clear),
        TEST(what_is_around_chunks_is_bounded),
        TEST(endless_chunks_are_refused_in_the_end),
        TEST(client_that_leaves_in_the_middle_of_a_body_does_no_harm),
        TEST(body_up_to_the_limit_is_taken),
        TEST(oversized_bodies_are_refused_however_they_come),
        TEST(client_that_asks_first_is_told_to_go_on),
        TEST(bodies_together_have_a_limit),
        TEST(strangers_use_up_no_more_than_their_share),
        TEST(body_that_is_not_wanted_is_answered_before_it_comes),
    };

    web_raise_limits();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
