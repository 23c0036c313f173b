/* mapping.c - values in which strings may be expressions: compiled, and evaluated. */
#include "define/compile/mapping.h"
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"

/* --- compiling --- */

bool compile_is_plain(struct str text)
{
    return text.len == 0 || (text.ptr[0] != '=' && text.ptr[0] != '"' &&
                             !str_starts_with(text, STR("$.")) && str_find(text, STR("{{"), 0) < 0);
}

typedef bool compile_fn(struct arena *mem, const struct cel_env *env, struct str source,
                        const struct cel_options *options, const struct cel_program **out,
                        struct err *err);

static bool compile_as(struct compiler *c, compile_fn *compile, struct str source,
                       enum cel_facts facts, const struct cel_program **out, struct err *err)
{
    const struct cel_options options = {.facts = c->is_stored ? CEL_FACTS_NONE : facts};

    return compile(c->mem, c->env, source, &options, out, err);
}

static bool is_undeclared_input(const struct err *err)
{
    return str_starts_with(err_name(err, ERR_ABOUT_VARIABLE), STR("input."));
}

/*
 * The program of a text that compiles if nothing is known of the fields that it
 * reads; NULL after a finding. A name that $.input does not declare is a
 * warning: it may be what the author wants to fail.
 */
static const struct cel_program *compile_plainly(struct compiler *c, struct str source,
                                                 compile_fn *compile)
{
    const struct cel_env *outer_env = c->env;
    const struct cel_program *program = NULL;
    struct err err, first;
    struct cel_env *open;

    if (compile_as(c, compile, source, CEL_FACTS_NONE, &program, &first))
        return program;
    err = first;
    open = cel_env_extend(c->mem, c->env);
    cel_env_open(open, STR("input"));
    c->env = open;
    if (c->sees_only_about || !is_undeclared_input(&first) ||
        !compile_as(c, compile, source, CEL_FACTS_NONE, &program, &err)) {
        compile_expression_error(c, source, &err);
        program = NULL;
    } else {
        compile_expression_warning(c, FINDING_UNDECLARED_INPUT, source, &first);
    }
    c->env = outer_env;
    return program;
}

/* What facts show of a text whose program without them is `plain`; NULL after an error. */
static const struct cel_program *compile_by_facts(struct compiler *c, struct str source,
                                                  compile_fn *compile,
                                                  const struct cel_program *plain,
                                                  const struct err *likely)
{
    const struct cel_program *program = plain;
    struct err certain;

    if (compile_as(c, compile, source, CEL_FACTS_CERTAIN, &program, &certain) ||
        is_undeclared_input(&certain)) {
        compile_expression_warning(c, FINDING_EXPRESSION_TYPE, source, likely);
        return program;
    }
    compile_expression_error(c, source, &certain);
    return NULL;
}

/*
 * Compile a text and keep the program; NULL after a finding. What cannot work
 * by the types that are certain is an error; by those that somebody may
 * replace, such as a step's result, a warning.
 */
static const struct cel_program *compile_source(struct compiler *c, struct str source,
                                                compile_fn *compile)
{
    const struct cel_program *program;
    struct err likely;

    if (!compile_as(c, compile, source, CEL_FACTS_LIKELY, &program, &likely)) {
        program = compile_plainly(c, source, compile);
        if (program != NULL && !is_undeclared_input(&likely))
            program = compile_by_facts(c, source, compile, program, &likely);
        if (program == NULL)
            return NULL;
    }
    compile_notes(c, source, program);
    *VEC_ADD(c->mem, &c->library->expressions) = program;
    return program;
}

bool compile_is_certain(struct compiler *c, const struct cel_program *program, bool is_value,
                        struct str types)
{
    struct str source = cel_program_source(program);
    struct err err;

    if (c->is_stored)
        return true;
    return !compile_as(c, is_value ? cel_compile_value : cel_compile, source, CEL_FACTS_CERTAIN,
                       &program, &err) ||
           !compile_has_type(program, types);
}

struct str compile_certain_type(struct compiler *c, const struct cel_program *program)
{
    struct str type = STR("dyn");
    struct err err;

