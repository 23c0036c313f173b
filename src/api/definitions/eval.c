/*
 * eval.c - POST /eval: the values of expressions in a context that is sent, or in that of an
 * execution, which stays on the server.
 *
 * One expression is answered with its value or refused. Of several, each has its
 * value or its error. All of them together have the budget of one evaluation, and
 * what is sensitive in an execution is hidden from them.
 */
#include "api/api.h"
#include "api/context.h"
#include "api/definitions/worlds.h"
#include "cel/cel.h"
#include "value/json.h"
#include "value/object.h"
#include "words/words.h"

enum {
    VALUE_JSON_MAX = 8 << 20, /* bytes of JSON that the values may have */
    EVAL_ITEMS_MAX = 200,
};

struct eval_body {
    struct value expression, context, items, execution, at;
};

/* What expressions are evaluated with. */
struct evaluation {
    struct lookup *q;
    const struct cel_env *env;
    struct cel_activation activation;
    struct cel_limits left;
    struct {
        VEC_OF(const struct cel_program *);
    } programs; /* values may point into them */
};

/* --- evaluating --- */

static void evaluation_begin(struct evaluation *e, struct lookup *q,
                             const struct cel_env *functions, struct value context)
{
    struct cel_env *env = cel_env_extend(q->mem, functions);
    struct value *slots = ARENA_ARRAY(q->mem, context.len + 1, struct value);
    const int64_t *now_us = q->args;

    cel_env_members(env, context, slots);
    *e = (struct evaluation){
        .q = q,
        .env = env,
        .activation = {.slots = slots, .root = context, .now_us = *now_us},
        .left = cel_default_limits,
    };
    q->answer.limit = VALUE_JSON_MAX;
}

static void evaluation_end(struct evaluation *e)
{
    for (size_t i = 0; i < e->programs.count; i++)
        cel_program_release(e->programs.items[i]);
}

/* An expression, or with is_value a text as definitions write values. *type may be "dyn". */
static bool evaluate_text(struct evaluation *e, struct str source, bool is_value, struct value *out,
                          struct str *type, struct err *error)
{
    const struct cel_options options = {.facts = CEL_FACTS_CERTAIN};
    struct arena *mem = e->q->mem;
    const struct cel_program *program;
    uint32_t line, column;

    if (!(is_value ? cel_compile_value(mem, e->env, source, &options, &program, error)
                   : cel_compile(mem, e->env, source, &options, &program, error)))
        return false;
    *VEC_ADD(mem, &e->programs) = program;
    *type = cel_program_type(program);
    *out = cel_evaluate_within(mem, program, &e->activation, &e->left);
    if (out->kind != VALUE_ERROR)
        return true;
    cel_place(source, out->error->offset, &line, &column);
    return err_set_at(error, out->error->code, line, column, "%pS",
                      SENTENCE_ARG(value_sentence(*out)));
}

/* A value as definitions write it: texts anywhere in it may be expressions. At most JSON_DEPTH_MAX deep. */
static bool evaluate_value(struct evaluation *e, struct value written, struct value *out,
                           struct err *error)
{
    struct arena *mem = e->q->mem;
    size_t duplicate;
    struct str type;

    *out = written;
    if (written.kind == VALUE_STRING)
        return evaluate_text(e, value_text(written), true, out, &type, error);
    if (written.kind == VALUE_LIST) {
        struct value *items = ARENA_ARRAY(mem, written.len + 1u, struct value);

        for (uint32_t i = 0; i < written.len; i++)
            if (!evaluate_value(e, written.items[i], &items[i], error))
                return false;
        *out = value_list(items, written.len);
    } else if (written.kind == VALUE_MAP) {
        struct value_entry *entries = ARENA_ARRAY(mem, written.len + 1u, struct value_entry);

        for (uint32_t i = 0; i < written.len; i++) {
            entries[i].key = written.map->entries[i].key;
            if (!evaluate_value(e, written.map->entries[i].value, &entries[i].value, error))
                return false;
        }
        *out = value_map_make(mem, entries, written.len, &duplicate);
    }
    return true;
}

/* Append {"value", "type"}. False: the value is too large, and nothing is appended. */
static bool eval_write(struct evaluation *e, struct value v, struct str type, struct err *error)
{
    struct buf *out = &e->q->answer;
    size_t from = out->len;

    buf_text(out, "{\"value\":");
    if (!json_write(out, v, error)) {
        out->len = from;
        out->failed = false;
        error->line = error->column = 1;
        return false;
    }
    /* Where the checker does not know the type, the value has it. */
    object_text(out, "type",
                str_eq(type, STR("dyn")) ? str_of(value_kind_name((enum value_kind)v.kind)) : type);
    buf_char(out, '}');
    return true;
}

/* --- one --- */

static bool eval_one(struct evaluation *e, struct str source, struct err *err)
{
    struct lookup *q = e->q;
    struct str type;
    struct value v;

    if (evaluate_text(e, source, false, &v, &type, err) && eval_write(e, v, type, err))
        return true;
    body_finding(q->mem, &q->findings, "expression", err_code_name(err->code), "%pS", ERR_ARG(err));
    q->findings.items[0].column = err->column;
    return false;
}

/* --- several --- */

static bool refuse_item(struct lookup *q, uint32_t i, struct err *err)
{
    body_finding(q->mem, &q->findings, "items", "bad_value",
                 "item %u is {\"expression\": text} or {\"value\": any}", i + 1);
    return err_set(err, ERR_INVALID,
                   "items is a list of {\"expression\": text} or {\"value\": any}");
}

