/* test_effect_http.c - claims about the thread that makes calls, against a service in this process. */
#include "effect/effect.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { CALLS = 300, CONNECTIONS_MAX = 1024 };

/*
 * Answers "POST /held" never, "/headers" with a header that comes very often,
 * "/continues" with many heads before the answer, anything else at once.
 */
struct service {
    int fd;
    unsigned port;
    atomic_int connections, requests;
    pthread_t thread;
};

struct fixture {
    struct service service;
    struct mailbox answers;
    struct policy policy;
    struct effect *effect;
};

/* --- the service --- */

enum { REPEATS = 20000, HEADS = 2000 };

static bool send_text(int fd, const char *text)
{
    size_t len = strlen(text);

    return send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool answer_with_headers(int fd)
{
    bool ok = send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");

    for (int i = 0; ok && i < REPEATS; i++)
        ok = send_text(fd, "a:b\r\n");
    return ok && send_text(fd, "\r\n");
}

static bool answer_after_heads(int fd)
{
    bool ok = true;

    for (int i = 0; ok && i < HEADS; i++)
        ok = send_text(fd, "HTTP/1.1 100 Continue\r\nx: 1234567890\r\nx: 1234567890\r\n\r\n");
    return ok && send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\ny: z\r\n\r\n");
}

static bool answer_one(struct service *s, int fd)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                 "Content-Length: 11\r\n\r\n{\"ok\":true}";
    char bytes[4096];
    ssize_t n = recv(fd, bytes, sizeof(bytes) - 1, 0);

    if (n <= 0)
        return false;
    bytes[n] = '\0';
    atomic_fetch_add(&s->requests, 1);
    if (strstr(bytes, " /held") != NULL)
        return true;
    if (strstr(bytes, " /headers") != NULL)
        return answer_with_headers(fd);
    if (strstr(bytes, " /continues") != NULL)
        return answer_after_heads(fd);
    return send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL) == (ssize_t)sizeof(answer) - 1;
}

/* Until its socket is shut down. */
static void *serve(void *context)
{
    struct service *s = context;
    struct pollfd fds[CONNECTIONS_MAX] = {{.fd = s->fd, .events = POLLIN}};
    nfds_t count = 1;

    while (poll(fds, count, -1) > 0) {
        for (nfds_t i = count; i-- > 1;) {
            if (fds[i].revents == 0 || answer_one(s, fds[i].fd))
                continue;
            close(fds[i].fd);
            fds[i] = fds[--count];
        }
        if (fds[0].revents == 0)
            continue;
        fds[count] = (struct pollfd){.fd = accept(s->fd, NULL, NULL), .events = POLLIN};
        if (fds[count].fd < 0)
            break;
        count++;
        atomic_fetch_add(&s->connections, 1);
    }
    while (count-- > 1)
        close(fds[count].fd);
    return NULL;
}

static void service_open(struct service *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof(at);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(s->fd, CONNECTIONS_MAX), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &len), 0);
    s->port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void service_close(struct service *s)
{
    (void)shutdown(s->fd, SHUT_RDWR);
    (void)pthread_join(s->thread, NULL);
    close(s->fd);
}

/* --- calls --- */

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err;

    assert_non_null(f);
    service_open(&f->service);
    assert_true(mailbox_init(&f->answers, EFFECT_CALLS_MAX, &err));
    f->effect =
        effect_open(&(struct effect_options){.policy = &f->policy, .answers = &f->answers}, &err);
    assert_non_null(f->effect);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    void *items[64];
    size_t count;

    if (f->effect != NULL)
        effect_close(f->effect);
    while ((count = mailbox_take(&f->answers, items, 64)) > 0)
        for (size_t i = 0; i < count; i++)
            effect_call_free(items[i]);
    mailbox_fini(&f->answers);
    service_close(&f->service);
    free(f);
    return 0;
}

static struct effect_call *make_call(struct fixture *f, int64_t seq, const char *path,
                                     int64_t timeout_us)
{
    struct effect_call *call = effect_call_new();

    call->seq = seq;
    call->key = str_printf(&call->mem, "key-%lld", (long long)seq);
    call->host = str_printf(&call->mem, "http://127.0.0.1:%u", f->service.port);
    call->request_json =
        str_printf(&call->mem,
                   "{\"method\":\"POST\",\"url\":\"http://127.0.0.1:%u%s\",\"headers\":{},"
                   "\"body\":{\"n\":%lld}}",
                   f->service.port, path, (long long)seq);
    call->timeout_us = timeout_us;
    return call;
}

static void send_call(struct fixture *f, int64_t seq, const char *path, int64_t timeout_us)
{
    effect_send(f->effect, make_call(f, seq, path, timeout_us));
}

