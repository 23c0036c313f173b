/* value.c - making values, and the maps among them; see value.h. */
#include "value/value.h"

#include "base/names.h"
#include "base/text/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const kind_names[] = {
#define KIND(symbol, name) (name),
#include "value/kind.def"
#undef KIND
};

static const struct value_map empty_map = {.count = 0};

NAMES_NAME(value_kind_name, enum value_kind, kind_names)

bool value_list_has_text(struct value list, struct str text)
{
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++)
        if (list.items[i].kind == VALUE_STRING && str_eq(value_text(list.items[i]), text))
            return true;
    return false;
}

struct value value_optional_of(struct arena *mem, struct value inner)
{
    struct value *held = arena_alloc(mem, sizeof(*held));

    *held = inner;
    return (struct value){.kind = VALUE_OPTIONAL, .inner = held};
}

struct value value_error_of(struct arena *mem, enum err_code code, uint32_t offset,
                            struct sentence message)
{
    struct value_error *e = arena_alloc(mem, sizeof(*e));

    message = sentence_copy(mem, message);
    *e = (struct value_error){.code = code,
                              .offset = offset,
                              .message = message.text.ptr,
                              .parts = message.parts,
                              .part_count = message.part_count};
    return (struct value){.kind = VALUE_ERROR, .error = e};
}

struct value value_error(struct arena *mem, enum err_code code, uint32_t offset, const char *format,
                         ...)
{
    struct sentence_storage storage;
    struct sentence message;
    va_list args;

    va_start(args, format);
    message = sentence_vmake_in(&storage, ERROR_TEXT_MAX, format, args);
    va_end(args);
    return value_error_of(mem, code, offset, message);
}

struct sentence value_sentence(struct value error)
{
    ASSERT(error.kind == VALUE_ERROR);
    return (struct sentence){.text = str_of(error.error->message),
                             .parts = error.error->parts,
                             .part_count = error.error->part_count};
}

/* --- maps --- */

static bool same_key(const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_STRING)
        return value_head(a) == value_head(b) &&
               (a->len == 0 || memcmp(a->text, b->text, a->len) == 0);
    return a->kind == b->kind && a->u == b->u;
}

/*
 * Numbers that are the same key become the same value: what fits int64 is an
 * int. False when a value cannot equal any key.
 */
static bool normal_key(struct value *key)
{
    switch ((enum value_kind)key->kind) {
    case VALUE_STRING:
        if (key->hash == 0)
            key->hash = value_key_hash(value_text(*key));
        return true;
    case VALUE_BOOL:
    case VALUE_INT:
        return true;
    case VALUE_UINT:
        if (key->u <= INT64_MAX)
            *key = value_int((int64_t)key->u);
        return true;
    case VALUE_DOUBLE:
        if (!(key->d >= -0x1p63 && key->d < 0x1p64) || key->d != trunc(key->d))
            return false;
        *key = key->d < 0x1p63 ? value_int((int64_t)key->d) : value_uint((uint64_t)key->d);
        return true;
    case VALUE_ABSENT:
    case VALUE_NULL:
    case VALUE_BYTES:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
    case VALUE_IP:
    case VALUE_CIDR:
    case VALUE_TYPE:
    case VALUE_OPTIONAL:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        return false;
    }
    PANIC("unknown kind of value");
}

/* Compare a normal key with a stored one, which keeps the kind it was written with. */
static bool entry_has_key(const struct value *stored, const struct value *key)
{
    if (same_key(stored, key))
        return true;
    return stored->kind == VALUE_UINT && key->kind == VALUE_INT && key->i >= 0 &&
           stored->u == key->u;
}

static uint64_t key_index_hash(const struct value *normal)
{
    if (normal->kind == VALUE_STRING)
        return hash_bytes(normal->text, normal->len);
    return hash_int(normal->u ^ (uint64_t)normal->kind << 60);
}

static const struct value_entry *find_entry(const struct value_map *m, const struct value *key)
{
    if (m->index == NULL) {
        for (uint32_t i = 0; i < m->count; i++)
            if (entry_has_key(&m->entries[i].key, key))
                return &m->entries[i];
        return NULL;
    }
    for (uint64_t at = key_index_hash(key);; at++) {
        uint32_t slot = m->index[at & m->index_mask];
        if (slot == 0)
            return NULL;
        if (entry_has_key(&m->entries[slot - 1].key, key))
            return &m->entries[slot - 1];
    }
}

struct value value_map_get(struct value map, struct value key)
{
    const struct value_entry *e;

    if (map.kind != VALUE_MAP || !normal_key(&key))
        return value_absent();
    e = find_entry(map.map, &key);
    return e == NULL ? value_absent() : e->value;
}

const struct value *value_map_field_large(const struct value_map *m, const struct value *key)
{
    const struct value_entry *e = find_entry(m, key);

    return e == NULL ? NULL : &e->value;
}

struct value value_map_get_key(struct value map, struct value key)
{
    const struct value *found;

    if (map.kind != VALUE_MAP)
        return value_absent();
    found = value_map_field(map.map, &key);
    return found == NULL ? value_absent() : *found;
}

