/* inet.c - addresses of the internet; see inet.h. */
#include "base/inet.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static bool is_mapped(const uint8_t bytes[16])
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(bytes, prefix, sizeof(prefix)) == 0;
}

enum inet_result inet_read(struct str text, struct inet *out)
{
    char copy[64];

    if (str_find(text, STR("%"), 0) >= 0)
        return INET_ZONE;
    if (text.len >= sizeof(copy) || memchr(text.ptr, 0, text.len) != NULL)
        return INET_INVALID;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *out = (struct inet){.is_v4 = true};
    if (inet_pton(AF_INET, copy, out->bytes) == 1)
        return INET_OK;
    out->is_v4 = false;
    if (inet_pton(AF_INET6, copy, out->bytes) != 1)
        return INET_INVALID;
    if (!is_mapped(out->bytes))
        return INET_OK;
    if (strchr(copy, '.') != NULL)
        return INET_MAPPED;
    memmove(out->bytes, out->bytes + 12, 4);
    memset(out->bytes + 4, 0, 12);
    out->is_v4 = true;
    return INET_OK;
}

/* The longest run of two or more zero groups, the first of equal ones: [*start, *end). */
static void find_zeros(const unsigned groups[8], unsigned *start, unsigned *end)
{
    *start = *end = 8;
    for (unsigned i = 0; i < 8;) {
        unsigned from = i;

        while (i < 8 && groups[i] == 0)
            i++;
        if (i - from >= 2 && (*start == 8 || i - from > *end - *start)) {
            *start = from;
            *end = i;
        }
        i += i == from;
    }
}

size_t inet_write(char out[INET_TEXT_MAX], const struct inet *a)
{
    unsigned groups[8], start, end;
    size_t len = 0;

    if (a->is_v4)
        return (size_t)snprintf(out, INET_TEXT_MAX, "%u.%u.%u.%u", a->bytes[0], a->bytes[1],
                                a->bytes[2], a->bytes[3]);
    for (unsigned i = 0; i < 8; i++)
        groups[i] = (unsigned)a->bytes[2 * i] << 8 | a->bytes[2 * i + 1];
    find_zeros(groups, &start, &end);
    for (unsigned i = 0; i < 8; i++) {
        if (i == start) {
            out[len++] = ':';
            out[len++] = ':';
            i = end - 1;
            continue;
        }
        if (i > 0 && i != end)
            out[len++] = ':';
        len += (size_t)snprintf(out + len, INET_TEXT_MAX - len, "%x", groups[i]);
    }
    return len;
}

struct inet inet_masked(const struct inet *a, unsigned prefix)
{
    struct inet masked = *a;

    for (unsigned bit = prefix; bit < inet_bits(a); bit++)
        masked.bytes[bit / 8] &= (uint8_t) ~(0x80U >> bit % 8);
    return masked;
}

bool inet_holds(const struct inet *net, unsigned prefix, const struct inet *a)
{
    unsigned whole = prefix / 8, rest = prefix % 8;

    return net->is_v4 == a->is_v4 && memcmp(net->bytes, a->bytes, whole) == 0 &&
           (rest == 0 || (net->bytes[whole] ^ a->bytes[whole]) >> (8 - rest) == 0);
}
