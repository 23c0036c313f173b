/* signals.c - signals to an execution that is found by its business key or by what it waits for. */
#include "api/lookup.h"
#include "api/repeat.h"
#include "define/define.h"
#include "define/program.h"
#include "store/read_find.h"
#include "value/object.h"

enum { TYPE_LEN_MAX = 255, ID_LEN_MAX = 255 };

#define TTL_US (INT64_C(24) * 3600 * 1000000)
#define TTL_MAX_US (30 * TTL_US)

struct addressee {
    struct node_request *request;
    struct str key, code;
    struct dues found;
};

static bool addressee_run_find(struct lookup *q, struct reader *reader, struct err *err)
{
    struct addressee *a = q->args;
    const struct node_request *r = a->request;
    struct str org_id = q->call->user.org_id;
    struct uuid id;
    bool found;

    if (!read_live_by_key(reader, q->mem, a->key, a->code, org_id, &a->found, err))
        return false;
    if (a->found.count > 0 || r->event.signal_id.len == 0)
        return true;
    /* It may be a signal that was received and sent again: then its execution may have ended. */
    if (!read_receiver(reader, a->key, a->code, org_id, r->event.signal_id, &id, &found, err))
        return false;
    if (found)
        *VEC_ADD(q->mem, &a->found) = (struct due){.id = id};
    return true;
}

static void addressee_found(struct lookup *q)
{
    const struct addressee *a = q->args;
    struct node_request *r = a->request;
    struct err err;

    if (a->found.count == 1) {
        r->execution = a->found.items[0].id;
        call_audit_signal(q->call, r);
        call_submit(q->call, r);
        return;
    }
    if (a->found.count == 0)
        (void)err_set(&err, ERR_NOT_FOUND, "nothing runs under this key");
    else
        (void)err_set(&err, ERR_CONFLICT,
                      "executions of several codes run under this key: say which code is meant");
    repeat_or_refuse(q->call, &r->idempotency, &err, NULL, STR_NONE);
}

static void signal_sent(struct node_request *r)
{
    struct call *c = r->owner;
    struct buf out;

    if (!r->ok) {
        repeat_or_refuse_of(c, r);
    } else if (r->stored_status != 0) {
        call_answer_again(c, r->stored_status, r->stored_answer);
    } else {
        object_begin(&out, c->mem);
        object_text(&out, "id", r->signal_id_out);
        if (r->is_buffered)
            object_json(&out, "executionId", STR("null"));
        else
            object_id(&out, "executionId", r->execution);
        if (r->is_unjudged)
            object_bool(&out, "judged", false);
        call_answer(c, 202, object_end(&out));
    }
}

static bool has_text(struct value v, size_t max)
{
    return v.kind == VALUE_STRING && v.len > 0 && v.len <= max;
}

/* --- the request --- */

struct signal_body {
    struct value type, payload, id, key, code, correlation, ttl;
};

static bool check_key(struct call *c, const struct signal_body *b)
{
    if (b->ttl.kind != VALUE_ABSENT)
        call_refuse_field(c, "ttl", "bad_value",
                          "ttl is for a signal with a correlation: one by key is not kept");
    else if (b->key.kind == VALUE_ABSENT)
        call_refuse_field(c, "key", "missing_field",
                          "key or correlation is missing: whose signal is it?");
    else if (!has_text(b->key, BUSINESS_KEY_MAX))
        call_refuse_field(c, "key", "bad_value", "key has from 1 to 255 bytes");
    else
        return true;
    return false;
}

static bool check_correlation(struct call *c, const struct signal_body *b, struct str *correlation,
                              int64_t *ttl_us)
{
    *ttl_us = TTL_US;
    if (b->key.kind != VALUE_ABSENT)
        call_refuse_field(c, "key", "bad_value", "give key or correlation, not both");
    else if (b->code.kind != VALUE_ABSENT)
        call_refuse_field(c, "code", "bad_value", "code goes with key: a correlation needs none");
    else if (!define_correlation(c->mem, b->correlation, correlation))
        call_refuse_field(c, "correlation", "bad_value",
                          "correlation is an integer or a text of 1 to 500 bytes");
    else if (b->ttl.kind == VALUE_STRING &&
             (!define_duration_us(b->ttl, ttl_us) || *ttl_us <= 0 || *ttl_us > TTL_MAX_US))
        call_refuse_field(c, "ttl", "bad_value",
                          "ttl is a duration such as \"30s\" or \"7d\", at most 30d");
    else
        return true;
    return false;
}

static struct node_request *make_request(struct call *c, const struct signal_body *b)
{
    struct node_request *r = call_event(c, EVENT_SIGNAL, signal_sent);

    if (r == NULL)
        return NULL;
    r->event.signal_type = value_text(b->type);
    r->event.signal_id = value_text_or(b->id, STR_NONE);
    r->event.signal_payload = b->payload.kind == VALUE_ABSENT ? value_null() : b->payload;
    r->event.by = call_by(c);
    r->names_execution = true;
    return r;
}

static void send_by_key(struct call *c, const struct signal_body *b)
{
    struct addressee *a = ARENA_NEW(c->mem, struct addressee);

    if (!check_key(c, b) || (a->request = make_request(c, b)) == NULL)
        return;
    a->key = value_text(b->key);
    a->code = value_text_or(b->code, STR_NONE);
    lookup_start(c, a, addressee_run_find, addressee_found);
}

static void send_by_correlation(struct call *c, const struct signal_body *b)
{
    struct node_request *r;
    struct str correlation;
    int64_t ttl_us;

    if (!check_correlation(c, b, &correlation, &ttl_us) || (r = make_request(c, b)) == NULL)
        return;
    r->event.signal_correlation = correlation;
    r->ttl_us = ttl_us;
    call_audit_signal(c, r);
    call_submit(c, r);
}

void signals_send(struct call *c)
{
    struct signal_body b = {0};
    const struct body_field fields[] = {
        {"type", BODY_TEXT, true, .out = &b.type},
        {"payload", BODY_ANY, false, .out = &b.payload},
        {"id", BODY_TEXT, false, .out = &b.id},
        {"key", BODY_TEXT, false, .out = &b.key},
        {"code", BODY_TEXT, false, .out = &b.code},
        {"correlation", BODY_ANY, false, .out = &b.correlation},
        {"ttl", BODY_TEXT, false, .out = &b.ttl},
    };

    if (!call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    if (!has_text(b.type, TYPE_LEN_MAX))
        call_refuse_field(c, "type", "bad_value", "type has from 1 to 255 bytes");
    else if (b.id.kind == VALUE_STRING && !has_text(b.id, ID_LEN_MAX))
        call_refuse_field(c, "id", "bad_value", "id has from 1 to 255 bytes");
    else if (b.correlation.kind != VALUE_ABSENT)
        send_by_correlation(c, &b);
    else
        send_by_key(c, &b);
}
