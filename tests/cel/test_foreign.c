/* Tests of foreign.h: what people of other languages write, and what the message leads to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cel/expr.h"
#include "cel/syntax/foreign.h"

static struct expr x;

static int set_up(void **state)
{
    (void)state;
    expr_init(&x, CEL_DEFINITION);
    expr_bind(&x, "input", "map(string, dyn)",
              "{\"a\": 1, \"items\": [1, 2], \"name\": \"n\", \"customer\": \"Ada\"}");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    expr_fini(&x);
    return 0;
}

static void test_foreign__syntax_of_other_languages_is_named(void **state)
{
    static const struct expr_case cases[] = {
        {"input?.b", "?1:6 a field that may be missing is written a.?b, not a?.b"},
        {"input.a ?\?\"x\"", "?1:9 there is no '?\?' operator: write a.?b.orValue(\"x\")"},
        {"input.items.map(i => i.count)",
         "?1:19 there are no arrow functions: write list.map(i, i.count)"},
        {"input.a === 1", "?1:9 '===' is not an operator; '==' compares"},
        {"input.a !== 1", "?1:9 '!==' is not an operator; '!=' tells what differs"},
        {"input.a <> 1", "?1:9 '<>' is not an operator; '!=' tells what differs"},
        {"input.a is 1", "?1:9 'is' is not an operator; '==' compares"},
        {"if (true) 1 else 2", "?1:1 there is no 'if': write condition ? a : b"},
        {"let x = 1", "?1:1 there is no 'let': write cel.bind(x, value, expression with x)"},
        {"input.a in (\"a\", \"b\")", "?1:9 a list stands in brackets: x in [\"a\", \"b\"]"},
        {"input.name like \"x%\"", "?1:12 'like' is not an operator: write name.matches(\"^x\") "
                                   "or name.contains(\"x\")"},
        {"input.a mod 2", "?1:9 'mod' is not an operator; '%' is the remainder"},
        {"input.a ** 2", "?1:9 '**' is not an operator: multiply with '*'; there are no powers"},
        {"input.a ^ 2", "?1:9 '^' is not an operator: multiply with '*'; math.bitXor(a, b) is "
                        "exclusive or"},
        {"\xe2\x80\x9c"
         "a\xe2\x80\x9d",
         "?1:1 curly quotes are no quotes here: write \"text\" with straight ones"},
        {"`Order ${input.a}`", "?1:8 an expression within a text is written {{ x }}, not ${x}"},
        /* Inside a text it is only text, and what parses is nobody's mistake. */
        {"\"a ?? b => c\" +", "?1:16 expected a value, but found the end of the expression"},
        {"\"a === b\"", "\"a === b\""},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_foreign__names_of_other_languages_lead_to_ours(void **state)
{
    static const struct expr_case cases[] = {
        {"True", "?1:1 undeclared reference to 'True': true is written with a small letter"},
        {"None", "?1:1 undeclared reference to 'None': nothing is written null"},
        {"nil", "?1:1 undeclared reference to 'nil': nothing is written null"},
        {"undefined", "?1:1 undeclared reference to 'undefined': whether something exists is "
                      "has(a.b); nothing is written null"},
        {"Math.max(1, 2)", "?1:6 undeclared function 'max': write math.greatest(a, b)"},
        {"parseInt(\"1\")", "?1:1 undeclared function 'parseInt': write int(x)"},
        {"Number(\"1\")", "?1:1 undeclared function 'Number': write int(x) or double(x)"},
        {"isEmpty(input.items)", "?1:1 undeclared function 'isEmpty': write size(x) == 0"},
        {"concat(\"a\", \"b\")",
         "?1:1 undeclared function 'concat': write a + b, or [a, b].join()"},
        {"input.name.equals(\"x\")", "?1:12 undeclared function 'equals': write a == b"},
        {"today()", "?1:1 undeclared function 'today': write date.startOf($.now, \"day\")"},
        {"input.name.includes(\"x\")",
         "?1:12 undeclared function 'includes': write \"x\" in list, or text.contains(\"x\")"},
        {"input.items.some(i, i > 1)", "?1:13 undeclared function 'some'; did you mean 'exists'?"},
        {"[1].length", "?1:5 list(int) has no field 'length': write size(x)"},
        {"input.items.length", "!1:13 no such field: list has no 'length': write size(x)"},
        {"input.items.count", "!1:13 no such field: list has no 'count': write size(x)"},
        {"[1].contains(\"x\")", "?1:5 a list has no contains(): write \"x\" in list"},
        {"input.items.contains(\"x\")",
         "!1:13 no such overload: a list has no contains(): write \"x\" in list"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_foreign__what_goes_wrong_says_what_to_write(void **state)
{
    static const struct expr_case cases[] = {
        {"input.coupon == null",
         "!1:7 no such key: 'coupon'; has(a.b) and a.?b ask whether there is one"},
        {"input.customr", "!1:7 no such key: 'customr'; did you mean 'customer'?"},
        {"\"a\" + 1", "?1:5 no such overload: '+' does not work on string and int; string(x) makes "
                      "text of a value"},
        {"1 < input.a < 5", "?1:13 comparisons do not chain: write 1 < x && x < 5, not 1 < x < 5"},
        {"\"%s\".format([1, 2])",
         "?1:17 format() is given 2 values and the text has room for 1: write another %s in it, or "
         "leave this one out"},
        {"\"100%% of %s\".format([input.a])", "\"100% of 1\""},
        {"\"%s\".format([1, 2].slice(0, 1))", "\"1\""},
        {"timestamp(\"2024-01-01T00:00:00\")",
         "!1:1 timestamp: \"2024-01-01T00:00:00\" lacks a time zone: write "
         "\"2024-01-01T00:00:00Z\" for UTC, or +02:00"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

/* The grammar, conversions and ranges are those of the specification. */
static void test_foreign__the_specification_decides(void **state)
{
    static const struct expr_case cases[] = {
        {"[,]", "[]"},
        {"{,}", "{}"},
        {"[,1]", "?1:3 expected an item before ',', but found an integer"},
        {"!-1", "?1:2 expected a value, but found '-'"},
        {"-!true", "?1:2 expected a value, but found '!'"},
        {"!!true", "true"},
        {"br'a\\n'", "b\"a\\x5cn\""},
        {"rb'a'", "?1:3 expected an operator or the end of the expression, but found a string"},
        {"int(\"+5\") + int(uint(\"+5\"))", "10"},
        {"int(\"+\")", "!1:1 type conversion error: '+' is not an int"},
        {"int(\"+-5\")", "!1:1 type conversion error: '+-5' is not an int"},
        {"\"%s\".format([b\"a\\xffb\"])", "\"a\xef\xbf\xbd"
                                          "b\""},
        {"(timestamp(\"9999-12-31\") - timestamp(\"2026-01-01\")) > duration(\"7000000h\")",
         "true"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_foreign__long_sources_are_left_alone(void **state)
{
    static char source[5000];
    uint32_t at;

    (void)state;
    memset(source, ' ', sizeof(source));
    memcpy(source, "a ?? b", 6);
    assert_null(foreign_syntax(str_from(source, sizeof(source)), 2, &at));
    assert_non_null(foreign_syntax(str_from(source, 100), 2, &at));
    assert_int_equal(at, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign__syntax_of_other_languages_is_named),
        cmocka_unit_test(test_foreign__names_of_other_languages_lead_to_ours),
        cmocka_unit_test(test_foreign__what_goes_wrong_says_what_to_write),
        cmocka_unit_test(test_foreign__the_specification_decides),
        cmocka_unit_test(test_foreign__long_sources_are_left_alone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
