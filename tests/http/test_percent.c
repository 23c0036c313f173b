/* test_percent.c - reading what was sent percent-encoded. */
#include "base/arena.h"
#include "http/percent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_percent__text_is_what_was_encoded(void **state)
{
    const struct {
        struct str encoded, text;
    } cases[] = {
        {STR(""), STR("")},
        {STR("plain"), STR("plain")},
        {STR("a%20b"), STR("a b")},
        {STR("%2F"), STR("/")},
        {STR("%2f%2e"), STR("/.")},
        {STR("%252F"), STR("%2F")},
        {STR("%C3%A4"), STR("\xc3\xa4")},
        {STR("\xc3\xa4"), STR("\xc3\xa4")},
        {STR("a+b"), STR("a+b")},
        {STR("%25"), STR("%")},
    };
    struct arena mem;
    struct str text;

    (void)state;
    arena_init(&mem);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        assert_true(percent_decode(&mem, cases[i].encoded, &text));
        assert_true(str_eq(text, cases[i].text));
    }
    arena_fini(&mem);
}

static void test_percent__what_is_no_text_is_refused(void **state)
{
    const struct str cases[] = {
        STR("%"),    STR("%2"),     STR("a%"),           STR("%zz"),  STR("%2g"),  STR("%00"),
        STR("a%00"), STR("%c0%80"), STR("%ed%a0%80"),    STR("%ff"),  STR("\xff"), STR("%C3"),
        STR("% 20"), STR("%%20"),   STR("%f4%90%80%80"), STR("a\0b"),
    };
    struct arena mem;
    struct str text;

    (void)state;
    arena_init(&mem);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        if (percent_decode(&mem, cases[i], &text))
            fail_msg("case %zu was taken", i);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percent__text_is_what_was_encoded),
        cmocka_unit_test(test_percent__what_is_no_text_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
