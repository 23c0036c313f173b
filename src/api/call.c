/* call.c - what handlers share: answers, parameters, requests to the node; see call.h. */
#include "api/call.h"

#include "api/api.h"
#include "api/problem.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/text/utf8.h"
#include "engine/trace.h"
#include "http/http_parse.h"
#include "node/meter.h"
#include "node/node.h"
#include "store/change.h"
#include "store/org.h"
#include "value/mask.h"
#include "value/object.h"
#include "value/timefmt.h"

#include <stdarg.h>

enum { LIMIT_MAX = 500, KEY_LEN_MAX = 255, KEPT_PATH_LEN_MAX = 2048 };

#define WAIT_DEFAULT_US INT64_C(10000000)
#define WAIT_MAX_US INT64_C(3600000000)

/* --- answering --- */

static void send_answer(struct call *c, const struct http_answer *answer);

void call_answer_headers(struct call *c, int status, struct str json,
                         const struct http_header *headers, size_t count)
{
    struct http_answer answer = {
        .status = status, .content_type = "application/json", .body = mask_links(c->mem, json)};

    for (size_t i = 0; i < count; i++)
        answer.headers[i] = headers[i];
    send_answer(c, &answer);
}

void call_answer(struct call *c, int status, struct str json)
{
    call_answer_headers(c, status, json, NULL, 0);
}

void call_answer_nothing(struct call *c)
{
    send_answer(c, &(struct http_answer){.status = 204});
}

void call_keeps_no_answer(struct call *c)
{
    c->is_kept = true;
}

void call_answer_again(struct call *c, int status, struct str text)
{
    if (status == 204)
        http_answer(c->http, &(struct http_answer){.status = 204});
    else
        http_answer(c->http,
                    &(struct http_answer){.status = status,
                                          .content_type = status >= 400 ? "application/problem+json"
                                                                        : "application/json",
                                          .body = mask_links(c->mem, text)});
}

/*
 * Whether answers are kept under an Idempotency-Key: those to changes that users ask
 * for. What strangers may call ignores the header: they leave nothing in the store.
 */
static bool call_takes_key(const struct call *c)
{
    return c->is_known && c->route != NULL && route_takes_key(c->route);
}

/* Whether there is one, and it may be one. */
static bool has_key(const struct call *c)
{
    struct str key = http_header(c->http, "Idempotency-Key");

    return http_header_count(c->http, "Idempotency-Key") == 1 && key.len > 0 &&
           key.len <= KEY_LEN_MAX && utf8_is_valid(key);
}

bool call_keeps_refusal(const struct call *c, const struct err *err)
{
    int status = err_http_status(err->code);

    return call_takes_key(c) && has_key(c) && c->http->path.len <= KEPT_PATH_LEN_MAX &&
           err->code != ERR_IDEMPOTENCY_CONFLICT &&
           (status == 404 || status == 409 || status == 412);
}

/* An answer to a request that changed nothing: it leaves when it is durable; in the call's memory. */
struct kept_answer {
    struct change change; /* that changes nothing: what it keeps is the answer */
    struct call *call;
    struct http_answer answer;
};

static void answer_kept(struct node_request *r)
{
    struct kept_answer *k = r->owner;

    if (r->ok && r->stored_status != 0)
        call_answer_again(k->call, r->stored_status, r->stored_answer);
    else if (!r->ok && r->err.code == ERR_IDEMPOTENCY_CONFLICT)
        call_refuse(k->call, &r->err);
    else
        http_answer(k->call->http, &k->answer); /* true, whether it could be kept or not */
}

static void keep_answer(struct call *c, const struct http_answer *answer)
{
    struct kept_answer *k = ARENA_NEW(c->mem, struct kept_answer);
    struct node_request *r;
    struct err err;

    *k = (struct kept_answer){.change = {.apply = change_nothing}, .call = c, .answer = *answer};
    r = call_change(c, &k->change, answer_kept);
    ASSERT(r != NULL); /* its key was looked at */
    r->owner = k;
    r->idempotency.status = answer->status;
    r->idempotency.answer = answer->body;
    if (!node_submit(c->node, r, &err))
        http_answer(c->http, answer);
}

/* Whether an answer with 2xx would leave without being stored under the key of its request. */
static bool owes_answer(const struct call *c, int status)
{
    return status >= 200 && status < 300 && !c->is_kept && call_takes_key(c) &&
           c->route->keeps == KEEPS_ANSWERS && has_key(c);
}

