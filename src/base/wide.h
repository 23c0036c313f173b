/* wide.h - the 128-bit integer that gcc and clang have and ISO C does not. */
#ifndef PAWL_BASE_WIDE_H
#define PAWL_BASE_WIDE_H

#include <stdint.h>

/* A typedef against the house rule: it stands for a basic type, not for a struct. */
__extension__ typedef unsigned __int128 uint128;

static inline uint64_t wide_high(uint128 n)
{
    return (uint64_t)(n >> 64);
}

#endif
