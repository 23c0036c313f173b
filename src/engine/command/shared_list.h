/*
 * shared_list.h - a list that grows at its end and that states share.
 *
 * A list holds chunks, each with up to SHARED_CHUNK items, oldest first. A new
 * state shares the chunks of the one it came from and copies only those it
 * changes, so that one more item costs the same however many there are. A chunk
 * belongs to the state that made it (`owner`) and is written to by that alone;
 * so does the array of chunks.
 *
 * items.h and signals.h say what the items are. All of one list have the same
 * size, which is a multiple of 8.
 */
#ifndef PAWL_ENGINE_COMMAND_SHARED_LIST_H
#define PAWL_ENGINE_COMMAND_SHARED_LIST_H

#include "base/arena.h"

#include <stdalign.h>

enum { SHARED_CHUNK = 32 };

struct shared_chunk {
    const void *owner;
    uint32_t count; /* never 0 */
    alignas(8) unsigned char items[];
};

/* Empty when all zeros. */
struct shared_list {
    const void *owner; /* of the array of chunks */
    struct shared_chunk **chunks;
    uint32_t chunk_count, chunk_capacity;
    size_t count; /* of items */
};

/* A position in a list; all zeros: its beginning. */
struct shared_iter {
    uint32_t chunk, item;
};

/*
 * What changes a list: `owner` is the state that is being made, `size` that of
 * an item, new memory is in `mem`.
 */

/* Room for one more item at the end, not filled. */
void *shared_list_add(struct arena *mem, struct shared_list *l, const void *owner, size_t size);

/* The item at this position, to be written to. */
void *shared_list_own(struct arena *mem, struct shared_list *l, const void *owner,
                      struct shared_iter at, size_t size);

void shared_list_remove(struct arena *mem, struct shared_list *l, const void *owner,
                        struct shared_iter at, size_t size);

/* The item at this position; there must be one. */
static inline const void *shared_list_at(const struct shared_list *l, struct shared_iter at,
                                         size_t size)
{
    return l->chunks[at.chunk]->items + at.item * size;
}

/* Going over them: the item at `iter`, which goes on to the next one; NULL after the last. */
const void *shared_list_next(const struct shared_list *l, struct shared_iter *iter, size_t size);

/* The position from which shared_list_next() gives the last `count`, or all of them. */
struct shared_iter shared_list_last(const struct shared_list *l, size_t count);

#endif
