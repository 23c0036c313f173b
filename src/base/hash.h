/*
 * hash.h - the hash behind every table keyed by outside text.
 *
 * Seeded at random once per process, so that nobody can choose keys that
 * collide: every product has the seed for a factor, so how two inputs differ
 * says nothing about how their hashes do. Results never leave the process and
 * never decide an order that anyone can see.
 */
#ifndef PAWL_BASE_HASH_H
#define PAWL_BASE_HASH_H

#include "base/wide.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Odd. Set before main() runs and constant from then on. */
extern uint64_t hash_seed;

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    uint128 product = (uint128)a * b;
    return (uint64_t)product ^ wide_high(product);
}

/* One product of numbers in a row is a row itself, folded: a second one breaks it up. */
static inline uint64_t hash_finish(uint64_t h)
{
    return hash_mix(h ^ 0xe7037ed1a0b428dbu, hash_seed);
}

static inline uint64_t hash_int(uint64_t n)
{
    return hash_finish(hash_mix(n ^ 0x9e3779b97f4a7c15u, hash_seed));
}

static inline uint64_t hash_bytes(const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    uint64_t h = hash_mix(len ^ 0xa0761d6478bd642fu, hash_seed);
    uint64_t word = 0;

    for (; len > 8; p += 8, len -= 8) {
        memcpy(&word, p, 8);
        h = hash_mix(h ^ word, hash_seed);
    }
    word = 0;
    if (len >= 4) {
        uint32_t low, high;
        memcpy(&low, p, 4);
        memcpy(&high, p + len - 4, 4);
        word = (uint64_t)high << 32 | low;
    } else if (len > 0) {
        word = (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 | p[len - 1];
    }
    return hash_finish(hash_mix(h ^ word, hash_seed));
}

#endif
