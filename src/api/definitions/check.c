/* check.c - looking at definitions and expressions without keeping them. */
#include "api/api.h"
#include "api/definitions/worlds.h"
#include "api/problem.h"
#include "cel/cel.h"
#include "value/json.h"
#include "value/object.h"

/* Bytes of JSON that the value of an expression may have. */
enum { VALUE_JSON_MAX = 8 << 20 };

/* --- definitions --- */

static bool refuse_kind(struct lookup *q, struct str name, struct err *err)
{
    const struct kind_spec *spec = kind_named(name);
    struct str nearest = kind_nearest(name);
    struct sentence message;

    message =
        spec != NULL && spec->state == KIND_LATER
            ? sentence_make(q->mem, "definitions of kind %s are not supported yet", spec->name)
        : name.len > 0 ? sentence_make(q->mem, "there is no kind '%.*s'", STR_ARG(name))
                       : SENTENCE("what is this? A scenario has 'steps', a procedure 'commands'; "
                                  "anything else needs its 'kind'");
    body_finding(q->mem, &q->findings, "kind", spec != NULL ? "not_supported_yet" : "bad_value",
                 "%pS", SENTENCE_ARG(message));
    if (spec == NULL)
        body_hint(q->mem, &q->findings, nearest);
    return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(message));
}

/* The kind that was given, else the one that the definition shows. */
static const struct kind_spec *find_kind(struct lookup *q, struct value kind,
                                         struct value definition, struct err *err)
{
    const struct kind_spec *spec =
        kind.kind == VALUE_STRING ? kind_named(value_text(kind)) : kind_of(definition);

    if (spec != NULL && spec->state == KIND_NOW)
        return spec;
    (void)refuse_kind(q, value_text_or(kind, spec != NULL ? str_of(spec->name) : STR_NONE), err);
    return NULL;
}

static bool run_validate(struct lookup *q, struct reader *reader, struct err *err)
{
    struct value kind, definition;
    const struct body_field fields[] = {{"kind", BODY_TEXT, false, .out = &kind},
                                        {"definition", BODY_OBJECT, true, .out = &definition}};
    struct definition_item item = {.code = STR("validated")};
    struct findings findings = {0};
    struct worlds *worlds = api_parts(q->call->api)->worlds;
    struct kept_world *lease;
    struct world w;

    if (!body_read(q->mem, q->call->http->body, fields, 2, &q->findings, err))
        return false;
    item.spec = find_kind(q, kind, definition, err);
    if (item.spec == NULL || !worlds_lend(worlds, reader, q->mem, &w, &lease, err))
        return false;
    item.definition = definition;
    if (item.spec->life == KIND_STAGED ||
        definitions_take_live(q->mem, item.spec, definition, &item, &findings))
        world_check_apart(&w, item.spec->kind, item.code, item.definition, &findings);
    worlds_return(worlds, lease);
    findings_locate_json(q->mem, q->call->http->body, STR("/definition"), &findings);
    buf_char(&q->answer, '{');
    object_bool(&q->answer, "valid", !findings_have_errors(&findings));
    object_name(&q->answer, "errors");
    json_must_write(&q->answer, problem_findings(q->mem, call_language(q->call), &findings));
    buf_char(&q->answer, '}');
    return true;
}

void check_validate(struct call *c)
{
    lookup_start(c, NULL, run_validate, NULL);
}

/* --- expressions --- */

static bool refuse_expression(struct lookup *q, enum err_code code, uint32_t line, uint32_t column,
                              struct sentence message, struct err *err)
{
    body_finding(q->mem, &q->findings, "expression", err_code_name(code), "%pS",
                 SENTENCE_ARG(message));
    q->findings.items[0].column = column;
    return err_set_at(err, code, line, column, "%pS", SENTENCE_ARG(message));
}

/* Every member of the context is a variable if its name can be one; `$` is all of it. */
static void declare(struct cel_env *env, struct value context, struct value *slots)
{
    struct err err;
    uint32_t slot;

    cel_env_open_root(env);
    for (uint32_t i = 0; i < context.len; i++) {
        const struct value_entry *e = &context.map->entries[i];
        if (cel_env_variable(env, value_text(e->key), STR("dyn"), &slot, &err))
            slots[slot] = e->value;
    }
}

static bool write_value(struct lookup *q, const struct cel_program *program, struct value v,
                        struct err *err)
{
    struct str type = cel_program_type(program);

    q->answer.limit = VALUE_JSON_MAX;
    buf_text(&q->answer, "{\"value\":");
    if (!json_write(&q->answer, v, err))
        return refuse_expression(q, err->code, 1, 1, err_sentence(err), err);
    /* Where the checker does not know the type, the value has it. */
    object_text(&q->answer, "type",
                str_eq(type, STR("dyn")) ? str_of(value_kind_name((enum value_kind)v.kind)) : type);
    buf_char(&q->answer, '}');
    return true;
}

static bool evaluate(struct lookup *q, const struct cel_env *functions, struct str source,
                     struct value context, struct err *err)
{
    const int64_t *now_us = q->args;
    struct cel_env *env = cel_env_extend(q->mem, functions);
    struct value *slots = ARENA_ARRAY(q->mem, context.len + 1, struct value);
    struct cel_activation activation = {.slots = slots, .root = context, .now_us = *now_us};
    const struct cel_options options = {.facts = CEL_FACTS_CERTAIN};
    const struct cel_program *program;
    struct value v;
    bool ok;

    declare(env, context, slots);
    if (!cel_compile(q->mem, env, source, &options, &program, err))
        return refuse_expression(q, err->code, err->line, err->column, err_sentence(err), err);
    v = cel_evaluate(q->mem, program, &activation, NULL);
    if (v.kind == VALUE_ERROR) {
        uint32_t line, column;
        cel_place(source, v.error->offset, &line, &column);
        ok = refuse_expression(q, v.error->code, line, column, value_sentence(v), err);
    } else {
        ok = write_value(q, program, v, err);
    }
    cel_program_release(program);
    return ok;
}

static bool run_eval(struct lookup *q, struct reader *reader, struct err *err)
{
    struct value expression, context;
    const struct body_field fields[] = {{"expression", BODY_TEXT, true, .out = &expression},
                                        {"context", BODY_OBJECT, false, .out = &context}};

    struct worlds *worlds = api_parts(q->call->api)->worlds;
    struct kept_world *lease;
    struct world w;
    bool ok;

    if (!body_read(q->mem, q->call->http->body, fields, 2, &q->findings, err) ||
        !worlds_lend(worlds, reader, q->mem, &w, &lease, err))
        return false;
    ok = evaluate(q, w.plain, value_text(expression),
                  context.kind == VALUE_MAP ? context : value_map_empty(), err);
    worlds_return(worlds, lease);
    return ok;
}

void check_eval(struct call *c)
{
    int64_t *now_us = ARENA_NEW(c->mem, int64_t);

    *now_us = api_now_us(c->api);
    lookup_start(c, now_us, run_eval, NULL);
}
