/* test_template.c - text with expressions in it, and where a definition wants a value. */
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
              "{\"id\": 7, \"name\": \"Ada\", \"rate\": 2.0, \"ok\": true, \"none\": null, "
              "\"list\": [1, \"a\", null], \"map\": {\"k\": {\"n\": 1}}, "
              "\"sly\": \"{{ input.id }}\"}");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    expr_fini(&x);
    return 0;
}

static void test_template__alone_keeps_its_type(void **state)
{
    static const struct expr_case cases[] = {
        {"{{ input.id }}", "7"},
        {"{{input.id}}", "7"},
        {"{{ input.list }}", "[1, \"a\", null]"},
        {"{{ input.none }}", "null"},
        {"{{ input.ok }}", "true"},
        {"{{ duration('1h') }}", "duration(\"3600s\")"},
        {" {{ input.id }}", "\" 7\""},
    };

    (void)state;
    EXPR_RUN(&x, AS_VALUE, cases);
}

static void test_template__parts_are_joined_as_text(void **state)
{
    static const struct expr_case cases[] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"Order {{ input.id }} of {{ input.name }}", "\"Order 7 of Ada\""},
        {"{{ input.id }}{{ input.name }}", "\"7Ada\""},
        {"x{{ input.ok }}", "\"xtrue\""},
        {"x{{ input.rate }}", "\"x2\""},
        {"x{{ duration('90m') }}", "\"x5400s\""},
        {"x{{ timestamp('2026-01-31') }}", "\"x2026-01-31T00:00:00Z\""},
        {"x{{ b'abc' }}", "\"xabc\""},
        {"x{{ input.list }}", "\"x[1,\\\"a\\\",null]\""},
        {"x{{ input.map }}", "\"x{\\\"k\\\":{\\\"n\\\":1}}\""},
        {"x{{ input.?id }}", "\"x7\""},
        {"Gr\xc3\xbc\xc3\x9f"
         "e {{ 'S\xc3\xb8ren' }}",
         "\"Gr\xc3\xbc\xc3\x9f"
         "e S\xc3\xb8ren\""},
    };

    (void)state;
    EXPR_RUN(&x, AS_VALUE, cases);
}

static void test_template__null_and_missing_parts_fail_at_their_place(void **state)
{
    static const struct expr_case cases[] = {
        {"a {{ input.id }} b {{ input.none }}",
         "!1:29 this part of the template is missing or null"},
        {"a {{ input.?nothing }}", "!1:13 this part of the template is missing or null"},
        {"a {{ input.nothing }}",
         "!1:12 no such key: 'nothing'; has(a.b) and a.?b ask whether there is one"},
        {"a\n{{ input.id }}\n{{ input.nothing }}",
         "!3:10 no such key: 'nothing'; has(a.b) and a.?b ask whether there is one"},
        {"a {{ [double('nan')] }}", "!1:6 NaN cannot be written as JSON, at /0"},
        {"a {{ int }}", "!1:6 no such overload: string(type)"},
    };

    (void)state;
    EXPR_RUN(&x, AS_VALUE, cases);
}

static void test_template__ends_where_the_expression_ends(void **state)
{
    static const struct expr_case cases[] = {
        {"{{ '}}' }}", "\"}}\""},
        {"{{ \"}}\" + '}}' }}.", "\"}}}}.\""},
        {"{{ {'a': {'b': 1}} }}", "{\"a\": {\"b\": 1}}"},
        {"{{{'a': {'b': 1}}}}", "{\"a\": {\"b\": 1}}"},
        {"{{ {'a': {'b': 1}}.a.b }}!", "\"1!\""},
        {"{{ 1 // }}\n }}", "1"},
        {"{{ {{ input.id }} + 1 }}", "8"},
        {"a }} b", "\"a }} b\""},
        {"a { b } c", "\"a { b } c\""},
    };

    (void)state;
    EXPR_RUN(&x, AS_VALUE, cases);
}

