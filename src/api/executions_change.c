/* executions_change.c - starting, signalling and cancelling executions. */
#include "api/executions_again.h"
#include "api/executions_signal.h"

#include "api/body.h"
#include "api/call.h"
#include "api/lookup.h"
#include "api/repeat.h"
#include "define/kind.h"
#include "engine/show.h"
#include "value/json.h"
#include "value/object.h"

enum {
    SIGNAL_ID_LEN_MAX = 255,
    HISTORY_PAGE = 256,
    OUTCOME_LOOKS_MAX = 3,
};

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

void executions_started(struct node_request *r)
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

/* Which process is meant, by its code alone or by its kind too; refused when that is not clear. */
static bool read_code(struct call *c, const struct value *code, const struct value *by_kind,
                      const enum kind *kinds, size_t count, struct str *out)
{
    const struct kind_spec *kind = NULL;

    *out = code->kind == VALUE_STRING ? value_text(*code) : STR_NONE;
    for (size_t i = 0; i < count; i++) {
        if (by_kind[i].kind != VALUE_STRING)
            continue;
        if (kind != NULL || code->kind == VALUE_STRING) {
            call_refuse_field(c, kind_spec(kinds[i])->name, "bad_value",
                              "one of code, scenario, schema and machine says what is started");
            return false;
        }
        kind = kind_spec(kinds[i]);
        *out = value_text(by_kind[i]);
    }
    if (kind != NULL && kind->state != KIND_NOW) {
        call_refuse_field(
            c, kind->name, "not_supported_yet",
            str_printf(c->mem, "definitions of kind %s are not supported yet", kind->name).ptr);
        return false;
    }
    if (out->len == 0)
        call_refuse_field(c, "code", "missing_field", "code is missing: what is to be started?");
    return out->len > 0;
}

/* $.webhook as it is given with a start: {payload, headers, query, method, path}, each as it would come. */
static bool check_webhook(struct call *c, struct value webhook)
{
    static const struct {
        const char *name;
        enum value_kind kind;
        const char *wanted;
    } fields[] = {{"headers", VALUE_MAP, "an object"},
                  {"query", VALUE_MAP, "an object"},
                  {"method", VALUE_STRING, "a text"},
                  {"path", VALUE_STRING, "a text"}};

    for (uint32_t i = 0; webhook.kind == VALUE_MAP && i < webhook.len; i++) {
        struct str name = value_text(webhook.map->entries[i].key);
        struct value v = webhook.map->entries[i].value;
        size_t k = 0;

        while (k < ARRAY_SIZE(fields) && !str_eq(name, str_of(fields[k].name)))
            k++;
        if (k == ARRAY_SIZE(fields) && !str_eq(name, STR("payload"))) {
            call_refuse_field(c, "webhook", "unknown_field",
                              "webhook has payload, headers, query, method and path");
            return false;
        }
        if (k < ARRAY_SIZE(fields) && v.kind != fields[k].kind) {
            call_refuse_field(
                c, str_printf(c->mem, "webhook/%s", fields[k].name).ptr, "wrong_type",
                str_printf(c->mem, "%s must be %s", fields[k].name, fields[k].wanted).ptr);
            return false;
        }
    }
    return true;
}

