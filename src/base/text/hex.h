/* hex.h - bytes as hexadecimal digits and back. Written in lower case, read in either or in lower. */
#ifndef PAWL_BASE_HEX_H
#define PAWL_BASE_HEX_H

#include "base/str.h"

/* The value of a digit of either case, or -1. */
static inline int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of a digit as hex_write() writes it, or -1: upper case is refused. */
static inline int hex_digit_lower(char c)
{
    return c >= 'A' && c <= 'F' ? -1 : hex_digit(c);
}

/* Write two digits for each byte, no zero byte after them. Answers the place after the last. */
char *hex_write(char *out, const void *bytes, size_t len);

/* The same in capitals. */
char *hex_write_upper(char *out, const void *bytes, size_t len);

/* Read `len` bytes from twice as many digits of either case. False for any other text. */
bool hex_read(struct str text, void *out, size_t len) MUST_USE;

/* The same for digits as hex_write() writes them. */
bool hex_read_lower(struct str text, void *out, size_t len) MUST_USE;

/* A number of 1 to 16 digits in lower case. False for any other text. */
bool hex_read_uint64(struct str text, uint64_t *out) MUST_USE;

#endif
