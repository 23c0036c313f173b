/*
 * items.h - a list of values that grows at its end and that states share:
 * what a loop has collected, what has been rolled back.
 *
 * Like signals.h: a state copies the last chunk when it is not its own and
 * never writes to another's, so adding one costs the same however many there
 * are.
 */
#ifndef PAWL_ENGINE_ITEMS_H
#define PAWL_ENGINE_ITEMS_H

#include "base/arena.h"
#include "value/value.h"

enum { ITEM_CHUNK = 32 };

struct item_chunk {
    const void *owner;
    const struct item_chunk *older;
    uint32_t count; /* never 0 */
    struct value items[ITEM_CHUNK];
};

/* Empty when all zeros. */
struct items {
    struct item_chunk *last;
    uint32_t count;
    size_t bytes; /* as JSON, without what stands between them */
};

/* One more at the end, `bytes` long as JSON; `owner` is the state that is being made. */
void items_add(struct arena *mem, struct items *list, const void *owner, struct value item,
               size_t bytes);

/* All of them as a list value in `mem`. */
struct value items_value(struct arena *mem, const struct items *list);

/* The same list with copies of the values in `mem`. */
struct items items_copy(struct arena *mem, const struct items *list, const void *owner);

#endif
