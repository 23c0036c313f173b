/*
 * alloc.h - heap memory, for what outlives every arena or is given back alone.
 *
 * Never NULL: running out of memory panics, as it does in arenas. Give it back
 * with free().
 */
#ifndef PAWL_BASE_ALLOC_H
#define PAWL_BASE_ALLOC_H

#include "base/str.h"

#include <stdlib.h>

/* `size` bytes, not cleared; and filled with zeros. */
void *alloc_bytes(size_t size);
void *alloc_zeroed(size_t size);

/* `count` items of `size` bytes, filled with zeros; an overflowing product panics. */
void *alloc_array(size_t count, size_t size);

/* The same memory with a new number of items; those that are added are not cleared. */
void *alloc_resize(void *old, size_t count, size_t size);

/* A copy of a text with a zero byte at its end. */
char *alloc_text(struct str text);

/* What a library has made, which is NULL only when it ran out of memory. */
static inline void *alloc_check(void *made)
{
    if (UNLIKELY(made == NULL))
        PANIC("out of memory");
    return made;
}

#define ALLOC_NEW(type) ((type *)alloc_zeroed(sizeof(type)))
#define ALLOC_ARRAY(count, type) ((type *)alloc_array((count), sizeof(type)))

#endif
