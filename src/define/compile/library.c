/*
 * library.c - what a program is made of beside its steps: procedures by name.
 *
 * Each is compiled once, when it is first named, and shared by all that call
 * it. While it is being compiled it is OPEN: who names it then calls itself.
 */
#include "define/compile/library.h"
#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/mapping.h"
#include "define/compile/param.h"
#include "define/compile/scenario.h"

/* What a named procedure sees of the context; the others are the process's. */
static const char procedure_roots[] =
    "input config user execution now response error warnings record";

struct library *library_new(struct arena *mem, const struct cel_env *base,
                            const struct registry *registry)
{
    struct library *l = ARENA_NEW(mem, struct library);

    l->base = base;
    l->registry = registry;
    map_init(&l->local, mem);
    map_init(&l->shared, mem);
    return l;
}

/* fn.NAME of every call, each once. */
static void library_collect_functions(struct arena *mem, struct library *l)
{
    struct map seen;

    map_init(&seen, mem);
    for (size_t i = 0; i < l->expressions.count; i++) {
        struct str name;
        bool is_new;

        for (uint32_t k = 0; (name = cel_program_call(l->expressions.items[i], k)).len > 0; k++) {
            if (!str_starts_with(name, STR("fn.")))
                continue;
            (void)map_add(&seen, name, &is_new);
            if (is_new)
                *VEC_ADD(mem, &l->functions) =
                    (struct pinned){.name = str_slice(name, 3, name.len)};
        }
    }
}

void library_finish(struct arena *mem, struct library *l, struct program *p)
{
    library_collect_functions(mem, l);
    p->procedures = l->procedures.items;
    p->procedure_count = (uint32_t)l->procedures.count;
    p->functions = l->functions.items;
    p->function_count = (uint32_t)l->functions.count;
    if (p->slot_count < l->slot_count)
        p->slot_count = l->slot_count;
}

/* The environment of named procedures: the slots of the roots, those that they do not see hidden. */
static const struct cel_env *library_named_env(struct compiler *c)
{
    struct library *l = c->library;

    if (l->named != NULL)
        return l->named;
    l->named = cel_env_extend(c->mem, l->base);
    for (size_t i = 0; i < ROOT_COUNT; i++) {
        struct str name = str_of(context_root_name((enum context_root)i));
        if (!catalog_has_word(STR(procedure_roots), name))
            cel_env_hide(l->named, name);
    }
    /* It may be what undoes a step. */
    (void)cel_env_show(l->named, str_of(context_root_name(ROOT_ERROR)));
    return l->named;
}

/* --- compiling one --- */

static void read_object(struct compiler *c, struct procedure_unit *unit)
{
    struct value v = unit->definition;
    size_t outer;

    (void)compile_fields(c, v, TABLE_PROCEDURE);
    (void)compile_text(c, v, "name");
    (void)compile_text(c, v, "description");
    (void)compile_meta(c, v);
    if (compile_field(v, "commands").kind == VALUE_ABSENT)
        return;
    outer = compile_enter(c, STR("commands"));
    scope_read(c, compile_field(v, "commands"), &unit->procedure);
    compile_leave(c, outer);
    unit->procedure.result = compile_mapping_of(c, v, "result");
}

void library_compile_unit(struct compiler *c, struct procedure_unit *unit)
{
    struct value v = unit->definition;
    struct compile_scope scope;
    struct params params = {0};

    unit->state = UNIT_OPEN;
    c->library->open++;
    c->env = library_named_env(c);
    c->unit = unit;
    if (v.kind == VALUE_MAP && !compile_has(v, "type"))
        unit->procedure.declares_input = compile_own_input(c, v, &params);
    unit->procedure.params = params.items;
    unit->procedure.param_count = params.count;
    scope_open(c, &scope);
    if (v.kind == VALUE_LIST || (v.kind == VALUE_MAP && compile_has(v, "type")))
        scope_read(c, v, &unit->procedure);
    else if (v.kind == VALUE_MAP)
        read_object(c, unit);
    else
        compile_wrong_type(c, v, "an object with 'commands', or a list of commands");
    scope_close(c, &scope, &unit->procedure);
    unit->tally = scope.tally;
    c->library->open--;
    unit->state = c->has_errors ? UNIT_BROKEN : UNIT_DONE;
}

