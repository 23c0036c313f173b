/*
 * bench_curl.c PORT IN_FLIGHT SECONDS - how many calls a second libcurl makes by itself: one thread, the multi
 * interface on an epoll set, connections and handles reused, nothing kept of an answer.
 *
 * The mark that calls of a server are held against: the same request, the same
 * service, the same machine.
 */
#include "base/err.h"
#include "base/time/clock.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

enum { EVENTS_MAX = 256 };

struct caller {
    CURLM *multi;
    int epoll_fd, running;
    int64_t due_us;
    uint64_t answered, failed;
};

static int watch(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    struct caller *c = context;
    struct epoll_event event = {.data.fd = fd};

    (void)easy;
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    (void)epoll_ctl(c->epoll_fd,
                    what == CURL_POLL_REMOVE ? EPOLL_CTL_DEL
                    : known != NULL          ? EPOLL_CTL_MOD
                                             : EPOLL_CTL_ADD,
                    fd, &event);
    curl_multi_assign(c->multi, fd, what == CURL_POLL_REMOVE ? NULL : c);
    return 0;
}

static int set_timeout(CURLM *multi, long timeout_ms, void *context)
{
    struct caller *c = context;

    (void)multi;
    c->due_us = timeout_ms < 0 ? 0 : clock_mono_us(&clock_system) + timeout_ms * 1000;
    return 0;
}

static size_t ignore(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

static void begin(struct caller *c, const char *url, struct curl_slist *headers)
{
    CURL *easy = curl_easy_init();

    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "{\"amount\":250,\"order\":\"o-1\"}");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 30000L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    if (curl_multi_add_handle(c->multi, easy) != CURLM_OK)
        PANIC("libcurl takes no transfer");
}

/* Those that have ended begin anew. */
static void again(struct caller *c)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(c->multi, &left)) != NULL) {
        CURL *easy = message->easy_handle;

        if (message->msg != CURLMSG_DONE)
            continue;
        *(message->data.result == CURLE_OK ? &c->answered : &c->failed) += 1;
        curl_multi_remove_handle(c->multi, easy);
        if (curl_multi_add_handle(c->multi, easy) != CURLM_OK)
            PANIC("libcurl takes no transfer");
    }
}

static void turn(struct caller *c)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t left_us = c->due_us == 0 ? 100000 : c->due_us - clock_mono_us(&clock_system);
    int count = epoll_wait(c->epoll_fd, events, EVENTS_MAX,
                           left_us <= 0 ? 0 : (int)((left_us + 999) / 1000));

    for (int i = 0; i < count; i++)
        curl_multi_socket_action(c->multi, events[i].data.fd,
                                 (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                                     (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0),
                                 &c->running);
    if (c->due_us != 0 && c->due_us <= clock_mono_us(&clock_system)) {
        c->due_us = 0;
        curl_multi_socket_action(c->multi, CURL_SOCKET_TIMEOUT, 0, &c->running);
    }
    again(c);
}

int main(int argc, char **argv)
{
    static struct caller c;
    struct curl_slist *headers = NULL;
    int64_t began_us, ends_us;
    char url[100];

    if (argc != 4) {
        (void)fprintf(stderr, "usage: bench_curl PORT IN_FLIGHT SECONDS\n");
        return 2;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    c.multi = curl_multi_init();
    c.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    curl_multi_setopt(c.multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(c.multi, CURLMOPT_SOCKETDATA, &c);
    curl_multi_setopt(c.multi, CURLMOPT_TIMERFUNCTION, set_timeout);
    curl_multi_setopt(c.multi, CURLMOPT_TIMERDATA, &c);
    snprintf(url, sizeof(url), "http://127.0.0.1:%s/fast", argv[1]);
    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Idempotency-Key: bench-of-curl");
    for (int i = 0; i < strtol(argv[2], NULL, 10); i++)
        begin(&c, url, headers);
    began_us = clock_mono_us(&clock_system);
    ends_us = began_us + atoll(argv[3]) * 1000000;
    while (clock_mono_us(&clock_system) < ends_us)
        turn(&c);
    printf("{\"perSecond\":%.1f,\"failed\":%llu,\"cpuUsEach\":%.1f}\n",
           (double)c.answered * 1e6 / (double)(clock_mono_us(&clock_system) - began_us),
           (unsigned long long)c.failed,
           (double)clock() * 1e6 / CLOCKS_PER_SEC / (double)(c.answered > 0 ? c.answered : 1));
    return 0;
}
