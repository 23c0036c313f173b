/*
 * test_sse.c - streams of the HTTP server and the feed of hints, driven by
 * hand: the test is the loop, the clock stands still, and the clients are
 * sockets in the same thread.
 */
#include "api/stream/feed.h"
#include "base/time/clock.h"
#include "http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_US INT64_C(1000000)

/* Of the real clock: what has to come is waited for, since the system takes its time too. */
#define WAIT_US (120 * SECOND_US)

/* A server; /raw is a stream of what the test says, /feed the feed, anything else says hello. */
struct fixture {
    struct http_server *server;
    struct clock_manual clock;
    struct feed *feed;
    int listeners;
    int calls;
    struct http_request *raw;
    struct buf say; /* to the client of /raw */
    bool ends;
    int gone;
    bool endless; /* it always has more, whatever is in `say` */
    int asked;    /* how often, while it was endless */
};

static ssize_t more(void *context, char *out, size_t capacity)
{
    struct fixture *f = context;
    size_t count = f->say.len < capacity ? f->say.len : capacity;

    if (f->endless) {
        f->asked++;
        memset(out, 'e', capacity);
        return (ssize_t)capacity;
    }
    if (count == 0)
        return f->ends ? HTTP_STREAM_END : 0;
    memcpy(out, f->say.ptr, count);
    buf_clear(&f->say);
    return (ssize_t)count;
}

static void gone(void *context)
{
    struct fixture *f = context;

    f->gone++;
    f->raw = NULL;
}

static void listener_gone(void *context)
{
    struct fixture *f = context;

    f->listeners--;
}

static void handle(void *context, struct http_request *r)
{
    struct fixture *f = context;
    struct call *c = ARENA_NEW(r->mem, struct call);

    f->calls++;
    c->http = r;
    c->mem = r->mem;
    if (str_eq(r->path, STR("/feed"))) {
        struct feed_filter filter = {.code = http_query(r, "code")};
        enum execution_status status = STATUS_PENDING;

        filter.has_status = status_read(http_query(r, "status"), &status);
        filter.status = (int)status;
        f->listeners++;
        feed_listen(f->feed, c, &filter, listener_gone, f);
    } else if (str_eq(r->path, STR("/raw"))) {
        f->raw = r;
        http_stream(r, &(struct http_answer){.status = 200, .content_type = "text/plain"},
                    &(struct http_source){.more = more, .gone = gone, .context = f});
    } else {
        http_answer(r, &(struct http_answer){.status = 200, .body = STR("hello")});
    }
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err;

    clock_manual_init(&f->clock, 0);
    clock_manual_advance(&f->clock, 100 * SECOND_US);
    buf_init(&f->say);
    f->feed = feed_new(&f->clock.clock);
    f->server = http_open(
        &(struct http_options){
            .host = STR("127.0.0.1"), .handle = handle, .context = f, .clock = &f->clock.clock},
        &err);
    *state = f;
    return f->server == NULL;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    if (f->server != NULL)
        http_close(f->server);
    feed_free(f->feed);
    buf_fini(&f->say);
    free(f);
    return 0;
}

/* One pass of the loop, without sleeping. */
static void pass(struct fixture *f)
{
    struct pollfd ready = {.fd = http_fd(f->server), .events = POLLIN};
    int timeout_ms = -1;

    if (poll(&ready, 1, 1) > 0)
        http_run(f->server);
    feed_run(f->feed, clock_mono_us(&f->clock.clock), &timeout_ms);
    http_before_sleep(f->server, &timeout_ms);
}

/* Some passes, after which everything that can be done has been done. */
static void passes(struct fixture *f)
{
    for (int i = 0; i < 10; i++)
        pass(f);
}

static void pass_until(struct fixture *f, const int *value, int wanted)
{
    int64_t end_us = clock_mono_us(&clock_system) + WAIT_US;

    while (*value != wanted && clock_mono_us(&clock_system) < end_us)
        pass(f);
    assert_int_equal(*value, wanted);
}

static void advance(struct fixture *f, int64_t us)
{
    clock_manual_advance(&f->clock, us);
    passes(f);
}

static int client_ask(struct fixture *f, int fd, const char *path, const char *header)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(http_port(f->server))};
    char text[300];
    int len = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, header);
    int calls;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0) {
        int bytes = 8192;
        fd = socket(AF_INET, SOCK_STREAM, 0);
        assert_true(fd >= 0);
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
        assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    }
    calls = f->calls;
    assert_int_equal(send(fd, text, (size_t)len, MSG_NOSIGNAL), len);
    pass_until(f, &f->calls, calls + 1);
    passes(f);
    return fd;
}

/* Everything that has come for the client is added to `heard`. False: its stream has ended. */
static bool client_hear(struct fixture *f, int fd, struct buf *heard)
{
    char bytes[65536];

    for (;;) {
        ssize_t n;

        passes(f);
        n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n <= 0)
            return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        buf_add(heard, bytes, (size_t)n);
    }
}

static int count(const struct buf *heard, const char *part)
{
    int found = 0;
    int64_t at = 0;

    while ((at = str_find(buf_view(heard), str_of(part), (size_t)at)) >= 0) {
        found++;
        at++;
    }
    return found;
}

