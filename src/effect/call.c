/*
 * call.c - a request as libcurl sends it, and how the transfer ends; see call.h.
 *
 * Whether a call that fails has happened: libcurl says how far it came. Until
 * the request has left, nothing has (transient); from then on nobody knows
 * (indeterminate).
 */
#include "effect/call.h"
#include "base/time/clock.h"
#include "base/url.h"
#include "effect/answer.h"
#include "effect/secret/secret_mask.h"
#include "value/json.h"

#include <netinet/in.h>
#include <strings.h>

enum {
    REDIRECTS_MAX = 5,
    CONNECT_MS = 10000,
    BUFFER_KEPT_BYTES = 4096, /* a larger one is given back after its call */
};

/* --- what libcurl calls --- */

static bool read_address(const struct curl_sockaddr *from, struct inet *out)
{
    *out = (struct inet){0};
    if (from->family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, &from->addr, sizeof(in));
        memcpy(out->bytes, &in.sin_addr, 4);
        out->is_v4 = true;
        return true;
    }
    if (from->family == AF_INET6) {
        static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
        struct sockaddr_in6 in;

        memcpy(&in, &from->addr, sizeof(in));
        memcpy(out->bytes, &in.sin6_addr, 16);
        if (memcmp(out->bytes, mapped, sizeof(mapped)) == 0) {
            memmove(out->bytes, out->bytes + 12, 4);
            memset(out->bytes + 4, 0, 12);
            out->is_v4 = true;
        }
        return true;
    }
    return false;
}

/* The name was resolved: this is the address that will be connected to. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *t = context;
    struct inet inet;

    (void)purpose;
    if (t->policy != NULL && !t->call->is_trusted &&
        (!read_address(address, &inet) || !policy_permits(t->policy, t->host_name, &inet))) {
        t->is_denied = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* --- the request --- */

void call_fail(struct effect_call *call, const char *code, enum err_class class, struct str message)
{
    struct buf out;

    buf_init_arena(&out, &call->mem);
    buf_printf(&out, "{\"code\":\"%s\",\"class\":\"%s\",\"message\":", code, err_class_name(class));
    json_write_string(&out, message);
    buf_char(&out, '}');
    call->error_json = buf_view(&out);
    call->error_code = code;
}

void call_add_line(struct transfer *t, struct str name, struct str between, struct str value)
{
    struct arena *mem = &t->call->mem;
    struct curl_slist *node = ARENA_NEW(mem, struct curl_slist), **end = &t->headers;

    node->data = arena_zalloc(mem, name.len + between.len + value.len + 1);
    memcpy(node->data, name.ptr, name.len);
    if (between.len > 0)
        memcpy(node->data + name.len, between.ptr, between.len);
    if (value.len > 0)
        memcpy(node->data + name.len + between.len, value.ptr, value.len);
    while (*end != NULL)
        end = &(*end)->next;
    *end = node;
}

/* libcurl leaves a header without a value out, unless it ends with a semicolon. */
static void add_header(struct transfer *t, struct str name, struct str value)
{
    call_add_line(t, name, value.len > 0 ? STR(": ") : STR(";"), value);
}

static bool has_header(struct value headers, const char *name)
{
    for (uint32_t i = 0; headers.kind == VALUE_MAP && i < headers.map->count; i++) {
        struct str given = value_text(headers.map->entries[i].key);

        if (given.len == strlen(name) && strncasecmp(given.ptr, name, given.len) == 0)
            return true;
    }
    return false;
}

