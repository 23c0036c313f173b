/* lib_math.c - the functions math.*: comparing, rounding, testing, bits. */
#include "cel/lib/lib.h"

#include <inttypes.h>
#include <math.h>

static bool is_number(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_DOUBLE;
}

/* The number that comes first when `wanted` is -1, last when it is 1; of equal ones the first. */
static struct value extreme(struct cel_eval *ev, const struct value *args, int wanted)
{
    const struct value *numbers = args;
    uint32_t n = ev->arg_count;
    struct value best;

    if (args[0].kind == VALUE_LIST) {
        numbers = args[0].items;
        n = args[0].len;
        if (n == 0)
            return cel_fail(ev, "an empty list has no %s number",
                            wanted < 0 ? "least" : "greatest");
    }
    if (!cel_charge(ev, n))
        return cel_over_cost(ev);
    best = numbers[0];
    for (uint32_t i = 0; i < n; i++) {
        int order;

        if (!is_number(numbers[i]))
            return cel_no_overload(ev, args, ev->arg_count);
        order = value_compare(numbers[i], best);
        if (order == VALUE_UNORDERED && n > 1)
            return cel_fail(ev, "NaN is neither less nor greater than any number");
        if (order == wanted)
            best = numbers[i];
    }
    return best;
}

struct value cel_fn_math_greatest(struct cel_eval *ev, const struct value *args)
{
    return extreme(ev, args, 1);
}

struct value cel_fn_math_least(struct cel_eval *ev, const struct value *args)
{
    return extreme(ev, args, -1);
}

/* The argument of a function of one double. Definitions may pass an int as well. */
static double double_of(struct value arg)
{
    return arg.kind == VALUE_INT ? (double)arg.i : arg.d;
}

/* A function of one double: `make` makes a value of what `of` answers. */
#define DOUBLE_FUNCTION(function, make, of)                                                        \
    struct value function(struct cel_eval *ev, const struct value *args)                           \
    {                                                                                              \
        (void)ev;                                                                                  \
        return make(of(double_of(args[0])));                                                       \
    }

DOUBLE_FUNCTION(cel_fn_math_ceil, value_double, ceil)
DOUBLE_FUNCTION(cel_fn_math_floor, value_double, floor)
/* Halves go away from zero. */
DOUBLE_FUNCTION(cel_fn_math_round, value_double, round)
DOUBLE_FUNCTION(cel_fn_math_trunc, value_double, trunc)
DOUBLE_FUNCTION(cel_fn_math_is_nan, value_bool, isnan)
DOUBLE_FUNCTION(cel_fn_math_is_inf, value_bool, isinf)
DOUBLE_FUNCTION(cel_fn_math_is_finite, value_bool, isfinite)

struct value cel_fn_math_abs(struct cel_eval *ev, const struct value *args)
{
    if (args[0].kind == VALUE_DOUBLE)
        return value_double(fabs(args[0].d));
    if (args[0].kind == VALUE_UINT || args[0].i >= 0)
        return args[0];
    if (args[0].i == INT64_MIN)
        return cel_fail(ev, "integer overflow: the absolute value of %" PRId64 " is not an int",
                        args[0].i);
    return value_int(-args[0].i);
}

struct value cel_fn_math_sign(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    if (args[0].kind == VALUE_UINT)
        return value_uint(args[0].u > 0);
    if (args[0].kind == VALUE_INT)
        return value_int((args[0].i > 0) - (args[0].i < 0));
    return isnan(args[0].d) ? args[0] : value_double((args[0].d > 0) - (args[0].d < 0));
}

/* Of a negative number NaN. */
struct value cel_fn_math_sqrt(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return value_double(sqrt(args[0].kind == VALUE_INT    ? (double)args[0].i
                             : args[0].kind == VALUE_UINT ? (double)args[0].u
                                                          : args[0].d));
}

/* --- bits --- */

/* An integer of the kind that `like` has. */
static struct value bits(struct value like, uint64_t u)
{
    like.u = u;
    return like;
}

#define BIT_FUNCTION(function, operator_)                                                          \
    struct value function(struct cel_eval *ev, const struct value *args)                           \
    {                                                                                              \
        (void)ev;                                                                                  \
        return bits(args[0], args[0].u operator_ args[1].u);                                       \
    }

BIT_FUNCTION(cel_fn_math_bit_and, &)
BIT_FUNCTION(cel_fn_math_bit_or, |)
BIT_FUNCTION(cel_fn_math_bit_xor, ^)

struct value cel_fn_math_bit_not(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return bits(args[0], ~args[0].u);
}

/* Bits that leave are lost and zeros come in, on the left of a negative int too. */
static struct value shift(struct cel_eval *ev, const struct value *args, bool left)
{
    if (args[1].i < 0)
        return cel_fail(ev, "bits cannot be shifted by a negative offset (%" PRId64 ")", args[1].i);
    if (args[1].i >= 64)
        return bits(args[0], 0);
    return bits(args[0], left ? args[0].u << args[1].i : args[0].u >> args[1].i);
}

struct value cel_fn_math_shift_left(struct cel_eval *ev, const struct value *args)
{
    return shift(ev, args, true);
}

struct value cel_fn_math_shift_right(struct cel_eval *ev, const struct value *args)
{
    return shift(ev, args, false);
}
