/* param.c - the parameters of a definition, and what expressions know by them. */
#include "define/compile/param.h"
#include "base/uuid.h"
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"
#include "value/timefmt.h"

#include <math.h>

static const char *const wanted[] = {
#define PARAM(symbol, name, cel_type, param_wanted) param_wanted,
#include "define/catalog/param_types.def"
#undef PARAM
};

/* Beyond this a double may stand for several whole numbers. */
static const double EXACT_MAX = 9007199254740992.0;

const char *compile_param_wanted(enum param_type type)
{
    return wanted[type];
}

int compile_param_type(struct compiler *c, enum field_table table, struct value object)
{
    return compile_word(c, table, object, "type");
}

bool compile_fits(enum param_type type, struct value *v)
{
    struct value timestamp;
    struct uuid id;

    switch (type) {
    case PARAM_STRING:
        return v->kind == VALUE_STRING;
    case PARAM_NUMBER:
        return v->kind == VALUE_INT || v->kind == VALUE_DOUBLE || v->kind == VALUE_UINT;
    case PARAM_INTEGER:
        if (v->kind == VALUE_DOUBLE && fabs(v->d) <= EXACT_MAX && floor(v->d) == v->d)
            *v = value_int((int64_t)v->d);
        return v->kind == VALUE_INT;
    case PARAM_BOOLEAN:
        return v->kind == VALUE_BOOL;
    case PARAM_UUID:
        return v->kind == VALUE_STRING && uuid_read(value_text(*v), &id);
    case PARAM_DATE:
        return v->kind == VALUE_STRING && timestamp_read_date(value_text(*v), &timestamp);
    case PARAM_DATETIME:
        return v->kind == VALUE_STRING && timestamp_read(value_text(*v), &timestamp);
    case PARAM_OBJECT:
        return v->kind == VALUE_MAP;
    case PARAM_ARRAY:
        return v->kind == VALUE_LIST;
    case PARAM_ANY:
        return true;
    case PARAM_TYPE_COUNT:
        break;
    }
    PANIC("unknown type of a parameter");
}

void compile_misfit(struct compiler *c, struct value v, enum param_type type)
{
    bool is_text =
        type == PARAM_STRING || type == PARAM_UUID || type == PARAM_DATE || type == PARAM_DATETIME;

    if (type == PARAM_INTEGER && v.kind == VALUE_DOUBLE)
        compile_error(c, FINDING_WRONG_TYPE, "%.*s must be %s, not a number %s",
                      STR_ARG(compile_here(c)), wanted[type],
                      fabs(v.d) <= EXACT_MAX ? "with a fraction" : "that large");
    else if (is_text && v.kind == VALUE_STRING)
        compile_error(c, FINDING_WRONG_TYPE, "%.*s must be %s", STR_ARG(compile_here(c)),
                      wanted[type]);
    else
        compile_wrong_type(c, v, wanted[type]);
}

bool compile_is_allowed(const struct param *param, struct value v)
{
    if (param->allowed.kind != VALUE_LIST)
        return true;
    for (uint32_t i = 0; i < param->allowed.len; i++)
        if (value_equal(param->allowed.items[i], v, NULL))
            return true;
    return false;
}

/* --- compiling --- */

/* `enum`: each of its values must be one that the type allows. */
static void compile_enum(struct compiler *c, struct value list, struct param *param)
{
    size_t outer = compile_enter(c, STR("enum"));

    if (list.kind != VALUE_LIST) {
        compile_wrong_type(c, list, "a list of values");
    } else if (list.len == 0) {
        compile_error(c, FINDING_BAD_VALUE, "an enum without values allows nothing");
    } else {
        for (uint32_t i = 0; i < list.len; i++) {
            struct value v = list.items[i];
            if (!compile_fits(param->type, &v)) {
                size_t inner = compile_enter_index(c, i);
                compile_misfit(c, v, param->type);
                compile_leave(c, inner);
            }
        }
        param->allowed = list;
    }
    compile_leave(c, outer);
}

static void compile_default(struct compiler *c, struct value v, struct param *param)
{
    size_t outer = compile_enter(c, STR("default"));

    /* No default at all is how forms write null. */
    if (v.kind == VALUE_NULL && param->type != PARAM_ANY)
        v = value_absent();
    else if (!compile_fits(param->type, &v))
        compile_misfit(c, v, param->type);
    else if (!compile_is_allowed(param, v))
        compile_error(c, FINDING_BAD_VALUE, "the default is none of the values of the enum");
    param->fallback = v;
    compile_leave(c, outer);
}

static void compile_param(struct compiler *c, struct value v, const struct params *before,
                          struct param *param)
{
    struct value field;
    int type;

