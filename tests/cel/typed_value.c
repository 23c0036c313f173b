/* typed_value.c - see typed_value.h. */
#include "cel/typed_value.h"

#include "base/text/base64.h"
#include "value/json.h"
#include "value/timefmt.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- reading --- */

static const char stand_in[] = "\xef\xb7\x90"; /* U+FDD0 */

bool typed_value_read_line(struct arena *mem, struct str line, struct value *out, struct err *err)
{
    char *text = arena_copy(mem, line.ptr, line.len);

    for (size_t i = 0; i + 1 < line.len; i++) {
        if (text[i] != '\\')
            continue;
        if (line.len - i >= 6 && memcmp(text + i, "\\u0000", 6) == 0)
            memcpy(text + i, "\\ufdd0", 6);
        i++; /* over what is escaped, which may be a backslash */
    }
    return json_read(mem, str_from(text, line.len), out, err);
}

struct str typed_value_text(struct arena *mem, struct value string)
{
    struct str rest = value_text(string);
    struct buf out;
    int64_t at;

    buf_init_arena(&out, mem);
    while ((at = str_find(rest, STR(stand_in), 0)) >= 0) {
        buf_str(&out, str_slice(rest, 0, (size_t)at));
        buf_char(&out, '\0');
        rest = str_slice(rest, (size_t)at + STR(stand_in).len, rest.len);
    }
    buf_str(&out, rest);
    return buf_view(&out);
}

static bool is_array_of(struct value v, uint32_t len)
{
    return v.kind == VALUE_LIST && v.len == len;
}

static bool decode_uint(struct arena *mem, struct str text, struct value *out)
{
    char *end = NULL;

    if (text.len == 0 || !isdigit((unsigned char)text.ptr[0]))
        return false;
    errno = 0;
    unsigned long long n = strtoull(str_copy(mem, text).ptr, &end, 10);
    *out = value_uint(n);
    return errno == 0 && *end == '\0';
}

/* strtod() reads "NaN", "Infinity" and "-0" as well. */
static bool decode_double(struct arena *mem, struct str text, struct value *out)
{
    char *end = NULL;
    double d = strtod(str_copy(mem, text).ptr, &end);

    *out = value_double(d);
    return text.len > 0 && *end == '\0';
}

static bool decode_int(struct str text, struct value *out)
{
    int64_t n = 0;

    if (!str_to_int64(text, &n))
        return false;
    *out = value_int(n);
    return true;
}

static bool decode_bytes(struct arena *mem, struct str text, struct value *out)
{
    char *bytes = arena_alloc(mem, base64_decoded_max(text.len));
    size_t len = 0;

    if (!base64_decode(text, bytes, &len))
        return false;
    *out = value_bytes(str_from(bytes, len));
    return true;
}

/* The kinds that are written as a string. */
static bool decode_text(struct arena *mem, struct str kind, struct value text, struct value *out)
{
    struct str s = value_text(text);

    if (str_eq(kind, STR("string"))) {
        *out = value_string(typed_value_text(mem, text));
        return true;
    }
    if (str_eq(kind, STR("type"))) {
        *out = value_type(str_copy(mem, s).ptr);
        return true;
    }
    if (str_eq(kind, STR("int")))
        return decode_int(s, out);
    if (str_eq(kind, STR("uint")))
        return decode_uint(mem, s, out);
    if (str_eq(kind, STR("double")))
        return decode_double(mem, s, out);
    if (str_eq(kind, STR("bytes")))
        return decode_bytes(mem, s, out);
    if (str_eq(kind, STR("timestamp")))
        return timestamp_read(s, out);
    /* Seconds with a fraction are a case of Go's grammar. */
    return str_eq(kind, STR("duration")) && duration_read_go(s, out);
}

static bool decode_list(struct arena *mem, struct value source, struct value *out, struct err *err)
{
    struct value *items = ARENA_ARRAY(mem, source.len, struct value);

    for (uint32_t i = 0; i < source.len; i++)
        if (!typed_value_decode(mem, source.items[i], &items[i], err))
            return false;
    *out = value_list(items, source.len);
    return true;
}

