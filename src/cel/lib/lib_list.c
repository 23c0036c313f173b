/*
 * lib_list.c - functions on lists. Results that are a part of an argument
 * point into it.
 */
#include "cel/lib/lib.h"

#include "base/wide.h"

#include <inttypes.h>
#include <math.h>

/* --- parts --- */

struct value cel_fn_list_slice(struct cel_eval *ev, const struct value *args)
{
    int64_t start = args[1].i, end = args[2].i;

    if (start < 0 || start > end || end > args[0].len)
        return cel_fail(
            ev, "slice(%" PRId64 ", %" PRId64 ") is not a part of a list of %" PRIu32 " items",
            start, end, args[0].len);
    return start == end ? value_list(NULL, 0)
                        : value_list(args[0].items + start, (size_t)(end - start));
}

/* An optional holds a value by reference, so an item of the list serves as it is. */
static struct value optional_item(struct value list, uint32_t index)
{
    if (list.len == 0)
        return value_optional_none();
    return (struct value){.kind = VALUE_OPTIONAL, .inner = &list.items[index]};
}

struct value cel_fn_list_first(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return optional_item(args[0], 0);
}

struct value cel_fn_list_last(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return optional_item(args[0], args[0].len - 1);
}

struct value cel_fn_list_range(struct cel_eval *ev, const struct value *args)
{
    struct value *items;

    if (args[0].i < 0)
        return cel_fail(ev, "a list cannot have %" PRId64 " items", args[0].i);
    if (!cel_charge(ev, (uint64_t)args[0].i))
        return cel_over_cost(ev);
    items = cel_alloc_items(ev, (size_t)args[0].i);
    if (items == NULL)
        return cel_over_memory(ev);
    for (int64_t i = 0; i < args[0].i; i++)
        items[i] = value_int(i);
    return value_list(items, (size_t)args[0].i);
}

/* --- flatten --- */

/* A flatten while it runs: first counts the items, then fills them in. */
struct flat {
    struct cel_eval *ev;
    struct value *items; /* NULL while counting */
    size_t count;
    bool over_cost;
    bool too_deep;
};

static void flatten_into(struct flat *f, struct value list, int64_t levels, unsigned depth)
{
    f->over_cost = f->over_cost || !cel_charge(f->ev, (uint64_t)list.len + 1);
    f->too_deep = f->too_deep || depth > CEL_NESTING_MAX;
    for (uint32_t i = 0; i < list.len && !f->over_cost && !f->too_deep; i++) {
        if (levels > 0 && list.items[i].kind == VALUE_LIST) {
            flatten_into(f, list.items[i], levels - 1, depth + 1);
            continue;
        }
        if (f->items != NULL)
            f->items[f->count] = list.items[i];
        f->count++;
    }
}

struct value cel_fn_list_flatten(struct cel_eval *ev, const struct value *args)
{
    struct flat f = {.ev = ev};
    int64_t levels = ev->arg_count == 2 ? args[1].i : 1;

    if (levels < 0)
        return cel_fail(ev, "a list cannot be flattened by %" PRId64 " levels", levels);
    flatten_into(&f, args[0], levels, 0);
    if (f.too_deep)
        return cel_fail(ev, "the list is nested more than %d levels deep", CEL_NESTING_MAX);
    if (!f.over_cost) {
        f.items = cel_alloc_items(ev, f.count);
        if (f.items == NULL)
            return cel_over_memory(ev);
        f.count = 0;
        flatten_into(&f, args[0], levels, 0);
    }
    return f.over_cost ? cel_over_cost(ev) : value_list(f.items, f.count);
}

/* --- distinct --- */

enum { HASH_DEPTH = 3, HASH_LIST_ITEMS = 8, HASH_MAP_ENTRIES = 32 };

static uint64_t hash_number(struct value v)
{
    if (v.kind == VALUE_DOUBLE && v.d == trunc(v.d) && v.d >= -0x1p63 && v.d < 0x1p64)
        v.u = v.d < 0x1p63 ? (uint64_t)(int64_t)v.d : (uint64_t)v.d;
    return hash_int(v.u);
}

static uint64_t hash_value(struct cel_eval *ev, struct value v, unsigned depth);

/* Parts only, to bound the work; the order of a map's entries does not count. */
static uint64_t hash_container(struct cel_eval *ev, struct value v, unsigned depth)
{
    uint64_t h = v.len;

    if (depth == HASH_DEPTH)
        return hash_int(h);
    if (v.kind == VALUE_LIST) {
        for (uint32_t i = 0; i < v.len && i < HASH_LIST_ITEMS; i++)
            h = hash_mix(h ^ hash_value(ev, v.items[i], depth + 1), 0x9e3779b97f4a7c15u);
    } else if (v.len <= HASH_MAP_ENTRIES) {
        for (uint32_t i = 0; i < v.len; i++)
            h += hash_mix(hash_value(ev, v.map->entries[i].key, depth + 1) | 1,
                          hash_value(ev, v.map->entries[i].value, depth + 1));
    }
    return hash_int(h);
}

