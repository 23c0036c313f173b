/* json_text.c - see json_text.h. */
#include "value/json_text.h"

#include "value/json.h"

static size_t skip_space(struct str text, size_t at)
{
    while (at < text.len && strchr(" \t\r\n", text.ptr[at]) != NULL)
        at++;
    return at;
}

/* Behind a string that begins at `at`. */
static size_t skip_string(struct str text, size_t at)
{
    for (at++; at < text.len && text.ptr[at] != '"'; at++)
        at += text.ptr[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

/* Behind a value that begins at `at`. */
static size_t skip_value(struct str text, size_t at)
{
    size_t depth = 0;

    while (at < text.len) {
        char c = text.ptr[at];

        if (c == '"') {
            at = skip_string(text, at);
        } else if (c == '{' || c == '[') {
            depth++;
            at++;
        } else if (depth > 0 && (c == '}' || c == ']')) {
            depth--;
            at++;
        } else if (depth == 0 && strchr(",]} \t\r\n", c) != NULL) {
            return at;
        } else {
            at++;
            continue;
        }
        if (depth == 0)
            return at;
    }
    return at;
}

static bool is_name(struct arena *mem, struct str quoted, struct str name)
{
    struct value v;
    struct err err;

    return json_read(mem, quoted, &v, &err) && v.kind == VALUE_STRING &&
           str_eq(value_text(v), name);
}

struct str json_text_member(struct arena *mem, struct str text, struct str name)
{
    size_t at = skip_space(text, 0);

    if (at == text.len || text.ptr[at] != '{')
        return STR_NONE;
    at = skip_space(text, at + 1);
    while (at < text.len && text.ptr[at] == '"') {
        size_t end = skip_string(text, at), start;
        struct str key = str_slice(text, at, end);

        start = skip_space(text, skip_space(text, end) + 1); /* over the colon */
        end = skip_value(text, start);
        if (is_name(mem, key, name))
            return str_slice(text, start, end);
        at = skip_space(text, end);
        if (at < text.len && text.ptr[at] == ',')
            at = skip_space(text, at + 1);
    }
    return STR_NONE;
}

size_t json_text_items(struct str text, struct str *out, size_t room)
{
    size_t at = skip_space(text, 0), count = 0;

    if (at == text.len || text.ptr[at] != '[')
        return 0;
    at = skip_space(text, at + 1);
    while (at < text.len && text.ptr[at] != ']') {
        size_t end = skip_value(text, at);

        if (count < room)
            out[count] = str_slice(text, at, end);
        count++;
        at = skip_space(text, end);
        if (at < text.len && text.ptr[at] == ',')
            at = skip_space(text, at + 1);
    }
    return count;
}
