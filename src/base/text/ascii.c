/* ascii.c - see ascii.h. */
#include "base/text/ascii.h"

struct str ascii_lower_copy(struct arena *mem, struct str text)
{
    char *out = arena_copy(mem, text.ptr, text.len);

    for (size_t i = 0; i < text.len; i++)
        out[i] = ascii_lower(out[i]);
    return str_from(out, text.len);
}
