/* Tests of lib_string.c and lib_format.c. */
#include "cel/lib_call.h"

#include <math.h>

static void test_text__positions_count_code_points(void **state)
{
    const struct lib_case cases[] = {
        CASE("\"o\"", char_at, S("tacocat"), I(3)),
        CASE("\"\"", char_at, S("tacocat"), I(7)),
        CASE("\"α\"", char_at, S("©αT"), I(1)),
        CASE("\"T\"", char_at, S("©αT"), I(2)),
        CASE("!position 4 is outside the text, which has 3 characters", char_at, S("©αT"), I(4)),
        CASE("!position -1 is outside", char_at, S("©αT"), I(-1)),
        CASE("!no such overload", char_at, I(42), I(2)),
        CASE("!no such overload", char_at, S("hello"), YES),
        CASE("0", index_of, S("tacocat"), S("")),
        CASE("1", index_of, S("tacocat"), S("ac")),
        CASE("-1", index_of, S("tacocat"), S("none")),
        CASE("3", index_of, S("tacocat"), S(""), I(3)),
        CASE("7", index_of, S("tacocat"), S(""), I(7)),
        CASE("5", index_of, S("tacocat"), S("at"), I(3)),
        CASE("2", index_of, S("ta©o©αT"), S("©")),
        CASE("4", index_of, S("ta©o©αT"), S("©"), I(3)),
        CASE("4", index_of, S("ta©o©αT"), S("©αT"), I(3)),
        CASE("-1", index_of, S("ta©o©αT"), S("©α"), I(5)),
        CASE("-1", index_of, S(""), S("a"), I(0)),
        CASE("!position 30", index_of, S("tacocat"), S("a"), I(30)),
        CASE("!no such overload", index_of, S("42"), S("4"), I(0), I(1)),
        CASE("!no such overload", index_of, S("42"), S("4"), S("0")),
        CASE("-1", last_index_of, S(""), S("@@")),
        CASE("7", last_index_of, S("tacocat"), S("")),
        CASE("5", last_index_of, S("tacocat"), S("at")),
        CASE("-1", last_index_of, S("tacocat"), S("none")),
        CASE("3", last_index_of, S("tacocat"), S(""), I(3)),
        CASE("1", last_index_of, S("tacocat"), S("a"), I(3)),
        CASE("0", last_index_of, S("tacocat"), S("taco"), I(0)),
        CASE("4", last_index_of, S("ta©o©αT"), S("©")),
        CASE("2", last_index_of, S("ta©o©αT"), S("©"), I(3)),
        CASE("4", last_index_of, S("ta©o©αT"), S("©α"), I(4)),
        CASE("1", last_index_of, S("hello wello"), S("ello"), I(6)),
        CASE("6", last_index_of, S("bananananana"), S("nana"), I(7)),
        CASE("2", last_index_of, S("aabaabaaa"), S("baab")),
        CASE("!position -1", last_index_of, S("tacocat"), S("a"), I(-1)),
        CASE("!position 30", last_index_of, S("tacocat"), S("a"), I(30)),
        CASE("\"cat\"", substring, S("tacocat"), I(4)),
        CASE("\"\"", substring, S("tacocat"), I(7)),
        CASE("\"taco\"", substring, S("tacocat"), I(0), I(4)),
        CASE("\"©o©α\"", substring, S("ta©o©αT"), I(2), I(6)),
        CASE("\"\"", substring, S("ta©o©αT"), I(7), I(7)),
        CASE("!position 40", substring, S("tacocat"), I(40)),
        CASE("!position -1", substring, S("tacocat"), I(-1)),
        CASE("!position 50", substring, S("tacocat"), I(1), I(50)),
        CASE("!position 49", substring, S("tacocat"), I(49), I(50)),
        CASE("!start at 4 and end at 3", substring, S("tacocat"), I(4), I(3)),
        CASE("!position -9223372036854775808", substring, S("x"), I(INT64_MIN), I(INT64_MAX)),
        CASE("!no such overload", substring, S("hello"), I(1), I(2), I(3)),
    };
    (void)state;
    RUN(cases);
}

