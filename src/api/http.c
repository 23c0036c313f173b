/*
 * http.c - libmicrohttpd behind http.h; streams are in http_stream.c.
 *
 * The library polls with an epoll descriptor of its own, which is readable in
 * the epoll set of the loop. Its timeouts are not used: they begin anew with
 * every byte. Connections that we wait for stand in one list by age instead.
 *
 * A suspended connection cannot end, so a request is released either before
 * the handler has seen it or after it was answered, never between.
 */
#include "api/http_inner.h"
#include "api/listen.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /*
     * Request line and headers, once more for cookies, and what the library notes
     * about them; a page of it is in memory when it was touched. The library
     * clears the whole after each request, so of a connection that is used again
     * all of it is: there are REUSED_MAX of those at most, and further answers end
     * their connection.
     */
    CONNECTION_POOL_BYTES = 2 * HTTP_HEAD_MAX_BYTES + (8 << 10),
    REUSED_MAX = 600,
    BODY_KEPT_BYTES = 4096, /* of an exchange that is spare */
    CONNECTIONS_DEFAULT = 20000,
    DESCRIPTORS_SPARED = 64,
    BODY_DEFAULT_BYTES = 1 << 20,
    BODIES_DEFAULT_BYTES = 256 << 20,
    DISCARDED_MAX_BYTES = 16 << 20, /* read and thrown away so that the client sees its 413 */
    SPARE_EXCHANGES = 256,
    CLOSE_PATIENCE_US = 1000000,
    SUSPENDED_FEW = 1000,
    CLOSED_MANY = 1000, /* worth giving their memory back to the system */
    IDLE_MS = 50,
};

#define PATIENCE_DEFAULT_US INT64_C(60000000)

/* --- patience --- */

void connection_leave(struct http_server *s, struct connection *c)
{
    if (!c->is_waited_for)
        return;
    *(c->older != NULL ? &c->older->newer : &s->oldest) = c->newer;
    *(c->newer != NULL ? &c->newer->older : &s->newest) = c->older;
    c->is_waited_for = false;
}

void connection_wait_for(struct http_server *s, struct connection *c)
{
    connection_leave(s, c);
    c->since_us = s->now_us;
    c->older = s->newest;
    c->newer = NULL;
    *(c->older != NULL ? &c->older->newer : &s->oldest) = c;
    s->newest = c;
    c->is_waited_for = true;
}

/* Cut what has kept us waiting for too long; answers when the next one is due, or -1. */
static int cut_the_slow(struct http_server *s)
{
    while (s->oldest != NULL) {
        struct connection *c = s->oldest;
        int64_t left_us = c->since_us + s->options.patience_us - s->now_us;
        if (left_us > 0)
            return (int)(left_us / 1000) + 1;
        connection_leave(s, c);
        /* The library finds the end of the stream and closes it. */
        (void)shutdown(c->fd, SHUT_RDWR);
        s->has_more = true;
    }
    return -1;
}

/* --- exchanges --- */

static struct exchange *exchange_new(struct http_server *s, struct MHD_Connection *handle)
{
    struct exchange *x = s->spare;
    struct arena mem;
    struct buf body;

    if (x != NULL) {
        s->spare = x->next;
        s->spare_count--;
        mem = x->mem;
        body = x->body;
    } else {
        x = malloc(sizeof(*x));
        if (x == NULL)
            PANIC("out of memory");
        arena_init(&mem);
        buf_init(&body);
    }
    *x = (struct exchange){.mem = mem, .body = body, .server = s, .handle = handle};
    x->connection =
        MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    x->request.mem = &x->mem;
    x->request.number = ++s->requests;
    return x;
}

static void exchange_drop(struct exchange *x)
{
    arena_fini(&x->mem);
    buf_fini(&x->body);
    free(x);
}

static void exchange_free(struct exchange *x)
{
    struct http_server *s = x->server;

    ASSERT(x->phase == PHASE_RECEIVING || x->phase == PHASE_SENDING);
    if (x->source.more != NULL)
        stream_ended(x);
    s->body_bytes -= x->body.len;
    s->sending_count -= x->phase == PHASE_SENDING;
    if (s->spare_count == SPARE_EXCHANGES) {
        exchange_drop(x);
        return;
    }
    arena_reset(&x->mem);
    if (x->body.room > BODY_KEPT_BYTES)
        buf_fini(&x->body);
    buf_clear(&x->body);
    x->next = s->spare;
    s->spare = x;
    s->spare_count++;
}

