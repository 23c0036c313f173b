/*
 * json_write.c - a value to JSON text.
 *
 * Lists and maps that are being written stand in an array of frames, so depth
 * is bounded and nothing recurses. Every value that is visited writes at least
 * one byte, and the length is checked after each, so the limit of the buffer
 * bounds the time too, however often a value shares parts of itself.
 */
#include "value/json.h"

#include "base/text/base64.h"
#include "value/json_escape.h"
#include "value/number.h"
#include "value/path.h"
#include "value/timefmt.h"

#include <math.h>

enum {
    SCALAR_MAX = 64,  /* room for any scalar but text, with its quotes */
    AFTER_STRING = 16 /* room behind a string, for a colon and a space */
};

static const char too_deep[] = PHRASE("nested too deep for JSON");

_Static_assert(SCALAR_MAX >= NUMBER_TEXT_MAX + 8 && SCALAR_MAX >= DURATION_TEXT_MAX + 8 &&
                   SCALAR_MAX >= TIMESTAMP_TEXT_MAX + 8,
               "a scalar fits");

/* A list or map of which items are still to be written. */
struct json_frame {
    struct value whole; /* the list or map */
    uint32_t next;      /* the item or entry to write next */
};

struct json_writer {
    struct buf *out;
    size_t limit; /* of the buffer, which itself is unlimited meanwhile */
    char *end;    /* of the room in the buffer */
    bool pretty;
    uint32_t depth;
    struct err *err;
    struct json_frame frames[JSON_DEPTH_MAX];
};

/* --- errors --- */

static char *fail_too_large(struct json_writer *w)
{
    err_set(w->err, ERR_TOO_LARGE, "the value is longer than %zu bytes as JSON", w->limit);
    return NULL;
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
static char *fail(struct json_writer *w, const char *what)
{
    enum { SHOWN = 120 };
    struct buf path;

    buf_init(&path);
    for (uint32_t i = 0; i < w->depth && path.len <= SHOWN; i++) {
        const struct json_frame *f = &w->frames[i];
        struct value key;
        char text[NUMBER_TEXT_MAX];

        if (f->whole.kind == VALUE_LIST) {
            path_add_index(&path, f->next - 1);
            continue;
        }
        key = f->whole.map->entries[f->next - 1].key;
        path_add(&path,
                 key.kind == VALUE_STRING ? value_text(key) : str_from(text, key_text(text, key)));
    }
    if (path.len == 0)
        err_set(w->err, ERR_EXPRESSION_ERROR, "%s", what);
    else
        err_set(w->err, ERR_EXPRESSION_ERROR, "%s, at %.*s", what,
                path.len > SHOWN ? SHOWN : (int)path.len, path.ptr);
    buf_fini(&path);
    return NULL;
}

/* --- text --- */

/* Make room for `extra` bytes after out->len; answers where they go. */
static char *start(struct json_writer *w, size_t extra)
{
    struct buf *out = w->out;

    /* The limit is lifted, so this always succeeds. */
    if (!buf_reserve(out, extra))
        PANIC("a buffer without limit is full");
    w->end = out->ptr + out->capacity;
    return out->ptr + out->len;
}

static char *grow(struct json_writer *w, const char *to, size_t extra)
{
    w->out->len = (size_t)(to - w->out->ptr);
    return start(w, extra);
}

/* Make room for `extra` bytes at `to`. */
static inline char *reserve(struct json_writer *w, char *to, size_t extra)
{
    return LIKELY((size_t)(w->end - to) >= extra) ? to : grow(w, to, extra);
}

/* From byte `from` on, a piece at a time. */
static char *add_escaped(struct json_writer *w, char *to, struct str s, size_t from)
{
    enum { PIECE = 256 };

    while (from < s.len) {
        size_t end = s.len - from > PIECE ? from + PIECE : s.len;

        to = reserve(w, to, (end - from) * 6);
        for (; from < end; from++)
            to = json_put_escaped(to, (unsigned char)s.ptr[from]);
    }
    return to;
}

/* A string for which there is no room yet, or with something to escape. */
static char *add_string_slowly(struct json_writer *w, char *to, struct str s)
{
    size_t done;

    /* Whoever's text it is, it is not copied when it cannot fit. */
    if (s.len > w->limit)
        return fail_too_large(w);
    to = reserve(w, to, s.len + 2 + AFTER_STRING);
    *to++ = '"';
    done = json_copy_plain(to, s.ptr, s.len);
    to = add_escaped(w, to + done, s, done);
    to = reserve(w, to, 1 + AFTER_STRING);
    *to++ = '"';
    return to;
}

/* Text in quotes, and room for AFTER_STRING more bytes behind it. */
static inline char *add_string(struct json_writer *w, char *to, struct str s)
{
    if (LIKELY((size_t)(w->end - to) >= s.len + 2 + AFTER_STRING) &&
        LIKELY(json_copy_plain(to + 1, s.ptr, s.len) == s.len)) {
        to[0] = '"';
        to[s.len + 1] = '"';
        return to + s.len + 2;
    }
    return add_string_slowly(w, to, s);
}

/* --- scalars --- */

static char *add_bytes(struct json_writer *w, char *to, struct str bytes)
{
    size_t len = base64_encoded_len(bytes.len);

    if (len > w->limit)
        return fail_too_large(w);
    to = reserve(w, to, len + 2);
    *to++ = '"';
    to += base64_encode(bytes, to);
    *to++ = '"';
    return to;
}

static char *add_time(char *to, struct value v)
{
    *to++ = '"';
    to += v.kind == VALUE_TIMESTAMP ? timestamp_write(to, v) : duration_write(to, v);
    *to++ = '"';
    return to;
}

static inline char *add_scalar(struct json_writer *w, char *to, struct value v)
{
    if (v.kind == VALUE_STRING)
        return add_string(w, to, value_text(v));
    to = reserve(w, to, SCALAR_MAX);
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        memcpy(to, "null", 4);
        return to + 4;
    case VALUE_BOOL:
        memcpy(to, v.b ? "true " : "false", 5);
        return to + (v.b ? 4 : 5);
    case VALUE_INT:
        return to + number_write_int(to, v.i);
    case VALUE_UINT:
        return to + number_write_uint(to, v.u);
    case VALUE_DOUBLE:
        if (UNLIKELY(!isfinite(v.d)))
            return fail(w, isnan(v.d) ? PHRASE("NaN cannot be written as JSON")
                                      : PHRASE("infinity cannot be written as JSON"));
        return to + number_write_double(to, v.d, NUMBER_JSON);
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
        return add_time(to, v);
    case VALUE_BYTES:
        return add_bytes(w, to, value_text(v));
    case VALUE_IP:
    case VALUE_CIDR:
        return add_string(w, to, value_text(v));
    case VALUE_TYPE:
        return add_string(w, to, str_of(v.type_name));
    case VALUE_ABSENT:
        return fail(w, PHRASE("an absent value cannot be written as JSON"));
    case VALUE_ERROR:
        return fail(w, PHRASE("an error cannot be written as JSON"));
    case VALUE_STRING:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_OPTIONAL:
    case VALUE_KIND_COUNT:
        break;
    }
    PANIC("not a scalar");
}