static void test_text__contains_and_the_ends(void **state)
{
    const struct lib_case cases[] = {
        CASE("true", contains, S("Straße"), S("aß")),
        CASE("true", contains, S(""), S("")),
        CASE("false", contains, S(""), S("something")),
        CASE("true", contains, S("abababc"), S("ababc")),
        CASE("true", starts_with, S("завтра"), S("за")),
        CASE("false", starts_with, S("foobar"), S("bar")),
        CASE("true", ends_with, S("forté"), S("té")),
        CASE("false", ends_with, S(""), S("foo")),
        CASE("!no such overload", contains, S("1"), I(1)),
        CASE("!no such overload", starts_with, I(1), S("1")),
        CASE("!no such overload", ends_with, S("1")),
        CASE("true", matches, S("hubba"), S("ubb")),
        CASE("false", matches, S(""), S("foo|bar")),
        CASE("true", matches, S(""), S("")),
        CASE("true", matches, S("mañana"), S("a+ñ+a+")),
        CASE("true", matches, S("🐱😀😀"), S("(a|😀){2}")),
        CASE("!missing ): (a", matches, S("a"), S("(a")),
        CASE("!too large", matches, S("a"), S("\\pL{1000}")),
        CASE("!no such overload", matches, S("a"), B("a")),
    };
    (void)state;
    RUN(cases);
}

static void test_text__trim_knows_white_space_of_unicode(void **state)
{
    const struct lib_case cases[] = {
        CASE("\"text\"", trim, S(" \f\n\r\t\vtext  ")),
        CASE("\"text\"", trim, S("\xc2\x85\u00a0\u1680text")),
        CASE("\"text\"", trim, S("text\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2009")),
        CASE("\"text\"", trim, S("\u200atext\u2028\u2029\u202F\u205F\u3000")),
        CASE("\"\u180etext\u200b\u2060\ufeff\"", trim, S("\u180etext\u200b\u2060\ufeff")),
        CASE("\"a b\"", trim, S("a b")),
        CASE("\"\"", trim, S(" \u3000 ")),
        CASE("\"\"", trim, S("")),
    };
    (void)state;
    RUN(cases);
}

static void test_text__split_and_join(void **state)
{
    const struct lib_case cases[] = {
        CASE("[\"hello\", \"world\"]", split, S("hello world"), S(" ")),
        CASE("[]", split, S("hello world"), S(" "), I(0)),
        CASE("[\"hello world\"]", split, S("hello world"), S(" "), I(1)),
        CASE("[\"a\", \"b c\"]", split, S("a b c"), S(" "), I(2)),
        CASE("[\"o\", \"o\", \"o\"]", split, S("o©o©o"), S("©"), I(-1)),
        CASE("[\"\", \"a\", \"\"]", split, S(",a,"), S(",")),
        CASE("[\"\"]", split, S(""), S(",")),
        CASE("[]", split, S(""), S("")),
        CASE("[\"©\", \"α\", \"T\"]", split, S("©αT"), S("")),
        CASE("[\"©\", \"αT\"]", split, S("©αT"), S(""), I(2)),
        CASE("!no such overload", split, S("42"), I(2), I(1)),
        CASE("!no such overload", split, S("42"), S("2"), I(1), I(1)),
        CASE("\"xy\"", join, L(S("x"), S("y"))),
        CASE("\"x-y\"", join, L(S("x"), S("y")), S("-")),
        CASE("\"\"", join, NO_ITEMS),
        CASE("\"\"", join, NO_ITEMS, S("-")),
        CASE("!item 1 is of type int", join, L(S("x"), I(1)), S("-")),
    };
    (void)state;
    RUN(cases);
}

static void test_text__replace_as_often_as_told(void **state)
{
    const struct lib_case cases[] = {
        CASE("\"12 days\"", replace, S("12 days"), S("{0}"), S("2")),
        CASE("\"2 days 2 hours\"", replace, S("{0} days {0} hours"), S("{0}"), S("2")),
        CASE("\"2 days {0} hours\"", replace, S("{0} days {0} hours"), S("{0}"), S("2"), I(1)),
        CASE("\"aaa\"", replace, S("aaa"), S("a"), S("b"), I(0)),
        CASE("\"bbb\"", replace, S("aaa"), S("a"), S("b"), I(-1)),
        CASE("\"1 ©o©α taco\"", replace, S("1 ©αT taco"), S("αT"), S("o©α")),
        CASE("\"-©-α-\"", replace, S("©α"), S(""), S("-")),
        CASE("\"-©-α\"", replace, S("©α"), S(""), S("-"), I(2)),
        CASE("\"-\"", replace, S(""), S(""), S("-")),
        CASE("\"\"", replace, S("aaaa"), S("aa"), S("")),
        CASE("!no such overload", replace, S("42"), S("2"), S("1"), S("1")),
        CASE("!no such overload", replace, S("42"), S("2"), S("1"), I(1), NO),
    };
    (void)state;
    RUN(cases);
}

