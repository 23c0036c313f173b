/*
 * lib_format.c - format(): text from a template and a list of values.
 *
 *     clause     takes                            writes
 *     %s         any value but an optional        its text; lists as [a, b], maps as
 *                                                 {key: value} in the order of the keys' text
 *     %d         int uint double                  a decimal number
 *     %f %e      int uint double                  with %.3f so many digits, else 6
 *     %b %o      int uint, %b also bool           base 2 or 8
 *     %x %X      int uint string bytes            base 16
 *     %%                                          %
 *
 * The text grows in a heap buffer limited by the memory that the evaluation
 * has left, and is copied once when it is complete.
 */
#include "base/text/ascii.h"
#include "base/text/hex.h"
#include "cel/lib/lib.h"

#include "base/buf.h"
#include "base/text/utf8.h"
#include "value/number.h"
#include "value/timefmt.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { PRECISION_DEFAULT = 6, PRECISION_MAX = 1000 };

/* A format while it runs. Writers answer false once `failure` is set. */
struct format {
    struct cel_eval *ev;
    struct buf out;
    struct value failure;
};

static bool fail(struct format *f, struct value failure)
{
    f->failure = failure;
    return false;
}

static bool format_put(struct format *f, struct str s)
{
    if (!cel_charge_bytes(f->ev, s.len))
        return fail(f, cel_over_cost(f->ev));
    buf_str(&f->out, s);
    return f->out.failed ? fail(f, cel_over_memory(f->ev)) : true;
}

static bool fail_kind(struct format *f, char clause, const char *takes, struct value v)
{
    return fail(f, cel_fail(f->ev, "%%%c takes %s, not a value of type %s", clause, takes,
                            value_kind_name((enum value_kind)v.kind)));
}

/* --- numbers --- */

/* All digits before the point and none of them as an exponent. */
static bool put_positional(struct format *f, double d)
{
    char text[NUMBER_TEXT_MAX], digits[NUMBER_TEXT_MAX];
    size_t len = number_write_double(text, d, NUMBER_CEL), count = 0, zeros;
    const char *e = memchr(text, 'e', len);
    long exponent = 0;

    if (e == NULL)
        return format_put(f, str_from(text, len));
    for (const char *p = text; p < e; p++)
        if (ascii_is_digit(*p))
            digits[count++] = *p;
    for (const char *p = e + 2; p < text + len; p++)
        exponent = exponent * 10 + (*p - '0');
    if (d < 0)
        buf_char(&f->out, '-');
    if (e[1] == '-') {
        buf_text(&f->out, "0.");
        zeros = (size_t)exponent - 1;
    } else {
        /* An exponent is only written when there are fewer digits than that. */
        buf_add(&f->out, digits, count);
        zeros = (size_t)exponent + 1 - count;
        count = 0;
    }
    while (zeros-- > 0)
        buf_char(&f->out, '0');
    return format_put(f, str_from(digits, count));
}

/* NaN and the infinities, the same in every clause. */
static bool put_not_finite(struct format *f, double d)
{
    return format_put(f, isnan(d) ? STR("NaN") : d > 0 ? STR("Infinity") : STR("-Infinity"));
}

static bool put_double(struct format *f, double d)
{
    return isfinite(d) ? put_positional(f, d) : put_not_finite(f, d);
}

static bool put_int(struct format *f, int64_t i)
{
    char text[NUMBER_TEXT_MAX];
    return format_put(f, str_from(text, number_write_int(text, i)));
}

static bool put_uint(struct format *f, uint64_t u)
{
    char text[NUMBER_TEXT_MAX];
    return format_put(f, str_from(text, number_write_uint(text, u)));
}

static bool put_decimal(struct format *f, char clause, struct value v)
{
    if (v.kind == VALUE_INT)
        return put_int(f, v.i);
    if (v.kind == VALUE_UINT)
        return put_uint(f, v.u);
    if (v.kind == VALUE_DOUBLE)
        return put_double(f, v.d);
    return fail_kind(f, clause, "an int, a uint or a double", v);
}

static bool put_rounded(struct format *f, char clause, int precision, struct value v)
{
    double d = v.kind == VALUE_INT ? (double)v.i : v.kind == VALUE_UINT ? (double)v.u : v.d;

    if (v.kind != VALUE_INT && v.kind != VALUE_UINT && v.kind != VALUE_DOUBLE)
        return fail_kind(f, clause, "an int, a uint or a double", v);
    if (!isfinite(d))
        return put_not_finite(f, d);
    if (!cel_charge(f->ev, 16 + (uint64_t)precision))
        return fail(f, cel_over_cost(f->ev));
    if (clause == 'e')
        buf_printf(&f->out, "%.*e", precision, d);
    else
        buf_printf(&f->out, "%.*f", precision, d);
    return format_put(f, STR(""));
}

/* In base 2^bits. */
static bool put_base(struct format *f, uint64_t u, bool negative, unsigned bits, bool upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[65];
    size_t at = sizeof(text);

    do {
        text[--at] = digits[u & ((1u << bits) - 1)];
        u >>= bits;
    } while (u != 0);
    if (negative)
        text[--at] = '-';
    return format_put(f, str_from(text + at, sizeof(text) - at));
}

