/*
 * scenarios_change.c - saving, deleting and publishing definitions of scenarios.
 *
 * Checking a definition takes longer than the loop has time, so each call first
 * runs on a reader thread; what it found goes to the node, which makes it
 * durable. What is published is the text that was checked.
 */
#include "api/api.h"
#include "api/query.h"
#include "api/repeat.h"
#include "value/json.h"
#include "value/object.h"

#define KIND STR("scenario")

/* What is known of a definition after it was checked. */
struct checked {
    struct str text;
    struct str name;
    bool is_valid;
    bool was_found; /* publish: there is a draft */
    struct str errors_json;
    struct findings findings;
    struct idempotency idempotency;
    int64_t if_match;
    struct str summary;
};

/* --- checking, on a reader thread --- */

static void add_finding(struct arena *mem, struct checked *k, const char *pointer, const char *code,
                        struct str message)
{
    *VEC_ADD(mem, &k->findings) =
        (struct finding){.pointer = str_of(pointer), .code = str_of(code), .message = message};
}

/* The code in the definition is the one in the path. */
static void check_code(struct arena *mem, struct checked *k, struct value definition,
                       struct str code)
{
    struct value own = value_map_get_str(definition, STR("code"));

    if (own.kind == VALUE_STRING && !str_eq(value_text(own), code))
        add_finding(mem, k, "/code", "bad_code",
                    str_printf(mem, "the definition calls itself '%.*s' and is saved as '%.*s'",
                               STR_ARG(value_text(own)), STR_ARG(code)));
}

static bool check(struct query *q, struct checked *k, struct err *err)
{
    struct str code = q->call->params[0];
    struct value definition, name;
    const struct program *program = NULL;
    struct buf json;

    if (!json_read(q->mem, k->text, &definition, err))
        return false;
    if (definition.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "a definition is a JSON object");
    name = value_map_get_str(definition, STR("name"));
    k->name = name.kind == VALUE_STRING ? value_text(name) : STR_NONE;
    check_code(q->mem, k, definition, code);
    define_compile_scenario(q->mem, define_env(q->mem), definition, 0, &k->findings, &program);
    if (program != NULL)
        program_release(program);
    k->is_valid = !findings_have_errors(&k->findings);
    buf_init_arena(&json, q->mem);
    if (!json_write(&json, findings_value(q->mem, &k->findings), err))
        return false;
    k->errors_json = buf_view(&json);
    return true;
}

/* --- what all changes share --- */