static void keep(struct exchange *x)
{
    struct http_server *s = x->server;

    x->phase = PHASE_KEPT;
    x->before = NULL;
    x->after = s->first_kept;
    if (x->after != NULL)
        x->after->before = x;
    s->first_kept = x;
    s->kept_count++;
    MHD_suspend_connection(x->handle);
}

static void unkeep(struct exchange *x)
{
    struct http_server *s = x->server;

    *(x->before != NULL ? &x->before->after : &s->first_kept) = x->after;
    if (x->after != NULL)
        x->after->before = x->before;
    s->kept_count--;
}

/* Hand the response over. The library answers no when the connection is past saving. */
static enum MHD_Result send_response(struct exchange *x)
{
    enum MHD_Result result;

    if (!x->connection->is_reused && x->server->reused_count >= REUSED_MAX)
        x->is_last = true;
    if (x->is_last)
        (void)MHD_add_response_header(x->response, MHD_HTTP_HEADER_CONNECTION, "close");
    result = MHD_queue_response(x->handle, x->status, x->response);
    MHD_destroy_response(x->response);
    x->response = NULL;
    x->phase = PHASE_SENDING;
    x->server->sending_count++;
    if (x->source.more != NULL)
        stream_began(x);
    connection_wait_for(x->server, x->connection);
    return result;
}

void exchange_resume(struct exchange *x)
{
    struct http_server *s = x->server;

    x->next = NULL;
    *s->answered_end = x;
    s->answered_end = &x->next;
}

/* What every answer has. */
const struct http_header http_protections[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Frame-Options", "DENY"},
};
const size_t http_protection_count = ARRAY_SIZE(http_protections);

void exchange_answer(struct exchange *x, const struct http_answer *answer,
                     struct MHD_Response *response)
{
    ASSERT(x->phase == PHASE_HANDLING || x->phase == PHASE_KEPT);
    if (response == NULL)
        PANIC("out of memory");
    for (size_t i = 0; i < http_protection_count; i++)
        (void)MHD_add_response_header(response, http_protections[i].name,
                                      http_protections[i].value);
    if (answer->content_type != NULL)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
    for (int i = 0; i < HTTP_HEADERS_MAX && answer->headers[i].name != NULL; i++) {
        /* A value that is no header (a line feed) is left out by the library. */
        (void)MHD_add_response_header(response, answer->headers[i].name, answer->headers[i].value);
    }
    x->response = response;
    x->status = (unsigned)answer->status;
    if (x->phase == PHASE_KEPT) {
        unkeep(x);
        exchange_resume(x);
    }
    x->phase = PHASE_ANSWERED;
}

void http_answer(struct http_request *r, const struct http_answer *answer)
{
    /* The library reads it only, but does not say so. */
    const union {
        const char *ours;
        void *theirs;
    } body = {.ours = answer->body.ptr};

    exchange_answer(
        exchange_of(r), answer,
        MHD_create_response_from_buffer(answer->body.len, body.theirs, MHD_RESPMEM_PERSISTENT));
}

/* --- what the library calls --- */

static const char too_large[] = "the body is larger than it may be";

static void refuse_body(struct exchange *x, enum err_code code, const char *why)
{
    x->request.refusal = code;
    x->request.why = why;
    x->server->body_bytes -= x->body.len;
    buf_fini(&x->body);
    buf_clear(&x->body);
}

static void answer_closing(struct exchange *x)
{
    const struct http_server *s = x->server;
    struct http_answer answer = {.status = 503};

    if (s->options.closing != NULL)
        s->options.closing(s->options.context, &x->request, &x->mem, &answer);
    http_answer(&x->request, &answer);
}

static enum MHD_Result handle(struct exchange *x)
{
    struct http_server *s = x->server;

