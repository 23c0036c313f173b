/* client.c - HTTP by libcurl; see client.h. */
#include "cli/client.h"
#include "cli/command.h"

#include "api/access/token.h"
#include "base/alloc.h"
#include "cli/file.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/term.h"
#include "value/json.h"
#include "value/object.h"
#include "value/timefmt.h"

#include <curl/curl.h>
#include <stdarg.h>
#include <stdio.h>

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

/* The administrator's token is of the server in that folder: no server elsewhere is sent it. */
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
    const char *token = options_setting("PAWL_TOKEN", NULL);

    *c = (struct client){.as_json = as_json};
    arena_init(&c->mem);
    c->url = trimmed(&c->mem, options_setting("PAWL_URL", "http://127.0.0.1:7070"));
    c->token = token != NULL ? str_of(token) : token_of_folder(c);
    c->curl = alloc_check(curl_easy_init());
}

void client_close(struct client *c)
{
    curl_easy_cleanup(c->curl);
    arena_fini(&c->mem);
}

static int run_verb(struct client *c, const struct options *o, char **words,
                    const struct cli_verb *verb)
{
    return verb->list != NULL ? list_print(c, o, verb->list) : verb->run(c, o, words);
}

int client_verb(struct client *c, const struct options *o, char **words,
                const struct cli_verb *verbs, size_t count)
{
    int given = 0;

    if (words[0] == NULL)
        return verbs[0].min == 0 ? run_verb(c, o, words, verbs) : options_usage(o);
    while (words[given + 1] != NULL)
        given++;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(verbs[i].name, words[0]) != 0)
            continue;
        if (given >= verbs[i].min && given <= verbs[i].max)
            return run_verb(c, o, words + 1, &verbs[i]);
        fprintf(stderr, "pawl %s %s: %s behind it\n", o->command->name, verbs[i].name,
                given < verbs[i].min ? "something is missing" : "there is too much");
        return options_usage(o);
    }
    fprintf(stderr, "pawl %s: there is no '%s' here: ", o->command->name, words[0]);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s%s", verbs[i].name, i + 1 < count ? ", " : "\n");
    return options_usage(o);
}

/* --- one call --- */

static size_t on_answer(char *bytes, size_t size, size_t count, void *context)
{
    struct buf *out = context;

    buf_add(out, bytes, size * count);
    return out->failed ? 0 : size * count;
}

static void report_failure(struct client *c, CURLcode code)
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
    /* A proxy would be sent the token, and 127.0.0.1 is another machine to it. */
    if (is_on_this_machine(c->url))
        curl_easy_setopt(c->curl, CURLOPT_NOPROXY, "*");
    if (options_setting("PAWL_CA", NULL) != NULL)
        curl_easy_setopt(c->curl, CURLOPT_CAINFO, options_setting("PAWL_CA", NULL));
    return headers;
}

/* When the certificate that the server showed ends; -1 without one. */
static int64_t certificate_end_of(const struct client *c)
{
    static const char name[] = "Expire date:";
    struct curl_certinfo *shown = NULL;

    if (curl_easy_getinfo(c->curl, CURLINFO_CERTINFO, &shown) != CURLE_OK || shown == NULL ||
        shown->num_of_certs == 0)
        return -1;
    for (const struct curl_slist *line = shown->certinfo[0]; line != NULL; line = line->next)
        if (strncmp(line->data, name, sizeof(name) - 1) == 0)
            return (int64_t)curl_getdate(line->data + sizeof(name) - 1, NULL);
    return -1;
}

static int64_t date_of(const struct client *c)
{
    struct curl_header *date;

    if (curl_easy_header(c->curl, "Date", 0, CURLH_HEADER, -1, &date) != CURLHE_OK)
        return -1;
    return (int64_t)curl_getdate(date->value, NULL);
}

/* Send what was prepared and wait; *out is the answer, or nothing, its text not read yet. */
static CURLcode perform(struct client *c, struct curl_slist *headers, long timeout_ms,
                        struct reply *out)
{
    struct buf text;
    long status = 0;
    CURLcode code;

