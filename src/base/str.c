/* str.c - see str.h. */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>

int str_cmp(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n == 0 ? 0 : memcmp(a.ptr, b.ptr, n);

    if (c != 0)
        return c < 0 ? -1 : 1;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts_with(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_from(s.ptr, prefix.len), prefix);
}

bool str_ends_with(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_eq(str_slice(s, s.len - suffix.len, s.len), suffix);
}

int64_t str_find(struct str s, struct str needle, size_t from)
{
    const char *hit;

    if (from > s.len || needle.len > s.len - from)
        return -1;
    if (needle.len == 0)
        return (int64_t)from;
    /* One byte is the common case, and memmem() has a price for each call. */
    if (needle.len == 1)
        hit = memchr(s.ptr + from, needle.ptr[0], s.len - from);
    else
        hit = memmem(s.ptr + from, s.len - from, needle.ptr, needle.len);
    return hit == NULL ? -1 : hit - s.ptr;
}

struct str str_slice(struct str s, size_t from, size_t to)
{
    ASSERT(from <= to && to <= s.len);
    /* NULL plus nothing is undefined in C. */
    return from == 0 ? str_from(s.ptr, to) : str_from(s.ptr + from, to - from);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.len > 0 && is_space(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

struct str str_cut(struct str *rest, char between)
{
    const char *end = rest->len > 0 ? memchr(rest->ptr, between, rest->len) : NULL;
    size_t len = end == NULL ? rest->len : (size_t)(end - rest->ptr);
    struct str first = str_slice(*rest, 0, len);

    *rest = str_slice(*rest, end == NULL ? len : len + 1, rest->len);
    return first;
}

struct str str_copy(struct arena *mem, struct str s)
{
    return str_from(arena_copy(mem, s.ptr, s.len), s.len);
}

struct str str_join(struct arena *mem, const struct str *parts, size_t count)
{
    size_t len = 0;
    char *text;

    for (size_t i = 0; i < count; i++)
        len += parts[i].len;
    text = arena_alloc(mem, len + 1);
    text[len] = '\0';
    len = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(text + len, parts[i].ptr, parts[i].len);
        len += parts[i].len;
    }
    return str_from(text, len);
}

struct str str_printf(struct arena *mem, const char *format, ...)
{
    char text[256]; /* most fit, and are written once */
    va_list args;
    char *p;
    int len;

    va_start(args, format);
    len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ASSERT(len >= 0);
    if ((size_t)len < sizeof(text))
        return str_from(arena_copy(mem, text, (size_t)len), (size_t)len);
    p = arena_alloc(mem, (size_t)len + 1);
    va_start(args, format);
    vsnprintf(p, (size_t)len + 1, format, args);
    va_end(args);
    return str_from(p, (size_t)len);
}

bool str_to_int64(struct str s, int64_t *out)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    size_t i = negative ? 1 : 0;
    int64_t n = 0;

    if (i == s.len)
        return false;
    for (; i < s.len; i++) {
        int digit = s.ptr[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_sub_overflow(n, digit, &n))
            return false;
    }
    /* Counted downwards, because the negative side is one longer. */
    if (!negative && __builtin_sub_overflow((int64_t)0, n, &n))
        return false;
    *out = n;
    return true;
}

unsigned str_distance(struct str a, struct str b, unsigned limit)
{
    enum { LONGEST = 64 };
    unsigned rows[3][LONGEST + 1]; /* this row of the table and the two above it, by turns */

    if (a.len > LONGEST || b.len > LONGEST)
        return limit + 1;
    for (unsigned j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        unsigned best = row[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            unsigned cost = above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);
            if (cost > above[j] + 1)
                cost = above[j] + 1;
            if (cost > row[j - 1] + 1)
                cost = row[j - 1] + 1;
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1] &&
                cost > two_above[j - 2] + 1)
                cost = two_above[j - 2] + 1;
            row[j] = cost;
            if (cost < best)
                best = cost;
        }
        /* A swap looks two rows up, so one bad row does not yet decide. */
        if (best > limit + 1)
            return limit + 1;
    }
    return rows[a.len % 3][b.len] > limit ? limit + 1 : rows[a.len % 3][b.len];
}