    s->handled++;
    connection_leave(s, x->connection);
    x->request.body = buf_view(&x->body);
    x->phase = PHASE_HANDLING;
    if (s->is_quiet)
        answer_closing(x);
    else
        s->options.handle(s->options.context, &x->request);
    if (x->phase == PHASE_ANSWERED)
        return send_response(x);
    ASSERT(x->phase == PHASE_HANDLING && x->request.refusal == ERR_NONE);
    keep(x);
    return MHD_YES;
}

/* Answer what has a body that will not be read: it may be on its way. */
static enum MHD_Result handle_early(struct exchange *x)
{
    x->is_last = true;
    x->connection->lingers = true;
    return handle(x);
}

static bool announces_body(const struct exchange *x)
{
    struct str length = http_header(&x->request, MHD_HTTP_HEADER_CONTENT_LENGTH);

    return (length.len > 0 && !str_eq(length, STR("0"))) ||
           http_header(&x->request, MHD_HTTP_HEADER_TRANSFER_ENCODING).ptr != NULL;
}

/* The headers are there. A body that is announced too large is refused before it is sent. */
static enum MHD_Result begin(struct http_server *s, struct exchange *x, const char *url,
                             const char *method)
{
    bool is_admitted = true;
    int64_t announced;

    connection_wait_for(s, x->connection);
    x->request.method = str_of(method);
    x->request.path = str_of(url);
    x->body_max = BODY_DEFAULT_BYTES;
    if (s->options.admit != NULL)
        is_admitted = s->options.admit(s->options.context, &x->request, &x->body_max);
    x->request.why = shape_mistake(x);
    if (x->request.why != NULL) {
        x->request.refusal = ERR_BAD_REQUEST;
        return x->is_last ? handle_early(x) : MHD_YES;
    }
    if (!is_admitted)
        return announces_body(x) ? handle_early(x) : MHD_YES;
    if (!str_to_int64(http_header(&x->request, "Content-Length"), &announced) ||
        announced <= (int64_t)x->body_max)
        return MHD_YES;
    refuse_body(x, ERR_TOO_LARGE, too_large);
    if (announced > DISCARDED_MAX_BYTES || http_header(&x->request, "Expect").len > 0)
        return handle_early(x);
    return MHD_YES;
}

static enum MHD_Result take_body(struct exchange *x, struct str data)
{
    struct http_server *s = x->server;

    if (x->request.refusal == ERR_NONE && data.len > x->body_max - x->body.len)
        refuse_body(x, ERR_TOO_LARGE, too_large);
    if (x->request.refusal == ERR_NONE && data.len > s->options.bodies_max_bytes - s->body_bytes)
        refuse_body(x, ERR_OVERLOADED, "too many large requests are under way");
    if (x->request.refusal != ERR_NONE) {
        x->discarded += data.len;
        return x->discarded <= DISCARDED_MAX_BYTES ? MHD_YES : MHD_NO;
    }
    buf_add(&x->body, data.ptr, data.len);
    s->body_bytes += data.len;
    return MHD_YES;
}

static enum MHD_Result on_access(void *context, struct MHD_Connection *handle_, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *data_len, void **owner)
{
    struct http_server *s = context;
    struct exchange *x = *owner;

    (void)version;
    if (x == NULL) {
        x = *owner = exchange_new(s, handle_);
        return begin(s, x, url, method);
    }
    if (*data_len > 0) {
        enum MHD_Result result = take_body(x, str_from(data, *data_len));
        *data_len = 0;
        return result;
    }
    return handle(x);
}

static void on_completed(void *context, struct MHD_Connection *handle_, void **owner,
                         enum MHD_RequestTerminationCode how)
{
    struct http_server *s = context;
    struct exchange *x = *owner;

    (void)handle_;
    (void)how;
    if (x == NULL)
        return;
    connection_wait_for(s, x->connection);
    s->reused_count += !x->connection->is_reused;
    x->connection->is_reused = true;
    exchange_free(x);
    *owner = NULL;
}

