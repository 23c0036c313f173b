/* executions_change.c - starting, signalling and cancelling executions. */
#include "api/body.h"
#include "api/call.h"
#include "api/repeat.h"
#include "value/json.h"
#include "value/object.h"

enum { KEY_LEN_MAX = 255, SIGNAL_TYPE_LEN_MAX = 255 };

/* What the node has refused; who holds the key is part of that. */
static void refuse_request(struct call *c, const struct node_request *r)
{
    struct buf more;

    buf_init_arena(&more, c->mem);
    if (r->err.code == ERR_KEY_BUSY)
        object_id(&more, "executionId", r->id);
    repeat_or_refuse(c, &r->idempotency, &r->err, &r->findings, buf_view(&more));
}

/* --- starting --- */

static void answer_execution(struct call *c, int status, struct uuid id, struct str json)
{
    char text[UUID_TEXT_LEN + 1];
    struct http_header location = {"Location", NULL};

    uuid_write(id, text);
    location.value = str_printf(c->mem, "/api/v1/executions/%s", text).ptr;
    call_answer_headers(c, status, json, &location, 1);
}

/* A repeated start that wanted to wait: the execution is there, or has ended. */
static void waited_again(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok)
        refuse_request(c, r);
    else
        answer_execution(c, r->ended ? 200 : 202, r->execution, r->execution_json);
}

/* The Idempotency-Key was used before: the answer is that of then. */
static void repeated_start(struct call *c, const struct node_request *r)
{
    struct node_request *wait;
    struct value before, id, ended;
    struct err err;
    struct uuid execution;

    if (!json_read(c->mem, r->stored_answer, &before, &err) || before.kind != VALUE_MAP) {
        call_answer(c, 200, r->stored_answer);
        return;
    }
    id = value_map_get_str(before, STR("id"));
    ended = value_map_get_str(before, STR("completedAt"));
    if (id.kind != VALUE_STRING || !uuid_read(value_text(id), &execution)) {
        call_answer(c, 200, r->stored_answer);
        return;
    }
    if (r->wait_us == 0 || ended.kind == VALUE_STRING) {
        answer_execution(c, 200, execution, r->stored_answer);
        return;
    }
    wait = call_request(c, NODE_WAIT, waited_again);
    if (wait == NULL)
        return;
    wait->idempotency = (struct idempotency){0};
    wait->execution = execution;
    wait->wait_us = r->wait_us;
    call_submit(c, wait);
}

static void started(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok)
        refuse_request(c, r);
    else if (r->stored_status != 0)
        repeated_start(c, r);
    else if (r->wait_us > 0 && !r->ended)
        answer_execution(c, 202, r->id, r->execution_json);
    else
        answer_execution(c, r->joined ? 200 : 201, r->id, r->execution_json);
}

void executions_start(struct call *c)
{
    struct value code, scenario, schema, machine, version, input, key, debug, webhook;
    const struct body_field fields[] = {
        {"code", BODY_TEXT, false, &code},         {"scenario", BODY_TEXT, false, &scenario},
        {"schema", BODY_TEXT, false, &schema},     {"machine", BODY_TEXT, false, &machine},
        {"version", BODY_INT, false, &version},    {"input", BODY_OBJECT, false, &input},
        {"key", BODY_TEXT, false, &key},           {"debug", BODY_BOOL, false, &debug},
        {"webhook", BODY_OBJECT, false, &webhook},
    };
    struct node_request *r;

    if (!call_body(c, fields, sizeof(fields) / sizeof(fields[0])))
        return;
    if (code.kind == VALUE_ABSENT)
        code = scenario.kind != VALUE_ABSENT ? scenario
               : schema.kind != VALUE_ABSENT ? schema
                                             : machine;
    if (code.kind == VALUE_ABSENT || code.len == 0)
        call_refuse_field(c, "code", "missing_field", "code is missing: what is to be started?");
    else if (version.kind == VALUE_INT && version.i < 1)
        call_refuse_field(c, "version", "bad_value", "version is a number from 1 on");
    else if (key.kind == VALUE_STRING && key.len > KEY_LEN_MAX)
        call_refuse_field(c, "key", "bad_value", "key has at most 255 bytes");
    else if (value_is_true(debug))
        call_refuse_field(c, "debug", "not_supported_yet", "debug is not supported yet");
    else if (webhook.kind == VALUE_MAP)
        call_refuse_field(c, "webhook", "not_supported_yet", "webhook is not supported yet");
    else if ((r = call_request(c, NODE_START, started)) != NULL && call_wait(c, &r->wait_us)) {
        r->code = value_text(code);
        r->version = version.kind == VALUE_INT ? version.i : 0;
        r->input = input.kind == VALUE_MAP ? input : value_map_empty();
        r->key = key.kind == VALUE_STRING ? value_text(key) : STR_NONE;
        call_submit(c, r);
    }
}

