/* test_check.c - what does not compile, and what is said about it where. */
#include "cel/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct expr x;

static int set_up(void **state)
{
    (void)state;
    expr_init(&x, CEL_DEFINITION);
    expr_bind(&x, "amount", "int", "5");
    expr_bind(&x, "name", "string", "\"Ada\"");
    expr_bind(&x, "input", "map(string, dyn)", "{\"a\": 1}");
    expr_bind(&x, "tags", "list(string)", "[\"x\"]");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    expr_fini(&x);
    return 0;
}

/* --- syntax --- */

static void test_syntax__each_kind_of_error_has_its_place(void **state)
{
    static const struct expr_case cases[] = {
        {"", "?1:1 expected a value, but found the end of the expression"},
        {"1 +", "?1:4 expected a value, but found the end of the expression"},
        {"1 2", "?1:3 expected an operator or the end of the expression, but found an integer"},
        {"(1", "?1:3 expected ')', but found the end of the expression: a '(' is not closed"},
        {"[1, 2",
         "?1:6 expected ',' or ']', but found the end of the expression: a '[' is not closed"},
        {"{1: 2",
         "?1:6 expected ',' or '}', but found the end of the expression: a '{' is not closed"},
        {"{1 2}", "?1:4 expected ':', but found an integer"},
        {"size(1",
         "?1:7 expected ',' or ')', but found the end of the expression: a '(' is not closed"},
        {"size(1,)", "?1:8 expected another argument, but found ')'"},
        {"true ? 1", "?1:9 expected ':', but found the end of the expression"},
        {"amount.", "?1:8 expected the name of a field, but found the end of the expression"},
        {"amount.1", "?1:7 expected an operator or the end of the expression, but found a number"},
        {"if", "?1:1 there is no 'if': write condition ? a : b"},
        {"1 = 1", "?1:3 '=' is not an operator; '==' compares"},
        {"true & true", "?1:6 '&' is not an operator; '&&' is 'and'"},
        {"true | true", "?1:6 '|' is not an operator; '||' is 'or'"},
        {"1 # 2", "?1:3 unexpected character '#'"},
        {"1 \xe2\x82\xac 2", "?1:3 unexpected character '\xe2\x82\xac'"},
        {"'abc", "?1:1 this string is not closed: it ends with another '"},
        {"'a\nb'", "?1:1 this string is not closed: it ends with another ', in the same line"},
        {"'''abc", "?1:1 this string is not closed: it ends with another '''"},
        {"'\\q'", "?1:2 this escape is not known"},
        {"'a\\x1'", "?1:3 this escape lacks digits"},
        {"'\\ud800'", "?1:2 this escape is not a Unicode character"},
        {"9223372036854775808", "?1:1 this integer is out of range"},
        {"-9223372036854775809", "?1:2 this integer is out of range"},
        {"18446744073709551616u", "?1:1 this integer is out of range"},
        {"input.`a*b`", "?1:7 a quoted name is `name`, of letters, digits and . - / _"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_syntax__macros_say_how_they_are_written(void **state)
{
    static const struct expr_case cases[] = {
        {"has(amount)", "?1:5 has() wants a field, as in has(a.b)"},
        {"has(tags[0])", "?1:9 has() wants a field, as in has(a.b)"},
        {"tags.map(1, 2)", "?1:10 map() wants the name of a variable here"},
        {"tags.map(x)", "?1:6 map() is written list.map(x, result)"},
        {"map(tags, x, x)", "?1:1 map() is written list.map(x, result)"},
        {"tags.all(x, x, true)", "?1:13 the two variables of all() must differ"},
        {"cel.bind(x, 1)", "?1:5 bind() is written cel.bind(x, value, result)"},
        {"cel.block(1, 2)", "?1:11 cel.block() wants a list that is written out"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_place__counts_lines_and_code_points(void **state)
{
    static const struct expr_case cases[] = {
        {"amount +\n  nmae", "?2:3 undeclared reference to 'nmae'; did you mean 'name'?"},
        {"'\xc3\xbc\xe2\x82\xac' + 1", "?1:6 no such overload: '+' does not work on string and "
                                       "int; string(x) makes text of a value"},
        {"'\xf0\x9f\x98\x80' == 'a' && )", "?1:15 expected a value, but found ')'"},
        {"// \xc3\xbc\n1 +\n\n  ]", "?4:3 expected a value, but found ']'"},
        {"1 +\r\n  ]", "?2:3 expected a value, but found ']'"},
        {"['\xc3\xbc',\n 1][\n  2]", "!2:4 index out of range: 2 of 2"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

/* --- types --- */

static void test_type__operands_that_do_not_fit(void **state)
{
    static const struct expr_case cases[] = {
        {"amount + name", "?1:8 no such overload: '+' does not work on int and string; write "
                          "string(amount)"},
        {"!amount", "?1:1 no such overload: '!' does not work on int"},
        {"-name", "?1:1 no such overload: '-' does not work on string"},
        {"amount && true", "?1:1 no such overload: a bool is needed here, not int"},
        {"amount ? 1 : 2", "?1:1 no such overload: a bool is needed here, not int"},
        {"tags.all(t, size(t))", "?1:13 no such overload: a bool is needed here, not int"},
        {"amount.map(x, x)", "?1:8 no such overload: int is neither a list nor a map"},
        {"name.first", "?1:6 string has no field 'first': write x[0]"},
        {"tags['x']", "?1:5 no such overload: '[]' does not work on list(string) and string"},
        {"size(amount)", "?1:1 no such overload: size(int); it takes (string), (bytes), "
                         "(list(dyn)) or (map(dyn, dyn))"},
        {"name.charAt('1')", "?1:6 no such overload: charAt(string, string); it takes (string, "
                             "int)"},
        {"{1.5: 2}", "?1:2 a key is a string, int, uint or bool, not double"},
        {"[?amount]", "?1:3 an optional is needed behind '?', not int"},
        {"amount < name", "?1:8 no such overload: '<' does not work on int and string; write "
                          "int(name)"},
        {"tags < tags",
         "?1:6 no such overload: '<' does not work on list(string) and list(string)"},
        {"name.matches('(')", "?1:14 not a usable pattern: missing ): ("},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_type__a_comparison_that_can_never_be_true_is_refused(void **state)
{
    static const struct expr_case cases[] = {
        {"amount == 'x'", "?1:8 no such overload: '==' does not work on int and string"},
        {"amount != null", "?1:8 no such overload: '!=' does not work on int and null"},
        {"1 in tags", "?1:3 no such overload: 'in' does not work on int and list(string)"},
        {"tags == 'x'", "?1:6 no such overload: '==' does not work on list(string) and string"},
        {"input.a == 'x'", "false"},
        {"input.a == 1.0", "true"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_hint__names_what_is_near(void **state)
{
    static const struct expr_case cases[] = {
        {"amuont", "?1:1 undeclared reference to 'amuont'; did you mean 'amount'?"},
        {"$.amuont", "?1:3 undeclared reference to 'amuont'; did you mean 'amount'?"},
        {"tags.map(item, itm)", "?1:16 undeclared reference to 'itm'; did you mean 'item'?"},
        {"name.startWith('A')", "?1:6 undeclared function 'startWith'; did you mean 'startsWith'?"},
        {"math.abbs(1)", "?1:6 undeclared function 'math.abbs'; did you mean 'math.abs'?"},
        {"contains(name, 'A')", "?1:1 undeclared function 'contains'; call it as a method: x.f()"},
        {"name.int()", "?1:6 undeclared function 'int'; call it as a function: f(x)"},
        {"qqqqq", "?1:1 undeclared reference to 'qqqqq'"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_type__of_a_program_is_what_the_checker_found(void **state)
{
    static const struct expr_case cases[] = {
        {"amount + 1", "int"},
        {"amount * 0.5", "double"},
        {"tags.map(t, size(t))", "list(int)"},
        {"{'a': [amount]}", "map(string, list(int))"},
        {"[1, 'a']", "list(dyn)"},
        {"input.a", "dyn"},
        {"input.?a", "optional_type(dyn)"},
        {"true ? 1 : 'a'", "dyn"},
        {"[]", "list(dyn)"},
        {"type(1)", "type(int)"},
        {"tags.first()", "optional_type(string)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct cel_program *p = expr_compile(&x, AS_EXPRESSION, cases[i].source);
        if (!str_eq(cel_program_type(p), str_of(cases[i].outcome)))
            fail_msg("%s is %.*s", cases[i].source, STR_ARG(cel_program_type(p)));
    }
}

/* Left to evaluation, a call with too few arguments must not look for more. */
static void test_unchecked__a_wrong_number_of_arguments_fails(void **state)
{
    static const char *const sources[] = {
        "size()",        "'a'.orValue()",   "[1].or()",    "'a'.charAt()",   "int()",
        "'a'.matches()", "math.greatest()", "timestamp()", "'a'.size(1, 2)", "optional.of()",
    };
    const struct cel_options options = {.without_check = true};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
        const struct cel_program *p;
        struct err err;
        struct value v;

        assert_true(cel_compile(&x.mem, x.env, str_of(sources[i]), &options, &p, &err));
        v = cel_evaluate(&x.mem, p, &x.activation, NULL);
        assert_int_equal(v.kind, VALUE_ERROR);
        assert_non_null(strstr(v.error->message, "no such overload"));
    }
}

static void test_pattern__too_large_is_a_limit(void **state)
{
    char source[10000] = "name.matches('";
    const struct cel_program *p;
    size_t len = strlen(source);
    struct err err;

    (void)state;
    memset(source + len, 'a', sizeof(source) - len - 3);
    memcpy(source + sizeof(source) - 3, "')", 3);
    assert_false(cel_compile(&x.mem, x.env, str_of(source), NULL, &p, &err));
    assert_int_equal(err.code, ERR_LIMIT_EXPRESSION_SIZE);
    assert_int_equal(err.column, 14);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_syntax__each_kind_of_error_has_its_place),
        TEST(test_syntax__macros_say_how_they_are_written),
        TEST(test_place__counts_lines_and_code_points),
        TEST(test_type__operands_that_do_not_fit),
        TEST(test_type__a_comparison_that_can_never_be_true_is_refused),
        TEST(test_hint__names_what_is_near),
        TEST(test_type__of_a_program_is_what_the_checker_found),
        TEST(test_pattern__too_large_is_a_limit),
        TEST(test_unchecked__a_wrong_number_of_arguments_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
