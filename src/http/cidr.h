/*
 * cidr.h - ranges of IP addresses: "10.0.0.0/8, 2001:db8::/32, 192.0.2.7".
 *
 * IPv4 addresses are kept as IPv6 has them, ::ffff:a.b.c.d, so that a peer is
 * the same one whichever way it came.
 */
#ifndef PAWL_HTTP_CIDR_H
#define PAWL_HTTP_CIDR_H

#include "base/err.h"
#include "base/vec.h"

struct ip {
    uint8_t bytes[16];
};

struct cidr_range {
    struct ip first;
    unsigned bits; /* of 128 */
};

struct cidrs {
    VEC_OF(struct cidr_range);
};

/* "192.0.2.7" or "2001:db8::1". */
bool ip_read(struct str text, struct ip *out) MUST_USE;

/* As people write it; empty when it is all zero. */
struct str ip_text(struct arena *mem, struct ip ip);

/* A list with commas between; ERR_INVALID names what is none. */
bool cidrs_read(struct arena *mem, struct str text, struct cidrs *out, struct err *err) MUST_USE;

bool cidrs_have(const struct cidrs *ranges, struct ip ip);

#endif