/* Equal values, 1 and 1.0 among them, have the same hash. */
static uint64_t hash_value(struct cel_eval *ev, struct value v, unsigned depth)
{
    ev->cost_left--;
    switch ((enum value_kind)v.kind) {
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_DOUBLE:
        return hash_number(v);
    case VALUE_STRING:
    case VALUE_BYTES:
    case VALUE_IP:
    case VALUE_CIDR:
        ev->cost_left -= v.len / CEL_BYTES_PER_UNIT;
        return hash_bytes(v.text, v.len) ^ v.kind;
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
        return hash_int((uint64_t)v.seconds ^ (uint64_t)v.nanos << 34) ^ v.kind;
    case VALUE_BOOL:
        return hash_int(v.u) ^ v.kind;
    case VALUE_LIST:
    case VALUE_MAP:
        return hash_container(ev, v, depth) ^ v.kind;
    case VALUE_TYPE:
        return hash_bytes(v.type_name, strlen(v.type_name)) ^ v.kind;
    case VALUE_OPTIONAL:
        return v.inner == NULL || depth == HASH_DEPTH ? v.kind
                                                      : hash_value(ev, *v.inner, depth + 1);
    case VALUE_ABSENT:
    case VALUE_NULL:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        return v.kind;
    }
    PANIC("unknown kind of value");
}

struct slot {
    uint32_t item; /* number of an item that is kept + 1; 0 = free */
    uint32_t hash;
};

/* Keep `v` unless an equal one is kept already. False when the budget is spent. */
static bool keep_distinct(struct cel_eval *ev, struct slot *slots, size_t mask, struct value *kept,
                          uint32_t *count, struct value v)
{
    uint64_t hash = hash_value(ev, v, 0);
    size_t at = (size_t)hash & mask;

    /* Equal to nothing, not even to itself: looking would compare with every other one. */
    if (v.kind == VALUE_DOUBLE && isnan(v.d)) {
        kept[(*count)++] = v;
        return ev->cost_left >= 0;
    }
    for (; slots[at].item != 0; at = (at + 1) & mask) {
        if (slots[at].hash != (uint32_t)(hash >> 32)) {
            ev->cost_left--;
            continue;
        }
        if (value_equal(kept[slots[at].item - 1], v, &ev->cost_left))
            return true;
        if (ev->cost_left < 0)
            return false;
    }
    kept[(*count)++] = v;
    slots[at] = (struct slot){.item = *count, .hash = (uint32_t)(hash >> 32)};
    return ev->cost_left >= 0;
}

struct value cel_fn_list_distinct(struct cel_eval *ev, const struct value *args)
{
    struct value *kept;
    struct slot *slots;
    size_t size = 8;
    uint32_t n = 0;

    while (size < (size_t)args[0].len * 2)
        size *= 2;
    if (!cel_charge(ev, args[0].len))
        return cel_over_cost(ev);
    kept = cel_alloc_items(ev, args[0].len);
    slots = cel_alloc(ev, size * sizeof(*slots));
    if (kept == NULL || slots == NULL)
        return cel_over_memory(ev);
    memset(slots, 0, size * sizeof(*slots));
    for (uint32_t i = 0; i < args[0].len; i++)
        if (!keep_distinct(ev, slots, size - 1, kept, &n, args[0].items[i]))
            return cel_over_cost(ev);
    return value_list(kept, n);
}

/* --- sort --- */

/*
 * Whether the keys have an order among themselves. As all that compare with
 * one also compare with each other, the sort itself cannot fail.
 */
static bool keys_are_ordered(struct value keys, uint32_t *odd)
{
    for (uint32_t i = 0; i < keys.len; i++) {
        int c = value_compare(keys.items[0], keys.items[i]);
        if (c == VALUE_UNORDERED || c == VALUE_INCOMPARABLE) {
            *odd = i;
            return false;
        }
    }
    return true;
}

static struct value fail_order(struct cel_eval *ev, struct value keys, uint32_t odd)
{
    struct value a = keys.items[0], b = keys.items[odd];

    if ((a.kind == VALUE_DOUBLE && isnan(a.d)) || (b.kind == VALUE_DOUBLE && isnan(b.d)))
        return cel_fail(ev, "NaN has no place in an order");
    if (a.kind == b.kind)
        return cel_fail(ev, "values of type %s have no order", value_kind_name(a.kind));
    return cel_fail(ev, "values of types %s and %s have no common order", value_kind_name(a.kind),
                    value_kind_name(b.kind));
}