static void set_headers(struct transfer *t, struct value headers, bool has_body, bool is_text)
{
    t->headers = NULL;
    for (uint32_t i = 0; headers.kind == VALUE_MAP && i < headers.map->count; i++)
        add_header(t, value_text(headers.map->entries[i].key),
                   value_text(headers.map->entries[i].value));
    if (t->secrets != NULL && t->secrets->header.len > 0 && t->redirects == 0)
        add_header(t, t->secrets->header_name, t->secrets->header);
    if (t->call->traceparent.len > 0 && !has_header(headers, "traceparent")) {
        add_header(t, STR("traceparent"), t->call->traceparent);
        if (t->call->tracestate.len > 0 && !has_header(headers, "tracestate"))
            add_header(t, STR("tracestate"), t->call->tracestate);
    }
    if (t->call->key.len > 0 && !has_header(headers, "idempotency-key"))
        add_header(t, STR("Idempotency-Key"), t->call->key);
    if (has_body && !has_header(headers, "content-type"))
        add_header(t, STR("Content-Type"),
                   is_text ? STR("text/plain; charset=utf-8") : STR("application/json"));
    if (!has_header(headers, "user-agent"))
        add_header(t, STR("User-Agent"), STR("pawl"));
    /* libcurl would print its own line twice, byte by byte. It decodes whatever comes. */
    if (!has_header(headers, "accept-encoding"))
        add_header(t, STR("Accept-Encoding"), STR("gzip"));
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
}

static void set_body(struct transfer *t, struct value body, struct str *text)
{
    *text = body.kind == VALUE_STRING ? value_text(body) : json_must_text(&t->call->mem, body);
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)text->len);
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, text->ptr != NULL ? text->ptr : "");
}

/* Whether the request, or a part of it, has left. */
static bool has_left(const struct transfer *t)
{
    long bytes = 0;

    curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &bytes);
    return bytes > 0;
}

/*
 * A connection is there and the request is about to leave. The connection may be
 * one that a trusted call has opened: the policy is asked for each request.
 * libcurl sends it once more, unseen, when a connection that was kept breaks
 * before the answer: what the service may have done already must not be asked
 * for again before it is known what became of it.
 */
static int may_leave(void *data, char *ip, char *local_ip, int port, int local_port)
{
    struct transfer *t = data;
    struct inet inet;

    if (t->policy != NULL && !t->call->is_trusted &&
        (inet_read(str_of(ip), &inet) != INET_OK ||
         !policy_permits(t->policy, t->host_name, &inet))) {
        t->is_denied = true;
        return CURL_PREREQFUNC_ABORT;
    }
    (void)local_ip;
    (void)port;
    (void)local_port;
    return t->is_once && has_left(t) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* Everything of a handle that is the same for all calls: once. */
void call_set_up(struct transfer *t, const char *trusted_path)
{
    CURL *easy = t->easy;

    if (trusted_path != NULL)
        curl_easy_setopt(easy, CURLOPT_CAINFO, trusted_path);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, answer_take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, answer_take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, may_leave);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, t);
}

/* The handle keeps the method and the body of the call before. */
static void forget_request(struct transfer *t)
{
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, NULL);
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)-1);
    curl_easy_setopt(t->easy, CURLOPT_HTTPGET, 1L); /* also: with the body of an answer */
    curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, NULL);
}

/* "https://erp.example:443" -> "erp.example" */
static struct str name_of(struct str origin)
{
    size_t start = (size_t)str_find(origin, STR("://"), 0) + 3, end = origin.len;

    while (end > start && origin.ptr[end - 1] != ':')
        end--;
    if (end > start)
        end--;
    if (end > start && origin.ptr[start] == '[')
        return str_slice(origin, start + 1, end - 1);
    return str_slice(origin, start, end);
}

enum secret_result call_read(struct transfer *t)
{
    struct effect_call *call = t->call;
    struct secret_failure failure;
    enum secret_result result;
    struct err err;

    if (!json_read(&call->mem, call->request_json, &t->request, &err) ||
        t->request.kind != VALUE_MAP) {
        call_fail(call, "internal_state", ERR_CLASS_BUSINESS,
                  STR("what is stored of the request is damaged"));
        return SECRET_FAILED;
    }
    t->origin = call->host;
    t->host_name = name_of(call->host);
    t->began_us = clock_mono_us(&clock_system);
    result = secret_fill(t->vault, &call->mem, &t->request, &t->secrets, &failure);
    if (result == SECRET_FAILED)
        call_fail(call, failure.code, failure.class, failure.message);
    return result;
}