/* --- the scenario's own --- */

static struct str local_path(struct compiler *c, const struct procedure_unit *unit)
{
    struct compiler place;

    compiler_branch(&place, c, STR("/procedures"));
    (void)compile_enter(&place, unit->procedure.name);
    return compile_pointer(&place);
}

static void compile_local(struct compiler *c, struct procedure_unit *unit)
{
    struct compiler inner;

    compiler_branch(&inner, c, local_path(c, unit));
    library_compile_unit(&inner, unit);
    c->has_errors = c->has_errors || inner.has_errors;
}

void library_add_local(struct compiler *c, struct value procedures)
{
    struct library *l = c->library;
    size_t outer = compile_enter(c, STR("procedures"));

    if (procedures.kind != VALUE_MAP)
        compile_wrong_type(c, procedures, "an object of procedures by name");
    else if (procedures.len > PROCEDURES_MAX)
        compile_error(c, FINDING_LIMIT_PROCEDURES, "a scenario has at most %d procedures",
                      PROCEDURES_MAX);
    for (uint32_t i = 0; procedures.kind == VALUE_MAP && i < procedures.len && i < PROCEDURES_MAX;
         i++) {
        struct str name = value_text(procedures.map->entries[i].key);
        struct procedure_unit *unit = ARENA_NEW(c->mem, struct procedure_unit);
        size_t inner = compile_enter(c, name);

        (void)compile_check_code(c, name);
        unit->definition = procedures.map->entries[i].value;
        unit->procedure = (struct procedure){.kind = PROCEDURE_LOCAL, .name = name};
        map_put(&l->local, name, unit);
        *VEC_ADD(c->mem, &l->procedures) = &unit->procedure;
        compile_leave(c, inner);
    }
    for (struct map_entry *e = map_next(&l->local, NULL); e != NULL; e = map_next(&l->local, e)) {
        struct procedure_unit *unit = e->ptr;
        if (unit->state == UNIT_NEW)
            compile_local(c, unit);
    }
    compile_leave(c, outer);
}

/* --- those of the registry, and external ones --- */

/* What is wrong in it stands in another definition: here it is one finding. */
static void compile_shared(struct compiler *c, struct procedure_unit *unit)
{
    struct findings findings = {0};
    struct compiler inner;

    compiler_branch(&inner, c, STR_NONE);
    inner.findings = &findings;
    inner.retry = &retry_default;
    inner.is_stored = unit->procedure.version > 0;
    inner.rules = inner.is_stored ? unit->rules : RULES_NEWEST;
    library_compile_unit(&inner, unit);
    for (size_t i = 0; i < findings.count; i++)
        if (!findings.items[i].is_warning) {
            compile_error(c, FINDING_BROKEN_PROCEDURE,
                          "version %lld of the procedure '%.*s' is not valid: %.*s: %pS",
                          (long long)unit->procedure.version, STR_ARG(unit->procedure.name),
                          STR_ARG(findings.items[i].pointer),
                          SENTENCE_ARG(findings.items[i].message));
            return;
        }
}

static struct procedure_unit *add_shared(struct compiler *c, struct str name,
                                         enum procedure_kind kind)
{
    struct procedure_unit *unit = ARENA_NEW(c->mem, struct procedure_unit);

    unit->procedure = (struct procedure){.kind = kind, .name = str_copy(c->mem, name)};
    unit->state = kind == PROCEDURE_EXTERNAL ? UNIT_DONE : UNIT_NEW;
    map_put(&c->library->shared, unit->procedure.name, unit);
    *VEC_ADD(c->mem, &c->library->procedures) = &unit->procedure;
    return unit;
}

/* Letters, digits, '_' and '-' between dots. */
static bool is_external_name(struct str name)
{
    bool is_start = true;

    if (name.len > EXTERNAL_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char x = name.ptr[i];

        if (x == '.' ? is_start : !ascii_is_letter_or_digit(x) && x != '_' && x != '-')
            return false;
        is_start = x == '.';
    }
    return !is_start;
}

