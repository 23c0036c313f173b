/* signals.c - see signals.h. */
#include "engine/signals.h"

#include "base/hash.h"

#include <string.h>

static uint32_t hash_of(struct str id)
{
    return (uint32_t)hash_bytes(id.ptr, id.len);
}

/* --- writing: what is shared is copied first --- */

static void own_spine(struct arena *mem, struct signals *s, const void *owner, uint32_t room)
{
    struct signal_chunk **copy;

    if (s->owner == owner && s->chunk_room >= room)
        return;
    /* Only one that grows by itself, as in a restore, needs room for more. */
    s->chunk_room = s->owner == owner ? room * 2 : room;
    s->owner = owner;
    copy = ARENA_ARRAY(mem, s->chunk_room + 1u, struct signal_chunk *);
    if (s->chunk_count > 0)
        memcpy(copy, s->chunks, s->chunk_count * sizeof(struct signal_chunk *));
    s->chunks = copy;
}

static struct signal_chunk *own_chunk(struct arena *mem, struct signals *s, const void *owner,
                                      uint32_t index)
{
    struct signal_chunk *chunk = s->chunks[index], *copy;

    if (chunk->owner == owner)
        return chunk;
    own_spine(mem, s, owner, s->chunk_count);
    copy = arena_alloc(mem, sizeof(*copy));
    *copy = *chunk;
    copy->owner = owner;
    s->chunks[index] = copy;
    return copy;
}

static void remove_at(struct arena *mem, struct signals *s, const void *owner,
                      struct signal_place at)
{
    struct signal_chunk *chunk = own_chunk(mem, s, owner, at.chunk);
    uint32_t after = chunk->count - at.item - 1;

    memmove(&chunk->items[at.item], &chunk->items[at.item + 1], after * sizeof(chunk->items[0]));
    memmove(&chunk->hashes[at.item], &chunk->hashes[at.item + 1], after * sizeof(chunk->hashes[0]));
    chunk->count--;
    s->count--;
    if (chunk->count > 0)
        return;
    memmove(&s->chunks[at.chunk], &s->chunks[at.chunk + 1],
            (s->chunk_count - at.chunk - 1) * sizeof(struct signal_chunk *));
    s->chunk_count--;
}

static const struct signal *item_at(const struct signals *s, struct signal_place at)
{
    return s->chunks[at.chunk]->items[at.item];
}

const struct signal *signals_add(struct arena *mem, struct signals *s, const void *owner,
                                 const struct signal *signal)
{
    struct signal_chunk *chunk;
    struct signal_place old;
    const struct signal *left;

    if (s->chunk_count == 0 || s->chunks[s->chunk_count - 1]->count == SIGNAL_CHUNK) {
        own_spine(mem, s, owner, s->chunk_count + 1);
        chunk = arena_alloc(mem, sizeof(*chunk));
        chunk->owner = owner;
        chunk->count = 0;
        s->chunks[s->chunk_count++] = chunk;
    } else {
        chunk = own_chunk(mem, s, owner, s->chunk_count - 1);
    }
    chunk->hashes[chunk->count] = hash_of(signal->id);
    chunk->items[chunk->count++] = signal;
    s->count++;
    if (s->count <= SIGNALS_SHOWN)
        return NULL;
    /* Just one is no longer shown. */
    old = signals_last(s, SIGNALS_SHOWN + 1);
    left = item_at(s, old);
    if (!left->is_taken)
        return NULL;
    remove_at(mem, s, owner, old);
    return left;
}

/* Whether the signal at this place is among the last `count`. */
static bool is_among_last(const struct signals *s, struct signal_place at, size_t count)
{
    struct signal_place first = signals_last(s, count);

    return at.chunk != first.chunk ? at.chunk > first.chunk : at.item >= first.item;
}

static bool find_seq(const struct signals *s, int64_t seq, struct signal_place *out)
{
    for (uint32_t c = 0; c < s->chunk_count; c++) {
        const struct signal_chunk *chunk = s->chunks[c];
        if (chunk->items[chunk->count - 1]->seq < seq)
            continue;
        for (uint32_t i = 0; i < chunk->count; i++)
            if (chunk->items[i]->seq == seq) {
                *out = (struct signal_place){.chunk = c, .item = i};
                return true;
            }
        return false;
    }
    return false;
}

const struct signal *signals_take(struct arena *mem, struct signals *s, const void *owner,
                                  int64_t seq)
{
    struct signal_place at;
    struct signal *taken;

    if (!find_seq(s, seq, &at))
        return NULL;
    if (!is_among_last(s, at, SIGNALS_SHOWN)) {
        const struct signal *left = item_at(s, at);
        remove_at(mem, s, owner, at);
        return left;
    }
    taken = arena_alloc(mem, sizeof(*taken));
    *taken = *item_at(s, at);
    taken->is_taken = true;
    own_chunk(mem, s, owner, at.chunk)->items[at.item] = taken;
    return NULL;
}

/* --- reading --- */

const struct signal *signals_find(const struct signals *s, struct str id)
{
    uint32_t hash = hash_of(id);

    for (uint32_t c = 0; c < s->chunk_count; c++) {
        const struct signal_chunk *chunk = s->chunks[c];
        for (uint32_t i = 0; i < chunk->count; i++)
            if (chunk->hashes[i] == hash && str_eq(chunk->items[i]->id, id))
                return chunk->items[i];
    }
    return NULL;
}

const struct signal *signals_at(const struct signals *s, size_t index)
{
    uint32_t c = 0;

    ASSERT(index < s->count);
    while (index >= s->chunks[c]->count)
        index -= s->chunks[c++]->count;
    return s->chunks[c]->items[index];
}

const struct signal *signals_next(const struct signals *s, struct signal_place *place)
{
    if (place->chunk == s->chunk_count)
        return NULL;
    if (place->item == s->chunks[place->chunk]->count) {
        *place = (struct signal_place){.chunk = place->chunk + 1};
        if (place->chunk == s->chunk_count)
            return NULL;
    }
    return s->chunks[place->chunk]->items[place->item++];
}

struct signal_place signals_last(const struct signals *s, size_t count)
{
    struct signal_place place = {.chunk = s->chunk_count};

    if (count >= s->count)
        return (struct signal_place){0};
    while (count > 0) {
        const struct signal_chunk *chunk = s->chunks[--place.chunk];
        uint32_t here = count < chunk->count ? (uint32_t)count : chunk->count;
        place.item = chunk->count - here;
        count -= here;
    }
    return place;
}