static void test_text__case_quotes_and_reversal(void **state)
{
    const struct lib_case cases[] = {
        CASE("\"tacocÆt [`@{xii\"", lower_ascii, S("TacoCÆt [`@{Xii")),
        CASE("\"TACOCαT [`@{XII\"", upper_ascii, S("tacoCαt [`@{Xii")),
        CASE("\"\"first\\nsecond\"\"", quote, S("first\nsecond")),
        CASE("\"\"\\a\\b\\f\\r\\t\\v\"\"", quote, S("\a\b\f\r\t\v")),
        CASE("\"\"\\\\ \\\" '😀\"\"", quote, S("\\ \" '😀")),
        CASE("\"\"\"\"", quote, S("")),
        CASE("\"Tα©\"", reverse, S("©αT")),
        CASE("[3, 2, 1]", reverse, L(I(1), I(2), I(3))),
        CASE("[]", reverse, NO_ITEMS),
        CASE("!no such overload", reverse, I(1)),
    };
    (void)state;
    RUN(cases);
}

static void test_format__clauses(void **state)
{
    const struct lib_case cases[] = {
        CASE("\"no substitution\"", format, S("no substitution"), NO_ITEMS),
        CASE("\"% and also %\"", format, S("%% and also %%"), NO_ITEMS),
        CASE("\"%text%\"", format, S("%%%s%%"), L(S("text"))),
        CASE("\"1 A 2\"", format, S("%d %s %d"), L(I(1), S("A"), I(2))),
        CASE("\"1.234\"", format, S("%.3f"), L(D(1.2345))),
        CASE("\"2\"", format, S("%.0f"), L(D(2.5))),
        CASE("\"-1.20000\"", format, S("%.5f"), L(D(-1.2))),
        CASE("\"3.000000\"", format, S("%f"), L(U(3))),
        CASE("\"1.052033e+03\"", format, S("%.6e"), L(D(1052.032911275))),
        CASE("\"1e+02\"", format, S("%.0e"), L(I(100))),
        CASE("\"101 1000000 1 -101\"", format, S("%b %b %b %b"), L(I(5), U(64), YES, I(-5))),
        CASE("\"13 177777 -13\"", format, S("%o %o %o"), L(I(11), U(65535), I(-11))),
        CASE("\"1e 1E 1770\"", format, S("%x %X %X"), L(I(30), I(30), U(6000))),
        CASE("\"-8000000000000000\"", format, S("%x"), L(I(INT64_MIN))),
        CASE("\"48656c6c6f 6B\"", format, S("%x %X"), L(S("Hello"), B("k"))),
        CASE("\"NaN Infinity -Infinity\"", format, S("%d %e %f"),
             L(D(NAN), D(INFINITY), D(-INFINITY))),
        CASE("\"-7 18446744073709551615 1.5\"", format, S("%d %d %d"),
             L(I(-7), U(UINT64_MAX), D(1.5))),
        CASE("!no clause %a", format, S("%a"), L(I(1))),
        CASE("!no clause %E", format, S("%E"), L(D(0.5))),
        CASE("!a letter must follow", format, S("%ñ"), L(D(0.5))),
        CASE("!more than the 2 values", format, S("%d %d %d"), L(I(0), I(1))),
        CASE("!%b takes an int, a uint or a bool, not a value of type string", format, S("%b"),
             L(S("abc"))),
        CASE("!%o takes", format, S("octal: %o"), L(S("a string"))),
        CASE("!%x takes", format, S("%x"), L(D(0.5))),
        CASE("!%d takes", format, S("%d"), L(value_duration(1802, 0))),
        CASE("!%d takes", format, S("%d"), L(NIL)),
        CASE("!%e takes", format, S("%e"), L(NIL)),
        CASE("!%f takes", format, S("%f"), L(NIL)),
        CASE("!%X takes", format, S("%X"), L(NIL)),
        CASE("!ends inside", format, S("100%"), L(I(1))),
        CASE("!ends inside", format, S("%.3"), L(I(1))),
        CASE("!a number must follow", format, S("%.f"), L(I(1))),
        CASE("!at most 1000 digits", format, S("%.1001f"), L(I(1))),
        CASE("!at most 1000 digits", format, S("%.99999999999999999999f"), L(I(1))),
        CASE("!no such overload", format, S("%d"), I(1)),
    };
    (void)state;
    RUN(cases);
}

