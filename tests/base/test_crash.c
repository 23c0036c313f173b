/* test_crash.c - claims about the places where a check build dies on demand. */
#include "base/crash.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* How a child ends that passes WRITER_COMMITTED `passes` times. */
static int status_of_child(const char *wanted, int passes)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        assert_int_equal(setenv("PAWL_CRASH_AT", wanted, 1), 0);
        for (int i = 0; i < passes; i++) {
            CRASH_POINT(WRITER_BEGUN);
            CRASH_POINT(WRITER_COMMITTED);
        }
        _exit(7);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void assert_lives(const char *wanted, int passes)
{
    int status = status_of_child(wanted, passes);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

static void assert_is_killed(const char *wanted, int passes)
{
    int status = status_of_child(wanted, passes);

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void test_crash__kills_at_the_pass_that_was_asked_for(void **state)
{
    (void)state;
    assert_is_killed("writer.committed:3", 3);
    assert_lives("writer.committed:3", 2);
}

static void test_crash__a_name_alone_means_the_first_pass(void **state)
{
    (void)state;
    assert_is_killed("writer.committed", 1);
}

static void test_crash__other_points_pass(void **state)
{
    (void)state;
    assert_lives("node.batch_done:1", 5);
    assert_lives("", 5);
}

static void test_crash__a_name_that_is_no_point_ends_the_process(void **state)
{
    int status;

    (void)state;
    status = status_of_child("writer.commit", 1);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void test_crash__names_are_unique(void **state)
{
    static const char *const names[] = {
#define CRASH(symbol, name, when) name,
#include "base/crash.def"
#undef CRASH
    };

    (void)state;
    for (int i = 0; i < CRASH_POINT_COUNT; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crash__kills_at_the_pass_that_was_asked_for),
        cmocka_unit_test(test_crash__a_name_alone_means_the_first_pass),
        cmocka_unit_test(test_crash__other_points_pass),
        cmocka_unit_test(test_crash__a_name_that_is_no_point_ends_the_process),
        cmocka_unit_test(test_crash__names_are_unique),
    };

    return cmocka_run_group_tests_name("crash", tests, NULL, NULL);
}
