/* shared_list.c - see shared_list.h. */
#include "engine/command/shared_list.h"

#include <string.h>

/* --- writing: what is shared is copied first --- */

static void own_chunks(struct arena *mem, struct shared_list *l, const void *owner,
                       uint32_t capacity)
{
    struct shared_chunk **copy;

    if (l->owner == owner && l->chunk_capacity >= capacity)
        return;
    /* Only one that grows by itself, as in a restore, needs room for more. */
    l->chunk_capacity = l->owner == owner ? capacity * 2 : capacity;
    l->owner = owner;
    copy = ARENA_ARRAY(mem, l->chunk_capacity + 1u, struct shared_chunk *);
    if (l->chunk_count > 0)
        memcpy(copy, l->chunks, l->chunk_count * sizeof(struct shared_chunk *));
    l->chunks = copy;
}

static struct shared_chunk *chunk_new(struct arena *mem, const void *owner, size_t size)
{
    struct shared_chunk *made = arena_alloc(mem, sizeof(*made) + SHARED_CHUNK * size);

    made->owner = owner;
    made->count = 0;
    return made;
}

static struct shared_chunk *own_chunk(struct arena *mem, struct shared_list *l, const void *owner,
                                      uint32_t index, size_t size)
{
    struct shared_chunk *chunk = l->chunks[index], *copy;

    if (chunk->owner == owner)
        return chunk;
    own_chunks(mem, l, owner, l->chunk_count);
    copy = chunk_new(mem, owner, size);
    copy->count = chunk->count;
    memcpy(copy->items, chunk->items, chunk->count * size);
    l->chunks[index] = copy;
    return copy;
}

void *shared_list_add(struct arena *mem, struct shared_list *l, const void *owner, size_t size)
{
    struct shared_chunk *chunk;

    if (l->chunk_count == 0 || l->chunks[l->chunk_count - 1]->count == SHARED_CHUNK) {
        own_chunks(mem, l, owner, l->chunk_count + 1);
        chunk = chunk_new(mem, owner, size);
        l->chunks[l->chunk_count++] = chunk;
    } else {
        chunk = own_chunk(mem, l, owner, l->chunk_count - 1, size);
    }
    l->count++;
    return chunk->items + chunk->count++ * size;
}

void *shared_list_own(struct arena *mem, struct shared_list *l, const void *owner,
                      struct shared_iter at, size_t size)
{
    return own_chunk(mem, l, owner, at.chunk, size)->items + at.item * size;
}

void shared_list_remove(struct arena *mem, struct shared_list *l, const void *owner,
                        struct shared_iter at, size_t size)
{
    struct shared_chunk *chunk = own_chunk(mem, l, owner, at.chunk, size);
    unsigned char *item = chunk->items + at.item * size;

    memmove(item, item + size, (chunk->count - at.item - 1) * size);
    chunk->count--;
    l->count--;
    if (chunk->count > 0)
        return;
    own_chunks(mem, l, owner, l->chunk_count);
    memmove(&l->chunks[at.chunk], &l->chunks[at.chunk + 1],
            (l->chunk_count - at.chunk - 1) * sizeof(struct shared_chunk *));
    l->chunk_count--;
}

/* --- reading --- */

const void *shared_list_next(const struct shared_list *l, struct shared_iter *iter, size_t size)
{
    if (iter->chunk == l->chunk_count)
        return NULL;
    if (iter->item == l->chunks[iter->chunk]->count) {
        *iter = (struct shared_iter){.chunk = iter->chunk + 1};
        if (iter->chunk == l->chunk_count)
            return NULL;
    }
    return l->chunks[iter->chunk]->items + iter->item++ * size;
}

struct shared_iter shared_list_last(const struct shared_list *l, size_t count)
{
    struct shared_iter iter = {.chunk = l->chunk_count};

    if (count >= l->count)
        return (struct shared_iter){0};
    while (count > 0) {
        const struct shared_chunk *chunk = l->chunks[--iter.chunk];
        uint32_t here = count < chunk->count ? (uint32_t)count : chunk->count;

        iter.item = chunk->count - here;
        count -= here;
    }
    return iter;
}