static void merge(const struct value *keys, const uint32_t *from, uint32_t *to, size_t start,
                  size_t middle, size_t end)
{
    size_t left = start, right = middle;

    for (size_t i = start; i < end; i++) {
        /* The right one goes first only when it is less: equal keys keep their order. */
        bool take_right = left == middle ||
                          (right < end && value_compare(keys[from[right]], keys[from[left]]) < 0);
        to[i] = from[take_right ? right++ : left++];
    }
}

/* The numbers of the keys in order, in `order` or in `spare`, both of keys.len. */
static const uint32_t *merge_sort(struct value keys, uint32_t *order, uint32_t *spare)
{
    size_t n = keys.len;

    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t width = 1; width < n; width *= 2) {
        uint32_t *done = spare;
        for (size_t start = 0; start < n; start += 2 * width) {
            size_t middle = start + width < n ? start + width : n;
            size_t end = middle + width < n ? middle + width : n;
            merge(keys.items, order, spare, start, middle, end);
        }
        spare = order;
        order = done;
    }
    return order;
}

/* Every round of the sort looks at every key, at all of its text in the worst case. */
static bool charge_sort(struct cel_eval *ev, struct value keys)
{
    uint64_t units = keys.len, rounds = 1;

    if (!cel_charge(ev, keys.len))
        return false;
    for (uint32_t i = 0; i < keys.len; i++)
        if (keys.items[i].kind == VALUE_STRING || keys.items[i].kind == VALUE_BYTES)
            units += keys.items[i].len / CEL_BYTES_PER_UNIT;
    while (keys.len >> rounds != 0)
        rounds++;
    return cel_charge(ev, units * rounds);
}

static struct value sort_by(struct cel_eval *ev, struct value list, struct value keys)
{
    struct value *sorted;
    uint32_t *numbers, odd;
    const uint32_t *order;

    if (list.len == 0)
        return list;
    if (!charge_sort(ev, keys))
        return cel_over_cost(ev);
    if (!keys_are_ordered(keys, &odd))
        return fail_order(ev, keys, odd);
    numbers = cel_alloc(ev, (size_t)list.len * 2 * sizeof(*numbers));
    sorted = cel_alloc_items(ev, list.len);
    if (numbers == NULL || sorted == NULL)
        return cel_over_memory(ev);
    order = merge_sort(keys, numbers, numbers + list.len);
    for (uint32_t i = 0; i < list.len; i++)
        sorted[i] = list.items[order[i]];
    return value_list(sorted, list.len);
}

struct value cel_fn_list_sort(struct cel_eval *ev, const struct value *args)
{
    return sort_by(ev, args[0], args[0]);
}

struct value cel_fn_sort_by_keys(struct cel_eval *ev, const struct value *args)
{
    if (args[0].len != args[1].len)
        return cel_fail(ev, "%" PRIu32 " items cannot be sorted by %" PRIu32 " keys", args[0].len,
                        args[1].len);
    return sort_by(ev, args[0], args[1]);
}

/* --- sum --- */

/* Integers are added without rounding or overflow, whatever their order. */
struct total {
    uint128 above; /* sum of the positive integers */
    uint128 below; /* of the negative ones, without the sign */
    double doubles;
    bool has_int, has_uint, has_double;
};

static bool total_add(struct total *t, struct value v)
{
    if (v.kind == VALUE_UINT) {
        t->has_uint = true;
        t->above += v.u;
    } else if (v.kind == VALUE_INT) {
        t->has_int = true;
        if (v.i >= 0)
            t->above += v.u;
        else
            t->below += 0 - v.u;
    } else if (v.kind == VALUE_DOUBLE) {
        t->has_double = true;
        t->doubles += v.d;
    } else {
        return false;
    }
    return true;
}

static struct value total_result(struct cel_eval *ev, const struct total *t)
{
    bool negative = t->below > t->above;
    uint128 size = negative ? t->below - t->above : t->above - t->below;

    if (t->has_double || (t->has_int && t->has_uint))
        return value_double(t->doubles + (negative ? -(double)size : (double)size));
    if (t->has_uint)
        return size <= UINT64_MAX ? value_uint((uint64_t)size)
                                  : cel_fail(ev, "integer overflow: the sum is not a uint");
    if (size > (negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX))
        return cel_fail(ev, "integer overflow: the sum is not an int");
    return value_int((int64_t)(negative ? 0 - (uint64_t)size : (uint64_t)size));
}

struct value cel_fn_list_sum(struct cel_eval *ev, const struct value *args)
{
    struct total t = {.doubles = 0};

    if (!cel_charge(ev, args[0].len))
        return cel_over_cost(ev);
    for (uint32_t i = 0; i < args[0].len; i++)
        if (!total_add(&t, args[0].items[i]))
            return cel_fail(ev, "only numbers have a sum, item %" PRIu32 " is of type %s", i,
                            value_kind_name(args[0].items[i].kind));
    return total_result(ev, &t);
}
