/* http_shape.c - requests that two readers could understand in two ways; see http_inner.h. */
#include "api/http_inner.h"
#include "api/percent.h"

#include <strings.h>

/* How a request says where its body ends, and whether its query is text. */
struct shape {
    struct exchange *x;
    unsigned lengths, encodings;
    bool is_chunked;
    bool has_text;
};

static enum MHD_Result look_at_header(void *context, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    struct shape *shape = context;

    (void)kind;
    /* "Content-Length : 5" is a length to some. */
    if (strpbrk(name, " \t") != NULL)
        shape->lengths += 2;
    if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0)
        shape->lengths++;
    if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) != 0)
        return MHD_YES;
    shape->encodings++;
    shape->is_chunked = strcasecmp(value, "chunked") == 0;
    return MHD_YES;
}

static enum MHD_Result look_at_query(void *context, enum MHD_ValueKind kind, const char *name,
                                     size_t name_len, const char *value, size_t value_len)
{
    struct shape *shape = context;
    struct str text;

    (void)kind;
    shape->has_text = shape->has_text &&
                      percent_decode(&shape->x->mem, str_from(name, name_len), &text) &&
                      percent_decode(&shape->x->mem, str_from(value, value_len), &text);
    return MHD_YES;
}

/*
 * A body whose end two readers may see in two places would let one request hide
 * in another behind a proxy. What stands in a query is stored and compared.
 */
const char *shape_mistake(struct exchange *x)
{
    struct shape shape = {.x = x, .has_text = true};

    (void)MHD_get_connection_values(x->handle, MHD_HEADER_KIND, look_at_header, &shape);
    (void)MHD_get_connection_values_n(x->handle, MHD_GET_ARGUMENT_KIND, look_at_query, &shape);
    x->is_last = shape.lengths + shape.encodings > 1 || (shape.encodings == 1 && !shape.is_chunked);
    if (x->is_last)
        return "it is not clear where the body ends";
    return shape.has_text ? NULL : "the query is not UTF-8, or holds U+0000";
}
