/*
 * http.c - the thread that makes calls; see effect.h.
 *
 * libcurl performs many transfers on one thread and says which sockets it wants
 * watched and when it wants to be called next: an epoll set and its timeout.
 */
#include "base/alloc.h"
#include "base/time/clock.h"
#include "effect/mail.h"
#include "effect/secret/token.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { SPARE_MAX = 256, TAKEN_AT_ONCE = 256, EVENTS_AT_ONCE = 256, IDLE_MS = 60000 };

struct effect {
    struct effect_options options;
    struct mailbox inbox;
    const char *trusted_path; /* of certificates; NULL = the system's */
    CURLM *multi;
    int epoll_fd;
    int64_t due_us;  /* monotonic: when libcurl wants to be called; 0 = not by itself */
    bool is_closing; /* set by the closing thread */
    int running;     /* as libcurl counts them */
    struct tokens tokens;
    LIST_HEAD(, transfer) active; /* those that libcurl has, and those that wait for a token */
    LIST_HEAD(, transfer) spare;
    unsigned spare_count;
    struct mail_sockets mail_sockets;
    pthread_t thread;
};

/* --- what libcurl wants watched --- */

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    struct effect *e = context;
    struct epoll_event event = {.data.fd = fd};

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        (void)epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        curl_multi_assign(e->multi, fd, NULL);
        return 0;
    }
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    if (epoll_ctl(e->epoll_fd, known != NULL ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) != 0 &&
        (errno == EEXIST || errno == ENOENT))
        (void)epoll_ctl(e->epoll_fd, errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    if (known == NULL)
        curl_multi_assign(e->multi, fd, e);
    return 0;
}

static int set_timeout(CURLM *multi, long timeout_ms, void *context)
{
    struct effect *e = context;

    (void)multi;
    e->due_us = timeout_ms < 0 ? 0 : clock_mono_us(&clock_system) + timeout_ms * 1000;
    return 0;
}

/* --- transfers --- */

static struct transfer *transfer_new(struct effect *e)
{
    struct transfer *t = LIST_FIRST(&e->spare);

    if (t != NULL) {
        LIST_REMOVE(t, link);
        e->spare_count--;
        return t;
    }
    t = alloc_zeroed(sizeof(*t));
    t->policy = e->options.policy;
    t->vault = e->options.vault;
    t->mail_sockets = &e->mail_sockets;
    buf_init(&t->body);
    buf_init(&t->head);
    t->easy = alloc_check(curl_easy_init());
    call_set_up(t, e->trusted_path);
    return t;
}

static void transfer_drop(struct transfer *t)
{
    curl_easy_cleanup(t->easy);
    buf_fini(&t->body);
    buf_fini(&t->head);
    free(t);
}

static void transfer_deactivate(struct effect *e, struct transfer *t)
{
    LIST_REMOVE(t, link);
    ASSERT(LIST_FIRST(&e->active) != t);
}

static void take_token(struct effect *e, struct effect_call *call);

/* Its call goes back to the loop; a token to those who wait for it. */
static void transfer_end(struct effect *e, struct transfer *t)
{
    struct effect_call *call = t->call;
    bool is_mail = call->server_url.len > 0;

    transfer_deactivate(e, t);
    call_reset(t);
    if (call->token_of != NULL)
        take_token(e, call);
    else
        mailbox_put_reserved(e->options.answers, call);
    if (is_mail || e->spare_count == SPARE_MAX) {
        transfer_drop(t);
        return;
    }
    LIST_INSERT_HEAD(&e->spare, t, link);
    e->spare_count++;
}

/* The request is whole: it leaves. */
static void transfer_send(struct effect *e, struct transfer *t)
{
    struct effect_call *call = t->call;

    if ((call->server_url.len > 0 ? mail_prepare(t, e->trusted_path) : call_prepare(t)) &&
        curl_multi_add_handle(e->multi, t->easy) == CURLM_OK)
        return;
    if (call->error_json.len == 0)
        call_fail(call, "internal_call", ERR_CLASS_TRANSIENT, STR("the call could not be begun"));
    transfer_end(e, t);
}