    if (program != NULL && compile_as(c, cel_compile_value, cel_program_source(program),
                                      CEL_FACTS_CERTAIN, &program, &err))
        type = cel_program_type(program);
    return type;
}

bool compile_has_type(const struct cel_program *program, struct str types)
{
    struct str type = cel_program_type(program);
    int64_t open = str_find(type, STR("("), 0);

    if (open >= 0)
        type = str_slice(type, 0, (size_t)open);
    /* What an optional holds is only known when it is evaluated. */
    return types.len == 0 || str_eq(type, STR("dyn")) || str_eq(type, STR("optional_type")) ||
           catalog_has_word(types, type);
}

void compile_check_type(struct compiler *c, const struct cel_program *program, struct str types,
                        const char *wanted)
{
    struct str type = cel_program_type(program);

    if (compile_has_type(program, types))
        return;
    if (compile_is_certain(c, program, true, types))
        compile_error(c, FINDING_EXPRESSION_TYPE, "this must be %s, and it is of type %.*s", wanted,
                      STR_ARG(type));
    else
        compile_warning(c, FINDING_EXPRESSION_TYPE, "this must be %s, and it is of type %.*s",
                        wanted, STR_ARG(type));
}

/* "input.amount", which begins with the name of a root and a dot. */
static bool begins_with_root(struct str text)
{
    int64_t dot = str_find(text, STR("."), 0);
    enum context_root root;

    return dot > 0 && (size_t)dot + 1 < text.len && text.len <= 200 &&
           context_root_of(str_slice(text, 0, (size_t)dot), &root);
}

/* {{ x }} in place of the first ${x}. */
static void fix_dollar(struct compiler *c, struct str text, struct str inner)
{
    size_t from = (size_t)str_find(text, STR("${"), 0);
    size_t to = (size_t)str_find(text, STR("}"), from) + 1;

    compile_fix_text(c, str_printf(c->mem, "%.*s{{ %.*s }}%.*s", (int)from, text.ptr,
                                   STR_ARG(inner), STR_ARG(str_slice(text, to, text.len))));
}

/* A text that is itself, and was probably meant to be evaluated. */
static void check_plain(struct compiler *c, struct str text)
{
    const struct cel_program *program;
    struct str inner;
    struct err err;

    if (c->is_stored)
        return;
    if (cel_find_dollar(text, &inner)) {
        compile_warning(c, FINDING_PLAIN_TEXT,
                        "${%.*s} in a text is nothing but that text: write {{ %.*s }}",
                        STR_ARG(inner), STR_ARG(inner));
        fix_dollar(c, text, inner);
    } else if (begins_with_root(text) &&
               compile_as(c, cel_compile, text, CEL_FACTS_NONE, &program, &err)) {
        compile_warning(c, FINDING_PLAIN_TEXT,
                        "this is the text \"%.*s\"; an expression begins with '=' or '$.'",
                        STR_ARG(text));
        compile_did_you_mean(c, str_printf(c->mem, "=%.*s", STR_ARG(text)));
    }
}

/* Each answers whether the value stays as it is written, and fills *m only if not. */
static bool mapping_compile_at(struct compiler *c, struct value v, unsigned depth,
                               struct mapping *m);

static bool compile_string_as(struct compiler *c, struct value v, compile_fn *compile,
                              struct mapping *m)
{
    const struct cel_program *program;

    if (compile_is_plain(value_text(v))) {
        check_plain(c, value_text(v));
        return true;
    }
    program = compile_source(c, value_text(v), compile);
    if (program == NULL)
        return true;
    *m = (struct mapping){.kind = MAPPING_PROGRAM, .program = program};
    if (cel_program_is_constant(program, &m->value))
        m->kind = MAPPING_CONST;
    else
        m->pointer = compile_pointer(c);
    return false;
}

static struct value item_at(struct value v, uint32_t i)
{
    return v.kind == VALUE_MAP ? v.map->entries[i].value : v.items[i];
}

/* The items of a list or map of which the first `count` stay as they are written. */
static struct mapping *items_until(struct compiler *c, struct value v, uint32_t count)
{
    struct mapping *items = ARENA_ARRAY(c->mem, v.len, struct mapping);

