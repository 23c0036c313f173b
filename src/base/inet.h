/*
 * inet.h - addresses of the internet: reading, writing, and which network holds which.
 *
 * An IPv4 address that is written as IPv6 (::ffff:c0a8:1) is the IPv4 address.
 * Zones (fe80::1%eth0) are not part of an address.
 */
#ifndef PAWL_BASE_INET_H
#define PAWL_BASE_INET_H

#include "base/str.h"

#include <stdint.h>

enum { INET_TEXT_MAX = 40 }; /* bytes of the longest address, without a zero */

struct inet {
    uint8_t bytes[16]; /* the first four of an IPv4 address */
    bool is_v4;
};

enum inet_result {
    INET_OK,
    INET_INVALID,
    INET_ZONE,   /* it names a zone */
    INET_MAPPED, /* IPv4 in the dotted form within IPv6: ::ffff:192.168.0.1 */
};

/* Read an address that is written as people write it. */
enum inet_result inet_read(struct str text, struct inet *out) MUST_USE;

/* The canonical text (RFC 5952), not ended by a zero; answers its length. */
size_t inet_write(char out[INET_TEXT_MAX], const struct inet *a);

/* How many bits an address of this family has. */
static inline unsigned inet_bits(const struct inet *a)
{
    return a->is_v4 ? 32 : 128;
}

/* Whether the network of the first `prefix` bits of `net` holds `a`. */
bool inet_holds(const struct inet *net, unsigned prefix, const struct inet *a);

/* The address with all but its first `prefix` bits cleared. */
struct inet inet_masked(const struct inet *a, unsigned prefix);

#endif
