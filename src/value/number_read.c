/*
 * number_read.c - decimal text to numbers.
 *
 * A double is decided from its first 19 digits and a 128-bit power of ten:
 * both bounds of what the number can be are rounded, and when they agree that
 * is the answer. When they do not (about two numbers in a thousand of those
 * with more than 19 digits, and exact ties), strtod() decides.
 */
#include "base/alloc.h"
#include "base/text/ascii.h"
#include "value/number.h"

#include "value/pow10_row.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <strings.h>

_Static_assert(FLT_EVAL_METHOD == 0 && DBL_MANT_DIG == 53, "doubles are IEEE 754 binary64");

static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum {
    EXACT_POWER_MAX = 22,
    EXPONENT_CAP = 100000, /* beyond any double */
    BIAS = 1023,
    EXPONENT_MIN = -1022
};

/* --- doubles from digits and a power of ten --- */

/* n * 2^exponent as a double; `sticky` means that the number is a little above. */
static double round_to_double(uint128 n, int exponent, bool sticky)
{
    uint64_t high = wide_high(n);
    int shift = high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)n);
    int top = exponent + 127 - shift; /* of the leading bit */
    int drop = 128 - DBL_MANT_DIG;
    uint64_t mantissa, bits;
    uint128 rest, half;
    double d;

    if (top > BIAS)
        return INFINITY;
    if (top < EXPONENT_MIN)
        drop += EXPONENT_MIN - top; /* a subnormal has fewer bits */
    if (drop > 128)
        return 0;
    n <<= shift;
    mantissa = drop == 128 ? 0 : (uint64_t)(n >> drop);
    rest = drop == 128 ? n : n & (((uint128)1 << drop) - 1);
    half = (uint128)1 << (drop - 1);
    if (rest > half || (rest == half && (sticky || (mantissa & 1) != 0)))
        mantissa++;
    /* The hidden bit and a carry out of the mantissa add themselves to the exponent. */
    bits = mantissa;
    if (top >= EXPONENT_MIN)
        bits += (uint64_t)(top + BIAS - 1) << (DBL_MANT_DIG - 1);
    memcpy(&d, &bits, sizeof(d));
    return d;
}

/* The top 128 bits of digits * row; *rest is what was cut off, *shift how far digits moved. */
static uint128 scale(uint64_t digits, uint128 row, int *shift, uint64_t *rest)
{
    uint128 low;

    *shift = __builtin_clzll(digits);
    digits <<= *shift;
    low = (uint128)digits * (uint64_t)row;
    *rest = (uint64_t)low;
    return (uint128)digits * wide_high(row) + wide_high(low);
}

bool number_from_decimal(uint64_t digits, int32_t exponent, bool more, double *out)
{
    uint128 product;
    uint64_t rest;
    int shift, base;
    double low, high;

    if (!more && digits <= (uint64_t)1 << DBL_MANT_DIG && exponent >= -EXACT_POWER_MAX &&
        exponent <= EXACT_POWER_MAX) {
        /* Both operands are exact, so the one operation rounds once. */
        *out = exponent < 0 ? (double)digits / exact_powers[-exponent]
                            : (double)digits * exact_powers[exponent];
        return true;
    }
    if (digits == 0 || exponent < POW10_ROW_MIN || exponent > DBL_MAX_10_EXP) {
        *out = digits == 0 || exponent < 0 ? 0 : INFINITY;
        return true;
    }

    base = pow10_log2(exponent) - 127 + 64;
    product = scale(digits, pow10_row(exponent), &shift, &rest);
    if (pow10_is_exact(exponent) && !more) {
        *out = round_to_double(product, base - shift, rest != 0);
        return true;
    }
    low = round_to_double(product, base - shift, true);
    /* The row is less than 1 too small, so the product is less than 2 in its last place. */
    product = scale(digits + more, pow10_row(exponent), &shift, &rest);
    high = round_to_double(product + 2, base - shift, false);
    *out = low;
    return low == high;
}

/* --- text --- */

struct scanned_decimal {
    uint64_t digits; /* the first 19 that count */
    int64_t exponent;
    bool more; /* there were others, not all 0 */
    bool negative;
};

