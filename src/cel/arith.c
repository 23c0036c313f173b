/*
 * arith.c - what operators do to values; see program.h.
 *
 * Integers do not wrap: a result that does not fit is an error. In definition
 * mode an int beside a double is taken as a double.
 */
#include "base/utf8.h"
#include "cel/moment.h"
#include "cel/program.h"

#include <math.h>
#include <stdio.h>

static const char *const operator_names[] = {
#define OPERATOR(symbol, name, text) (name),
#include "cel/operator.def"
#undef OPERATOR
};

static struct value no_overload(struct cel_eval *ev, enum operator op, struct value a,
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
        return no_overload(ev, op, value_double(a), value_double(b));
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

    if (op == OPERATOR_ADD && is_time && of_time)
        return no_overload(ev, op, a, b);
    if (op == OPERATOR_ADD)
        ok = is_time   ? moment_add(a, b, &out)
             : of_time ? moment_add(b, a, &out)
                       : moment_add_durations(a, b, &out);
    else if (op == OPERATOR_SUBTRACT && (is_time || !of_time))
        ok = of_time   ? moment_diff(a, b, &out)
             : is_time ? moment_sub(a, b, &out)
                       : moment_sub_durations(a, b, &out);
    else
        return no_overload(ev, op, a, b);
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
    return no_overload(ev, op, a, b);
}

static struct value negate(struct cel_eval *ev, struct value a)
{
    struct value out;

    if (a.kind == VALUE_INT)
        return a.i == INT64_MIN ? overflow(ev, "an int") : value_int(-a.i);
    if (a.kind == VALUE_DOUBLE)
        return value_double(-a.d);
    if (a.kind == VALUE_DURATION)
        return moment_negate(a, &out) ? out : overflow(ev, "the range of time");
    return no_overload(ev, OPERATOR_NEGATE, a, value_absent());
}

/* --- comparing --- */

static struct value order(struct cel_eval *ev, enum operator op, struct value a, struct value b)
{
    int c;

    if (a.kind == VALUE_STRING && !cel_charge_bytes(ev, a.len))
        return cel_over_cost(ev);
    c = value_compare(a, b);
    if (c == VALUE_INCOMPARABLE)
        return no_overload(ev, op, a, b);
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
        return no_overload(ev, OPERATOR_IN, a, b);
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

/* --- parts --- */

/* The place that an index names in a list: an int, or a number equal to one. False: none. */
static bool list_index(struct value index, uint64_t *out)
{
    if (index.kind == VALUE_DOUBLE) {
        if (!(index.d >= 0 && index.d < 0x1p63) || index.d != trunc(index.d))
            return false;
        *out = (uint64_t)index.d;
        return true;
    }
    if (index.kind == VALUE_INT && index.i < 0)
        return false;
    *out = index.u;
    return index.kind == VALUE_INT || index.kind == VALUE_UINT;
}

enum { KEY_SHOWN = 60, KEY_TEXT_MAX = KEY_SHOWN + 3 };

/* A key for a message. */
static const char *key_text(char out[KEY_TEXT_MAX], struct value key)
{
    switch ((int)key.kind) {
    case VALUE_STRING: {
        struct str s = str_slice(value_text(key), 0, key.len < KEY_SHOWN ? key.len : KEY_SHOWN);
        snprintf(out, KEY_TEXT_MAX, "'%.*s'", (int)utf8_valid_prefix(s), s.ptr);
        return out;
    }
    case VALUE_INT:
        snprintf(out, KEY_TEXT_MAX, "%lld", (long long)key.i);
        return out;
    case VALUE_UINT:
        snprintf(out, KEY_TEXT_MAX, "%lluu", (unsigned long long)key.u);
        return out;
    case VALUE_BOOL:
        return key.b ? "true" : "false";
    case VALUE_DOUBLE:
        snprintf(out, KEY_TEXT_MAX, "%g", key.d);
        return out;
    default:
        return value_kind_name((enum value_kind)key.kind);
    }
}

static struct value no_such_key(struct cel_eval *ev, struct value key)
{
    char shown[KEY_TEXT_MAX];

    return cel_fail(ev, "no such key: %s", key_text(shown, key));
}

/* What stands at `key`, VALUE_ABSENT when nothing does, an error when it cannot be asked. */
static struct value part(struct cel_eval *ev, struct value v, struct value key)
{
    uint64_t i;

    if (v.kind == VALUE_MAP)
        return value_map_get(v, key);
    if (v.kind != VALUE_LIST)
        return no_overload(ev, OPERATOR_INDEX, v, key);
    if (key.kind != VALUE_INT && key.kind != VALUE_UINT && key.kind != VALUE_DOUBLE)
        return no_overload(ev, OPERATOR_INDEX, v, key);
    return list_index(key, &i) && i < v.len ? v.items[i] : value_absent();
}

/* The part of what an optional holds, as an optional. */
static struct value optional_part(struct cel_eval *ev, struct value v, struct value key)
{
    struct value found;

    if (v.kind == VALUE_OPTIONAL) {
        if (v.inner == NULL)
            return v;
        v = *v.inner;
    }
    if (v.kind == VALUE_NULL && ev->mode == CEL_DEFINITION)
        return value_optional_none();
    found = part(ev, v, key);
    if (found.kind == VALUE_ABSENT)
        return value_optional_none();
    if (found.kind == VALUE_ERROR)
        return found;
    return cel_optional(ev, found);
}

static struct value index_of(struct cel_eval *ev, struct value v, struct value key)
{
    char shown[KEY_TEXT_MAX];
    struct value found;