static bool put_integer_base(struct format *f, struct value v, unsigned bits, bool upper)
{
    bool negative = v.kind == VALUE_INT && v.i < 0;
    return put_base(f, negative ? 0 - v.u : v.u, negative, bits, upper);
}

static bool put_hex(struct format *f, char clause, struct value v)
{
    if (v.kind == VALUE_INT || v.kind == VALUE_UINT)
        return put_integer_base(f, v, 4, clause == 'X');
    if (v.kind != VALUE_STRING && v.kind != VALUE_BYTES)
        return fail_kind(f, clause, "an int, a uint, a string or bytes", v);
    if (!cel_charge_bytes(f->ev, (size_t)v.len * 4))
        return fail(f, cel_over_cost(f->ev));
    if (buf_reserve(&f->out, (size_t)v.len * 2)) {
        (clause == 'X' ? hex_write_upper : hex_write)(f->out.ptr + f->out.len, v.text, v.len);
        f->out.len += (size_t)v.len * 2;
    }
    return format_put(f, STR(""));
}

/* --- any value as text --- */

static bool put_value(struct format *f, struct value v, unsigned depth);

static bool put_list(struct format *f, struct value list, unsigned depth)
{
    buf_char(&f->out, '[');
    for (uint32_t i = 0; i < list.len; i++)
        if ((i > 0 && !format_put(f, STR(", "))) || !put_value(f, list.items[i], depth + 1))
            return false;
    return format_put(f, STR("]"));
}

struct format_member {
    struct str key; /* as text */
    const struct value *value;
};

static int compare_members(const void *a, const void *b)
{
    const struct format_member *x = a, *y = b;
    int c = str_cmp(x->key, y->key);

    /* 1 and "1" have the same text; then the order of the map decides. */
    return c != 0 ? c : (x->value > y->value) - (x->value < y->value);
}

/* The text of a key: of a string its own, else a new one. */
static bool format_key_text(struct format *f, struct value key, struct str *out)
{
    char *text;

    if (key.kind == VALUE_STRING) {
        *out = value_text_or(key, STR_NONE);
        return true;
    }
    if (key.kind == VALUE_BOOL) {
        *out = key.b ? STR("true") : STR("false");
        return true;
    }
    if (key.kind != VALUE_INT && key.kind != VALUE_UINT)
        return fail_kind(f, 's', "maps with keys that are strings, ints, uints or bools", key);
    text = cel_alloc(f->ev, NUMBER_TEXT_MAX);
    if (text == NULL)
        return fail(f, cel_over_memory(f->ev));
    *out = str_from(text, key.kind == VALUE_INT ? number_write_int(text, key.i)
                                                : number_write_uint(text, key.u));
    return true;
}

static struct format_member *sort_members(struct format *f, struct value map)
{
    struct format_member *members = cel_alloc(f->ev, map.len * sizeof(*members));
    uint64_t units = map.len, rounds = 1;

    if (members == NULL) {
        fail(f, cel_over_memory(f->ev));
        return NULL;
    }
    for (uint32_t i = 0; i < map.len; i++) {
        if (!format_key_text(f, map.map->entries[i].key, &members[i].key))
            return NULL;
        members[i].value = &map.map->entries[i].value;
        units += members[i].key.len / CEL_BYTES_PER_UNIT;
    }
    while (map.len >> rounds != 0)
        rounds++;
    if (!cel_charge(f->ev, units * rounds)) {
        fail(f, cel_over_cost(f->ev));
        return NULL;
    }
    if (map.len > 1)
        qsort(members, map.len, sizeof(*members), compare_members);
    return members;
}

static bool put_map(struct format *f, struct value map, unsigned depth)
{
    struct format_member *members;

    if (!cel_charge(f->ev, map.len))
        return fail(f, cel_over_cost(f->ev));
    members = sort_members(f, map);
    if (members == NULL)
        return false;
    buf_char(&f->out, '{');
    for (uint32_t i = 0; i < map.len; i++)
        if ((i > 0 && !format_put(f, STR(", "))) || !format_put(f, members[i].key) ||
            !format_put(f, STR(": ")) || !put_value(f, *members[i].value, depth + 1))
            return false;
    return format_put(f, STR("}"));
}

static bool put_bytes(struct format *f, struct value v)
{
    if (!cel_charge_bytes(f->ev, v.len))
        return fail(f, cel_over_cost(f->ev));
    for (struct str rest = value_text(v);;) {
        size_t valid = utf8_valid_prefix(rest);

        if (!format_put(f, str_slice(rest, 0, valid)))
            return false;
        if (valid == rest.len)
            return true;
        /* One replacement for each byte that is no text. */
        if (!format_put(f, STR("\xef\xbf\xbd")))
            return false;
        rest = str_slice(rest, valid + 1, rest.len);
    }
}

