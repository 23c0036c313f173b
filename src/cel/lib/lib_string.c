/*
 * lib_string.c - functions that look into text and cut it.
 *
 * Positions count code points. Text is UTF-8, in which no character is part of
 * another one, so searching works on bytes. Results that are a part of an
 * argument point into it. What makes new text is in lib_string_make.c, format()
 * in lib_format.c.
 */
#include "cel/lib/lib.h"

#include "base/text/utf8.h"
#include "cel/lib/regex.h"

#include <inttypes.h>

/* --- looking --- */

struct value cel_fn_contains(struct cel_eval *ev, const struct value *args)
{
    if (!cel_charge_bytes(ev, (size_t)args[0].len * 2))
        return cel_over_cost(ev);
    return value_bool(str_find(value_text(args[0]), value_text(args[1]), 0) >= 0);
}

struct value cel_fn_starts_with(struct cel_eval *ev, const struct value *args)
{
    if (!cel_charge_bytes(ev, args[1].len))
        return cel_over_cost(ev);
    return value_bool(str_starts_with(value_text(args[0]), value_text(args[1])));
}

struct value cel_fn_ends_with(struct cel_eval *ev, const struct value *args)
{
    if (!cel_charge_bytes(ev, args[1].len))
        return cel_over_cost(ev);
    return value_bool(str_ends_with(value_text(args[0]), value_text(args[1])));
}

/* What it costs to find out that a text is no pattern, and the error. */
static struct value fail_pattern(struct cel_eval *ev, size_t pattern_bytes, const struct err *err)
{
    if (!cel_charge(ev, pattern_bytes > REGEX_PATTERN_MAX        ? 1
                        : err->code == ERR_LIMIT_EXPRESSION_SIZE ? REGEX_COST_TOO_LARGE
                                                                 : pattern_bytes * 16 + 100))
        return cel_over_cost(ev);
    return cel_fail(ev, "%pS", ERR_ARG(err));
}

/* For patterns that are known only now; the compiler keeps constant ones compiled. */
struct value cel_fn_matches(struct cel_eval *ev, const struct value *args)
{
    struct regex *re;
    struct err err;
    bool paid, matched;

    re = regex_new(value_text(args[1]), &err);
    if (re == NULL)
        return fail_pattern(ev, args[1].len, &err);
    paid = cel_charge(ev, regex_compile_cost(re) + regex_match_cost(re, args[0].len));
    matched = paid && regex_matches(re, value_text(args[0]));
    regex_free(re);
    return paid ? value_bool(matched) : cel_over_cost(ev);
}

struct value cel_fn_re_capture(struct cel_eval *ev, const struct value *args)
{
    enum regex_capture result = REGEX_CAPTURED_NOTHING;
    struct str found = STR_NONE;
    struct regex *re;
    struct err err;
    bool paid;

    re = regex_new_capturing(value_text(args[1]), &err);
    if (re == NULL)
        return fail_pattern(ev, args[1].len, &err);
    paid = cel_charge(ev, regex_compile_cost(re) + regex_capture_cost(re, args[0].len));
    if (paid)
        result = regex_capture(re, value_text(args[0]), &found);
    regex_free(re);
    if (!paid)
        return cel_over_cost(ev);
    if (result == REGEX_HAS_GROUPS)
        return cel_fail(ev, "the pattern has more than one group: write (?:...) for the others");
    if (result == REGEX_CAPTURED_NOTHING)
        return value_optional_none();
    /* A part of the text that was given, which lives as long. */
    return cel_optional(ev, value_string(found));
}

/* The byte offset of code point number `position`. False when `s` has fewer. */
static bool find_position(struct str s, int64_t position, size_t *offset)
{
    size_t at = 0;

    if (position < 0 || (uint64_t)position > s.len)
        return false;
    for (int64_t i = 0; i < position; i++) {
        if (at == s.len)
            return false;
        for (at++; at < s.len && ((unsigned char)s.ptr[at] & 0xC0) == 0x80; at++)
            ;
    }
    *offset = at;
    return true;
}

static struct value fail_position(struct cel_eval *ev, struct value text, int64_t position)
{
    return cel_fail(ev, "position %" PRId64 " is outside the text, which has %zu characters",
                    position, utf8_count(value_text(text)));
}

struct value cel_fn_char_at(struct cel_eval *ev, const struct value *args)
{
    struct str s = value_text(args[0]);
    size_t start, end;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 2))
        return cel_over_cost(ev);
    if (!find_position(s, args[1].i, &start))
        return fail_position(ev, args[0], args[1].i);
    end = start;
    if (start < s.len)
        utf8_next(s, &end);
    return value_string(str_slice(s, start, end));
}

struct value cel_fn_index_of(struct cel_eval *ev, const struct value *args)
{
    struct str s = value_text(args[0]);
    int64_t from = 0, hit;
    size_t start = 0;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 3))
        return cel_over_cost(ev);
    if (ev->arg_count == 3)
        from = args[2].i;
    if (!find_position(s, from, &start))
        return fail_position(ev, args[0], from);
    hit = str_find(s, value_text(args[1]), start);
    if (hit < 0)
        return value_int(-1);
    return value_int(from + (int64_t)utf8_count(str_slice(s, start, (size_t)hit)));
}