    buf_init_arena(&text, &c->mem);
    text.limit = ANSWER_MAX_BYTES;
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_answer);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &text);
    code = curl_easy_perform(c->curl);
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    *out = (struct reply){.status = (int)status,
                          .text = buf_view(&text),
                          .json = value_null(),
                          .date_s = code == CURLE_OK ? date_of(c) : -1};
    return code;
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
    /* Heartbeats come every 15 s: a server that sends nothing for a minute is gone. */
    curl_easy_setopt(c->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c->curl, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_S);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_stream);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &stream);
    (void)curl_easy_perform(c->curl);
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    return (int)status;
}

bool client_probe(struct client *c, const char *path, struct reply *out, const char **why)
{
    /* The token stays here, with the other headers: whoever answers may be anybody. */
    struct curl_slist *headers = prepare(c, "", str_of(path));
    struct err err;
    CURLcode code;

    curl_easy_setopt(c->curl, CURLOPT_CERTINFO, 1L);
    code = perform(c, headers, PROBE_MS, out);
    out->certificate_end_s = code == CURLE_OK ? certificate_end_of(c) : -1;
    *why = curl_easy_strerror(code);
    if (out->text.len > 0 && !json_read(&c->mem, out->text, &out->json, &err))
        out->json = value_null();
    return code == CURLE_OK;
}

bool client_ask(struct client *c, const char *method, struct str path, struct str body,
                struct reply *out)
{
    struct curl_slist *headers = prepare(c, API_BASE, path);
    struct err err;
    CURLcode code;

    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, method);
    /*
     * libcurl sends a request once more when a connection that it has used before breaks: of a
     * change nobody knows then whether it has happened.
     */
    curl_easy_setopt(c->curl, CURLOPT_FRESH_CONNECT, strcmp(method, "GET") != 0 ? 1L : 0L);
    if (strcmp(method, "GET") != 0) {
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE, (long)body.len);
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body.len > 0 ? body.ptr : "");
    }
    code = perform(c, headers, c->timeout_ms > 0 ? c->timeout_ms : TIMEOUT_S * 1000L, out);
    if (code != CURLE_OK)
        report_failure(c, code);
    else if (out->text.len > 0 && !json_read(&c->mem, out->text, &out->json, &err))
        client_fail(c, "unreachable", "what answers at %s is no Pawl server (HTTP %d)", c->url,
                    out->status);
    else
        return true;
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
    client_report_refusal(c, reply);
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
    if (cursor != NULL && cursor->len > 0) {
        buf_text(&page, "&cursor=");
        url_encode(&page, *cursor);
    }
    if (!client_call(c, "GET", buf_view(&page), STR_NONE, out) || out->json.kind != VALUE_MAP)
        return false;
    *items = value_map_get_str(out->json, STR("items"));
    if (cursor != NULL)
        *cursor = client_text(out->json, "nextCursor");
    return items->kind == VALUE_LIST;
}

void client_print_items(struct client *c, struct value items, uint64_t *shown)
{
    c->has_printed = true;
    for (uint32_t i = 0; i < items.len; i++, ++*shown) {
        struct str json = client_json(&c->mem, items.items[i]);

        printf("%s%.*s", *shown == 0 ? "{\"items\":[" : ",", STR_ARG(json));
    }
}

void client_print_end(uint64_t shown, struct str cursor)
{
    struct buf end;

    buf_init(&end);
    buf_text(&end, shown == 0 ? "{\"items\":[]" : "]");
    object_text(&end, "nextCursor", cursor);
    printf("%.*s}\n", STR_ARG(buf_view(&end)));
    buf_fini(&end);
}

int client_print_json(const struct reply *reply)
{
    printf("%.*s\n", STR_ARG(reply->text.len > 0 ? reply->text : STR("{}")));
    return EXIT_OK;
}

static int print_answer(struct client *c, const struct reply *reply, const char *format,
                        va_list args)
{
    if (c->as_json)
        return client_print_json(reply);
    vprintf(format, args);
    putchar('\n');
    return EXIT_OK;
}

int client_answer(struct client *c, const struct reply *reply, const char *format, ...)
{
    va_list args;
    int status;

    va_start(args, format);
    status = print_answer(c, reply, format, args);
    va_end(args);
    return status;
}

