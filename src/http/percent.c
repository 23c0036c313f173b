/* percent.c - see percent.h. */
#include "http/percent.h"

#include "base/text/utf8.h"
#include "base/url.h"

bool percent_decode(struct arena *mem, struct str encoded, struct str *out)
{
    size_t len = 0;
    char *text;

    *out = encoded;
    if (encoded.len > 0 && memchr(encoded.ptr, '%', encoded.len) != NULL) {
        text = arena_alloc(mem, encoded.len);
        if (!url_decode(encoded, text, &len))
            return false;
        *out = str_from(text, len);
    }
    return utf8_is_valid(*out) && (out->len == 0 || memchr(out->ptr, '\0', out->len) == NULL);
}

bool percent_decode_form(struct arena *mem, struct str encoded, struct str *out)
{
    if (encoded.len > 0 && memchr(encoded.ptr, '+', encoded.len) != NULL) {
        char *text = arena_copy(mem, encoded.ptr, encoded.len);

        for (size_t i = 0; i < encoded.len; i++)
            text[i] = text[i] == '+' ? ' ' : text[i];
        encoded.ptr = text;
    }
    return percent_decode(mem, encoded, out);
}
