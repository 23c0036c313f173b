/*
 * arena.h - memory that is given back all at once.
 *
 * An arena hands out memory by moving a pointer and frees nothing until it is
 * reset or finished. Lifetimes in Pawl are arenas: process, program,
 * execution, turn. Running out of memory panics; whoever allocates by the size
 * of outside input limits that input first.
 */
#ifndef PAWL_BASE_ARENA_H
#define PAWL_BASE_ARENA_H

#include "base/attr.h"

#include <stddef.h>
#include <stdint.h>

/* Under AddressSanitizer every allocation takes the slow path, which marks its edges. */
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

struct arena_block;

struct arena {
    char *next; /* first free byte of the current block */
    char *end;
    struct arena_block *blocks; /* newest first; the current one is at the head */
    size_t block_bytes;         /* size of the next ordinary block */
    size_t held_bytes;          /* sum of the sizes of all blocks */
};

/* A place to go back to: see arena_mark(). */
struct arena_mark {
    struct arena_block *block;
    char *next;
};

/* Make an empty arena. Nothing is allocated before the first use. */
void arena_init(struct arena *a);

/* The same, for something small: its first block has this many bytes. */
void arena_init_small(struct arena *a, size_t first_block);

/* Give everything back and leave the arena as arena_init() made it. */
void arena_fini(struct arena *a);

/*
 * Forget all allocations but keep one block, so that a turn that fits it
 * allocates nothing from the system.
 */
void arena_reset(struct arena *a);

/* Remember this point; arena_release() frees what was allocated after it. */
struct arena_mark arena_mark(const struct arena *a);
void arena_release(struct arena *a, struct arena_mark mark);

/* The slow path of arena_alloc(): starts a new block. */
void *arena_grow(struct arena *a, size_t size);

/* `size` bytes aligned for any type, not cleared. Never NULL, not even for no bytes. */
static inline void *arena_alloc(struct arena *a, size_t size)
{
#ifndef ARENA_ASAN
    size_t need = (size + 15) & ~(size_t)15;

    /* Minus one, so that nothing and too much (need is then 0) take the slow path. */
    if (LIKELY(need - 1 < (size_t)(a->end - a->next))) {
        void *p = a->next;
        a->next += need;
        return p;
    }
#endif
    return arena_grow(a, size);
}

/* Like arena_alloc(), but filled with zeros. */
void *arena_zalloc(struct arena *a, size_t size);

/* A copy of `len` bytes, followed by a zero byte that is not counted. */
char *arena_copy(struct arena *a, const void *bytes, size_t len);

/* Room for `count` items of `size` bytes; an overflowing product panics. */
void *arena_array(struct arena *a, size_t count, size_t size);

#define ARENA_NEW(a, type) ((type *)arena_zalloc((a), sizeof(type)))
#define ARENA_ARRAY(a, count, type) ((type *)arena_array((a), (count), sizeof(type)))

#endif