static void test_format__text_of_every_kind(void **state)
{
    const struct lib_case cases[] = {
        CASE("\"null true 999999999999 7\"", format, S("%s %s %s %s"),
             L(NIL, YES, I(999999999999), U(7))),
        CASE("\"3.14 1 -0.5 56.8\"", format, S("%s %s %s %s"), L(D(3.14), D(1), D(-0.5), D(56.8))),
        CASE("\"1000000000000000000000 0.00000001\"", format, S("%s %s"), L(D(1e21), D(1e-8))),
        CASE("\"-123456700000000000000000\"", format, S("%s"), L(D(-1.234567e23))),
        CASE("\"-0.000000001234\"", format, S("%s"), L(D(-1.234e-9))),
        CASE("\"NaN Infinity -Infinity\"", format, S("%s %s %s"),
             L(D(NAN), D(INFINITY), D(-INFINITY))),
        CASE("\"xyz string\"", format, S("%s %s"), L(B("xyz"), value_type("string"))),
        CASE("\"\xef\xbf\xbd\"", format, S("%s"), L(B("\xff"))),
        CASE("\"2023-02-03T23:31:20Z 6347s -1.5s\"", format, S("%s %s %s"),
             L(value_timestamp(1675467080, 0), value_duration(6347, 0),
               value_duration(-2, 500000000))),
        CASE("\"[abc, 3.14, null, [9, 8], []]\"", format, S("%s"),
             L(L(S("abc"), D(3.14), NIL, L(I(9), I(8)), NO_ITEMS))),
        CASE("!not a value of type optional_type", format, S("%s"), L(value_optional_none())),
    };
    (void)state;
    RUN(cases);
}

static void test_format__maps_are_in_the_order_of_their_keys(void **state)
{
    struct value_entry entries[] = {{S("strKey"), S("x")},
                                    {I(6), value_duration(422, 0)},
                                    {YES, I(42)},
                                    {U(10), NO_ITEMS},
                                    {S("6"), NIL}};
    struct arena mem;
    struct cel_eval ev = lib_eval(&mem);
    struct value map, empty = value_map_empty();
    size_t duplicate;

    (void)state;
    arena_init(&mem);
    map = value_map_make(&mem, entries, 5, &duplicate);
    lib_check(library_call(&ev, cel_fn_format, (struct value[]){S("%s %s"), L(map, empty)}, 2),
              "\"{10: [], 6: 422s, 6: null, strKey: x, true: 42} {}\"", 0);
    arena_fini(&mem);
}

static void test_format__nesting_is_bounded(void **state)
{
    struct value levels[CEL_NESTING_MAX + 10];
    struct arena mem;
    struct cel_eval ev = lib_eval(&mem);

    (void)state;
    arena_init(&mem);
    levels[0] = I(1);
    for (size_t i = 1; i < ARRAY_SIZE(levels); i++)
        levels[i] = value_list(&levels[i - 1], 1);
    lib_check(library_call(&ev, cel_fn_format,
                           (struct value[]){S("%s"), L(levels[CEL_NESTING_MAX + 9])}, 2),
              "!nested more than 250 levels", 0);
    arena_fini(&mem);
}

