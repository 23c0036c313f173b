/* pow10_row.h - powers of ten with 128 bits of precision, for the number files only. */
#ifndef PAWL_VALUE_POW10_ROW_H
#define PAWL_VALUE_POW10_ROW_H

#include "base/attr.h"
#include "base/wide.h"

#include <stdbool.h>

/* The bounds of tools/gen_pow10.c. */
enum { POW10_ROW_MIN = -342, POW10_ROW_MAX = 324 };

/* High and low half of each row. */
extern const uint64_t pow10_rows[POW10_ROW_MAX - POW10_ROW_MIN + 1][2];

/* 10^k rounded down to 128 bits, the top one set: row * 2^(pow10_log2(k) - 127). */
static inline uint128 pow10_row(int k)
{
    ASSERT_SLOW(k >= POW10_ROW_MIN && k <= POW10_ROW_MAX);
    return (uint128)pow10_rows[k - POW10_ROW_MIN][0] << 64 | pow10_rows[k - POW10_ROW_MIN][1];
}

/* Whether a row is 10^k exactly: 5^55 is the last power of five below 2^128. */
static inline bool pow10_is_exact(int k)
{
    return k >= 0 && k <= 55;
}

/* floor(log2(10^k)) for |k| <= 1233. */
static inline int pow10_log2(int k)
{
    return (k * 1741647) >> 19;
}

#endif