/* --- lists and maps --- */

static char *add_line(struct json_writer *w, char *to)
{
    size_t spaces = (size_t)w->depth * 2;

    to = reserve(w, to, 1 + spaces);
    *to = '\n';
    memset(to + 1, ' ', spaces);
    return to + 1 + spaces;
}

/* A key that becomes a string: no string key may be the same. */
static char *add_other_key(struct json_writer *w, char *to, struct value map, struct value key)
{
    char text[NUMBER_TEXT_MAX];
    struct str s = str_from(text, key_text(text, key));

    if (s.len == 0)
        return fail(w,
                    PHRASE("a key that is no string, number or boolean cannot be written as JSON"));
    if (value_map_get_str(map, s).kind != VALUE_ABSENT)
        return fail(w, PHRASE("two keys are the same in JSON"));
    return add_string(w, to, s);
}

static inline char *add_key(struct json_writer *w, char *to, struct value map, struct value key)
{
    if (LIKELY(key.kind == VALUE_STRING))
        to = add_string(w, to, value_text(key));
    else
        to = add_other_key(w, to, map, key);
    if (UNLIKELY(to == NULL))
        return NULL;
    *to++ = ':';
    if (UNLIKELY(w->pretty))
        *to++ = ' ';
    return to;
}

/* What an optional holds, or VALUE_ABSENT when it has been said what is wrong. */
static struct value unwrap(struct json_writer *w, struct value v)
{
    for (int i = 0; v.kind == VALUE_OPTIONAL; i++) {
        if (v.inner == NULL || i == JSON_DEPTH_MAX) {
            fail(w, v.inner == NULL ? PHRASE("an empty optional cannot be written as JSON")
                                    : too_deep);
            return value_absent();
        }
        v = *v.inner;
    }
    return v;
}

