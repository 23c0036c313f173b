/*
 * bench_server.c - what the HTTP server costs, without anything behind it.
 *
 * A server in one thread answers at once, or keeps each request for one pass of
 * its loop, as it does for a commit; the load generator is the other thread.
 */
#include "base/time/clock.h"
#include "cli/server/load.h"
#include "http/http.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { KEPT_MAX = 4096, CONNECTIONS = 64, SECONDS = 3 };

struct server {
    struct http_server *http;
    bool keeps;
    struct http_request *kept[KEPT_MAX];
    size_t kept_count;
    uint64_t requests;
    double cpu_s; /* of the serving thread */
    atomic_bool stop;
};

static void answer(struct http_request *r)
{
    http_answer(r, &(struct http_answer){.status = 200,
                                         .content_type = "application/json",
                                         .body = STR("{\"status\":\"ok\"}")});
}

static void handle(void *context, struct http_request *r)
{
    struct server *s = context;

    s->requests++;
    if (s->keeps)
        s->kept[s->kept_count++] = r;
    else
        answer(r);
}

static double thread_cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *serve(void *context)
{
    struct server *s = context;
    int timeout_ms = 10;

    while (!atomic_load(&s->stop)) {
        struct pollfd ready = {.fd = http_fd(s->http), .events = POLLIN};
        if (poll(&ready, 1, timeout_ms) > 0)
            http_run(s->http);
        for (size_t i = 0; i < s->kept_count; i++)
            answer(s->kept[i]);
        s->kept_count = 0;
        timeout_ms = 10;
        http_before_sleep(s->http, &timeout_ms);
    }
    s->cpu_s = thread_cpu_s();
    return NULL;
}

static bool measure(const char *name, bool keeps)
{
    static const char request[] = "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 16\r\n\r\n"
                                  "{\"code\":\"bench\"}";
    struct server *s = calloc(1, sizeof(*s));
    struct load_result *result = calloc(1, sizeof(*result));
    struct err err;
    char port[8];
    pthread_t thread;
    bool ok;

    if (s == NULL || result == NULL)
        PANIC("out of memory");
    s->keeps = keeps;
    s->http = http_open(
        &(struct http_options){
            .host = STR("127.0.0.1"), .handle = handle, .context = s, .clock = &clock_system},
        &err);
    if (s->http == NULL || pthread_create(&thread, NULL, serve, s) != 0)
        PANIC("no server");
    snprintf(port, sizeof(port), "%u", (unsigned)http_port(s->http));
    ok = load_run(&(struct load_options){.host = STR("127.0.0.1"),
                                         .port = str_of(port),
                                         .request = STR(request),
                                         .connections = CONNECTIONS,
                                         .warm_up_us = 200000,
                                         .duration_us = SECONDS * 1000000},
                  result, &err);
    atomic_store(&s->stop, true);
    pthread_join(thread, NULL);
    http_close(s->http);
    if (ok)
        printf("%-24s %8.0f requests/s  %5.1f us of CPU each  p50 %.2f ms  p99 %.2f ms\n", name,
               (double)result->answered * 1e6 / (double)result->elapsed_us,
               s->cpu_s * 1e6 / (double)s->requests,
               (double)load_times_at(&result->times, 0.5) / 1000,
               (double)load_times_at(&result->times, 0.99) / 1000);
    else
        fprintf(stderr, "%s: %s\n", name, err.message);
    free(result);
    free(s);
    return ok;
}

int main(void)
{
    printf("%d connections, %d s each, server and generator on one machine\n", CONNECTIONS,
           SECONDS);
    return measure("answered at once", false) && measure("kept for one pass", true) ? 0 : 1;
}
