/*
 * json_write.c - a value to JSON text.
 *
 * Lists and maps that are being written stand in an array of frames, so depth
 * is bounded and nothing recurses. Every value that is visited writes at least
 * one byte, and the length is checked after each, so the limit of the buffer
 * bounds the time too, however often a value shares parts of itself.
 */
#include "value/json.h"

#include "base/base64.h"
#include "value/number.h"
#include "value/path.h"
#include "value/timefmt.h"

#include <math.h>

/* Room for any scalar but text, with the punctuation around it. */
enum { SCALAR_MAX = 64 };

_Static_assert(SCALAR_MAX >= NUMBER_TEXT_MAX + 8 && SCALAR_MAX >= DURATION_TEXT_MAX + 8 &&
                   SCALAR_MAX >= TIMESTAMP_TEXT_MAX + 8,
               "a scalar fits");

/* A list or map of which items are still to be written. */
struct frame {
    struct value whole; /* the list or map */
    uint32_t next;      /* the item or entry to write next */
};

struct writer {
    struct buf *out;
    size_t limit; /* of the buffer, which itself is unlimited meanwhile */
    bool pretty;
    uint32_t depth;
    struct err *err;
    struct frame frames[JSON_DEPTH_MAX];
};

/* --- errors --- */

static bool fail_too_large(struct writer *w)
{
    return err_set(w->err, ERR_TOO_LARGE, "the value is longer than %zu bytes as JSON", w->limit);
}

/* The text of a key that is a number or a boolean, or 0 when it is something else. */
static size_t key_text(char out[NUMBER_TEXT_MAX], struct value key)
{
    if (key.kind == VALUE_INT)
        return number_write_int(out, key.i);
    if (key.kind == VALUE_UINT)
        return number_write_uint(out, key.u);
    if (key.kind != VALUE_BOOL)
        return 0;
    memcpy(out, key.b ? "true " : "false", 5);
    return key.b ? 4 : 5;
}

/* Say what is wrong, and where in the value: at what each frame has stepped to last. */
static bool fail(struct writer *w, const char *what)
{
    enum { SHOWN = 120 };
    struct buf path;

    buf_init(&path);
    for (uint32_t i = 0; i < w->depth && path.len <= SHOWN; i++) {
        const struct frame *f = &w->frames[i];
        struct value key;
        char text[NUMBER_TEXT_MAX];

        if (f->whole.kind == VALUE_LIST) {
            path_add_index(&path, f->next - 1);
            continue;
        }
        key = f->whole.map->entries[f->next - 1].key;
        path_add(&path, key.kind == VALUE_STRING ? value_text(key)
                                                 : str_from(text, key_text(text, key)));
    }
    if (path.len == 0)
        err_set(w->err, ERR_EXPRESSION_ERROR, "%s", what);
    else
        err_set(w->err, ERR_EXPRESSION_ERROR, "%s, at %.*s", what,
                path.len > SHOWN ? SHOWN : (int)path.len, path.ptr);
    buf_fini(&path);
    return false;
}

/* --- text --- */

/* Where `extra` bytes can be written. The limit is lifted, so there is always room. */
static inline char *room(struct buf *out, size_t extra)
{
    if (!buf_reserve(out, extra))
        PANIC("a buffer without limit is full");
    return out->ptr + out->len;
}

static inline void add_char(struct buf *out, char c)
{
    *room(out, 1) = c;
    out->len++;
}

#define EVERY_BYTE(c) (0x0101010101010101u * (c))

/* Whether one of eight bytes is a quote, a backslash or a control character. */
static inline bool needs_escape(uint64_t bytes)
{
    uint64_t quote = (bytes ^ EVERY_BYTE('"')) - EVERY_BYTE(1);
    uint64_t backslash = (bytes ^ EVERY_BYTE('\\')) - EVERY_BYTE(1);
    uint64_t control = bytes - EVERY_BYTE(0x20);

    /* A subtraction borrows only where the answer is yes anyway. */
    return ((quote | backslash | control) & ~bytes & EVERY_BYTE(0x80)) != 0;
}

