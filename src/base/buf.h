/*
 * buf.h - text that grows.
 *
 * Write many, check once: a buffer that would grow beyond its limit remembers
 * that and ignores further writes, so that what it holds is a prefix of what
 * was written; whoever set a limit asks `buf.failed` at the end. Memory comes
 * from the heap, or, with buf_init_arena(), from an arena, and then buf_fini()
 * has nothing to do.
 */
#ifndef PAWL_BASE_BUF_H
#define PAWL_BASE_BUF_H

#include "base/str.h"

struct buf {
    char *ptr;
    size_t len;
    size_t
        capacity; /* how long it may become without growing: at most limit; len after a failure */
    size_t limit; /* largest allowed len; set it before the first write */
    struct arena *mem;
    bool failed;
};

void buf_init(struct buf *b);
void buf_init_arena(struct buf *b, struct arena *mem);
void buf_fini(struct buf *b);

/* Make `len` zero and forget an earlier failure; the memory is kept. */
void buf_clear(struct buf *b);

/* The slow path of buf_reserve(). */
bool buf_grow(struct buf *b, size_t extra);

/*
 * Make room for `extra` more bytes, which the caller then writes at
 * ptr + len and counts in len. False when the limit forbids it.
 */
static inline bool buf_reserve(struct buf *b, size_t extra)
{
    return LIKELY(extra <= b->capacity - b->len) ? true : buf_grow(b, extra);
}

static inline void buf_add(struct buf *b, const void *bytes, size_t len)
{
    if (len > 0 && buf_reserve(b, len)) {
        memcpy(b->ptr + b->len, bytes, len);
        b->len += len;
    }
}

static inline void buf_char(struct buf *b, char c)
{
    if (buf_reserve(b, 1))
        b->ptr[b->len++] = c;
}

static inline void buf_str(struct buf *b, struct str s)
{
    buf_add(b, s.ptr, s.len);
}

static inline void buf_text(struct buf *b, const char *zero_terminated)
{
    buf_add(b, zero_terminated, strlen(zero_terminated));
}

void buf_printf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);

static inline struct str buf_view(const struct buf *b)
{
    return str_from(b->ptr, b->len);
}

#endif
