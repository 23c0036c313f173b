/* ascii.c - see ascii.h. */
#include "base/text/ascii.h"

struct str ascii_lower_copy(struct arena *mem, struct str text)
{
    char *out = arena_copy(mem, text.ptr, text.len);

    for (size_t i = 0; i < text.len; i++)
        out[i] = ascii_lower(out[i]);
    return str_from(out, text.len);
}

bool ascii_is_dotted_name(struct str name, size_t len_max)
{
    bool is_start = true;

    for (size_t i = 0; i < name.len; i++) {
        char x = name.ptr[i];
        bool is_word = ascii_is_letter_or_digit(x) || x == '_' || x == '-';

        if (x == '.' ? is_start : !is_word)
            return false;
        is_start = x == '.';
    }
    return !is_start && name.len <= len_max;
}