static void eval_write_error(struct evaluation *e, const struct err *error)
{
    struct lookup *q = e->q;

    object_nested(&q->answer, "error");
    object_text(&q->answer, "code", str_of(err_code_name(error->code)));
    object_text(&q->answer, "message",
                words_say(q->mem, call_language(q->call), err_sentence(error)));
    if (error->column > 0)
        object_int(&q->answer, "column", error->column);
    buf_text(&q->answer, "}}");
}

static bool eval_item(struct evaluation *e, struct value item, uint32_t i, struct err *err)
{
    struct value expression = value_map_member(item, STR("expression"));
    struct value written = value_map_member(item, STR("value")), v;
    bool is_expression = expression.kind == VALUE_STRING;
    struct str type = STR("dyn");
    struct err error;

    if (item.kind != VALUE_MAP || item.len != 1 || (!is_expression && written.kind == VALUE_ABSENT))
        return refuse_item(e->q, i, err);
    object_next(&e->q->answer);
    if ((is_expression ? evaluate_text(e, value_text(expression), false, &v, &type, &error)
                       : evaluate_value(e, written, &v, &error)) &&
        eval_write(e, v, type, &error))
        return true;
    buf_char(&e->q->answer, '{');
    eval_write_error(e, &error);
    return true;
}

static bool eval_several(struct evaluation *e, struct value items, struct err *err)
{
    buf_text(&e->q->answer, "{\"items\":[");
    for (uint32_t i = 0; i < items.len; i++)
        if (!eval_item(e, items.items[i], i, err))
            return false;
    buf_text(&e->q->answer, "]}");
    return !e->q->answer.failed || err_set(err, ERR_TOO_LARGE, "the values are too large");
}

/* --- the request --- */

static bool refuse_eval(struct lookup *q, const char *field, const char *code, const char *message,
                        struct err *err)
{
    body_finding(q->mem, &q->findings, field, code, "%s", message);
    return err_set(err, ERR_INVALID, "%s", message);
}

/* Which of the two requests it is, and what belongs to each. */
static bool eval_check(struct lookup *q, const struct eval_body *b, struct err *err)
{
    bool has_items = b->items.kind != VALUE_ABSENT && b->items.kind != VALUE_NULL;

    if (has_items == (b->expression.kind == VALUE_STRING))
        return refuse_eval(q, "expression", has_items ? "bad_value" : "missing_field",
                           "give either expression, a text, or items, a list", err);
    if (has_items && (b->items.kind != VALUE_LIST || b->items.len > EVAL_ITEMS_MAX))
        return refuse_eval(q, "items", "bad_value", "items is a list of at most 200", err);
    if (b->execution.kind == VALUE_STRING && b->context.kind == VALUE_MAP)
        return refuse_eval(q, "context", "bad_value",
                           "give either context or executionId, not both", err);
    if (b->execution.kind == VALUE_STRING && !has_items)
        return refuse_eval(q, "executionId", "bad_value", "executionId is for items", err);
    if (b->at.kind == VALUE_STRING && b->execution.kind != VALUE_STRING)
        return refuse_eval(q, "at", "bad_value", "at is a step of executionId", err);
    return true;
}

static bool eval_context(struct lookup *q, struct reader *reader, const struct eval_body *b,
                         struct value *out, struct err *err)
{
    bool has_at = b->at.kind == VALUE_STRING;
    struct uuid id, at;
    struct str json;

    *out = b->context.kind == VALUE_MAP ? b->context : value_map_empty();
    if (b->execution.kind != VALUE_STRING)
        return true;
    if (!uuid_read(value_text(b->execution), &id))
        return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
    if (has_at && !uuid_read(value_text(b->at), &at))
        return err_set(err, ERR_NOT_FOUND, "`at` is the id of a step, as /steps shows it");
    if (!context_read(q, reader, id, has_at ? &at : NULL, &json, err) ||
        !json_read(q->mem, json, out, err))
        return false;
    if (out->kind != VALUE_MAP)
        *out = value_map_empty();
    return true;
}

static bool run_eval(struct lookup *q, struct reader *reader, struct err *err)
{
    struct eval_body b = {0};
    const struct body_field fields[] = {
        {"expression", BODY_TEXT, false, .out = &b.expression},
        {"context", BODY_OBJECT, false, .out = &b.context},
        {"items", BODY_ANY, false, .out = &b.items},
        {"executionId", BODY_TEXT, false, .out = &b.execution},
        {"at", BODY_TEXT, false, .out = &b.at},
    };
    struct worlds *worlds = api_parts(q->call->api)->worlds;
    struct kept_world *lease;
    struct evaluation e;
    struct value context;
    struct world w;
    bool ok;

    if (!body_read(q->mem, q->call->http->body, fields, ARRAY_SIZE(fields), &q->findings, err) ||
        !eval_check(q, &b, err) || !eval_context(q, reader, &b, &context, err) ||
        !worlds_lend(worlds, reader, q->mem, &w, &lease, err))
        return false;
    evaluation_begin(&e, q, w.plain, context);
    ok = b.expression.kind == VALUE_STRING ? eval_one(&e, value_text(b.expression), err)
                                           : eval_several(&e, b.items, err);
    evaluation_end(&e);
    worlds_return(worlds, lease);
    return ok;
}

void check_eval(struct call *c)
{
    int64_t *now_us = ARENA_NEW(c->mem, int64_t);

    *now_us = api_now_us(c->api);
    lookup_start(c, now_us, run_eval, NULL);
}