void executions_start(struct call *c)
{
    static const enum kind kinds[] = {KIND_SCENARIO, KIND_SCHEMA, KIND_MACHINE};
    struct value code, by_kind[3], version, input, key, debug, webhook;
    const struct body_field fields[] = {
        {"code", BODY_TEXT, false, &code},
        {kind_spec(kinds[0])->name, BODY_TEXT, false, &by_kind[0]},
        {kind_spec(kinds[1])->name, BODY_TEXT, false, &by_kind[1]},
        {kind_spec(kinds[2])->name, BODY_TEXT, false, &by_kind[2]},
        {"version", BODY_INT, false, &version},
        {"input", BODY_OBJECT, false, &input},
        {"key", BODY_TEXT, false, &key},
        {"debug", BODY_BOOL, false, &debug},
        {"webhook", BODY_OBJECT, false, &webhook},
    };
    struct node_request *r;
    struct str name;

    if (!call_body(c, fields, ARRAY_SIZE(fields)) ||
        !read_code(c, &code, by_kind, kinds, ARRAY_SIZE(kinds), &name))
        return;
    if (version.kind == VALUE_INT && version.i < 1)
        call_refuse_field(c, "version", "bad_value", "version is a number from 1 on");
    else if (key.kind == VALUE_STRING && (key.len == 0 || key.len > BUSINESS_KEY_MAX))
        call_refuse_field(c, "key", "bad_value", "key has from 1 to 255 bytes");
    else if (value_is_true(debug))
        call_refuse_field(c, "debug", "not_supported_yet", "debug is not supported yet");
    else if (!check_webhook(c, webhook))
        return;
    else if ((r = call_request(c, NODE_START, executions_started)) != NULL &&
             call_wait(c, &r->wait_us)) {
        r->code = name;
        r->version = version.kind == VALUE_INT ? version.i : 0;
        r->input = input.kind == VALUE_MAP ? input : value_map_empty();
        r->webhook = webhook;
        r->key = key.kind == VALUE_STRING ? value_text(key) : STR_NONE;
        r->trace = call_trace(c);
        call_submit(c, r);
    }
}

/* --- signalling --- */

/* Who wants to know what became of a signal; in the call's memory. */
struct outcome {
    struct call *call;
    struct uuid execution;
    struct str signal_id;
    int64_t wait_us;
    unsigned looks;
    /* what the history says */
    int64_t seq;
    struct str taken_json;
    enum execution_status status;
};

static void answer_received(struct call *c, struct str id)
{
    struct buf out;

    buf_init_arena(&out, c->mem);
    buf_char(&out, '{');
    object_text(&out, "id", id);
    buf_char(&out, '}');
    call_answer(c, 202, buf_view(&out));
}

static void answer_taken(struct call *c, struct str id, struct uuid execution, struct str step_json,
                         enum execution_status status)
{
    struct buf out;

    buf_init_arena(&out, c->mem);
    buf_char(&out, '{');
    object_text(&out, "id", id);
    object_id(&out, "executionId", execution);
    object_json(&out, "step", step_json);
    object_text(&out, "status", str_of(status_name(status)));
    buf_char(&out, '}');
    call_answer(c, 200, buf_view(&out));
}

static void look(struct outcome *o);

static void waited_for_outcome(struct node_request *r)
{
    struct outcome *o = r->owner;

    if (!r->ok)
        refuse_request(o->call, r);
    else if (r->taken_json.len > 0)
        answer_taken(o->call, o->signal_id, o->execution, r->taken_json, r->taken_status);
    else if (r->taken_before && ++o->looks < OUTCOME_LOOKS_MAX)
        look(o);
    else
        answer_received(o->call, o->signal_id);
}

/* Append the row without what is sensitive. */
static bool show_taken(struct lookup *q, struct reader *reader, struct uuid execution,
                       const struct history_row *row, struct err *err)
{
    struct mask mask;
    struct buf whole;

    if (!read_mask(reader, q->mem, execution, &mask, err))
        return false;
    buf_init_arena(&whole, q->mem);
    show_history_row(&whole, execution, row);
    if (!mask_is_empty(&mask))
        return mask_view(q->mem, &mask, buf_view(&whole), &q->answer, err);
    buf_str(&q->answer, buf_view(&whole));
    return true;
}

