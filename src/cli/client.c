/* client.c - HTTP by libcurl; see client.h. */
#include "cli/client.h"

#include "api/token.h"
#include "cli/options.h"
#include "cli/term.h"
#include "value/json.h"
#include "value/object.h"

#include <curl/curl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define API_BASE "/api/v1"

/* Longer than any ?wait. */
enum {
    TIMEOUT_S = 3700,
    CONNECT_TIMEOUT_S = 10,
    SILENCE_S = 60,
    PROBE_MS = 5000,
    ANSWER_MAX_BYTES = 256 << 20,
    LINE_MAX_BYTES = 16 << 10
};

/* Without slashes at the end. */
static const char *trimmed(struct arena *mem, const char *url)
{
    struct str s = str_of(url);

    while (s.len > 0 && s.ptr[s.len - 1] == '/')
        s.len--;
    return arena_copy(mem, s.ptr, s.len);
}

/* Whether what answers at this address is on this machine. */
static bool is_on_this_machine(const char *url)
{
    struct str rest = str_of(url), host;
    int64_t at = str_find(rest, STR("://"), 0);
    size_t end = 0;

    rest = at < 0 ? rest : str_slice(rest, (size_t)at + 3, rest.len);
    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?' && rest.ptr[end] != '#')
        end++;
    host = str_slice(rest, 0, end);
    /* "http://127.0.0.1@elsewhere" is elsewhere. */
    if (str_find(host, STR("@"), 0) >= 0 || str_find(host, STR("\\"), 0) >= 0)
        return false;
    if (str_starts_with(host, STR("[::1]")))
        return host.len == 5 || host.ptr[5] == ':';
    at = str_find(host, STR(":"), 0);
    host = at < 0 ? host : str_slice(host, 0, (size_t)at);
    if (str_eq(host, STR("localhost")))
        return true;
    for (size_t i = 0; i < host.len; i++)
        if (host.ptr[i] != '.' && (host.ptr[i] < '0' || host.ptr[i] > '9'))
            return false;
    return str_starts_with(host, STR("127."));
}

/* The administrator's token is of the server in that folder: it is told to nobody elsewhere. */
static struct str token_of_folder(struct client *c)
{
    const char *folder = options_setting("PAWL_DATA", "./pawl-data");
    struct str token;
    struct err err;

    if (!token_read(&c->mem, str_printf(&c->mem, "%s/admin.token", folder).ptr, &token, &err))
        return STR_NONE;
    c->withholds_token = !is_on_this_machine(c->url);
    return c->withholds_token ? STR_NONE : token;
}

void client_open(struct client *c, bool as_json)
{
    const char *token = getenv("PAWL_TOKEN");

    *c = (struct client){.as_json = as_json};
    arena_init(&c->mem);
    c->url = trimmed(&c->mem, options_setting("PAWL_URL", "http://127.0.0.1:7070"));
    if (token != NULL && token[0] != '\0')
        c->token = str_of(token);
    else
        c->token = token_of_folder(c);
    c->curl = curl_easy_init();
    if (c->curl == NULL)
        PANIC("out of memory");
}

void client_close(struct client *c)
{
    curl_easy_cleanup(c->curl);
    arena_fini(&c->mem);
}

/* --- one call --- */

static size_t on_answer(char *bytes, size_t size, size_t count, void *context)
{
    struct buf *out = context;

    buf_add(out, bytes, size * count);
    return out->failed ? 0 : size * count;
}

static void tell_failure(struct client *c, CURLcode code)
{
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST)
        client_fail(c, "unreachable",
                    "no server at %s; start one with: pawl serve, or name another with PAWL_URL",
                    c->url);
    else if (code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR)
        client_fail(c, "outcome_unknown",
                    "the server at %s went away before it answered; whether the change happened "
                    "is not known: look with pawl ls",
                    c->url);
    else if (code == CURLE_PEER_FAILED_VERIFICATION)
        client_fail(c, "unreachable",
                    "the certificate of %s is not one that this machine trusts; give the file "
                    "of its authority with --ca or PAWL_CA",
                    c->url);
    else
        client_fail(c, "unreachable", "cannot talk to %s: %s", c->url, curl_easy_strerror(code));
}

/* What every request has; the headers are the caller's to free after it. */
static struct curl_slist *prepare(struct client *c, const char *base, struct str path)
{
    char authorization[512];
    struct curl_slist *headers = NULL;
    struct str url = str_printf(&c->mem, "%s%s%.*s", c->url, base, STR_ARG(path));

    curl_easy_reset(c->curl);
    snprintf(authorization, sizeof(authorization), "Authorization: Bearer %.*s", STR_ARG(c->token));
    if (c->token.len > 0)
        headers = curl_slist_append(headers, authorization);
    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    if (c->header != NULL)
        headers = curl_slist_append(headers, c->header);
    curl_easy_setopt(c->curl, CURLOPT_URL, url.ptr);
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
    if (options_setting("PAWL_CA", NULL) != NULL)
        curl_easy_setopt(c->curl, CURLOPT_CAINFO, options_setting("PAWL_CA", NULL));
    return headers;
}