    for (uint32_t i = 0; i < count; i++)
        items[i] = (struct mapping){.kind = MAPPING_CONST, .value = item_at(v, i)};
    return items;
}

static const struct value *keys_of(struct compiler *c, struct value map)
{
    struct value *keys = ARENA_ARRAY(c->mem, map.len, struct value);

    for (uint32_t i = 0; i < map.len; i++)
        keys[i] = map.map->entries[i].key;
    return keys;
}

static bool compile_items(struct compiler *c, struct value v, unsigned depth, struct mapping *m)
{
    struct mapping *items = NULL; /* made when the first item is not as it is written */
    bool is_constant = true;

    for (uint32_t i = 0; i < v.len; i++) {
        struct mapping item = {.kind = MAPPING_CONST, .value = item_at(v, i)};
        size_t outer = v.kind == VALUE_MAP ? compile_enter(c, value_text(v.map->entries[i].key))
                                           : compile_enter_index(c, i);

        if (!mapping_compile_at(c, item.value, depth + 1, &item) && items == NULL)
            items = items_until(c, v, i);
        if (items != NULL)
            items[i] = item;
        is_constant = is_constant && item.kind == MAPPING_CONST;
        compile_leave(c, outer);
    }
    if (items == NULL)
        return true;
    *m = (struct mapping){.kind = v.kind == VALUE_MAP ? MAPPING_MAP : MAPPING_LIST,
                          .count = v.len,
                          .items = items,
                          .keys = v.kind == VALUE_MAP ? keys_of(c, v) : NULL,
                          .pointer = compile_pointer(c)};
    if (is_constant)
        *m = (struct mapping){.kind = MAPPING_CONST, .value = mapping_evaluate(c->mem, m, NULL)};
    return false;
}

static bool mapping_compile_at(struct compiler *c, struct value v, unsigned depth,
                               struct mapping *m)
{
    if (v.kind == VALUE_STRING)
        return compile_string_as(c, v, cel_compile_value, m);
    if (v.kind != VALUE_LIST && v.kind != VALUE_MAP)
        return true;
    if (depth < MAPPING_DEPTH_MAX)
        return compile_items(c, v, depth, m);
    compile_error(c, FINDING_LIMIT_DEPTH, "values stand more than %d deep within one another",
                  MAPPING_DEPTH_MAX);
    return true;
}

const struct mapping *compile_mapping(struct compiler *c, struct value v)
{
    struct mapping *m = ARENA_NEW(c->mem, struct mapping);

    *m = (struct mapping){.kind = MAPPING_CONST, .value = v};
    (void)mapping_compile_at(c, v, 0, m);
    m->pointer = compile_pointer(c);
    return m;
}

/* A whole path that is computed is one value, whose slashes are encoded. */
static void check_whole_path(struct compiler *c, struct str text, const struct cel_program *program)
{
    if (str_starts_with(text, STR("=")) && !str_eq(cel_program_call(program, 0), STR("url.raw")))
        compile_warning(c, FINDING_URL_VALUE,
                        "the whole path is one value, and a '/' in it is encoded: write it as text "
                        "with {{ }} in it, or =url.raw(...)");
}

/* url.encode() of what is encoded anyway. */
static void check_encoded(struct compiler *c, const struct cel_program *program)
{
    for (uint32_t i = 0; cel_program_call(program, i).len > 0; i++)
        if (str_eq(cel_program_call(program, i), STR("url.encode"))) {
            compile_warning(c, FINDING_URL_VALUE,
                            "values are encoded here: with url.encode() they are encoded twice");
            return;
        }
}

const struct mapping *compile_url(struct compiler *c, struct value v, bool is_path)
{
    struct mapping *m;

    if (v.kind != VALUE_STRING)
        return compile_mapping(c, v);
    m = ARENA_NEW(c->mem, struct mapping);
    *m = (struct mapping){.kind = MAPPING_CONST, .value = v};
    (void)compile_string_as(c, v, is_path ? cel_compile_path : cel_compile_url, m);
    m->pointer = compile_pointer(c);
    if (m->kind == MAPPING_PROGRAM && is_path)
        check_whole_path(c, value_text(v), m->program);
    if (m->kind == MAPPING_PROGRAM)
        check_encoded(c, m->program);
    return m;
}

