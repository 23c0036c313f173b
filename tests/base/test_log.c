/* test_log.c - claims about log.h. */
#include "base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

/* 2026-01-02T03:04:05.000678Z */
#define MOMENT_US ((int64_t)1767323045000678)

static struct clock_manual moment;
static int pipe_fds[2];

/* Each test reads what it logs from a pipe. */
static int open_sink(void **state)
{
    (void)state;
    if (pipe2(pipe_fds, O_NONBLOCK) != 0)
        return -1;
    clock_manual_init(&moment, MOMENT_US);
    log_to(pipe_fds[1], LOG_INFO, &moment.clock);
    return 0;
}

static int close_sink(void **state)
{
    (void)state;
    log_to(STDERR_FILENO, LOG_INFO, &clock_system);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    return 0;
}

static const char *logged(void)
{
    static char text[32768];
    ssize_t n = read(pipe_fds[0], text, sizeof(text) - 1);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void test_log__a_line_is_an_object_with_time_level_and_message(void **state)
{
    (void)state;
    log_write(LOG_WARN, "slow", NULL);
    assert_string_equal(logged(), "{\"time\":\"2026-01-02T03:04:05.000678Z\",\"level\":\"warn\","
                                  "\"msg\":\"slow\"}\n");
}

static void test_log__fields_keep_their_types_and_order(void **state)
{
    struct err err;

    (void)state;
    (void)err_set(&err, ERR_IO, "disk \"a\"");
    log_write(LOG_ERROR, "m",
              LOG_FIELDS(log_str("s", STR("x")), log_int("i", INT64_MIN), log_err("e", &err)));
    assert_string_equal(
        logged(), "{\"time\":\"2026-01-02T03:04:05.000678Z\",\"level\":\"error\",\"msg\":\"m\","
                  "\"s\":\"x\",\"i\":-9223372036854775808,"
                  "\"e\":{\"code\":\"io\",\"message\":\"disk \\\"a\\\"\"}}\n");
}

static void test_log__text_cannot_break_out_of_its_line(void **state)
{
    static const struct {
        struct str text;
        const char *want;
    } cases[] = {
        {{"", 0}, "\"\""},
        {{"a\"b\\c", 5}, "\"a\\\"b\\\\c\""},
        {{"a\nb\tc\rd", 7}, "\"a\\nb\\tc\\u000dd\""},
        {{"\0\x1F\x7F", 3}, "\"\\u0000\\u001f\\u007f\""},
        {{"\xC3\xA9\xF0\x9F\x98\x80", 6}, "\"\xC3\xA9\xF0\x9F\x98\x80\""},
        {{"a\xFFz", 3}, "\"a\xEF\xBF\xBDz\""},
        {{"a\xE2\x82", 3}, "\"a\xEF\xBF\xBD\xEF\xBF\xBD\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char want[256];
        snprintf(want, sizeof(want),
                 "{\"time\":\"2026-01-02T03:04:05.000678Z\",\"level\":\"info\",\"msg\":\"m\","
                 "\"text\":%s}\n",
                 cases[i].want);
        log_write(LOG_INFO, "m", LOG_FIELDS(log_str("text", cases[i].text)));
        assert_string_equal(logged(), want);
    }
}

static void test_log__long_text_is_cut_between_characters(void **state)
{
    char text[LOG_TEXT_MAX + 100];
    const char *line;

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text + LOG_TEXT_MAX - 2, "\xF0\x9F\x98\x80", 4);
    log_write(LOG_INFO, "m", LOG_FIELDS(log_str("text", str_from(text, sizeof(text)))));
    line = logged();
    assert_true(str_ends_with(str_of(line), STR("xx...\"}\n")));
    assert_true(strlen(line) < LOG_TEXT_MAX + 150);
}

static void test_log__lines_below_the_level_are_not_written(void **state)
{
    (void)state;
    log_write(LOG_DEBUG, "m", NULL);
    assert_string_equal(logged(), "");
    log_to(pipe_fds[1], LOG_DEBUG, &moment.clock);
    log_write(LOG_DEBUG, "m", NULL);
    assert_string_not_equal(logged(), "");
}

static void test_log__times_before_1970_are_right(void **state)
{
    (void)state;
    clock_manual_set_wall(&moment, -1);
    log_write(LOG_INFO, "m", NULL);
    assert_true(
        str_starts_with(str_of(logged()), STR("{\"time\":\"1969-12-31T23:59:59.999999Z\"")));
}

static void test_log__a_sink_that_cannot_take_it_does_not_stop_the_work(void **state)
{
    (void)state;
    log_to(-1, LOG_INFO, &moment.clock);
    log_write(LOG_INFO, "m", NULL);
}

enum { WRITERS = 4, LINES_EACH = 200 };

static void *write_lines(void *arg)
{
    for (int i = 0; i < LINES_EACH; i++)
        log_write(LOG_INFO, "from a thread", LOG_FIELDS(log_int("n", *(const int *)arg)));
    return NULL;
}

static void test_log__lines_of_several_threads_stay_whole(void **state)
{
    static const char want[] = "{\"time\":\"2026-01-02T03:04:05.000678Z\",\"level\":\"info\","
                               "\"msg\":\"from a thread\",\"n\":";
    pthread_t threads[WRITERS];
    int numbers[WRITERS];
    int lines = 0;
    char line[256];
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    log_to(fileno(file), LOG_INFO, &moment.clock);
    for (int i = 0; i < WRITERS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &numbers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    rewind(file);
    for (; fgets(line, sizeof(line), file) != NULL; lines++) {
        assert_int_equal(strlen(line), strlen(want) + strlen("0}\n"));
        assert_memory_equal(line, want, strlen(want));
    }
    assert_int_equal(lines, WRITERS * LINES_EACH);
    fclose(file);
}

#define WITH_SINK(test) cmocka_unit_test_setup_teardown(test, open_sink, close_sink)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SINK(test_log__a_line_is_an_object_with_time_level_and_message),
        WITH_SINK(test_log__fields_keep_their_types_and_order),
        WITH_SINK(test_log__text_cannot_break_out_of_its_line),
        WITH_SINK(test_log__long_text_is_cut_between_characters),
        WITH_SINK(test_log__lines_below_the_level_are_not_written),
        WITH_SINK(test_log__times_before_1970_are_right),
        WITH_SINK(test_log__a_sink_that_cannot_take_it_does_not_stop_the_work),
        WITH_SINK(test_log__lines_of_several_threads_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
