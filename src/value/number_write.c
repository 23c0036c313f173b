/*
 * number_write.c - numbers to decimal text.
 *
 * The shortest digits of a double are found with the Schubfach method of
 * R. Giulietti: scale the double and the ends of the interval that rounds to
 * it by a power of ten, so that the integers within are the candidates. One
 * 128-bit power is enough for the scaled numbers to compare as the exact ones
 * would, as long as what was cut off is kept as a sticky lowest bit.
 */
#include "value/number.h"

#include "value/pow10_row.h"

#include <math.h>

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

enum { MANTISSA_BITS = 52, EXPONENT_BIAS = 1075, EXPONENT_MASK = 0x7FF };

/* A double is digits * 10^exponent. */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* --- integers --- */

static unsigned count_digits(uint64_t n)
{
    static const uint64_t powers[] = {0,
                                      10,
                                      100,
                                      1000,
                                      10000,
                                      100000,
                                      1000000,
                                      10000000,
                                      100000000,
                                      1000000000,
                                      10000000000,
                                      100000000000,
                                      1000000000000,
                                      10000000000000,
                                      100000000000000,
                                      1000000000000000,
                                      10000000000000000,
                                      100000000000000000,
                                      1000000000000000000,
                                      10000000000000000000u};
    /* 1233 / 4096 is just above log10(2): right, or one too few. */
    unsigned guess = (64 - (unsigned)__builtin_clzll(n | 1)) * 1233 >> 12;

    return guess + (n >= powers[guess]);
}

/* The last `count` digits of `n`, with zeros in front. */
static void put_digits(char *out, uint64_t n, unsigned count)
{
    while (count >= 2) {
        count -= 2;
        memcpy(out + count, digit_pairs + n % 100 * 2, 2);
        n /= 100;
    }
    if (count > 0)
        out[0] = (char)('0' + n % 10);
}

static size_t put_uint(char *out, uint64_t n)
{
    unsigned count;

    if (n < 10) {
        out[0] = (char)('0' + n);
        return 1;
    }
    if (n < 100) {
        memcpy(out, digit_pairs + n * 2, 2);
        return 2;
    }
    count = count_digits(n);
    put_digits(out, n, count);
    return count;
}

size_t number_write_uint(char out[NUMBER_TEXT_MAX], uint64_t n)
{
    return put_uint(out, n);
}

size_t number_write_int(char out[NUMBER_TEXT_MAX], int64_t n)
{
    if (n >= 0)
        return put_uint(out, (uint64_t)n);
    out[0] = '-';
    return 1 + put_uint(out + 1, 0 - (uint64_t)n);
}

/* --- the shortest digits --- */

/* The integer part of row * n / 2^128, its lowest bit set when anything was cut off. */
static uint64_t scale_sticky(uint128 row, uint64_t n)
{
    uint128 low = (uint128)(uint64_t)row * n;
    uint128 high = (uint128)wide_high(row) * n + wide_high(low);

    return wide_high(high) | ((uint64_t)high > 1);
}

static struct decimal shortest(uint64_t mantissa, int exponent, bool uneven)
{
    uint64_t outside = mantissa & 1; /* the ends of the interval round to an even neighbour */
    uint64_t centre = mantissa * 4;
    /* floor(log10(2^exponent)), or of 3/4 of that when the lower neighbour is nearer. */
    int k = (exponent * 1262611 - (uneven ? 524031 : 0)) >> 22;
    int shift = exponent + pow10_log2(-k) + 1;
    uint128 row = pow10_row(-k) + !pow10_is_exact(-k);
    uint64_t lower = scale_sticky(row, (centre - 2 + uneven) << shift) + outside;
    uint64_t middle = scale_sticky(row, centre << shift);
    uint64_t upper = scale_sticky(row, (centre + 2) << shift) - outside;
    uint64_t s = middle / 4;
    bool down, up;

    if (s >= 10) {
        uint64_t tens = s / 10;
        down = lower <= tens * 40;
        up = tens * 40 + 40 <= upper;
        if (down != up)
            return (struct decimal){.digits = tens + up, .exponent = k + 1};
    }
    down = lower <= s * 4;
    up = s * 4 + 4 <= upper;
    if (down == up) /* both, or neither: the nearer one */
        up = middle > s * 4 + 2 || (middle == s * 4 + 2 && (s & 1) != 0);
    return (struct decimal){.digits = s + up, .exponent = k};
}

