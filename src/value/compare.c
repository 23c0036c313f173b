/* compare.c - order and equality of values; see value.h. */
#include "value/value.h"

#include <math.h>

/* --- order --- */

static int order(bool less, bool greater)
{
    return (int)greater - (int)less;
}

static int compare_int_uint(int64_t a, uint64_t b)
{
    return a < 0 ? -1 : order((uint64_t)a < b, b < (uint64_t)a);
}

/*
 * As CEL has it: the integer becomes the nearest double, so from 2^53 on
 * neighbours may be equal. See docs/decisions/0020.
 */
static int compare_doubles(double a, double b)
{
    return isnan(a) || isnan(b) ? VALUE_UNORDERED : order(a<b, a> b);
}

static int flip(int compared)
{
    return compared == 1 ? -1 : compared == -1 ? 1 : compared;
}

static int compare_moment(struct value a, struct value b)
{
    if (a.seconds != b.seconds)
        return a.seconds < b.seconds ? -1 : 1;
    return order(a.nanos < b.nanos, b.nanos < a.nanos);
}

static int compare_same_kind(struct value a, struct value b)
{
    switch ((enum value_kind)a.kind) {
    case VALUE_BOOL:
        return order(a.b < b.b, b.b < a.b);
    case VALUE_INT:
        return order(a.i < b.i, b.i < a.i);
    case VALUE_UINT:
        return order(a.u < b.u, b.u < a.u);
    case VALUE_DOUBLE:
        return isnan(a.d) || isnan(b.d) ? VALUE_UNORDERED : order(a.d < b.d, b.d < a.d);
    case VALUE_STRING:
    case VALUE_BYTES:
        return str_cmp(value_text(a), value_text(b));
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
        return compare_moment(a, b);
    case VALUE_ABSENT:
    case VALUE_NULL:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_IP:
    case VALUE_CIDR:
    case VALUE_TYPE:
    case VALUE_OPTIONAL:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        return VALUE_INCOMPARABLE;
    }
    PANIC("unknown kind of value");
}

int value_compare(struct value a, struct value b)
{
    if (a.kind == b.kind)
        return compare_same_kind(a, b);
    if (a.kind == VALUE_INT && b.kind == VALUE_UINT)
        return compare_int_uint(a.i, b.u);
    if (a.kind == VALUE_INT && b.kind == VALUE_DOUBLE)
        return compare_doubles((double)a.i, b.d);
    if (a.kind == VALUE_UINT && b.kind == VALUE_DOUBLE)
        return compare_doubles((double)a.u, b.d);
    if ((a.kind == VALUE_UINT && b.kind == VALUE_INT) ||
        (a.kind == VALUE_DOUBLE && (b.kind == VALUE_INT || b.kind == VALUE_UINT)))
        return flip(value_compare(b, a));
    return VALUE_INCOMPARABLE;
}

/* --- equality --- */

static bool equal_at(struct value a, struct value b, int64_t *budget, int depth);

static bool lists_equal(struct value a, struct value b, int64_t *budget, int depth)
{
    if (a.len != b.len)
        return false;
    for (uint32_t i = 0; i < a.len; i++)
        if (!equal_at(a.items[i], b.items[i], budget, depth))
            return false;
    return true;
}

static bool maps_equal(struct value a, struct value b, int64_t *budget, int depth)
{
    if (a.len != b.len)
        return false;
    for (uint32_t i = 0; i < a.len; i++) {
        struct value other = value_map_get(b, a.map->entries[i].key);
        if (other.kind == VALUE_ABSENT || !equal_at(a.map->entries[i].value, other, budget, depth))
            return false;
    }
    return true;
}

static bool equal_at(struct value a, struct value b, int64_t *budget, int depth)
{
    if (budget != NULL && (--*budget < 0 || depth == VALUE_DEPTH_MAX)) {
        *budget = -1;
        return false;
    }
    switch ((enum value_kind)a.kind) {
    case VALUE_NULL:
        return b.kind == VALUE_NULL;
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_DOUBLE:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
        return value_compare(a, b) == 0;
    case VALUE_STRING:
    case VALUE_BYTES:
    case VALUE_IP:
    case VALUE_CIDR:
        if (budget != NULL)
            *budget -= a.len / 64;
        return a.kind == b.kind && str_eq(value_text(a), value_text(b));
    case VALUE_LIST:
        return b.kind == VALUE_LIST && depth < VALUE_DEPTH_MAX &&
               lists_equal(a, b, budget, depth + 1);
    case VALUE_MAP:
        return b.kind == VALUE_MAP && depth < VALUE_DEPTH_MAX &&
               maps_equal(a, b, budget, depth + 1);
    case VALUE_TYPE:
        return b.kind == VALUE_TYPE && strcmp(a.type_name, b.type_name) == 0;
    case VALUE_OPTIONAL:
        if (b.kind != VALUE_OPTIONAL || (a.inner == NULL) != (b.inner == NULL))
            return false;
        return a.inner == NULL ||
               (depth < VALUE_DEPTH_MAX && equal_at(*a.inner, *b.inner, budget, depth + 1));
    case VALUE_ABSENT:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        return false;
    }
    PANIC("unknown kind of value");
}

bool value_equal(struct value a, struct value b, int64_t *budget)
{
    return equal_at(a, b, budget, 0);
}