/* If-Match: "3" as in ETag, or 3; If-None-Match: * when there must be no draft. */
static bool read_if_match(struct call *c, int64_t *out)
{
    struct str text = http_header(c->http, "If-Match");

    *out = -1;
    if (text.len == 0) {
        if (str_eq(http_header(c->http, "If-None-Match"), STR("*")))
            *out = 0;
        return true;
    }
    if (str_starts_with(text, STR("W/")))
        text = str_slice(text, 2, text.len);
    if (text.len > 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"')
        text = str_slice(text, 1, text.len - 1);
    if (str_to_int64(text, out) && *out > 0)
        return true;
    call_refuse_text(c, ERR_PRECONDITION_FAILED,
                     "If-Match is the ETag of the draft, a number in quotes");
    return false;
}

static bool is_code(struct str code)
{
    if (code.len == 0 || code.len > 100 || code.ptr[0] < 'a' || code.ptr[0] > 'z')
        return false;
    for (size_t i = 0; i < code.len; i++) {
        char ch = code.ptr[i];
        if (!(ch >= 'a' && ch <= 'z') && !(ch >= '0' && ch <= '9') && ch != '_')
            return false;
    }
    return true;
}

static const char *const audit_actions[] = {
    [DEFINITION_SAVE_DRAFT] = "scenario.draft",
    [DEFINITION_DELETE_DRAFT] = "scenario.draft_delete",
    [DEFINITION_PUBLISH] = "scenario.publish",
};

/* A change of this call's definition, to be submitted. */
static struct node_request *new_change(struct call *c, enum definition_action action,
                                       const struct checked *k,
                                       void (*done)(struct node_request *r))
{
    struct node_request *r = call_request(c, NODE_DEFINITION, done);

    if (r == NULL)
        return NULL;
    r->definition = (struct definition_change){
        .action = action,
        .kind = KIND,
        .code = c->params[0],
        .name = k->name,
        .text = k->text,
        .summary = k->summary,
        .user_id = c->user.id,
        .if_match = k->if_match,
        .now_us = api_now_us(c->api),
    };
    call_audit(c, r, audit_actions[action], r->definition.code, STR_NONE);
    return r;
}

/* `"version":N}` ends the answer: the store adds it to the one that it keeps. */
static struct str with_version(struct call *c, struct str beginning, int64_t version)
{
    return str_printf(c->mem, "%.*s\"version\":%lld}", STR_ARG(beginning), (long long)version);
}

static void answer_change(struct call *c, const struct node_request *r, bool is_draft)
{
    struct str json;
    struct http_header etag = {"ETag", NULL};

    if (!r->ok) {
        call_refuse_with(c, &r->err, &r->findings, STR_NONE);
        return;
    }
    if (r->stored_status != 0) {
        call_answer_again(c, r->stored_status, r->stored_answer);
        return;
    }
    json = with_version(c, r->idempotency.answer, r->definition.version);
    etag.value = str_printf(c->mem, "\"%lld\"", (long long)r->definition.version).ptr;
    call_answer_headers(c, 200, json, &etag, is_draft);
}

/* --- saving a draft --- */

static bool run_save(struct query *q, struct reader *reader, struct err *err)
{
    (void)reader;
    return check(q, q->args, err);
}

static void saved(struct node_request *r)
{
    answer_change(r->owner, r, true);
}

static void save(struct query *q)
{
    const struct checked *k = q->args;
    struct node_request *r = new_change(q->call, DEFINITION_SAVE_DRAFT, k, saved);
    struct buf answer;

    if (r == NULL)
        return;
    buf_init_arena(&answer, q->mem);
    buf_char(&answer, '{');
    object_text(&answer, "code", r->definition.code);
    object_bool(&answer, "valid", k->is_valid);
    object_json(&answer, "errors", k->errors_json);
    buf_char(&answer, ',');
    r->idempotency.status = 200;
    r->idempotency.answer = buf_view(&answer);
    call_submit(q->call, r);
}

void scenarios_save_draft(struct call *c)
{
    struct checked *k = ARENA_NEW(c->mem, struct checked);

    k->text = c->http->body;
    if (!is_code(c->params[0]))
        call_refuse_text(c, ERR_INVALID,
                         "a code is a small letter, then up to 99 small letters, digits and _");
    else if (read_if_match(c, &k->if_match))
        query_start(c, k, run_save, save);
}

/* --- deleting a draft --- */

static void deleted(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok && r->err.code == ERR_NOT_FOUND)
        call_refuse_text(c, ERR_NOT_FOUND, "there is no draft of this code");
    else if (!r->ok)
        call_refuse(c, &r->err);
    else
        call_answer_nothing(c);
}

void scenarios_delete_draft(struct call *c)
{
    struct checked k = {0};
    struct node_request *r;

    if (!read_if_match(c, &k.if_match))
        return;
    r = new_change(c, DEFINITION_DELETE_DRAFT, &k, deleted);
    if (r == NULL)
        return;
    r->idempotency.status = 204;
    call_submit(c, r);
}

/* --- publishing --- */

static bool run_publish(struct query *q, struct reader *reader, struct err *err)
{
    struct checked *k = q->args;
    struct stored_definition draft;

    if (!read_definition(reader, q->mem, KIND, q->call->params[0], 0, &draft, &k->was_found, err))
        return false;
    if (!k->was_found)
        return true;
    k->text = draft.text;
    return check(q, k, err);
}

static void published(struct node_request *r)
{
    answer_change(r->owner, r, false);
}

static void publish(struct query *q)
{
    struct checked *k = q->args;
    struct call *c = q->call;
    struct node_request *r;
    struct err err;

    r = new_change(c, DEFINITION_PUBLISH, k, published);
    if (r == NULL)
        return;
    if (k->was_found && !k->is_valid) {
        (void)err_set(&err, ERR_INVALID, "the draft cannot be published: %.*s",
                      STR_ARG(k->findings.items[0].message));
        repeat_or_refuse(c, &r->idempotency, &err, &k->findings, STR_NONE);
        return;
    }
    if (!k->was_found) {
        (void)err_set(&err, ERR_NOT_FOUND, "there is no draft to be published; save one first");
        repeat_or_refuse(c, &r->idempotency, &err, NULL, STR_NONE);
        return;
    }
    r->idempotency.status = 200;
    r->idempotency.answer = str_printf(c->mem, "{\"code\":\"%.*s\",", STR_ARG(c->params[0]));
    call_submit(c, r);
}

void scenarios_publish(struct call *c)
{
    struct checked *k = ARENA_NEW(c->mem, struct checked);
    struct value summary;
    const struct body_field fields[] = {{"changeSummary", BODY_TEXT, false, &summary}};

    if (!is_code(c->params[0])) {
        call_refuse_text(c, ERR_NOT_FOUND, "there is no scenario of this code");
        return;
    }
    if (!call_body(c, fields, 1))
        return;
    k->if_match = -1;
    k->summary = summary.kind == VALUE_STRING ? value_text(summary) : STR_NONE;
    query_start(c, k, run_publish, publish);
}