static void test_template__four_braces_are_two(void **state)
{
    static const struct expr_case cases[] = {
        {"{{{{", "\"{{\""},
        {"{{{{ input.id }}", "\"{{ input.id }}\""},
        {"a{{{{b{{ input.id }}", "\"a{{b7\""},
        {"{{{{{{ input.id }}", "\"{{7\""},
    };

    (void)state;
    EXPR_RUN(&x, AS_VALUE, cases);
}

static void test_template__results_are_not_expanded_again(void **state)
{
    static const struct expr_case cases[] = {
        {"{{ input.sly }}", "\"{{ input.id }}\""},
        {"x {{ input.sly }}", "\"x {{ input.id }}\""},
        {"{{ '{' }}{{ '{ input.id }}' }}", "\"{{ input.id }}\""},
    };

    (void)state;
    EXPR_RUN(&x, AS_VALUE, cases);
}

static void test_template__errors_have_a_place_in_the_whole_text(void **state)
{
    static const struct expr_case cases[] = {
        {"Hello {{ }}", "?1:10 expected a value, but found '}'"},
        {"Hello {{ input.id",
         "?1:18 expected '}}', but found the end of the expression: a '{{' is not closed"},
        {"Hello {{ input.id }", "?1:19 expected '}}', but found '}'"},
        {"Hello {{ inptu.id }}", "?1:10 undeclared reference to 'inptu'; did you mean 'input'?"},
        {"\xc3\xbc\n{{ 1 + 'a' }}", "?2:6 no such overload: '+' does not work on int and string; "
                                    "string(x) makes text of a value"},
    };

    (void)state;
    EXPR_RUN(&x, AS_VALUE, cases);
}

/* --- value positions --- */

static void test_value__what_a_string_in_a_definition_means(void **state)
{
    static const struct expr_case cases[] = {
        {"$.input.id", "7"},
        {"$.input.id + 1", "8"},
        {"=input.id * 2", "14"},
        {"=$",
         "{\"input\": {\"id\": 7, \"name\": \"Ada\", \"rate\": 2.0, \"ok\": true, \"none\": null, "
         "\"list\": [1, \"a\", null], \"map\": {\"k\": {\"n\": 1}}, \"sly\": \"{{ input.id "
         "}}\"}}"},
        {"=$.input.id == 7", "true"},
        {"\"manager@company.com\"", "\"manager@company.com\""},
        {"\"a\\tb\"", "\"a\\x09b\""},
        {"\"\"", "\"\""},
        {"\"{{ input.id }}\"", "\"{{ input.id }}\""},
        {"\"a\" + \"b\"", "\"\\\"a\\\" + \\\"b\\\"\""},
        {"\"a", "\"\\\"a\""},
        {"'a'", "\"'a'\""},
        {"Order {{ input.id }}", "\"Order 7\""},
        {"{{ input.id }}", "7"},
        {"$", "\"$\""},
        {"$100", "\"$100\""},
        {" $.input.id", "\" $.input.id\""},
        {"input.id", "\"input.id\""},
        {"7", "\"7\""},
        {"", "\"\""},
        {"=", "?1:2 expected a value, but found the end of the expression"},
        {"=1 +", "?1:5 expected a value, but found the end of the expression"},
        {"=input.nothing",
         "!1:8 no such key: 'nothing'; has(a.b) and a.?b ask whether there is one"},
        {"$.", "?1:3 expected the name of a field, but found the end of the expression"},
        {"\"\\q\"", "?1:2 this escape is not known"},
    };

    (void)state;
    EXPR_RUN(&x, AS_VALUE, cases);
}

static void test_value__text_without_expressions_is_a_constant(void **state)
{
    static const char *const texts[] = {"", "plain text", "$100", "\"quoted\"", "{{{{", "=1 + 2"};
    struct value v;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_true(cel_program_is_constant(expr_compile(&x, AS_VALUE, texts[i]), &v));
    assert_false(cel_program_is_constant(expr_compile(&x, AS_VALUE, "$.input"), &v));
}

