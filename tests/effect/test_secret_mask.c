/* test_secret_mask.c - claims about secrets that a service repeats. */
#include "effect/secret/secret_mask.h"

#include "base/text/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct arena mem;

static const char *masked(const char *secret, const char *text)
{
    struct mask m = {0};

    secret_mask_add(&mem, &m, str_of(secret));
    return str_printf(&mem, "%.*s", STR_ARG(secret_mask_text(&mem, &m, str_of(text)))).ptr;
}

static void test_secret_mask__hides_a_secret_and_its_encoded_forms(void **state)
{
    static const struct {
        const char *secret, *text, *wanted;
    } cases[] = {
        {"sk/4711 x", "key sk/4711 x!", "key ***!"},
        {"sk/4711 x", "key sk%2F4711%20x!", "key ***!"},
        {"sk/4711 x", "key sk%2f4711%20x!", "key ***!"},
        {"sk/4711 x", "key sk%2F4711+x!", "key ***!"},
        {"a\"b\\cd", "{\"key\": \"a\\\"b\\\\cd\"}", "{\"key\": \"***\"}"},
        {"secret", "73656372657420", "***20"},
        {"s3cret", "733363726574", "***"},
        {"secret", "nothing of it", "nothing of it"},
        {"abcd", "abc abcd", "abc ***"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_string_equal(masked(cases[i].secret, cases[i].text), cases[i].wanted);
}

static void test_secret_mask__hides_a_secret_within_a_longer_base64_text(void **state)
{
    const char *secret = "correct horse battery";

    (void)state;
    for (size_t before = 0; before < 7; before++) {
        struct str text = str_printf(&mem, "%.*s%s and more", (int)before, "user12:", secret);
        char *out = arena_zalloc(&mem, base64_encoded_len(text.len) + 1);
        const char *rest;

        (void)base64_encode(text, out);
        rest = masked(secret, out);
        assert_non_null(strstr(rest, "***"));
        /* What is left on both sides is the rest of the text, and less than a byte of the secret. */
        assert_true(strlen(rest) <= strlen(out) - (strlen(secret) - 2) * 4 / 3 + 3);
    }
}

static void test_secret_mask__json_is_hidden_in_keys_numbers_and_escapes(void **state)
{
    struct mask m = {0};
    struct str out;

    (void)state;
    secret_mask_add(&mem, &m, STR("73918264"));
    secret_mask_add(&mem, &m, STR("hush/hush"));
    out = secret_mask_json(&mem, &m,
                           STR("{\"n\":73918264,\"hush\\/hush\":[\"a hush\\u002fhush b\"]}"));
    assert_true(str_eq(out, STR("{\"n\":\"***\",\"***\":[\"a *** b\"]}")));
    out = secret_mask_json(&mem, &m, STR("{\"n\":1}"));
    assert_true(str_eq(out, STR("{\"n\":1}")));
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&mem);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_fini(&mem);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secret_mask__hides_a_secret_and_its_encoded_forms),
        cmocka_unit_test(test_secret_mask__hides_a_secret_within_a_longer_base64_text),
        cmocka_unit_test(test_secret_mask__json_is_hidden_in_keys_numbers_and_escapes),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