static bool decode_map(struct arena *mem, struct value source, struct value *out, struct err *err)
{
    struct value_entry *entries = ARENA_ARRAY(mem, source.len, struct value_entry);
    size_t duplicate = 0;

    for (uint32_t i = 0; i < source.len; i++) {
        struct value pair = source.items[i];

        if (!is_array_of(pair, 2))
            return err_set(err, ERR_INVALID, "an entry of a map is not a pair");
        if (!typed_value_decode(mem, pair.items[0], &entries[i].key, err) ||
            !typed_value_decode(mem, pair.items[1], &entries[i].value, err))
            return false;
    }
    *out = value_map_make(mem, entries, source.len, &duplicate);
    return out->kind == VALUE_MAP || err_set(err, ERR_INVALID, "a key stands twice in a map");
}

static struct value decode_error(struct arena *mem, struct value messages)
{
    bool has_text = messages.len > 0 && messages.items[0].kind == VALUE_STRING;
    struct str text = has_text ? value_text(messages.items[0]) : STR("an error");

    return value_error(mem, ERR_EXPRESSION_ERROR, 0, "%.*s", STR_ARG(text));
}

bool typed_value_decode(struct arena *mem, struct value source, struct value *out, struct err *err)
{
    if (source.kind != VALUE_MAP || source.len != 1)
        return err_set(err, ERR_INVALID, "a typed value is a map of one entry");

    const struct value_entry *entry = &source.map->entries[0];
    struct str kind = value_text(entry->key);
    struct value content = entry->value;

    if (str_eq(kind, STR("null"))) {
        *out = value_null();
        return true;
    }
    if (str_eq(kind, STR("bool")) && content.kind == VALUE_BOOL) {
        *out = content;
        return true;
    }
    if (str_eq(kind, STR("list")) && content.kind == VALUE_LIST)
        return decode_list(mem, content, out, err);
    if (str_eq(kind, STR("map")) && content.kind == VALUE_LIST)
        return decode_map(mem, content, out, err);
    if (str_eq(kind, STR("error")) && content.kind == VALUE_LIST) {
        *out = decode_error(mem, content);
        return true;
    }
    if (content.kind == VALUE_STRING && decode_text(mem, kind, content, out))
        return true;
    return err_set(err, ERR_INVALID, "not a value of kind %.*s", STR_ARG(kind));
}

/* --- comparing --- */

static bool same_lists(struct value got, struct value want, int64_t *budget)
{
    if (got.len != want.len)
        return false;
    for (uint32_t i = 0; i < got.len; i++)
        if (!typed_value_same(got.items[i], want.items[i], budget))
            return false;
    return true;
}

/* Not by value_map_get(), which would take 1, 1u and 1.0 for the same key. */
static bool has_entry(struct value map, const struct value_entry *entry, int64_t *budget)
{
    for (uint32_t i = 0; i < map.len; i++)
        if (typed_value_same(map.map->entries[i].key, entry->key, budget))
            return typed_value_same(map.map->entries[i].value, entry->value, budget);
    return false;
}

static bool same_maps(struct value got, struct value want, int64_t *budget)
{
    if (got.len != want.len)
        return false;
    for (uint32_t i = 0; i < want.len; i++)
        if (!has_entry(got, &want.map->entries[i], budget))
            return false;
    return true;
}

bool typed_value_same(struct value got, struct value want, int64_t *budget)
{
    if (budget != NULL && --*budget < 0)
        return true;
    if (got.kind != want.kind)
        return false;

    switch ((enum value_kind)got.kind) {
    case VALUE_DOUBLE:
        return got.d == want.d || (isnan(got.d) && isnan(want.d));
    case VALUE_LIST:
        return same_lists(got, want, budget);
    case VALUE_MAP:
        return same_maps(got, want, budget);
    case VALUE_TYPE:
        return strcmp(got.type_name, want.type_name) == 0;
    case VALUE_OPTIONAL:
        if (got.inner == NULL || want.inner == NULL)
            return got.inner == want.inner;
        return typed_value_same(*got.inner, *want.inner, budget);
    case VALUE_NULL:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_STRING:
    case VALUE_BYTES:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
    case VALUE_IP:
    case VALUE_CIDR:
        return value_equal(got, want, NULL);
    case VALUE_ABSENT:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        break;
    }
    return false;
}