static struct decimal drop_zeros(struct decimal n)
{
    while (n.digits % 10000 == 0) {
        n.digits /= 10000;
        n.exponent += 4;
    }
    while (n.digits % 10 == 0) {
        n.digits /= 10;
        n.exponent++;
    }
    return n;
}

static struct decimal decimal_of(double positive)
{
    uint64_t bits, mantissa;
    int exponent;

    memcpy(&bits, &positive, sizeof(bits));
    mantissa = bits & (((uint64_t)1 << MANTISSA_BITS) - 1);
    exponent = (int)(bits >> MANTISSA_BITS) & EXPONENT_MASK;
    if (exponent == 0)
        return drop_zeros(shortest(mantissa, 1 - EXPONENT_BIAS, false));
    return drop_zeros(shortest(mantissa | (uint64_t)1 << MANTISSA_BITS, exponent - EXPONENT_BIAS,
                               mantissa == 0 && exponent > 1));
}

/* --- layout --- */

static size_t put_exponent(char *out, int exponent, enum number_style style)
{
    unsigned n = (unsigned)(exponent < 0 ? -exponent : exponent);
    unsigned count = n >= 100 ? 3 : n >= 10 || style == NUMBER_CEL ? 2 : 1;

    out[0] = 'e';
    out[1] = exponent < 0 ? '-' : '+';
    put_digits(out + 2, n, count);
    return 2 + count;
}

static size_t put_scientific(char *out, struct decimal n, unsigned count, enum number_style style)
{
    size_t len = count;

    put_digits(out + 1, n.digits, count);
    out[0] = out[1];
    if (count > 1) {
        out[1] = '.';
        len++;
    }
    return len + put_exponent(out + len, n.exponent + (int)count - 1, style);
}

static size_t put_decimal(char *out, struct decimal n, enum number_style style)
{
    unsigned count = count_digits(n.digits);
    int point = n.exponent + (int)count; /* digits before the point */

    if (point > 21 || point < (style == NUMBER_JSON ? -5 : -3))
        return put_scientific(out, n, count, style);
    if (point <= 0) {
        unsigned zeros = (unsigned)-point;
        memcpy(out, "0.00000000", 8);
        put_digits(out + 2 + zeros, n.digits, count);
        return 2 + zeros + count;
    }
    if (n.exponent < 0) {
        put_digits(out + 1, n.digits, count);
        memmove(out, out + 1, (size_t)point);
        out[point] = '.';
        return count + 1;
    }
    put_digits(out, n.digits, count);
    memset(out + count, '0', (size_t)n.exponent);
    if (style == NUMBER_CEL)
        return (size_t)point;
    memcpy(out + point, ".0", 2);
    return (size_t)point + 2;
}

/*
 * Up to four digits after the point, which is most of what people write. At
 * most 15 digits in all, and no two numbers of 15 digits are the same double,
 * so what reads back is the shortest. 0 when the number is not like that.
 */
static size_t put_short(char *out, double positive, enum number_style style)
{
    uint64_t scaled, whole;
    unsigned part;
    size_t len;

    if (!(positive < 1e11))
        return 0;
    scaled = (uint64_t)(positive * 10000 + 0.5);
    if ((double)scaled / 10000 != positive)
        return 0;
    whole = scaled / 10000;
    part = (unsigned)(scaled % 10000);
    len = put_uint(out, whole);
    if (part == 0 && style == NUMBER_CEL)
        return len;
    out[len] = '.';
    memcpy(out + len + 1, digit_pairs + part / 100 * 2, 2);
    memcpy(out + len + 3, digit_pairs + part % 100 * 2, 2);
    len += 5;
    while (out[len - 1] == '0' && out[len - 2] != '.')
        len--;
    return len;
}

size_t number_write_double(char out[NUMBER_TEXT_MAX], double d, enum number_style style)
{
    size_t sign = signbit(d) ? 1 : 0;
    size_t len;

    if (isnan(d)) {
        memcpy(out, "NaN", 3);
        return 3;
    }
    if (isinf(d)) {
        memcpy(out, d < 0 ? "-Inf" : "+Inf", 4);
        return 4;
    }
    out[0] = '-';
    d = fabs(d);
    len = put_short(out + sign, d, style);
    if (len == 0)
        len = put_decimal(out + sign, decimal_of(d), style);
    return sign + len;
}
