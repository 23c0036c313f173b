/*
 * hooks.c - `/hooks/PATH`: requests of other systems that start or signal executions.
 *
 *     rate -> which trigger, its signature, the body (reader thread)
 *          -> what the trigger makes of it (the node) -> a start, a signal or nothing -> 202
 *
 * Whoever calls is nobody's user: what happens runs as the user `system`.
 */
#include "api/executions/hooks.h"
#include "api/api.h"

#include "api/deliveries.h"
#include "api/executions/executions_signal.h"
#include "api/lookup.h"
#include "http/cidr.h"
#include "http/percent.h"
#include "node/node.h"
#include "store/org.h"
#include "store/read_triggers.h"
#include "value/json.h"
#include "value/object.h"

struct hook_call {
    struct str path;
    struct hook_delivery delivery;
    struct stored_trigger trigger;
    struct value webhook;
};

static const int64_t KEPT_US = INT64_C(24) * 3600 * 1000000; /* of a signal that finds no wait */

static bool run_hook(struct lookup *q, struct reader *reader, struct err *err)
{
    struct hook_call *h = q->args;
    struct http_request *r = q->call->http;
    struct stored_triggers found;

    if (!read_triggers_of_topic(reader, q->mem, TRIGGER_WEBHOOK,
                                trigger_webhook_topic(q->mem, r->method, h->path), &found, err))
        return false;
    if (found.count == 0)
        return err_set(err, ERR_NOT_FOUND, "no process has a webhook with this path and method");
    h->trigger = found.items[0];
    h->delivery.code = h->trigger.code;
    h->delivery.version = h->trigger.version;
    h->delivery.is_proven = hook_verify(q->mem, node_vault(q->call->node), r, h->trigger.spec,
                                        api_now_us(q->call->api), err);
    return h->delivery.is_proven && hook_request(q->mem, r, h->path, &h->webhook, err);
}

/* --- what is kept in mind of it --- */

/* What it said, if it has proven who sent it. */
static void note_request(struct call *c, struct hook_delivery *d, struct value webhook)
{
    struct value headers;
    struct buf json;
    struct err err;

    d->at_us = api_now_us(c->api);
    d->address = ip_text(c->mem, api_caller(c->api, c->http));
    d->request_id = api_request_id(c->api, c->mem, c->http->number);
    d->body_bytes = c->http->body.len;
    if (!d->is_proven)
        return;
    d->query = http_query_text(c->http);
    d->body = c->http->body;
    if (webhook.kind != VALUE_MAP)
        return; /* the body is not what its type says */
    headers =
        value_map_get_str(hook_kept(c->mem, webhook, api_auth_header(c->api)), STR("headers"));
    buf_init_arena(&json, c->mem);
    if (json_write(&json, headers, &err))
        d->headers_json = buf_view(&json);
}

/* The refusal, and the first thing that is wrong with the input. */
static struct str why_refused(struct arena *mem, const struct err *err,
                              const struct findings *findings)
{
    if (findings == NULL || findings->count == 0)
        return str_copy(mem, str_of(err->message));
    return str_printf(mem, "%s: %.*s: %.*s", err->message, STR_ARG(findings->items[0].pointer),
                      STR_ARG(findings->items[0].message.text));
}

static void note_delivery(struct call *c, const char *outcome, int status, struct str id)
{
    struct hook_call *h = c->noted;
    struct hook_delivery *d = &h->delivery;

    if (d->code.len == 0)
        return;
    note_request(c, d, h->webhook);
    d->outcome = str_of(outcome);
    d->status = status;
    d->id = id;
    deliveries_add(api_parts(c->api)->deliveries, d);
}

static void note_refused(struct call *c, const struct err *err, const struct findings *findings)
{
    struct hook_call *h = c->noted;

    h->delivery.error = str_of(err_code_name(err->code));
    h->delivery.why = why_refused(c->mem, err, findings);
    note_delivery(c, "refused", err_http_status(err->code), STR_NONE);
}

/* --- the answer --- */

static void answer_taken_hook(struct call *c, const char *outcome, struct str id)
{
    note_delivery(c, outcome, 202, id);
    executions_answer_id(c, id);
}

/* The id in the answer that was stored: of the execution or the signal. */
static struct str stored_id(struct arena *mem, struct str answer)
{
    struct value v;
    struct err err;

    return json_read(mem, answer, &v, &err) ? value_map_text(v, STR("id")) : STR_NONE;
}

static void hook_done(struct node_request *r)
{
    struct call *c = r->owner;
    struct buf more;

    buf_init_arena(&more, c->mem);
    if (!r->ok) {
        if (r->err.code == ERR_KEY_BUSY)
            object_id(&more, "executionId", r->id);
        call_refuse_with(c, &r->err, &r->findings, buf_view(&more));
    } else if (r->stored_status != 0) {
        note_delivery(c, "repeated", r->stored_status, stored_id(c->mem, r->stored_answer));
        call_answer_again(c, r->stored_status, r->stored_answer);
    } else if (r->hook->result == HOOK_STARTS) {
        answer_taken_hook(c, r->joined ? "joined" : "started", uuid_text(c->mem, r->id));
    } else if (r->hook->result == HOOK_SIGNALS) {
        note_delivery(c, "signalled", 202, r->signal_id_out);
        executions_answer_received(c, r);
    } else {
        answer_taken_hook(c, "ignored", STR_NONE);
    }
}

static void hook_found(struct lookup *q)
{
    struct hook_call *h = q->args;
    struct call *c = q->call;
    struct node_hook *hook = arena_zalloc(c->mem, sizeof(*hook));
    struct node_request *r;

    c->user =
        (struct node_user){.id = STR("system"),
                           .name = STR("system"),
                           .role = STR("system"),
                           .org_id = h->trigger.org_id.len > 0 ? h->trigger.org_id : ORG_DEFAULT,
                           .groups = value_list(NULL, 0)};
    r = call_request(c, NODE_HOOK, hook_done);
    if (r == NULL)
        return;
    *hook = (struct node_hook){.position = h->trigger.position,
                               .signals = value_map_get_str(h->trigger.spec, STR("signal")).kind ==
                                          VALUE_MAP,
                               .webhook = h->webhook,
                               .id = {.user = STR("system"),
                                      .method = c->http->method,
                                      .path = str_printf(c->mem, "/hooks/%.*s", STR_ARG(h->path)),
                                      .body_hash = STR("webhook")}};
    r->idempotency = (struct idempotency){0}; /* the trigger says what a redelivery is known by */
    r->code = h->trigger.code;
    r->version = h->trigger.version;
    r->hook = hook;
    r->webhook = hook_kept(c->mem, h->webhook, api_auth_header(c->api));
    r->answers_id = true;
    r->event.by = call_by(c);
    r->ttl_us = KEPT_US;
    r->trace = call_trace(c);
    call_submit(c, r);
}

void hooks_take(struct call *c)
{
    struct hook_call *h = ARENA_NEW(c->mem, struct hook_call);

    c->on_refused = note_refused;
    c->noted = h;
    if (!percent_decode(c->mem, c->params[0], &h->path))
        call_refuse_text(c, ERR_BAD_REQUEST, "the path is not UTF-8, or holds U+0000");
    else if (h->path.len > WEBHOOK_PATH_MAX)
        call_refuse_text(c, ERR_NOT_FOUND, "no process has a webhook with so long a path");
    else {
        h->delivery.topic = trigger_webhook_topic(c->mem, c->http->method, h->path);
        lookup_start(c, h, run_hook, hook_found);
    }
}
