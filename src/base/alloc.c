/* alloc.c - see alloc.h. */
#include "base/alloc.h"

void *alloc_bytes(size_t size)
{
    return alloc_check(malloc(size > 0 ? size : 1));
}

void *alloc_zeroed(size_t size)
{
    return alloc_array(1, size);
}

void *alloc_array(size_t count, size_t size)
{
    return alloc_check(calloc(count > 0 ? count : 1, size));
}

void *alloc_resize(void *old, size_t count, size_t size)
{
    return alloc_check(reallocarray(old, count > 0 ? count : 1, size));
}

char *alloc_text(struct str text)
{
    char *copy = alloc_bytes(text.len + 1);

    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}
