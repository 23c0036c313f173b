/* test_http_clients.c - the HTTP server: clients that are slow, many, gone or in a hurry; see web.h. */
#include "http/http_parse.h"
#include "http/web.h"

#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void test_http__client_that_left_does_no_harm(void **state)
{
    struct web *f = *state;
    struct linger at_once = {.l_onoff = 1};
    int fd = web_connect(f), other = web_connect(f);

    web_say(f, fd, "GET /later/1 HTTP/1.1\r\nHost: x\r\n\r\n");
    web_say(f, other, "GET /later/2 HTTP/1.1\r\nHost: x\r\n\r\n");
    while (f->kept_count < 2)
        (void)web_pass(f);
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd); /* with a reset */
    close(other);
    for (int i = 0; i < 10; i++)
        (void)web_pass(f);
    assert_true(str_starts_with(f->kept[0]->path, STR("/later")));
    web_answer(f->kept[0], 200, "nobody hears this");
    web_answer(f->kept[1], 200, "nor this");
    for (int i = 0; i < 10; i++)
        (void)web_pass(f);
    web_expect(f, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
}

static void test_http__client_that_drips_is_cut(void **state)
{
    struct web *f = *state;
    int silent = web_connect(f), headers = web_connect(f), body = web_connect(f);

    web_say(f, headers, "GET /x HTTP/1.1\r\n");
    web_say(f, body, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
    for (int second = 0; second < 59; second++) {
        (void)web_pass(f);
        clock_manual_advance(&f->clock, 1000000);
        web_say(f, headers, "X-A: b\r\n");
        web_say(f, body, "x");
    }
    assert_false(web_is_cut(f, silent));
    assert_false(web_is_cut(f, headers));
    assert_false(web_is_cut(f, body));
    clock_manual_advance(&f->clock, 2000000);
    assert_true(web_gets_cut(f, silent));
    assert_true(web_gets_cut(f, headers));
    assert_true(web_gets_cut(f, body));
    close(silent);
    close(headers);
    close(body);
    assert_int_equal(f->calls, 0);
}

static void test_http__kept_request_may_take_any_time(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    struct buf answer;

    buf_init(&answer);
    web_say(f, fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    while (f->kept_count == 0)
        (void)web_pass(f);
    clock_manual_advance(&f->clock, INT64_C(3600000000));
    assert_false(web_is_cut(f, fd));
    web_answer(f->kept[0], 200, "after an hour");
    assert_true(web_contains(web_hear(f, fd, &answer), "after an hour"));
    buf_fini(&answer);
    close(fd);
}

static void test_http__loop_is_woken_when_a_client_runs_out_of_time(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    int64_t until_us;

    for (int i = 0; i < 10; i++)
        (void)web_pass(f);
    clock_manual_advance(&f->clock, 59000000);
    assert_in_range(web_pass(f), 1, 1001);
    close(fd);
    until_us = clock_mono_us(&clock_system) + INT64_C(1000) * WEB_WAIT_MS;
    while (web_pass(f) != -1)
        assert_true(clock_mono_us(&clock_system) < until_us);
}

static void test_http__many_connections_are_kept_at_once(void **state)
{
    struct web *f = *state;
    int fds[2000];
    size_t count = web_keep_many(f, fds, 2000);

    for (size_t i = 0; i < count; i++)
        web_answer(f->kept[i], 200, "all");
    for (size_t i = 0; i < count; i++) {
        struct buf answer;
        buf_init(&answer);
        assert_true(web_contains(web_hear(f, fds[i], &answer), "all"));
        buf_fini(&answer);
        close(fds[i]);
    }
}

/* The clock stands still, so that nobody is cut for being slow. */
static void test_http__whoever_waits_for_room_comes_in_when_others_leave(void **state)
{
    struct web *f = *state;

    for (int i = 0; i < 20; i++) {
        int first = web_connect(f), second = web_connect(f), third = web_knock(f);
        struct buf answer;

        web_say(f, third, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_false(web_is_cut(f, third));
        assert_int_equal(f->calls, i);
        close(first);
        close(second);
        buf_init(&answer);
        assert_true(web_contains(web_hear(f, third, &answer), "hello"));
        buf_fini(&answer);
        close(third);
        while (web_pass(f) != -1)
            ;
    }
}

/* --- requests that are sent without waiting for answers --- */

static void test_http__pipelined_requests_are_answered_in_order(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    struct buf requests, answer;

    buf_init(&requests);
    buf_init(&answer);
    for (int i = 0; i < 5000; i++)
        buf_printf(&requests, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n<%04d>",
                   i);
    web_send(f, fd, requests.ptr, requests.len);
    web_hear_times(f, fd, &answer, "<4999>", 1);
    for (int i = 0, at = 0; i < 5000; i++) {
        char body[16];
        snprintf(body, sizeof(body), "<%04d>", i);
        at = (int)str_find(buf_view(&answer), str_of(body), (size_t)at);
        assert_true(at >= 0);
    }
    assert_int_equal(f->calls, 5000);
    buf_fini(&requests);
    buf_fini(&answer);
    close(fd);
}

/* One at a time, and the loop does not sleep on the one behind. */
static void test_http__request_behind_a_kept_one_waits_for_it(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f), timeout_ms = 1000;
    struct buf answer;

    buf_init(&answer);
    web_say(f, fd,
            "GET /later/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /later/2 HTTP/1.1\r\nHost: x\r\n\r\n"
            "GET /x HTTP/1.1\r\nHo");
    web_keep(f, 1);
    web_passes(f);
    web_say(f, fd, "st: x\r\n\r\n");
    web_passes(f);
    assert_int_equal(f->calls, 1);
    web_answer(f->kept[0], 200, "first");
    assert_int_equal(f->calls, 1); /* the handler is not called from within an answer */
    http_before_sleep(f->server, &timeout_ms);
    assert_int_equal(f->calls, 2);
    assert_int_equal(timeout_ms, 0);
    web_passes(f);
    assert_int_equal(f->calls, 2);
    web_answer(f->kept[1], 200, "second");
    web_hear_times(f, fd, &answer, "hello", 1);
    assert_true(str_find(buf_view(&answer), STR("first"), 0) <
                str_find(buf_view(&answer), STR("second"), 0));
    buf_fini(&answer);
    close(fd);
}

static void test_http__request_may_come_in_single_bytes(void **state)
{
    static const char request[] =
        "POST /echo?a=b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3;x=y\r\nabc\r\n4\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n";
    struct web *f = *state;
    int fd = web_connect(f);
    struct buf answer;

    buf_init(&answer);
    for (size_t i = 0; i < sizeof(request) - 1; i++) {
        assert_int_equal(f->calls, 0);
        web_send(f, fd, request + i, 1);
        (void)web_pass(f);
    }
    assert_true(web_contains(web_hear(f, fd, &answer), "abcdefg"));
    buf_fini(&answer);
    close(fd);
}

/* --- clients that send no more --- */

static void test_http__client_that_sends_no_more_is_answered(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f), later = web_connect(f);
    struct buf answer;

    buf_init(&answer);
    web_say(f, fd, "GET /x HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    shutdown(fd, SHUT_WR);
    web_hear_times(f, fd, &answer, "HTTP/1.1 200", 2);
    assert_true(web_gets_cut(f, fd));
    web_say(f, later, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    shutdown(later, SHUT_WR);
    web_keep(f, 1);
    web_passes(f);
    web_answer(f->kept[0], 200, "at last");
    buf_clear(&answer);
    assert_true(web_contains(web_hear(f, later, &answer), "at last"));
    assert_true(web_gets_cut(f, later));
    buf_fini(&answer);
    close(fd);
    close(later);
}

/* Another thread may look at the socket of its request. */
static void test_http__socket_of_a_kept_request_stays_open(void **state)
{
    struct web *f = *state;
    struct linger at_once = {.l_onoff = 1};
    int fd = web_connect(f), ours;

    web_say(f, fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    web_keep(f, 1);
    ours = http_socket(f->kept[0]);
    http_answer_kept(f->server, web_closing);
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd);
    clock_manual_advance(&f->clock, INT64_C(3600000000));
    web_passes(f);
    assert_int_not_equal(fcntl(ours, F_GETFD), -1);
    web_answer(f->kept[0], 200, "nobody hears this");
    while (fcntl(ours, F_GETFD) != -1)
        (void)web_pass(f);
}

/* --- clients that do not read --- */

static void test_http__client_that_does_not_take_its_answer_is_cut(void **state)
{
    enum { BYTES = 32 << 20 }; /* more than sockets hold */
    struct web *f = *state;
    int fd = web_connect(f);
    char *body = calloc(1, BYTES);
    size_t heard = 0;
    ssize_t n;

    web_say(f, fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    web_keep(f, 1);
    http_answer(f->kept[0], &(struct http_answer){.status = 200, .body = str_from(body, BYTES)});
    web_passes(f);
    clock_manual_advance(&f->clock, 59000000);
    web_passes(f);
    assert_true(send(fd, "x", 1, MSG_NOSIGNAL) == 1);
    clock_manual_advance(&f->clock, 2000000);
    web_passes(f);
    while ((n = recv(fd, body, BYTES, 0)) > 0)
        heard += (size_t)n;
    assert_true(heard < BYTES);
    free(body);
    close(fd);
}

/* Ten thousand of them are promised in little memory. */
static void test_http__idle_and_kept_connections_hold_no_buffer(void **state)
{
    enum { COUNT = 1000 };
    struct web *f = *state;
    int fds[COUNT];
    size_t before = mallinfo2().uordblks, count, each;

#ifdef ARENA_ASAN
    skip(); /* its memory is not counted */
#endif
    count = web_keep_many(f, fds, COUNT);
    if (count < COUNT)
        skip(); /* the system lets us have too few descriptors */
    each = (mallinfo2().uordblks - before) / COUNT;
    assert_in_range(each, 1, 6000);
    for (size_t i = 0; i < count; i++)
        web_answer(f->kept[i], 200, "all");
    web_passes(f);
    each = (mallinfo2().uordblks - before) / COUNT;
    assert_in_range(each, 1, 2000); /* spare requests are in it */
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_http__##name, web_setup, web_teardown)
        TEST(client_that_left_does_no_harm),
        TEST(client_that_drips_is_cut),
        TEST(kept_request_may_take_any_time),
        TEST(loop_is_woken_when_a_client_runs_out_of_time),
        TEST(pipelined_requests_are_answered_in_order),
        TEST(request_behind_a_kept_one_waits_for_it),
        TEST(request_may_come_in_single_bytes),
        TEST(client_that_sends_no_more_is_answered),
        TEST(socket_of_a_kept_request_stays_open),
        TEST(client_that_does_not_take_its_answer_is_cut),
        TEST(idle_and_kept_connections_hold_no_buffer),
        TEST(many_connections_are_kept_at_once),
        cmocka_unit_test_setup_teardown(
            test_http__whoever_waits_for_room_comes_in_when_others_leave, web_setup_for_two,
            web_teardown),
    };

    web_raise_limits();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
