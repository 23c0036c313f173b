/* test_options.c - options of a command line. */
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct outcome {
    const char *data, *wait_for;
    bool wait, json, ok;
    int argc;
    char *argv[12];
};

/* A command line, ended by NULL. */
static struct outcome read_line(char *const words[])
{
    struct outcome o = {0};
    const struct option_spec specs[] = {
        {.name = "data", .value = &o.data},
        {.name = "wait", .value = &o.wait_for, .flag = &o.wait},
        {.name = "json", .flag = &o.json},
    };

    o.argv[o.argc++] = (char[]){"test"};
    for (int i = 0; words[i] != NULL; i++)
        o.argv[o.argc++] = words[i];
    o.ok = options_read("test", specs, 3, &o.argc, o.argv);
    return o;
}

#define LINE(...) read_line((char *[]){__VA_ARGS__, NULL})

static char *word(const char *text)
{
    /* Never written to; argv just has no const. */
    return (char *)(uintptr_t)text;
}

static void test_options__stand_anywhere(void **state)
{
    struct outcome o = LINE(word("a"), word("--data"), word("dir"), word("b"), word("--json"));

    (void)state;
    assert_true(o.ok);
    assert_string_equal(o.data, "dir");
    assert_true(o.json);
    assert_int_equal(o.argc, 3);
    assert_string_equal(o.argv[1], "a");
    assert_string_equal(o.argv[2], "b");
}

static void test_options__value_may_follow_an_equals_sign(void **state)
{
    struct outcome o = LINE(word("--data=a=b"));

    (void)state;
    assert_true(o.ok);
    assert_string_equal(o.data, "a=b");
    o = LINE(word("--data="));
    assert_string_equal(o.data, "");
}

static void test_options__value_may_be_optional(void **state)
{
    struct outcome o = LINE(word("--wait"), word("x"));

    (void)state;
    assert_true(o.ok && o.wait);
    assert_null(o.wait_for);
    assert_int_equal(o.argc, 2);
    o = LINE(word("--wait=5s"));
    assert_true(o.wait);
    assert_string_equal(o.wait_for, "5s");
}

static void test_options__two_dashes_end_them(void **state)
{
    struct outcome o = LINE(word("--json"), word("--"), word("--data"), word("-x"));

    (void)state;
    assert_true(o.ok && o.json);
    assert_null(o.data);
    assert_int_equal(o.argc, 3);
    assert_string_equal(o.argv[1], "--data");
}

static void test_options__single_dashes_are_arguments(void **state)
{
    struct outcome o = LINE(word("-1"), word("-"));

    (void)state;
    assert_true(o.ok);
    assert_int_equal(o.argc, 3);
}

static void test_options__mistakes_are_refused(void **state)
{
    (void)state;
    assert_false(LINE(word("--dta"), word("x")).ok);
    assert_false(LINE(word("--data")).ok);
    assert_false(LINE(word("--json=yes")).ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options__stand_anywhere),
        cmocka_unit_test(test_options__value_may_follow_an_equals_sign),
        cmocka_unit_test(test_options__value_may_be_optional),
        cmocka_unit_test(test_options__two_dashes_end_them),
        cmocka_unit_test(test_options__single_dashes_are_arguments),
        cmocka_unit_test(test_options__mistakes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
