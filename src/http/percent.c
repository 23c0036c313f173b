/* percent.c - see percent.h. */
#include "http/percent.h"

#include "base/text/hex.h"
#include "base/text/utf8.h"

bool percent_decode(struct arena *mem, struct str encoded, struct str *out)
{
    size_t len = 0;
    char *text;

    *out = encoded;
    if (encoded.len > 0 && memchr(encoded.ptr, '%', encoded.len) != NULL) {
        text = arena_alloc(mem, encoded.len);
        for (size_t i = 0; i < encoded.len; i++) {
            char ch = encoded.ptr[i];
            if (ch == '%') {
                int high = i + 2 < encoded.len ? hex_digit(encoded.ptr[i + 1]) : -1;
                int low = i + 2 < encoded.len ? hex_digit(encoded.ptr[i + 2]) : -1;
                if (high < 0 || low < 0)
                    return false;
                ch = (char)(high << 4 | low);
                i += 2;
            }
            text[len++] = ch;
        }
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
