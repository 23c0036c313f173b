/* buf.c - see buf.h. */
#include "base/buf.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>

void buf_init(struct buf *b)
{
    *b = (struct buf){.limit = SIZE_MAX / 4};
}

void buf_init_arena(struct buf *b, struct arena *mem)
{
    *b = (struct buf){.limit = SIZE_MAX / 4, .mem = mem};
}

void buf_fini(struct buf *b)
{
    if (b->mem == NULL)
        free(b->ptr);
    *b = (struct buf){.limit = b->limit, .mem = b->mem};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
}

bool buf_grow(struct buf *b, size_t extra)
{
    size_t bytes = 64;
    char *p;

    if (b->failed || b->len > b->limit || extra > b->limit - b->len) {
        /* No room, so that shorter writes come here too and are refused. */
        b->failed = true;
        b->capacity = b->len;
        return false;
    }
    /* One byte more than the room: printf writes a terminator that is not kept. */
    while (bytes - 1 < b->len + extra)
        bytes *= 2;
    if (b->mem != NULL) {
        p = arena_alloc(b->mem, bytes);
        if (b->len > 0)
            memcpy(p, b->ptr, b->len);
    } else {
        p = alloc_resize(b->ptr, bytes, 1);
    }
    b->ptr = p;
    b->capacity = bytes - 1 < b->limit ? bytes - 1 : b->limit;
    return true;
}

void buf_printf(struct buf *b, const char *format, ...)
{
    size_t capacity = b->capacity - b->len;
    va_list args;
    int len;

    /* A failed buffer has no room; one byte behind the room is for the terminator. */
    va_start(args, format);
    len = vsnprintf(capacity > 0 ? b->ptr + b->len : NULL, capacity > 0 ? capacity + 1 : 0, format,
                    args);
    va_end(args);
    ASSERT(len >= 0);
    if ((size_t)len <= capacity) {
        b->len += (size_t)len;
        return;
    }
    if (!buf_reserve(b, (size_t)len))
        return;
    va_start(args, format);
    vsnprintf(b->ptr + b->len, (size_t)len + 1, format, args);
    va_end(args);
    b->len += (size_t)len;
}