static void test_text__is_text_whatever_its_parts_are(void **state)
{
    static const struct expr_case cases[] = {
        {"", "\"\""},
        {"{{ input.id }}", "\"7\""},
        {"{{ input.map }}", "\"{\\\"k\\\":{\\\"n\\\":1}}\""},
        {"a <b> {{ input.name }}", "\"a <b> Ada\""},
        {"{{ input.none }}", "!1:10 this part of the template is missing or null"},
    };

    (void)state;
    EXPR_RUN(&x, AS_TEXT, cases);
}

static void test_html__what_expressions_give_is_escaped(void **state)
{
    static const struct expr_case cases[] = {
        {"<p>{{ '<b> & \"x\"' }}</p>", "\"<p>&lt;b&gt; &amp; &quot;x&quot;</p>\""},
        {"{{ \"it's\" }}", "\"it&#39;s\""},
        {"{{ input.id }}", "\"7\""},
        {"{{ input.list }}", "\"[1,&quot;a&quot;,null]\""},
        {"<i>{{ input.none }}", "!1:13 this part of the template is missing or null"},
        {"{{ input.nme",
         "?1:13 expected '}}', but found the end of the expression: a '{{' is not closed"},
    };

    (void)state;
    EXPR_RUN(&x, AS_HTML, cases);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* What could change where a URL leads. */
static void bind_url_values(void)
{
    expr_bind(&x, "u", "dyn",
              "{\"dot\": \".\", \"dots\": \"..\", \"empty\": \"\", "
              "\"base\": \"https://erp.example/v1\", \"bad\": \"a/../b?x=1&y#z %\", "
              "\"host\": \".evil.example\", \"name2\": \"erp.example\", \"path\": \"/a/b?c=d\"}");
}

static void test_template__values_in_a_url_add_nothing_to_it(void **state)
{
    static const struct expr_case cases[] = {
        {"https://erp.example/orders/{{ input.id }}", "\"https://erp.example/orders/7\""},
        {"https://erp.example/{{ u.bad }}/x",
         "\"https://erp.example/a%2F..%2Fb%3Fx%3D1%26y%23z%20%25/x\""},
        {"https://erp.example/?q={{ u.bad }}",
         "\"https://erp.example/?q=a%2F..%2Fb%3Fx%3D1%26y%23z%20%25\""},
        {"https://erp.example/{{ 'a/b' }}", "\"https://erp.example/a%2Fb\""},
        {"https://erp.example/{{ 'S\xc3\xb8' }}", "\"https://erp.example/S%C3%B8\""},
        {"https://erp.example/{{ input.list }}",
         "\"https://erp.example/%5B1%2C%22a%22%2Cnull%5D\""},
        {"https://erp.example/x{{ u.dots }}", "\"https://erp.example/x..\""},
        {"https://erp.example/?{{ u.dots }}", "\"https://erp.example/?..\""},
        {"https://erp.example/#/{{ u.dots }}", "\"https://erp.example/#/..\""},
        {"https://{{ u.name2 }}/a", "\"https://erp.example/a\""},
        {"https://{{ input.name }}.erp.example/a", "\"https://Ada.erp.example/a\""},
        {"https://erp.{{ u.name2 }}/a", "\"https://erp.erp.example/a\""},
        {"https://erp-{{ input.id }}:8080/a", "\"https://erp-7:8080/a\""},
        {"https://erp.example{{ u.bad }}",
         "!1:1 a value with a '.' goes on with the name of the host: it would be another host"},
        {"https://erp.example/{{ input.none }}",
         "!1:30 this part of the template is missing or null"},
    };

    (void)state;
    bind_url_values();
    EXPR_RUN(&x, AS_URL, cases);
}

static void test_template__the_beginning_of_a_url_is_taken_as_it_is(void **state)
{
    static const struct expr_case cases[] = {
        {"$.u.base", "\"https://erp.example/v1\""},
        {"=$.u.base + '/x'", "\"https://erp.example/v1/x\""},
        {"{{ u.base }}", "\"https://erp.example/v1\""},
        {"{{ u.base }}/{{ u.path }}", "\"https://erp.example/v1/%2Fa%2Fb%3Fc%3Dd\""},
        {"{{ u.base }}/{{ url.raw(u.path) }}", "\"https://erp.example/v1//a/b?c=d\""},
        {"{{ 'https://erp.example' }}{{ u.host }}",
         "!1:1 a value with a '.' goes on with the name of the host: it would be another host"},
        {"https://erp.example{{ url.raw(u.host) }}", "\"https://erp.example.evil.example\""},
        {"https://erp.example/{{ 'a' + url.raw(u.path) }}",
         "?1:34 url.raw() stands alone between {{ and }}: what is made of it is encoded"},
    };

    (void)state;
    bind_url_values();
    EXPR_RUN(&x, AS_URL, cases);
}

static void test_template__no_value_makes_a_dot_segment(void **state)
{
    static const char refused[] =
        "!1:1 a value makes a part of the path '.' or '..', which leads elsewhere";
    static const struct expr_case cases[] = {
        {"/orders/{{ u.dot }}", refused},
        {"/orders/{{ u.dots }}/x", refused},
        {"/orders/{{ u.dot }}{{ u.dot }}?x", refused},
        {"/orders/.{{ u.dot }}", refused},
        {"/orders/%2e{{ u.dot }}#x", refused},
        {"/orders/..{{ u.empty }}", refused},
        {"{{ u.dots }}", refused},
        {"$.u.dots", refused},
        {"/orders/../{{ input.id }}", "\"/orders/../7\""},
        {"/orders/{{ u.dots }}.", "\"/orders/...\""},
        {"/orders/{{ url.raw(u.dots) }}", "\"/orders/..\""},
    };

    (void)state;
    bind_url_values();
    EXPR_RUN(&x, AS_PATH, cases);
}

static void test_template__a_path_has_no_beginning_that_is_taken_as_it_is(void **state)
{
    static const struct expr_case cases[] = {
        {"{{ u.path }}", "\"%2Fa%2Fb%3Fc%3Dd\""},
        {"$.u.path", "\"%2Fa%2Fb%3Fc%3Dd\""},
        {"=u.path", "\"%2Fa%2Fb%3Fc%3Dd\""},
        {"=url.raw(u.path)", "\"/a/b?c=d\""},
        {"{{ url.raw(u.path) }}", "\"/a/b?c=d\""},
        {"\"/orders\"", "\"/orders\""},
        {"{{ input.id }}", "\"7\""},
        {"{{ u.host }}", "\".evil.example\""},
        {"=url.raw(u.path) + 'x'",
         "?1:6 url.raw() stands alone between {{ and }}: what is made of it is encoded"},
    };

    (void)state;
    bind_url_values();
    EXPR_RUN(&x, AS_PATH, cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_template__alone_keeps_its_type),
        TEST(test_template__parts_are_joined_as_text),
        TEST(test_template__null_and_missing_parts_fail_at_their_place),
        TEST(test_template__ends_where_the_expression_ends),
        TEST(test_template__four_braces_are_two),
        TEST(test_template__results_are_not_expanded_again),
        TEST(test_template__errors_have_a_place_in_the_whole_text),
        TEST(test_template__values_in_a_url_add_nothing_to_it),
        TEST(test_template__the_beginning_of_a_url_is_taken_as_it_is),
        TEST(test_template__no_value_makes_a_dot_segment),
        TEST(test_template__a_path_has_no_beginning_that_is_taken_as_it_is),
        TEST(test_value__what_a_string_in_a_definition_means),
        TEST(test_value__text_without_expressions_is_a_constant),
        TEST(test_text__is_text_whatever_its_parts_are),
        TEST(test_html__what_expressions_give_is_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
