/* param.c - the parameters of a definition, and what is given held against them. */
#include "base/uuid.h"
#include "define/compile.h"
#include "value/json.h"
#include "value/timefmt.h"

#include <math.h>

static const char *const wanted[] = {
#define PARAM(symbol, name, param_wanted) param_wanted,
#include "define/param_types.def"
#undef PARAM
};

#define PARAM(symbol, name, param_wanted) name " "
static const char type_words[] =
#include "define/param_types.def"
    ;
#undef PARAM

/* Beyond this a double may stand for several whole numbers. */
static const double EXACT_MAX = 9007199254740992.0;

/*
 * Whether *v is of that type. A double that is a whole number becomes an int
 * where an integer is wanted.
 */
static bool fits(enum param_type type, struct value *v)
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

static void wrong_type(struct compiler *c, struct value v, enum param_type type)
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

/* Whether a value is in the list that a parameter allows. */
static bool is_allowed(const struct param *param, struct value v)
{
    if (param->allowed.kind != VALUE_LIST)
        return true;
    for (uint32_t i = 0; i < param->allowed.len; i++)
        if (value_equal(param->allowed.items[i], v, NULL))
            return true;
    return false;
}

/* --- compiling --- */

static const struct field_spec param_fields[] = {
    {"name", STATE_NOW}, {"type", STATE_NOW},  {"required", STATE_NOW},    {"default", STATE_NOW},
    {"enum", STATE_NOW}, {"label", STATE_NOW}, {"description", STATE_NOW}, {"sensitive", STATE_NOW},
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
            if (!fits(param->type, &v)) {
                size_t inner = compile_enter_index(c, i);
                wrong_type(c, v, param->type);
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
    else if (!fits(param->type, &v))
        wrong_type(c, v, param->type);
    else if (!is_allowed(param, v))
        compile_error(c, FINDING_BAD_VALUE, "the default is none of the values of the enum");
    param->fallback = v;
    compile_leave(c, outer);
}

static void compile_param(struct compiler *c, struct value v, const struct params *before,
                          struct param *param)
{
    struct value field;
    size_t outer;
    int type;

    *param =
        (struct param){.type = PARAM_ANY, .fallback = value_absent(), .allowed = value_absent()};
    if (!compile_fields(c, v, param_fields, sizeof(param_fields) / sizeof(param_fields[0])))
        return;
    param->name = compile_text(c, v, "name");
    if (compile_field(v, "name").kind == VALUE_ABSENT)
        compile_missing(c, "name");
    outer = compile_enter(c, STR("name"));
    if (compile_field(v, "name").kind == VALUE_STRING && !compile_is_name(param->name))
        compile_error(c, FINDING_BAD_NAME,
                      "a name is a letter or '_', then letters, digits or '_'");
    for (uint32_t i = 0; i < before->count && param->name.len > 0; i++)
        if (str_eq(before->items[i].name, param->name))
            compile_error(c, FINDING_DUPLICATE_NAME, "there are two parameters '%.*s'",
                          STR_ARG(param->name));
    compile_leave(c, outer);
    type = compile_word(c, v, "type", type_words);
    if (type >= 0)
        param->type = (enum param_type)type;
    param->required = compile_flag(c, v, "required");
    param->sensitive = compile_flag(c, v, "sensitive");
    (void)compile_text(c, v, "label");
    (void)compile_text(c, v, "description");
    field = compile_field(v, "enum");
    if (field.kind != VALUE_ABSENT)
        compile_enum(c, field, param);
    field = compile_field(v, "default");
    if (field.kind != VALUE_ABSENT)
        compile_default(c, field, param);
}

bool compile_params(struct compiler *c, struct value list, struct params *out)
{
    struct param *params;

    *out = (struct params){0};
    if (list.kind != VALUE_LIST) {
        compile_wrong_type(c, list, "a list of parameters");
        return false;
    }
    if (list.len > PARAMS_MAX) {
        compile_error(c, FINDING_TOO_MANY_PARAMS, "there are %u parameters; at most %d are allowed",
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
    return true;
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

const struct cel_env *compile_input_env(struct compiler *c, const struct params *params)
{
    struct cel_env *env = cel_env_extend(c->mem, c->env);
    struct err err;

    if (!cel_env_field(env, STR("input"), STR_NONE, &err))
        PANIC(err.message);
    for (uint32_t i = 0; i < params->count; i++) {
        const struct param *p = &params->items[i];
        uint32_t count;

        if (!cel_env_field(env, STR("input"), p->name, &err))
            PANIC(err.message);
        if (p->allowed.kind == VALUE_LIST) {
            const struct str *texts = enum_texts(c->mem, p->allowed, &count);
            cel_env_words(env, STR("input"), p->name, texts, count);
        }
    }
    return env;
}

const struct cel_env *compile_overlay_env(struct compiler *c, struct value names)
{
    struct cel_env *env;
    struct err err;

    if (names.kind != VALUE_MAP || names.len == 0)
        return c->env;
    env = cel_env_extend(c->mem, c->env);
    for (uint32_t i = 0; i < names.len; i++) {
        struct str name = value_text(names.map->entries[i].key);

        cel_env_words(env, STR("input"), name, NULL, 0);
        if (c->lists_input && !cel_env_field(env, STR("input"), name, &err))
            PANIC(err.message);
    }
    return env;
}

/* --- the input of a start --- */

static const struct param *find_param(const struct params *p, struct str name)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (str_eq(p->items[i].name, name))
            return &p->items[i];
    return NULL;
}

static struct str nearest_param(const struct params *p, struct str name)
{
    unsigned limit = catalog_hint_distance(name);
    struct str best = STR_NONE;

    for (uint32_t i = 0; i < p->count && limit > 0; i++) {
        unsigned distance = str_distance(name, p->items[i].name, limit);
        if (distance <= limit) {
            best = p->items[i].name;
            limit = distance - 1;
        }
    }
    return best;
}

/* Null says nothing, unless anything goes. */
static bool is_given(const struct param *param, struct value v)
{
    return v.kind != VALUE_ABSENT && (v.kind != VALUE_NULL || param->type == PARAM_ANY);
}

/* The values that are allowed, as far as they fit into a message. */
static void not_allowed(struct compiler *c, const struct param *param)
{
    struct buf text;
    struct err err;

    buf_init_arena(&text, c->mem);
    text.limit = 300;
    if (json_write(&text, param->allowed, &err))
        compile_error(c, FINDING_BAD_VALUE, "'%.*s' must be one of %.*s", STR_ARG(param->name),
                      STR_ARG(buf_view(&text)));
    else
        compile_error(c, FINDING_BAD_VALUE, "'%.*s' is none of the values that are allowed",
                      STR_ARG(param->name));
}

/* Check what was given under one name; *v becomes what the execution sees. */
static void check_given(struct compiler *c, const struct params *p, struct str name,
                        struct value *v)
{
    const struct param *param = find_param(p, name);
    size_t outer = compile_enter(c, name);

    if (param == NULL) {
        compile_error(c, FINDING_UNDECLARED_INPUT, "there is no parameter '%.*s'", STR_ARG(name));
        compile_did_you_mean(c, nearest_param(p, name));
    } else if (!is_given(param, *v)) {
        if (param->fallback.kind != VALUE_ABSENT)
            *v = param->fallback;
        else if (param->required)
            compile_error(c, FINDING_MISSING_INPUT, "'%.*s' is required", STR_ARG(name));
    } else if (!fits(param->type, v)) {
        wrong_type(c, *v, param->type);
    } else if (!is_allowed(param, *v)) {
        not_allowed(c, param);
    }
    compile_leave(c, outer);
}

/* A parameter that the input does not mention: whether its default is to be added. */
static bool check_absent(struct compiler *c, const struct param *param)
{
    size_t outer;

    if (param->fallback.kind != VALUE_ABSENT)
        return true;
    if (param->required) {
        outer = compile_enter(c, param->name);
        compile_error(c, FINDING_MISSING_INPUT, "'%.*s' is required", STR_ARG(param->name));
        compile_leave(c, outer);
    }
    return false;
}

static struct value check_params(struct compiler *c, const struct params *p, struct value input)
{
    struct value_entry *entries =
        ARENA_ARRAY(c->mem, (size_t)input.len + p->count, struct value_entry);
    size_t count = 0, duplicate;

    for (uint32_t i = 0; i < input.len; i++) {
        struct value_entry e = input.map->entries[i];
        check_given(c, p, value_text(e.key), &e.value);
        entries[count++] = e;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        const struct param *param = &p->items[i];
        if (value_map_get_str(input, param->name).kind == VALUE_ABSENT && check_absent(c, param))
            entries[count++] =
                (struct value_entry){.key = value_key(param->name), .value = param->fallback};
    }
    return value_map_make(c->mem, entries, count, &duplicate);
}

/* Anything that should be an object; `p` is NULL when nothing is declared. */
static struct value check_object(struct compiler *c, const struct params *p, struct value given)
{
    if (given.kind == VALUE_ABSENT || given.kind == VALUE_NULL)
        given = value_map_empty();
    if (given.kind == VALUE_MAP)
        return p == NULL ? given : check_params(c, p, given);
    compile_wrong_type(c, given, "an object");
    return value_map_empty();
}

void define_check_params(struct arena *mem, const struct param *params, uint32_t count,
                         struct str at, struct value given, struct value *out,
                         struct findings *findings)
{
    struct params p = {.items = params, .count = count};
    struct compiler c;

    compiler_init(&c, mem, NULL, findings);
    buf_str(&c.path, at);
    *out = check_object(&c, &p, given);
}

void define_check_input(struct arena *mem, const struct program *p, struct value input,
                        struct value *out, struct findings *findings)
{
    struct params params = {.items = p->params, .count = p->param_count};
    struct compiler c;

    compiler_init(&c, mem, NULL, findings);
    (void)compile_enter(&c, STR("input"));
    *out = check_object(&c, p->declares_input ? &params : NULL, input);
}

/* --- the input of a call, as it is written --- */

/* What stands under a name in a map that is written; NULL when there is nothing. */
static const struct mapping *written_at(const struct mapping *m, struct str name,
                                        struct mapping *constant)
{
    if (m->kind == MAPPING_CONST) {
        *constant =
            (struct mapping){.kind = MAPPING_CONST, .value = value_map_get_str(m->value, name)};
        return constant->value.kind == VALUE_ABSENT ? NULL : constant;
    }
    for (uint32_t i = 0; i < m->count; i++)
        if (str_eq(value_text(m->keys[i]), name))
            return &m->items[i];
    return NULL;
}

static void check_written(struct compiler *c, const struct params *p, const struct mapping *m)
{
    uint32_t count = m->kind == MAPPING_CONST ? m->value.len : m->count;

    for (uint32_t i = 0; i < count; i++) {
        struct value key = m->kind == MAPPING_CONST ? m->value.map->entries[i].key : m->keys[i];
        struct mapping constant;
        const struct mapping *item = written_at(m, value_text(key), &constant);
        /* An expression may become anything; what it is called must fit all the same. */
        struct value v = item != NULL && item->kind == MAPPING_CONST ? item->value : value_absent();

        if (v.kind != VALUE_ABSENT || find_param(p, value_text(key)) == NULL)
            check_given(c, p, value_text(key), &v);
    }
}

void compile_check_given(struct compiler *c, const struct procedure *p, const struct mapping *input)
{
    struct mapping nothing = {.kind = MAPPING_CONST, .value = value_map_empty()};
    struct params params = {.items = p->params, .count = p->param_count};
    struct mapping constant;
    size_t outer;

    if (!p->declares_input || p->kind == PROCEDURE_EXTERNAL)
        return;
    if (input == NULL)
        input = &nothing;
    outer = compile_enter(c, STR("input"));
    check_written(c, &params, input);
    for (uint32_t i = 0; i < params.count; i++)
        if (written_at(input, params.items[i].name, &constant) == NULL)
            (void)check_absent(c, &params.items[i]);
    compile_leave(c, outer);
}
