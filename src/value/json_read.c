/*
 * json_read.c - JSON text to a value, in one pass.
 *
 * The text is copied into the arena with zeros behind it, so that every look
 * ahead stays inside, and strings are unescaped where they stand. Values go
 * on a stack; a list or map starts with a marker there, and when it ends, what
 * lies above the marker is copied to the arena and the finished value takes
 * the marker's place:
 *
 *     marker{  "a"  1  "b"  marker[  2  3      <- top
 *
 * Functions that read take the place to read from and answer the place after
 * it, or NULL when they have filled in the error.
 */
#include "value/json.h"
#include "value/number.h"

#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { PADDING = 32, STACK_FIRST = 512 };

struct reader {
    struct arena *mem;
    struct str text;     /* as given, for the place of an error */
    char *copy;          /* in the arena; strings in it are rewritten */
    struct value *stack; /* stack[0] is a marker for the text as a whole */
    uint32_t used, room; /* of the stack */
    uint32_t frame;      /* the innermost marker; its len is the place of the one around it */
    uint32_t depth;
    bool on_heap; /* the stack has outgrown its first place */
    struct err *err;
};

/* --- errors --- */

static char *fail(struct reader *r, const char *at, const char *format, ...) PRINTF_LIKE(3, 4);

static char *fail(struct reader *r, const char *at, const char *format, ...)
{
    size_t offset = (size_t)(at - r->copy);
    size_t line_start = 0;
    uint32_t line = 1, column;
    char message[sizeof(r->err->message)];
    va_list args;

    for (size_t i = 0; i < offset; i++)
        if (r->text.ptr[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    column = (uint32_t)utf8_count(str_slice(r->text, line_start, offset)) + 1;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    err_set_at(r->err, ERR_BAD_JSON, line, column, "%s", message);
    return NULL;
}

static bool at_end(const struct reader *r, const char *p)
{
    return p == r->copy + r->text.len;
}

/* Whether a list or map ends here, right behind a comma. */
static bool is_behind_comma(const struct reader *r, const char *p)
{
    if (*p != ']' && *p != '}')
        return false;
    for (p--; p > r->copy && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'); p--)
        ;
    return p >= r->copy && *p == ',';
}

/* Say what was expected, and what stands there instead. */
static char *fail_expected(struct reader *r, char *p, const char *expected)
{
    size_t len;

    if (at_end(r, p))
        return fail(r, p, "expected %s, but the text ends here", expected);
    if ((unsigned char)*p < 0x20 || *p == 0x7F)
        return fail(r, p, "expected %s, found control character U+%04X", expected,
                    (unsigned char)*p);
    len = utf8_sequence_length(p, (size_t)(r->copy + r->text.len - p));
    if (len == 0)
        return fail(r, p, "the text is not UTF-8");
    return fail(r, p, "expected %s, found '%.*s'%s", expected, (int)len, p,
                is_behind_comma(r, p) ? "; take away the comma before it" : "");
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

/* Four hexadecimal digits as a number, or -1. */
static int32_t read_hex4(const char *p)
{
    int32_t n = 0;

    for (int i = 0; i < 4; i++) {
        char c = p[i];
        if (c >= '0' && c <= '9')
            n = n << 4 | (c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            n = n << 4 | ((c | 0x20) - 'a' + 10);
        else
            return -1;
    }
    return n;
}

/* JSON as it should be, and a text that no value of ours may hold. */
static char *refuse(struct reader *r, char *p, const char *message)
{
    (void)fail(r, p, "%s", message);
    r->err->code = ERR_INVALID;
    return NULL;
}

/* A \u escape, p being at the backslash. The code point goes to *to, in UTF-8. */
static char *read_unicode(struct reader *r, char *p, char **to)
{
    int32_t code = read_hex4(p + 2);

    if (code < 0)
        return fail(r, p, "\\u needs four hexadecimal digits");
    if (code == 0)
        return refuse(r, p, "U+0000 is not allowed");
    p += 6;
    if (code >= 0xD800 && code <= 0xDFFF) {
        int32_t low = code <= 0xDBFF && p[0] == '\\' && p[1] == 'u' ? read_hex4(p + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return refuse(r, p - 6, "half a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    *to += utf8_encode(*to, (uint32_t)code);
    return p;
}

static char *read_escape(struct reader *r, char *p, char **to)
{
    char c;

    switch (p[1]) {
    case '"':
    case '\\':
    case '/':
        c = p[1];
        break;
    case 'b':
        c = '\b';
        break;
    case 'f':
        c = '\f';
        break;
    case 'n':
        c = '\n';
        break;
    case 'r':
        c = '\r';
        break;
    case 't':
        c = '\t';
        break;
    case 'u':
        return read_unicode(r, p, to);
    default:
        return at_end(r, p + 1) ? fail(r, p + 1, "the string is not closed")
                                : fail(r, p, "unknown escape; write \\\\ for a backslash");
    }
    *(*to)++ = c;
    return p + 2;
}

/* Step over characters that are not ASCII. */
static char *skip_wide(struct reader *r, char *p)
{
    while ((unsigned char)*p >= 0x80) {
        size_t len = 2;
        if ((unsigned char)*p < 0xC2 || (unsigned char)*p > 0xDF || (p[1] & 0xC0) != 0x80)
            len = utf8_sequence_length(p, (size_t)(r->copy + r->text.len - p));
        if (len == 0)
            return fail(r, p, "the text is not UTF-8");
        p += len;
    }
    return p;
}

/* The rest of a string that has more than plain ASCII in it, from the first such byte on. */
static char *read_string_rest(struct reader *r, char *start, char *p, struct value *out)
{
    char *to = p; /* where the string is written: at p until an escape makes it shorter */

    while (*p != '"') {
        char *run;

        if (*p == '\\') {
            p = read_escape(r, p, &to);
            if (p == NULL)
                return NULL;
        } else if (at_end(r, p)) {
            return fail(r, p, "the string is not closed");
        } else if ((unsigned char)*p < 0x20) {
            return fail(r, p, "control character U+%04X in a string must be escaped",
                        (unsigned char)*p);
        }
        run = p;
        p = skip_wide(r, skip_plain(p));
        if (p == NULL)
            return NULL;
        if (to != run)
            memmove(to, run, (size_t)(p - run));
        to += p - run;
    }
    *out = value_string(str_from(start, (size_t)(to - start)));
    return p + 1;
}

/* p is after the opening quote. */
static inline char *read_string(struct reader *r, char *p, struct value *out)
{
    char *end = skip_plain(p);

    if (UNLIKELY(*end != '"'))
        return read_string_rest(r, p, end, out);
    *out = value_string(str_from(p, (size_t)(end - p)));
    return end + 1;
}

/* --- numbers --- */

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* All digits of a number that 64 bits could not decide, or that has too many. */
static char *read_long_number(struct reader *r, char *start, char *end, struct value *out)
{
    double d;

    if (!number_read_double(str_from(start, (size_t)(end - start)), &d))
        return fail(r, start, "the number is too large");
    *out = value_double(d);
    return end;
}

/* A number from its point or its exponent on; `digits` are those before. */
static char *read_fraction(struct reader *r, char *start, char *p, uint64_t digits,
                           struct value *out)
{
    char *first = start + (*start == '-');
    int64_t exponent = 0, written = 0;
    bool too_long;
    double d;

    if (*p == '.') {
        char *point = p++;
        if (!is_digit(*p))
            return fail_expected(r, p, "a digit after the point");
        for (; is_digit(*p); p++)
            digits = digits * 10 + (uint64_t)(*p - '0');
        exponent = point + 1 - p;
    }
    /* Counts the point and leading zeros too: careful, not exact. */
    too_long = p - first > 19;
    if (*p == 'e' || *p == 'E') {
        bool negative = *++p == '-';
        if (*p == '-' || *p == '+')
            p++;
        if (!is_digit(*p))
            return fail_expected(r, p, "a digit in the exponent");
        for (; is_digit(*p); p++)
            if (written < 100000)
                written = written * 10 + (*p - '0');
        exponent += negative ? -written : written;
    }
    if (too_long || !number_from_decimal(digits, (int32_t)exponent, false, &d))
        return read_long_number(r, start, p, out);
    if (isinf(d))
        return fail(r, start, "the number is too large");
    *out = value_double(*start == '-' ? -d : d);
    return p;
}

static inline char *read_number(struct reader *r, char *p, struct value *out)
{
    char *start = p;
    bool negative = *p == '-';
    char *first = p + negative;
    uint64_t n;

    p = first;
    if (!is_digit(*p))
        return fail_expected(r, p, "a digit after '-'");
    n = (uint64_t)(*p++ - '0');
    if (n != 0)
        for (; is_digit(*p); p++)
            n = n * 10 + (uint64_t)(*p - '0');
    else if (is_digit(*p))
        return fail(r, start, "a number may not start with 0");
    if (*p == '.' || *p == 'e' || *p == 'E')
        return read_fraction(r, start, p, n, out);
    if (p - first > 19 || n > (uint64_t)INT64_MAX + negative)
        return read_long_number(r, start, p, out);
    *out = value_int((int64_t)(negative ? 0 - n : n));
    return p;
}

/* --- lists and maps --- */

static void grow_stack(struct reader *r)
{
    size_t bytes = (size_t)r->room * sizeof(*r->stack);
    struct value *bigger = realloc(r->on_heap ? r->stack : NULL, bytes * 2);

    if (bigger == NULL)
        PANIC("out of memory");
    if (!r->on_heap)
        memcpy(bigger, r->stack, bytes);
    r->stack = bigger;
    r->room *= 2;
    r->on_heap = true;
}

static inline struct value *push(struct reader *r)
{
    if (UNLIKELY(r->used == r->room))
        grow_stack(r);
    return &r->stack[r->used++];
}

static inline bool open_frame(struct reader *r, const char *p, enum value_kind kind)
{
    struct value *marker = push(r);

    *marker = (struct value){.kind = (uint8_t)kind, .len = r->frame};
    r->frame = (uint32_t)(marker - r->stack);
    if (UNLIKELY(++r->depth > JSON_DEPTH_MAX)) {
        fail(r, p, "nested deeper than %d levels", JSON_DEPTH_MAX);
        return false;
    }
    return true;
}

static inline void close_frame(struct reader *r, struct value finished)
{
    uint32_t around = r->stack[r->frame].len;

    r->stack[r->frame] = finished;
    r->used = r->frame + 1;
    r->frame = around;
    r->depth--;
}

static inline void close_list(struct reader *r)
{
    const struct value *from = &r->stack[r->frame + 1];
    size_t count = r->used - r->frame - 1;
    struct value *items = arena_alloc(r->mem, count * sizeof(*items));

    memcpy(items, from, count * sizeof(*items));
    close_frame(r, value_list(items, count));
}

static inline bool close_map(struct reader *r)
{
    /* Keys and values alternate on the stack, as in an entry. */
    const struct value *from = &r->stack[r->frame + 1];
    size_t count = (r->used - r->frame - 1) / 2;
    struct value_entry *entries = arena_alloc(r->mem, count * sizeof(*entries));
    struct value map;
    size_t twice = 0;

    memcpy(entries, from, count * sizeof(*entries));
    map = value_map_make(r->mem, entries, count, &twice);
    if (UNLIKELY(map.kind == VALUE_ABSENT)) {
        struct str key = value_text(entries[twice].key);
        fail(r, key.ptr - 1, "duplicate key \"%.*s\"", key.len < 100 ? (int)key.len : 100, key.ptr);
        return false;
    }
    close_frame(r, map);
    return true;
}

/* --- the text --- */

static inline char *skip_space(char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

static char *read_word(struct reader *r, char *p, struct value *out)
{
    size_t len = 4;

    if (memcmp(p, "true", 4) == 0) {
        *out = value_bool(true);
    } else if (memcmp(p, "null", 4) == 0) {
        *out = value_null();
    } else if (memcmp(p, "false", 5) == 0) {
        *out = value_bool(false);
        len = 5;
    } else if (*p == '\'') {
        return fail(r, p, "strings are written with double quotes");
    } else {
        return fail_expected(r, p, "a value");
    }
    return p + len;
}

/* A key and its colon; answers where the value starts. */
static inline char *read_key(struct reader *r, char *p)
{
    struct value *key;

    if (UNLIKELY(*p != '"'))
        return fail_expected(r, p, "a key in double quotes");
    key = push(r);
    p = read_string(r, p + 1, key);
    if (UNLIKELY(p == NULL))
        return NULL;
    key->hash = value_key_hash(value_text(*key));
    if (UNLIKELY(*p != ':')) {
        p = skip_space(p);
        if (*p != ':')
            return fail_expected(r, p, "':' after the key");
    }
    return skip_space(p + 1);
}

/*
 * A scalar or an empty list or map becomes the top of the stack, and *complete
 * is true. A list or map with something in it is opened, and the answer is
 * where its first value starts.
 */
static inline char *read_value(struct reader *r, char *p, bool *complete)
{
    char c = *p;

    *complete = true;
    if (c == '"')
        return read_string(r, p + 1, push(r));
    if (c == '-' || is_digit(c))
        return read_number(r, p, push(r));
    if (c != '{' && c != '[')
        return read_word(r, p, push(r));

    if (!open_frame(r, p, c == '{' ? VALUE_MAP : VALUE_LIST))
        return NULL;
    p = skip_space(p + 1);
    if (c == '{' ? *p == '}' : *p == ']') {
        close_frame(r, c == '{' ? value_map_empty() : value_list(NULL, 0));
        return p + 1;
    }
    *complete = false;
    return c == '{' ? read_key(r, p) : p;
}

/* After a value: close what ends here, then step to the next value. *done at the very end. */
static inline char *read_after(struct reader *r, char *p, bool *done)
{
    for (;;) {
        uint8_t kind = r->stack[r->frame].kind;

        p = skip_space(p);
        if (kind == VALUE_ABSENT) {
            *done = true;
            return at_end(r, p) ? p : fail_expected(r, p, "nothing after the value");
        }
        if (*p == ',') {
            p = skip_space(p + 1);
            return kind == VALUE_MAP ? read_key(r, p) : p;
        }
        if (kind == VALUE_LIST) {
            if (UNLIKELY(*p != ']'))
                return fail_expected(r, p, "',' or ']' after the value");
            close_list(r);
        } else {
            if (UNLIKELY(*p != '}'))
                return fail_expected(r, p, "',' or '}' after the value");
            if (UNLIKELY(!close_map(r)))
                return NULL;
        }
        p++;
    }
}

bool json_read(struct arena *mem, struct str text, struct value *out, struct err *err)
{
    struct value stack[STACK_FIRST];
    struct reader r = {
        .mem = mem, .text = text, .stack = stack, .used = 1, .room = STACK_FIRST, .err = err};
    bool complete, done = false;
    char *p;

    if (text.len > VALUE_LEN_MAX)
        return err_set(err, ERR_TOO_LARGE, "a JSON text is at most 4 GiB - 1 long");
    r.copy = arena_alloc(mem, text.len + PADDING);
    if (text.len > 0)
        memcpy(r.copy, text.ptr, text.len);
    memset(r.copy + text.len, 0, PADDING);
    stack[0] = value_absent();

    p = skip_space(r.copy);
    if (memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p = fail(&r, p, "the text starts with a byte order mark; save it as UTF-8 without one");
    while (p != NULL && !done) {
        p = read_value(&r, p, &complete);
        if (p != NULL && complete)
            p = read_after(&r, p, &done);
    }
    if (p != NULL)
        *out = r.stack[1];
    if (r.on_heap)
        free(r.stack);
    return p != NULL;
}