static void send_answer(struct call *c, const struct http_answer *answer)
{
    if (owes_answer(c, answer->status))
        keep_answer(c, answer);
    else
        http_answer(c->http, answer);
}

/* A failure of the server is logged as an error; a refusal as a notice, so many a second. */
static void log_refusal(struct call *c, const struct err *err, struct str id)
{
    bool is_failure = err_http_status(err->code) == 500;

    if (!is_failure && !api_logs_refusal(c->api))
        return;
    log_write(is_failure ? LOG_ERROR : LOG_NOTICE,
              is_failure ? "a request failed" : "a request was refused",
              LOG_FIELDS(log_str("requestId", id), log_str("method", c->http->method),
                         log_str("path", mask_links(c->mem, c->http->path)),
                         log_int("status", err_http_status(err->code)),
                         log_str("user", c->user.name), log_err("error", err)));
}

/*
 * What a refusal says to who calls a webhook, and is nobody's user: its status. Why it
 * was refused stands in the log and in the deliveries of the webhook.
 */
static void tell_stranger(const struct err *err, struct err *out)
{
    switch (err_http_status(err->code)) {
    case 400:
        (void)err_set(out, err->code, "the request cannot be read");
        return;
    case 404:
        (void)err_set(out, err->code, "there is no such webhook");
        return;
    case 409:
        (void)err_set(out, ERR_CONFLICT, "this cannot be taken now");
        return;
    case 422:
        (void)err_set(out, err->code, "the webhook does not take this");
        return;
    default: /* about the signature, the size or the rate, or the server's own */
        *out = *err;
    }
}

/* Fill in what every refusal has, and send it; false. */
static bool call_send_refusal(struct call *c, const struct err *err,
                              const struct findings *findings, struct str more,
                              struct http_answer *answer)
{
    struct str id = api_request_id(c->api, c->mem, c->http->number);
    bool is_stranger = c->route != NULL && c->route->auth == AUTH_SIGNATURE;
    struct err told = *err;

    if (err->code == ERR_IDEMPOTENCY_CONFLICT && node_meters(c->node) != NULL)
        meter_count(node_meters(c->node), METER_IDEMPOTENCY_CONFLICTS, STR_NONE, STR_NONE,
                    STR_NONE);
    if (is_stranger)
        tell_stranger(err, &told);
    answer->status = err_http_status(err->code);
    answer->content_type = "application/problem+json";
    answer->body = mask_links(c->mem, problem_json(c->mem, call_language(c), &told,
                                                   is_stranger ? NULL : findings,
                                                   is_stranger ? STR_NONE : more, id));
    log_refusal(c, err, id);
    if (c->on_refused != NULL)
        c->on_refused(c, err, findings);
    if (call_keeps_refusal(c, err))
        keep_answer(c, answer);
    else
        http_answer(c->http, answer);
    return false;
}

bool call_refuse_with(struct call *c, const struct err *err, const struct findings *findings,
                      struct str more)
{
    struct http_answer answer = {0};

    if (err_http_status(err->code) == 503 || err_http_status(err->code) == 429)
        answer.headers[0] = (struct http_header){
            "Retry-After", err->code == ERR_STORE_AWAY ? STORE_RETRY_AFTER : "1"};
    else if (err->code == ERR_UNAUTHORIZED)
        answer.headers[0] = (struct http_header){"WWW-Authenticate", "Bearer"};
    return call_send_refusal(c, err, findings, more, &answer);
}

bool call_refuse_header(struct call *c, const struct err *err, const char *name, const char *value)
{
    struct http_answer answer = {.headers = {{name, value}}};

    return call_send_refusal(c, err, NULL, STR_NONE, &answer);
}

bool call_refuse(struct call *c, const struct err *err)
{
    return call_refuse_with(c, err, NULL, STR_NONE);
}

bool call_refuse_text(struct call *c, enum err_code code, const char *format, ...)
{
    struct err err;
    va_list args;

    va_start(args, format);
    (void)err_vset(&err, code, 0, 0, format, args);
    va_end(args);
    return call_refuse(c, &err);
}

bool call_refuse_findings(struct call *c, const struct findings *findings)
{
    struct err err;

    (void)err_set(&err, ERR_INVALID, "%pS", SENTENCE_ARG(findings->items[0].message));
    return call_refuse_with(c, &err, findings, STR_NONE);
}