    *param =
        (struct param){.type = PARAM_ANY, .fallback = value_absent(), .allowed = value_absent()};
    if (!compile_fields(c, v, TABLE_PARAM))
        return;
    param->name = compile_name(c, v, "name");
    for (uint32_t i = 0; i < before->count && param->name.len > 0; i++)
        if (str_eq(before->items[i].name, param->name))
            compile_error_at(c, "name", FINDING_DUPLICATE_NAME, "there are two parameters '%.*s'",
                             STR_ARG(param->name));
    type = compile_param_type(c, TABLE_PARAM, v);
    if (type >= 0)
        param->type = (enum param_type)type;
    param->required = compile_flag(c, v, "required");
    param->sensitive = compile_flag(c, v, "sensitive");
    if (param->sensitive && c->unit != NULL)
        compile_warning_at(c, "sensitive", FINDING_MISPLACED,
                           "what a procedure is given is hidden if it comes from a sensitive input "
                           "of the process or field of a form; say it there");
    (void)compile_text(c, v, "label");
    (void)compile_text(c, v, "description");
    field = compile_field(v, "enum");
    if (field.kind != VALUE_ABSENT)
        compile_enum(c, field, param);
    field = compile_field(v, "default");
    if (field.kind != VALUE_ABSENT)
        compile_default(c, field, param);
}

/* --- what expressions may compare with --- */

/* The texts among the values of an enum. */
static const struct str *enum_texts(struct arena *mem, struct value list, uint32_t *count)
{
    struct str *texts = ARENA_ARRAY(mem, list.len + 1, struct str);

    *count = 0;
    for (uint32_t i = 0; i < list.len; i++)
        if (list.items[i].kind == VALUE_STRING)
            texts[(*count)++] = value_text(list.items[i]);
    return texts;
}

/* Say of a variable that it has these parameters for fields. */
static void say_params(struct compiler *c, struct cel_env *env, struct str root,
                       const struct params *params)
{
    static const char *const cel_types[] = {
#define PARAM(symbol, name, cel_type, wanted) cel_type,
#include "define/catalog/param_types.def"
#undef PARAM
    };
    struct err err;

    if (!cel_env_field(env, root, STR_NONE, &err))
        PANIC(err.message);
    for (uint32_t i = 0; i < params->count; i++) {
        const struct param *p = &params->items[i];
        uint32_t count;

        if (!cel_env_field(env, root, p->name, &err) ||
            !cel_env_type(env, root, p->name, str_of(cel_types[p->type]), &err))
            PANIC(err.message);
        cel_env_presence(env, root, p->name,
                         p->required || p->fallback.kind != VALUE_ABSENT ? CEL_PRESENCE_CERTAIN
                                                                         : CEL_PRESENCE_OPTIONAL);
        if (p->allowed.kind == VALUE_LIST) {
            const struct str *texts = enum_texts(c->mem, p->allowed, &count);
            cel_env_words(env, root, p->name, texts, count);
        }
    }
}

/* --- required on condition --- */

/* Conditions see the values that are given and nothing else; *slot is where. */
static const struct cel_env *conditions_env(struct compiler *c, enum params_root root,
                                            const struct params *params, uint32_t *slot)
{
    struct cel_env *env = cel_env_extend(c->mem, c->library->base);
    struct err err;

    for (int i = 0; i < ROOT_COUNT; i++)
        cel_env_hide(env, str_of(context_root_name((enum context_root)i)));
    *slot = ROOT_INPUT;
    if (root == PARAMS_INPUT)
        (void)cel_env_show(env, STR("input"));
    else if (!cel_env_variable(env, STR("payload"), STR("map(string, dyn)"), slot, &err))
        PANIC(err.message);
    say_params(c, env, root == PARAMS_INPUT ? STR("input") : STR("payload"), params);
    return env;
}

static void compile_required_when(struct compiler *c, struct value v, struct param *param)
{
    size_t outer = compile_enter(c, STR("requiredWhen"));

    param->required_when = compile_condition(c, compile_field(v, "requiredWhen"));
    if (param->required || param->fallback.kind != VALUE_ABSENT)
        compile_warning(c, FINDING_MISPLACED,
                        param->required ? "it is always required"
                                        : "with a default it is never missing");
    compile_leave(c, outer);
}

/* When all parameters are known. */
static void compile_conditions(struct compiler *c, struct value list, enum params_root root,
                               const struct params *all, struct param *params)
{
    const struct cel_env *outer_env = c->env, *env = NULL;
    uint32_t slot = 0;

    for (uint32_t i = 0; i < list.len; i++) {
        size_t inner;

        if (compile_field(list.items[i], "requiredWhen").kind == VALUE_ABSENT)
            continue;
        if (env == NULL)
            env = conditions_env(c, root, all, &slot);
        inner = compile_enter_index(c, i);
        c->env = env;
        c->about = root == PARAMS_INPUT ? "input" : "payload";
        c->sees_only_about = true;
        compile_required_when(c, list.items[i], &params[i]);
        params[i].required_slot = slot;
        c->sees_only_about = false;
        c->about = NULL;
        c->env = outer_env;
        compile_leave(c, inner);
    }
}