/* Wait for so many answers; `seen` counts by seq, `failed` those with an error. */
static void take_answers(struct fixture *f, int wanted, int *seen, int *failed)
{
    struct pollfd ready = {.fd = mailbox_fd(&f->answers), .events = POLLIN};
    void *items[64];

    *failed = 0;
    while (wanted > 0) {
        size_t count;

        assert_int_equal(poll(&ready, 1, 60000), 1);
        count = mailbox_take(&f->answers, items, 64);
        for (size_t i = 0; i < count; i++) {
            struct effect_call *call = items[i];

            seen[call->seq]++;
            *failed += call->error_json.len > 0;
            assert_true((call->error_json.len > 0) != (call->answer_json.len > 0));
            effect_call_free(call);
        }
        wanted -= (int)count;
    }
}

/* The call that comes back next. */
static struct effect_call *take_call(struct fixture *f)
{
    struct pollfd ready = {.fd = mailbox_fd(&f->answers), .events = POLLIN};
    void *items[1];

    assert_int_equal(poll(&ready, 1, 60000), 1);
    assert_int_equal(mailbox_take(&f->answers, items, 1), 1);
    return items[0];
}

static size_t count_in(struct str text, const char *part)
{
    size_t count = 0;

    for (int64_t at = 0; (at = str_find(text, str_of(part), (size_t)at)) >= 0; at++)
        count++;
    return count;
}

static void test_effect__headers_of_an_answer_take_no_memory_without_bound(void **state)
{
    static const char *const paths[] = {"/headers", "/continues"};
    struct fixture *f = *state;

    for (size_t i = 0; i < 2; i++) {
        struct effect_call *call;

        send_call(f, 1, paths[i], 60000000);
        call = take_call(f);
        assert_true(call->answer_json.len > 0);
        if (i == 0)
            assert_in_range(count_in(call->answer_json, "b, b"), 100, 256);
        else
            assert_int_equal(count_in(call->answer_json, "1234567890"), 0);
        assert_int_equal(count_in(call->answer_json, "\"y\":\"z\""), i);
        assert_in_range(call->mem.held_bytes, 1, 64 << 10);
        effect_call_free(call);
    }
}

static void test_effect__every_call_comes_back_exactly_once(void **state)
{
    struct fixture *f = *state;
    int seen[CALLS] = {0}, failed;

    for (int i = 0; i < CALLS; i++)
        send_call(f, i, i % 10 == 0 ? "/held" : "/fast", i % 10 == 0 ? 300000 : 60000000);
    take_answers(f, CALLS, seen, &failed);
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(failed, CALLS / 10);
    /* None is sent twice; one that is held may run out of time before it has arrived. */
    assert_in_range(atomic_load(&f->service.requests), CALLS - CALLS / 10, CALLS);
}

static void test_effect__calls_one_after_the_other_share_a_connection(void **state)
{
    struct fixture *f = *state;
    int seen[CALLS] = {0}, failed;

    for (int i = 0; i < 50; i++) {
        send_call(f, i, "/fast", 60000000);
        take_answers(f, 1, seen, &failed);
        assert_int_equal(failed, 0);
    }
    assert_int_equal(atomic_load(&f->service.connections), 1);
}

static void test_effect__closing_gives_up_what_is_under_way(void **state)
{
    struct fixture *f = *state;
    struct pollfd ready = {.fd = mailbox_fd(&f->answers), .events = POLLIN};

    for (int i = 0; i < 50; i++)
        send_call(f, i, "/held", 60000000);
    while (atomic_load(&f->service.requests) == 0)
        (void)poll(NULL, 0, 1);
    effect_close(f->effect);
    f->effect = NULL;
    assert_int_equal(poll(&ready, 1, 0), 0);
}

static void test_effect__denied_address_is_not_connected_to(void **state)
{
    struct fixture *f = *state;
    int seen[CALLS] = {0}, failed;
    struct arena mem;
    struct err err;

    arena_init(&mem);
    assert_true(policy_read(&mem, STR("127.0.0.0/8"), &f->policy.deny, &err));
    send_call(f, 1, "/fast", 60000000);
    take_answers(f, 1, seen, &failed);
    assert_int_equal(failed, 1);
    assert_int_equal(atomic_load(&f->service.connections), 0);
    arena_fini(&mem);
}

static void test_effect__connection_of_a_trusted_call_is_not_lent_past_the_policy(void **state)
{
    struct fixture *f = *state;
    int seen[CALLS] = {0}, failed;
    struct arena mem;
    struct err err;

    arena_init(&mem);
    assert_true(policy_read(&mem, STR("127.0.0.0/8"), &f->policy.deny, &err));
    for (int i = 0; i < 2; i++) {
        struct effect_call *call = make_call(f, i, "/fast", 60000000);

        call->is_trusted = i == 0;
        effect_send(f->effect, call);
        take_answers(f, 1, seen, &failed);
        assert_int_equal(failed, i);
    }
    assert_int_equal(atomic_load(&f->service.requests), 1);
    arena_fini(&mem);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_effect__every_call_comes_back_exactly_once),
        CASE(test_effect__calls_one_after_the_other_share_a_connection),
        CASE(test_effect__closing_gives_up_what_is_under_way),
        CASE(test_effect__headers_of_an_answer_take_no_memory_without_bound),
        CASE(test_effect__denied_address_is_not_connected_to),
        CASE(test_effect__connection_of_a_trusted_call_is_not_lent_past_the_policy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