bool call_refuse_field(struct call *c, const char *field, const char *code, const char *format, ...)
{
    struct findings findings = {0};
    struct err err;
    va_list args;

    va_start(args, format);
    (void)err_vset(&err, ERR_INVALID, 0, 0, format, args);
    va_end(args);
    va_start(args, format);
    body_vfinding(c->mem, &findings, field, code, format, args);
    va_end(args);
    return call_refuse_with(c, &err, &findings, STR_NONE);
}

/* --- reading --- */

bool call_wait(struct call *c, int64_t *out_us)
{
    struct str text = http_query(c->http, "wait");
    struct value v;

    *out_us = 0;
    if (text.ptr == NULL)
        return true;
    *out_us = c->http->wait_us = WAIT_DEFAULT_US;
    if (text.len == 0)
        return true;
    if (duration_read(text, &v) && v.seconds >= 0 && v.seconds < WAIT_MAX_US / 1000000) {
        *out_us = v.seconds * 1000000 + v.nanos / 1000;
        c->http->wait_us = *out_us;
        return true;
    }
    return call_refuse_text(c, ERR_BAD_REQUEST,
                            "wait is a duration below 1h, such as 10s or 500ms");
}

bool call_limit(struct call *c, int64_t fallback, int64_t *out)
{
    struct str text = http_query(c->http, "limit");

    *out = fallback;
    return text.ptr == NULL || (str_to_int64(text, out) && *out >= 1 && *out <= LIMIT_MAX) ||
           call_refuse_text(c, ERR_BAD_REQUEST, "limit is a number from 1 to %d", LIMIT_MAX);
}

bool call_time(struct call *c, const char *name, int64_t *out_us)
{
    struct str text = http_query(c->http, name);
    struct value v;

    *out_us = 0;
    if (text.len == 0)
        return true;
    if (!timestamp_read(text, &v) && !timestamp_read_date(text, &v))
        return call_refuse_text(c, ERR_BAD_REQUEST, "%s is a time such as 2026-01-31T09:00:00Z",
                                name);
    *out_us = v.seconds * 1000000 + v.nanos / 1000;
    return true;
}

enum language call_language(const struct call *c)
{
    return language_accepted(http_header(c->http, "Accept-Language"));
}

struct str call_scope(const struct call *c)
{
    return str_eq(c->user.org_id, ORG_DEFAULT) ? STR_NONE : c->user.org_id;
}

bool call_has_right(const struct call *c, enum right right)
{
    if (right == RIGHT_OPEN)
        return true;
    /* Administrators of other organisations do not change what all organisations share. */
    return right_has(right, c->role) && (!right_is_of_default_org(right) || call_scope(c).len == 0);
}

bool call_execution_id(struct call *c, struct uuid *out)
{
    return uuid_read(c->params[0], out) ||
           call_refuse_text(c, ERR_NOT_FOUND, "there is no execution with this id");
}

bool call_idempotency(struct call *c, struct idempotency *out)
{
    struct str key = http_header(c->http, "Idempotency-Key");
    unsigned count = http_header_count(c->http, "Idempotency-Key");

    *out = (struct idempotency){0};
    if (count == 0 || !call_takes_key(c))
        return true;
    if (count > 1)
        return call_refuse_text(c, ERR_BAD_REQUEST, "a request has one Idempotency-Key, not %u",
                                count);
    if (!has_key(c))
        return call_refuse_text(c, ERR_BAD_REQUEST,
                                "an Idempotency-Key has from 1 to %d bytes, in UTF-8", KEY_LEN_MAX);
    *out = (struct idempotency){.user = c->user.id,
                                .method = c->http->method,
                                .path = c->http->path,
                                .key = key,
                                .body_hash = digest_hex(c->mem, c->http->body)};
    return true;
}

bool call_body(struct call *c, const struct body_field *fields, size_t count)
{
    struct findings findings = {0};
    struct err err;

    return body_read(c->mem, c->http->body, fields, count, &findings, &err) ||
           call_refuse_with(c, &err, &findings, STR_NONE);
}

bool call_body_bounded(struct call *c, const struct body_field *fields, struct value *out)
{
    struct findings findings = {0};
    struct err err;

    return body_read_bounded(c->mem, c->http->body, fields, out, &findings, &err) ||
           call_refuse_with(c, &err, &findings, STR_NONE);
}

struct value call_by(struct call *c)
{
    return value_map_of(c->mem,
                        VALUE_ENTRIES({value_key(STR("id")), value_string(c->user.id)},
                                      {value_key(STR("name")), value_string(c->user.name)}));
}

struct value call_user(const struct call *c, struct arena *mem)
{
    const struct node_user *u = &c->user;

