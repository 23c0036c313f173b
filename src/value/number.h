/*
 * number.h - numbers as decimal text and back, exactly.
 *
 * A double is written with the fewest digits that read back as the same
 * double and, of those, the ones nearest to it. Text is read to the nearest
 * double, ties to even. Nothing here depends on the locale.
 *
 * why: decision 0011
 */
#ifndef PAWL_VALUE_NUMBER_H
#define PAWL_VALUE_NUMBER_H

#include "base/str.h"

/* Room enough for every result of a writer; results are not zero-terminated. */
enum { NUMBER_TEXT_MAX = 32 };

enum number_style {
    /*
     * Reads back as a double and not as an int: "1.0", "-0.0", "0.000001",
     * "1e-7", "100000000000000000000.0", "1e+21". The form of ECMAScript but
     * for ".0". NaN and the infinities have no such form; do not pass them.
     */
    NUMBER_JSON,
    /*
     * What CEL's string() says, in the manner of Go: "1", "-0", "123.456",
     * "0.0001", "1e-05", "1e+21", "NaN", "+Inf", "-Inf".
     */
    NUMBER_CEL
};

/* Write a number and answer the length of the text. */
size_t number_write_double(char out[NUMBER_TEXT_MAX], double d, enum number_style style);
size_t number_write_int(char out[NUMBER_TEXT_MAX], int64_t n);
size_t number_write_uint(char out[NUMBER_TEXT_MAX], uint64_t n);

/*
 * Read a whole text. An integer is digits, with '-' before them when it is
 * signed. A double is digits with an optional sign ('+' too), point and
 * exponent, at least one digit before or after the point; or, in any case of
 * letters and with an optional sign, "inf", "infinity" or "nan". False, with
 * *out unchanged, when the text is none or the number does not fit.
 */
bool number_read_int(struct str text, int64_t *out) MUST_USE;
bool number_read_uint(struct str text, uint64_t *out) MUST_USE;
bool number_read_double(struct str text, double *out) MUST_USE;

/*
 * The double nearest to digits * 10^exponent, infinity when that is too
 * large. With `more`, the number has further digits that are not all 0.
 * False when 64 bits of digits cannot decide: then read the whole text.
 */
bool number_from_decimal(uint64_t digits, int32_t exponent, bool more, double *out) MUST_USE;

#endif
