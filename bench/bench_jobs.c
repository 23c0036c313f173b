/*
 * bench_jobs.c - jobs a second of a server that runs, beside its plain requests, and what
 * thousands of workers cost that wait for nothing.
 *
 *     bench_jobs HOST PORT TOKEN PID
 *
 * The scenario `bench_jobs`, whose only step is bench.work, is there; PID is the server's. A worker
 * is a thread with one connection: it claims ten jobs, sends ten answers, each a request of its
 * own, and reads what is said to them. Run by bench/run-jobs.
 */
#include "base/buf.h"
#include "cli/server/load.h"

#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 64, WORKERS = 32, CLAIMED = 10, IDLE = 5000, ANSWER_MAX = 1 << 16 };

#define SECOND INT64_C(1000000)

static const char *host, *port, *token, *pid;

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * SECOND + t.tv_nsec / 1000;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench_jobs: %s\n", what);
    exit(1);
}

/* --- one connection --- */

struct wire {
    int fd;
    size_t len; /* of what was read and not taken yet */
    char text[ANSWER_MAX];
};

static void wire_open(struct wire *w)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;

    if (getaddrinfo(host, port, &hints, &found) != 0)
        fail("no such host");
    w->fd = socket(found->ai_family, SOCK_STREAM, 0);
    w->len = 0;
    if (w->fd < 0 || connect(w->fd, found->ai_addr, found->ai_addrlen) != 0)
        fail("the server cannot be reached");
    freeaddrinfo(found);
}

static void put_request(struct buf *out, const char *method, const char *path, struct str body)
{
    buf_printf(out,
               "%s /api/v1%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
               "Content-Length: %zu\r\n\r\n%.*s",
               method, path, token, body.len, STR_ARG(body));
}

static void wire_send(struct wire *w, struct str text)
{
    while (text.len > 0) {
        ssize_t n = write(w->fd, text.ptr, text.len);

        if (n <= 0)
            fail("the connection is lost");
        text = str_slice(text, (size_t)n, text.len);
    }
}

/* The body of the next answer; it lives until the next call. The status must be 200. */
static struct str wire_read(struct wire *w, size_t *taken)
{
    memmove(w->text, w->text + *taken, w->len - *taken);
    w->len -= *taken;
    while (true) {
        struct str all = str_from(w->text, w->len);
        int64_t head = str_find(all, STR("\r\n\r\n"), 0);
        int64_t length = str_find(all, STR("Content-Length: "), 0);
        ssize_t n;

        if (length < 0)
            length = str_find(all, STR("content-length: "), 0);
        if (head >= 0 && length >= 0 && length < head) {
            size_t size = strtoul(w->text + length + 16, NULL, 10), from = (size_t)head + 4;

            if (w->len >= from + size) {
                if (!str_starts_with(all, STR("HTTP/1.1 200")))
                    fail(w->text);
                *taken = from + size;
                return str_slice(all, from, from + size);
            }
        }
        n = read(w->fd, w->text + w->len, sizeof(w->text) - 1 - w->len);
        if (n <= 0)
            fail("the connection is lost");
        w->len += (size_t)n;
        w->text[w->len] = 0;
    }
}

/* --- workers --- */

static atomic_long left;

/* The text of a member behind `from`, which moves behind it; empty: there is none. */
static struct str next_member(struct str body, const char *name, size_t *from)
{
    int64_t at = str_find(body, str_of(name), *from), end;

    if (at < 0)
        return STR_NONE;
    at += (int64_t)strlen(name);
    end = str_find(body, STR("\""), (size_t)at);
    *from = (size_t)end;
    return str_slice(body, (size_t)at, (size_t)end);
}

static long answer_jobs(struct wire *w, struct str claimed, size_t *taken, struct buf *out)
{
    size_t at = 0;
    long count = 0;

    out->len = 0;
    while (true) {
        struct str id = next_member(claimed, "{\"id\":\"", &at), lease;
        char path[100], body[200];

        if (id.len == 0)
            break;
        lease = next_member(claimed, "\"leaseToken\":\"", &at);
        snprintf(path, sizeof(path), "/jobs/%.*s/complete", STR_ARG(id));
        snprintf(body, sizeof(body), "{\"leaseToken\":\"%.*s\",\"output\":1}", STR_ARG(lease));
        put_request(out, "POST", path, str_of(body));
        count++;
    }
    wire_send(w, buf_view(out));
    for (long i = 0; i < count; i++)
        (void)wire_read(w, taken);
    return count;
}