static void begin_call(struct effect *e, struct effect_call *call);

/* It leaves with a token that is at hand, or waits for one. */
static void transfer_need_token(struct effect *e, struct transfer *t)
{
    struct str token = token_find(&e->tokens, t->secrets->oauth, clock_mono_us(&clock_system));
    struct effect_call *request;

    if (token.len > 0) {
        secret_take_token(&t->call->mem, t->secrets, token);
        transfer_send(e, t);
        return;
    }
    request = token_wait(&e->tokens, t);
    if (request != NULL)
        begin_call(e, request);
}

static void begin_call(struct effect *e, struct effect_call *call)
{
    struct transfer *t = transfer_new(e);

    t->call = call;
    LIST_INSERT_HEAD(&e->active, t, link);
    if (call->server_url.len > 0) {
        transfer_send(e, t);
        return;
    }
    switch (call_read(t)) {
    case SECRET_READY:
        transfer_send(e, t);
        return;
    case SECRET_FAILED:
        transfer_end(e, t);
        return;
    case SECRET_WAITS:
        transfer_need_token(e, t);
        return;
    }
}

static void take_token(struct effect *e, struct effect_call *call)
{
    struct transfer *t = token_answered(&e->tokens, call, clock_mono_us(&clock_system));

    effect_call_free(call);
    while (t != NULL) {
        struct transfer *next = t->waiting;

        t->waiting = NULL;
        if (t->call->error_json.len > 0)
            transfer_end(e, t);
        else
            transfer_need_token(e, t);
        t = next;
    }
}

static void take_finished(struct effect *e)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(e->multi, &left)) != NULL) {
        struct transfer *t = NULL;
        CURLcode code = message->data.result;
        CURL *easy = message->easy_handle;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &t);
        curl_multi_remove_handle(e->multi, easy);
        if (t->call->server_url.len > 0) {
            mail_finish(t, code);
            transfer_end(e, t);
            continue;
        }
        switch (call_finish(t, code)) {
        case CALL_ENDED:
            transfer_end(e, t);
            break;
        case CALL_AGAIN:
            if (curl_multi_add_handle(e->multi, easy) != CURLM_OK)
                PANIC("libcurl does not take a transfer again");
            break;
        case CALL_NEEDS_TOKEN:
            token_refused(&e->tokens, t->secrets->oauth, t->secrets->token);
            transfer_need_token(e, t);
            break;
        }
    }
}

/* --- the thread --- */

static void take_calls(struct effect *e)
{
    void *items[TAKEN_AT_ONCE];
    size_t count;

    do {
        count = mailbox_take(&e->inbox, items, TAKEN_AT_ONCE);
        for (size_t i = 0; i < count; i++)
            begin_call(e, items[i]);
    } while (count == TAKEN_AT_ONCE);
}

static void perform(struct effect *e, curl_socket_t fd, unsigned events)
{
    int what = (events & EPOLLIN ? CURL_CSELECT_IN : 0) |
               (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);

    curl_multi_socket_action(e->multi, fd, what, &e->running);
}

/* How long the thread may sleep. */
static int sleep_ms(const struct effect *e)
{
    int64_t left_us;

    if (e->due_us == 0)
        return IDLE_MS;
    left_us = e->due_us - clock_mono_us(&clock_system);
    if (left_us <= 0)
        return 0;
    return left_us > IDLE_MS * 1000 ? IDLE_MS : (int)((left_us + 999) / 1000);
}

/* What libcurl wants to do by itself, once: it says anew when it wants to be called again. */
static void fire_timeout(struct effect *e)
{
    if (e->due_us == 0 || e->due_us > clock_mono_us(&clock_system))
        return;
    e->due_us = 0;
    curl_multi_socket_action(e->multi, CURL_SOCKET_TIMEOUT, 0, &e->running);
}

static void *run_thread(void *context)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    struct effect *e = context;

    while (!__atomic_load_n(&e->is_closing, __ATOMIC_RELAXED)) {
        int count = epoll_wait(e->epoll_fd, events, EVENTS_AT_ONCE, sleep_ms(e));

        if (count < 0 && errno != EINTR)
            PANIC("epoll failed");
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == mailbox_fd(&e->inbox))
                take_calls(e);
            else
                perform(e, events[i].data.fd, events[i].events);
        }
        fire_timeout(e);
        take_finished(e);
    }
    return NULL;
}

