/* scenario.c - definitions as a whole: from a scenario, or a procedure, to a program. */
#include "define/compile/scenario.h"
#include "define/access.h"
#include "define/compile/compile.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"
#include "define/compile/param.h"
#include "define/facts.h"
#include "value/json.h"

enum { PROCEDURE_BYTES_MAX = 64 * 1024 };

static const int64_t DEFAULT_TIMEOUT_US = INT64_C(30) * 86400 * 1000000;

/* A role, or "group:name". A role that does not exist lets nobody in, which is hardly meant. */
static void check_who(struct compiler *c, struct value v)
{
    struct str who = value_text_or(v, STR_NONE);
    const char *nearest;
    enum role role;

    if (v.kind != VALUE_STRING) {
        compile_wrong_type(c, v, "a role, or \"group:name\"");
    } else if (who.len == 0 || str_eq(who, STR("group:"))) {
        compile_error(c, FINDING_BAD_VALUE, "this must be a role, or \"group:name\"");
    } else if (!str_starts_with(who, STR("group:")) && !role_find(who, &role)) {
        nearest = role_nearest(who);
        compile_warning(c, FINDING_BAD_VALUE, "there is no role '%.*s'; a group is \"group:name\"",
                        STR_ARG(who));
        compile_did_you_mean(c, nearest != NULL ? str_of(nearest) : STR_NONE);
    }
}

static void check_access(struct compiler *c, struct value access)
{
    size_t outer = compile_enter(c, STR("access"));

    if (compile_fields(c, access, TABLE_ACCESS))
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

void compile_process(struct compiler *c, struct value definition, enum field_table table,
                     struct program *p)
{
    struct params params;
    struct str start;
    struct value v;
    int word;

    p->code = compile_own_code(c, definition);
    p->name = compile_text(c, definition, "name");
    if (p->name.len == 0)
        p->name = p->code;
    (void)compile_text(c, definition, "description");
    p->meta = compile_meta(c, definition);
    p->declares_input = c->lists_input = compile_own_input(c, definition, &params);
    p->params = params.items;
    p->param_count = params.count;
    word = compile_word(c, table, definition, "onError");
    if (word >= 0)
        p->on_error = (enum on_error)word;
    v = compile_field(definition, "settings");
    if (v.kind != VALUE_ABSENT)
        compile_settings(c, v, p);
    if (word == ON_ERROR_RETRY && !p->retry_is_written)
        compile_warn_retry(c);
    v = compile_field(definition, "access");
    if (v.kind != VALUE_ABSENT)
        check_access(c, v);
    p->access = v;
    v = facts_triggers(c->mem, definition, &start);
    if (v.kind != VALUE_ABSENT && v.kind != VALUE_NULL)
        compile_triggers(c, v, start, p);
    c->retry = &p->retry;
}

void compile_scenario(struct compiler *c, struct value definition, struct program *p)
{
    struct value v;

    if (!compile_fields(c, definition, TABLE_SCENARIO))
        return;
    compile_process(c, definition, TABLE_SCENARIO, p);
    v = compile_field(definition, "procedures");
    if (v.kind != VALUE_ABSENT && v.kind != VALUE_NULL)
        library_add_local(c, v);
    compile_steps(c, compile_field(definition, "steps"), p);
    p->result = compile_mapping_of(c, definition, "result");
}

/* --- a procedure of the registry --- */

void compile_registered(struct compiler *c, struct value definition, struct program *p)
{
    struct procedure_unit *unit = ARENA_NEW(c->mem, struct procedure_unit);
    struct compiler inner;
    struct buf text;
    struct err err;

    p->code = definition.kind == VALUE_MAP ? compile_own_code(c, definition) : STR_NONE;
    if (definition.kind == VALUE_MAP && compile_field(definition, "code").kind == VALUE_ABSENT)
        compile_missing(c, "code");
    *unit = (struct procedure_unit){
        .definition = definition,
        .procedure = {.kind = PROCEDURE_REGISTRY, .name = p->code, .version = p->version}};
    /* One that calls itself finds this one. */
    if (p->code.len > 0)
        map_put(&c->library->shared, p->code, unit);
    *VEC_ADD(c->mem, &c->library->procedures) = &unit->procedure;
    compiler_branch(&inner, c, STR_NONE);
    library_compile_unit(&inner, unit);
    c->has_errors = c->has_errors || inner.has_errors;
    p->name = p->code;
    buf_init_arena(&text, c->mem);
    text.limit = PROCEDURE_BYTES_MAX;
    if (!json_write(&text, definition, &err))
        compile_error(c, FINDING_LIMIT_SIZE, "the definition of a procedure has at most %d KB",
                      PROCEDURE_BYTES_MAX / 1024);
}

/* --- any of them --- */

/* The steps by their codes: what is asked for with every row of history. */
static const struct map *index_steps(struct arena *mem, const struct program *p)
{
    struct map *by_code = ARENA_NEW(mem, struct map);

    map_init(by_code, mem);
    for (uint32_t i = 0; i < p->step_count; i++)
        if (p->steps[i].code.len > 0)
            map_put(by_code, p->steps[i].code, (void *)&p->steps[i]);
    return by_code;
}

typedef void compile_kind_fn(struct compiler *c, struct value definition, struct program *p);

#define compile_NONE NULL
static compile_kind_fn *const compilers[] = {
#define DEFINITION_KIND(symbol, name, path, shape, key, life, use, compiler, state)                \
    [KIND_##symbol] = compile_##compiler,
#include "define/kinds.def"
#undef DEFINITION_KIND
};
#undef compile_NONE

void define_compile(struct arena *mem, const struct cel_env *base, const struct registry *registry,
                    enum kind kind, struct value definition, int64_t version,
                    struct findings *findings, const struct program **out)
{
    struct program *p = ARENA_NEW(mem, struct program);
    struct cel_patterns *patterns = cel_patterns_new(mem);
    struct cel_env *env = cel_env_extend(mem, base);
    struct library *library = library_new(mem, env, registry);
    struct compiler c;

    cel_env_patterns(env, patterns);
    compiler_init(&c, mem, env, findings);
    c.library = library;
    *p = (struct program){.kind = kind,
                          .version = version,
                          .patterns = patterns,
                          .meta = value_map_empty(),
                          .on_error = ON_ERROR_COMPENSATE,
                          .timeout_us = DEFAULT_TIMEOUT_US,
                          .access = value_absent(),
                          .retry = retry_default,
                          .env = env};
    ASSERT(compilers[kind] != NULL);
    c.program = kind_spec(kind)->use == KIND_PROCESS ? p : NULL;
    c.is_stored = registry != NULL && registry->is_stored;
    c.rules = c.is_stored ? registry->rules : RULES_NEWEST;
    compilers[kind](&c, definition, p);
    library_finish(mem, library, p);
    p->by_code = index_steps(mem, p);
    *out = p;
    if (c.has_errors) {
        program_release(p);
        *out = NULL;
    }
}

void define_compile_scenario(struct arena *mem, const struct cel_env *base, struct value definition,
                             int64_t version, struct findings *findings, const struct program **out)
{
    define_compile(mem, base, NULL, KIND_SCENARIO, definition, version, findings, out);
}