static void on_connection(void *context, struct MHD_Connection *handle_, void **owner,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http_server *s = context;
    struct connection *c = *owner;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        c = calloc(1, sizeof(*c));
        if (c == NULL)
            PANIC("out of memory");
        c->fd = MHD_get_connection_info(handle_, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        *owner = c;
        s->open_count++;
        connection_wait_for(s, c);
    } else if (c != NULL) {
        s->open_count--;
        s->closed_count++;
        s->reused_count -= c->is_reused;
        connection_leave(s, c);
        if (c->lingers)
            linger_begin(s, c->fd);
        free(c);
        *owner = NULL;
    }
}

/* Paths and queries stay as they were sent: '/' and U+0000 that were encoded are no ends. */
static size_t leave_encoded(void *context, struct MHD_Connection *handle_, char *text)
{
    (void)context;
    (void)handle_;
    return strlen(text);
}

/* --- opening --- */

static unsigned connections_allowed(unsigned wanted)
{
    struct rlimit limit;

    if (wanted == 0)
        wanted = CONNECTIONS_DEFAULT;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 2 * DESCRIPTORS_SPARED &&
        wanted > limit.rlim_cur - DESCRIPTORS_SPARED)
        wanted = (unsigned)limit.rlim_cur - DESCRIPTORS_SPARED;
    return wanted;
}

static bool start_daemon(struct http_server *s, struct err *err)
{
    bool is_tls = s->options.tls_cert != NULL;
    const union MHD_DaemonInfo *info;
    /* The library only reads what they point to, but does not say so. */
    const union {
        const char *ours;
        void *theirs;
    } cert = {.ours = s->options.tls_cert}, key = {.ours = s->options.tls_key},
      priorities = {.ours = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
    const struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, cert.theirs},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, key.theirs},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, priorities.theirs},
        {MHD_OPTION_END, 0, NULL},
    };
    const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};

    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (is_tls ? MHD_USE_TLS : MHD_USE_TURBO), 0, NULL,
        NULL, on_access, s, MHD_OPTION_LISTEN_SOCKET, s->listen_fd, MHD_OPTION_CONNECTION_LIMIT,
        connections_allowed(s->options.connections_max), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_POOL_BYTES, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_UNESCAPE_CALLBACK, leave_encoded,
        NULL, MHD_OPTION_ARRAY, is_tls ? tls : plain, MHD_OPTION_END);
    if (s->daemon == NULL && is_tls)
        return err_set(err, ERR_IO, "cannot serve TLS with this certificate and key");
    if (s->daemon == NULL)
        return err_set(err, ERR_IO, "cannot start the HTTP server: %s", strerror(errno));
    info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    s->epoll_fd = info->epoll_fd;
    return true;
}

struct http_server *http_open(const struct http_options *options, struct err *err)
{
    struct http_server *s = calloc(1, sizeof(*s));

    if (s == NULL)
        PANIC("out of memory");
    s->options = *options;
    if (s->options.patience_us == 0)
        s->options.patience_us = PATIENCE_DEFAULT_US;
    if (s->options.bodies_max_bytes == 0)
        s->options.bodies_max_bytes = BODIES_DEFAULT_BYTES;
    s->answered_end = &s->answered;
    s->now_us = clock_mono_us(options->clock);
    s->resumed_us = INT64_MIN / 2;
    if (!listen_open(options->host, options->port, &s->listen_fd, err)) {
        free(s);
        return NULL;
    }
    s->port = listen_port(s->listen_fd);
    s->gone_fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->gone_fd < 0)
        (void)err_set(err, ERR_IO, "cannot watch clients: %s", strerror(errno));
    if (s->gone_fd < 0 || !start_daemon(s, err)) {
        if (s->gone_fd >= 0)
            close(s->gone_fd);
        close(s->listen_fd);
        free(s);
        return NULL;
    }
    return s;
}

uint16_t http_port(const struct http_server *s)
{
    return s->port;
}

size_t http_kept(const struct http_server *s)
{
    return s->kept_count;
}

int http_fd(const struct http_server *s)
{
    return s->epoll_fd;
}

/* --- the loop's calls --- */

void http_run(struct http_server *s)
{
    MHD_UNSIGNED_LONG_LONG timeout_ms;
    size_t closed = s->closed_count;

    s->now_us = clock_mono_us(s->options.clock);
    (void)MHD_run(s->daemon);
    s->has_more = MHD_get_timeout(s->daemon, &timeout_ms) == MHD_YES && timeout_ms == 0;
    /* At its limit the library does not listen; it does again in the run after one that made room. */
    s->has_more = s->has_more || s->closed_count != closed;
}

