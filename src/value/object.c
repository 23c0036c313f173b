/* object.c - see object.h. */
#include "value/object.h"

#include "value/json.h"
#include "value/number.h"
#include "value/timefmt.h"

void object_begin(struct buf *out, struct arena *mem)
{
    buf_init_arena(out, mem);
    buf_char(out, '{');
}

struct str object_end(struct buf *out)
{
    buf_char(out, '}');
    return buf_view(out);
}

static size_t len_without_space(struct str text, size_t len)
{
    while (len > 0 && strchr(" \t\r\n", text.ptr[len - 1]) != NULL)
        len--;
    return len;
}

void object_begin_with(struct buf *out, struct arena *mem, struct str json)
{
    size_t len = len_without_space(json, json.len);

    if (len < 2 || json.ptr[len - 1] != '}') {
        object_begin(out, mem);
        return;
    }
    buf_init_arena(out, mem);
    buf_add(out, json.ptr, len_without_space(json, len - 1));
}

void object_next(struct buf *out)
{
    char last = out->len > 0 ? out->ptr[out->len - 1] : '{';

    if (last != '{' && last != '[')
        buf_char(out, ',');
}

void object_name(struct buf *out, const char *name)
{
    size_t len = strlen(name);
    char *to;

    object_next(out);
    if (!buf_reserve(out, len + 3))
        return;
    to = out->ptr + out->len;
    *to = '"';
    memcpy(to + 1, name, len);
    memcpy(to + 1 + len, "\":", 2);
    out->len += len + 3;
}

void object_list(struct buf *out, const char *name)
{
    object_name(out, name);
    buf_char(out, '[');
}

void object_nested(struct buf *out, const char *name)
{
    object_name(out, name);
    buf_char(out, '{');
}

void object_item(struct buf *out)
{
    object_next(out);
    buf_char(out, '{');
}

void object_text(struct buf *out, const char *name, struct str text)
{
    object_name(out, name);
    if (text.len == 0)
        buf_text(out, "null");
    else
        json_write_string(out, text);
}

void object_json(struct buf *out, const char *name, struct str json)
{
    object_name(out, name);
    if (json.len == 0)
        buf_text(out, "null");
    else
        buf_str(out, json);
}

void object_int(struct buf *out, const char *name, int64_t n)
{
    char text[NUMBER_TEXT_MAX];

    object_name(out, name);
    buf_add(out, text, number_write_int(text, n));
}

void object_bool(struct buf *out, const char *name, bool b)
{
    object_name(out, name);
    buf_text(out, b ? "true" : "false");
}

void object_time(struct buf *out, const char *name, int64_t us)
{
    char text[TIMESTAMP_TEXT_MAX];

    if (us <= 0) {
        object_text(out, name, STR_NONE);
        return;
    }
    object_text(out, name, str_from(text, timestamp_write(text, timestamp_of_us(us))));
}

void object_id(struct buf *out, const char *name, struct uuid id)
{
    object_text(out, name, UUID_STR(id));
}
