/*
 * vec.h - an array that grows in an arena.
 *
 *     struct names {
 *         VEC_OF(struct str);
 *     };
 *
 *     struct names names = {0};
 *     *VEC_ADD(mem, &names) = STR("pay");
 *     for (size_t i = 0; i < names.count; i++)
 *         use(names.items[i]);
 *
 * An empty one is all zeros. Growing doubles the array and moves it, so a
 * pointer to an item holds until the next VEC_ADD. What it leaves behind stays
 * in the arena until that is reset: at most as much as the array itself. Take
 * the last item away with `count--`, all of them with `count = 0`.
 */
#ifndef PAWL_BASE_VEC_H
#define PAWL_BASE_VEC_H

#include "base/arena.h"

#include <stddef.h>
#include <string.h>

/* The fields of a struct that is a vector of `type`, and of nothing else. */
#define VEC_OF(type)                                                                               \
    type *items;                                                                                   \
    size_t count;                                                                                  \
    size_t capacity

/*
 * A pointer to one more item at the end, not cleared. `vec` is a pointer and
 * must be the name of a variable or a field: it is read more than once.
 */
#define VEC_ADD(mem, vec)                                                                          \
    ((vec)->items =                                                                                \
         vec_grow((mem), (vec)->items, (vec)->count, &(vec)->capacity, sizeof(*(vec)->items)),     \
     &(vec)->items[(vec)->count++])

/* For VEC_ADD: the array, moved when it was full. */
static inline void *vec_grow(struct arena *mem, void *items, size_t count, size_t *capacity,
                             size_t item_bytes)
{
    void *moved;

    if (LIKELY(count < *capacity))
        return items;
    *capacity = *capacity == 0 ? 8 : *capacity * 2;
    moved = arena_array(mem, *capacity, item_bytes);
    if (count > 0)
        memcpy(moved, items, count * item_bytes);
    return moved;
}

#endif
