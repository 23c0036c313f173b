/* param.c - the parameters of a definition, and what expressions know by them. */
#include "define/compile/param.h"
#include "base/uuid.h"
#include "define/compile/bounds.h"
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

bool compile_is_allowed(struct compiler *c, const struct param *param, struct value v)
{
    int64_t bytes = v.kind == VALUE_STRING ? (int64_t)v.len : 0;

    if (param->allowed.kind != VALUE_LIST)
        return true;
    for (uint32_t i = 0; i < param->allowed.len; i++)
        if (!bounds_pay(c, bytes / BOUNDS_BYTES_PAID) ||
            value_equal(param->allowed.items[i], v, &c->left.cost))
            return true;
    return !bounds_pay(c, 0);
}

/* --- compiling --- */

enum { PARAMS_DEPTH_MAX = 5 };

/* `requiredWhen` of a parameter, which is read when all parameters are known. */
struct pending_condition {
    struct value written; /* the parameter */
    struct param *param;
    struct str pointer;
};

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
    else if (compile_fits(param->type, &v) && !compile_is_allowed(c, param, v))
        compile_error(c, FINDING_BAD_VALUE, "the default is none of the values of the enum");
    else
        compile_check_value(c, param, &v);
    param->fallback = v;
    compile_leave(c, outer);
}

/* What the parameters of one list share, those within others included. */
struct param_list {
    uint32_t count; /* so far */
    uint32_t depth;
    struct pattern_env patterns;
    /* Conditions are read when all parameters are known. */
    struct {
        VEC_OF(struct pending_condition);
    } conditions;
};

static bool compile_param_list(struct compiler *c, struct value list, struct param_list *shared,
                               struct params *out);

/* What a parameter and an item of a list have: `v` is one of `table`. */
static void compile_shape(struct compiler *c, struct value v, enum field_table table,
                          struct param_list *shared, struct param *param);

/* `fields`, or `items` where `table` is PARAM_ITEM. False: it says nothing of this type. */
static bool is_shape_of(struct compiler *c, struct value v, const char *name, bool is_type)
{
    struct value field = compile_field(v, name);

    if (field.kind == VALUE_ABSENT || field.kind == VALUE_NULL)
        return false;
    if (!is_type)
        compile_error_at(c, name, FINDING_MISPLACED, "only a parameter of the type %s has this",
                         strcmp(name, "fields") == 0 ? "object" : "array");
    return true;
}

static void compile_inner_fields(struct compiler *c, struct value v, struct param_list *shared,
                                 struct param *param)
{
    size_t outer = compile_enter(c, STR("fields"));
    struct params fields;

    shared->depth++;
    if (compile_param_list(c, compile_field(v, "fields"), shared, &fields)) {
        param->fields = fields.items;
        param->field_count = fields.count;
    }
    shared->depth--;
    compile_leave(c, outer);
}

static void compile_item(struct compiler *c, struct value v, struct param_list *shared,
                         struct param *param)
{
    size_t outer = compile_enter(c, STR("items"));
    struct param *item = ARENA_NEW(c->mem, struct param);
    struct value written = compile_field(v, "items");

    *item = (struct param){.type = PARAM_ANY,
                           .bounds = bounds_none,
                           .fallback = value_absent(),
                           .allowed = value_absent(),
                           .name = str_printf(c->mem, "%.*s[]", STR_ARG(param->name))};
    shared->depth++;
    if (shared->depth > PARAMS_DEPTH_MAX)
        compile_error(c, FINDING_LIMIT_PARAMS, "parameters are nested at most %d deep",
                      PARAMS_DEPTH_MAX);
    else if (++shared->count > PARAMS_MAX)
        compile_error(c, FINDING_LIMIT_PARAMS, "there are more than %d parameters", PARAMS_MAX);
    else if (compile_fields(c, written, TABLE_PARAM_ITEM))
        compile_shape(c, written, TABLE_PARAM_ITEM, shared, item);
    shared->depth--;
    param->item = item;
    compile_leave(c, outer);
}

static void compile_shape(struct compiler *c, struct value v, enum field_table table,
                          struct param_list *shared, struct param *param)
{
    int type = compile_param_type(c, table, v);
    struct value field;

    if (type >= 0)
        param->type = (enum param_type)type;
    param->sensitive = compile_flag(c, v, "sensitive");
    if (param->sensitive && c->unit != NULL)
        compile_warning_at(c, "sensitive", FINDING_MISPLACED,
                           "what a procedure is given is hidden if it comes from a sensitive input "
                           "of the process or field of a form; say it there");
    (void)compile_text(c, v, "label");
    (void)compile_text(c, v, "description");
    bounds_compile(c, v, param->type, &shared->patterns, &param->bounds);
    if (is_shape_of(c, v, "fields", param->type == PARAM_OBJECT))
        compile_inner_fields(c, v, shared, param);
    if (is_shape_of(c, v, "items", param->type == PARAM_ARRAY))
        compile_item(c, v, shared, param);
    field = compile_field(v, "enum");
    if (field.kind != VALUE_ABSENT)
        compile_enum(c, field, param);
}

static void compile_param(struct compiler *c, struct value v, const struct params *before,
                          struct param_list *shared, struct param *param)
{
    struct value field;

