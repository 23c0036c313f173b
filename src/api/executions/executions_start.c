/* executions_start.c - starting executions. */
#include "api/executions/executions_start.h"

#include "api/body.h"
#include "api/repeat.h"
#include "define/kind.h"
#include "engine/state.h"
#include "value/json.h"

static void answer_execution(struct call *c, int status, struct uuid id, struct str json)
{
    struct http_header location = {"Location", NULL};

    location.value = str_printf(c->mem, "/api/v1/executions/%s", UUID_STR(id).ptr).ptr;
    call_answer_headers(c, status, json, &location, 1);
}

/* A repeated start that wanted to wait: the execution is there, or has ended. */
static void waited_again(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok)
        repeat_or_refuse_of(c, r);
    else
        answer_execution(c, r->ended ? 200 : 202, r->execution, r->execution_json);
}

/* The Idempotency-Key was used before: the answer is that of then. */
static void repeated_start(struct call *c, const struct node_request *r)
{
    struct node_request *wait;
    struct uuid execution;
    struct value before;
    struct err err;

    if (!json_read(c->mem, r->stored_answer, &before, &err) ||
        !uuid_read(value_map_text(before, STR("id")), &execution)) {
        call_answer(c, 200, r->stored_answer);
        return;
    }
    if (r->wait_us == 0 || value_map_get_str(before, STR("completedAt")).kind == VALUE_STRING) {
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
        repeat_or_refuse_of(c, r);
    else if (r->stored_status != 0)
        repeated_start(c, r);
    else if (r->wait_us > 0 && !r->ended)
        answer_execution(c, 202, r->id, r->execution_json);
    else
        answer_execution(c, r->joined ? 200 : 201, r->id, r->execution_json);
}

/*
 * Which process is meant, by its code alone (*of is NULL) or by its kind too; refused when that is
 * not clear.
 */
static bool read_code(struct call *c, const struct value *code, const struct value *by_kind,
                      const enum kind *kinds, size_t count, struct str *out,
                      const struct kind_spec **of)
{
    const struct kind_spec *kind = NULL;

    *out = value_text_or(*code, STR_NONE);
    for (size_t i = 0; i < count; i++) {
        if (by_kind[i].kind != VALUE_STRING)
            continue;
        if (kind != NULL || code->kind == VALUE_STRING)
            return call_refuse_field(
                c, kind_spec(kinds[i])->name, "bad_value",
                "one of code, scenario, schema and machine says what is started");
        kind = kind_spec(kinds[i]);
        *out = value_text(by_kind[i]);
    }
    if (kind != NULL && kind->state != KIND_NOW)
        return call_refuse_field(c, kind->name, "not_supported_yet",
                                 "definitions of kind %s are not supported yet", kind->name);
    if (out->len == 0)
        call_refuse_field(c, "code", "missing_field", "code is missing: what is to be started?");
    *of = kind;
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
        if (k == ARRAY_SIZE(fields) && !str_eq(name, STR("payload")))
            return call_refuse_field(c, "webhook", "unknown_field",
                                     "webhook has payload, headers, query, method and path");
        if (k < ARRAY_SIZE(fields) && v.kind != fields[k].kind)
            return call_refuse_field(c, str_printf(c->mem, "webhook/%s", fields[k].name).ptr,
                                     "wrong_type", "%s must be %s", fields[k].name,
                                     fields[k].wanted);
    }
    return true;
}

void executions_start(struct call *c)
{
    static const enum kind kinds[] = {KIND_SCENARIO, KIND_SCHEMA, KIND_MACHINE};
    struct value code, by_kind[3], version, input, key, debug, breakpoints, webhook;
    const struct body_field fields[] = {
        {"code", BODY_TEXT, false, .out = &code},
        {kind_spec(kinds[0])->name, BODY_TEXT, false, .out = &by_kind[0]},
        {kind_spec(kinds[1])->name, BODY_TEXT, false, .out = &by_kind[1]},
        {kind_spec(kinds[2])->name, BODY_TEXT, false, .out = &by_kind[2]},
        {"version", BODY_INT, false, .out = &version},
        {"input", BODY_OBJECT, false, .out = &input},
        {"key", BODY_TEXT, false, .out = &key},
        {"debug", BODY_BOOL, false, .out = &debug},
        {"breakpoints", BODY_IDS, false, .out = &breakpoints},
        {"webhook", BODY_OBJECT, false, .out = &webhook},
    };
    const struct kind_spec *kind = NULL;
    struct node_request *r;
    struct str name;

    if (!call_body(c, fields, ARRAY_SIZE(fields)) ||
        !read_code(c, &code, by_kind, kinds, ARRAY_SIZE(kinds), &name, &kind))
        return;
    if (version.kind == VALUE_INT && version.i < 1)
        call_refuse_field(c, "version", "bad_value", "version is a number from 1 on");
    else if (key.kind == VALUE_STRING && state_key_mistake(value_text(key)) != NULL)
        call_refuse_field(c, "key", "bad_value", "%s", state_key_mistake(value_text(key)));
    else if (!check_webhook(c, webhook))
        return;
    else if ((r = call_request(c, NODE_START, executions_started)) != NULL &&
             call_wait(c, &r->wait_us)) {
        r->code = name;
        r->process_kind = kind;
        r->version = version.kind == VALUE_INT ? version.i : 0;
        r->event.input = input.kind == VALUE_MAP ? input : value_map_empty();
        r->webhook = webhook;
        r->is_debugged = value_is_true(debug);
        r->breakpoints = breakpoints;
        r->key = value_text_or(key, STR_NONE);
        r->trace = call_trace(c);
        call_submit(c, r);
    }
}
