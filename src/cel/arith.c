/*
 * arith.c - what operators do to values; see program.h.
 *
 * Integers do not wrap: a result that does not fit is an error. In definition
 * mode an int beside a double is taken as a double. What stands at a key or an
 * index is found in parts.c.
 */
#include "cel/lib/moment.h"
#include "cel/program.h"

static const char *const operator_names[] = {
#define OPERATOR(symbol, name, text) (name),
#include "cel/syntax/operator.def"
#undef OPERATOR
};

struct value operate_no_overload(struct cel_eval *ev, enum operator op, struct value a,
                                 struct value b)
{
    struct value args[2] = {a, b};

    ev->function = operator_names[op];
    return cel_no_overload(ev, args, op == OPERATOR_NOT || op == OPERATOR_NEGATE ? 1 : 2);
}

static struct value overflow(struct cel_eval *ev, const char *what)
{
    return cel_fail(ev, "overflow: the result does not fit %s", what);
}

/* --- numbers --- */

static struct value int_arithmetic(struct cel_eval *ev, enum operator op, int64_t a, int64_t b)
{
    int64_t n = 0;
    bool overflowed = false;

    if ((op == OPERATOR_DIVIDE || op == OPERATOR_MODULO) && b == 0)
        return cel_fail(ev, op == OPERATOR_DIVIDE ? "divide by zero" : "modulus by zero");
    switch ((int)op) {
    case OPERATOR_ADD:
        overflowed = __builtin_add_overflow(a, b, &n);
        break;
    case OPERATOR_SUBTRACT:
        overflowed = __builtin_sub_overflow(a, b, &n);
        break;
    case OPERATOR_MULTIPLY:
        overflowed = __builtin_mul_overflow(a, b, &n);
        break;
    case OPERATOR_DIVIDE:
        overflowed = a == INT64_MIN && b == -1;
        n = overflowed ? 0 : a / b;
        break;
    case OPERATOR_MODULO:
        overflowed = a == INT64_MIN && b == -1;
        n = overflowed ? 0 : a % b;
        break;
    default:
        PANIC("not arithmetic");
    }
    return overflowed ? overflow(ev, "an int") : value_int(n);
}

static struct value uint_arithmetic(struct cel_eval *ev, enum operator op, uint64_t a, uint64_t b)
{
    uint64_t n = 0;
    bool overflowed = false;

    if ((op == OPERATOR_DIVIDE || op == OPERATOR_MODULO) && b == 0)
        return cel_fail(ev, op == OPERATOR_DIVIDE ? "divide by zero" : "modulus by zero");
    switch ((int)op) {
    case OPERATOR_ADD:
        overflowed = __builtin_add_overflow(a, b, &n);
        break;
    case OPERATOR_SUBTRACT:
        overflowed = __builtin_sub_overflow(a, b, &n);
        break;
    case OPERATOR_MULTIPLY:
        overflowed = __builtin_mul_overflow(a, b, &n);
        break;
    case OPERATOR_DIVIDE:
        n = a / b;
        break;
    case OPERATOR_MODULO:
        n = a % b;
        break;
    default:
        PANIC("not arithmetic");
    }
    return overflowed ? overflow(ev, "a uint") : value_uint(n);
}

static struct value double_arithmetic(struct cel_eval *ev, enum operator op, double a, double b)
{
    switch ((int)op) {
    case OPERATOR_ADD:
        return value_double(a + b);
    case OPERATOR_SUBTRACT:
        return value_double(a - b);
    case OPERATOR_MULTIPLY:
        return value_double(a * b);
    case OPERATOR_DIVIDE:
        return value_double(a / b);
    default:
        return operate_no_overload(ev, op, value_double(a), value_double(b));
    }
}

/* --- text, lists, time --- */

static struct value add_texts(struct cel_eval *ev, struct value a, struct value b)
{
    size_t len = (size_t)a.len + b.len;
    char *text;

    if (!cel_charge_bytes(ev, len))
        return cel_over_cost(ev);
    if (len > VALUE_LEN_MAX || (text = cel_alloc(ev, len + 1)) == NULL)
        return cel_over_memory(ev);
    memcpy(text, a.text, a.len);
    memcpy(text + a.len, b.text, b.len);
    a.hash = 0;
    a.len = (uint32_t)len;
    a.text = text;
    return a;
}

static struct value add_lists(struct cel_eval *ev, struct value a, struct value b)
{
    size_t count = (size_t)a.len + b.len;
    struct value *items;

    if (b.len == 0)
        return a;
    if (!cel_charge(ev, count))
        return cel_over_cost(ev);
    if (count > VALUE_LEN_MAX || (items = cel_alloc(ev, count * sizeof(*items))) == NULL)
        return cel_over_memory(ev);
    if (a.len > 0)
        memcpy(items, a.items, a.len * sizeof(*items));
    memcpy(items + a.len, b.items, b.len * sizeof(*items));
    return value_list(items, count);
}

static bool is_moment(struct value v)
{
    return v.kind == VALUE_TIMESTAMP || v.kind == VALUE_DURATION;
}

static struct value moment_arithmetic(struct cel_eval *ev, enum operator op, struct value a,
                                      struct value b)
{
    bool is_time = a.kind == VALUE_TIMESTAMP, of_time = b.kind == VALUE_TIMESTAMP;
    struct value out;
    bool ok;

