/* lib_core.c - size, type and the conversions between basic types. */
#include "base/text/utf8.h"
#include "cel/eval.h"
#include "value/number.h"
#include "value/timefmt.h"

#include <math.h>

struct value cel_fn_size(struct cel_eval *ev, const struct value *args)
{
    switch ((int)args[0].kind) {
    case VALUE_STRING:
        if (!cel_charge_bytes(ev, args[0].len))
            return cel_over_cost(ev);
        return value_int((int64_t)utf8_count(value_text(args[0])));
    case VALUE_BYTES:
    case VALUE_LIST:
    case VALUE_MAP:
        return value_int(args[0].len);
    default:
        return cel_no_overload(ev, args, 1);
    }
}

struct value cel_fn_dyn(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return args[0];
}

struct value cel_fn_type(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return value_type(value_kind_name((enum value_kind)args[0].kind));
}

struct value cel_fn_bool(struct cel_eval *ev, const struct value *args)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"1", true},    {"t", true},      {"T", true},      {"true", true},
                 {"True", true}, {"TRUE", true},   {"0", false},     {"f", false},
                 {"F", false},   {"false", false}, {"False", false}, {"FALSE", false}};

    if (args[0].kind == VALUE_BOOL)
        return args[0];
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (str_eq(value_text(args[0]), str_of(words[i].word)))
            return value_bool(words[i].value);
    return cel_fail(ev, "type conversion error: this string is neither 'true' nor 'false'");
}

static struct value out_of_range(struct cel_eval *ev, const char *type)
{
    return cel_fail(ev, "range error: the number does not fit %s", type);
}

static struct value not_a_number(struct cel_eval *ev, const char *type, struct value text)
{
    return cel_fail(ev, "type conversion error: '%.*s' is not %s",
                    (int)(text.len < 40 ? text.len : 40), text.text, type);
}

struct value cel_fn_int(struct cel_eval *ev, const struct value *args)
{
    struct value v = args[0];
    int64_t n;

    switch ((int)v.kind) {
    case VALUE_INT:
        return v;
    case VALUE_UINT:
        return v.u <= INT64_MAX ? value_int((int64_t)v.u) : out_of_range(ev, "an int");
    case VALUE_DOUBLE:
        /* Both ends excluded: a double that large may stand for more than one integer. */
        if (!(v.d > -0x1p63 && v.d < 0x1p63))
            return out_of_range(ev, "an int");
        return value_int((int64_t)v.d);
    case VALUE_STRING:
        return number_read_int(value_text(v), &n) ? value_int(n) : not_a_number(ev, "an int", v);
    case VALUE_TIMESTAMP:
        return value_int(v.seconds);
    default:
        return cel_no_overload(ev, args, 1);
    }
}

struct value cel_fn_uint(struct cel_eval *ev, const struct value *args)
{
    struct value v = args[0];
    uint64_t n;

    switch ((int)v.kind) {
    case VALUE_UINT:
        return v;
    case VALUE_INT:
        return v.i >= 0 ? value_uint((uint64_t)v.i) : out_of_range(ev, "a uint");
    case VALUE_DOUBLE:
        if (!(v.d > -1 && v.d < 0x1p64) || (v.d < 0 && trunc(v.d) != 0))
            return out_of_range(ev, "a uint");
        return v.d < 0 ? out_of_range(ev, "a uint") : value_uint((uint64_t)v.d);
    case VALUE_STRING:
        return number_read_uint(value_text(v), &n) ? value_uint(n) : not_a_number(ev, "a uint", v);
    default:
        return cel_no_overload(ev, args, 1);
    }
}

struct value cel_fn_double(struct cel_eval *ev, const struct value *args)
{
    struct value v = args[0];
    double d;

    switch ((int)v.kind) {
    case VALUE_DOUBLE:
        return v;
    case VALUE_INT:
        return value_double((double)v.i);
    case VALUE_UINT:
        return value_double((double)v.u);
    case VALUE_STRING:
        return number_read_double(value_text(v), &d) ? value_double(d)
                                                     : not_a_number(ev, "a double", v);
    default:
        return cel_no_overload(ev, args, 1);
    }
}

struct value cel_fn_string(struct cel_eval *ev, const struct value *args)
{
    enum { LONGEST = 64 };
    char text[LONGEST];
    struct value v = args[0];

    _Static_assert(LONGEST >= (int)NUMBER_TEXT_MAX && LONGEST >= (int)TIMESTAMP_TEXT_MAX &&
                       LONGEST >= (int)DURATION_TEXT_MAX,
                   "every scalar fits");
    switch ((int)v.kind) {
    case VALUE_STRING:
        return v;
    case VALUE_BOOL:
        return value_string(v.b ? STR("true") : STR("false"));
    case VALUE_INT:
        return cel_string_copy(ev, str_from(text, number_write_int(text, v.i)));
    case VALUE_UINT:
        return cel_string_copy(ev, str_from(text, number_write_uint(text, v.u)));
    case VALUE_DOUBLE:
        return cel_string_copy(ev, str_from(text, number_write_double(text, v.d, NUMBER_CEL)));
    case VALUE_BYTES:
        if (!cel_charge_bytes(ev, v.len))
            return cel_over_cost(ev);
        if (!utf8_is_valid(value_text(v)))
            return cel_fail(ev, "invalid UTF-8: these bytes are not text");
        return value_string(value_text(v));
    case VALUE_TIMESTAMP:
        return cel_string_copy(ev, str_from(text, timestamp_write(text, v)));
    case VALUE_DURATION:
        return cel_string_copy(ev, str_from(text, duration_write_seconds(text, v)));
    case VALUE_IP:
    case VALUE_CIDR:
        return value_string(value_text(v));
    default:
        return cel_no_overload(ev, args, 1);
    }
}

struct value cel_fn_bytes(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return args[0].kind == VALUE_BYTES ? args[0] : value_bytes(value_text(args[0]));
}