/* What is left of its time: it may have waited for a token. */
static int64_t left_ms(const struct transfer *t)
{
    if (t->secrets == NULL)
        return t->call->timeout_us / 1000;
    return (t->began_us + t->call->timeout_us - clock_mono_us(&clock_system)) / 1000;
}

bool call_prepare(struct transfer *t)
{
    struct effect_call *call = t->call;
    struct value request = t->request, body, method;
    struct str text = STR_NONE;

    if (left_ms(t) <= 0) {
        call_fail(call, "timeout_call", ERR_CLASS_TRANSIENT,
                  STR("the time of the call was up before it could leave"));
        return false;
    }
    forget_request(t);
    body = value_map_get_str(request, STR("body"));
    method = value_map_get_str(request, STR("method"));
    t->is_once =
        !str_eq(value_text(method), STR("GET")) && !str_eq(value_text(method), STR("HEAD"));
    curl_easy_setopt(t->easy, CURLOPT_URL,
                     str_copy(&call->mem, value_map_text(request, STR("url"))).ptr);
    curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, (long)left_ms(t));
    if (t->secrets != NULL)
        call->credential = t->secrets->code;
    if (call->body.len > 0)
        body = value_string(call->body);
    if (body.kind != VALUE_ABSENT && body.kind != VALUE_NULL)
        set_body(t, body, &text);
    if (str_eq(value_text(method), STR("HEAD")))
        curl_easy_setopt(t->easy, CURLOPT_NOBODY, 1L);
    else
        curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST,
                         str_copy(&call->mem, value_text(method)).ptr);
    set_headers(t, value_map_get_str(request, STR("headers")), text.ptr != NULL,
                body.kind == VALUE_STRING);
    return true;
}

/* --- the end --- */

static void fail_as(struct transfer *t, CURLcode code)
{
    struct effect_call *call = t->call;
    bool left = has_left(t);
    enum err_class class = left ? ERR_CLASS_INDETERMINATE : ERR_CLASS_TRANSIENT;

    /* What may_leave() ended: the connection broke. */
    if (code == CURLE_ABORTED_BY_CALLBACK)
        code = CURLE_GOT_NOTHING;
    if (t->is_denied)
        call_fail(call, "permission_address", ERR_CLASS_BUSINESS,
                  STR("the address of this host may not be called: see --http-allow and "
                      "--http-deny"));
    else if (t->is_too_large)
        call_fail(call, "limit_answer_size", class,
                  str_printf(&call->mem, "the head of the answer has more than %d bytes",
                             ANSWER_HEADS_MAX_BYTES));
    else if (code == CURLE_OPERATION_TIMEDOUT)
        call_fail(call, "timeout_call", class,
                  str_printf(&call->mem, "%s within %lld ms",
                             left ? "the service did not answer"
                                  : "the service could not be connected to",
                             (long long)(call->timeout_us / 1000)));
    else if (code == CURLE_PEER_FAILED_VERIFICATION)
        call_fail(call, "external_certificate", ERR_CLASS_TRANSIENT,
                  STR("the certificate of the service could not be verified"));
    else
        call_fail(
            call, left ? "external_no_answer" : "external_unreachable", class,
            str_printf(&call->mem, "%s: %s",
                       left ? "the service did not answer" : "the service could not be reached",
                       curl_easy_strerror(code)));
}

/* Where a redirect leads, when it may be followed: to the same origin, and nothing is sent twice. */
static const char *redirect_of(struct transfer *t, long status)
{
    struct str url, origin = t->origin;
    char *to = NULL, *method = NULL;
    struct arena *mem = &t->call->mem;
    struct str found;

    curl_easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &to);
    curl_easy_getinfo(t->easy, CURLINFO_EFFECTIVE_METHOD, &method);
    if (to == NULL || t->redirects == REDIRECTS_MAX || status == 300 || status == 304)
        return NULL;
    if (method == NULL || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 &&
                           status != 307 && status != 308))
        return NULL;
    url = str_of(to);
    if (url_host(mem, url, &found) != NULL || !str_eq(found, origin))
        return NULL;
    /* Nothing that is secret goes on: what cannot be left out makes the redirect the answer. */
    if (t->call->token_of != NULL ||
        (t->secrets != NULL &&
         (!t->secrets->is_in_headers_only || secret_mask_finds(&t->secrets->mask, url))))
        return NULL;
    return str_copy(mem, url).ptr;
}

