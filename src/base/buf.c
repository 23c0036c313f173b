/* buf.c - see buf.h. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_init(struct buf *b)
{
    *b = (struct buf){.limit = SIZE_MAX / 2};
}

void buf_init_arena(struct buf *b, struct arena *mem)
{
    *b = (struct buf){.limit = SIZE_MAX / 2, .mem = mem};
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
    size_t room = b->room < 64 ? 64 : b->room;
    char *p;

    if (b->failed || b->len > b->limit || extra > b->limit - b->len) {
        b->failed = true;
        return false;
    }
    while (room - b->len < extra)
        room *= 2;
    if (b->mem != NULL) {
        p = arena_alloc(b->mem, room);
        if (b->len > 0)
            memcpy(p, b->ptr, b->len);
    } else {
        p = realloc(b->ptr, room);
        if (p == NULL)
            PANIC("out of memory");
    }
    b->ptr = p;
    b->room = room;
    return true;
}

void buf_text(struct buf *b, const char *zero_terminated)
{
    buf_add(b, zero_terminated, strlen(zero_terminated));
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    ASSERT(len >= 0);
    if (!buf_reserve(b, (size_t)len + 1))
        return;
    va_start(args, format);
    vsnprintf(b->ptr + b->len, (size_t)len + 1, format, args);
    va_end(args);
    b->len += (size_t)len;
}