struct value value_map_empty(void)
{
    return (struct value){.kind = VALUE_MAP, .map = &empty_map};
}

static struct value map_of(const struct value_map *m)
{
    return (struct value){.kind = VALUE_MAP, .len = m->count, .map = m};
}

/* Whether one of the first `count` entries has this key, which is normal. */
static bool any_has_key(const struct value_entry *entries, size_t count, const struct value *key)
{
    for (size_t i = 0; i < count; i++)
        if (entry_has_key(&entries[i].key, key))
            return true;
    return false;
}

/* Give keys their hash; answers the place of a key that stands twice, or `count`. */
static size_t hash_small(struct value_entry *entries, size_t count)
{
    uint64_t seen = 0; /* a bit for six bits of each hash so far: most keys are new at a glance */

    for (size_t i = 0; i < count; i++) {
        struct value key = entries[i].key;
        uint64_t bit = 1;

        if (LIKELY(key.kind == VALUE_STRING)) {
            if (key.hash == 0)
                entries[i].key.hash = key.hash = value_key_hash(value_text(key));
            bit = (uint64_t)1 << (key.hash >> 10);
        } else if (!normal_key(&key)) {
            continue;
        }
        if (UNLIKELY((seen & bit) != 0) && any_has_key(entries, i, &key))
            return i;
        seen |= bit;
    }
    return count;
}

/* The same for a map with an index, which is filled. */
static size_t hash_large(struct value_entry *entries, size_t count, uint32_t *index, uint32_t mask)
{
    for (size_t i = 0; i < count; i++) {
        struct value key;
        uint64_t at;

        if (entries[i].key.kind == VALUE_STRING && entries[i].key.hash == 0)
            entries[i].key.hash = value_key_hash(value_text(entries[i].key));
        key = entries[i].key;
        if (!normal_key(&key))
            continue;
        for (at = key_index_hash(&key); index[at & mask] != 0; at++)
            if (entry_has_key(&entries[index[at & mask] - 1].key, &key))
                return i;
        index[at & mask] = (uint32_t)i + 1;
    }
    return count;
}

struct value value_map_make(struct arena *mem, struct value_entry *entries, size_t count,
                            size_t *duplicate)
{
    struct value_map *m;
    uint32_t *index;
    size_t size = 32, twice;

    ASSERT(count <= VALUE_LEN_MAX / 2);
    if (count == 0)
        return value_map_empty();
    m = arena_alloc(mem, sizeof(*m));
    *m = (struct value_map){.count = (uint32_t)count, .entries = entries};
    if (count <= VALUE_MAP_SMALL) {
        twice = hash_small(entries, count);
    } else {
        while (size < count + count / 2)
            size *= 2;
        index = arena_zalloc(mem, size * sizeof(*index));
        m->index = index;
        m->index_mask = (uint32_t)(size - 1);
        twice = hash_large(entries, count, index, m->index_mask);
    }
    if (twice < count) {
        *duplicate = twice;
        return value_absent();
    }
    return map_of(m);
}

struct value value_map_take(struct arena *mem, struct value_entry *entries, size_t count)
{
    size_t duplicate;
    struct value map = value_map_make(mem, entries, count, &duplicate);

    ASSERT(map.kind == VALUE_MAP);
    return map;
}

struct value value_map_of(struct arena *mem, const struct value_entry *entries, size_t count)
{
    struct value_entry *own = ARENA_ARRAY(mem, count, struct value_entry);

    if (count > 0)
        memcpy(own, entries, count * sizeof(*own));
    return value_map_take(mem, own, count);
}

struct value value_copy(struct arena *mem, struct value v)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_STRING:
    case VALUE_BYTES:
    case VALUE_IP:
    case VALUE_CIDR:
        v.text = arena_copy(mem, v.text, v.len);
        return v;
    case VALUE_LIST: {
        struct value *items = ARENA_ARRAY(mem, v.len, struct value);
        for (uint32_t i = 0; i < v.len; i++)
            items[i] = value_copy(mem, v.items[i]);
        v.items = items;
        return v;
    }
    case VALUE_MAP: {
        struct value_entry *entries = ARENA_ARRAY(mem, v.len, struct value_entry);
        size_t duplicate;
        for (uint32_t i = 0; i < v.len; i++)
            entries[i] = (struct value_entry){value_copy(mem, v.map->entries[i].key),
                                              value_copy(mem, v.map->entries[i].value)};
        return value_map_make(mem, entries, v.len, &duplicate);
    }
    case VALUE_OPTIONAL:
        return v.inner == NULL ? v : value_optional_of(mem, value_copy(mem, *v.inner));
    case VALUE_TYPE:
        v.type_name = arena_copy(mem, v.type_name, strlen(v.type_name));
        return v;
    case VALUE_ERROR:
        return value_error_of(mem, v.error->code, v.error->offset, value_sentence(v));
    case VALUE_ABSENT:
    case VALUE_NULL:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_DOUBLE:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
    case VALUE_KIND_COUNT:
        return v;
    }
    PANIC("unknown kind of value");
}
