/* base64.c - see base64.h. */
#include "base/text/base64.h"

static const char alphabet[64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encode(struct str bytes, char *out)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr;
    size_t left = bytes.len;

    for (; left >= 3; left -= 3, p += 3) {
        *out++ = alphabet[p[0] >> 2];
        *out++ = alphabet[(p[0] & 3) << 4 | p[1] >> 4];
        *out++ = alphabet[(p[1] & 15) << 2 | p[2] >> 6];
        *out++ = alphabet[p[2] & 63];
    }
    if (left > 0) {
        unsigned second = left == 2 ? p[1] : 0;
        *out++ = alphabet[p[0] >> 2];
        *out++ = alphabet[(p[0] & 3U) << 4 | second >> 4];
        *out++ = left == 2 ? alphabet[(second & 15) << 2] : '=';
        *out++ = '=';
    }
    return base64_encoded_len(bytes.len);
}

/* The six bits that a character stands for, or -1. */
static int six_bits(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The text without its padding, if that is as long as it should be. */
static struct str without_padding(struct str text)
{
    if (text.len % 4 != 0 || text.len == 0)
        return text;
    for (int i = 0; i < 2 && text.ptr[text.len - 1] == '='; i++)
        text.len--;
    return text;
}

bool base64_decode(struct str text, char *out, size_t *len)
{
    struct str digits = without_padding(text);
    uint32_t bits = 0; /* read and not yet written: the lowest `held` ones count */
    unsigned held = 0;
    size_t written = 0;

    for (size_t i = 0; i < digits.len; i++) {
        int six = six_bits(digits.ptr[i]);
        if (six < 0) {
            *len = i;
            return false;
        }
        bits = bits << 6 | (uint32_t)six;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[written++] = (char)(unsigned char)(bits >> held);
        }
    }
    /* Six bits left over are a lone digit; two or four must be zero. */
    if (held == 6 || (bits & ((1U << held) - 1)) != 0) {
        *len = digits.len - 1;
        return false;
    }
    *len = written;
    return true;
}
