/*
 * json_reader.h - what the files of the JSON reader share: its state, and scalars.
 *
 * Functions that read take the place to read from and answer the place after
 * it, or NULL when they have filled in the error. What most texts are made of
 * is read here, inline; the rest of strings and numbers is in json_scalar.c.
 */
#ifndef PAWL_VALUE_JSON_READER_H
#define PAWL_VALUE_JSON_READER_H

#include "base/text/ascii.h"
#include "value/json.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

struct json_reader {
    struct arena *mem;
    struct str text;         /* as given, for the place of an error */
    char *copy;              /* in the arena; strings in it are rewritten */
    struct value *stack;     /* stack[0] is a marker for the text as a whole */
    uint32_t used, capacity; /* of the stack */
    uint32_t frame;          /* the innermost marker; its len is the place of the one around it */
    uint32_t depth;
    bool on_heap; /* the stack has outgrown its first place */
    struct err *err;
};

/* --- errors: json_scalar.c --- */

/* Answers NULL. */
char *reader_fail(struct json_reader *r, const char *at, const char *format, ...) PRINTF_LIKE(3, 4);

enum json_expected {
    EXPECTED_VALUE,
    EXPECTED_KEY,
    EXPECTED_COLON,
    EXPECTED_END,
    EXPECTED_LIST_TO_GO_ON,
    EXPECTED_MAP_TO_GO_ON,
    EXPECTED_DIGIT_BEHIND_SIGN,
    EXPECTED_DIGIT_BEHIND_POINT,
    EXPECTED_DIGIT_OF_EXPONENT,
};

/* Say what was expected, and what stands there instead. Answers NULL. */
char *reader_fail_expected(struct json_reader *r, char *p, enum json_expected expected);

static inline bool reader_at_end(const struct json_reader *r, const char *p)
{
    return p == r->copy + r->text.len;
}

/* --- strings --- */

/* The first byte from p on that is a quote, a backslash, a control character or not ASCII. */
static inline char *skip_plain(char *p)
{
#if defined(__SSE2__)
    for (;; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* Compared as signed numbers, what is not ASCII is below the space too. */
        __m128i stops = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                  _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                                     _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)));
        unsigned mask = (unsigned)_mm_movemask_epi8(stops);
        if (mask != 0)
            return p + __builtin_ctz(mask);
    }
#else
    while (*p != '"' && *p != '\\' && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80)
        p++;
    return p;
#endif
}

/*
 * The rest of a string that has more than plain ASCII in it, from the first
 * such byte on. json_scalar.c
 */
char *reader_string_rest(struct json_reader *r, char *start, char *p, struct value *out);

/* p is after the opening quote. */
static inline char *reader_string(struct json_reader *r, char *p, struct value *out)
{
    char *end = skip_plain(p);

    if (UNLIKELY(*end != '"'))
        return reader_string_rest(r, p, end, out);
    *out = value_string(str_from(p, (size_t)(end - p)));
    return end + 1;
}

/* --- numbers --- */

/* All digits of a number that 64 bits could not decide, or that has too many. json_scalar.c */
char *reader_long_number(struct json_reader *r, char *start, char *end, struct value *out);

/* A number from its point or its exponent on; `digits` are those before. json_scalar.c */
char *reader_fraction(struct json_reader *r, char *start, char *p, uint64_t digits,
                      struct value *out);

static inline char *reader_number(struct json_reader *r, char *p, struct value *out)
{
    char *start = p;
    bool negative = *p == '-';
    char *first = p + negative;
    uint64_t n;

    p = first;
    if (!ascii_is_digit(*p))
        return reader_fail_expected(r, p, EXPECTED_DIGIT_BEHIND_SIGN);
    n = (uint64_t)(*p++ - '0');
    if (n != 0)
        for (; ascii_is_digit(*p); p++)
            n = n * 10 + (uint64_t)(*p - '0');
    else if (ascii_is_digit(*p))
        return reader_fail(r, start, "a number may not start with 0");
    if (*p == '.' || *p == 'e' || *p == 'E')
        return reader_fraction(r, start, p, n, out);
    if (p - first > 19 || n > (uint64_t)INT64_MAX + negative)
        return reader_long_number(r, start, p, out);
    *out = value_int((int64_t)(negative ? 0 - n : n));
    return p;
}

#endif
