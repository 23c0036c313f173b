/* test_options.c - options of a command line. */
#include "cli/command.h"
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct outcome {
    const char *key, *wait_for;
    bool wait, json, ok;
    int argc;
    char *argv[12]; /* NULL behind the last */
};

/* A command line of pawl start, ended by NULL. */
static struct outcome read_line(char *const words[])
{
    struct outcome o = {0};
    struct options read;

    o.argv[o.argc++] = (char[]){"start"};
    for (int i = 0; words[i] != NULL; i++)
        o.argv[o.argc++] = words[i];
    o.ok = options_read(&read, command_named("start"), o.argc, o.argv);
    if (o.ok) {
        o.key = options_get(&read, "key");
        o.wait_for = options_get(&read, "wait");
        o.wait = options_has(&read, "wait");
        o.json = options_has(&read, "json");
        o.argc = read.argc;
    }
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
    struct outcome o = LINE(word("a"), word("--key"), word("dir"), word("b"), word("--json"));

    (void)state;
    assert_true(o.ok);
    assert_string_equal(o.key, "dir");
    assert_true(o.json);
    assert_int_equal(o.argc, 3);
    assert_string_equal(o.argv[1], "a");
    assert_string_equal(o.argv[2], "b");
}

static void test_options__value_may_follow_an_equals_sign(void **state)
{
    struct outcome o = LINE(word("--key=a=b"));

    (void)state;
    assert_true(o.ok);
    assert_string_equal(o.key, "a=b");
    o = LINE(word("--key="));
    assert_string_equal(o.key, "");
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
    struct outcome o = LINE(word("--json"), word("--"), word("--key"), word("-x"));

    (void)state;
    assert_true(o.ok && o.json);
    assert_null(o.key);
    assert_int_equal(o.argc, 3);
    assert_string_equal(o.argv[1], "--key");
}

static void test_options__single_dashes_are_arguments(void **state)
{
    struct outcome o = LINE(word("-1"), word("-"));

    (void)state;
    assert_true(o.ok);
    assert_int_equal(o.argc, 3);
}

static void test_options__which_server_is_meant_is_for_commands_that_talk_to_one(void **state)
{
    struct options o;

    (void)state;
    assert_true(LINE(word("--url"), word("http://127.0.0.1:1")).ok);
    assert_string_equal(getenv("PAWL_URL"), "http://127.0.0.1:1");
    assert_false(options_read(&o, command_named("eval"), 3,
                              (char *[]){word("eval"), word("--url"), word("x"), NULL}));
}

static void test_options__mistakes_are_refused(void **state)
{
    (void)state;
    assert_false(LINE(word("--kye"), word("x")).ok);
    assert_false(LINE(word("--key")).ok);
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
        cmocka_unit_test(test_options__which_server_is_meant_is_for_commands_that_talk_to_one),
        cmocka_unit_test(test_options__mistakes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