/* The client hears `part` so often in all, and not once more. */
static void assert_hears(struct fixture *f, int fd, struct buf *heard, const char *part, int times)
{
    int64_t end_us = clock_mono_us(&clock_system) + WAIT_US;

    do {
        assert_true(client_hear(f, fd, heard));
    } while (count(heard, part) < times && clock_mono_us(&clock_system) < end_us);
    assert_int_equal(count(heard, part), times);
}

/* The stream of the client ends. */
static void assert_cut(struct fixture *f, int fd, struct buf *heard)
{
    int64_t end_us = clock_mono_us(&clock_system) + WAIT_US;

    while (client_hear(f, fd, heard))
        assert_true(clock_mono_us(&clock_system) < end_us);
}

static void say(struct fixture *f, const char *text)
{
    buf_text(&f->say, text);
    http_stream_wake(f->raw);
}

/* Say so much to a client that does not read that all buffers are full. */
static void fill(struct fixture *f)
{
    int asked;

    f->endless = true;
    http_stream_wake(f->raw);
    do {
        asked = f->asked;
        for (int i = 0; i < 10; i++)
            passes(f);
    } while (f->asked > asked);
}

/* --- streams --- */

static void test_stream__bytes_arrive_as_they_come(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/raw", "");
    struct buf heard;

    buf_init(&heard);
    for (int i = 0; i < 3; i++) {
        assert_hears(f, fd, &heard, "abc", i);
        say(f, "abc");
    }
    assert_hears(f, fd, &heard, "abc", 3);
    assert_int_equal(f->gone, 0);
    buf_fini(&heard);
    close(fd);
}

static void test_stream__connection_is_kept_when_it_has_ended(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/raw", "");
    struct buf heard;

    buf_init(&heard);
    f->ends = true;
    say(f, "last");
    assert_hears(f, fd, &heard, "last\r\n0\r\n\r\n", 1);
    pass_until(f, &f->gone, 1);
    (void)client_ask(f, fd, "/", "");
    assert_hears(f, fd, &heard, "hello", 1);
    buf_fini(&heard);
    close(fd);
}

static void test_stream__client_that_leaves_is_noticed_while_it_sleeps(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/raw", "");

    passes(f);
    assert_int_equal(f->gone, 0);
    close(fd);
    pass_until(f, &f->gone, 1);
}

static void test_stream__cut_does_not_wait_for_the_client(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/raw", "");
    struct buf heard;

    fill(f);
    assert_int_equal(f->gone, 0);
    http_stream_abort(f->raw);
    pass_until(f, &f->gone, 1);
    f->endless = false;
    buf_init(&heard);
    assert_cut(f, fd, &heard);
    buf_fini(&heard);
    close(fd);
}

static void test_stream__may_sleep_for_any_time(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/raw", "");
    struct buf heard;

    advance(f, 3600 * SECOND_US);
    buf_init(&heard);
    say(f, "good morning");
    assert_hears(f, fd, &heard, "good morning", 1);
    buf_fini(&heard);
    close(fd);
}

static void test_stream__client_that_takes_nothing_is_cut_in_the_end(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/raw", "");

    fill(f);
    advance(f, 59 * SECOND_US);
    assert_int_equal(f->gone, 0);
    advance(f, 2 * SECOND_US);
    pass_until(f, &f->gone, 1);
    close(fd);
}

static void test_stream__ends_when_the_server_closes(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/raw", "");
    char bytes[1000];
    size_t len = 0;
    ssize_t n;

    http_close(f->server);
    f->server = NULL;
    assert_int_equal(f->gone, 1);
    while ((n = recv(fd, bytes + len, sizeof(bytes) - len, 0)) > 0)
        len += (size_t)n;
    assert_true(str_ends_with(str_from(bytes, len), STR("\r\n0\r\n\r\n")));
    close(fd);
}

/* --- the feed --- */

static void hint(struct fixture *f, const char *code, enum execution_status status)
{
    char members[96];

    (void)snprintf(members, sizeof(members), "\"code\":\"%s\",\"status\":\"%s\"", code,
                   status_name(status));
    feed_hear(f->feed, &(struct feed_news){.type = "execution",
                                           .code = str_of(code),
                                           .status = (int)status,
                                           .access = value_absent(),
                                           .members = str_of(members)});
}

static void test_feed__hints_are_handed_out_ten_times_a_second(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/feed", "");
    struct buf heard;

    buf_init(&heard);
    advance(f, SECOND_US);
    hint(f, "a", STATUS_WAITING);
    assert_true(client_hear(f, fd, &heard));
    hint(f, "b", STATUS_WAITING);
    assert_hears(f, fd, &heard, "event: execution\n", 1);
    advance(f, SECOND_US / 10);
    assert_hears(f, fd, &heard, "\"code\":\"a\"", 1);
    assert_hears(f, fd, &heard, "\"code\":\"b\"", 1);
    advance(f, SECOND_US);
    assert_hears(f, fd, &heard, "event: ", 2);
    buf_fini(&heard);
    close(fd);
}

