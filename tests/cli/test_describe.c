/* test_describe.c - executions in words, and words that a terminal or a shell gets. */
#include "cli/describe.h"
#include "cli/format.h"

#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_text(struct buf *got, const char *wanted)
{
    buf_char(got, '\0');
    assert_string_equal(got->ptr, wanted);
    buf_clear(got);
}

static void test_describe__durations_are_short_and_rounded(void **state)
{
    static const struct {
        int64_t us;
        const char *text;
    } cases[] = {
        {-5, "<1 ms"},
        {0, "<1 ms"},
        {999, "<1 ms"},
        {1000, "1 ms"},
        {1260, "1.3 ms"},
        {43400, "43 ms"},
        {999499, "999 ms"},
        {1000000, "1 s"},
        {3440000, "3.4 s"},
        {119000000, "119 s"},
        {120000000, "2 min"},
        {INT64_C(86399) * 1000000, "24 h"},
        {INT64_C(3) * 86400 * 1000000 - 2000, "3 days"},
        {INT64_C(36500) * 86400 * 1000000, "36500 days"},
    };
    struct buf out;

    (void)state;
    buf_init(&out);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        format_duration(&out, cases[i].us);
        assert_text(&out, cases[i].text);
    }
    buf_fini(&out);
}

static void test_describe__sizes_have_units(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out);
    format_bytes(&out, 512);
    assert_text(&out, "512 bytes");
    format_bytes(&out, 1536);
    assert_text(&out, "1.5 KiB");
    format_bytes(&out, INT64_C(3) << 40);
    assert_text(&out, "3.0 TiB");
    format_bytes(&out, INT64_C(5000) << 40);
    assert_text(&out, "5000.0 TiB");
    buf_fini(&out);
}

static void test_term__long_text_is_cut_between_code_points(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out);
    term_put_short(&out, STR("Grüße"), 5);
    assert_text(&out, "Grüße");
    term_put_short(&out, STR("Grüße aus"), 8);
    assert_text(&out, "Grüße...");
    term_put_short(&out, STR("abcdef"), 2);
    assert_text(&out, "...");
    buf_fini(&out);
}

static void test_term__control_characters_do_not_reach_the_terminal(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out);
    term_put_short(&out, STR("a\033[2Jb\nc\177d\302\233e"), 40);
    assert_text(&out, "a [2Jb c d e");
    buf_fini(&out);
}

static void test_term__a_shell_reads_a_quoted_word_as_it_was(void **state)
{
    static const struct {
        const char *word, *quoted;
    } cases[] = {
        {"approved", "approved"},
        {"key:order-1/2", "key:order-1/2"},
        {"", "''"},
        {"two words", "'two words'"},
        {"it's", "'it'\\''s'"},
        {"$(reboot)", "'$(reboot)'"},
        {"a\nb", "'a\nb'"},
    };
    struct buf out;

    (void)state;
    buf_init(&out);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        term_put_quoted(&out, str_of(cases[i].word));
        assert_text(&out, cases[i].quoted);
    }
    buf_fini(&out);
}

