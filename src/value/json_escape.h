/* json_escape.h - which bytes of a JSON string need an escape, eight at a time. */
#ifndef PAWL_VALUE_JSON_ESCAPE_H
#define PAWL_VALUE_JSON_ESCAPE_H

#include "base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EVERY_BYTE(c) (0x0101010101010101u * (c))

/* Whether one of eight bytes is a quote, a backslash or a control character. */
static inline bool json_needs_escape(uint64_t bytes)
{
    uint64_t quote = (bytes ^ EVERY_BYTE('"')) - EVERY_BYTE(1);
    uint64_t backslash = (bytes ^ EVERY_BYTE('\\')) - EVERY_BYTE(1);
    uint64_t control = bytes - EVERY_BYTE(0x20);

    /* A subtraction borrows only where the answer is yes anyway. */
    return ((quote | backslash | control) & ~bytes & EVERY_BYTE(0x80)) != 0;
}

/* One byte, escaped if it needs to be; at most six. */
static inline char *json_put_escaped(char *to, unsigned char c)
{
    static const char short_forms[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    static const char hex[] = "0123456789abcdef";

    if (c >= 0x20 && c != '"' && c != '\\') {
        *to++ = (char)c;
        return to;
    }
    *to++ = '\\';
    if (c >= 0x20) {
        *to++ = (char)c;
    } else if (short_forms[c] != 0) {
        *to++ = short_forms[c];
    } else {
        memcpy(to, "u00", 3);
        to[3] = hex[c >> 4];
        to[4] = hex[c & 15];
        to += 5;
    }
    return to;
}

/*
 * Copy text as long as nothing in it needs an escape; answers how much was
 * copied. Never reads beyond the text.
 */
static inline size_t json_copy_plain(char *to, const char *text, size_t len)
{
    uint64_t word;
    size_t i = 0;

    for (; len - i >= 8; i += 8) {
        memcpy(&word, text + i, 8);
        memcpy(to + i, &word, 8);
        if (UNLIKELY(json_needs_escape(word)))
            return i;
    }
    if (i == len)
        return len;
    if (len >= 8) {
        /* The last eight bytes, some of them for the second time. */
        memcpy(&word, text + len - 8, 8);
        memcpy(to + len - 8, &word, 8);
        return json_needs_escape(word) ? i : len;
    }
    if (len >= 4) {
        uint32_t low, high;
        memcpy(&low, text, 4);
        memcpy(&high, text + len - 4, 4);
        memcpy(to, &low, 4);
        memcpy(to + len - 4, &high, 4);
        word = (uint64_t)high << 32 | low;
    } else {
        to[0] = text[0];
        to[len / 2] = text[len / 2];
        to[len - 1] = text[len - 1];
        word = EVERY_BYTE(' ') << 24 | (uint64_t)(unsigned char)text[0] << 16 |
               (uint64_t)(unsigned char)text[len / 2] << 8 | (unsigned char)text[len - 1];
    }
    return json_needs_escape(word) ? 0 : len;
}

#endif
