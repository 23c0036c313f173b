/* check.c - looking at definitions without keeping them. */
#include "api/api.h"
#include "api/definitions/worlds.h"
#include "api/problem.h"
#include "value/json.h"
#include "value/object.h"

static bool refuse_kind(struct lookup *q, struct str name, struct err *err)
{
    const struct kind_spec *spec = kind_named(name);
    struct str nearest = kind_nearest(name);
    struct sentence message;

    message =
        spec != NULL && spec->state == KIND_LATER
            ? sentence_make(q->mem, "definitions of kind %s are not supported yet", spec->name)
        : name.len > 0 ? sentence_make(q->mem, "there is no kind '%.*s'", STR_ARG(name))
                       : SENTENCE("what is this? A scenario has 'steps', a schema 'nodes', a "
                                  "machine 'states', a procedure 'commands'; "
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