static void *work(void *context)
{
    struct wire *w = calloc(1, sizeof(*w));
    struct buf claim, answers;
    size_t taken = 0;

    (void)context;
    if (w == NULL)
        fail("out of memory");
    wire_open(w);
    buf_init(&claim);
    buf_init(&answers);
    put_request(
        &claim, "POST", "/jobs/claim",
        STR("{\"types\":[\"bench.work\"],\"max\":10,\"wait\":\"1s\",\"worker\":\"bench\"}"));
    while (atomic_load(&left) > 0) {
        wire_send(w, buf_view(&claim));
        atomic_fetch_sub(&left, answer_jobs(w, wire_read(w, &taken), &taken, &answers));
    }
    close(w->fd);
    buf_fini(&claim);
    buf_fini(&answers);
    free(w);
    return NULL;
}

static double jobs_per_s(long count)
{
    pthread_t threads[WORKERS];
    int64_t began = now_us();

    atomic_store(&left, count);
    for (unsigned i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            fail("no thread");
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    return (double)count * 1e6 / (double)(now_us() - began);
}

/* --- plain requests --- */

static struct load_result *plain(const char *method, const char *path, const char *body,
                                 int64_t seconds)
{
    struct load_result *result = calloc(1, sizeof(*result));
    struct buf request;
    struct err err;

    if (result == NULL)
        fail("out of memory");
    buf_init(&request);
    put_request(&request, method, path, str_of(body));
    if (!load_run(&(struct load_options){.host = str_of(host),
                                         .port = str_of(port),
                                         .request = buf_view(&request),
                                         .connections = CONNECTIONS,
                                         .warm_up_us = SECOND / 2,
                                         .duration_us = seconds * SECOND},
                  result, &err))
        fail(err.message);
    if (result->refused > 0)
        fail("requests were refused");
    buf_fini(&request);
    return result;
}

static double per_s(const struct load_result *r)
{
    return (double)r->answered * 1e6 / (double)r->elapsed_us;
}

/* --- workers that wait for nothing --- */

/* CPU in seconds and memory in KiB of the server. */
static void cost(double *cpu_s, double *rss_kib)
{
    char path[64], text[1024];
    long user = 0, system = 0, pages = 0;
    const char *rest;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    f = fopen(path, "r");
    if (f == NULL || fgets(text, sizeof(text), f) == NULL || (rest = strrchr(text, ')')) == NULL ||
        sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system) !=
            2)
        fail("the server is gone");
    fclose(f);
    snprintf(path, sizeof(path), "/proc/%s/statm", pid);
    f = fopen(path, "r");
    if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1)
        fail("the server is gone");
    fclose(f);
    *cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    *rss_kib = (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void open_idle(int *fds)
{
    static struct wire w;
    char body[200];
    struct buf request;

    for (unsigned i = 0; i < IDLE; i++) {
        wire_open(&w);
        fds[i] = w.fd;
        buf_init(&request);
        snprintf(body, sizeof(body), "{\"types\":[\"bench.idle%u\"],\"wait\":\"5m\"}", i % 50);
        put_request(&request, "POST", "/jobs/claim", str_of(body));
        wire_send(&w, buf_view(&request));
        buf_fini(&request);
    }
}

static void measure_idle(int64_t p99_alone_us)
{
    static int fds[IDLE];
    double cpu_before, cpu_after, rss_before, rss_after, unused;
    struct load_result *beside;

    cost(&unused, &rss_before);
    open_idle(fds);
    sleep(5);
    cost(&cpu_before, &rss_after);
    sleep(10);
    cost(&cpu_after, &unused);
    beside = plain("GET", "/me", "", 3);
    printf("%d idle workers: %.1f KiB each, %.1f %% of a core; plain requests beside them %.0f/s, "
           "p99 %.1f ms (alone %.1f ms)\n",
           IDLE, (rss_after - rss_before) / IDLE, (cpu_after - cpu_before) * 10, per_s(beside),
           (double)load_times_at(&beside->times, 0.99) / 1000, (double)p99_alone_us / 1000);
    for (unsigned i = 0; i < IDLE; i++)
        close(fds[i]);
    free(beside);
}

int main(int argc, char **argv)
{
    struct load_result *requests, *starts;
    struct rlimit files;
    long count;

    if (argc != 5) {
        fprintf(stderr, "usage: bench_jobs HOST PORT TOKEN PID\n");
        return 2;
    }
    host = argv[1];
    port = argv[2];
    token = argv[3];
    pid = argv[4];
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    requests = plain("GET", "/me", "", 3);
    /* First: what other work has left in the heap would hide what they need. */
    measure_idle(load_times_at(&requests->times, 0.99));
    fflush(stdout);
    starts = plain("POST", "/executions", "{\"code\":\"bench_jobs\"}", 3);
    count = (long)starts->answered;
    printf(
        "plain requests %.0f/s, starts %.0f/s, jobs %.0f/s (%d workers, %d claimed at once, each "
        "answer a request of its own)\n",
        per_s(requests), per_s(starts), jobs_per_s(count), WORKERS, CLAIMED);
    free(requests);
    free(starts);
    return 0;
}
