/* path.c - see path.h. */
#include "value/path.h"

#include "value/number.h"

void path_add(struct buf *path, struct str token)
{
    buf_char(path, '/');
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] == '~')
            buf_add(path, "~0", 2);
        else if (token.ptr[i] == '/')
            buf_add(path, "~1", 2);
        else
            buf_char(path, token.ptr[i]);
    }
}

void path_add_index(struct buf *path, uint64_t index)
{
    char text[NUMBER_TEXT_MAX];

    buf_char(path, '/');
    buf_add(path, text, number_write_uint(text, index));
}

bool path_is_valid(struct str path)
{
    if (path.len > 0 && path.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '~' &&
            (i + 1 == path.len || (path.ptr[i + 1] != '0' && path.ptr[i + 1] != '1')))
            return false;
    return true;
}

/* Whether an escaped token stands for `key`. */
static bool token_is(struct str token, struct str key)
{
    size_t at = 0;

    for (size_t i = 0; i < token.len; i++, at++) {
        char c = token.ptr[i];
        if (c == '~')
            c = token.ptr[++i] == '0' ? '~' : '/';
        if (at == key.len || key.ptr[at] != c)
            return false;
    }
    return at == key.len;
}

static struct value step_into_map(struct value map, struct str token)
{
    if (token.len == 0 || memchr(token.ptr, '~', token.len) == NULL)
        return value_map_get_str(map, token);
    /* Escapes are rare: look at every key instead of making room for the unescaped token. */
    for (uint32_t i = 0; i < map.len; i++) {
        struct value key = map.map->entries[i].key;
        if (key.kind == VALUE_STRING && token_is(token, value_text(key)))
            return map.map->entries[i].value;
    }
    return value_absent();
}

static struct value step_into_list(struct value list, struct str token)
{
    uint64_t index;

    if (!number_read_uint(token, &index) || (token.len > 1 && token.ptr[0] == '0') ||
        index >= list.len)
        return value_absent();
    return list.items[index];
}

struct value path_resolve(struct value root, struct str path)
{
    struct value v = root;

    if (!path_is_valid(path))
        return value_absent();
    for (size_t from = 1, end; from <= path.len; from = end + 1) {
        int64_t slash = str_find(path, STR("/"), from);
        struct str token;

        end = slash < 0 ? path.len : (size_t)slash;
        token = str_slice(path, from, end);
        if (v.kind == VALUE_MAP)
            v = step_into_map(v, token);
        else if (v.kind == VALUE_LIST)
            v = step_into_list(v, token);
        else
            return value_absent();
    }
    return v;
}
