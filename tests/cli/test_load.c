/* test_load.c - the load generator, against a server in a thread of its own. */
#include "base/time/clock.h"
#include "cli/server/load.h"
#include "http/http.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>

enum { KEPT_MAX = 256, DURATION_US = 200000, DURATION_MAX_US = 60000000 };

struct fixture {
    struct http_server *server;
    struct http_request *kept[KEPT_MAX];
    size_t kept_count;
    int status;
    atomic_bool stop;
    pthread_t thread;
    char port[8];
    struct load_result result;
};

/* Answers come in the pass after, as from a store. */
static void handle(void *context, struct http_request *r)
{
    struct fixture *f = context;

    if (str_eq(r->path, STR("/hang-up")))
        (void)shutdown(http_socket(r), SHUT_RDWR);
    f->kept[f->kept_count++] = r;
}

static void *serve(void *context)
{
    struct fixture *f = context;
    int timeout_ms = 10;

    while (!atomic_load(&f->stop)) {
        struct pollfd ready = {.fd = http_fd(f->server), .events = POLLIN};
        if (poll(&ready, 1, timeout_ms) > 0)
            http_run(f->server);
        for (size_t i = 0; i < f->kept_count; i++)
            http_answer(f->kept[i], &(struct http_answer){.status = f->status,
                                                          .content_type = "text/plain",
                                                          .body = f->kept[i]->body});
        f->kept_count = 0;
        timeout_ms = 10;
        http_before_sleep(f->server, &timeout_ms);
    }
    return NULL;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err;

    f->status = 200;
    f->server = http_open(
        &(struct http_options){
            .host = STR("127.0.0.1"), .handle = handle, .context = f, .clock = &clock_system},
        &err);
    if (f->server == NULL)
        return -1;
    snprintf(f->port, sizeof(f->port), "%u", (unsigned)http_port(f->server));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    http_close(f->server);
    free(f);
    return 0;
}

static bool run_for(struct fixture *f, struct str request, unsigned connections,
                    int64_t duration_us, struct err *err)
{
    struct load_options options = {.host = STR("127.0.0.1"),
                                   .port = str_of(f->port),
                                   .request = request,
                                   .connections = connections,
                                   .duration_us = duration_us};
    bool ok;

    atomic_store(&f->stop, false);
    f->result = (struct load_result){0};
    assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
    ok = load_run(&options, &f->result, err);
    atomic_store(&f->stop, true);
    pthread_join(f->thread, NULL);
    return ok;
}

/* Run for a while; for longer where a slow machine has not come around to every connection. */
static bool run(struct fixture *f, struct str request, unsigned connections, struct err *err)
{
    bool ok = false;

    for (int64_t us = DURATION_US; us <= DURATION_MAX_US; us *= 4) {
        ok = run_for(f, request, connections, us, err);
        if (f->result.answered + f->result.refused > connections || f->result.broken == connections)
            break;
    }
    return ok;
}

static void test_load__every_connection_asks_again_and_again(void **state)
{
    struct fixture *f = *state;
    struct err err;

    assert_true(
        run(f, STR("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"), 32, &err));
    assert_true(f->result.answered > 32);
    assert_int_equal(f->result.answered, f->result.times.count);
    assert_int_equal(f->result.refused, 0);
    assert_int_equal(f->result.broken, 0);
    assert_true(f->result.elapsed_us >= DURATION_US);
}

static void test_load__large_answers_are_read_to_their_end(void **state)
{
    struct fixture *f = *state;
    size_t size = 200000;
    char *request = malloc(size + 100);
    int head =
        snprintf(request, 100, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", size);
    struct err err;

    memset(request + head, 'x', size);
    assert_true(run(f, str_from(request, (size_t)head + size), 2, &err));
    assert_true(f->result.answered > 2);
    assert_int_equal(f->result.broken, 0);
    free(request);
}

static void test_load__refusals_are_counted(void **state)
{
    struct fixture *f = *state;
    struct err err;

    f->status = 503;
    assert_true(run(f, STR("GET /x HTTP/1.1\r\nHost: x\r\n\r\n"), 4, &err));
    assert_int_equal(f->result.answered, 0);
    assert_true(f->result.refused > 4);
    assert_int_equal(f->result.refused_status, 503);
}

static void test_load__server_that_hangs_up_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct err err;

    assert_false(run(f, STR("GET /hang-up HTTP/1.1\r\nHost: x\r\n\r\n"), 2, &err));
    assert_int_equal(f->result.broken, 2);
}

static void test_load__nobody_there_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct err err;

    snprintf(f->port, sizeof(f->port), "1");
    assert_false(run_for(f, STR("GET / HTTP/1.1\r\n\r\n"), 2, DURATION_US, &err));
    assert_int_equal(err.code, ERR_IO);
}

static void test_load__times_are_within_two_percent(void **state)
{
    static const int64_t times[] = {1, 2, 3, 10, 63, 64, 100, 999, 1000, 12345, 1000000, 60000000};
    struct load_times *t = calloc(1, sizeof(*t));

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
        int64_t at;
        memset(t, 0, sizeof(*t));
        load_times_add(t, times[i]);
        at = load_times_at(t, 0.99);
        assert_true(at >= times[i]);
        assert_true((double)at <= (double)times[i] * 1.02 + 1);
    }
    memset(t, 0, sizeof(*t));
    for (int64_t us = 1; us <= 1000; us++)
        load_times_add(t, us);
    assert_in_range(load_times_at(t, 0.5), 495, 512);
    assert_in_range(load_times_at(t, 0.99), 985, 1010);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_load__##name, setup, teardown)
        TEST(every_connection_asks_again_and_again),
        TEST(large_answers_are_read_to_their_end),
        TEST(refusals_are_counted),
        TEST(server_that_hangs_up_is_an_error),
        TEST(nobody_there_is_an_error),
        TEST(times_are_within_two_percent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
