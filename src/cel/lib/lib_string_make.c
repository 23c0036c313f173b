/* lib_string_make.c - functions that make text of text; see lib_string.c. */
#include "cel/lib/lib.h"

#include "base/text/utf8.h"

#include <inttypes.h>

/* --- one text --- */

static struct value with_case(struct cel_eval *ev, const struct value *args, char first)
{
    char *out;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 2))
        return cel_over_cost(ev);
    out = cel_alloc_text(ev, args[0].len);
    if (out == NULL)
        return cel_over_memory(ev);
    for (uint32_t i = 0; i < args[0].len; i++) {
        char c = args[0].text[i];
        bool changes = (unsigned char)(c - first) < 26;
        out[i] = changes ? (char)(c ^ 0x20) : c;
    }
    return value_string(str_from(out, args[0].len));
}

struct value cel_fn_lower_ascii(struct cel_eval *ev, const struct value *args)
{
    return with_case(ev, args, 'A');
}

struct value cel_fn_upper_ascii(struct cel_eval *ev, const struct value *args)
{
    return with_case(ev, args, 'a');
}

/* What stands after the backslash for this character in a literal, or 0. */
static char escape_letter(char c)
{
    static const char plain[] = "\a\b\f\n\r\t\v\\\"";
    static const char letters[] = "abfnrtv\\\"";
    const char *hit = c == '\0' ? NULL : strchr(plain, c);

    return hit == NULL ? '\0' : letters[hit - plain];
}

struct value cel_fn_quote(struct cel_eval *ev, const struct value *args)
{
    size_t size = 2, at = 0;
    char *out;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 8))
        return cel_over_cost(ev);
    for (uint32_t i = 0; i < args[0].len; i++)
        size += escape_letter(args[0].text[i]) == '\0' ? 1 : 2;
    out = cel_alloc_text(ev, size);
    if (out == NULL)
        return cel_over_memory(ev);
    out[at++] = '"';
    for (uint32_t i = 0; i < args[0].len; i++) {
        char letter = escape_letter(args[0].text[i]);
        if (letter != '\0')
            out[at++] = '\\';
        out[at++] = letter != '\0' ? letter : args[0].text[i];
    }
    out[at] = '"';
    return value_string(str_from(out, size));
}

/* --- joining and replacing --- */

static char *text_put(char *out, struct str s)
{
    if (s.len > 0)
        memcpy(out, s.ptr, s.len);
    return out + s.len;
}

struct value cel_fn_join(struct cel_eval *ev, const struct value *args)
{
    struct str separator = STR("");
    size_t size = 0;
    char *out, *end;

    if (!cel_charge(ev, args[0].len))
        return cel_over_cost(ev);
    if (ev->arg_count == 2)
        separator = value_text(args[1]);
    for (uint32_t i = 0; i < args[0].len; i++) {
        if (args[0].items[i].kind != VALUE_STRING)
            return cel_fail(ev, "only strings can be joined, item %" PRIu32 " is of type %s", i,
                            value_kind_name(args[0].items[i].kind));
        size += args[0].items[i].len + (i > 0 ? separator.len : 0);
    }
    if (!cel_charge_bytes(ev, size))
        return cel_over_cost(ev);
    out = cel_alloc_text(ev, size);
    if (out == NULL)
        return cel_over_memory(ev);
    end = out;
    for (uint32_t i = 0; i < args[0].len; i++) {
        if (i > 0)
            end = text_put(end, separator);
        end = text_put(end, value_text(args[0].items[i]));
    }
    return value_string(str_from(out, size));
}

/*
 * Where the next `old` is to be replaced, or -1; `from` is where the last one
 * ended. An empty one stands before each code point and at the end.
 */
static int64_t next_hit(struct str s, struct str old, size_t from, bool first)
{
    if (old.len > 0)
        return str_find(s, old, from);
    if (first)
        return 0;
    if (from == s.len)
        return -1;
    utf8_next(s, &from);
    return (int64_t)from;
}

static size_t count_hits(struct str s, struct str old, uint64_t limit)
{
    size_t hits = 0, from = 0;
    int64_t hit;

    while (hits < limit && (hit = next_hit(s, old, from, hits == 0)) >= 0) {
        from = (size_t)hit + old.len;
        hits++;
    }
    return hits;
}

static void replace_hits(char *out, struct str s, struct str old, struct str new, size_t hits)
{
    size_t from = 0;

    for (size_t i = 0; i < hits; i++) {
        size_t hit = (size_t)next_hit(s, old, from, i == 0);
        out = text_put(out, str_slice(s, from, hit));
        out = text_put(out, new);
        from = hit + old.len;
    }
    text_put(out, str_slice(s, from, s.len));
}

struct value cel_fn_replace(struct cel_eval *ev, const struct value *args)
{
    struct str s = value_text(args[0]), old = value_text(args[1]), new = value_text(args[2]);
    uint64_t limit = UINT64_MAX;
    size_t hits, size;
    char *out;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 2))
        return cel_over_cost(ev);
    if (ev->arg_count == 4 && args[3].i >= 0)
        limit = (uint64_t)args[3].i;
    hits = count_hits(s, old, limit);
    if (hits == 0)
        return args[0];
    /* Lengths have 32 bits, so this does not overflow. */
    size = s.len - hits * old.len + hits * new.len;
    if (!cel_charge(ev, hits) || !cel_charge_bytes(ev, size))
        return cel_over_cost(ev);
    out = cel_alloc_text(ev, size);
    if (out == NULL)
        return cel_over_memory(ev);
    replace_hits(out, s, old, new, hits);
    return value_string(str_from(out, size));
}

/* --- backwards --- */

static void reverse_text(char *out, struct str s)
{
    char *end = out + s.len;

    for (size_t at = 0; at < s.len;) {
        size_t start = at;
        utf8_next(s, &at);
        end -= at - start;
        memcpy(end, s.ptr + start, at - start);
    }
}

/* Of a string or a list. */
struct value cel_fn_reverse(struct cel_eval *ev, const struct value *args)
{
    bool is_text = args[0].kind == VALUE_STRING;
    void *out;

    if (!cel_charge(ev, is_text ? args[0].len / 8 + 1 : args[0].len))
        return cel_over_cost(ev);
    out = is_text ? (void *)cel_alloc_text(ev, args[0].len) : cel_alloc_items(ev, args[0].len);
    if (out == NULL)
        return cel_over_memory(ev);
    if (is_text) {
        reverse_text(out, value_text(args[0]));
        return value_string(str_from(out, args[0].len));
    }
    for (uint32_t i = 0; i < args[0].len; i++)
        ((struct value *)out)[args[0].len - 1 - i] = args[0].items[i];
    return value_list(out, args[0].len);
}