static bool perform(struct client *c, const char *method, struct str path, struct str body,
                    struct buf *text, long *status)
{
    struct curl_slist *headers = prepare(c, API_BASE, path);
    CURLcode code;

    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS,
                     c->timeout_ms > 0 ? c->timeout_ms : TIMEOUT_S * 1000L);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_answer);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, text);
    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, method);
    if (strcmp(method, "GET") != 0) {
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE, (long)body.len);
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body.len > 0 ? body.ptr : "");
    }
    code = curl_easy_perform(c->curl);
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, status);
    curl_slist_free_all(headers);
    if (code != CURLE_OK)
        tell_failure(c, code);
    return code == CURLE_OK;
}

struct stream {
    bool (*on_data)(void *context, struct str bytes);
    void *context;
    CURL *curl;
};

static size_t on_stream(char *bytes, size_t size, size_t count, void *context)
{
    const struct stream *s = context;
    long status = 0;

    /* What a refusal says is not the stream. */
    curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 || s->on_data(s->context, str_from(bytes, size * count)))
        return size * count;
    return 0;
}

int client_stream(struct client *c, struct str path, struct str after,
                  bool (*on_data)(void *context, struct str bytes), void *context)
{
    struct curl_slist *headers = prepare(c, API_BASE, path);
    struct stream stream = {.on_data = on_data, .context = context, .curl = c->curl};
    long status = 0;

    headers = curl_slist_append(headers, "Accept: text/event-stream");
    if (after.len > 0)
        headers = curl_slist_append(headers,
                                    str_printf(&c->mem, "Last-Event-ID: %.*s", STR_ARG(after)).ptr);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    /* Beats come every 15 s; whoever says nothing for a minute is gone. */
    curl_easy_setopt(c->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c->curl, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_S);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_stream);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &stream);
    (void)curl_easy_perform(c->curl);
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    return (int)status;
}

static int64_t date_of(const struct client *c)
{
    struct curl_header *date;

    if (curl_easy_header(c->curl, "Date", 0, CURLH_HEADER, -1, &date) != CURLHE_OK)
        return -1;
    return (int64_t)curl_getdate(date->value, NULL);
}

bool client_probe(struct client *c, const char *path, struct reply *out, const char **why)
{
    struct curl_slist *headers = prepare(c, "", str_of(path));
    struct buf text;
    struct err err;
    long status = 0;
    CURLcode code;

    buf_init_arena(&text, &c->mem);
    text.limit = ANSWER_MAX_BYTES;
    /* The token stays here: whoever answers may be anybody. */
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, (long)PROBE_MS);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_answer);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &text);
    code = curl_easy_perform(c->curl);
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    *why = curl_easy_strerror(code);
    *out = (struct reply){.status = (int)status,
                          .text = buf_view(&text),
                          .json = value_null(),
                          .date_s = code == CURLE_OK ? date_of(c) : -1};
    if (text.len > 0 && !json_read(&c->mem, buf_view(&text), &out->json, &err))
        out->json = value_null();
    return code == CURLE_OK;
}

bool client_ask(struct client *c, const char *method, struct str path, struct str body,
                struct reply *out)
{
    struct buf text;
    struct err err;
    long status = 0;

    buf_init_arena(&text, &c->mem);
    text.limit = ANSWER_MAX_BYTES;
    if (!perform(c, method, path, body, &text, &status))
        return false;
    *out = (struct reply){
        .status = (int)status, .text = buf_view(&text), .json = value_null(), .date_s = date_of(c)};
    if (text.len == 0 || json_read(&c->mem, buf_view(&text), &out->json, &err))
        return true;
    client_fail(c, "unreachable", "what answers at %s is no Pawl server (HTTP %ld)", c->url,
                status);
    return false;
}

bool client_call(struct client *c, const char *method, struct str path, struct str body,
                 struct reply *out)
{
    return client_ask(c, method, path, body, out) && client_succeeded(c, out);
}

bool client_succeeded(struct client *c, const struct reply *reply)
{
    if (reply->status >= 200 && reply->status < 300)
        return true;
    client_tell_refusal(c, reply);
    if (reply->status == 401)
        fprintf(stderr, c->withholds_token
                            ? "pawl: admin.token is sent to a server on this machine only; set "
                              "PAWL_TOKEN for this one\n"
                        : c->token.len == 0
                            ? "pawl: set PAWL_TOKEN, or PAWL_DATA to the folder of the server\n"
                            : "pawl: the token is not one of this server's; see PAWL_TOKEN\n");
    return false;
}

bool client_page(struct client *c, struct str path, struct str *cursor, struct reply *out,
                 struct value *items)
{
    struct buf page;

