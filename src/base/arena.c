/* arena.c - blocks in a list, the newest one being filled. */
#include "base/arena.h"

#include "base/alloc.h"

#include <string.h>

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { ARENA_FIRST_BLOCK = 4096, ARENA_LARGEST_BLOCK = 1 << 20 };

struct arena_block {
    struct arena_block *older;
    size_t bytes; /* usable bytes after this header */
};

_Static_assert(sizeof(struct arena_block) % 16 == 0, "blocks keep 16-byte alignment");

static char *block_start(struct arena_block *b)
{
    return (char *)(b + 1);
}

static void use_block(struct arena *a, struct arena_block *b)
{
    a->next = block_start(b);
    a->end = a->next + b->bytes;
}

static void free_block(struct arena *a, struct arena_block *b)
{
    a->held_bytes -= b->bytes + sizeof(*b);
    ASAN_UNPOISON_MEMORY_REGION(block_start(b), b->bytes);
    free(b);
}

void arena_init(struct arena *a)
{
    *a = (struct arena){.block_bytes = ARENA_FIRST_BLOCK};
}

void arena_init_small(struct arena *a, size_t first_block)
{
    *a = (struct arena){.block_bytes = first_block};
}

void arena_fini(struct arena *a)
{
    while (a->blocks != NULL) {
        struct arena_block *older = a->blocks->older;
        free_block(a, a->blocks);
        a->blocks = older;
    }
    arena_init(a);
}

void arena_reset(struct arena *a)
{
    if (a->blocks == NULL)
        return;
    while (a->blocks->older != NULL) {
        struct arena_block *older = a->blocks->older;
        a->blocks->older = older->older;
        free_block(a, older);
    }
    if (a->blocks->bytes > ARENA_LARGEST_BLOCK) {
        arena_fini(a);
        return;
    }
    use_block(a, a->blocks);
    ASAN_POISON_MEMORY_REGION(a->next, a->blocks->bytes);
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){.block = a->blocks, .next = a->next};
}

void arena_release(struct arena *a, struct arena_mark mark)
{
    if (mark.block == NULL) {
        arena_reset(a);
        return;
    }
    while (a->blocks != mark.block) {
        struct arena_block *older = a->blocks->older;
        free_block(a, a->blocks);
        a->blocks = older;
    }
    use_block(a, a->blocks);
    a->next = mark.next;
    ASAN_POISON_MEMORY_REGION(a->next, (size_t)(a->end - a->next));
}

void *arena_grow(struct arena *a, size_t size)
{
    struct arena_block *b;
    size_t need = (size + 15) & ~(size_t)15;
    size_t bytes = a->block_bytes != 0 ? a->block_bytes : ARENA_FIRST_BLOCK;

    if (size == 0)
        return arena_alloc(a, 1);
    if (size > SIZE_MAX / 2)
        PANIC("arena allocation too large");
#ifdef ARENA_ASAN
    /* A gap after each allocation, so that running over its end is seen. */
    need += 16;
    if (need <= (size_t)(a->end - a->next)) {
        void *p = a->next;
        a->next += need;
        ASAN_UNPOISON_MEMORY_REGION(p, size);
        return p;
    }
#endif
    if (bytes < need)
        bytes = need;
    b = alloc_bytes(sizeof(*b) + bytes);
    b->older = a->blocks;
    b->bytes = bytes;
    a->blocks = b;
    a->held_bytes += sizeof(*b) + bytes;
    if (a->block_bytes < ARENA_LARGEST_BLOCK)
        a->block_bytes = bytes * 2 < ARENA_LARGEST_BLOCK ? bytes * 2 : ARENA_LARGEST_BLOCK;
    use_block(a, b);
    a->next += need;
    ASAN_POISON_MEMORY_REGION(block_start(b), b->bytes);
    ASAN_UNPOISON_MEMORY_REGION(block_start(b), size);
    return block_start(b);
}

void *arena_zalloc(struct arena *a, size_t size)
{
    return memset(arena_alloc(a, size), 0, size);
}

char *arena_copy(struct arena *a, const void *bytes, size_t len)
{
    char *p;

    ASSERT(len < SIZE_MAX);
    p = arena_alloc(a, len + 1);
    if (len > 0)
        memcpy(p, bytes, len);
    p[len] = '\0';
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        PANIC("arena array too large");
    return arena_alloc(a, total);
}