/*
 * How long to wait after connections were resumed. To resume any, the library
 * looks at every suspended connection: 60 ns each, where memory is slow. That
 * may take an eighth of the time and no more.
 */
static int64_t resume_pause_us(const struct http_server *s)
{
    size_t suspended = s->kept_count + s->asleep_count;

    return suspended < SUSPENDED_FEW ? 0 : (int64_t)(suspended / 2);
}

/* Resume what was answered; they are sent by the next http_run(). */
static void resume_answered(struct http_server *s)
{
    while (s->answered != NULL) {
        struct exchange *x = s->answered;
        s->answered = x->next;
        if (x->phase == PHASE_ANSWERED)
            (void)send_response(x);
        else
            connection_wait_for(s, x->connection);
        s->asleep_count -= x->rest != REST_NONE;
        x->rest = REST_NONE;
        MHD_resume_connection(x->handle);
        s->has_more = true;
    }
    s->answered_end = &s->answered;
    s->resumed_us = clock_mono_us(s->options.clock);
}

/* Memory of connections that have gone lies between what is in use: give it back when idle. */
static void trim_memory(struct http_server *s)
{
    if (s->closed_count < CLOSED_MANY || s->closed_count < s->open_count)
        return;
    s->closed_count = 0;
    (void)malloc_trim(0);
}

/* How long until answers may leave: 0 = now, or when there are some. */
static int64_t resume_in_us(const struct http_server *s)
{
    int64_t left_us;

    if (s->answered == NULL)
        return 0;
    left_us = s->resumed_us + resume_pause_us(s) - clock_mono_us(s->options.clock);
    return left_us > 0 ? left_us : 0;
}

void http_before_sleep(struct http_server *s, int *timeout_ms)
{
    uint64_t handled = s->handled;
    int due_ms;

    if (s->answered != NULL && resume_in_us(s) == 0)
        resume_answered(s);
    if (s->has_more)
        http_run(s);
    else if (s->oldest != NULL)
        s->now_us = clock_mono_us(s->options.clock);
    due_ms = cut_the_slow(s);
    linger_run(s, &due_ms);
    if (s->answered != NULL) {
        int ms = (int)((resume_in_us(s) + 999) / 1000);
        due_ms = due_ms >= 0 && due_ms < ms ? due_ms : ms;
    }
    /* Requests that were handled just now are work for the loop, or answers to be sent. */
    if (s->has_more || s->handled != handled)
        due_ms = 0;
    if (due_ms >= 0 && (*timeout_ms < 0 || due_ms < *timeout_ms))
        *timeout_ms = due_ms;
    if (*timeout_ms < 0 || *timeout_ms > IDLE_MS)
        trim_memory(s);
}

void http_quiesce(struct http_server *s)
{
    if (s->listen_fd < 0)
        return;
    if (MHD_quiesce_daemon(s->daemon) != MHD_INVALID_SOCKET)
        close(s->listen_fd);
    s->listen_fd = -1;
}

void http_close(struct http_server *s)
{
    int64_t until_us = clock_mono_us(&clock_system) + CLOSE_PATIENCE_US;

    http_quiesce(s);
    s->is_quiet = true;
    while (s->first_kept != NULL)
        answer_closing(s->first_kept);
    streams_wake(s);
    while ((s->answered != NULL || s->sending_count > 0) &&
           clock_mono_us(&clock_system) < until_us) {
        struct pollfd ready = {.fd = s->epoll_fd, .events = POLLIN};
        int timeout_ms = 10;
        http_before_sleep(s, &timeout_ms);
        if (poll(&ready, 1, timeout_ms) > 0)
            http_run(s);
    }
    resume_answered(s);
    MHD_stop_daemon(s->daemon);
    close(s->gone_fd);
    while (s->spare != NULL) {
        struct exchange *x = s->spare;
        s->spare = x->next;
        exchange_drop(x);
    }
    linger_end(s);
    free(s);
}
