/* lib_encode.c - bytes as text and back; text within URLs and HTML. */
#include "cel/lib/lib.h"

#include "base/buf.h"
#include "base/text/base64.h"
#include "base/text/utf8.h"
#include "base/url.h"
#include "cel/program.h"

struct value cel_fn_base64_encode(struct cel_eval *ev, const struct value *args)
{
    size_t size;
    char *out;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 4))
        return cel_over_cost(ev);
    size = base64_encoded_len(args[0].len);
    out = cel_alloc_text(ev, size);
    if (out == NULL)
        return cel_over_memory(ev);
    base64_encode(value_text(args[0]), out);
    return value_string(str_from(out, size));
}

struct value cel_fn_base64_decode(struct cel_eval *ev, const struct value *args)
{
    size_t len;
    char *out;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 4))
        return cel_over_cost(ev);
    out = cel_alloc_text(ev, base64_decoded_max(args[0].len));
    if (out == NULL)
        return cel_over_memory(ev);
    if (!base64_decode(value_text(args[0]), out, &len))
        return cel_fail(ev, "the text is not base64: character %zu is wrong",
                        utf8_count(str_slice(value_text(args[0]), 0, len)) + 1);
    return value_bytes(str_from(out, len));
}

/* --- URLs --- */

struct value cel_fn_url_encode(struct cel_eval *ev, const struct value *args)
{
    struct buf out;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * 3))
        return cel_over_cost(ev);
    buf_init_arena(&out, ev->mem);
    out.limit = ev->mem_left / 2;
    url_encode(&out, value_text(args[0]));
    if (out.failed || out.len > VALUE_LEN_MAX)
        return cel_over_memory(ev);
    ev->mem_left -= out.len * 2;
    return value_string(buf_view(&out));
}

struct value cel_fn_url_decode(struct cel_eval *ev, const struct value *args)
{
    struct str text = value_text(args[0]);
    size_t len;
    char *out;

    if (!cel_charge_bytes(ev, text.len))
        return cel_over_cost(ev);
    out = cel_alloc_text(ev, text.len);
    if (out == NULL)
        return cel_over_memory(ev);
    if (!url_decode(text, out, &len))
        return cel_fail(ev, "a '%%' of the text is not followed by two hexadecimal digits");
    if (!utf8_is_valid(str_from(out, len)) || memchr(out, '\0', len) != NULL)
        return cel_fail(ev, "what the text stands for is no text in UTF-8");
    return value_string(str_from(out, len));
}

/* What it does is done where it stands: see cel_compile_url(). */
struct value cel_fn_url_raw(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return args[0];
}

/* --- HTML --- */

static const char *const html_entities[UINT8_MAX + 1] = {
    ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};

struct value cel_fn_html(struct cel_eval *ev, const struct value *args)
{
    struct value v = operate_text(ev, args[0]);
    struct str text;
    struct buf out;

    if (v.kind == VALUE_ERROR)
        return v;
    text = value_text(v);
    if (!cel_charge_bytes(ev, text.len))
        return cel_over_cost(ev);
    buf_init_arena(&out, ev->mem);
    out.limit = ev->mem_left / 2;
    for (size_t i = 0; i < text.len; i++) {
        const char *entity = html_entities[(unsigned char)text.ptr[i]];
        if (entity != NULL)
            buf_text(&out, entity);
        else
            buf_char(&out, text.ptr[i]);
    }
    if (out.failed || out.len > VALUE_LEN_MAX)
        return cel_over_memory(ev);
    ev->mem_left -= out.len * 2;
    return value_string(buf_view(&out));
}