const struct cel_program *compile_expression(struct compiler *c, struct value v)
{
    struct err err;

    if (v.kind == VALUE_STRING && str_starts_with(value_text(v), STR("=")) &&
        !str_starts_with(value_text(v), STR("=="))) {
        err_set_at(&err, ERR_EXPRESSION_SYNTAX, 1, 1,
                   "the whole text is an expression here: write it without the '=' in front");
        compile_expression_error(c, value_text(v), &err);
        compile_fix_text(c, str_slice(value_text(v), 1, v.len));
        return NULL;
    }
    if (v.kind == VALUE_STRING)
        return compile_source(c, value_text(v), cel_compile);
    compile_wrong_type(c, v, "an expression in a text");
    return NULL;
}

const struct cel_program *compile_condition(struct compiler *c, struct value v)
{
    const struct cel_program *program = compile_expression(c, v);
    struct str type;
    struct err err;

    if (program == NULL)
        return NULL;
    type = cel_program_type(program);
    if (str_eq(type, STR("bool")) || str_eq(type, STR("dyn")))
        return program;
    err_set_at(&err, ERR_EXPRESSION_TYPE, 1, 1,
               "this must be true or false, and it is of type %.*s", STR_ARG(type));
    if (!compile_is_certain(c, program, false, STR("bool"))) {
        compile_expression_warning(c, FINDING_EXPRESSION_TYPE, value_text(v), &err);
        return program;
    }
    compile_expression_error(c, value_text(v), &err);
    return NULL;
}

/* --- evaluating --- */

static struct value evaluate_leaf(struct arena *mem, const struct mapping *m,
                                  const struct cel_activation *activation,
                                  const struct mapping **failed)
{
    struct value v = cel_evaluate(mem, m->program, activation, NULL);

    if (UNLIKELY(v.kind == VALUE_OPTIONAL))
        v = v.inner != NULL ? *v.inner
                            : value_error(mem, ERR_EXPRESSION_ERROR, 0, "this has no value");
    if (UNLIKELY(v.kind == VALUE_ERROR))
        *failed = m;
    return v;
}

static struct value evaluate_list(struct arena *mem, const struct mapping *m,
                                  const struct cel_activation *activation,
                                  const struct mapping **failed)
{
    struct value *items = ARENA_ARRAY(mem, m->count, struct value);

    for (uint32_t i = 0; i < m->count; i++) {
        items[i] = mapping_evaluate_at(mem, &m->items[i], activation, failed);
        if (items[i].kind == VALUE_ERROR)
            return items[i];
    }
    return value_list(items, m->count);
}

static struct value evaluate_map(struct arena *mem, const struct mapping *m,
                                 const struct cel_activation *activation,
                                 const struct mapping **failed)
{
    struct value_entry *entries = ARENA_ARRAY(mem, m->count, struct value_entry);
    for (uint32_t i = 0; i < m->count; i++) {
        entries[i].key = m->keys[i];
        entries[i].value = mapping_evaluate_at(mem, &m->items[i], activation, failed);
        if (entries[i].value.kind == VALUE_ERROR)
            return entries[i].value;
    }
    return value_map_take(mem, entries, m->count);
}

struct value mapping_evaluate_at(struct arena *mem, const struct mapping *m,
                                 const struct cel_activation *activation,
                                 const struct mapping **failed)
{
    switch (m->kind) {
    case MAPPING_CONST:
        return m->value;
    case MAPPING_PROGRAM:
        return evaluate_leaf(mem, m, activation, failed);
    case MAPPING_LIST:
        return evaluate_list(mem, m, activation, failed);
    case MAPPING_MAP:
        return evaluate_map(mem, m, activation, failed);
    }
    PANIC("unknown kind of mapping");
}

struct value mapping_evaluate(struct arena *mem, const struct mapping *m,
                              const struct cel_activation *activation)
{
    const struct mapping *failed;

    return mapping_evaluate_at(mem, m, activation, &failed);
}