bool compile_params(struct compiler *c, struct value list, enum params_root root,
                    struct params *out)
{
    struct param *params;

    *out = (struct params){0};
    if (list.kind != VALUE_LIST) {
        compile_wrong_type(c, list, "a list of parameters");
        compile_hint(c, "write %s", "[{\"name\": \"amount\", \"type\": \"number\"}]");
        return false;
    }
    if (list.len > PARAMS_MAX) {
        compile_error(c, FINDING_LIMIT_PARAMS, "there are %u parameters; at most %d are allowed",
                      list.len, PARAMS_MAX);
        return false;
    }
    params = ARENA_ARRAY(c->mem, list.len + 1, struct param);
    out->items = params;
    for (uint32_t i = 0; i < list.len; i++) {
        size_t inner = compile_enter_index(c, i);
        compile_param(c, list.items[i], out, &params[i]);
        out->count++;
        compile_leave(c, inner);
    }
    compile_conditions(c, list, root, out, params);
    return true;
}

bool compile_own_input(struct compiler *c, struct value definition, struct params *out)
{
    struct value list = compile_field(definition, "input");
    size_t outer = compile_enter(c, STR("input"));
    bool is_declared = list.kind != VALUE_ABSENT && compile_params(c, list, PARAMS_INPUT, out);
    struct cel_env *env;

    if (is_declared) {
        env = cel_env_extend(c->mem, c->env);
        say_params(c, env, STR("input"), out);
        c->env = env;
    } else {
        *out = (struct params){0};
    }
    compile_leave(c, outer);
    return is_declared;
}

struct str compile_param_types(enum param_type type)
{
    static const char *const types[PARAM_TYPE_COUNT] = {
        [PARAM_STRING] = "string timestamp duration bytes null_type",
        [PARAM_NUMBER] = "int uint double number null_type",
        [PARAM_INTEGER] = "int uint double number null_type",
        [PARAM_BOOLEAN] = "bool null_type",
        [PARAM_UUID] = "string null_type",
        [PARAM_DATE] = "string timestamp null_type",
        [PARAM_DATETIME] = "string timestamp null_type",
        [PARAM_OBJECT] = "map null_type",
        [PARAM_ARRAY] = "list null_type",
        [PARAM_ANY] = "",
    };

    return str_of(types[type]);
}

/* --- what a step lays over $.input --- */

/* The type that a value has once it has been kept as JSON; "dyn" when that is not known. */
static const char *stored_type(struct compiler *c, const struct mapping *m)
{
    struct str type;

    if (m->kind == MAPPING_LIST || (m->kind == MAPPING_CONST && m->value.kind == VALUE_LIST))
        return "list(dyn)";
    if (m->kind == MAPPING_MAP || (m->kind == MAPPING_CONST && m->value.kind == VALUE_MAP))
        return "map(string, dyn)";
    if (m->kind == MAPPING_CONST)
        return m->value.kind == VALUE_STRING   ? "string"
               : m->value.kind == VALUE_BOOL   ? "bool"
               : m->value.kind == VALUE_INT    ? "int"
               : m->value.kind == VALUE_DOUBLE ? "number"
                                               : "dyn";
    type = compile_certain_type(c, m->program);
    if (catalog_has_word(STR("string timestamp duration bytes"), type))
        return "string";
    if (catalog_has_word(STR("double number"), type))
        return "number";
    if (catalog_has_word(STR("int uint"), type))
        return "int";
    return str_eq(type, STR("bool")) ? "bool" : "dyn";
}

const struct cel_env *compile_overlay_env(struct compiler *c, struct value names,
                                          const struct mapping *m)
{
    struct cel_env *env;
    struct err err;

    if (names.kind != VALUE_MAP || names.len == 0)
        return c->env;
    env = cel_env_extend(c->mem, c->env);
    for (uint32_t i = 0; i < names.len; i++) {
        struct str name = value_text(names.map->entries[i].key);
        struct mapping constant;
        const struct mapping *item =
            m == NULL || c->is_stored ? NULL : mapping_member(m, name, &constant);

        cel_env_words(env, STR("input"), name, NULL, 0);
        if (c->lists_input && !cel_env_field(env, STR("input"), name, &err))
            PANIC(err.message);
        if (item == NULL)
            continue;
        if (!cel_env_type(env, STR("input"), name, str_of(stored_type(c, item)), &err))
            PANIC(err.message);
        cel_env_presence(env, STR("input"), name, CEL_PRESENCE_CERTAIN);
    }
    return env;
}
