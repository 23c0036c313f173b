/* Tests of lib_math.c. */
#include "cel/lib_call.h"

#include <math.h>

static void test_math__greatest_and_least_compare_across_kinds(void **state)
{
    const struct lib_case cases[] = {
        CASE("-5", math_greatest, I(-5)),
        CASE("1", math_greatest, I(1), D(1), U(1)),
        CASE("1u", math_greatest, U(1), I(1)),
        CASE("9223372036854775807", math_greatest, D(5.4), I(10), U(3), D(-5), I(INT64_MAX)),
        CASE("18446744073709551615u", math_greatest, D(5.4), I(10), U(UINT64_MAX)),
        CASE("1.797693e+308", math_greatest, I(1), D(1.797693e308)),
        CASE("3u", math_greatest, I(-3), U(3)),
        CASE("9223372036854775807", math_greatest, D(9223372036854774784.0), I(INT64_MAX)),
        CASE("10", math_greatest, L(D(5.4), I(10), U(3), D(-5), D(3.5))),
        CASE("-3", math_least, I(-1), I(-2), I(-3)),
        CASE("-5.0", math_least, L(D(5.4), I(10), U(3), D(-5), D(3.5))),
        CASE("-9223372036854775808", math_least, I(1), I(INT64_MIN)),
        CASE("1u", math_least, U(UINT64_MAX), U(1)),
        CASE("nan", math_least, D(NAN)),
        CASE("!NaN is neither", math_least, D(1), D(NAN)),
        CASE("!NaN is neither", math_greatest, L(D(NAN), D(1))),
        CASE("!an empty list has no greatest number", math_greatest, NO_ITEMS),
        CASE("!no such overload", math_greatest, S("a")),
        CASE("!no such overload", math_greatest, I(1), S("a")),
        CASE("!no such overload", math_greatest, L(I(1)), L(I(2))),
        CASE("!no such overload", math_least, L(I(1), YES)),
    };
    (void)state;
    RUN(cases);
    struct arena mem;
    struct cel_eval ev = lib_eval(&mem);
    arena_init(&mem);
    lib_check(library_call(&ev, cel_fn_math_greatest, NULL, 0), "!no such overload", 0);
    arena_fini(&mem);
}

static void test_math__rounding_takes_doubles(void **state)
{
    const struct lib_case cases[] = {
        CASE("-1.0", math_ceil, D(-1.2)),
        CASE("2.0", math_ceil, D(1.2)),
        CASE("-2.0", math_floor, D(-1.2)),
        CASE("1.0", math_floor, D(1.2)),
        CASE("-2.0", math_round, D(-1.6)),
        CASE("-1.0", math_round, D(-1.4)),
        CASE("-2.0", math_round, D(-1.5)),
        CASE("2.0", math_round, D(1.5)),
        CASE("3.0", math_round, D(2.5)),
        CASE("nan", math_round, D(NAN)),
        CASE("-1.0", math_trunc, D(-1.2)),
        CASE("1.0", math_trunc, D(1.2)),
        CASE("inf", math_trunc, D(INFINITY)),
        CASE("!no such overload", math_ceil, I(1)),
        CASE("!no such overload", math_floor, I(1)),
        CASE("!no such overload", math_round, I(1)),
        CASE("!no such overload", math_trunc, I(1)),
        CASE("!no such overload", math_round, D(1), D(2)),
        CASE("true", math_is_nan, D(NAN)),
        CASE("false", math_is_nan, D(INFINITY)),
        CASE("true", math_is_inf, D(-INFINITY)),
        CASE("false", math_is_inf, D(NAN)),
        CASE("true", math_is_finite, D(1)),
        CASE("false", math_is_finite, D(NAN)),
        CASE("false", math_is_finite, D(-INFINITY)),
        CASE("!no such overload", math_is_nan, YES),
        CASE("!no such overload", math_is_inf, YES),
        CASE("!no such overload", math_is_finite, I(1)),
    };
    (void)state;
    RUN(cases);
}

