/* cidr.c - see cidr.h. */
#include "http/cidr.h"

#include "base/inet.h"

#include <arpa/inet.h>
#include <string.h>

enum { V4_OFFSET = 12, V4_BITS = 32, ALL_BITS = 128 };

bool ip_read(struct str text, struct ip *out)
{
    static const uint8_t mapped[V4_OFFSET] = {[10] = 0xff, [11] = 0xff};
    struct inet address;
    enum inet_result result = inet_read(text, &address);

    if (result != INET_OK && result != INET_MAPPED)
        return false;
    if (!address.is_v4) {
        memcpy(out->bytes, address.bytes, sizeof(out->bytes));
        return true;
    }
    memcpy(out->bytes, mapped, sizeof(mapped));
    memcpy(out->bytes + V4_OFFSET, address.bytes, sizeof(out->bytes) - V4_OFFSET);
    return true;
}

struct str ip_text(struct arena *mem, struct ip ip)
{
    static const uint8_t mapped[V4_OFFSET] = {[10] = 0xff, [11] = 0xff}, nobody[sizeof(ip.bytes)];
    bool is_v4 = memcmp(ip.bytes, mapped, sizeof(mapped)) == 0;
    char text[INET6_ADDRSTRLEN];

    if (memcmp(ip.bytes, nobody, sizeof(nobody)) == 0 ||
        inet_ntop(is_v4 ? AF_INET : AF_INET6, ip.bytes + (is_v4 ? V4_OFFSET : 0), text,
                  sizeof(text)) == NULL)
        return STR_NONE;
    return str_copy(mem, str_of(text));
}

/* Whether the first `bits` bits are the same. */
static bool agree(struct ip a, struct ip b, unsigned bits)
{
    unsigned bytes = bits / 8, rest = bits % 8;

    if (memcmp(a.bytes, b.bytes, bytes) != 0)
        return false;
    return rest == 0 || (a.bytes[bytes] ^ b.bytes[bytes]) >> (8 - rest) == 0;
}

static bool read_one(struct str text, struct cidr_range *out)
{
    int64_t slash = str_find(text, STR("/"), 0), bits;
    struct str address = slash < 0 ? text : str_slice(text, 0, (size_t)slash);
    bool is_v4 = str_find(address, STR(":"), 0) < 0;

    if (!ip_read(address, &out->first))
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
        struct str one = str_trim(str_cut(&text, ','));
        struct cidr_range range;

        if (!read_one(one, &range))
            return err_set(err, ERR_INVALID, "'%.*s' is no range of addresses such as 10.0.0.0/8",
                           STR_ARG(one));
        *VEC_ADD(mem, out) = range;
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