/* A list or map: its opening bracket, and the other one when it is empty. */
static inline char *writer_open(struct json_writer *w, char *to, struct value whole)
{
    if (UNLIKELY(w->depth == JSON_DEPTH_MAX))
        return fail(w, too_deep);
    to = reserve(w, to, 2);
    if (whole.len == 0) {
        memcpy(to, whole.kind == VALUE_LIST ? "[]" : "{}", 2);
        return to + 2;
    }
    *to = whole.kind == VALUE_LIST ? '[' : '{';
    w->frames[w->depth].whole = whole;
    w->frames[w->depth].next = 0;
    w->depth++;
    return to + 1;
}

static inline char *close_finished(struct json_writer *w, char *to)
{
    while (w->depth > 0) {
        const struct json_frame *f = &w->frames[w->depth - 1];

        if (f->next < f->whole.len)
            break;
        w->depth--;
        if (UNLIKELY(w->pretty))
            to = add_line(w, to);
        to = reserve(w, to, 1);
        *to++ = f->whole.kind == VALUE_LIST ? ']' : '}';
    }
    return to;
}

/* Step to the next value of the innermost list or map, which has one. */
static inline char *step(struct json_writer *w, char *to, struct value *next)
{
    struct json_frame *f = &w->frames[w->depth - 1];
    uint32_t at = f->next++;

    if (at > 0) {
        to = reserve(w, to, 1);
        *to++ = ',';
    }
    if (UNLIKELY(w->pretty))
        to = add_line(w, to);
    if (f->whole.kind == VALUE_LIST) {
        *next = f->whole.items[at];
        return to;
    }
    *next = f->whole.map->entries[at].value;
    return add_key(w, to, f->whole, f->whole.map->entries[at].key);
}

/* Answers the place after the text. */
static char *write_all(struct json_writer *w, char *to, struct value v)
{
    for (;;) {
        if (UNLIKELY(v.kind == VALUE_OPTIONAL)) {
            v = unwrap(w, v);
            if (v.kind == VALUE_ABSENT)
                return NULL;
        }
        if (v.kind == VALUE_LIST || v.kind == VALUE_MAP)
            to = writer_open(w, to, v);
        else
            to = add_scalar(w, to, v);
        if (UNLIKELY(to == NULL))
            return NULL;
        to = close_finished(w, to);
        if (UNLIKELY((size_t)(to - w->out->ptr) > w->limit))
            return fail_too_large(w);
        if (w->depth == 0)
            return to;
        to = step(w, to, &v);
        if (UNLIKELY(to == NULL))
            return NULL;
    }
}

static bool write_value(struct buf *out, struct value v, bool pretty, struct err *err)
{
    struct json_writer w; /* not cleared: the frames are large, and filled as they are used */
    size_t before = out->len, limit = out->limit;
    char *to;

    w.out = out;
    w.limit = limit < VALUE_LEN_MAX ? limit : VALUE_LEN_MAX;
    w.pretty = pretty;
    w.depth = 0;
    w.err = err;
    if (out->failed)
        return fail_too_large(&w) != NULL;
    out->limit = SIZE_MAX / 4;
    to = write_all(&w, start(&w, SCALAR_MAX), v);
    out->len = to == NULL ? before : (size_t)(to - out->ptr);
    out->limit = limit;
    /* What lies beyond the limit must not be used by others who write to the buffer. */
    if (out->capacity > limit)
        out->capacity = limit > out->len ? limit : out->len;
    return to != NULL;
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
    char *to;

    if (LIKELY(out->capacity - out->len >= s.len + 2)) {
        to = out->ptr + out->len;
        if (LIKELY(json_copy_plain(to + 1, s.ptr, s.len) == s.len)) {
            to[0] = to[s.len + 1] = '"';
            out->len += s.len + 2;
            return;
        }
    }
    /* A string fails only where the buffer's limit does. */
    if (!json_write(out, value_string(s), &ignored)) {
        out->failed = true;
        out->capacity = out->len;
    }
}

void json_must_write(struct buf *out, struct value v)
{
    struct err err;

    if (!json_write(out, v, &err))
        PANIC("the value has no JSON form");
}

struct str json_must_text(struct arena *mem, struct value v)
{
    struct buf out;

    buf_init_arena(&out, mem);
    json_must_write(&out, v);
    return buf_view(&out);
}
