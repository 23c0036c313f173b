/* parts.c - what lists and maps are made of: taking it out, putting it together; see program.h. */
#include "base/text/utf8.h"
#include "cel/program.h"
#include "cel/syntax/foreign.h"

#include <math.h>
#include <stdio.h>

/* --- what stands at a key --- */

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
static const char *shown_key(char out[KEY_TEXT_MAX], struct value key)
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

/* The key of a map that a mistyped one is nearest to; empty when none is near. */
static struct str nearest_key(struct cel_eval *ev, struct value map, struct value key)
{
    enum { KEYS_LOOKED_AT = 100, LONGEST = 40 };
    unsigned limit = key.len < 4 ? 1 : 2;
    struct str best = STR_NONE;

    if (key.kind != VALUE_STRING || key.len > LONGEST)
        return best;
    for (uint32_t i = 0; i < map.len && i < KEYS_LOOKED_AT && limit > 0; i++) {
        struct value other = map.map->entries[i].key;
        unsigned distance;

        if (other.kind != VALUE_STRING || other.len > LONGEST || !cel_charge(ev, other.len))
            continue;
        distance = str_distance(value_text(key), value_text(other), limit);
        if (distance > limit)
            continue;
        best = value_text(other);
        limit = distance - 1;
    }
    return best;
}

static struct value no_such_key(struct cel_eval *ev, struct value map, struct value key)
{
    char shown[KEY_TEXT_MAX];
    struct str nearest = ev->mode == CEL_DEFINITION ? nearest_key(ev, map, key) : STR_NONE;
    struct err err;

    if (nearest.len > 0) {
        (void)err_set(&err, ERR_EXPRESSION_ERROR, "no such key: %s", shown_key(shown, key));
        err_set_hint(&err, "did you mean '%.*s'?", STR_ARG(nearest));
        return cel_fail(ev, "%pS", ERR_ARG(&err));
    }
    if (ev->mode == CEL_DEFINITION && key.kind == VALUE_STRING)
        return cel_fail(ev, "no such key: %s; has(a.b) and a.?b ask whether there is one",
                        shown_key(shown, key));
    return cel_fail(ev, "no such key: %s", shown_key(shown, key));
}

/* What stands at `key`, VALUE_ABSENT when nothing does, an error when it cannot be asked. */
static struct value part(struct cel_eval *ev, struct value v, struct value key)
{
    uint64_t i;

    if (v.kind == VALUE_MAP)
        return value_map_get(v, key);
    if (v.kind != VALUE_LIST)
        return operate_no_overload(ev, OPERATOR_INDEX, v, key);
    if (key.kind != VALUE_INT && key.kind != VALUE_UINT && key.kind != VALUE_DOUBLE)
        return operate_no_overload(ev, OPERATOR_INDEX, v, key);
    return list_index(key, &i) && i < v.len ? v.items[i] : value_absent();
}

struct value operate_optional_index(struct cel_eval *ev, struct value v, struct value key)
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

struct value operate_index(struct cel_eval *ev, struct value v, struct value key)
{
    char shown[KEY_TEXT_MAX];
    struct value found;

    if (v.kind == VALUE_OPTIONAL)
        return operate_optional_index(ev, v, key);
    found = part(ev, v, key);
    if (found.kind != VALUE_ABSENT)
        return found;
    if (v.kind == VALUE_LIST)
        return cel_fail(ev, "index out of range: %s of %u", shown_key(shown, key), v.len);
    return no_such_key(ev, v, key);
}

struct value operate_field(struct cel_eval *ev, struct value v, struct value key)
{
    char shown[KEY_TEXT_MAX];
    struct value found;

    if (v.kind == VALUE_MAP) {
        found = value_map_get(v, key);
        return found.kind != VALUE_ABSENT ? found : no_such_key(ev, v, key);
    }
    if (v.kind == VALUE_OPTIONAL)
        return operate_optional_field(ev, v, key);
    if (v.kind == VALUE_NULL)
        return cel_fail(ev, "no such field: %s of null", shown_key(shown, key));
    if (key.kind == VALUE_STRING && foreign_advice(FOREIGN_FIELD, value_text(key)) != NULL)
        return cel_fail(ev, "no such field: %s has no %s: %s",
                        value_kind_name((enum value_kind)v.kind), shown_key(shown, key),
                        foreign_advice(FOREIGN_FIELD, value_text(key)));
    return cel_fail(ev, "no such field: %s has no fields, so it has no %s",
                    value_kind_name((enum value_kind)v.kind), shown_key(shown, key));
}

struct value operate_optional_field(struct cel_eval *ev, struct value v, struct value key)
{
    struct value held = v.kind == VALUE_OPTIONAL && v.inner != NULL ? *v.inner : v;

    if (held.kind == VALUE_LIST)
        return operate_field(ev, held, key);
    if (held.kind != VALUE_MAP && held.kind != VALUE_OPTIONAL &&
        !(held.kind == VALUE_NULL && ev->mode == CEL_DEFINITION))
        return operate_field(ev, held, key);
    return operate_optional_index(ev, v, key);
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

static bool part_may_be_key(struct value v)
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
        if (!part_may_be_key(items[i]))
            return cel_fail(ev, "unsupported key type: %s",
                            value_kind_name((enum value_kind)items[i].kind));
        entries[n++] = (struct value_entry){.key = items[i], .value = v};
    }
    map = value_map_make(ev->mem, entries, n, &duplicate);
    if (map.kind == VALUE_ABSENT)
        return cel_fail(ev, "repeated key: %s", shown_key(shown, entries[duplicate].key));
    return map;
}
