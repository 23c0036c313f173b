/* input.c - what is given held against parameters: the input of a start, of a call, a form. */
#include "base/text/nearest.h"
#include "define/compile/bounds.h"
#include "define/compile/mapping.h"
#include "define/compile/param.h"
#include "value/json.h"

static const struct param *find_param(const struct params *p, struct str name)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (str_eq(p->items[i].name, name))
            return &p->items[i];
    return NULL;
}

static struct str nearest_param(const struct params *p, struct str name)
{
    struct nearest n = nearest_to(name);

    for (uint32_t i = 0; i < p->count; i++)
        nearest_offer(&n, p->items[i].name);
    return n.best;
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

static struct value check_members(struct compiler *c, const struct params *p, struct value input);

/* What the items of a list become. */
static struct value check_items(struct compiler *c, const struct param *item, struct value list)
{
    struct value *items = ARENA_ARRAY(c->mem, list.len + 1, struct value);

    for (uint32_t i = 0; i < list.len; i++)
        items[i] = list.items[i];
    for (uint32_t i = 0; i < list.len && bounds_pay(c, 1); i++) {
        size_t outer = compile_enter_index(c, i);

        compile_check_value(c, item, &items[i]);
        compile_leave(c, outer);
    }
    return value_list(items, list.len);
}

void compile_check_value(struct compiler *c, const struct param *param, struct value *v)
{
    if (!compile_fits(param->type, v)) {
        compile_misfit(c, *v, param->type);
        return;
    }
    if (!compile_is_allowed(c, param, *v))
        not_allowed(c, param);
    bounds_check(c, &param->bounds, param->name, *v);
    if (param->type == PARAM_OBJECT && param->fields != NULL)
        *v = check_members(c, &(struct params){.items = param->fields, .count = param->field_count},
                           *v);
    if (param->type == PARAM_ARRAY && param->item != NULL)
        *v = check_items(c, param->item, *v);
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
    } else {
        compile_check_value(c, param, v);
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

/* A parameter that is required on a condition over all values, and is not given. */
static void check_condition(struct compiler *c, const struct param *param, struct value all)
{
    struct str source = cel_program_source(param->required_when);
    struct value slots[ROOT_COUNT + 1] = {0};
    const struct cel_activation activation = {.slots = slots, .root = value_absent()};
    struct value v;
    size_t outer;

    ASSERT(param->required_slot < ARRAY_SIZE(slots));
    slots[param->required_slot] = all;
    if (!bounds_evaluate(c, param->required_when, &activation, &v))
        return;
    outer = compile_enter(c, param->name);
    if (v.kind == VALUE_ERROR)
        compile_error(c, FINDING_MISSING_INPUT,
                      "whether '%.*s' is required cannot be told: %pS (requiredWhen: %.*s)",
                      STR_ARG(param->name), SENTENCE_ARG(value_sentence(v)), STR_ARG(source));
    else if (v.kind != VALUE_BOOL)
        compile_error(c, FINDING_MISSING_INPUT,
                      "whether '%.*s' is required cannot be told: %.*s is neither true nor false",
                      STR_ARG(param->name), STR_ARG(source));
    else if (v.b)
        compile_error(c, FINDING_MISSING_INPUT, "'%.*s' is required when %.*s",
                      STR_ARG(param->name), STR_ARG(source));
    compile_leave(c, outer);
}

static void check_conditions(struct compiler *c, const struct params *p, struct value given,
                             struct value all);

/* The conditions of the fields of an object, and of each item of a list. */
static void check_inner_conditions(struct compiler *c, const struct param *param, struct value v,
                                   struct value all)
{
    size_t outer;

    if (v.kind == VALUE_MAP && param->fields != NULL)
        check_conditions(c, &(struct params){.items = param->fields, .count = param->field_count},
                         v, all);
    for (uint32_t i = 0;
         v.kind == VALUE_LIST && param->item != NULL && i < v.len && bounds_pay(c, 1); i++) {
        outer = compile_enter_index(c, i);
        check_inner_conditions(c, param->item, v.items[i], all);
        compile_leave(c, outer);
    }
}

static void check_conditions(struct compiler *c, const struct params *p, struct value given,
                             struct value all)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct param *param = &p->items[i];
        struct value v = value_map_get_str(given, param->name);
        size_t outer;

        if (param->required_when != NULL && !is_given(param, v))
            check_condition(c, param, all);
        outer = compile_enter(c, param->name);
        check_inner_conditions(c, param, v, all);
        compile_leave(c, outer);
    }
}

enum { NAMES_PAID = 16 }; /* so many are compared for one unit: see bounds_pay() */

static struct value check_members(struct compiler *c, const struct params *p, struct value input)
{
    struct value_entry *entries =
        ARENA_ARRAY(c->mem, (size_t)input.len + p->count, struct value_entry);
    size_t count = 0;

    for (uint32_t i = 0; i < input.len && bounds_pay(c, 1 + p->count / NAMES_PAID); i++) {
        struct value_entry e = input.map->entries[i];
        check_given(c, p, value_text(e.key), &e.value);
        entries[count++] = e;
    }
    for (uint32_t i = 0; i < p->count && bounds_pay(c, 1); i++) {
        const struct param *param = &p->items[i];
        if (value_map_get_str(input, param->name).kind == VALUE_ABSENT && check_absent(c, param))
            entries[count++] =
                (struct value_entry){.key = value_key(param->name), .value = param->fallback};
    }
    return value_map_take(c->mem, entries, count);
}

/* Conditions are asked when everything else is as it should be. */
static struct value check_params(struct compiler *c, const struct params *p, struct value input)
{
    struct value given = check_members(c, p, input);

    if (c->errors == 0)
        check_conditions(c, p, given, given);
    return given;
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

const struct mapping *mapping_member(const struct mapping *m, struct str name,
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

/* What an expression for a parameter comes to, as far as that is known. */
static void check_computed(struct compiler *c, const struct param *param, const struct mapping *m)
{
    size_t outer = compile_enter(c, param->name);

    if (!c->is_stored && m->program != NULL)
        compile_check_type(c, m->program, compile_param_types(param->type),
                           compile_param_wanted(param->type));
    compile_leave(c, outer);
}

static void check_written(struct compiler *c, const struct params *p, const struct mapping *m)
{
    uint32_t count = m->kind == MAPPING_CONST ? m->value.len : m->count;

    for (uint32_t i = 0; i < count; i++) {
        struct value key = m->kind == MAPPING_CONST ? m->value.map->entries[i].key : m->keys[i];
        struct mapping constant;
        const struct mapping *item = mapping_member(m, value_text(key), &constant);
        /* An expression may become anything; what it is called must fit all the same. */
        struct value v = item != NULL && item->kind == MAPPING_CONST ? item->value : value_absent();

        const struct param *param = find_param(p, value_text(key));

        if (v.kind != VALUE_ABSENT || param == NULL)
            check_given(c, p, value_text(key), &v);
        else if (item != NULL && item->kind == MAPPING_PROGRAM)
            check_computed(c, param, item);
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
        if (mapping_member(input, params.items[i].name, &constant) == NULL)
            (void)check_absent(c, &params.items[i]);
    compile_leave(c, outer);
}