static struct procedure_unit *find_external(struct compiler *c, struct str name)
{
    if (catalog_find(name) != NULL) {
        compile_error(c, FINDING_UNKNOWN_PROCEDURE,
                      "'%.*s' is a command, not a procedure; write {\"type\": \"%.*s\", ...}",
                      STR_ARG(name), STR_ARG(name));
        return NULL;
    }
    if (is_external_name(name))
        return add_shared(c, name, PROCEDURE_EXTERNAL);
    compile_error(c, FINDING_BAD_NAME,
                  "an external procedure is called \"namespace.name\": letters, digits, '_' and "
                  "'-', at most %d of them",
                  EXTERNAL_NAME_MAX);
    return NULL;
}

static struct str nearest_local(const struct library *l, struct str name)
{
    struct nearest n = nearest_to(name);

    for (struct map_entry *e = map_next(&l->local, NULL); e != NULL; e = map_next(&l->local, e))
        nearest_offer(&n, e->key);
    return n.best;
}

static struct procedure_unit *find_registered(struct compiler *c, struct str name)
{
    struct library *l = c->library;
    struct registered found;
    struct procedure_unit *unit;

    if (l->registry != NULL && l->registry->procedure != NULL &&
        l->registry->procedure(l->registry->context, c->mem, name, &found)) {
        unit = add_shared(c, name, PROCEDURE_REGISTRY);
        unit->definition = found.definition;
        unit->procedure.version = found.version;
        unit->rules = found.rules;
        compile_shared(c, unit);
        return unit;
    }
    if (l->registry != NULL && l->registry->is_partial) {
        compile_warning(c, FINDING_UNKNOWN_PROCEDURE, "no procedure '%.*s' is known here",
                        STR_ARG(name));
        compile_did_you_mean(c, nearest_local(l, name));
        return add_shared(c, name, PROCEDURE_EXTERNAL);
    }
    compile_error(c, FINDING_UNKNOWN_PROCEDURE, "there is no procedure '%.*s'", STR_ARG(name));
    compile_did_you_mean(c, nearest_local(l, name));
    return NULL;
}

/* --- by name --- */

static struct procedure_unit *find_unit(struct compiler *c, struct str name)
{
    /* What the registry holds does not know the scenario that uses it. */
    bool sees_local = c->unit == NULL || c->unit->procedure.kind == PROCEDURE_LOCAL;
    struct procedure_unit *unit = sees_local ? map_get(&c->library->local, name) : NULL;

    if (unit == NULL)
        unit = map_get(&c->library->shared, name);
    if (unit == NULL)
        return str_find(name, STR("."), 0) >= 0 ? find_external(c, name) : find_registered(c, name);
    /* Deeper ones are too deep anyway, and are compiled later. */
    if (unit->state == UNIT_NEW && c->library->open <= CALL_DEPTH_MAX)
        compile_local(c, unit);
    return unit;
}

const struct procedure *library_procedure(struct compiler *c, struct str name, struct tally *tally)
{
    struct procedure_unit *unit;

    if (name.len == 0) {
        compile_error(c, FINDING_BAD_VALUE, "the name of a procedure may not be empty");
        return NULL;
    }
    unit = find_unit(c, name);
    if (unit == NULL)
        return NULL;
    if (unit->state == UNIT_OPEN) {
        compile_error(c, FINDING_PROCEDURE_CYCLE,
                      "'%.*s' would call itself; procedures may not call each other in a circle",
                      STR_ARG(name));
        return NULL;
    }
    if (tally != NULL) {
        tally->commands += unit->tally.commands;
        tally->http += unit->tally.http;
        tally->http_us += unit->tally.http_us;
        tally->notifications += unit->tally.notifications;
        tally->has_rollbacks = tally->has_rollbacks || unit->tally.has_rollbacks;
        if (tally->depth < unit->tally.depth + 1)
            tally->depth = unit->tally.depth + 1;
    }
    return &unit->procedure;
}