/* Whether a secret stands in the header. */
static bool is_secret_header(struct value request, struct str name)
{
    struct value places = value_map_get_str(request, STR("secrets"));

    for (uint32_t i = 0; places.kind == VALUE_LIST && i < places.len; i++) {
        struct value at = value_map_get_str(places.items[i], STR("at"));

        if (at.len == 2 && str_eq(value_text(at.items[0]), STR("headers")) &&
            str_eq(value_text(at.items[1]), name))
            return true;
    }
    return false;
}

/* The headers once more, without those that hold secrets. */
static void leave_secrets_out(struct transfer *t)
{
    struct value headers = value_map_get_str(t->request, STR("headers"));
    struct value body = value_map_get_str(t->request, STR("body"));
    struct value_entry *entries;
    size_t count = 0;

    if (t->secrets == NULL)
        return;
    entries = ARENA_ARRAY(&t->call->mem, headers.len + 1, struct value_entry);
    for (uint32_t i = 0; headers.kind == VALUE_MAP && i < headers.len; i++)
        if (!is_secret_header(t->request, value_text(headers.map->entries[i].key)))
            entries[count++] = headers.map->entries[i];
    set_headers(t, value_map_take(&t->call->mem, entries, count),
                body.kind != VALUE_ABSENT && body.kind != VALUE_NULL, body.kind == VALUE_STRING);
}

/*
 * Whether there is an answer: its head has come, and its status decides. A body
 * that is too large or cannot be decoded changes nothing. One that was cut
 * leaves a success open, for the service may not have come to its end; a
 * refusal stays one.
 */
static bool is_answered(const struct transfer *t, CURLcode code, long status)
{
    if (code == CURLE_OK)
        return status != 0;
    return t->has_head && status >= 200 &&
           (t->is_too_large || code == CURLE_BAD_CONTENT_ENCODING || status >= 400);
}

enum call_end call_finish(struct transfer *t, CURLcode code)
{
    struct effect_call *call = t->call;
    const char *next;
    long status = 0;

    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!is_answered(t, code, status)) {
        fail_as(t, code);
        return CALL_ENDED;
    }
    if (status == 401 && t->secrets != NULL && t->secrets->oauth != NULL &&
        !t->secrets->has_retried && t->redirects == 0) {
        t->secrets->has_retried = true;
        answer_forget(t);
        return CALL_NEEDS_TOKEN;
    }
    next = redirect_of(t, status);
    if (next != NULL) {
        t->redirects++;
        answer_forget(t);
        curl_easy_setopt(t->easy, CURLOPT_URL, next);
        leave_secrets_out(t);
        return CALL_AGAIN;
    }
    call->status = status;
    if (!call->wants_status)
        answer_write(t, status, code == CURLE_OK);
    return CALL_ENDED;
}

/* A large one is given back. */
static void empty_buffer(struct buf *b)
{
    if (b->len <= BUFFER_KEPT_BYTES) {
        buf_clear(b);
        return;
    }
    buf_fini(b);
    buf_init(b);
}

void call_reset(struct transfer *t)
{
    t->headers = NULL;
    secret_release(t->secrets);
    t->secrets = NULL;
    t->request = value_absent();
    t->call = NULL;
    t->redirects = 0;
    t->is_once = t->is_denied = t->is_too_large = t->has_head = false;
    t->answer_headers = (struct answer_headers){0};
    t->heads_bytes = t->body_bytes = 0;
    empty_buffer(&t->body);
    empty_buffer(&t->head);
}
