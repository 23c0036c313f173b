/* test_lib_data.c - JSON, maps together, digests, and what a pattern catches. */
#include "cel/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct expr x;

static int set_up(void **state)
{
    (void)state;
    expr_init(&x, CEL_DEFINITION);
    expr_bind(&x, "input", "dyn", "{\"text\": \"a\\\"b\", \"n\": 7, \"m\": {\"k\": 1}}");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    expr_fini(&x);
    return 0;
}

static void test_json__there_and_back(void **state)
{
    static const struct expr_case cases[] = {
        {"json.encode(input.text)", "\"\\\"a\\\\\\\"b\\\"\""},
        {"json.encode(null)", "\"null\""},
        {"json.encode({'a': [1, 2.5, true, null]})", "\"{\\\"a\\\":[1,2.5,true,null]}\""},
        {"json.encode(timestamp('2026-01-31'))", "\"\\\"2026-01-31T00:00:00Z\\\"\""},
        {"json.encode(double('nan'))", "!1:6 NaN cannot be written as JSON"},
        {"json.parse('{\"a\": [1, 2.5, null]}')", "{\"a\": [1, 2.5, null]}"},
        {"json.parse('7') + 1", "8"},
        {"json.parse(json.encode(input)) == input", "true"},
        {"json.parse('[1,')",
         "!1:6 the text is no JSON: line 1, column 4: expected a value, but the text ends here"},
        {"json.parse(input.n)", "!1:6 no such overload: json.parse(int)"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_map_merge__the_second_wins_and_the_order_stays(void **state)
{
    static const struct expr_case cases[] = {
        {"map.merge({'a': 1, 'b': 2}, {'c': 3, 'a': 4})", "{\"a\": 4, \"b\": 2, \"c\": 3}"},
        {"map.merge({}, input.m)", "{\"k\": 1}"},
        {"map.merge(input.m, {})", "{\"k\": 1}"},
        {"map.merge({'a': {'x': 1}}, {'a': {'y': 2}})", "{\"a\": {\"y\": 2}}"},
        {"map.merge({'a': null}, {'a': 1})", "{\"a\": 1}"},
        {"map.merge(input.n, {})", "!1:5 no such overload: map.merge(int, map)"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

/* The values of RFC 4231 (test case 2) and of FIPS 180-2. */
static void test_hash__is_what_others_compute(void **state)
{
    static const struct expr_case cases[] = {
        {"hash.sha256('abc')",
         "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\""},
        {"hash.sha256(b'abc') == hash.sha256('abc')", "true"},
        {"hash.sha256.base64('abc')", "\"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\""},
        {"hash.hmac('what do ya want for nothing?', 'Jefe')",
         "\"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843\""},
        {"hash.hmac.base64('what do ya want for nothing?', 'Jefe')",
         "\"W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=\""},
        {"hash.hmac(b'what do ya want for nothing?', b'Jefe').startsWith('5bdcc146')", "true"},
        {"hash.sha256(input.n)", "!1:6 no such overload: hash.sha256(int)"},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void test_capture__is_the_group_or_the_whole(void **state)
{
    static const struct expr_case cases[] = {
        {"re.capture('order-42-x', 'order-([0-9]+)').value()", "\"42\""},
        {"re.capture('order-42-x', '[0-9]+').value()", "\"42\""},
        {"re.capture('order', '[0-9]+').orValue('none')", "\"none\""},
        {"re.capture('ac', 'a(b)?c').hasValue()", "false"},
        {"re.capture('', '()').value()", "\"\""},
        {"re.capture('a-b', '(a)-(b)')",
         "!1:4 the pattern has more than one group: write (?:...) for the others"},
        {"re.capture('a-b', '(?:a)-(b)').value()", "\"b\""},
        {"re.capture('a', '(')", "!1:4 not a usable pattern: missing ): ("},
    };

    (void)state;
    EXPR_RUN(&x, AS_EXPRESSION, cases);
}

static void assert_over(const char *source, const char *message)
{
    const char *outcome = expr_outcome(&x, AS_EXPRESSION, source);

    if (strstr(outcome, message) == NULL)
        fail_msg("%s: %.200s", source, outcome);
}

static void test_data__is_within_its_budget(void **state)
{
    (void)state;
    x.limits.memory_bytes = 20000;
    assert_over("json.parse('[' + input.text.split('').map(i, '1').join(',') + ']').size()", "3");
    assert_over("json.parse('\"' + lists.range(600).map(i, 'x').join() + '\"')", "more memory");
    x.limits = (struct cel_limits){.cost = 200, .memory_bytes = 1 << 20};
    assert_over(
        "hash.sha256('" /* 1 KiB and more is 128 units for 1 KiB of text */
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') + "
        "hash.sha256('a') + hash.sha256('b') + hash.sha256('c') + hash.sha256('d') + "
        "hash.sha256('e') + hash.sha256('f') + hash.sha256('g') + hash.sha256('h') + "
        "hash.sha256(input.text) + hash.sha256(input.text) + hash.sha256(input.text) + "
        "hash.sha256(input.text) + hash.sha256(input.text) + hash.sha256(input.text) + "
        "hash.sha256(input.text) + hash.sha256(input.text) + hash.sha256(input.text)",
        "more work");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_json__there_and_back),
        TEST(test_map_merge__the_second_wins_and_the_order_stays),
        TEST(test_hash__is_what_others_compute),
        TEST(test_capture__is_the_group_or_the_whole),
        TEST(test_data__is_within_its_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