    if (v.kind == VALUE_OPTIONAL)
        return optional_part(ev, v, key);
    found = part(ev, v, key);
    if (found.kind != VALUE_ABSENT)
        return found;
    if (v.kind == VALUE_LIST)
        return cel_fail(ev, "index out of range: %s of %u", key_text(shown, key), v.len);
    return no_such_key(ev, key);
}

struct value operate_field(struct cel_eval *ev, struct value v, struct value key)
{
    char shown[KEY_TEXT_MAX];
    struct value found;

    if (v.kind == VALUE_MAP) {
        found = value_map_get(v, key);
        return found.kind != VALUE_ABSENT ? found : no_such_key(ev, key);
    }
    if (v.kind == VALUE_OPTIONAL)
        return operate_optional_field(ev, v, key);
    if (v.kind == VALUE_NULL)
        return cel_fail(ev, "no such field: %s of null", key_text(shown, key));
    return cel_fail(ev, "no such field: %s has no fields, so it has no %s",
                    value_kind_name((enum value_kind)v.kind), key_text(shown, key));
}

struct value operate_optional_field(struct cel_eval *ev, struct value v, struct value key)
{
    struct value held = v.kind == VALUE_OPTIONAL && v.inner != NULL ? *v.inner : v;

    if (held.kind == VALUE_LIST)
        return operate_field(ev, held, key);
    if (held.kind != VALUE_MAP && held.kind != VALUE_OPTIONAL &&
        !(held.kind == VALUE_NULL && ev->mode == CEL_DEFINITION))
        return operate_field(ev, held, key);
    return optional_part(ev, v, key);
}

struct value operate_has(struct cel_eval *ev, struct value v, struct value key)
{
    if (v.kind == VALUE_OPTIONAL) {
        if (v.inner == NULL)
            return value_bool(false);
        v = *v.inner;
    }
    if (v.kind == VALUE_MAP)
        return value_bool(value_map_get(v, key).kind != VALUE_ABSENT);
    return operate_field(ev, v, key);
}

/* --- lists and maps written out --- */

/* The value of an item: itself, or what an optional item holds, or VALUE_ABSENT. */
static struct value item_value(struct cel_eval *ev, struct value v, bool is_optional)
{
    if (!is_optional)
        return v;
    if (v.kind != VALUE_OPTIONAL)
        return cel_fail(ev, "an optional is needed behind '?', not %s",
                        value_kind_name((enum value_kind)v.kind));
    return v.inner == NULL ? value_absent() : *v.inner;
}

struct value operate_list(struct cel_eval *ev, const struct value *items, uint32_t count,
                          const char *optional)
{
    struct value *copy = cel_alloc(ev, (size_t)count * sizeof(*copy));
    uint32_t n = 0;

    if (copy == NULL)
        return cel_over_memory(ev);
    for (uint32_t i = 0; i < count; i++) {
        struct value v = item_value(ev, items[i], optional != NULL && optional[i] != 0);
        if (v.kind == VALUE_ERROR)
            return v;
        if (v.kind != VALUE_ABSENT)
            copy[n++] = v;
    }
    return value_list(copy, n);
}

static bool may_be_key(struct value v)
{
    return v.kind == VALUE_STRING || v.kind == VALUE_INT || v.kind == VALUE_UINT ||
           v.kind == VALUE_BOOL;
}

struct value operate_map(struct cel_eval *ev, const struct value *items, uint32_t count,
                         const char *optional)
{
    struct value_entry *entries = cel_alloc(ev, (size_t)count * sizeof(struct value) + 64);
    size_t n = 0, duplicate;
    char shown[KEY_TEXT_MAX];
    struct value map;

    /* A large map has an index of at most 12 bytes an entry beside its entries. */
    if (entries == NULL || (size_t)count * 6 + 128 > ev->mem_left)
        return cel_over_memory(ev);
    ev->mem_left -= (size_t)count * 6 + 128;
    for (uint32_t i = 0; i < count; i += 2) {
        struct value v = item_value(ev, items[i + 1], optional != NULL && optional[i + 1] != 0);
        if (v.kind == VALUE_ERROR)
            return v;
        if (v.kind == VALUE_ABSENT)
            continue;
        if (!may_be_key(items[i]))
            return cel_fail(ev, "unsupported key type: %s",
                            value_kind_name((enum value_kind)items[i].kind));
        entries[n++] = (struct value_entry){.key = items[i], .value = v};
    }
    map = value_map_make(ev->mem, entries, n, &duplicate);
    if (map.kind == VALUE_ABSENT)
        return cel_fail(ev, "repeated key: %s", key_text(shown, entries[duplicate].key));
    return map;
}

/* --- all of them --- */

struct value operate(struct cel_eval *ev, enum operator op, struct value a, struct value b)
{
    switch (op) {
    case OPERATOR_NOT:
        return a.kind == VALUE_BOOL ? value_bool(!a.b) : no_overload(ev, op, a, value_absent());
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
        return index_of(ev, a, b);
    case OPERATOR_OPTIONAL_INDEX:
        return optional_part(ev, a, b);
    case OPERATOR_COUNT:
        break;
    }
    PANIC("unknown operator");
}
