/*
 * str.h - a piece of text that someone else owns.
 *
 * Pointer and length, not terminated, never freed. Passed by value.
 */
#ifndef PAWL_BASE_STR_H
#define PAWL_BASE_STR_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *ptr;
    size_t len;
};

/* For string literals and arrays of characters only. */
#define STR(literal) ((struct str){.ptr = (literal), .len = sizeof(literal) - 1})
#define STR_NONE ((struct str){.ptr = NULL, .len = 0})

/*
 * For printf: printf("%.*s", STR_ARG(s)). It names `s` twice: a call that makes a text stands in
 * a variable before (scripts/check-once).
 */
#define STR_ARG(s) ((int)(s).len), (s).ptr

static inline struct str str_of(const char *zero_terminated)
{
    return (struct str){.ptr = zero_terminated, .len = strlen(zero_terminated)};
}

static inline struct str str_from(const char *ptr, size_t len)
{
    return (struct str){.ptr = ptr, .len = len};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Order by bytes, which for UTF-8 is the order of code points. */
int str_cmp(struct str a, struct str b);

bool str_starts_with(struct str s, struct str prefix);
bool str_ends_with(struct str s, struct str suffix);

/* The place of the first `needle` at or after `from`, or -1. */
int64_t str_find(struct str s, struct str needle, size_t from);

/* From `from` (included) to `to` (excluded); both must lie within `s`. */
struct str str_slice(struct str s, size_t from, size_t to);

/* Without ASCII white space at both ends. */
struct str str_trim(struct str s);

/* What stands before the first `between` of *rest, which becomes what stands behind it. */
struct str str_cut(struct str *rest, char between);

struct str str_copy(struct arena *mem, struct str s);

/* Texts one behind the other, where str_printf() would cost more than it says: STR_JOIN(mem, a, b). */
struct str str_join(struct arena *mem, const struct str *parts, size_t count);

#define STR_JOIN(mem, ...)                                                                         \
    str_join(mem, (const struct str[]){__VA_ARGS__},                                               \
             sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))

/* printf into an arena. */
struct str str_printf(struct arena *mem, const char *format, ...) PRINTF_LIKE(2, 3);

/* Parse a whole decimal number. False when it is none or does not fit. */
bool str_to_int64(struct str s, int64_t *out) MUST_USE;

/*
 * How many edits turn one into the other, for "did you mean": a character put
 * in, left out or changed, or two neighbours swapped. Answers `limit` + 1 when
 * it is larger than `limit`.
 */
unsigned str_distance(struct str a, struct str b, unsigned limit);

#endif
