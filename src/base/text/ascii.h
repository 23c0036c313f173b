/* ascii.h - classes and case of ASCII characters; no locale has a say. */
#ifndef PAWL_BASE_ASCII_H
#define PAWL_BASE_ASCII_H

#include "base/str.h"

static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool ascii_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool ascii_is_letter(char c)
{
    return ascii_is_lower(c) || ascii_is_upper(c);
}

static inline bool ascii_is_letter_or_digit(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c);
}

/* What names in expressions are made of. */
static inline bool ascii_is_word(char c)
{
    return ascii_is_letter_or_digit(c) || c == '_';
}

/* The same letter in the other case; anything else as it is. */
static inline char ascii_lower(char c)
{
    return ascii_is_upper(c) ? (char)(c + ('a' - 'A')) : c;
}

static inline char ascii_upper(char c)
{
    return ascii_is_lower(c) ? (char)(c - ('a' - 'A')) : c;
}

/* A copy in `mem` in lower case, followed by a zero byte that is not counted. */
struct str ascii_lower_copy(struct arena *mem, struct str text);

/* Whether it is letters, digits, '_' and '-' with dots between, at least one and at most `len_max` bytes. */
bool ascii_is_dotted_name(struct str name, size_t len_max);

#endif