/* Each kind of wait, as the API answers it, and a part of what a person is told. */
static void test_describe__every_wait_is_a_sentence(void **state)
{
    static const struct {
        const char *json, *part;
    } cases[] = {
        {"{\"kind\":\"signal\",\"step\":\"a\",\"signalType\":\"paid\"}",
         "It waits at step a for the signal \"paid\"."},
        {"{\"kind\":\"signal\",\"step\":\"a\",\"signalType\":[\"x\",\"y\",\"z\"]}",
         "for the signal \"x\", \"y\" or \"z\"."},
        {"{\"kind\":\"timer\",\"step\":\"a\",\"until\":\"2100-01-02T03:04:05Z\"}",
         "for its time to come, until 2100-01-02 03:04 UTC (in "},
        {"{\"kind\":\"retry\",\"step\":\"a\",\"error\":{\"code\":\"timeout\",\"message\":\"no "
         "answer\"}}",
         "It waits at step a to be tried again: no answer (timeout)."},
        {"{\"kind\":\"call\",\"step\":\"a\"}", "for the answer to a call."},
        {"{\"kind\":\"job\",\"step\":\"a\",\"procedure\":\"bank.charge\"}",
         "for a worker of bank.charge; none has asked for it."},
        {"{\"kind\":\"task\",\"step\":\"a\",\"title\":\"Pack it\"}",
         "for a person to do the task \"Pack it\"."},
        {"{\"kind\":\"child\",\"step\":\"a\",\"executionId\":\"77\"}",
         "for the execution that it has started 77."},
        {"{\"kind\":\"reconcile\",\"step\":\"a\"}", "whether its call has happened."},
        {"{\"kind\":\"reconcile\",\"parked\":true,\"step\":\"a\",\"asked\":3,\"error\":{\"code\":"
         "\"lost\","
         "\"message\":\"no answer\"}}",
         "It is parked at step a: nobody could find out whether that has happened, asked 3 times: "
         "no "
         "answer (lost).\nAn operator decides:\n  "},
        {"{\"kind\":\"paused\",\"step\":\"a\"}", "It is paused at step a.\nLet it go on with: "},
        {"{\"kind\":\"paused\",\"step\":\"a\",\"by\":{\"id\":\"1\",\"name\":\"Ada\"},\"reason\":"
         "\"closed\",\"branches\":[{\"kind\":\"timer\",\"step\":\"a\"}]}",
         "It is paused at step a by Ada: closed. There step a waits for its time to come.\nLet it "
         "go on with: "},
        {"{\"kind\":\"debug\"}", "It waits at step here for the next step of debugging."},
        {"{\"kind\":\"incident\",\"step\":\"a\",\"error\":{\"code\":\"oops\",\"message\":\"bad\"}}",
         "It is held at step a: bad (oops).\nAn operator decides:\n"},
        {"{\"kind\":\"eclipse\",\"step\":\"a\"}", "It waits at step a for eclipse."},
    };
    struct arena mem;

    (void)state;
    arena_init(&mem);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct str json = str_printf(&mem,
                                     "{\"id\":\"x\",\"status\":\"waiting\",\"currentStep\":"
                                     "\"here\",\"actions\":[\"cancel\"],\"waitingFor\":%s}",
                                     cases[i].json);
        struct value execution;
        struct err err;
        struct buf out;

        assert_true(json_read(&mem, json, &execution, &err));
        buf_init_arena(&out, &mem);
        buf_str(&out, describe_state(&mem, execution));
        buf_char(&out, '\0');
        if (strstr(out.ptr, cases[i].part) == NULL)
            fail_msg("wanted: %s\n   got: %s", cases[i].part, out.ptr);
    }
    arena_fini(&mem);
}

static void test_describe__an_ended_execution_is_not_named_by_its_key(void **state)
{
    struct arena mem;
    struct value x;
    struct err err;
    struct buf out;

    (void)state;
    arena_init(&mem);
    buf_init(&out);
    assert_true(json_read(&mem,
                          STR("{\"id\":\"01a1df05-7e6c-7691-ba79-3df3aab714d2\",\"key\":\"k 1\","
                              "\"status\":\"waiting\"}"),
                          &x, &err));
    describe_name(&out, x);
    assert_text(&out, "'key:k 1'");
    assert_true(json_read(&mem,
                          STR("{\"id\":\"01a1df05-7e6c-7691-ba79-3df3aab714d2\",\"key\":\"k 1\","
                              "\"status\":\"failed\"}"),
                          &x, &err));
    describe_name(&out, x);
    assert_text(&out, "3df3aab714d2");
    buf_fini(&out);
    arena_fini(&mem);
}

static void test_describe__what_was_undone_is_counted(void **state)
{
    struct arena mem;
    struct value x;
    struct err err;
    struct buf out;

    (void)state;
    arena_init(&mem);
    buf_init(&out);
    assert_true(json_read(&mem,
                          STR("{\"status\":\"failed\",\"waitingFor\":null,\"result\":null,"
                              "\"startedAt\":\"2026-01-01T00:00:00Z\","
                              "\"completedAt\":\"2026-01-01T00:00:02Z\",\"error\":{\"code\":\"no\","
                              "\"message\":\"declined\",\"compensation\":{\"compensated\":"
                              "[\"a\",\"b\"],\"failed\":[\"c\"]}}}"),
                          &x, &err));
    buf_str(&out, describe_state(&mem, x));
    assert_text(&out, "It failed after 2 s: declined (no). 2 steps were undone. 1 could not be "
                      "undone: see the dead letters.");
    buf_fini(&out);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe__durations_are_short_and_rounded),
        cmocka_unit_test(test_describe__sizes_have_units),
        cmocka_unit_test(test_term__long_text_is_cut_between_code_points),
        cmocka_unit_test(test_term__control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(test_term__a_shell_reads_a_quoted_word_as_it_was),
        cmocka_unit_test(test_describe__every_wait_is_a_sentence),
        cmocka_unit_test(test_describe__an_ended_execution_is_not_named_by_its_key),
        cmocka_unit_test(test_describe__what_was_undone_is_counted),
    };

    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
