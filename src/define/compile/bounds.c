/* bounds.c - see bounds.h. */
#include "define/compile/bounds.h"
#include "base/text/utf8.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "value/json.h"

enum { LENGTH_MAX = 1 << 20 };

const struct bounds bounds_none = {
    .min = {.kind = VALUE_ABSENT}, .max = {.kind = VALUE_ABSENT}, .max_length = LENGTH_MAX};

static bool bounds_is_number(enum param_type type)
{
    return type == PARAM_NUMBER || type == PARAM_INTEGER;
}

static bool has_length(enum param_type type)
{
    return type == PARAM_STRING || type == PARAM_ARRAY;
}

/* `min` or `max`. */
static struct value compile_limit(struct compiler *c, struct value v, const char *name,
                                  enum param_type type)
{
    struct value limit = compile_field(v, name);
    size_t outer = compile_enter(c, str_of(name));

    if (limit.kind == VALUE_ABSENT || limit.kind == VALUE_NULL) {
        limit = value_absent();
    } else if (limit.kind != VALUE_INT && limit.kind != VALUE_UINT && limit.kind != VALUE_DOUBLE) {
        compile_wrong_type(c, limit, "a number");
        limit = value_absent();
    } else if (!bounds_is_number(type)) {
        compile_error(c, FINDING_MISPLACED,
                      "only a parameter of the type number or integer has this");
    }
    compile_leave(c, outer);
    return limit;
}

/* `minLength` or `maxLength`. */
static uint32_t compile_length(struct compiler *c, struct value v, const char *name,
                               enum param_type type, uint32_t otherwise)
{
    uint32_t length = otherwise;

    if (compile_field(v, name).kind == VALUE_NULL)
        return otherwise;
    compile_count(c, v, name, 0, LENGTH_MAX, &length);
    if (compile_has(v, name) && !has_length(type))
        compile_error_at(c, name, FINDING_MISPLACED,
                         "only a parameter of the type string or array has this");
    return length;
}

/* Patterns are matched by an expression: they share its budgets and are compiled once. */
static const struct cel_env *pattern_env_of(struct compiler *c, struct pattern_env *patterns)
{
    struct cel_env *env;
    struct err err;

    if (patterns->env != NULL)
        return patterns->env;
    env = cel_env_extend(c->mem, c->library->base);
    for (int i = 0; i < ROOT_COUNT; i++)
        cel_env_hide(env, str_of(context_root_name((enum context_root)i)));
    if (!cel_env_variable(env, STR("text"), STR("string"), &patterns->slot, &err))
        PANIC(err.message);
    patterns->env = env;
    return env;
}

static void compile_pattern(struct compiler *c, struct value v, enum param_type type,
                            struct pattern_env *patterns, struct bounds *out)
{
    struct str pattern = compile_text(c, v, "pattern");
    size_t outer = compile_enter(c, STR("pattern"));
    const struct cel_env *env;
    struct buf source;
    struct err err;

    if (compile_has(v, "pattern") && type != PARAM_STRING) {
        compile_error(c, FINDING_MISPLACED, "only a parameter of the type string has this");
    } else if (pattern.len > 0) {
        env = pattern_env_of(c, patterns);
        buf_init_arena(&source, c->mem);
        buf_text(&source, "text.matches(");
        json_write_string(&source, pattern);
        buf_char(&source, ')');
        if (cel_compile(c->mem, env, buf_view(&source), NULL, &out->pattern, &err)) {
            out->pattern_text = pattern;
            out->pattern_slot = patterns->slot;
        } else {
            out->pattern = NULL;
            compile_error(c, FINDING_BAD_VALUE, "this is no pattern: %s", err.message);
        }
    }
    compile_leave(c, outer);
}

void bounds_compile(struct compiler *c, struct value v, enum param_type type,
                    struct pattern_env *patterns, struct bounds *out)
{
    *out = bounds_none;
    out->min = compile_limit(c, v, "min", type);
    out->max = compile_limit(c, v, "max", type);
    if (out->min.kind != VALUE_ABSENT && out->max.kind != VALUE_ABSENT &&
        value_compare(out->min, out->max) == 1)
        compile_error_at(c, "max", FINDING_BAD_VALUE, "'max' is less than 'min'");
    out->min_length = compile_length(c, v, "minLength", type, 0);
    out->max_length = compile_length(c, v, "maxLength", type, LENGTH_MAX);
    out->has_length =
        has_length(type) && (compile_has(v, "minLength") || compile_has(v, "maxLength"));
    if (out->min_length > out->max_length)
        compile_error_at(c, "maxLength", FINDING_BAD_VALUE, "'maxLength' is less than 'minLength'");
    compile_pattern(c, v, type, patterns, out);
    out->is_multiline = compile_flag(c, v, "multiline");
    if (out->is_multiline && type != PARAM_STRING)
        compile_error_at(c, "multiline", FINDING_MISPLACED,
                         "only a parameter of the type string has this");
}

