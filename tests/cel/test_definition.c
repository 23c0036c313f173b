/* test_definition.c - what definitions have beyond the CEL specification. */
#include "cel/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct expr x;

static int set_up(void **state)
{
    (void)state;
    expr_init(&x, CEL_DEFINITION);
    expr_bind(&x, "input", "dyn",
              "{\"amount\": 5, \"rate\": 0.5, \"none\": null, \"list\": [3, 1, 2], \"a.b\": 7}");
    expr_bind(&x, "count", "int", "4");
    expr_bind(&x, "unset", "int", NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    expr_fini(&x);
    return 0;
}

/* --- $ --- */

static void test_root__is_the_whole_context(void **state)
{
    static const struct expr_case cases[] = {
        {"$.input.amount", "5"},
        {"$.input.amount == input.amount", "true"},
        {"$.count + count", "8"},
        {"$['count']", "4"},
        {"$['in' + 'put'].amount", "5"},
        {"'input' in $", "true"},
        {"'unset' in $", "false"},
        {"has($.count)", "true"},
        {"has($.unset)", "false"},
        {"$.?unset.hasValue()", "false"},
        {"$.?count.orValue(0)", "4"},
        {"$.unset", "!1:3 no such attribute: 'unset' has no value"},
        {"size($)", "2"},
        {"$.input.`a.b`", "7"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_root__has_a_member_of_a_name_that_is_reserved_elsewhere(void **state)
{
    static const struct expr_case cases[] = {
        {"loop.index", "3"},
        {"$.loop.index == loop.index", "true"},
        {"while", "?1:1 'while' is a reserved word, not a name"},
    };
    struct expr strict;

    (void)state;
    expr_bind(&x, "loop", "dyn", "{\"index\": 3}");
    EXPR_RUN(&x, AS_EXPRESSION, cases);
    expr_init(&strict, CEL_STRICT);
    expr_bind(&strict, "loop", "dyn", "1");
    EXPR_RUN(&strict, AS_EXPRESSION,
             ((const struct expr_case[]){{"loop", "?1:1 'loop' is a reserved word, not a name"}}));
    expr_fini(&strict);
}

static void test_root__given_as_a_value_is_used_as_it_is(void **state)
{
    static const struct expr_case cases[] = {
        {"$", "{\"other\": 9}"},
        {"$['oth' + 'er']", "9"},
        {"$.count", "4"},
    };
    struct value_entry entry = {.key = value_key(STR("other")), .value = value_int(9)};
    size_t duplicate;

    (void)state;
    x.activation.root = value_map_make(&x.mem, &entry, 1, &duplicate);
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_root__closed_refuses_what_is_not_declared(void **state)
{
    static const struct expr_case cases[] = {
        {"$.cuont", "?1:3 undeclared reference to 'cuont'; did you mean 'count'?"},
        {"has($.nothing)", "?1:7 undeclared reference to 'nothing'"},
        {"nothing", "?1:1 undeclared reference to 'nothing'"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_root__open_looks_it_up_when_evaluated(void **state)
{
    static const struct expr_case cases[] = {
        {"$.nothing", "!1:3 no such key: 'nothing'"
                      "; has(a.b) and a.?b ask whether there is one"},
        {"has($.nothing)", "false"},
        {"$.?nothing.orValue(1)", "1"},
        {"nothing", "?1:1 undeclared reference to 'nothing'"},
    };

    (void)state;
    cel_env_open_root(x.env);
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_root__is_never_shadowed_by_a_local(void **state)
{
    static const struct expr_case cases[] = {
        {"[1, 2].map(count, $.count)", "[4, 4]"},
        {"[1, 2].map(count, count)", "[1, 2]"},
        {"[1].map(input, $.input.amount)", "[5]"},
        {"cel.bind(count, 1, $.count + count)", "5"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_root__strict_mode_does_not_know_it(void **state)
{
    static const struct expr_case cases[] = {
        {"$", "?1:1 unexpected character '$'"},
        {"{{ 1 }}", "?1:6 expected ':', but found '}'"},
    };
    struct expr strict;

    (void)state;
    expr_init(&strict, CEL_STRICT);
    EXPR_RUN(&strict, AS_EXPRESSION, cases);
    expr_fini(&strict);
}

/* --- dotted variables --- */

static void test_dotted__the_longest_declared_name_wins(void **state)
{
    static const struct expr_case cases[] = {
        {"steps.pay", "{\"id\": 1, \"output\": {\"id\": 2}}"},
        {"steps.pay.id", "1"},
        {"steps.pay.output.id", "3"},
        {"$.steps.pay.output.id", "3"},
        {"steps.pay.output", "{\"id\": 2}"},
        {"has(steps.pay)", "true"},
        {"has($.steps.pay)", "true"},
        {"has(steps.ship)", "false"},
        {"steps.ship", "!1:7 no such attribute: 'steps.ship' has no value"},
        {"[{'pay': {'id': 8}}].map(steps, steps.pay.id)", "[8]"},
        {"[1].map(steps, $.steps.pay.id)", "[1]"},
        {"$.`steps.pay`", "?1:3 undeclared reference to '`steps.pay`'; did you mean 'steps.pay'?"},
    };

    (void)state;
    expr_bind(&x, "steps.pay", "dyn", "{\"id\": 1, \"output\": {\"id\": 2}}");
    expr_bind(&x, "steps.pay.output.id", "int", "3");
    expr_bind(&x, "steps.ship", "dyn", NULL);
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_dotted__an_unknown_name_below_a_beginning_is_refused(void **state)
{
    static const struct expr_case cases[] = {
        {"steps.pya", "?1:7 undeclared reference to 'steps.pya'; did you mean 'steps.pay'?"},
        {"$.steps.pya", "?1:9 undeclared reference to 'steps.pya'; did you mean 'steps.pay'?"},
        {"steps.pya.id", "?1:7 undeclared reference to 'steps.pya'; did you mean 'steps.pay'?"},
        {"has(steps.pya)", "?1:11 undeclared reference to 'steps.pya'; did you mean 'steps.pay'?"},
    };

    (void)state;
    expr_bind(&x, "steps.pay", "dyn", "{\"id\": 1}");
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_dotted__the_beginning_of_names_is_a_field_of_the_root(void **state)
{
    static const struct expr_case cases[] = {
        {"steps", "{\"pay\": 1}"},      {"$.steps", "{\"pay\": 1}"}, {"steps['pay']", "1"},
        {"steps.?pay.orValue(0)", "1"}, {"size(steps)", "1"},
    };

    (void)state;
    expr_bind(&x, "steps.pay", "int", "1");
    expr_bind(&x, "all", "dyn", "{\"steps\": {\"pay\": 1}}");
    x.activation.root = x.slots[4];
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

/* --- numbers --- */

static void test_numbers__int_and_double_mix(void **state)
{
    static const struct expr_case cases[] = {
        {"1 + 0.5", "1.5"},
        {"0.5 - 1", "-0.5"},
        {"2 * 1.5", "3.0"},
        {"1 / 4.0", "0.25"},
        {"1 / 4", "0"},
        {"input.amount * input.rate", "2.5"},
        {"count * 0.25", "1.0"},
        {"1 == 1.0", "true"},
        {"1 < 1.5", "true"},
        {"1u < 2", "true"},
        {"1 in [1.0, 2.0]", "true"},
        {"[1, 2.5].sum()", "3.5"},
        {"5 % 2.0", "?1:3 no such overload: '%' does not work on int and double"},
        {"1u + 1", "?1:4 no such overload: '+' does not work on uint and int"},
        {"9223372036854775807 + 1", "!1:21 overflow: the result does not fit an int"},
        {"math.round(5)", "5.0"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

/* --- null, optionals --- */

static void test_hints__words_of_other_languages_are_told(void **state)
{
    static const struct expr_case cases[] = {
        {"count > 1 and count < 3", "?1:11 'and' is no operator; did you mean '&&'?"},
        {"not input", "?1:1 'not' is no operator; did you mean '!'?"},
        {"input or count", "?1:7 'or' is no operator; did you mean '||'?"},
        {"len(input.list)", "?1:1 undeclared function 'len'; did you mean 'size'?"},
        {"'a'.toUpperCase()", "?1:5 undeclared function 'toUpperCase'; did you mean 'upperAscii'?"},
        {"now()", "?1:1 undeclared function 'now'; did you mean '$.now'?"},
        {"input count", "?1:7 expected an operator or the end of the expression, but found a name"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_optional__a_field_of_null_is_none(void **state)
{
    static const struct expr_case cases[] = {
        {"input.none.?id", "optional.none()"},
        {"input.none[?'id']", "optional.none()"},
        {"input.none[?0].orValue(7)", "7"},
        {"input.?none.?id.orValue(7)", "7"},
        {"input.?nothing.?id.orValue(7)", "7"},
        {"input.?amount.orValue(7)", "5"},
        {"input.none.id", "!1:12 no such field: 'id' of null"},
        {"null.?id.hasValue()", "false"},
        {"null[?'id'].hasValue()", "false"},
        {"{'a': null}.?a.?id.orValue(7)", "7"},
        {"{'a': null}.?a.id.orValue(7)", "7"},
        {"null.id", "?1:6 null has no fields, so it has no 'id'"},
        {"input.amount.?id", "!1:15 no such field: int has no fields, so it has no 'id'"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_ternary__may_have_two_types(void **state)
{
    static const struct expr_case cases[] = {
        {"count > 3 ? 'many' : 0", "\"many\""},
        {"count > 5 ? 'many' : 0", "0"},
        {"(count > 3 ? 'many' : 0) == 'many'", "true"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

/* --- time --- */

static void test_time__grammar_of_definitions(void **state)
{
    static const struct expr_case cases[] = {
        {"duration('7d')", "duration(\"604800s\")"},
        {"duration('1h30m')", "duration(\"5400s\")"},
        {"timestamp('2026-01-31')", "timestamp(\"2026-01-31T00:00:00Z\")"},
        {"timestamp(timestamp('2026-01-31'))", "timestamp(\"2026-01-31T00:00:00Z\")"},
        {"timestamp('2026-01-31') + duration('1d')", "timestamp(\"2026-02-01T00:00:00Z\")"},
        {"timestamp('2026-02-01') - timestamp('2026-01-31')", "duration(\"86400s\")"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_date__functions(void **state)
{
    static const struct expr_case cases[] = {
        {"date.add(timestamp('2026-01-31'), 1, 'month')", "timestamp(\"2026-02-28T00:00:00Z\")"},
        {"date.add('2026-01-30', 1, 'business_day')", "timestamp(\"2026-02-02T00:00:00Z\")"},
        {"date.startOf('2026-05-17T11:30:00Z', 'month')", "timestamp(\"2026-05-01T00:00:00Z\")"},
        {"date.format('2026-05-17T22:30:00Z', 'dd.MM.yyyy', 'Europe/Berlin')", "\"18.05.2026\""},
        {"date.diff('2026-05-01', '2026-05-17', 'day')", "16"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

/* --- lists --- */

static void test_list__methods(void **state)
{
    static const struct expr_case cases[] = {
        {"input.list.sort()", "[1, 2, 3]"},
        {"[1, 1.0, 2, 1].distinct()", "[1, 2]"},
        {"[[1], [2, [3]]].flatten()", "[1, 2, [3]]"},
        {"input.list.slice(1, 3)", "[1, 2]"},
        {"input.list.sum()", "6"},
        {"input.list.sortBy(n, -n)", "[3, 2, 1]"},
        {"[{'p': 2}, {'p': 1}].sortBy(i, i.p).map(i, i.p)", "[1, 2]"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

/* --- {{ }} in an expression --- */

static void test_braces__are_parentheses_in_an_expression(void **state)
{
    static const struct expr_case cases[] = {
        {"{{ 1 + 2 }} * 3", "9"},
        {"2 * {{ 1 + 2 }}", "6"},
        {"{{ input.amount }} > 3", "true"},
        {"{{ {'a': {'b': 1}}.a.b }}", "1"},
        {"{{ {{ 1 }} }}", "1"},
        {"{'a': {'b': 1}}", "{\"a\": {\"b\": 1}}"},
        {"'{{ count }}'", "\"{{ count }}\""},
        {"{{ 1", "?1:5 expected '}}', but found the end of the expression: a '{{' is not closed"},
        {"{{ 1 } }", "?1:6 expected '}}', but found '}'"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_root__is_the_whole_context),
        TEST(test_root__has_a_member_of_a_name_that_is_reserved_elsewhere),
        TEST(test_root__given_as_a_value_is_used_as_it_is),
        TEST(test_root__closed_refuses_what_is_not_declared),
        TEST(test_root__open_looks_it_up_when_evaluated),
        TEST(test_root__is_never_shadowed_by_a_local),
        TEST(test_root__strict_mode_does_not_know_it),
        TEST(test_dotted__the_longest_declared_name_wins),
        TEST(test_dotted__an_unknown_name_below_a_beginning_is_refused),
        TEST(test_dotted__the_beginning_of_names_is_a_field_of_the_root),
        TEST(test_numbers__int_and_double_mix),
        TEST(test_hints__words_of_other_languages_are_told),
        TEST(test_optional__a_field_of_null_is_none),
        TEST(test_ternary__may_have_two_types),
        TEST(test_time__grammar_of_definitions),
        TEST(test_date__functions),
        TEST(test_list__methods),
        TEST(test_braces__are_parentheses_in_an_expression),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
