/*
 * call.c - what a request and an answer are to libcurl; see call.h.
 *
 * Whether a call that fails has happened: libcurl says how far it came. Until
 * the request has left, nothing has (transient); from then on nobody knows
 * (indeterminate).
 */
#include "effect/call.h"
#include "base/utf8.h"
#include "engine/call_url.h"
#include "value/json.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum {
    REDIRECTS_MAX = 5,
    HEADERS_MAX_BYTES = 64 << 10, /* of an answer; those beyond are left out */
    CONNECT_MS = 10000,
    BODY_KEPT_BYTES = 4096, /* a larger one is given back after its call */
};

/* --- what libcurl calls --- */

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct transfer *t = context;

    if (t->call->wants_status)
        return size * count;
    if (t->body.len + size * count > EFFECT_ANSWER_MAX_BYTES) {
        t->is_too_large = true;
        return 0;
    }
    buf_add(&t->body, data, size * count);
    return size * count;
}

/* A header that comes several times is one, its values with commas between. */
static void keep_header(struct transfer *t, struct str name, struct str value)
{
    struct arena *mem = &t->call->mem;

    for (size_t i = 0; i < t->answer_headers.count; i++) {
        struct answer_header *h = &t->answer_headers.items[i];

        if (!str_eq(h->name, name))
            continue;
        h->value = str_printf(mem, "%.*s, %.*s", STR_ARG(h->value), STR_ARG(value));
        return;
    }
    *VEC_ADD(mem, &t->answer_headers) =
        (struct answer_header){.name = str_copy(mem, name), .value = str_copy(mem, value)};
}

/* One line of the head; a new status line begins a new head (100, a redirect). */
static size_t take_header(char *data, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    struct str line = str_trim(str_from(data, size * count));
    int64_t colon = str_find(line, STR(":"), 0);
    char name[128];
    struct str value;

    if (str_starts_with(line, STR("HTTP/"))) {
        t->answer_headers.count = 0;
        t->head_bytes = 0;
        return size * count;
    }
    t->head_bytes += line.len;
    if (colon <= 0 || (size_t)colon >= sizeof(name) || t->head_bytes > HEADERS_MAX_BYTES)
        return size * count;
    for (size_t i = 0; i < (size_t)colon; i++)
        name[i] = line.ptr[i] >= 'A' && line.ptr[i] <= 'Z' ? (char)(line.ptr[i] + 32) : line.ptr[i];
    value = str_trim(str_slice(line, (size_t)colon + 1, line.len));
    if (!utf8_is_valid(value) || !utf8_is_valid(str_from(name, (size_t)colon)))
        return size * count;
    keep_header(t, str_from(name, (size_t)colon), value);
    return size * count;
}

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

static void fail(struct effect_call *call, const char *code, const char *class, const char *message)
{
    struct buf out;

    buf_init_arena(&out, &call->mem);
    buf_printf(&out, "{\"code\":\"%s\",\"class\":\"%s\",\"message\":", code, class);
    json_write_string(&out, str_of(message));
    buf_char(&out, '}');
    call->error_json = buf_view(&out);
    call->error_code = code;
}

static char *text_of(struct arena *mem, struct str s)
{
    char *text = arena_alloc(mem, s.len + 1);

    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    return text;
}

static bool add_header(struct transfer *t, struct str name, struct str value)
{
    char *line = arena_alloc(&t->call->mem, name.len + value.len + 3);
    struct curl_slist *longer;

    memcpy(line, name.ptr, name.len);
    /* libcurl leaves a header without a value out, unless it ends with a semicolon. */
    memcpy(line + name.len, value.len > 0 ? ": " : ";", value.len > 0 ? 3 : 2);
    if (value.len > 0) {
        memcpy(line + name.len + 2, value.ptr, value.len);
        line[name.len + 2 + value.len] = '\0';
    }
    longer = curl_slist_append(t->headers, line);
    if (longer == NULL)
        return false;
    t->headers = longer;
    return true;
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

static bool set_headers(struct transfer *t, struct value headers, bool has_body, bool is_text)
{
    bool ok = true;

    for (uint32_t i = 0; headers.kind == VALUE_MAP && i < headers.map->count; i++)
        ok = ok && add_header(t, value_text(headers.map->entries[i].key),
                              value_text(headers.map->entries[i].value));
    if (t->call->traceparent.len > 0 && !has_header(headers, "traceparent"))
        ok = ok && add_header(t, STR("traceparent"), t->call->traceparent);
    if (t->call->key.len > 0 && !has_header(headers, "idempotency-key"))
        ok = ok && add_header(t, STR("Idempotency-Key"), t->call->key);
    if (has_body && !has_header(headers, "content-type"))
        ok = ok && add_header(t, STR("Content-Type"),
                              is_text ? STR("text/plain; charset=utf-8") : STR("application/json"));
    if (!has_header(headers, "user-agent"))
        ok = ok && add_header(t, STR("User-Agent"), STR("pawl"));
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
    return ok;
}

static void set_body(struct transfer *t, struct value body, struct str *text)
{
    struct buf json;
    struct err err;

    if (body.kind == VALUE_STRING) {
        *text = value_text(body);
    } else {
        buf_init_arena(&json, &t->call->mem);
        if (!json_write(&json, body, &err))
            PANIC("what was read from JSON has no JSON form");
        *text = buf_view(&json);
    }
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)text->len);
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, text->ptr != NULL ? text->ptr : "");
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
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t);
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