/* --- opening and closing --- */

static bool open_parts(struct effect *e, struct err *err)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (!mailbox_init(&e->inbox, EFFECT_CALLS_MAX + EFFECT_MESSAGES_MAX, err))
        return false;
    e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    event.data.fd = mailbox_fd(&e->inbox);
    e->multi = curl_multi_init();
    if (e->epoll_fd < 0 || e->multi == NULL ||
        epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, event.data.fd, &event) != 0)
        return err_set(err, ERR_IO, "cannot make what calls need: %s", strerror(errno));
    curl_multi_setopt(e->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(e->multi, CURLMOPT_SOCKETDATA, e);
    curl_multi_setopt(e->multi, CURLMOPT_TIMERFUNCTION, set_timeout);
    curl_multi_setopt(e->multi, CURLMOPT_TIMERDATA, e);
    curl_multi_setopt(e->multi, CURLMOPT_MAXCONNECTS, 1024L);
    return true;
}

static void close_parts(struct effect *e)
{
    while (!LIST_EMPTY(&e->active)) {
        struct transfer *t = LIST_FIRST(&e->active);
        struct effect_call *call = t->call;

        transfer_deactivate(e, t);
        curl_multi_remove_handle(e->multi, t->easy);
        call_reset(t);
        effect_call_free(call);
        transfer_drop(t);
    }
    while (!LIST_EMPTY(&e->spare)) {
        struct transfer *t = LIST_FIRST(&e->spare);

        LIST_REMOVE(t, link);
        transfer_drop(t);
    }
    tokens_fini(&e->tokens);
    if (e->multi != NULL)
        curl_multi_cleanup(e->multi);
    mail_sockets_fini(&e->mail_sockets);
    if (e->epoll_fd >= 0)
        close(e->epoll_fd);
}

struct effect *effect_open(const struct effect_options *options, struct err *err)
{
    struct effect *e = ALLOC_NEW(struct effect);

    e->options = *options;
    e->trusted_path = getenv("SSL_CERT_FILE"); /* libcurl itself does not look at it */
    e->epoll_fd = -1;
    mail_sockets_init(&e->mail_sockets);
    tokens_init(&e->tokens);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(e);
        err_set(err, ERR_IO, "libcurl cannot be used");
        return NULL;
    }
    if (!open_parts(e, err)) {
        close_parts(e);
        free(e);
        return NULL;
    }
    if (pthread_create(&e->thread, NULL, run_thread, e) != 0) {
        err_set(err, ERR_IO, "cannot start a thread for calls");
        close_parts(e);
        free(e);
        return NULL;
    }
    return e;
}

void effect_close(struct effect *e)
{
    void *items[TAKEN_AT_ONCE];
    size_t count;

    __atomic_store_n(&e->is_closing, true, __ATOMIC_RELAXED);
    mailbox_close(&e->inbox); /* wakes the thread, unless it waits for a mail server: */
    mail_sockets_cut(&e->mail_sockets);
    (void)pthread_join(e->thread, NULL);
    while ((count = mailbox_take(&e->inbox, items, TAKEN_AT_ONCE)) > 0)
        for (size_t i = 0; i < count; i++)
            effect_call_free(items[i]);
    close_parts(e);
    mailbox_fini(&e->inbox);
    free(e);
}

/* --- for the loop --- */

struct effect_call *effect_call_new(void)
{
    struct effect_call *call = ALLOC_NEW(struct effect_call);

    arena_init(&call->mem);
    return call;
}

void effect_call_free(struct effect_call *call)
{
    credential_release(call->token_of);
    arena_fini(&call->mem);
    free(call);
}

void effect_send(struct effect *e, struct effect_call *call)
{
    /* As many fit as may be in flight. */
    if (!mailbox_reserve(e->options.answers) || !mailbox_put(&e->inbox, call))
        PANIC("more calls are in flight than may be");
}