/* Each of these must end in a moment, with a result or with a limit. */
static void test_text__large_arguments_are_linear_or_refused(void **state)
{
    enum { MEGABYTE = 1 << 20 };
    struct arena mem;
    struct cel_eval ev = lib_eval(&mem);
    struct value big, half, v;

    (void)state;
    arena_init(&mem);
    big = lib_fill(&mem, 'a', MEGABYTE);
    half = lib_fill(&mem, 'a', MEGABYTE / 2);
    ((char *)(uintptr_t)half.text)[0] = 'b';

    v = library_call(&ev, cel_fn_last_index_of, (struct value[]){big, half}, 2);
    assert_int_equal(v.i, -1);
    v = library_call(&ev, cel_fn_index_of, (struct value[]){big, half}, 2);
    assert_int_equal(v.i, -1);
    v = library_call(&ev, cel_fn_replace, (struct value[]){big, S("a"), S("bc")}, 3);
    assert_int_equal(v.len, 2 * MEGABYTE);
    v = library_call(&ev, cel_fn_replace, (struct value[]){S("x"), S(""), big}, 3);
    assert_int_equal(v.len, 2 * MEGABYTE + 1);
    v = library_call(&ev, cel_fn_replace, (struct value[]){big, S(""), big}, 3);
    assert_int_equal(lib_error_code(v), ERR_LIMIT_EXPRESSION_COST);

    ev = lib_eval(&mem);
    ev.cost_left = INT64_MAX;
    v = library_call(&ev, cel_fn_replace, (struct value[]){big, S(""), big}, 3);
    assert_int_equal(lib_error_code(v), ERR_LIMIT_EXPRESSION_MEMORY);
    v = library_call(&ev, cel_fn_split, (struct value[]){lib_fill(&mem, 'a', 10 * MEGABYTE), S("")},
                     2);
    assert_int_equal(lib_error_code(v), ERR_LIMIT_EXPRESSION_MEMORY);
    v = library_call(&ev, cel_fn_split, (struct value[]){big, S("a")}, 2);
    assert_int_equal(v.len, MEGABYTE + 1);
    v = library_call(&ev, cel_fn_trim, (struct value[]){lib_fill(&mem, ' ', MEGABYTE)}, 1);
    assert_int_equal(v.len, 0);
    v = library_call(&ev, cel_fn_format, (struct value[]){S("%s%s%s"), L(big, big, big)}, 2);
    assert_int_equal(v.len, 3 * MEGABYTE);

    ev.mem_left = MEGABYTE;
    v = library_call(&ev, cel_fn_format, (struct value[]){S("%s%s"), L(big, big)}, 2);
    assert_int_equal(lib_error_code(v), ERR_LIMIT_EXPRESSION_MEMORY);
    v = library_call(&ev, cel_fn_join, (struct value[]){L(big, big), S("-")}, 2);
    assert_int_equal(lib_error_code(v), ERR_LIMIT_EXPRESSION_MEMORY);
    arena_fini(&mem);
}

/* With little left, every function answers one of the two limits and nothing else happens. */
static void test_text__limits_are_answered_by_every_function(void **state)
{
    struct arena mem;
    struct cel_eval ev = lib_eval(&mem);
    struct value big;

    (void)state;
    arena_init(&mem);
    big = lib_fill(&mem, '%', 10000);
    struct lib_case cases[] = {
        CASE("", contains, big, S("x")),
        CASE("", starts_with, big, big),
        CASE("", ends_with, big, big),
        CASE("", matches, big, S("x")),
        CASE("", char_at, big, I(1)),
        CASE("", index_of, big, S("x")),
        CASE("", last_index_of, big, S("x")),
        CASE("", substring, big, I(1)),
        CASE("", trim, big),
        CASE("", split, big, S("x")),
        CASE("", lower_ascii, big),
        CASE("", upper_ascii, big),
        CASE("", quote, big),
        CASE("", join, L(big, big)),
        CASE("", replace, big, S("%"), S("x")),
        CASE("", reverse, big),
        CASE("", format, big, NO_ITEMS),
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        ev.cost_left = 10;
        assert_int_equal(
            lib_error_code(library_call(&ev, cases[i].call, cases[i].args, cases[i].count)),
            ERR_LIMIT_EXPRESSION_COST);
    }
    for (size_t i = 9; i < ARRAY_SIZE(cases); i++) {
        ev.cost_left = INT64_MAX;
        ev.mem_left = 8;
        assert_int_equal(
            lib_error_code(library_call(&ev, cases[i].call, cases[i].args, cases[i].count)),
            ERR_LIMIT_EXPRESSION_MEMORY);
    }
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__positions_count_code_points),
        cmocka_unit_test(test_text__contains_and_the_ends),
        cmocka_unit_test(test_text__trim_knows_white_space_of_unicode),
        cmocka_unit_test(test_text__split_and_join),
        cmocka_unit_test(test_text__replace_as_often_as_told),
        cmocka_unit_test(test_text__case_quotes_and_reversal),
        cmocka_unit_test(test_format__clauses),
        cmocka_unit_test(test_format__text_of_every_kind),
        cmocka_unit_test(test_format__maps_are_in_the_order_of_their_keys),
        cmocka_unit_test(test_format__nesting_is_bounded),
        cmocka_unit_test(test_text__large_arguments_are_linear_or_refused),
        cmocka_unit_test(test_text__limits_are_answered_by_every_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