/* --- printing --- */

static void print_quoted(struct buf *out, struct str s)
{
    buf_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\x%02x", c);
        else
            buf_char(out, (char)c);
    }
    buf_char(out, '"');
}

static void print_bytes(struct buf *out, struct str s)
{
    buf_text(out, "b\"");
    for (size_t i = 0; i < s.len; i++)
        buf_printf(out, isalnum((unsigned char)s.ptr[i]) ? "%c" : "\\x%02x",
                   (unsigned char)s.ptr[i]);
    buf_char(out, '"');
}

/* 2.0, not 2, so that a double is seen to be one. */
static void print_double(struct buf *out, double d)
{
    char text[40];

    snprintf(text, sizeof text, "%.17g", d);
    buf_text(out, text);
    if (isfinite(d) && strpbrk(text, ".e") == NULL)
        buf_text(out, ".0");
}

static void print_list(struct buf *out, struct value list)
{
    buf_char(out, '[');
    for (uint32_t i = 0; i < list.len; i++) {
        if (i > 0)
            buf_text(out, ", ");
        typed_value_print(out, list.items[i]);
    }
    buf_char(out, ']');
}

static void print_map(struct buf *out, struct value map)
{
    buf_char(out, '{');
    for (uint32_t i = 0; i < map.len; i++) {
        if (i > 0)
            buf_text(out, ", ");
        typed_value_print(out, map.map->entries[i].key);
        buf_text(out, ": ");
        typed_value_print(out, map.map->entries[i].value);
    }
    buf_char(out, '}');
}

static void print_time(struct buf *out, struct value v)
{
    char text[DURATION_TEXT_MAX > TIMESTAMP_TEXT_MAX ? DURATION_TEXT_MAX : TIMESTAMP_TEXT_MAX];
    bool is_timestamp = v.kind == VALUE_TIMESTAMP;
    size_t len = is_timestamp ? timestamp_write(text, v) : duration_write_seconds(text, v);

    buf_printf(out, "%s(\"%.*s\")", is_timestamp ? "timestamp" : "duration", (int)len, text);
}

static void print_optional(struct buf *out, struct value v)
{
    if (v.inner == NULL) {
        buf_text(out, "optional.none()");
        return;
    }
    buf_text(out, "optional.of(");
    typed_value_print(out, *v.inner);
    buf_char(out, ')');
}

void typed_value_print(struct buf *out, struct value v)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        buf_text(out, "null");
        break;
    case VALUE_BOOL:
        buf_text(out, v.b ? "true" : "false");
        break;
    case VALUE_INT:
        buf_printf(out, "%lld", (long long)v.i);
        break;
    case VALUE_UINT:
        buf_printf(out, "%lluu", (unsigned long long)v.u);
        break;
    case VALUE_DOUBLE:
        print_double(out, v.d);
        break;
    case VALUE_STRING:
        print_quoted(out, value_text(v));
        break;
    case VALUE_BYTES:
        print_bytes(out, value_text(v));
        break;
    case VALUE_LIST:
        print_list(out, v);
        break;
    case VALUE_MAP:
        print_map(out, v);
        break;
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
        print_time(out, v);
        break;
    case VALUE_IP:
    case VALUE_CIDR:
        buf_printf(out, "%s(%.*s)", value_kind_name((enum value_kind)v.kind),
                   STR_ARG(value_text(v)));
        break;
    case VALUE_TYPE:
        buf_printf(out, "type(%s)", v.type_name);
        break;
    case VALUE_OPTIONAL:
        print_optional(out, v);
        break;
    case VALUE_ERROR:
        buf_printf(out, "error %s: %s", err_code_name(v.error->code), v.error->message);
        break;
    case VALUE_ABSENT:
    case VALUE_KIND_COUNT:
        buf_text(out, "(absent)");
        break;
    }
}