/*
 * The place of the last `needle` in `s`, or -1, by Knuth, Morris and Pratt's
 * method run backwards: linear, where comparing at each place is not. `border`
 * has room for needle.len numbers.
 */
static int64_t find_last(struct str s, struct str needle, uint32_t *border)
{
    const char *last = needle.ptr + needle.len - 1;

    border[0] = 0;
    for (size_t i = 1, k = 0; i < needle.len; i++) {
        while (k > 0 && *(last - i) != *(last - k))
            k = border[k - 1];
        if (*(last - i) == *(last - k))
            k++;
        border[i] = (uint32_t)k;
    }
    for (size_t i = s.len, k = 0; i-- > 0;) {
        while (k > 0 && s.ptr[i] != *(last - k))
            k = border[k - 1];
        if (s.ptr[i] == *(last - k))
            k++;
        if (k == needle.len)
            return (int64_t)i;
    }
    return -1;
}

struct value cel_fn_last_index_of(struct cel_eval *ev, const struct value *args)
{
    struct str s = value_text(args[0]), needle = value_text(args[1]);
    uint32_t *border;
    size_t start;
    int64_t hit;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 8 + (size_t)args[1].len * 8))
        return cel_over_cost(ev);
    start = s.len;
    if (ev->arg_count == 3 && !find_position(s, args[2].i, &start))
        return fail_position(ev, args[0], args[2].i);
    if (needle.len == 0)
        return value_int((int64_t)utf8_count(str_slice(s, 0, start)));
    /* A hit may reach beyond the position that it has to start at or before. */
    if (s.len - start > needle.len)
        s.len = start + needle.len;
    if (needle.len > s.len)
        return value_int(-1);
    border = cel_alloc(ev, needle.len * sizeof(*border));
    if (border == NULL)
        return cel_over_memory(ev);
    hit = find_last(s, needle, border);
    return value_int(hit < 0 ? -1 : (int64_t)utf8_count(str_slice(s, 0, (size_t)hit)));
}

/* --- cutting --- */

struct value cel_fn_substring(struct cel_eval *ev, const struct value *args)
{
    struct str s = value_text(args[0]);
    size_t start, length;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 3))
        return cel_over_cost(ev);
    if (ev->arg_count == 3 && args[1].i > args[2].i)
        return cel_fail(ev, "a part cannot start at %" PRId64 " and end at %" PRId64, args[1].i,
                        args[2].i);
    if (!find_position(s, args[1].i, &start))
        return fail_position(ev, args[0], args[1].i);
    s = str_slice(s, start, s.len);
    if (ev->arg_count == 2)
        return value_string(s);
    if (!find_position(s, args[2].i - args[1].i, &length))
        return fail_position(ev, args[0], args[2].i);
    return value_string(str_slice(s, 0, length));
}

/* The property White_Space of Unicode. */
static bool is_white_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

struct value cel_fn_trim(struct cel_eval *ev, const struct value *args)
{
    struct str s = value_text(args[0]);

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 8))
        return cel_over_cost(ev);
    while (s.len > 0) {
        size_t step = 0;
        if (!is_white_space(utf8_next(s, &step)))
            break;
        s = str_slice(s, step, s.len);
    }
    while (s.len > 0) {
        size_t at = s.len - 1, step;
        while (((unsigned char)s.ptr[at] & 0xC0) == 0x80)
            at--;
        step = at;
        if (!is_white_space(utf8_next(s, &step)))
            break;
        s.len = at;
    }
    return value_string(s);
}

/*
 * The end of the piece that starts at `from`, or s.len. Without a separator
 * every code point is a piece.
 */
static size_t piece_end(struct str s, struct str separator, size_t from)
{
    int64_t hit;

    if (separator.len == 0) {
        if (from < s.len)
            utf8_next(s, &from);
        return from;
    }
    hit = str_find(s, separator, from);
    return hit < 0 ? s.len : (size_t)hit;
}

static size_t count_pieces(struct str s, struct str separator, uint64_t limit)
{
    size_t pieces = 1, end = 0;

    while (pieces < limit && (end = piece_end(s, separator, end)) < s.len) {
        pieces++;
        end += separator.len;
    }
    return pieces;
}

struct value cel_fn_split(struct cel_eval *ev, const struct value *args)
{
    struct str s = value_text(args[0]), separator = value_text(args[1]);
    struct value *pieces;
    uint64_t limit = UINT64_MAX;
    size_t n, from = 0;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 2))
        return cel_over_cost(ev);
    if (ev->arg_count == 3 && args[2].i >= 0)
        limit = (uint64_t)args[2].i;
    if (limit == 0 || (s.len == 0 && separator.len == 0))
        return value_list(NULL, 0);
    n = count_pieces(s, separator, limit);
    if (!cel_charge(ev, n))
        return cel_over_cost(ev);
    pieces = cel_alloc_items(ev, n);
    if (pieces == NULL)
        return cel_over_memory(ev);
    for (size_t i = 0; i < n; i++) {
        size_t end = i + 1 < n ? piece_end(s, separator, from) : s.len;
        pieces[i] = value_string(str_slice(s, from, end));
        from = end + separator.len;
    }
    return value_list(pieces, n);
}