    buf_init_arena(&page, &c->mem);
    buf_str(&page, path);
    if (cursor->len > 0) {
        buf_text(&page, "&cursor=");
        client_escape(&page, *cursor);
    }
    if (!client_call(c, "GET", buf_view(&page), STR_NONE, out) || out->json.kind != VALUE_MAP)
        return false;
    *items = value_map_get_str(out->json, STR("items"));
    *cursor = client_text(out->json, "nextCursor");
    return items->kind == VALUE_LIST;
}

void client_print_items(struct client *c, struct value items, uint64_t *shown)
{
    c->has_printed = true;
    for (uint32_t i = 0; i < items.len; i++, ++*shown)
        printf("%s%.*s", *shown == 0 ? "{\"items\":[" : ",",
               STR_ARG(client_json(&c->mem, items.items[i])));
}

void client_print_end(uint64_t shown, struct str cursor)
{
    struct buf next;

    buf_init(&next);
    if (cursor.len > 0)
        json_write_string(&next, cursor);
    else
        buf_text(&next, "null");
    printf("%s],\"nextCursor\":%.*s}\n", shown == 0 ? "{\"items\":[" : "",
           STR_ARG(buf_view(&next)));
    buf_fini(&next);
}

/* --- refusals --- */

struct str client_text(struct value object, const char *name)
{
    struct value v;

    if (object.kind != VALUE_MAP)
        return STR_NONE;
    v = value_map_get_str(object, str_of(name));
    return v.kind == VALUE_STRING ? value_text(v) : STR_NONE;
}

/* A line of what a server has said: whatever that is, it may not move the cursor. */
static void PRINTF_LIKE(1, 2) tell_line(const char *format, ...)
{
    struct arena mem;
    struct buf line;
    va_list args;
    char *text;

    arena_init(&mem);
    va_start(args, format);
    text = arena_alloc(&mem, LINE_MAX_BYTES);
    vsnprintf(text, LINE_MAX_BYTES, format, args);
    va_end(args);
    buf_init_arena(&line, &mem);
    term_put_short(&line, str_of(text), SIZE_MAX);
    fprintf(stderr, "%.*s\n", STR_ARG(buf_view(&line)));
    arena_fini(&mem);
}

static void print_error(struct client *c, struct str json)
{
    if (c->as_json && !c->has_printed)
        printf("{\"error\":%.*s}\n", STR_ARG(json));
    c->has_printed = true;
    (void)fflush(stdout);
}

void client_fail(struct client *c, const char *code, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    struct buf json;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf_init_arena(&json, &c->mem);
    buf_char(&json, '{');
    object_text(&json, "code", str_of(code));
    object_text(&json, "detail", str_of(text));
    buf_char(&json, '}');
    print_error(c, buf_view(&json));
    tell_line("pawl: %s", text);
}

void client_print_refusal(struct client *c, const struct reply *reply)
{
    print_error(c, reply->json.kind == VALUE_MAP
                       ? reply->text
                       : str_printf(&c->mem, "{\"status\":%d}", reply->status));
}

void client_tell_refusal(struct client *c, const struct reply *reply)
{
    struct value errors = value_absent();
    struct str detail = client_text(reply->json, "detail");
    struct str code = client_text(reply->json, "code");

    client_print_refusal(c, reply);
    if (reply->json.kind == VALUE_MAP)
        errors = value_map_get_str(reply->json, STR("errors"));
    if (detail.len > 0)
        tell_line("pawl: %.*s (%.*s)", STR_ARG(detail), STR_ARG(code));
    else
        tell_line("pawl: the server answered with HTTP %d", reply->status);
    if (client_text(reply->json, "executionId").len > 0)
        tell_line("pawl: it is execution %.*s", STR_ARG(client_text(reply->json, "executionId")));
    for (uint32_t i = 0; errors.kind == VALUE_LIST && i < errors.len; i++) {
        struct str hint = client_text(errors.items[i], "hint");
        tell_line("  %.*s: %.*s%s%.*s", STR_ARG(client_text(errors.items[i], "pointer")),
                  STR_ARG(client_text(errors.items[i], "message")), hint.len > 0 ? "; " : "",
                  STR_ARG(hint));
    }
}

/* --- texts --- */

void client_escape(struct buf *out, struct str text)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        unsigned char ch = (unsigned char)text.ptr[i];
        bool plain = (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') ||
                     (ch >= 'A' && ch <= 'Z') || (ch != '\0' && strchr("-._~", ch) != NULL);
        if (plain) {
            buf_char(out, (char)ch);
        } else {
            buf_char(out, '%');
            buf_char(out, digits[ch >> 4]);
            buf_char(out, digits[ch & 15]);
        }
    }
}

struct str client_json(struct arena *mem, struct value v)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, mem);
    if (!json_write(&out, v, &err))
        buf_text(&out, "null");
    return buf_view(&out);
}
