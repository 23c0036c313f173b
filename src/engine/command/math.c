/*
 * math.c - numbers that the node `math` computes; see command.h.
 *
 * Whole numbers stay whole as long as the result is one and fits; anything else is a double. What
 * is no number (a division by zero, an overflow of doubles) is an error, never a value.
 */
#include "define/catalog/catalog.h"
#include "engine/command/command.h"

#include <math.h>

static enum step_result math_fail(struct turn *t, struct str code, const char *message)
{
    return turn_fail(t, code, ERR_CLASS_BUSINESS, "%s", message);
}

static bool read_number(struct turn *t, const struct command *c, enum command_field field,
                        struct value *out)
{
    if (!command_field(t, c, field, out))
        return false;
    if (out->kind == VALUE_UINT && out->u <= INT64_MAX)
        *out = value_int((int64_t)out->u);
    if (out->kind == VALUE_INT || out->kind == VALUE_DOUBLE)
        return true;
    return turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS,
                     "'%.*s' must be a number, not %s", STR_ARG(catalog_field_name(field)),
                     value_kind_name((enum value_kind)out->kind)) == STEP_DONE;
}

static double math_double(struct value v)
{
    return v.kind == VALUE_DOUBLE ? v.d : (double)v.i;
}

/* a to the power of b, b not below zero. False: it does not fit. */
static bool whole_power(int64_t a, int64_t b, int64_t *out)
{
    *out = 1;
    while (b > 0) {
        if ((b & 1) != 0 && __builtin_mul_overflow(*out, a, out))
            return false;
        b >>= 1;
        if (b > 0 && __builtin_mul_overflow(a, a, &a))
            return false;
    }
    return true;
}

/* Of whole numbers, if the result is one. */
static bool whole_result(enum math_operation operation, int64_t a, int64_t b, int64_t *out)
{
    switch (operation) {
    case MATH_ADD:
        return !__builtin_add_overflow(a, b, out);
    case MATH_SUBTRACT:
        return !__builtin_sub_overflow(a, b, out);
    case MATH_MULTIPLY:
        return !__builtin_mul_overflow(a, b, out);
    case MATH_DIVIDE:
        if (b == -1)
            return !__builtin_sub_overflow(0, a, out);
        *out = b != 0 && a % b == 0 ? a / b : 0;
        return b != 0 && a % b == 0;
    case MATH_MODULO:
        *out = b == 0 || b == -1 ? 0 : a % b;
        return b != 0;
    case MATH_POWER:
        return b >= 0 && whole_power(a, b, out);
    case MATH_MIN:
        *out = a < b ? a : b;
        return true;
    case MATH_MAX:
        *out = a > b ? a : b;
        return true;
    case MATH_ROUND:
        *out = a;
        return true;
    case MATH_ABS:
        return a >= 0 ? (*out = a, true) : !__builtin_sub_overflow(0, a, out);
    case MATH_OPERATION_COUNT:
        break;
    }
    PANIC("unknown operation");
}

static double double_result(enum math_operation operation, double a, double b)
{
    switch (operation) {
    case MATH_ADD:
        return a + b;
    case MATH_SUBTRACT:
        return a - b;
    case MATH_MULTIPLY:
        return a * b;
    case MATH_DIVIDE:
        return a / b;
    case MATH_MODULO:
        return fmod(a, b);
    case MATH_POWER:
        return pow(a, b);
    case MATH_MIN:
        return fmin(a, b);
    case MATH_MAX:
        return fmax(a, b);
    case MATH_ROUND:
        return round(a);
    case MATH_ABS:
        return fabs(a);
    case MATH_OPERATION_COUNT:
        break;
    }
    PANIC("unknown operation");
}

/* A double as the number it is: `round` gives whole numbers. */
static struct value double_value(enum math_operation operation, double d)
{
    if (operation == MATH_ROUND && fabs(d) <= 9007199254740992.0)
        return value_int((int64_t)d);
    return value_double(d);
}

static enum step_result math_compute(struct turn *t, const struct command *c, struct value *out)
{
    struct value a, b = value_int(0);
    int64_t whole = 0;
    double d;

    if (!read_number(t, c, FIELD_A, &a) ||
        (c->fields[FIELD_B] != NULL && !read_number(t, c, FIELD_B, &b)))
        return STEP_FAILED;
    if ((c->operation == MATH_DIVIDE || c->operation == MATH_MODULO) && math_double(b) == 0)
        return math_fail(t, STR("validation_division"), "nothing is divided by zero");
    if (a.kind == VALUE_INT && b.kind == VALUE_INT &&
        whole_result(c->operation, a.i, b.i, &whole)) {
        *out = value_int(whole);
        return STEP_DONE;
    }
    d = double_result(c->operation, math_double(a), math_double(b));
    if (!isfinite(d))
        return math_fail(t, STR("validation_number"), "the result is no number");
    *out = double_value(c->operation, d);
    return STEP_DONE;
}

static enum step_result math_evaluate(struct turn *t, const struct command *c, struct value *out)
{
    *out = cel_evaluate(t->mem, c->expressions[FIELD_EXPRESSION], &t->activation, NULL);
    if (out->kind == VALUE_ERROR)
        return turn_fail_value(t, *out, str_printf(t->mem, "%.*s/expression", STR_ARG(c->pointer)));
    if (out->kind != VALUE_INT && out->kind != VALUE_UINT && out->kind != VALUE_DOUBLE)
        return turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS,
                         "'expression' must be a number, not %s",
                         value_kind_name((enum value_kind)out->kind));
    if (out->kind == VALUE_DOUBLE && !isfinite(out->d))
        return math_fail(t, STR("validation_number"), "the result is no number");
    return STEP_DONE;
}

enum step_result math_run(struct turn *t, const struct command *c, struct value *out)
{
    enum step_result end = c->expressions[FIELD_EXPRESSION] != NULL ? math_evaluate(t, c, out)
                                                                    : math_compute(t, c, out);

    if (end == STEP_DONE)
        *out = value_map_of(t->mem, VALUE_ENTRIES({value_key(STR("result")), *out}));
    return end;
}