static char *put_escaped(char *to, unsigned char c)
{
    static const char short_forms[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    static const char hex[] = "0123456789abcdef";

    if (c >= 0x20 && c != '"' && c != '\\') {
        *to++ = (char)c;
        return to;
    }
    *to++ = '\\';
    if (c >= 0x20) {
        *to++ = (char)c;
    } else if (short_forms[c] != 0) {
        *to++ = short_forms[c];
    } else {
        memcpy(to, "u00", 3);
        to[3] = hex[c >> 4];
        to[4] = hex[c & 15];
        to += 5;
    }
    return to;
}

/* From byte `from` on, a piece at a time. */
static void add_escaped(struct buf *out, const char *text, size_t from, size_t len)
{
    enum { PIECE = 256 };

    while (from < len) {
        size_t end = len - from > PIECE ? from + PIECE : len;
        char *to = room(out, (end - from) * 6);

        for (; from < end; from++)
            to = put_escaped(to, (unsigned char)text[from]);
        out->len = (size_t)(to - out->ptr);
    }
}

/*
 * Copy text that needs no escape, up to seven bytes beyond its end; answers
 * how much was copied: all of it, or less and something there needs an escape.
 */
static inline size_t copy_plain(char *to, const char *text, size_t len)
{
    uint64_t word;
    size_t i = 0;

    for (; len - i >= 8; i += 8) {
        memcpy(&word, text + i, 8);
        memcpy(to + i, &word, 8);
        if (UNLIKELY(needs_escape(word)))
            return i;
    }
    if (i == len)
        return len;
    if (len >= 8) {
        /* The last eight bytes, some of them for the second time. */
        memcpy(&word, text + len - 8, 8);
        memcpy(to + len - 8, &word, 8);
        return needs_escape(word) ? i : len;
    }
    if (len >= 4) {
        uint32_t low, high;
        memcpy(&low, text, 4);
        memcpy(&high, text + len - 4, 4);
        memcpy(to, &low, 4);
        memcpy(to + len - 4, &high, 4);
        word = (uint64_t)high << 32 | low;
    } else {
        to[0] = text[0];
        to[len / 2] = text[len / 2];
        to[len - 1] = text[len - 1];
        word = EVERY_BYTE(' ') << 24 | (uint64_t)(unsigned char)text[0] << 16 |
               (uint64_t)(unsigned char)text[len / 2] << 8 | (unsigned char)text[len - 1];
    }
    return needs_escape(word) ? 0 : len;
}

static inline void add_string(struct buf *out, struct str s)
{
    char *to = room(out, s.len + 16);
    size_t done;

    *to++ = '"';
    done = copy_plain(to, s.ptr, s.len);
    out->len += 1 + done;
    if (LIKELY(done == s.len)) {
        to[done] = '"';
        out->len++;
        return;
    }
    add_escaped(out, s.ptr, done, s.len);
    add_char(out, '"');
}

/* Whether text of that length, which may be anybody's, is worth copying. */
static inline bool fits(const struct writer *w, size_t len)
{
    return len <= w->limit && w->out->len <= w->limit - len;
}

/* --- scalars --- */

static bool add_bytes(struct writer *w, struct str bytes)
{
    char *to;

    if (!fits(w, base64_encoded_len(bytes.len)))
        return fail_too_large(w);
    to = room(w->out, base64_encoded_len(bytes.len) + 2);
    to[0] = '"';
    w->out->len += 1 + base64_encode(bytes, to + 1);
    add_char(w->out, '"');
    return true;
}

static void add_time(struct buf *out, struct value v)
{
    char *to = room(out, SCALAR_MAX);
    size_t len = v.kind == VALUE_TIMESTAMP ? timestamp_write(to + 1, v) : duration_write(to + 1, v);

    to[0] = '"';
    to[len + 1] = '"';
    out->len += len + 2;
}

static void add_number(struct buf *out, struct value v)
{
    char *to = room(out, SCALAR_MAX);

    if (v.kind == VALUE_INT)
        out->len += number_write_int(to, v.i);
    else if (v.kind == VALUE_UINT)
        out->len += number_write_uint(to, v.u);
    else
        out->len += number_write_double(to, v.d, NUMBER_JSON);
}

static bool add_scalar(struct writer *w, struct value v)
{
    struct buf *out = w->out;

    switch ((enum value_kind)v.kind) {
    case VALUE_STRING:
        if (UNLIKELY(!fits(w, v.len)))
            return fail_too_large(w);
        add_string(out, value_text(v));
        return true;
    case VALUE_NULL:
        buf_add(out, "null", 4);
        return true;
    case VALUE_BOOL:
        buf_add(out, v.b ? "true" : "false", v.b ? 4 : 5);
        return true;
    case VALUE_DOUBLE:
        if (UNLIKELY(!isfinite(v.d)))
            return fail(w, isnan(v.d) ? "NaN cannot be written as JSON"
                                      : "infinity cannot be written as JSON");
        add_number(out, v);
        return true;
    case VALUE_INT:
    case VALUE_UINT:
        add_number(out, v);
        return true;
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
        add_time(out, v);
        return true;
    case VALUE_BYTES:
        return add_bytes(w, value_text(v));
    case VALUE_TYPE:
        add_string(out, str_of(v.type_name));
        return true;
    case VALUE_ABSENT:
        return fail(w, "an absent value cannot be written as JSON");
    case VALUE_ERROR:
        return fail(w, "an error cannot be written as JSON");
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_OPTIONAL:
    case VALUE_KIND_COUNT:
        break;
    }
    PANIC("not a scalar");
}

/* --- lists and maps --- */

static void add_line(struct writer *w)
{
    size_t spaces = (size_t)w->depth * 2;
    char *to = room(w->out, 1 + spaces);

    to[0] = '\n';
    memset(to + 1, ' ', spaces);
    w->out->len += 1 + spaces;
}

/* A key that becomes a string: no string key may be the same. */
static bool add_other_key(struct writer *w, struct value map, struct value key)
{
    char text[NUMBER_TEXT_MAX];
    struct str s = str_from(text, key_text(text, key));

    if (s.len == 0)
        return fail(w, "a key that is no string, number or boolean cannot be written as JSON");
    if (value_map_get_str(map, s).kind != VALUE_ABSENT)
        return fail(w, "two keys are the same in JSON");
    add_string(w->out, s);
    return true;
}

static inline bool add_key(struct writer *w, struct value map, struct value key)
{
    if (LIKELY(key.kind == VALUE_STRING && fits(w, key.len)))
        add_string(w->out, value_text(key));
    else if (key.kind == VALUE_STRING)
        return fail_too_large(w);
    else if (!add_other_key(w, map, key))
        return false;
    add_char(w->out, ':');
    if (UNLIKELY(w->pretty))
        add_char(w->out, ' ');
    return true;
}

/* A scalar, or the opening bracket of a list or map; an empty one is finished at once. */
static inline bool add_value(struct writer *w, struct value v)
{
    if (UNLIKELY(v.kind == VALUE_OPTIONAL)) {
        for (int i = 0; v.kind == VALUE_OPTIONAL; i++) {
            if (v.inner == NULL)
                return fail(w, "an empty optional cannot be written as JSON");
            if (i == JSON_DEPTH_MAX)
                return fail(w, "nested too deep for JSON");
            v = *v.inner;
        }
    }
    if (v.kind != VALUE_LIST && v.kind != VALUE_MAP)
        return add_scalar(w, v);
    if (UNLIKELY(w->depth == JSON_DEPTH_MAX))
        return fail(w, "nested too deep for JSON");
    if (v.len == 0) {
        buf_add(w->out, v.kind == VALUE_LIST ? "[]" : "{}", 2);
        return true;
    }
    add_char(w->out, v.kind == VALUE_LIST ? '[' : '{');
    w->frames[w->depth++] = (struct frame){.whole = v};
    return true;
}

static inline void close_finished(struct writer *w)
{
    while (w->depth > 0) {
        const struct frame *f = &w->frames[w->depth - 1];

        if (f->next < f->whole.len)
            return;
        w->depth--;
        if (UNLIKELY(w->pretty))
            add_line(w);
        add_char(w->out, f->whole.kind == VALUE_LIST ? ']' : '}');
    }
}

/* Step to the next value of the innermost list or map, which has one. */
static inline bool step(struct writer *w, struct value *next)
{
    struct frame *f = &w->frames[w->depth - 1];
    uint32_t at = f->next++;

    if (at > 0)
        add_char(w->out, ',');
    if (UNLIKELY(w->pretty))
        add_line(w);
    if (f->whole.kind == VALUE_LIST) {
        *next = f->whole.items[at];
        return true;
    }
    *next = f->whole.map->entries[at].value;
    return add_key(w, f->whole, f->whole.map->entries[at].key);
}

static bool write_all(struct writer *w, struct value v)
{
    do {
        if (!add_value(w, v))
            return false;
        close_finished(w);
        if (UNLIKELY(w->out->len > w->limit))
            return fail_too_large(w);
        if (w->depth == 0)
            return true;
    } while (step(w, &v));
    return false;
}

static bool write_value(struct buf *out, struct value v, bool pretty, struct err *err)
{
    struct writer w; /* not cleared: the frames are large, and filled as they are used */
    size_t before = out->len, limit = out->limit;
    bool ok;

    w.out = out;
    w.limit = limit < VALUE_LEN_MAX ? limit : VALUE_LEN_MAX;
    w.pretty = pretty;
    w.depth = 0;
    w.err = err;
    if (out->failed)
        return fail_too_large(&w);
    out->limit = SIZE_MAX / 4;
    ok = write_all(&w, v);
    out->limit = limit;
    /* What lies beyond the limit must not be used by others who write to the buffer. */
    if (out->room > limit)
        out->room = limit > before ? limit : before;
    if (!ok)
        out->len = before;
    return ok;
}

bool json_write(struct buf *out, struct value v, struct err *err)
{
    return write_value(out, v, false, err);
}

bool json_write_pretty(struct buf *out, struct value v, struct err *err)
{
    return write_value(out, v, true, err);
}

void json_write_string(struct buf *out, struct str s)
{
    struct err ignored;

    /* A string fails only where the buffer's limit does. */
    if (!json_write(out, value_string(s), &ignored)) {
        out->failed = true;
        out->room = out->len;
    }
}
