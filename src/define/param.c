/* param.c - the parameters of a definition, and the input of a start held against them. */
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

const char *compile_param_wanted(enum param_type type)
{
    return wanted[type];
}

int compile_param_type(struct compiler *c, struct value object)
{
    return compile_word(c, object, "type", type_words);
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
            if (!compile_fits(param->type, &v)) {
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
    else if (!compile_fits(param->type, &v))
        wrong_type(c, v, param->type);
    else if (!is_allowed(param, v))
        compile_error(c, FINDING_BAD_VALUE, "the default is none of the values of the enum");
    param->fallback = v;
    compile_leave(c, outer);
}

static void compile_param(struct compiler *c, struct value v, const struct program *p,
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
    for (uint32_t i = 0; i < p->param_count && param->name.len > 0; i++)
        if (str_eq(p->params[i].name, param->name))
            compile_error(c, FINDING_DUPLICATE_NAME, "there are two parameters '%.*s'",
                          STR_ARG(param->name));
    compile_leave(c, outer);
    type = compile_param_type(c, v);
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

void compile_params(struct compiler *c, struct value list, struct program *p)
{
    size_t outer = compile_enter(c, STR("input"));
    struct param *params;

    if (list.kind != VALUE_LIST) {
        compile_wrong_type(c, list, "a list of parameters");
    } else if (list.len > PARAMS_MAX) {
        compile_error(c, FINDING_TOO_MANY_PARAMS, "there are %u parameters; at most %d are allowed",
                      list.len, PARAMS_MAX);
    } else {
        params = ARENA_ARRAY(c->mem, list.len, struct param);
        p->declares_input = true;
        p->params = params;
        for (uint32_t i = 0; i < list.len; i++) {
            size_t inner = compile_enter_index(c, i);
            compile_param(c, list.items[i], p, &params[i]);
            p->param_count++;
            compile_leave(c, inner);
        }
    }
    compile_leave(c, outer);
}

/* --- the input of a start --- */

static const struct param *find_param(const struct program *p, struct str name)
{
    for (uint32_t i = 0; i < p->param_count; i++)
        if (str_eq(p->params[i].name, name))
            return &p->params[i];
    return NULL;
}

static struct str nearest_param(const struct program *p, struct str name)
{
    unsigned limit = catalog_hint_distance(name);
    struct str best = STR_NONE;

    for (uint32_t i = 0; i < p->param_count && limit > 0; i++) {
        unsigned distance = str_distance(name, p->params[i].name, limit);
        if (distance <= limit) {
            best = p->params[i].name;
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
static void check_given(struct compiler *c, const struct program *p, struct str name,
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
    } else if (!compile_fits(param->type, v)) {
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

static struct value check_params(struct compiler *c, const struct program *p, struct value input)
{
    struct value_entry *entries =
        ARENA_ARRAY(c->mem, (size_t)input.len + p->param_count, struct value_entry);
    size_t count = 0, duplicate;

    for (uint32_t i = 0; i < input.len; i++) {
        struct value_entry e = input.map->entries[i];
        check_given(c, p, value_text(e.key), &e.value);
        entries[count++] = e;
    }
    for (uint32_t i = 0; i < p->param_count; i++) {
        const struct param *param = &p->params[i];
        if (value_map_get_str(input, param->name).kind == VALUE_ABSENT && check_absent(c, param))
            entries[count++] =
                (struct value_entry){.key = value_key(param->name), .value = param->fallback};
    }
    return value_map_make(c->mem, entries, count, &duplicate);
}

void define_check_input(struct arena *mem, const struct program *p, struct value input,
                        struct value *out, struct findings *findings)
{
    struct compiler c;

    compiler_init(&c, mem, NULL, findings);
    (void)compile_enter(&c, STR("input"));
    if (input.kind == VALUE_ABSENT || input.kind == VALUE_NULL)
        input = value_map_empty();
    if (input.kind != VALUE_MAP) {
        compile_wrong_type(&c, input, "an object");
        input = value_map_empty();
    } else if (p->declares_input) {
        input = check_params(&c, p, input);
    }
    *out = input;
}
