/* json_text.c - see json_text.h. */
#include "value/json_text.h"

#include "value/json.h"

static size_t text_skip_space(struct str text, size_t at)
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

    if (str_find(quoted, STR("\\"), 0) < 0)
        return str_eq(str_slice(quoted, 1, quoted.len - 1), name);
    return json_read(mem, quoted, &v, &err) && v.kind == VALUE_STRING &&
           str_eq(value_text(v), name);
}

/* The key and the value of a member of the object that begins at `at`. False: there is none. */
static bool find_member(struct arena *mem, struct str text, size_t at, struct str name, size_t *key,
                        size_t *value)
{
    if (at == text.len || text.ptr[at] != '{')
        return false;
    at = text_skip_space(text, at + 1);
    while (at < text.len && text.ptr[at] == '"') {
        size_t end = skip_string(text, at);
        size_t start = text_skip_space(text, text_skip_space(text, end) + 1); /* over the colon */

        if (is_name(mem, str_slice(text, at, end), name)) {
            *key = at;
            *value = start;
            return true;
        }
        at = text_skip_space(text, skip_value(text, start));
        if (at < text.len && text.ptr[at] == ',')
            at = text_skip_space(text, at + 1);
    }
    return false;
}

struct str json_text_member(struct arena *mem, struct str text, struct str name)
{
    size_t key, value;

    if (!find_member(mem, text, text_skip_space(text, 0), name, &key, &value))
        return STR_NONE;
    return str_slice(text, value, skip_value(text, value));
}

struct str json_text_without(struct arena *mem, struct str text, struct str name)
{
    size_t from, value, to;

    if (!find_member(mem, text, text_skip_space(text, 0), name, &from, &value))
        return text;
    to = text_skip_space(text, skip_value(text, value));
    if (to < text.len && text.ptr[to] == ',') {
        to++;
    } else {
        /* The last one: the comma before it goes. */
        to = skip_value(text, value);
        while (from > 0 && strchr(" \t\r\n", text.ptr[from - 1]) != NULL)
            from--;
        from -= from > 0 && text.ptr[from - 1] == ',';
    }
    return str_printf(mem, "%.*s%.*s", STR_ARG(str_slice(text, 0, from)),
                      STR_ARG(str_slice(text, to, text.len)));
}

size_t json_text_items(struct str text, struct str *out, size_t capacity)
{
    size_t at = text_skip_space(text, 0), count = 0;

    if (at == text.len || text.ptr[at] != '[')
        return 0;
    at = text_skip_space(text, at + 1);
    while (at < text.len && text.ptr[at] != ']') {
        size_t end = skip_value(text, at);

        if (count < capacity)
            out[count] = str_slice(text, at, end);
        count++;
        at = text_skip_space(text, end);
        if (at < text.len && text.ptr[at] == ',')
            at = text_skip_space(text, at + 1);
    }
    return count;
}

/* The item of the list that begins at `at`. */
static bool find_item(struct str text, size_t at, struct str token, size_t *value)
{
    int64_t index;

    if (at == text.len || text.ptr[at] != '[' || !str_to_int64(token, &index) || index < 0)
        return false;
    at = text_skip_space(text, at + 1);
    while (at < text.len && text.ptr[at] != ']') {
        if (index-- == 0) {
            *value = at;
            return true;
        }
        at = text_skip_space(text, skip_value(text, at));
        if (at < text.len && text.ptr[at] == ',')
            at = text_skip_space(text, at + 1);
    }
    return false;
}

/* A token of a pointer without its escapes. */
static struct str unescaped(struct arena *mem, struct str token)
{
    char *out = arena_alloc(mem, token.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < token.len; i++)
        if (token.ptr[i] == '~' && i + 1 < token.len)
            out[len++] = token.ptr[++i] == '1' ? '/' : '~';
        else
            out[len++] = token.ptr[i];
    return str_from(out, len);
}

bool json_text_find(struct arena *mem, struct str text, struct str pointer, size_t *key,
                    size_t *value)
{
    *key = *value = text_skip_space(text, 0);
    while (pointer.len > 0) {
        int64_t slash = str_find(pointer, STR("/"), 1);
        size_t end = slash < 0 ? pointer.len : (size_t)slash;
        struct str token = unescaped(mem, str_slice(pointer, 1, end));
        size_t at = *value;

        if (find_item(text, at, token, value))
            *key = *value;
        else if (!find_member(mem, text, at, token, key, value))
            return false;
        pointer = str_slice(pointer, end, pointer.len);
    }
    return true;
}
