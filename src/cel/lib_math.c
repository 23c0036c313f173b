/* lib_math.c - the functions math.*: comparing, rounding, testing, bits. */
#include "cel/lib.h"

#include <inttypes.h>
#include <math.h>

static bool is_number(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_DOUBLE;
}

/* The number that comes first when `wanted` is -1, last when it is 1; of equal ones the first. */
static struct value extreme(struct cel_eval *ev, const struct value *args, unsigned count,
                            int wanted)
{
    const struct value *numbers = args;
    uint32_t n = count;
    struct value best;

    if (count == 1 && args[0].kind == VALUE_LIST) {
        numbers = args[0].items;
        n = args[0].len;
        if (n == 0)
            return cel_fail(ev, "an empty list has no %s number",
                            wanted < 0 ? "least" : "greatest");
    }
    if (n == 0)
        return cel_no_overload(ev, args, count);
    if (!cel_charge(ev, n))
        return cel_over_cost(ev);
    best = numbers[0];
    for (uint32_t i = 0; i < n; i++) {
        int order;

        if (!is_number(numbers[i]))
            return cel_no_overload(ev, args, count);
        order = value_compare(numbers[i], best);
        if (order == VALUE_UNORDERED && n > 1)
            return cel_fail(ev, "NaN is neither less nor greater than any number");
        if (order == wanted)
            best = numbers[i];
    }
    return best;
}

struct value cel_fn_math_greatest(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return extreme(ev, args, count, 1);
}

struct value cel_fn_math_least(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return extreme(ev, args, count, -1);
}

/* The argument of a function of one double. Definitions may pass an int as well. */
static bool one_double(struct cel_eval *ev, const struct value *args, unsigned count, double *out)
{
    if (count != 1)
        return false;
    if (args[0].kind == VALUE_INT && ev->mode == CEL_DEFINITION) {
        *out = (double)args[0].i;
        return true;
    }
    *out = args[0].d;
    return args[0].kind == VALUE_DOUBLE;
}

static struct value rounded(struct cel_eval *ev, const struct value *args, unsigned count,
                            double (*round_to)(double))
{
    double d;

    return one_double(ev, args, count, &d) ? value_double(round_to(d))
                                           : cel_no_overload(ev, args, count);
}

struct value cel_fn_math_ceil(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return rounded(ev, args, count, ceil);
}

struct value cel_fn_math_floor(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return rounded(ev, args, count, floor);
}

/* Halves go away from zero. */
struct value cel_fn_math_round(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return rounded(ev, args, count, round);
}

struct value cel_fn_math_trunc(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return rounded(ev, args, count, trunc);
}

struct value cel_fn_math_is_nan(struct cel_eval *ev, const struct value *args, unsigned count)
{
    double d;

    return one_double(ev, args, count, &d) ? value_bool(isnan(d))
                                           : cel_no_overload(ev, args, count);
}

struct value cel_fn_math_is_inf(struct cel_eval *ev, const struct value *args, unsigned count)
{
    double d;

    return one_double(ev, args, count, &d) ? value_bool(isinf(d))
                                           : cel_no_overload(ev, args, count);
}

struct value cel_fn_math_is_finite(struct cel_eval *ev, const struct value *args, unsigned count)
{
    double d;

    return one_double(ev, args, count, &d) ? value_bool(isfinite(d))
                                           : cel_no_overload(ev, args, count);
}

struct value cel_fn_math_abs(struct cel_eval *ev, const struct value *args, unsigned count)
{
    if (count != 1 || !is_number(args[0]))
        return cel_no_overload(ev, args, count);
    if (args[0].kind == VALUE_DOUBLE)
        return value_double(fabs(args[0].d));
    if (args[0].kind == VALUE_UINT || args[0].i >= 0)
        return args[0];
    if (args[0].i == INT64_MIN)
        return cel_fail(ev, "integer overflow: the absolute value of %" PRId64 " is not an int",
                        args[0].i);
    return value_int(-args[0].i);
}

struct value cel_fn_math_sign(struct cel_eval *ev, const struct value *args, unsigned count)
{
    if (count != 1 || !is_number(args[0]))
        return cel_no_overload(ev, args, count);
    if (args[0].kind == VALUE_UINT)
        return value_uint(args[0].u > 0);
    if (args[0].kind == VALUE_INT)
        return value_int((args[0].i > 0) - (args[0].i < 0));
    return isnan(args[0].d) ? args[0] : value_double((args[0].d > 0) - (args[0].d < 0));
}

/* Of a negative number NaN. */
struct value cel_fn_math_sqrt(struct cel_eval *ev, const struct value *args, unsigned count)
{
    if (count != 1 || !is_number(args[0]))
        return cel_no_overload(ev, args, count);
    return value_double(sqrt(args[0].kind == VALUE_INT    ? (double)args[0].i
                             : args[0].kind == VALUE_UINT ? (double)args[0].u
                                                          : args[0].d));
}

/* --- bits --- */

static bool is_integer(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT;
}

static bool are_two_alike(const struct value *args, unsigned count)
{
    return count == 2 && is_integer(args[0]) && args[0].kind == args[1].kind;
}

/* An integer of the kind that `like` has. */
static struct value bits(struct value like, uint64_t u)
{
    like.u = u;
    return like;
}

struct value cel_fn_math_bit_and(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return are_two_alike(args, count) ? bits(args[0], args[0].u & args[1].u)
                                      : cel_no_overload(ev, args, count);
}

struct value cel_fn_math_bit_or(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return are_two_alike(args, count) ? bits(args[0], args[0].u | args[1].u)
                                      : cel_no_overload(ev, args, count);
}

struct value cel_fn_math_bit_xor(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return are_two_alike(args, count) ? bits(args[0], args[0].u ^ args[1].u)
                                      : cel_no_overload(ev, args, count);
}

struct value cel_fn_math_bit_not(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return count == 1 && is_integer(args[0]) ? bits(args[0], ~args[0].u)
                                             : cel_no_overload(ev, args, count);
}

/* Bits that leave are lost and zeros come in, on the left of a negative int too. */
static struct value shift(struct cel_eval *ev, const struct value *args, unsigned count, bool left)
{
    if (count != 2 || !is_integer(args[0]) || args[1].kind != VALUE_INT)
        return cel_no_overload(ev, args, count);
    if (args[1].i < 0)
        return cel_fail(ev, "bits cannot be shifted by a negative offset (%" PRId64 ")", args[1].i);
    if (args[1].i >= 64)
        return bits(args[0], 0);
    return bits(args[0], left ? args[0].u << args[1].i : args[0].u >> args[1].i);
}

struct value cel_fn_math_shift_left(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return shift(ev, args, count, true);
}

struct value cel_fn_math_shift_right(struct cel_eval *ev, const struct value *args, unsigned count)
{
    return shift(ev, args, count, false);
}
