/* signals.c - signals to an execution that is named by its business key. */
#include "api/query.h"
#include "api/repeat.h"
#include "value/object.h"

enum { KEY_LEN_MAX = 500, TYPE_LEN_MAX = 255, ID_LEN_MAX = 255 };

struct addressee {
    struct node_request *request;
    struct str key, code;
    struct dues found;
};

static bool run_find(struct query *q, struct reader *reader, struct err *err)
{
    struct addressee *a = q->args;
    const struct node_request *r = a->request;
    struct str org_id = q->call->user.org_id;
    struct uuid id;
    bool found;

    if (!read_live_by_key(reader, q->mem, a->key, a->code, org_id, &a->found, err))
        return false;
    if (a->found.count > 0 || r->signal_id.len == 0)
        return true;
    /* It may be a signal that was received and sent again: then its execution may have ended. */
    if (!read_receiver(reader, a->key, a->code, org_id, r->signal_id, &id, &found, err))
        return false;
    if (found)
        *VEC_ADD(q->mem, &a->found) = (struct due){.id = id};
    return true;
}

static void send(struct query *q)
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

static void sent(struct node_request *r)
{
    struct call *c = r->owner;
    struct buf out;

    if (!r->ok) {
        repeat_or_refuse(c, &r->idempotency, &r->err, &r->findings, STR_NONE);
    } else if (r->stored_status != 0) {
        call_answer_again(c, r->stored_status, r->stored_answer);
    } else {
        buf_init_arena(&out, c->mem);
        buf_char(&out, '{');
        object_text(&out, "id", r->signal_id_out);
        object_id(&out, "executionId", r->execution);
        buf_char(&out, '}');
        call_answer(c, 202, buf_view(&out));
    }
}

static bool has_text(struct value v, size_t max)
{
    return v.kind == VALUE_STRING && v.len > 0 && v.len <= max;
}

void signals_send(struct call *c)
{
    struct value type, payload, id, key, code, correlation, ttl;
    const struct body_field fields[] = {
        {"type", BODY_TEXT, true, &type},  {"payload", BODY_ANY, false, &payload},
        {"id", BODY_TEXT, false, &id},     {"key", BODY_TEXT, false, &key},
        {"code", BODY_TEXT, false, &code}, {"correlation", BODY_ANY, false, &correlation},
        {"ttl", BODY_TEXT, false, &ttl},
    };
    struct addressee *a = ARENA_NEW(c->mem, struct addressee);

    if (!call_body(c, fields, sizeof(fields) / sizeof(fields[0])))
        return;
    if (correlation.kind != VALUE_ABSENT || ttl.kind != VALUE_ABSENT)
        call_refuse_field(c, correlation.kind != VALUE_ABSENT ? "correlation" : "ttl",
                          "not_supported_yet",
                          "waits with a correlation are not supported yet: send it by key");
    else if (!has_text(type, TYPE_LEN_MAX))
        call_refuse_field(c, "type", "bad_value", "type has from 1 to 255 bytes");
    else if (id.kind == VALUE_STRING && !has_text(id, ID_LEN_MAX))
        call_refuse_field(c, "id", "bad_value", "id has from 1 to 255 bytes");
    else if (key.kind == VALUE_ABSENT)
        call_refuse_field(c, "key", "missing_field", "key is missing: whose signal is it?");
    else if (!has_text(key, KEY_LEN_MAX))
        call_refuse_field(c, "key", "bad_value", "key has from 1 to 500 bytes");
    else if ((a->request = call_request(c, NODE_SIGNAL, sent)) != NULL) {
        a->key = value_text(key);
        a->code = code.kind == VALUE_STRING ? value_text(code) : STR_NONE;
        a->request->signal_type = value_text(type);
        a->request->signal_id = id.kind == VALUE_STRING ? value_text(id) : STR_NONE;
        a->request->payload = payload.kind == VALUE_ABSENT ? value_null() : payload;
        a->request->signal_by = call_by(c);
        a->request->names_execution = true;
        query_start(c, a, run_find, send);
    }
}