/* --- what it costs --- */

bool bounds_pay(struct compiler *c, int64_t units)
{
    if (c->errors > FINDINGS_MAX || c->is_spent)
        return false;
    c->left.cost -= units;
    if (c->left.cost > 0 && c->left.memory_bytes > 0)
        return true;
    c->is_spent = true;
    compile_error(c, FINDING_LIMIT_SIZE, "checking this takes too much work: give fewer items");
    return false;
}

bool bounds_evaluate(struct compiler *c, const struct cel_program *program,
                     const struct cel_activation *activation, struct value *out)
{
    struct cel_limits given = cel_default_limits, left;

    if (!bounds_pay(c, 1))
        return false;
    if (given.cost > c->left.cost)
        given.cost = c->left.cost;
    if (given.memory_bytes > c->left.memory_bytes)
        given.memory_bytes = c->left.memory_bytes;
    left = given;
    *out = cel_evaluate_within(c->mem, program, activation, &left);
    c->left.memory_bytes -= given.memory_bytes - left.memory_bytes;
    return bounds_pay(c, given.cost - left.cost);
}

/* --- holding a value against them --- */

static struct str limit_text(struct compiler *c, struct value limit)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, c->mem);
    return limit.kind != VALUE_ABSENT && json_write(&out, limit, &err) ? buf_view(&out) : STR_NONE;
}

static void check_length(struct compiler *c, const struct bounds *b, struct str name,
                         struct value v)
{
    bool is_list = v.kind == VALUE_LIST;
    size_t length = is_list ? v.len : utf8_count(value_text(v));

    if (length < b->min_length && is_list)
        compile_error(c, FINDING_BAD_VALUE, "'%.*s' must have at least %u items", STR_ARG(name),
                      b->min_length);
    else if (length < b->min_length)
        compile_error(c, FINDING_BAD_VALUE, "'%.*s' must have at least %u characters",
                      STR_ARG(name), b->min_length);
    else if (length > b->max_length && is_list)
        compile_error(c, FINDING_BAD_VALUE, "'%.*s' must have at most %u items", STR_ARG(name),
                      b->max_length);
    else if (length > b->max_length)
        compile_error(c, FINDING_BAD_VALUE, "'%.*s' must have at most %u characters", STR_ARG(name),
                      b->max_length);
}

/* A text that is too much work to match does not fit either. */
static void check_pattern(struct compiler *c, const struct bounds *b, struct str name,
                          struct value v)
{
    struct value slots[ROOT_COUNT + 1] = {0};
    const struct cel_activation activation = {.slots = slots, .root = value_absent()};

    struct value matches;

    ASSERT(b->pattern_slot < ARRAY_SIZE(slots));
    slots[b->pattern_slot] = v;
    if (bounds_evaluate(c, b->pattern, &activation, &matches) && !value_is_true(matches))
        compile_error(c, FINDING_BAD_VALUE, "'%.*s' must match the pattern %.*s", STR_ARG(name),
                      STR_ARG(b->pattern_text));
}

/* `min` and `max`, which only numbers have. */
static void check_limits(struct compiler *c, const struct bounds *b, struct str name,
                         struct value v)
{
    struct str least = limit_text(c, b->min), most = limit_text(c, b->max);

    if (b->min.kind != VALUE_ABSENT && value_compare(v, b->min) == -1)
        compile_error(c, FINDING_BAD_VALUE, "'%.*s' must be at least %.*s", STR_ARG(name),
                      STR_ARG(least));
    else if (b->max.kind != VALUE_ABSENT && value_compare(v, b->max) == 1)
        compile_error(c, FINDING_BAD_VALUE, "'%.*s' must be at most %.*s", STR_ARG(name),
                      STR_ARG(most));
}

void bounds_check(struct compiler *c, const struct bounds *b, struct str name, struct value v)
{
    if (b->min.kind != VALUE_ABSENT || b->max.kind != VALUE_ABSENT)
        check_limits(c, b, name, v);
    if (b->has_length && (v.kind == VALUE_STRING || v.kind == VALUE_LIST))
        check_length(c, b, name, v);
    if (b->pattern != NULL && v.kind == VALUE_STRING)
        check_pattern(c, b, name, v);
}
