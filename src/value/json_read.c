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
 */
#include "base/alloc.h"
#include "value/json_reader.h"

enum { PADDING = 32, STACK_FIRST = 512 };

/* --- lists and maps --- */

static void grow_stack(struct json_reader *r)
{
    size_t bytes = (size_t)r->capacity * sizeof(*r->stack);
    struct value *bigger = alloc_resize(r->on_heap ? r->stack : NULL, bytes * 2, 1);

    if (!r->on_heap)
        memcpy(bigger, r->stack, bytes);
    r->stack = bigger;
    r->capacity *= 2;
    r->on_heap = true;
}

static inline struct value *push(struct json_reader *r)
{
    if (UNLIKELY(r->used == r->capacity))
        grow_stack(r);
    return &r->stack[r->used++];
}

static inline bool reader_open(struct json_reader *r, const char *p, enum value_kind kind)
{
    struct value *marker = push(r);

    *marker = (struct value){.kind = (uint8_t)kind, .len = r->frame};
    r->frame = (uint32_t)(marker - r->stack);
    if (UNLIKELY(++r->depth > JSON_DEPTH_MAX)) {
        reader_fail(r, p, "nested deeper than %d levels", JSON_DEPTH_MAX);
        return false;
    }
    return true;
}

static inline void close_frame(struct json_reader *r, struct value finished)
{
    uint32_t around = r->stack[r->frame].len;

    r->stack[r->frame] = finished;
    r->used = r->frame + 1;
    r->frame = around;
    r->depth--;
}

static inline void close_list(struct json_reader *r)
{
    const struct value *from = &r->stack[r->frame + 1];
    size_t count = r->used - r->frame - 1;
    struct value *items = arena_alloc(r->mem, count * sizeof(*items));

    memcpy(items, from, count * sizeof(*items));
    close_frame(r, value_list(items, count));
}

static inline bool close_map(struct json_reader *r)
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
        reader_fail(r, key.ptr - 1, "duplicate key \"%.*s\"", key.len < 100 ? (int)key.len : 100,
                    key.ptr);
        return false;
    }
    close_frame(r, map);
    return true;
}

/* --- the text --- */

static inline char *reader_skip_space(char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

static char *read_word(struct json_reader *r, char *p, struct value *out)
{
    size_t len = 4;

    if (memcmp(p, "true", 4) == 0) {
        *out = value_bool(true);
    } else if (memcmp(p, "null", 4) == 0) {
        *out = value_null();
    } else if (memcmp(p, "false", 5) == 0) {
        *out = value_bool(false);
        len = 5;
    } else {
        return reader_fail_expected(r, p, EXPECTED_VALUE);
    }
    return p + len;
}

/* A key and its colon; answers where the value starts. */
static inline char *read_key(struct json_reader *r, char *p)
{
    struct value *key;

    if (UNLIKELY(*p != '"'))
        return reader_fail_expected(r, p, EXPECTED_KEY);
    key = push(r);
    p = reader_string(r, p + 1, key);
    if (UNLIKELY(p == NULL))
        return NULL;
    key->hash = value_key_hash(value_text(*key));
    if (UNLIKELY(*p != ':')) {
        p = reader_skip_space(p);
        if (*p != ':')
            return reader_fail_expected(r, p, EXPECTED_COLON);
    }
    return reader_skip_space(p + 1);
}

/*
 * A scalar or an empty list or map becomes the top of the stack, and *complete
 * is true. A list or map with something in it is opened, and the answer is
 * where its first value starts.
 */
static inline char *read_value(struct json_reader *r, char *p, bool *complete)
{
    char c = *p;

    *complete = true;
    if (c == '"')
        return reader_string(r, p + 1, push(r));
    if (c == '-' || ascii_is_digit(c))
        return reader_number(r, p, push(r));
    if (c != '{' && c != '[')
        return read_word(r, p, push(r));

    if (!reader_open(r, p, c == '{' ? VALUE_MAP : VALUE_LIST))
        return NULL;
    p = reader_skip_space(p + 1);
    if (c == '{' ? *p == '}' : *p == ']') {
        close_frame(r, c == '{' ? value_map_empty() : value_list(NULL, 0));
        return p + 1;
    }
    *complete = false;
    return c == '{' ? read_key(r, p) : p;
}

/* After a value: close what ends here, then step to the next value. *done at the very end. */
static inline char *read_after(struct json_reader *r, char *p, bool *done)
{
    for (;;) {
        uint8_t kind = r->stack[r->frame].kind;

        p = reader_skip_space(p);
        if (kind == VALUE_ABSENT) {
            *done = true;
            return reader_at_end(r, p) ? p : reader_fail_expected(r, p, EXPECTED_END);
        }
        if (*p == ',') {
            p = reader_skip_space(p + 1);
            return kind == VALUE_MAP ? read_key(r, p) : p;
        }
        if (kind == VALUE_LIST) {
            if (UNLIKELY(*p != ']'))
                return reader_fail_expected(r, p, EXPECTED_LIST_TO_GO_ON);
            close_list(r);
        } else {
            if (UNLIKELY(*p != '}'))
                return reader_fail_expected(r, p, EXPECTED_MAP_TO_GO_ON);
            if (UNLIKELY(!close_map(r)))
                return NULL;
        }
        p++;
    }
}

bool json_read(struct arena *mem, struct str text, struct value *out, struct err *err)
{
    struct value stack[STACK_FIRST];
    struct json_reader r = {
        .mem = mem, .text = text, .stack = stack, .used = 1, .capacity = STACK_FIRST, .err = err};
    bool complete, done = false;
    char *p;

    if (text.len > VALUE_LEN_MAX)
        return err_set(err, ERR_TOO_LARGE, "a JSON text is at most 4 GiB - 1 long");
    r.copy = arena_alloc(mem, text.len + PADDING);
    if (text.len > 0)
        memcpy(r.copy, text.ptr, text.len);
    memset(r.copy + text.len, 0, PADDING);
    stack[0] = value_absent();

    p = reader_skip_space(r.copy);
    if (memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p = reader_fail(&r, p,
                        "the text starts with a byte order mark; save it as UTF-8 without one");
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
