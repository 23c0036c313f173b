/* utf8.c - see utf8.h. */
#include "base/text/utf8.h"

size_t utf8_sequence_length(const char *at, size_t left)
{
    const unsigned char *p = (const unsigned char *)at;
    unsigned char lowest = 0x80, highest = 0xBF;
    size_t len;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    len = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (left < len)
        return 0;
    if (p[0] == 0xE0)
        lowest = 0xA0; /* shorter forms exist */
    else if (p[0] == 0xED)
        highest = 0x9F; /* surrogates */
    else if (p[0] == 0xF0)
        lowest = 0x90;
    else if (p[0] == 0xF4)
        highest = 0x8F; /* above U+10FFFF */
    if (p[1] < lowest || p[1] > highest)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return len;
}

size_t utf8_valid_prefix(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t i = 0;

    while (i < s.len) {
        uint64_t word;
        size_t step;

        while (s.len - i >= 8) {
            memcpy(&word, p + i, 8);
            if ((word & 0x8080808080808080u) != 0)
                break;
            i += 8;
        }
        if (i == s.len)
            break;
        step = utf8_sequence_length(s.ptr + i, s.len - i);
        if (step == 0)
            return i;
        i += step;
    }
    return i;
}

bool utf8_is_valid(struct str s)
{
    return utf8_valid_prefix(s) == s.len;
}

size_t utf8_count(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    return n;
}

size_t utf8_offset(struct str s, size_t n)
{
    size_t i = 0;

    for (; n > 0; n--) {
        ASSERT(i < s.len);
        for (i++; i < s.len && ((unsigned char)s.ptr[i] & 0xC0) == 0x80; i++)
            ;
    }
    return i;
}

uint32_t utf8_next(struct str s, size_t *pos)
{
    const unsigned char *p;

    ASSERT(*pos < s.len);
    p = (const unsigned char *)s.ptr + *pos;
    if (p[0] < 0x80) {
        *pos += 1;
        return p[0];
    }
    if (p[0] < 0xE0) {
        *pos += 2;
        return (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    }
    if (p[0] < 0xF0) {
        *pos += 3;
        return (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    }
    *pos += 4;
    return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 |
           (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
}

size_t utf8_encode(char out[4], uint32_t code_point)
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xC0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3F));
        return 2;
    }
    ASSERT(code_point < 0xD800 || code_point > 0xDFFF);
    if (code_point < 0x10000) {
        out[0] = (char)(0xE0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code_point & 0x3F));
        return 3;
    }
    ASSERT(code_point <= 0x10FFFF);
    out[0] = (char)(0xF0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code_point & 0x3F));
    return 4;
}