/* Read digits from *at on; answers how many there were. */
static size_t scan_digits(struct str text, size_t *at, struct scanned_decimal *out, bool fraction)
{
    size_t from = *at;

    for (; *at < text.len && ascii_is_digit(text.ptr[*at]); ++*at) {
        unsigned digit = (unsigned)(text.ptr[*at] - '0');
        if (out->digits < 1000000000000000000u) {
            out->digits = out->digits * 10 + digit;
            out->exponent -= fraction;
        } else {
            out->more = out->more || digit != 0;
            out->exponent += !fraction;
        }
    }
    return *at - from;
}

static bool scan_exponent(struct str text, size_t *at, int64_t *out)
{
    bool negative = false;
    int64_t n = 0;
    size_t from;

    if (*at < text.len && (text.ptr[*at] == '+' || text.ptr[*at] == '-'))
        negative = text.ptr[(*at)++] == '-';
    from = *at;
    for (; *at < text.len && ascii_is_digit(text.ptr[*at]); ++*at)
        if (n < INT64_MAX / 16)
            n = n * 10 + (text.ptr[*at] - '0');
    *out = negative ? -n : n;
    return *at > from;
}

static bool scan_decimal(struct str text, struct scanned_decimal *out)
{
    size_t at = 0, count;
    int64_t exponent = 0;

    *out = (struct scanned_decimal){.digits = 0};
    if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+'))
        out->negative = text.ptr[at++] == '-';
    count = scan_digits(text, &at, out, false);
    if (at < text.len && text.ptr[at] == '.') {
        at++;
        count += scan_digits(text, &at, out, true);
    }
    if (count == 0)
        return false;
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        at++;
        if (!scan_exponent(text, &at, &exponent))
            return false;
    }
    out->exponent += exponent;
    if (out->exponent > EXPONENT_CAP)
        out->exponent = EXPONENT_CAP;
    else if (out->exponent < -EXPONENT_CAP)
        out->exponent = -EXPONENT_CAP;
    return at == text.len;
}

/* All digits count. The text has been checked and its sign is not in it. */
static double read_slowly(struct str text)
{
    char small[512];
    char *copy = text.len < sizeof(small) ? small : alloc_bytes(text.len + 1);
    double d;

    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    d = strtod(copy, NULL);
    if (copy != small)
        free(copy);
    return d;
}

static bool read_named(struct str text, double *out)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    double d;

    if (negative || (text.len > 0 && text.ptr[0] == '+'))
        text = str_slice(text, 1, text.len);
    if ((text.len == 3 && strncasecmp(text.ptr, "inf", 3) == 0) ||
        (text.len == 8 && strncasecmp(text.ptr, "infinity", 8) == 0))
        d = INFINITY;
    else if (text.len == 3 && strncasecmp(text.ptr, "nan", 3) == 0)
        d = NAN;
    else
        return false;
    *out = negative ? -d : d;
    return true;
}

bool number_read_double(struct str text, double *out)
{
    struct scanned_decimal n;
    double d;

    if (!scan_decimal(text, &n))
        return read_named(text, out);
    if (!number_from_decimal(n.digits, (int32_t)n.exponent, n.more, &d))
        d = read_slowly(ascii_is_digit(text.ptr[0]) || text.ptr[0] == '.'
                            ? text
                            : str_slice(text, 1, text.len));
    if (isinf(d))
        return false;
    *out = n.negative ? -d : d;
    return true;
}

/* A plus that digits follow says nothing. */
static struct str without_plus(struct str text)
{
    return text.len > 1 && text.ptr[0] == '+' && ascii_is_digit(text.ptr[1])
               ? str_slice(text, 1, text.len)
               : text;
}

bool number_read_int(struct str text, int64_t *out)
{
    return str_to_int64(without_plus(text), out);
}

bool number_read_uint(struct str text, uint64_t *out)
{
    uint64_t n = 0;

    text = without_plus(text);
    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_digit(text.ptr[i]) || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(text.ptr[i] - '0'), &n))
            return false;
    *out = n;
    return true;
}