/* Whole numbers of JSON are ints, and an amount may happen to be one. */
static void test_math__definitions_may_round_ints(void **state)
{
    const struct lib_case cases[] = {
        CASE("5.0", math_round, I(5)),
        CASE("-5.0", math_floor, I(-5)),
        CASE("5.0", math_ceil, I(5)),
        CASE("5.0", math_trunc, I(5)),
        CASE("false", math_is_nan, I(5)),
        CASE("true", math_is_finite, I(5)),
        CASE("!no such overload", math_round, S("5")),
        CASE("!no such overload", math_round, U(5)),
    };
    (void)state;
    RUN_DEFINITION(cases);
}

static void test_math__abs_sign_and_root(void **state)
{
    const struct lib_case cases[] = {
        CASE("1u", math_abs, U(1)),
        CASE("11", math_abs, I(-11)),
        CASE("11.5", math_abs, D(-11.5)),
        CASE("9223372036854775807", math_abs, I(-INT64_MAX)),
        CASE("!overflow", math_abs, I(INT64_MIN)),
        CASE("!no such overload", math_abs, S("1")),
        CASE("1u", math_sign, U(100)),
        CASE("0u", math_sign, U(0)),
        CASE("-1", math_sign, I(-11)),
        CASE("0", math_sign, I(0)),
        CASE("-1.0", math_sign, D(-32)),
        CASE("0.0", math_sign, D(0)),
        CASE("nan", math_sign, D(NAN)),
        CASE("!no such overload", math_sign, YES),
        CASE("9.0", math_sqrt, I(81)),
        CASE("9.0", math_sqrt, U(81)),
        CASE("1.5", math_sqrt, D(2.25)),
        CASE("true", math_is_nan, value_double(sqrt(-1))),
        CASE("!no such overload", math_sqrt, NIL),
    };
    (void)state;
    RUN(cases);
}

static void test_math__bits(void **state)
{
    const struct lib_case cases[] = {
        CASE("0", math_bit_and, I(1), I(2)),
        CASE("1", math_bit_and, I(1), I(-1)),
        CASE("1u", math_bit_and, U(1), U(3)),
        CASE("!no such overload", math_bit_and, U(2), S("")),
        CASE("!no such overload", math_bit_and, U(2), I(2)),
        CASE("-2", math_bit_or, I(4), I(-2)),
        CASE("5u", math_bit_or, U(1), U(4)),
        CASE("!no such overload", math_bit_or, D(1.2), I(1)),
        CASE("-6", math_bit_xor, I(4), I(-2)),
        CASE("2u", math_bit_xor, U(1), U(3)),
        CASE("!no such overload", math_bit_xor, NO_ITEMS, L(I(1))),
        CASE("-2", math_bit_not, I(1)),
        CASE("18446744073709551615u", math_bit_not, U(0)),
        CASE("!no such overload", math_bit_not, S("")),
        CASE("4", math_shift_left, I(1), I(2)),
        CASE("0", math_shift_left, I(-1), I(200)),
        CASE("-9223372036854775808", math_shift_left, I(1), I(63)),
        CASE("4u", math_shift_left, U(1), I(2)),
        CASE("0u", math_shift_left, U(1), I(64)),
        CASE("!negative offset (-1)", math_shift_left, U(1), I(-1)),
        CASE("!no such overload", math_shift_left, D(4.3), I(1)),
        CASE("256", math_shift_right, I(1024), I(2)),
        CASE("0", math_shift_right, I(1024), I(64)),
        CASE("2305843009213693824", math_shift_right, I(-1024), I(3)),
        CASE("0", math_shift_right, I(-1024), I(64)),
        CASE("256u", math_shift_right, U(1024), I(2)),
        CASE("!negative offset", math_shift_right, U(1), I(-1)),
        CASE("!no such overload", math_shift_right, B("123"), I(1)),
        CASE("!no such overload", math_shift_right, U(1), U(1)),
    };
    (void)state;
    RUN(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_math__greatest_and_least_compare_across_kinds),
        cmocka_unit_test(test_math__rounding_takes_doubles),
        cmocka_unit_test(test_math__definitions_may_round_ints),
        cmocka_unit_test(test_math__abs_sign_and_root),
        cmocka_unit_test(test_math__bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
