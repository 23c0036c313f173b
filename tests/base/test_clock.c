/* test_clock.c - claims about clock.h. */
#include "base/time/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static void test_clock__by_hand_stands_still_until_moved(void **state)
{
    struct clock_manual manual;
    const struct clock *c = &manual.clock;

    (void)state;
    clock_manual_init(&manual, 1000000);
    assert_int_equal(clock_wall_us(c), 1000000);
    assert_int_equal(clock_wall_us(c), 1000000);
    int64_t mono = clock_mono_us(c);
    clock_manual_advance(&manual, 250);
    assert_int_equal(clock_wall_us(c), 1000250);
    assert_int_equal(clock_mono_us(c), mono + 250);
}

static void test_clock__setting_the_wall_clock_leaves_the_monotonic_one(void **state)
{
    struct clock_manual manual;
    const struct clock *c = &manual.clock;

    (void)state;
    clock_manual_init(&manual, 1000000);
    int64_t mono = clock_mono_us(c);
    clock_manual_set_wall(&manual, 5);
    assert_int_equal(clock_wall_us(c), 5);
    assert_int_equal(clock_mono_us(c), mono);
}

static void test_clock__of_the_system_tells_its_time(void **state)
{
    int64_t before = (int64_t)time(NULL);
    int64_t wall = clock_wall_us(&clock_system);
    int64_t mono = clock_mono_us(&clock_system);

    (void)state;
    /* time() reads a coarser clock, which may lag by a tick. */
    assert_true(wall / 1000000 >= before && wall / 1000000 <= (int64_t)time(NULL) + 1);
    for (int i = 0; i < 1000; i++) {
        int64_t next = clock_mono_us(&clock_system);
        assert_true(next >= mono);
        mono = next;
    }
}

#ifdef PAWL_SLOW_CHECKS

/* Whether a process whose clock file says `text` reads a time between these seconds. */
static bool reads_between(const char *text, int64_t from, int64_t to)
{
    const char *folder = getenv("TMPDIR");
    ssize_t len = (ssize_t)strlen(text);
    char path[200];
    int fd, status;
    pid_t child;

    (void)snprintf(path, sizeof(path), "%s/pawl-clock-XXXXXX", folder != NULL ? folder : "/tmp");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, (size_t)len), len);
    child = fork(); /* the environment is looked at once */
    if (child == 0) {
        int64_t wall;

        if (setenv("PAWL_CLOCK_FILE", path, 1) != 0)
            _exit(2);
        wall = clock_wall_us(&clock_system);
        _exit(wall >= from * 1000000 && wall <= to * 1000000 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    close(fd);
    unlink(path);
    return WEXITSTATUS(status) == 0;
}

static void test_clock__of_the_system_is_moved_by_a_file_in_check_builds(void **state)
{
    int64_t now = (int64_t)time(NULL);

    (void)state;
    assert_true(reads_between("-86400\n", now - 86400 - 1, now - 86400 + 3600));
}

static void test_clock__of_the_system_is_stopped_by_a_file_in_check_builds(void **state)
{
    (void)state;
    assert_true(reads_between("@1767225600000000\n", 1767225600, 1767225600));
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef PAWL_SLOW_CHECKS
        /* First: nobody may have looked at the environment yet. */
        cmocka_unit_test(test_clock__of_the_system_is_moved_by_a_file_in_check_builds),
        cmocka_unit_test(test_clock__of_the_system_is_stopped_by_a_file_in_check_builds),
#endif
        cmocka_unit_test(test_clock__by_hand_stands_still_until_moved),
        cmocka_unit_test(test_clock__setting_the_wall_clock_leaves_the_monotonic_one),
        cmocka_unit_test(test_clock__of_the_system_tells_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
