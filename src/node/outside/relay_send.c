/* relay_send.c - what a message is on the wire, and how its delivery went; see relay.h. */
#include "base/digest.h"
#include "base/url.h"
#include "node/deliver.h"
#include "node/inner.h"
#include "node/node.h"
#include "node/outside/broker_link.h"
#include "node/outside/relay.h"
#include "value/object.h"

#include <stdio.h>

#define HTTP_TIMEOUT_US INT64_C(10000000)
#define MAIL_TIMEOUT_US INT64_C(30000000)

static struct str subscription_of(struct str destination)
{
    struct str prefix = STR(RELAY_SUBSCRIPTION);

    return str_starts_with(destination, prefix)
               ? str_slice(destination, prefix.len, destination.len)
               : STR_NONE;
}

static struct str server_of(const struct node *n, enum message_kind kind)
{
    const struct relay_servers *s = &n->options.servers;

    switch (kind) {
    case MESSAGE_EMAIL:
        return s->smtp_url;
    case MESSAGE_SMS:
        return s->sms_gateway;
    case MESSAGE_PUSH:
        return s->push_gateway;
    case MESSAGE_BROKER:
        return s->broker_url;
    case MESSAGE_EVENT:
    case MESSAGE_TRIGGER:
    case MESSAGE_KIND_COUNT:
        break;
    }
    return STR_NONE;
}

bool relay_can_send(const struct node *n, struct str destination)
{
    enum message_kind kind;

    if (str_eq(destination, STR(BROKER_EVENTS_LANE)))
        return broker_link_is_up(n);
    if (!message_kind_read(destination, &kind))
        return true;
    if (kind == MESSAGE_BROKER)
        return broker_link_is_up(n);
    return server_of(n, kind).len > 0;
}

bool node_can_deliver(const struct node *n, enum message_kind kind)
{
    return kind == MESSAGE_EVENT || kind == MESSAGE_TRIGGER || server_of(n, kind).len > 0;
}

void relay_refuse(struct relayed *m, bool is_final, const char *code, const char *message)
{
    struct buf out;

    object_begin(&out, &m->mem);
    object_text(&out, "code", str_of(code));
    object_text(&out, "message", str_of(message));
    object_text(&out, "class",
                str_of(err_class_name(is_final ? ERR_CLASS_BUSINESS : ERR_CLASS_TRANSIENT)));
    object_bool(&out, "retryable", !is_final);
    m->error_json = object_end(&out);
    m->is_final = is_final;
}

/* A POST of the body, with these headers: a JSON object. */
static struct effect_call *post(struct relayed *m, struct str url, struct str headers_json)
{
    struct effect_call *call = effect_call_new();
    const char *mistake = url_host(&call->mem, url, &call->host);
    struct buf request;

    if (mistake != NULL) {
        relay_refuse(m, false, "validation_url", mistake);
        effect_call_free(call);
        return NULL;
    }
    buf_init_arena(&request, &call->mem);
    buf_text(&request, "{\"method\":\"POST\"");
    object_text(&request, "url", url);
    object_json(&request, "headers", headers_json);
    object_text(&request, "body", m->body_json);
    buf_char(&request, '}');
    call->key = uuid_text(&call->mem, m->id);
    call->request_json = buf_view(&request);
    call->timeout_us = HTTP_TIMEOUT_US;
    call->wants_status = true;
    return call;
}

static struct effect_call *deliver_event(const struct node *n, struct str code, struct relayed *m)
{
    const struct subscription *s = route_subscription(n, code);
    struct buf headers;

    if (s == NULL) {
        relay_refuse(m, true, "not_found_subscription", "the subscription was deleted");
        return NULL;
    }
    if (s->is_locked) {
        relay_refuse(
            m, false, "internal_secret",
            "the secret of the subscription cannot be opened: is this the right --master-key?");
        return NULL;
    }
    object_begin(&headers, &m->mem);
    object_text(&headers, "Content-Type", STR("application/json"));
    object_text(&headers, "Pawl-Event", m->name);
    object_text(&headers, "Pawl-Delivery", uuid_text(&m->mem, m->id));
    if (s->secret.len > 0) {
        struct str digest = digest_hmac_hex(&m->mem, s->secret, m->body_json);

        object_text(&headers, "Pawl-Signature",
                    str_printf(&m->mem, "sha256=%.*s", STR_ARG(digest)));
    }
    return post(m, s->url, object_end(&headers));
}

/* The body with the id and the sender, for mail.h. */
static struct effect_call *deliver_mail(const struct node *n, struct relayed *m)
{
    struct effect_call *call;
    struct buf mail;

    if (m->nobody.len > 0) {
        relay_refuse(
            m, false, "not_found_address",
            str_printf(&m->mem, "%.*s: nobody there has an e-mail address", STR_ARG(m->nobody))
                .ptr);
        return NULL;
    }
    call = effect_call_new();
    object_begin(&mail, &call->mem);
    object_text(&mail, "id", uuid_text(&call->mem, m->id));
    object_text(&mail, "from", n->options.servers.mail_from);
    buf_char(&mail, ',');
    buf_str(&mail, str_slice(m->body_json, 1, m->body_json.len));
    call->key = uuid_text(&call->mem, m->id);
    call->request_json = buf_view(&mail);
    call->server_url = str_copy(&call->mem, n->options.servers.smtp_url);
    call->timeout_us = MAIL_TIMEOUT_US;
    return call;
}

static struct effect_call *deliver_short(const struct node *n, struct relayed *m)
{
    struct effect_call *call =
        post(m, server_of(n, m->kind), STR("{\"Content-Type\":\"application/json\"}"));

    if (call != NULL)
        call->is_trusted = true;
    return call;
}

struct effect_call *relay_make_call(const struct node *n, struct str destination, struct relayed *m)
{
    struct str code = subscription_of(destination);

    if (code.len > 0)
        return deliver_event(n, code, m);
    return m->kind == MESSAGE_EMAIL ? deliver_mail(n, m) : deliver_short(n, m);
}

void relay_judge(struct relayed *m, const struct effect_call *call)
{
    char message[80];

    m->is_delivered = call->error_json.len == 0 && call->status >= 200 && call->status < 300;
    if (m->is_delivered)
        return;
    if (call->error_json.len > 0) {
        m->error_json = str_copy(&m->mem, call->error_json);
        m->is_final = call->is_refused;
        return;
    }
    snprintf(message, sizeof(message), "the receiver answered %d", (int)call->status);
    relay_refuse(m, false, "external_status", message);
}
