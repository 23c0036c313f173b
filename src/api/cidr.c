/* cidr.c - see cidr.h. */
#include "api/cidr.h"

#include <arpa/inet.h>
#include <stdio.h>

enum { V4_OFFSET = 12, V4_BITS = 32, ALL_BITS = 128 };

static bool read_ip(struct str text, struct ip *out, bool *is_v4)
{
    static const uint8_t mapped[V4_OFFSET] = {[10] = 0xff, [11] = 0xff};
    char copy[INET6_ADDRSTRLEN];

    if (text.len == 0 || text.len >= sizeof(copy))
        return false;
    snprintf(copy, sizeof(copy), "%.*s", STR_ARG(text));
    memcpy(out->bytes, mapped, sizeof(mapped));
    *is_v4 = inet_pton(AF_INET, copy, out->bytes + V4_OFFSET) == 1;
    return *is_v4 || inet_pton(AF_INET6, copy, out->bytes) == 1;
}

bool ip_read(struct str text, struct ip *out)
{
    bool is_v4;

    return read_ip(text, out, &is_v4);
}

/* Whether the first `bits` bits are the same. */
static bool agree(struct ip a, struct ip b, unsigned bits)
{
    unsigned bytes = bits / 8, rest = bits % 8;

    if (memcmp(a.bytes, b.bytes, bytes) != 0)
        return false;
    return rest == 0 || (a.bytes[bytes] ^ b.bytes[bytes]) >> (8 - rest) == 0;
}

static bool read_one(struct str text, struct cidr *out)
{
    int64_t slash = str_find(text, STR("/"), 0), bits;
    struct str address = slash < 0 ? text : str_slice(text, 0, (size_t)slash);
    bool is_v4;

    if (!read_ip(address, &out->first, &is_v4))
        return false;
    bits = is_v4 ? V4_BITS : ALL_BITS;
    if (slash >= 0 && (!str_to_int64(str_slice(text, (size_t)slash + 1, text.len), &bits) ||
                       bits < 0 || bits > (is_v4 ? V4_BITS : ALL_BITS)))
        return false;
    out->bits = (unsigned)bits + (is_v4 ? ALL_BITS - V4_BITS : 0);
    return true;
}

bool cidrs_read(struct arena *mem, struct str text, struct cidrs *out, struct err *err)
{
    *out = (struct cidrs){0};
    while (text.len > 0) {
        int64_t comma = str_find(text, STR(","), 0);
        struct str one = str_trim(str_slice(text, 0, comma < 0 ? text.len : (size_t)comma));
        struct cidr range;

        if (!read_one(one, &range))
            return err_set(err, ERR_INVALID, "'%.*s' is no range of addresses such as 10.0.0.0/8",
                           STR_ARG(one));
        *VEC_ADD(mem, out) = range;
        text = comma < 0 ? STR_NONE : str_slice(text, (size_t)comma + 1, text.len);
    }
    return true;
}

bool cidrs_have(const struct cidrs *ranges, struct ip ip)
{
    for (size_t i = 0; i < ranges->count; i++)
        if (agree(ranges->items[i].first, ip, ranges->items[i].bits))
            return true;
    return false;
}