    *param = (struct param){.type = PARAM_ANY,
                            .bounds = bounds_none,
                            .fallback = value_absent(),
                            .allowed = value_absent()};
    if (!compile_fields(c, v, TABLE_PARAM))
        return;
    param->name = compile_name(c, v, "name");
    for (uint32_t i = 0; i < before->count && param->name.len > 0; i++)
        if (str_eq(before->items[i].name, param->name))
            compile_error_at(c, "name", FINDING_DUPLICATE_NAME, "there are two parameters '%.*s'",
                             STR_ARG(param->name));
    param->required = compile_flag(c, v, "required");
    compile_shape(c, v, TABLE_PARAM, shared, param);
    field = compile_field(v, "default");
    if (field.kind != VALUE_ABSENT)
        compile_default(c, field, param);
    field = compile_field(v, "requiredWhen");
    if (field.kind != VALUE_ABSENT)
        *VEC_ADD(c->mem, &shared->conditions) =
            (struct pending_condition){v, param, compile_pointer(c)};
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

/* The type that a parameter has in expressions. */
static const char *param_cel_type(struct arena *mem, const struct param *p)
{
    static const char *const cel_types[] = {
#define PARAM(symbol, name, cel_type, wanted) cel_type,
#include "define/catalog/param_types.def"
#undef PARAM
    };

    if (p->type == PARAM_ARRAY && p->item != NULL)
        return str_printf(mem, "list(%s)", param_cel_type(mem, p->item)).ptr;
    return cel_types[p->type];
}

/* Say of a field of a variable what is known of it; `name` has dots where it is within others. */
static void say_param(struct compiler *c, struct cel_env *env, struct str root, struct str name,
                      const struct param *p, bool is_certain)
{
    struct err err;
    uint32_t count;

    is_certain = is_certain && (p->required || p->fallback.kind != VALUE_ABSENT);
    if (!cel_env_type(env, root, name, str_of(param_cel_type(c->mem, p)), &err))
        PANIC(err.message);
    cel_env_presence(env, root, name, is_certain ? CEL_PRESENCE_CERTAIN : CEL_PRESENCE_OPTIONAL);
    if (p->allowed.kind == VALUE_LIST) {
        const struct str *texts = enum_texts(c->mem, p->allowed, &count);
        cel_env_words(env, root, name, texts, count);
    }
    for (uint32_t i = 0; i < p->field_count; i++)
        if (p->fields[i].name.len > 0)
            say_param(c, env, root,
                      str_printf(c->mem, "%.*s.%.*s", STR_ARG(name), STR_ARG(p->fields[i].name)),
                      &p->fields[i], is_certain);
}

/* Say of a variable that it has these parameters for fields. */
static void say_params(struct compiler *c, struct cel_env *env, struct str root,
                       const struct params *params)
{
    struct err err;

    if (!cel_env_field(env, root, STR_NONE, &err))
        PANIC(err.message);
    for (uint32_t i = 0; i < params->count; i++) {
        if (!cel_env_field(env, root, params->items[i].name, &err))
            PANIC(err.message);
        say_param(c, env, root, params->items[i].name, &params->items[i], true);
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
static void compile_conditions(struct compiler *c, enum params_root root, const struct params *all,
                               const struct param_list *shared)
{
    const struct cel_env *outer_env = c->env;
    struct buf outer_path = c->path;
    uint32_t slot = 0;

    if (shared->conditions.count == 0)
        return;
    c->env = conditions_env(c, root, all, &slot);
    c->about = root == PARAMS_INPUT ? "input" : "payload";
    c->sees_only_about = true;
    for (size_t i = 0; i < shared->conditions.count; i++) {
        const struct pending_condition *p = &shared->conditions.items[i];

        buf_init_arena(&c->path, c->mem);
        buf_str(&c->path, p->pointer);
        compile_required_when(c, p->written, p->param);
        p->param->required_slot = slot;
    }
    c->path = outer_path;
    c->sees_only_about = false;
    c->about = NULL;
    c->env = outer_env;
}

static bool compile_param_list(struct compiler *c, struct value list, struct param_list *shared,
                               struct params *out)
{
    struct param *params;

    *out = (struct params){0};
    if (list.kind != VALUE_LIST) {
        compile_wrong_type(c, list, "a list of parameters");
        compile_hint(c, "write %s", "[{\"name\": \"amount\", \"type\": \"number\"}]");
        return false;
    }
    if (shared->depth > PARAMS_DEPTH_MAX) {
        compile_error(c, FINDING_LIMIT_PARAMS, "parameters are nested at most %d deep",
                      PARAMS_DEPTH_MAX);
        return false;
    }
    if (shared->count + list.len > PARAMS_MAX) {
        compile_error(c, FINDING_LIMIT_PARAMS, "there are %u parameters; at most %d are allowed",
                      shared->count + list.len, PARAMS_MAX);
        return false;
    }
    shared->count += list.len;
    params = ARENA_ARRAY(c->mem, list.len + 1, struct param);
    out->items = params;
    for (uint32_t i = 0; i < list.len; i++) {
        size_t inner = compile_enter_index(c, i);
        compile_param(c, list.items[i], out, shared, &params[i]);
        out->count++;
        compile_leave(c, inner);
    }
    return true;
}

bool compile_params(struct compiler *c, struct value list, enum params_root root,
                    struct params *out)
{
    struct param_list shared = {0};

    if (!compile_param_list(c, list, &shared, out))
        return false;
    compile_conditions(c, root, out, &shared);
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
