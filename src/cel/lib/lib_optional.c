/* lib_optional.c - values that may be missing. */
#include "cel/eval.h"

struct value cel_optional(struct cel_eval *ev, struct value inner)
{
    if (sizeof(inner) > ev->mem_left)
        return cel_over_memory(ev);
    ev->mem_left -= sizeof(inner);
    return value_optional_of(ev->mem, inner);
}

static bool is_zero(struct value v)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        return true;
    case VALUE_BOOL:
        return !v.b;
    case VALUE_INT:
    case VALUE_UINT:
        return v.u == 0;
    case VALUE_DOUBLE:
        return v.d == 0;
    case VALUE_STRING:
    case VALUE_BYTES:
    case VALUE_LIST:
    case VALUE_MAP:
        return v.len == 0;
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
        return v.seconds == 0 && v.nanos == 0;
    case VALUE_OPTIONAL:
        return v.inner == NULL;
    case VALUE_ABSENT:
    case VALUE_IP:
    case VALUE_CIDR:
    case VALUE_TYPE:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        return false;
    }
    PANIC("unknown kind of value");
}

struct value cel_fn_optional_of(struct cel_eval *ev, const struct value *args)
{
    return cel_optional(ev, args[0]);
}

struct value cel_fn_optional_of_non_zero(struct cel_eval *ev, const struct value *args)
{
    return is_zero(args[0]) ? value_optional_none() : cel_optional(ev, args[0]);
}

struct value cel_fn_optional_none(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    (void)args;
    return value_optional_none();
}

struct value cel_fn_optional_unwrap(struct cel_eval *ev, const struct value *args)
{
    struct value list = args[0];
    struct value *items;
    uint32_t n = 0;

    if (!cel_charge(ev, list.len))
        return cel_over_cost(ev);
    items = cel_alloc(ev, (size_t)list.len * sizeof(*items));
    if (items == NULL)
        return cel_over_memory(ev);
    for (uint32_t i = 0; i < list.len; i++) {
        if (list.items[i].kind != VALUE_OPTIONAL)
            return cel_no_overload(ev, args, 1);
        if (list.items[i].inner != NULL)
            items[n++] = *list.items[i].inner;
    }
    return value_list(items, n);
}

struct value cel_fn_optional_has_value(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return value_bool(args[0].inner != NULL);
}

struct value cel_fn_optional_value(struct cel_eval *ev, const struct value *args)
{
    return args[0].inner != NULL ? *args[0].inner : cel_fail(ev, "this optional has no value");
}

struct value cel_fn_optional_or(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return args[0].inner != NULL ? args[0] : args[1];
}

struct value cel_fn_optional_or_value(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return args[0].inner != NULL ? *args[0].inner : args[1];
}