bool call_prepare(struct transfer *t)
{
    struct effect_call *call = t->call;
    struct value request, body, method;
    struct str text = STR_NONE;
    struct err err;

    if (!json_read(&call->mem, call->request_json, &request, &err) || request.kind != VALUE_MAP)
        PANIC("a request does not read back");
    forget_request(t);
    t->origin = call->host;
    t->host_name = name_of(call->host);
    body = value_map_get_str(request, STR("body"));
    method = value_map_get_str(request, STR("method"));
    curl_easy_setopt(t->easy, CURLOPT_URL,
                     text_of(&call->mem, value_text(value_map_get_str(request, STR("url")))));
    curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, (long)(call->timeout_us / 1000));
    if (call->body.len > 0)
        body = value_string(call->body);
    if (body.kind != VALUE_ABSENT && body.kind != VALUE_NULL)
        set_body(t, body, &text);
    if (str_eq(value_text(method), STR("HEAD")))
        curl_easy_setopt(t->easy, CURLOPT_NOBODY, 1L);
    else
        curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, text_of(&call->mem, value_text(method)));
    if (set_headers(t, value_map_get_str(request, STR("headers")), text.ptr != NULL,
                    body.kind == VALUE_STRING))
        return true;
    fail(call, "internal_memory", "transient", "there is no memory for the request");
    return false;
}

/* --- the answer --- */

/* Whether the request, or a part of it, has left. */
static bool has_left(const struct transfer *t)
{
    long bytes = 0;

    curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &bytes);
    return bytes > 0;
}

static void fail_as(struct transfer *t, CURLcode code)
{
    struct effect_call *call = t->call;
    bool left = has_left(t);
    const char *class = left ? "indeterminate" : "transient";
    char message[256];

    if (t->is_denied) {
        fail(call, "permission_address", "business",
             "the address of this host may not be called: see --http-allow and --http-deny");
        return;
    }
    if (t->is_too_large) {
        snprintf(message, sizeof(message), "the answer has more than %d bytes",
                 EFFECT_ANSWER_MAX_BYTES);
        fail(call, "limit_answer_size", "business", message);
        return;
    }
    if (code == CURLE_OPERATION_TIMEDOUT) {
        snprintf(message, sizeof(message), "%s within %lld ms",
                 left ? "the service did not answer" : "the service could not be connected to",
                 (long long)(call->timeout_us / 1000));
        fail(call, "timeout_call", class, message);
        return;
    }
    if (code == CURLE_PEER_FAILED_VERIFICATION) {
        fail(call, "external_certificate", "transient",
             "the certificate of the service could not be verified");
        return;
    }
    snprintf(message, sizeof(message), "%s: %s",
             left ? "the service did not answer" : "the service could not be reached",
             curl_easy_strerror(code));
    fail(call, left ? "external_no_answer" : "external_unreachable", class, message);
}

static bool says_json(const char *type)
{
    return type != NULL && (strstr(type, "/json") != NULL || strstr(type, "+json") != NULL);
}

/* The body as a JSON text: JSON as it is, anything else as a string. False: it is no text. */
static bool write_body(struct transfer *t, struct buf *out)
{
    struct str body = buf_view(&t->body);
    char *type = NULL;
    struct value v;
    struct err err;

    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &type);
    if (body.len == 0) {
        buf_text(out, "null");
        return true;
    }
    if (says_json(type) && json_read(&t->call->mem, body, &v, &err)) {
        buf_str(out, body);
        return true;
    }
    if (!utf8_is_valid(body) || memchr(body.ptr, '\0', body.len) != NULL)
        return false;
    json_write_string(out, body);
    return true;
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
    return text_of(mem, url);
}

bool call_finish(struct transfer *t, CURLcode code)
{
    struct effect_call *call = t->call;
    const char *next;
    long status = 0;
    struct buf out;

    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK || status == 0) {
        fail_as(t, code);
        return true;
    }
    next = redirect_of(t, status);
    if (next != NULL) {
        t->redirects++;
        buf_clear(&t->body);
        curl_easy_setopt(t->easy, CURLOPT_URL, next);
        return false;
    }
    call->status = status;
    if (call->wants_status)
        return true;
    buf_init_arena(&out, &call->mem);
    buf_printf(&out, "{\"status_code\":%ld,\"headers\":{", status);
    for (size_t i = 0; i < t->answer_headers.count; i++) {
        if (i > 0)
            buf_char(&out, ',');
        json_write_string(&out, t->answer_headers.items[i].name);
        buf_char(&out, ':');
        json_write_string(&out, t->answer_headers.items[i].value);
    }
    buf_text(&out, "},\"body\":");
    if (!write_body(t, &out)) {
        fail(call, "external_bad_body", "business", "the body of the answer is no text");
        return true;
    }
    buf_char(&out, '}');
    call->answer_json = buf_view(&out);
    return true;
}

void call_reset(struct transfer *t)
{
    curl_slist_free_all(t->headers);
    t->headers = NULL;
    t->call = NULL;
    t->redirects = 0;
    t->is_denied = t->is_too_large = false;
    t->answer_headers = (struct answer_headers){0};
    t->head_bytes = 0;
    if (t->body.len <= BODY_KEPT_BYTES) {
        buf_clear(&t->body);
        return;
    }
    buf_fini(&t->body);
    buf_init(&t->body);
}
