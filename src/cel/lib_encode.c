/* lib_encode.c - bytes as text and back. */
#include "cel/lib.h"

#include "base/base64.h"
#include "base/utf8.h"

struct value cel_fn_base64_encode(struct cel_eval *ev, const struct value *args, unsigned count)
{
    size_t size;
    char *out;

    if (!cel_args_are(args, count, "b"))
        return cel_no_overload(ev, args, count);
    if (!cel_charge_bytes(ev, (size_t)args[0].len * 4))
        return cel_over_cost(ev);
    size = base64_encoded_len(args[0].len);
    out = cel_alloc_text(ev, size);
    if (out == NULL)
        return cel_over_memory(ev);
    base64_encode(value_text(args[0]), out);
    return value_string(str_from(out, size));
}

struct value cel_fn_base64_decode(struct cel_eval *ev, const struct value *args, unsigned count)
{
    size_t len;
    char *out;

    if (!cel_args_are(args, count, "s"))
        return cel_no_overload(ev, args, count);
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
