/* scenario.c - a scenario as a whole: from a definition to a program. */
#include "define/access.h"
#include "define/compile.h"

static const struct field_spec scenario_fields[] = {
    {"code", STATE_NOW},       {"name", STATE_NOW},        {"description", STATE_NOW},
    {"input", STATE_NOW},      {"steps", STATE_NOW},       {"onError", STATE_NOW},
    {"settings", STATE_NOW},   {"result", STATE_NOW},      {"access", STATE_NOW},
    {"meta", STATE_NOW},       {"version", STATE_IGNORED}, {"procedures", STATE_LATER},
    {"triggers", STATE_LATER},
};

static const struct field_spec access_fields[] = {
    {"start", STATE_NOW},
    {"view", STATE_NOW},
    {"operate", STATE_NOW},
};

static const int64_t DEFAULT_TIMEOUT_US = INT64_C(30) * 86400 * 1000000;

static const struct retry DEFAULT_RETRY = {
    .max_attempts = 3,
    .delay_us = INT64_C(5) * 1000000,
    .backoff = 2,
    .max_delay_us = INT64_C(3600) * 1000000,
    .has_jitter = true,
};

static void compile_code(struct compiler *c, struct value definition, struct program *p)
{
    struct value v = compile_field(definition, "code");
    size_t outer;

    p->code = compile_text(c, definition, "code");
    if (v.kind == VALUE_ABSENT)
        compile_missing(c, "code");
    if (v.kind == VALUE_STRING) {
        outer = compile_enter(c, STR("code"));
        (void)compile_check_code(c, p->code);
        compile_leave(c, outer);
    }
}

/* A role, or "group:name". A role that does not exist lets nobody in, which is hardly meant. */
static void check_who(struct compiler *c, struct value v)
{
    struct str who;
    const char *nearest;
    enum role role;

    if (v.kind != VALUE_STRING) {
        compile_wrong_type(c, v, "a role, or \"group:name\"");
        return;
    }
    who = value_text(v);
    if (role_find(who, &role) || (str_starts_with(who, STR("group:")) && who.len > 6))
        return;
    nearest = role_nearest(who);
    compile_warning(c, FINDING_BAD_VALUE, "there is no role '%.*s'; a group is \"group:name\"",
                    STR_ARG(who));
    compile_did_you_mean(c, nearest != NULL ? str_of(nearest) : STR_NONE);
}

static void check_access(struct compiler *c, struct value access)
{
    size_t outer = compile_enter(c, STR("access"));

    if (compile_fields(c, access, access_fields, sizeof(access_fields) / sizeof(access_fields[0])))
        for (uint32_t i = 0; i < access.len; i++) {
            struct value list = access.map->entries[i].value;
            size_t field = compile_enter(c, value_text(access.map->entries[i].key));

            if (list.kind != VALUE_LIST)
                compile_wrong_type(c, list, "a list of roles and groups");
            for (uint32_t k = 0; list.kind == VALUE_LIST && k < list.len; k++) {
                size_t item = compile_enter_index(c, k);
                check_who(c, list.items[k]);
                compile_leave(c, item);
            }
            compile_leave(c, field);
        }
    compile_leave(c, outer);
}

static void compile_scenario(struct compiler *c, struct value definition, struct program *p)
{
    struct value v;
    size_t outer;
    int word;

    if (!compile_fields(c, definition, scenario_fields,
                        sizeof(scenario_fields) / sizeof(scenario_fields[0])))
        return;
    compile_code(c, definition, p);
    p->name = compile_text(c, definition, "name");
    if (p->name.len == 0)
        p->name = p->code;
    (void)compile_text(c, definition, "description");
    p->meta = compile_meta(c, definition);
    v = compile_field(definition, "input");
    if (v.kind != VALUE_ABSENT)
        compile_params(c, v, p);
    word = compile_word(c, definition, "onError", ON_ERROR_WORDS);
    if (word >= 0)
        p->on_error = (enum on_error)word;
    v = compile_field(definition, "settings");
    if (v.kind != VALUE_ABSENT)
        compile_settings(c, v, p);
    v = compile_field(definition, "access");
    if (v.kind != VALUE_ABSENT)
        check_access(c, v);
    p->access = v;
    compile_steps(c, compile_field(definition, "steps"), p);
    v = compile_field(definition, "result");
    if (v.kind != VALUE_ABSENT) {
        outer = compile_enter(c, STR("result"));
        p->result = compile_mapping(c, v);
        compile_leave(c, outer);
    }
}

void define_compile_scenario(struct arena *mem, const struct cel_env *base, struct value definition,
                             int64_t version, struct findings *findings, const struct program **out)
{
    struct program *p = ARENA_NEW(mem, struct program);
    struct compiler c;

    compiler_init(&c, mem, base, findings);
    *p = (struct program){.version = version,
                          .meta = value_map_empty(),
                          .on_error = ON_ERROR_COMPENSATE,
                          .timeout_us = DEFAULT_TIMEOUT_US,
                          .access = value_absent(),
                          .retry = DEFAULT_RETRY,
                          .env = base};
    compile_scenario(&c, definition, p);
    p->expressions = c.expressions.items;
    p->expression_count = (uint32_t)c.expressions.count;
    *out = p;
    if (c.has_errors) {
        program_release(p);
        *out = NULL;
    }
}
