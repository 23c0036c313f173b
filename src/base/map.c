/* map.c - an array of entries and an index into it by hash, with linear probing. */
#include "base/map.h"

#include "base/hash.h"

enum { MAP_CAPACITY_FIRST = 8, MAP_CAPACITY_MAX = 1 << 30 };

void map_init(struct map *m, struct arena *mem)
{
    *m = (struct map){.mem = mem};
}

static uint64_t index_mask(const struct map *m)
{
    return (uint64_t)m->capacity * 2 - 1;
}

struct map_entry *map_find(const struct map *m, struct str key)
{
    uint64_t hash = hash_bytes(key.ptr, key.len);

    if (m->count == 0)
        return NULL;
    for (uint64_t at = hash;; at++) {
        uint32_t slot = m->index[at & index_mask(m)];
        struct map_entry *e;

        if (slot == 0)
            return NULL;
        e = &m->entries[slot - 1];
        if (e->hash == hash && e->key.ptr != NULL && str_eq(e->key, key))
            return e;
    }
}

static void index_entry(struct map *m, uint32_t place)
{
    uint64_t at = m->entries[place].hash;

    while (m->index[at & index_mask(m)] != 0)
        at++;
    m->index[at & index_mask(m)] = place + 1;
}

/* Make room for one more: by dropping removed entries where they are many, else by growing. */
static void make_room(struct map *m)
{
    struct map_entry *entries = m->entries;
    uint32_t kept = 0;

    if (m->capacity == 0 || m->count > m->capacity / 2) {
        ASSERT(m->capacity < MAP_CAPACITY_MAX);
        m->capacity = m->capacity == 0 ? MAP_CAPACITY_FIRST : m->capacity * 2;
        entries = ARENA_ARRAY(m->mem, m->capacity, struct map_entry);
        m->index = ARENA_ARRAY(m->mem, (size_t)m->capacity * 2, uint32_t);
    }
    memset(m->index, 0, (size_t)m->capacity * 2 * sizeof(*m->index));
    for (uint32_t i = 0; i < m->used; i++)
        if (m->entries[i].key.ptr != NULL)
            entries[kept++] = m->entries[i];
    m->entries = entries;
    m->used = kept;
    for (uint32_t i = 0; i < kept; i++)
        index_entry(m, i);
    ASSERT_SLOW((map_check(m), true));
}

struct map_entry *map_add(struct map *m, struct str key, bool *is_new)
{
    struct map_entry *e = map_find(m, key);

    if (is_new != NULL)
        *is_new = e == NULL;
    if (e != NULL)
        return e;
    if (m->used == m->capacity)
        make_room(m);
    e = &m->entries[m->used];
    /* A key without bytes still needs a pointer, which says that the entry is there. */
    *e = (struct map_entry){.key = key.len == 0 ? STR("") : key,
                            .hash = hash_bytes(key.ptr, key.len)};
    index_entry(m, m->used);
    m->used++;
    m->count++;
    return e;
}

void *map_get(const struct map *m, struct str key)
{
    const struct map_entry *e = map_find(m, key);

    return e == NULL ? NULL : e->ptr;
}

void map_put(struct map *m, struct str key, void *ptr)
{
    map_add(m, key, NULL)->ptr = ptr;
}

bool map_remove(struct map *m, struct str key)
{
    struct map_entry *e = map_find(m, key);

    if (e == NULL)
        return false;
    e->key = STR_NONE;
    m->count--;
    return true;
}

struct map_entry *map_next(const struct map *m, const struct map_entry *entry)
{
    uint32_t i = entry == NULL ? 0 : (uint32_t)(entry - m->entries) + 1;

    for (; i < m->used; i++)
        if (m->entries[i].key.ptr != NULL)
            return &m->entries[i];
    return NULL;
}

void map_check(const struct map *m)
{
    uint32_t there = 0, indexed = 0;

    ASSERT(m->count <= m->used && m->used <= m->capacity);
    for (uint32_t i = 0; i < m->used; i++) {
        const struct map_entry *e = &m->entries[i];
        if (e->key.ptr == NULL)
            continue;
        there++;
        ASSERT(e->hash == hash_bytes(e->key.ptr, e->key.len));
        ASSERT(map_find(m, e->key) == e);
    }
    ASSERT(there == m->count);
    for (uint64_t i = 0; i < (uint64_t)m->capacity * 2; i++) {
        ASSERT(m->index[i] <= m->used);
        indexed += m->index[i] != 0;
    }
    ASSERT(indexed == m->used);
}