static bool put_value(struct format *f, struct value v, unsigned depth)
{
    char moment[DURATION_TEXT_MAX];

    _Static_assert((int)DURATION_TEXT_MAX >= (int)TIMESTAMP_TEXT_MAX, "either fits");
    if (depth > CEL_NESTING_MAX)
        return fail(
            f, cel_fail(f->ev, "the value is nested more than %d levels deep", CEL_NESTING_MAX));
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        return format_put(f, STR("null"));
    case VALUE_BOOL:
        return format_put(f, v.b ? STR("true") : STR("false"));
    case VALUE_INT:
        return put_int(f, v.i);
    case VALUE_UINT:
        return put_uint(f, v.u);
    case VALUE_DOUBLE:
        return put_double(f, v.d);
    case VALUE_STRING:
        return format_put(f, value_text(v));
    case VALUE_BYTES:
        return put_bytes(f, v);
    case VALUE_LIST:
        return put_list(f, v, depth);
    case VALUE_MAP:
        return put_map(f, v, depth);
    case VALUE_TIMESTAMP:
        return format_put(f, str_from(moment, timestamp_write(moment, v)));
    case VALUE_DURATION:
        return format_put(f, str_from(moment, duration_write_seconds(moment, v)));
    case VALUE_IP:
    case VALUE_CIDR:
        return format_put(f, value_text(v));
    case VALUE_TYPE:
        return format_put(f, str_of(v.type_name));
    case VALUE_ABSENT:
    case VALUE_OPTIONAL:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        return fail_kind(f, 's', "anything that has a text", v);
    }
    PANIC("unknown kind of value");
}

/* --- the template --- */

/* The digits of "%.3f", from `at`, which then stands behind them. */
static bool read_precision(struct format *f, struct str template, size_t *at, int *precision)
{
    size_t start = *at;
    int n = 0;

    for (; *at < template.len && ascii_is_digit(template.ptr[*at]); ++*at)
        if (n <= PRECISION_MAX)
            n = n * 10 + (template.ptr[*at] - '0');
    if (*at == start)
        return fail(f, cel_fail(f->ev, "a number must follow \"%%.\" in a template"));
    if (n > PRECISION_MAX)
        return fail(f, cel_fail(f->ev, "a clause can write at most %d digits after the point",
                                PRECISION_MAX));
    *precision = n;
    return true;
}

static bool put_clause(struct format *f, char clause, int precision, struct value v)
{
    switch (clause) {
    case 's':
        return put_value(f, v, 0);
    case 'd':
        return put_decimal(f, clause, v);
    case 'f':
    case 'e':
        return put_rounded(f, clause, precision, v);
    case 'b':
        if (v.kind == VALUE_BOOL)
            return format_put(f, v.b ? STR("1") : STR("0"));
        return v.kind == VALUE_INT || v.kind == VALUE_UINT
                   ? put_integer_base(f, v, 1, false)
                   : fail_kind(f, clause, "an int, a uint or a bool", v);
    case 'o':
        return v.kind == VALUE_INT || v.kind == VALUE_UINT
                   ? put_integer_base(f, v, 3, false)
                   : fail_kind(f, clause, "an int or a uint", v);
    case 'x':
    case 'X':
        return put_hex(f, clause, v);
    default:
        if ((unsigned char)clause < ' ' || (unsigned char)clause > '~')
            return fail(f, cel_fail(f->ev, "a letter must follow \"%%\" in a template"));
        return fail(f, cel_fail(f->ev,
                                "there is no clause %%%c; known are %%s %%d %%f %%e %%b %%o "
                                "%%x %%X and %%%%",
                                clause));
    }
}

/* Write the clause at `at`, which stands behind its "%". */
static bool put_next(struct format *f, struct str template, size_t *at, struct value values,
                     uint32_t *used)
{
    int precision = PRECISION_DEFAULT;

    if (*at < template.len && template.ptr[*at] == '%') {
        ++*at;
        return format_put(f, STR("%"));
    }
    if (*at < template.len && template.ptr[*at] == '.') {
        ++*at;
        if (!read_precision(f, template, at, &precision))
            return false;
    }
    if (*at == template.len)
        return fail(f, cel_fail(f->ev, "the template ends inside a clause"));
    if (*used == values.len)
        return fail(f, cel_fail(f->ev, "the template needs more than the %" PRIu32 " values given",
                                values.len));
    return put_clause(f, template.ptr[(*at)++], precision, values.items[(*used)++]);
}

static bool put_template(struct format *f, struct str template, struct value values)
{
    uint32_t used = 0;

    for (size_t at = 0; at < template.len;) {
        int64_t percent = str_find(template, STR("%"), at);
        size_t end = percent < 0 ? template.len : (size_t)percent;

        if (!format_put(f, str_slice(template, at, end)))
            return false;
        at = end + 1;
        if (percent >= 0 && !put_next(f, template, &at, values, &used))
            return false;
    }
    return true;
}

struct value cel_fn_format(struct cel_eval *ev, const struct value *args)
{
    struct format f = {.ev = ev, .failure = value_absent()};
    struct value result;

    buf_init(&f.out);
    f.out.limit = ev->mem_left;
    result = put_template(&f, value_text(args[0]), args[1]) ? cel_string_copy(ev, buf_view(&f.out))
                                                            : f.failure;
    buf_fini(&f.out);
    return result;
}