/* --- signalling --- */

static struct str signal_json(struct call *c, struct str id, struct str execution)
{
    struct buf out;

    buf_init_arena(&out, c->mem);
    buf_char(&out, '{');
    object_text(&out, "id", id);
    if (execution.len > 0)
        object_json(&out, "execution", execution);
    buf_char(&out, '}');
    return buf_view(&out);
}

static void signal_waited(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok)
        refuse_request(c, r);
    else
        call_answer(c, r->ended ? 200 : 202, signal_json(c, r->signal_id, r->execution_json));
}

static void signalled(struct node_request *r)
{
    struct call *c = r->owner;
    struct node_request *wait;

    if (!r->ok) {
        refuse_request(c, r);
    } else if (r->stored_status != 0) {
        call_answer(c, r->stored_status, r->stored_answer);
    } else if (r->wait_us == 0) {
        call_answer(c, 202, signal_json(c, r->signal_id_out, STR_NONE));
    } else if ((wait = call_request(c, NODE_WAIT, signal_waited)) != NULL) {
        wait->idempotency = (struct idempotency){0};
        wait->execution = r->execution;
        wait->wait_us = r->wait_us;
        wait->signal_id = r->signal_id_out;
        call_submit(c, wait);
    }
}

void executions_signal(struct call *c)
{
    struct value type, payload, id;
    const struct body_field fields[] = {
        {"type", BODY_TEXT, true, &type},
        {"payload", BODY_ANY, false, &payload},
        {"id", BODY_TEXT, false, &id},
    };
    struct node_request *r;
    struct uuid execution;

    if (!call_execution_id(c, &execution) ||
        !call_body(c, fields, sizeof(fields) / sizeof(fields[0])))
        return;
    if (type.len == 0 || type.len > SIGNAL_TYPE_LEN_MAX)
        call_refuse_field(c, "type", "bad_value", "type has from 1 to 255 bytes");
    else if (id.kind == VALUE_STRING && (id.len == 0 || id.len > KEY_LEN_MAX))
        call_refuse_field(c, "id", "bad_value", "id has from 1 to 255 bytes");
    else if ((r = call_request(c, NODE_SIGNAL, signalled)) != NULL && call_wait(c, &r->wait_us)) {
        r->execution = execution;
        r->signal_type = value_text(type);
        r->signal_id = id.kind == VALUE_STRING ? value_text(id) : STR_NONE;
        r->payload = payload.kind == VALUE_ABSENT ? value_null() : payload;
        r->signal_by = call_by(c);
        call_submit(c, r);
    }
}

/* --- cancelling --- */

static void cancelled(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok)
        refuse_request(c, r);
    else
        call_answer(c, 202, STR("{}"));
}

void executions_cancel(struct call *c)
{
    struct value reason, compensate;
    const struct body_field fields[] = {
        {"reason", BODY_TEXT, false, &reason},
        {"compensate", BODY_BOOL, false, &compensate},
    };
    struct node_request *r;
    struct uuid execution;

    if (!call_execution_id(c, &execution) ||
        !call_body(c, fields, sizeof(fields) / sizeof(fields[0])))
        return;
    r = call_request(c, NODE_CANCEL, cancelled);
    if (r == NULL)
        return;
    r->execution = execution;
    r->reason = reason.kind == VALUE_STRING ? value_text(reason) : STR_NONE;
    call_audit(c, r, "execution.cancel", c->params[0], STR_NONE);
    call_submit(c, r);
}