int client_send(struct client *c, const char *method, struct str path, struct str body,
                const char *format, ...)
{
    struct reply reply;
    va_list args;
    int status;

    if (!client_call(c, method, path, body, &reply))
        return EXIT_FAILED;
    va_start(args, format);
    status = print_answer(c, &reply, format, args);
    va_end(args);
    return status;
}

/* --- bodies and paths --- */

void client_add_text(struct buf *body, const char *name, const char *text)
{
    if (text != NULL)
        object_text(body, name, str_of(text));
}

void client_add_list(struct buf *body, const char *name, const char *text)
{
    struct str rest = str_of(text);

    object_list(body, name);
    while (rest.len > 0) {
        struct str one = str_trim(str_cut(&rest, ','));

        if (one.len > 0) {
            object_next(body);
            json_write_string(body, one);
        }
    }
    buf_char(body, ']');
}

bool client_add_json(struct client *c, struct buf *body, const char *name, const char *what,
                     const char *argument)
{
    struct str text;
    struct value v;

    if (argument == NULL)
        return true;
    if (!file_argument_json(&c->mem, what, argument, &text, &v))
        return false;
    object_json(body, name, text);
    return true;
}

void client_add_wait(struct buf *path, const struct options *o)
{
    if (!options_has(o, "wait"))
        return;
    buf_text(path, "?wait=");
    url_encode(path, str_of(options_get(o, "wait") != NULL ? options_get(o, "wait") : "10s"));
}

/* --- refusals --- */

struct str client_text(struct value object, const char *name)
{
    return value_map_text(object, str_of(name));
}

int64_t client_time(struct value object, const char *name)
{
    struct value v;

    if (!timestamp_read(client_text(object, name), &v))
        return 0;
    return v.seconds * 1000000 + v.nanos / 1000;
}

int64_t client_int(struct value object, const char *name, int64_t otherwise)
{
    struct value v;

    if (object.kind != VALUE_MAP)
        return otherwise;
    v = value_map_get_str(object, str_of(name));
    return v.kind == VALUE_INT ? v.i : otherwise;
}

/* A line of what a server has said: whatever that is, it may not move the cursor. */
static void PRINTF_LIKE(1, 2) report_line(const char *format, ...)
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

static void client_print_error(struct client *c, struct str json)
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
    object_begin(&json, &c->mem);
    object_text(&json, "code", str_of(code));
    object_text(&json, "detail", str_of(text));
    client_print_error(c, object_end(&json));
    report_line("pawl: %s", text);
}

void client_print_refusal(struct client *c, const struct reply *reply)
{
    client_print_error(c, reply->json.kind == VALUE_MAP
                              ? reply->text
                              : str_printf(&c->mem, "{\"status\":%d}", reply->status));
}

void client_report_refusal(struct client *c, const struct reply *reply)
{
    struct value errors = value_absent();
    struct str detail = client_text(reply->json, "detail");
    struct str code = client_text(reply->json, "code");

    client_print_refusal(c, reply);
    if (reply->json.kind == VALUE_MAP)
        errors = value_map_get_str(reply->json, STR("errors"));
    if (detail.len > 0)
        report_line("pawl: %.*s (%.*s)", STR_ARG(detail), STR_ARG(code));
    else
        report_line("pawl: the server answered with HTTP %d", reply->status);
    if (client_text(reply->json, "executionId").len > 0)
        report_line("pawl: it is execution %.*s; look at it with: pawl show %.*s",
                    STR_ARG(client_text(reply->json, "executionId")),
                    STR_ARG(client_text(reply->json, "executionId")));
    for (uint32_t i = 0; errors.kind == VALUE_LIST && i < errors.len; i++) {
        struct str hint = client_text(errors.items[i], "hint");

        /* The only thing that is wrong is what the refusal says. */
        if (errors.len == 1 && hint.len == 0 &&
            str_eq(client_text(errors.items[i], "message"), detail))
            return;
        report_line("  %.*s: %.*s%s%.*s", STR_ARG(client_text(errors.items[i], "pointer")),
                    STR_ARG(client_text(errors.items[i], "message")), hint.len > 0 ? "; " : "",
                    STR_ARG(hint));
    }
}

/* --- texts --- */

struct str client_path(struct client *c, const char *route, struct str name, const char *rest)
{
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, route);
    url_encode(&path, name);
    buf_text(&path, rest);
    return buf_view(&path);
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