/* The history of the execution, for the row of the step that took the signal. */
static bool run_look(struct lookup *q, struct reader *reader, struct err *err)
{
    struct outcome *o = q->args;
    int64_t after;
    bool found;

    if (!read_signal(reader, o->execution, o->signal_id, &o->seq, &found, err))
        return false;
    if (!found)
        o->seq = 0;
    for (after = o->seq; found && o->taken_json.len == 0;) {
        struct arena_mark mark = arena_mark(q->mem);
        struct progress page;

        if (!read_progress(reader, q->mem, o->execution, after, HISTORY_PAGE, &page, &found, err))
            return false;
        o->status = page.status;
        for (size_t i = 0; i < page.history.count && o->taken_json.len == 0; i++) {
            const struct history_row *row = &page.history.items[i];
            after = row->seq;
            if (!node_row_took(q->mem, row, o->seq))
                continue;
            if (!show_taken(q, reader, o->execution, row, err))
                return false;
            o->taken_json = buf_view(&q->answer);
        }
        if (o->taken_json.len > 0 || (page.history.count < HISTORY_PAGE && !page.is_cut))
            break;
        arena_release(q->mem, mark);
    }
    return true;
}

static void looked(struct lookup *q)
{
    struct outcome *o = q->args;
    struct call *c = o->call;
    struct node_request *wait;

    if (o->taken_json.len > 0) {
        answer_taken(c, o->signal_id, o->execution, o->taken_json, o->status);
    } else if (o->seq == 0 || status_is_terminal(o->status)) {
        answer_received(c, o->signal_id);
    } else if ((wait = call_request(c, NODE_WAIT, waited_for_outcome)) != NULL) {
        wait->idempotency = (struct idempotency){0};
        wait->owner = o;
        wait->execution = o->execution;
        wait->signal_seq = o->seq;
        wait->wait_us = o->wait_us;
        call_submit(c, wait);
    }
}

static void look(struct outcome *o)
{
    lookup_start(o->call, o, run_look, looked);
}

/* It was received before: what became of it then, or becomes of it now? */
static void look_for_outcome(struct call *c, const struct node_request *r, struct str signal_id)
{
    struct outcome *o = ARENA_NEW(c->mem, struct outcome);

    *o = (struct outcome){
        .call = c, .execution = r->execution, .signal_id = signal_id, .wait_us = r->wait_us};
    look(o);
}

/* The Idempotency-Key was used before. */
static void repeated_signal(struct call *c, const struct node_request *r)
{
    struct value before, id = value_absent();
    struct err err;

    if (r->wait_us > 0 && json_read(c->mem, r->stored_answer, &before, &err) &&
        before.kind == VALUE_MAP)
        id = value_map_get_str(before, STR("id"));
    if (id.kind == VALUE_STRING)
        look_for_outcome(c, r, value_text(id));
    else
        call_answer_again(c, r->stored_status, r->stored_answer);
}

void executions_signalled(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok)
        refuse_request(c, r);
    else if (r->stored_status != 0)
        repeated_signal(c, r);
    else if (r->taken_json.len > 0)
        answer_taken(c, r->signal_id_out, r->execution, r->taken_json, r->taken_status);
    else if (r->wait_us > 0 && r->taken_before)
        look_for_outcome(c, r, r->signal_id_out);
    else
        answer_received(c, r->signal_id_out);
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

    if (!call_execution_id(c, &execution) || !call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    if (type.len == 0 || type.len > SIGNAL_TYPE_LEN_MAX)
        call_refuse_field(c, "type", "bad_value", "type has from 1 to 255 bytes");
    else if (id.kind == VALUE_STRING && (id.len == 0 || id.len > SIGNAL_ID_LEN_MAX))
        call_refuse_field(c, "id", "bad_value", "id has from 1 to 255 bytes");
    else if ((r = call_request(c, NODE_SIGNAL, executions_signalled)) != NULL &&
             call_wait(c, &r->wait_us)) {
        r->execution = execution;
        r->signal_type = value_text(type);
        r->signal_id = id.kind == VALUE_STRING ? value_text(id) : STR_NONE;
        r->payload = payload.kind == VALUE_ABSENT ? value_null() : payload;
        r->signal_by = call_by(c);
        call_audit_signal(c, r);
        call_submit(c, r);
    }
}
