/* urlencoded.c - see urlencoded.h. */
#include "api/urlencoded.h"

#include "api/percent.h"

#include <strings.h>

bool urlencoded_is(struct str content_type)
{
    static const char type[] = "application/x-www-form-urlencoded";
    const size_t len = sizeof(type) - 1;

    return content_type.len >= len && strncasecmp(content_type.ptr, type, len) == 0 &&
           (content_type.len == len || content_type.ptr[len] == ';' ||
            content_type.ptr[len] == ' ');
}

static bool decode_part(struct arena *mem, struct str part, struct str *out)
{
    char *copy = arena_alloc(mem, part.len + 1);

    for (size_t i = 0; i < part.len; i++)
        copy[i] = (char)(part.ptr[i] == '+' ? ' ' : part.ptr[i]);
    copy[part.len] = '\0';
    return percent_decode(mem, str_from(copy, part.len), out);
}

bool urlencoded_read(struct arena *mem, struct str body, struct urlencoded *out, struct err *err)
{
    *out = (struct urlencoded){0};
    for (size_t at = 0; at < body.len;) {
        int64_t amp = str_find(body, STR("&"), at);
        size_t end = amp < 0 ? body.len : (size_t)amp;
        struct str pair = str_slice(body, at, end);
        int64_t equals = str_find(pair, STR("="), 0);
        size_t name_len = equals < 0 ? pair.len : (size_t)equals;
        struct urlencoded_field *field;

        at = end + 1;
        if (pair.len == 0)
            continue;
        if (out->count >= URLENCODED_FIELDS_MAX)
            return err_set(err, ERR_BAD_REQUEST, "a form has at most %d fields",
                           URLENCODED_FIELDS_MAX);
        field = VEC_ADD(mem, out);
        if (!decode_part(mem, str_slice(pair, 0, name_len), &field->name) ||
            !decode_part(mem, equals < 0 ? STR("") : str_slice(pair, (size_t)equals + 1, pair.len),
                         &field->text))
            return err_set(err, ERR_BAD_REQUEST, "the body is no form: a value is not text");
    }
    return true;
}

const struct urlencoded_field *urlencoded_find(const struct urlencoded *all, struct str name)
{
    for (size_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].name, name))
            return &all->items[i];
    return NULL;
}