    return value_map_of(mem, VALUE_ENTRIES({value_key(STR("id")), value_string(u->id)},
                                           {value_key(STR("name")), value_string(u->name)},
                                           {value_key(STR("email")), value_string(u->email)},
                                           {value_key(STR("role")), value_string(u->role)}));
}

/* A list may be spread over several headers. */
static struct str call_tracestate(const struct call *c)
{
    struct str name, value;
    struct buf list;

    if (http_header_count(c->http, "tracestate") == 0)
        return STR_NONE;
    buf_init_arena(&list, c->mem);
    for (size_t i = 0; http_header_at(c->http, i, &name, &value); i++)
        if (http_same_word(name, STR("tracestate"))) {
            buf_str(&list, value);
            buf_char(&list, ',');
        }
    return trace_state_read(c->mem, buf_view(&list));
}

struct str call_trace(const struct call *c)
{
    struct str text = http_header(c->http, "traceparent");
    struct trace trace;

    /* Of a traceparent of a later version only the fields of version 0 are passed on. */
    if (http_header_count(c->http, "traceparent") != 1 || !trace_read(text, &trace))
        return STR_NONE;
    trace.state = call_tracestate(c);
    return trace_store(c->mem, &trace, trace.parent);
}

/* --- asking the node --- */

/* A request to the node and who asked it. */
struct asked {
    struct node_request request; /* first: see call_finished() */
    struct call *call;
    void (*done)(struct node_request *r);
};

/* A refusal that was kept under the Idempotency-Key is repeated; the rest is the handler's. */
static void call_finished(struct node_request *r)
{
    const struct asked *asked = (const struct asked *)r;

    if (r->is_kept || r->stored_status != 0)
        call_keeps_no_answer(asked->call);
    if (r->ok && r->stored_status >= 400)
        call_answer_again(asked->call, r->stored_status, r->stored_answer);
    else
        asked->done(r);
}

struct node_request *call_request(struct call *c, enum node_request_kind kind,
                                  void (*done)(struct node_request *r))
{
    struct asked *asked = ARENA_NEW(c->mem, struct asked);
    struct node_request *r = &asked->request;

    asked->call = c;
    asked->done = done;
    r->kind = kind;
    r->user = c->user;
    r->name = api_request_name(c->api, c->http->number);
    r->mem = c->mem;
    r->owner = c;
    r->done = call_finished;
    return call_idempotency(c, &r->idempotency) ? r : NULL;
}

struct node_request *call_event(struct call *c, enum event_kind kind,
                                void (*done)(struct node_request *r))
{
    struct node_request *r = call_request(c, NODE_EVENT, done);

    if (r != NULL)
        r->event.kind = kind;
    return r;
}

void call_audit(const struct call *c, struct node_request *r, const char *action, struct str target,
                struct str details_json)
{
    r->audit = (struct audit){.user_id = c->user.id,
                              .user_name = c->user.name,
                              .org_id = c->user.org_id,
                              .action = str_of(action),
                              .target = target,
                              .details_json = details_json,
                              .now_us = api_now_us(c->api)};
}

void call_audit_signal(const struct call *c, struct node_request *r)
{
    struct buf details;

    object_begin(&details, r->mem);
    object_text(&details, "type", r->event.signal_type);
    if (r->event.signal_correlation.len > 0)
        object_text(&details, "correlation", r->event.signal_correlation);
    buf_char(&details, '}');
    /* The execution that waits for a correlation is not known yet, and there may be none. */
    call_audit(c, r, "execution.signal",
               r->event.signal_correlation.len > 0 ? STR_NONE : uuid_text(r->mem, r->execution),
               buf_view(&details));
}

struct node_request *call_change(struct call *c, struct change *change,
                                 void (*done)(struct node_request *r))
{
    struct node_request *r = call_request(c, NODE_CHANGE, done);

    if (r == NULL)
        return NULL;
    change->now_us = api_now_us(c->api);
    r->change = change;
    return r;
}

void call_submit(struct call *c, struct node_request *r)
{
    struct err err;

    if (!node_submit(c->node, r, &err))
        call_refuse(c, &err);
}

void call_submit_change(struct call *c, struct change *change, void (*done)(struct node_request *r),
                        const char *action, struct str target, struct str details_json)
{
    struct node_request *r = call_change(c, change, done);

    if (r == NULL)
        return;
    if (action != NULL)
        call_audit(c, r, action, target, details_json);
    call_submit(c, r);
}