static void test_feed__filters_choose(void **state)
{
    struct fixture *f = *state;
    int by_code = client_ask(f, -1, "/feed?code=a", "");
    int by_status = client_ask(f, -1, "/feed?status=failed", "");
    struct buf heard[2];

    for (int i = 0; i < 2; i++)
        buf_init(&heard[i]);
    hint(f, "a", STATUS_WAITING);
    hint(f, "b", STATUS_FAILED);
    hint(f, "aa", STATUS_COMPLETED);
    advance(f, SECOND_US);
    assert_hears(f, by_code, &heard[0], "event: execution\n", 1);
    assert_hears(f, by_code, &heard[0], "\"code\":\"a\"", 1);
    assert_hears(f, by_status, &heard[1], "event: execution\n", 1);
    assert_hears(f, by_status, &heard[1], "\"status\":\"failed\"", 1);
    for (int i = 0; i < 2; i++)
        buf_fini(&heard[i]);
    close(by_code);
    close(by_status);
}

static void test_feed__too_much_at_once_is_a_reset_once_a_second(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/feed", ""), filtered = client_ask(f, -1, "/feed?code=rare", "");
    struct buf heard;

    buf_init(&heard);
    for (int tenth = 0; tenth < 20; tenth++) {
        for (int i = 0; i < 1000; i++)
            hint(f, "often", STATUS_WAITING);
        if (tenth == 7)
            hint(f, "rare", STATUS_WAITING);
        advance(f, SECOND_US / 10);
    }
    assert_hears(f, fd, &heard, "event: reset\n", 2);
    assert_int_equal(count(&heard, "event: execution\n"), 0);
    buf_clear(&heard);
    assert_hears(f, filtered, &heard, "event: ", 1);
    assert_hears(f, filtered, &heard, "\"code\":\"rare\"", 1);
    /* Calm again: the last reset, then hints. */
    buf_clear(&heard);
    advance(f, 2 * SECOND_US);
    hint(f, "calm", STATUS_WAITING);
    advance(f, SECOND_US);
    assert_hears(f, fd, &heard, "event: reset\n", 1);
    assert_hears(f, fd, &heard, "\"code\":\"calm\"", 1);
    buf_fini(&heard);
    close(fd);
    close(filtered);
}

static void test_feed__whoever_comes_back_is_reset(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/feed", "Last-Event-ID: 7\r\n");
    struct buf heard;

    buf_init(&heard);
    assert_hears(f, fd, &heard, "event: reset\n", 1);
    buf_fini(&heard);
    close(fd);
}

static void test_feed__hints_follow_a_reset_however_many_come_after_it(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/feed", "Last-Event-ID: 7\r\n");
    struct buf heard;

    buf_init(&heard);
    for (int tenth = 0; tenth < 30; tenth++) {
        hint(f, "steady", STATUS_WAITING);
        advance(f, SECOND_US / 10);
    }
    assert_hears(f, fd, &heard, "event: reset\n", 1);
    assert_hears(f, fd, &heard, "event: execution\n", 30);
    buf_fini(&heard);
    close(fd);
}

static void test_feed__heart_beats_every_fifteen_seconds(void **state)
{
    struct fixture *f = *state;
    int fd = client_ask(f, -1, "/feed", "");
    struct buf heard;

    buf_init(&heard);
    for (int i = 0; i < 61; i++)
        advance(f, SECOND_US);
    assert_hears(f, fd, &heard, "\n:\n\n", 4);
    buf_fini(&heard);
    close(fd);
    pass_until(f, &f->listeners, 0);
}

static void test_feed__client_that_does_not_read_is_cut(void **state)
{
    struct fixture *f = *state;
    int slow = client_ask(f, -1, "/feed", ""), other = client_ask(f, -1, "/feed", "");
    struct buf heard;

    buf_init(&heard);
    for (int i = 0; i < 60 && f->listeners == 2; i++) {
        for (int j = 0; j < 200; j++)
            hint(f, "often", STATUS_WAITING);
        advance(f, SECOND_US);
        assert_true(client_hear(f, other, &heard));
    }
    assert_int_equal(f->listeners, 1);
    assert_int_equal(count(&heard, "event: reset\n"), 0);
    buf_fini(&heard);
    close(slow);
    close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
        TEST(stream__bytes_arrive_as_they_come),
        TEST(stream__connection_is_kept_when_it_has_ended),
        TEST(stream__client_that_leaves_is_noticed_while_it_sleeps),
        TEST(stream__cut_does_not_wait_for_the_client),
        TEST(stream__may_sleep_for_any_time),
        TEST(stream__client_that_takes_nothing_is_cut_in_the_end),
        TEST(stream__ends_when_the_server_closes),
        TEST(feed__hints_are_handed_out_ten_times_a_second),
        TEST(feed__filters_choose),
        TEST(feed__too_much_at_once_is_a_reset_once_a_second),
        TEST(feed__whoever_comes_back_is_reset),
        TEST(feed__hints_follow_a_reset_however_many_come_after_it),
        TEST(feed__heart_beats_every_fifteen_seconds),
        TEST(feed__client_that_does_not_read_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
