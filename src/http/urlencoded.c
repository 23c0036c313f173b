/* urlencoded.c - see urlencoded.h. */
#include "http/urlencoded.h"

#include "http/percent.h"

#include <strings.h>

bool urlencoded_is(struct str content_type)
{
    static const char type[] = "application/x-www-form-urlencoded";
    const size_t len = sizeof(type) - 1;

    return content_type.len >= len && strncasecmp(content_type.ptr, type, len) == 0 &&
           (content_type.len == len || content_type.ptr[len] == ';' ||
            content_type.ptr[len] == ' ');
}

bool urlencoded_read(struct arena *mem, struct str body, struct urlencoded *out, struct err *err)
{
    *out = (struct urlencoded){0};
    while (body.len > 0) {
        struct str text = str_cut(&body, '&'), name;
        struct urlencoded_field *field;

        if (text.len == 0)
            continue;
        name = str_cut(&text, '=');
        if (out->count >= URLENCODED_FIELDS_MAX)
            return err_set(err, ERR_BAD_REQUEST, "a form has at most %d fields",
                           URLENCODED_FIELDS_MAX);
        field = VEC_ADD(mem, out);
        if (!percent_decode_form(mem, name, &field->name) ||
            !percent_decode_form(mem, text, &field->text))
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