    if (op == OPERATOR_ADD && !(is_time && of_time))
        ok = moment_add(a, b, &out);
    else if (op == OPERATOR_SUBTRACT && (is_time || !of_time))
        ok = moment_sub(a, b, &out);
    else
        return operate_no_overload(ev, op, a, b);
    if (ok && out.kind == VALUE_DURATION && ev->mode == CEL_STRICT)
        ok = moment_is_strict(out);
    return ok ? out : overflow(ev, "the range of time");
}

static struct value arithmetic(struct cel_eval *ev, enum operator op, struct value a,
                               struct value b)
{
    if (a.kind == b.kind) {
        if (a.kind == VALUE_INT)
            return int_arithmetic(ev, op, a.i, b.i);
        if (a.kind == VALUE_DOUBLE)
            return double_arithmetic(ev, op, a.d, b.d);
        if (a.kind == VALUE_UINT)
            return uint_arithmetic(ev, op, a.u, b.u);
        if (op == OPERATOR_ADD && (a.kind == VALUE_STRING || a.kind == VALUE_BYTES))
            return add_texts(ev, a, b);
        if (op == OPERATOR_ADD && a.kind == VALUE_LIST)
            return add_lists(ev, a, b);
    } else if (ev->mode == CEL_DEFINITION) {
        if (a.kind == VALUE_INT && b.kind == VALUE_DOUBLE)
            return double_arithmetic(ev, op, (double)a.i, b.d);
        if (a.kind == VALUE_DOUBLE && b.kind == VALUE_INT)
            return double_arithmetic(ev, op, a.d, (double)b.i);
    }
    if (is_moment(a) && is_moment(b))
        return moment_arithmetic(ev, op, a, b);
    return operate_no_overload(ev, op, a, b);
}

static struct value negate(struct cel_eval *ev, struct value a)
{
    struct value out;

    if (a.kind == VALUE_INT)
        return a.i == INT64_MIN ? overflow(ev, "an int") : value_int(-a.i);
    if (a.kind == VALUE_DOUBLE)
        return value_double(-a.d);
    if (a.kind == VALUE_DURATION)
        return moment_sub(value_duration(0, 0), a, &out) ? out : overflow(ev, "the range of time");
    return operate_no_overload(ev, OPERATOR_NEGATE, a, value_absent());
}

/* --- comparing --- */

static struct value order(struct cel_eval *ev, enum operator op, struct value a, struct value b)
{
    int c;

    if (a.kind == VALUE_STRING && !cel_charge_bytes(ev, a.len))
        return cel_over_cost(ev);
    c = value_compare(a, b);
    if (c == VALUE_INCOMPARABLE)
        return operate_no_overload(ev, op, a, b);
    if (c == VALUE_UNORDERED)
        return value_bool(false);
    switch ((int)op) {
    case OPERATOR_LT:
        return value_bool(c < 0);
    case OPERATOR_LE:
        return value_bool(c <= 0);
    case OPERATOR_GT:
        return value_bool(c > 0);
    case OPERATOR_GE:
        return value_bool(c >= 0);
    default:
        PANIC("not an order");
    }
}

static struct value equality(struct cel_eval *ev, bool wanted, struct value a, struct value b)
{
    bool equal = value_equal(a, b, &ev->cost_left);

    return ev->cost_left < 0 ? cel_over_cost(ev) : value_bool(equal == wanted);
}

static struct value contains(struct cel_eval *ev, struct value a, struct value b)
{
    if (b.kind == VALUE_MAP)
        return value_bool(value_map_get(b, a).kind != VALUE_ABSENT);
    if (b.kind != VALUE_LIST)
        return operate_no_overload(ev, OPERATOR_IN, a, b);
    for (uint32_t i = 0; i < b.len; i++) {
        bool equal;
        /* Most lists are of the kind that is looked for. */
        if (a.kind == VALUE_INT && b.items[i].kind == VALUE_INT && a.i != b.items[i].i &&
            cel_charge(ev, 1))
            continue;
        equal = value_equal(a, b.items[i], &ev->cost_left);
        if (ev->cost_left < 0)
            return cel_over_cost(ev);
        if (equal)
            return value_bool(true);
    }
    return value_bool(false);
}

/* --- all of them --- */

struct value operate(struct cel_eval *ev, enum operator op, struct value a, struct value b)
{
    switch (op) {
    case OPERATOR_NOT:
        return a.kind == VALUE_BOOL ? value_bool(!a.b)
                                    : operate_no_overload(ev, op, a, value_absent());
    case OPERATOR_NEGATE:
        return negate(ev, a);
    case OPERATOR_ADD:
    case OPERATOR_SUBTRACT:
    case OPERATOR_MULTIPLY:
    case OPERATOR_DIVIDE:
    case OPERATOR_MODULO:
        return arithmetic(ev, op, a, b);
    case OPERATOR_EQ:
        return equality(ev, true, a, b);
    case OPERATOR_NE:
        return equality(ev, false, a, b);
    case OPERATOR_LT:
    case OPERATOR_LE:
    case OPERATOR_GT:
    case OPERATOR_GE:
        return order(ev, op, a, b);
    case OPERATOR_IN:
        return contains(ev, a, b);
    case OPERATOR_INDEX:
        return operate_index(ev, a, b);
    case OPERATOR_OPTIONAL_INDEX:
        return operate_optional_index(ev, a, b);
    case OPERATOR_COUNT:
        break;
    }
    PANIC("unknown operator");
}
