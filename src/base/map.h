/*
 * map.h - a table from text to a pointer or a number.
 *
 *     struct map map;
 *     map_init(&map, mem);
 *     map_put(&map, name, definition);
 *     definition = map_get(&map, name);
 *
 * Keys are borrowed: they must live as long as their entry, usually because
 * they stand in the thing that the entry points to, else through str_copy().
 * Walking through a map goes in the order in which keys were first added, so
 * nothing that anyone sees depends on the hash seed. Memory comes from an
 * arena; a map whose keys come and go stays as large as it was at its fullest.
 *
 * Not for values of JSON and CEL: those are struct value_map, and immutable.
 *
 * Invariants: entries[0 .. used) hold the entries in order of age, removed
 * ones having no key pointer; index has twice as many slots as there is room
 * for entries, so a search always ends at a free slot.
 */
#ifndef PAWL_BASE_MAP_H
#define PAWL_BASE_MAP_H

#include "base/str.h"

struct map_entry {
    struct str key; /* ptr is NULL once removed */
    uint64_t hash;
    union {
        void *ptr;
        uint64_t number;
    };
};

struct map {
    struct arena *mem;
    struct map_entry *entries;
    uint32_t *index;   /* place in entries + 1, by hash; 0 = free */
    uint32_t capacity; /* how many entries fit */
    uint32_t used;     /* entries in use, removed ones included */
    uint32_t count;    /* entries that are there */
};

/* Make an empty map. Nothing is allocated before the first key. */
void map_init(struct map *m, struct arena *mem);

/* The entry of `key`, or NULL. It stays where it is until the next key is added. */
struct map_entry *map_find(const struct map *m, struct str key);

/*
 * The entry of `key`, made with number 0 and pointer NULL when there is none;
 * *is_new, which may be NULL, says so. `key` is kept when it is new.
 */
struct map_entry *map_add(struct map *m, struct str key, bool *is_new);

/* The pointer under `key`, or NULL. */
void *map_get(const struct map *m, struct str key);

/* Set the pointer under `key`, in place of an earlier one. The earlier key is kept. */
void map_put(struct map *m, struct str key, void *ptr);

/* Take `key` out. False when it was not there. */
bool map_remove(struct map *m, struct str key);

/*
 * The entry added after `entry`, the first one for NULL, and NULL at the end.
 * On the way entries may be removed, but none added.
 */
struct map_entry *map_next(const struct map *m, const struct map_entry *entry);

/* Panic unless the invariants hold. */
void map_check(const struct map *m);

#endif
