/* test_rollback_retry.c - claims about rollbacks that were given up and are tried again. */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define ID "01020304-0506-7708-890a-0b0c0d0e0f10"

static struct str letters[8]; /* those that were written, oldest first */
static unsigned letter_count;

static void keep_letters(void)
{
    for (size_t i = 0; i < rig.last.dead_letters.count; i++) {
        char *id = arena_alloc(&rig.mem, UUID_TEXT_LEN + 1);

        uuid_write(rig.last.dead_letters.items[i].id, id);
        assert_true(letter_count < 8);
        letters[letter_count++] = str_from(id, UUID_TEXT_LEN);
    }
}

/* As rig_settle(), keeping the letters. */
static void settle(void)
{
    keep_letters();
    for (unsigned i = 0; i < 1000 && rig.x->wake_at_us != 0; i++) {
        if (rig.x->wake_at_us > rig.now_us) {
            if (rig.x->wake_at_us == rig.x->deadline_at_us)
                return;
            rig.now_us = rig.x->wake_at_us;
        }
        assert_true(rig_wake(&rig));
        keep_letters();
        rig_reload(&rig);
    }
}

static void run(const char *scenario)
{
    letter_count = 0;
    rig_define(&rig, scenario);
    rig_start(&rig, "{}");
    settle();
}

static bool undo(struct str letter)
{
    return rig_event(&rig, (struct event){.kind = EVENT_ROLLBACK, .letter = letter});
}

static const char *error(void)
{
    return rig_text(&rig, rig.x->error_json);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in %s", part, text);
}

static const struct history_row *last_row(void)
{
    return &rig.history.items[rig.history.count - 1];
}

static void test_rollback_retry__that_one_rollback_runs_and_the_end_stays(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'a',"
        "    'procedure': {'type': 'compute.transform', 'data': 'a'},"
        "    'rollback': {'retry': {'maxAttempts': 5, 'delay': '1s', 'backoff': 1,"
        "      'jitter': 'none'}, 'procedure': ["
        "      {'type': 'compute.fail', 'when': 'now < timestamp(\\'2026-01-01T00:10:00Z\\')',"
        "        'code': 'stuck', 'message': 'm', 'class': 'transient'},"
        "      {'type': 'compute.transform',"
        "        'data': ['$.steps.a.output', '$.error.code', '=$.compensation.failed']}]}},"
        "  {'code': 'b',"
        "    'procedure': {'type': 'compute.transform', 'data': 'b'},"
        "    'rollback': {'retry': {'maxAttempts': 5, 'delay': '1s', 'backoff': 1,"
        "      'jitter': 'none'}, 'procedure': ["
        "      {'type': 'compute.fail', 'when': 'now < timestamp(\\'2026-01-01T00:20:00Z\\')',"
        "        'code': 'stuck', 'message': 'm', 'class': 'transient'},"
        "      {'type': 'compute.transform',"
        "        'data': ['$.steps.b.output', '$.error.code', '=$.compensation.failed']}]}},"
        "  {'code': 'c',"
        "    'procedure': {'type': 'compute.transform', 'data': 'c'},"
        "    'rollback': {'retry': {'maxAttempts': 5, 'delay': '1s', 'backoff': 1,"
        "      'jitter': 'none'}, 'procedure': ["
        "      {'type': 'compute.fail', 'when': 'now < timestamp(\\'2026-01-01T00:00:00Z\\')',"
        "        'code': 'stuck', 'message': 'm', 'class': 'transient'},"
        "      {'type': 'compute.transform',"
        "        'data': ['$.steps.c.output', '$.error.code', '=$.compensation.failed']}]}},"
        "  {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(letter_count, 2); /* of b, then of a */
    assert_has(error(), "'compensation':{'compensated':['c'],'failed':['b','a']}}");
    rig_pass(&rig, 600 * SECOND);
    rig_reload(&rig);
    assert_true(undo(letters[1]));
    assert_true(rig.last.retries_letter);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_has(error(), "{'code':'no',");
    assert_has(error(), "'compensation':{'compensated':['c','a'],'failed':['b']}}");
    assert_string_equal(rig_text(&rig, last_row()->step), "a");
    assert_string_equal(rig_text(&rig, last_row()->key), ID "-a-rollback");
    assert_int_equal(last_row()->attempt, 6);
    assert_string_equal(rig_text(&rig, last_row()->output_json), "['a','no',['b','a']]");
    assert_true(rig.x->completed_at_us == rig.now_us);
    /* It was one time. */
    assert_false(undo(letters[1]));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    rig_pass(&rig, 600 * SECOND);
    assert_true(undo(letters[0]));
    assert_has(error(), "'compensation':{'compensated':['c','a','b'],'failed':[]}}");
}

static void test_rollback_retry__has_all_its_attempts_and_another_letter(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'a',"
        "    'procedure': {'type': 'compute.transform', 'data': 'a'},"
        "    'rollback': {'retry': {'maxAttempts': 5, 'delay': '1s', 'backoff': 1,"
        "      'jitter': 'none'}, 'procedure': ["
        "      {'type': 'compute.fail', 'when': 'now < timestamp(\\'2026-01-01T00:10:00Z\\')',"
        "        'code': 'stuck', 'message': 'm', 'class': 'transient'},"
        "      {'type': 'compute.transform',"
        "        'data': ['$.steps.a.output', '$.error.code', '=$.compensation.failed']}]}},"
        "  {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_int_equal(last_row()->attempt, 5);
    assert_true(undo(letters[0]));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_true(rig.x->completed_at_us == 0);
    assert_has(rig_text(&rig, rig.x->waiting_for_json), "'rollback':true,'attempt':7");
    assert_false(undo(letters[0]));
    settle();
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(last_row()->attempt, 10);
    assert_int_equal(letter_count, 2);
    assert_has(error(), "'compensation':{'compensated':[],'failed':['a']}}");
    assert_false(undo(letters[0]));
    rig_pass(&rig, 3600 * SECOND);
    assert_true(undo(letters[1]));
    assert_int_equal(last_row()->attempt, 11);
    assert_has(error(), "'compensation':{'compensated':['a'],'failed':[]}}");
}

static void test_rollback_retry__a_cancelled_one_is_cancelled_again(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'a',"
        "    'procedure': {'type': 'compute.transform', 'data': 'a'},"
        "    'rollback': {'retry': {'maxAttempts': 5, 'delay': '1s', 'backoff': 1,"
        "      'jitter': 'none'}, 'procedure': ["
        "      {'type': 'compute.fail', 'when': 'now < timestamp(\\'2026-01-01T00:10:00Z\\')',"
        "        'code': 'stuck', 'message': 'm', 'class': 'transient'},"
        "      {'type': 'compute.transform',"
        "        'data': ['$.steps.a.output', '$.error.code', '=$.compensation.failed']}]}},"
        "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}]}");
    assert_true(rig_cancel(&rig, "enough"));
    settle();
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    rig_pass(&rig, 3600 * SECOND);
    rig_reload(&rig);
    assert_true(undo(letters[0]));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_has(error(), "{'code':'cancelled','message':'enough'");
    assert_has(error(), "'compensation':{'compensated':['a'],'failed':[]}}");
}

static void test_rollback_retry__a_step_is_undone_when_all_its_commands_are(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'a', 'procedure': ["
        "    {'type': 'compute.transform', 'data': 1, 'rollback': ["
        "      {'type': 'compute.fail', 'when': 'now < timestamp(\\'2026-01-01T00:10:00Z\\')',"
        "        'code': 'stuck', 'message': 'm'},"
        "      {'type': 'compute.transform', 'data': '$.error.code'}]},"
        "    {'type': 'compute.transform', 'data': 2,"
        "      'rollback': {'type': 'log', 'message': 'fine'}},"
        "    {'type': 'compute.transform', 'data': 3, 'rollback': ["
        "      {'type': 'compute.fail', 'when': 'now < timestamp(\\'2026-01-01T00:10:00Z\\')',"
        "        'code': 'stuck', 'message': 'm'},"
        "      {'type': 'compute.transform', 'data': '$.error.code'}]}]},"
        "  {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_int_equal(letter_count, 2);
    assert_has(error(), "'failed':['a']");
    rig_pass(&rig, 3600 * SECOND);
    assert_true(undo(letters[0]));
    assert_string_equal(rig_text(&rig, last_row()->key), ID "-a.3-rollback");
    assert_has(error(), "'compensated':[],'failed':['a']");
    assert_true(undo(letters[1]));
    assert_string_equal(rig_text(&rig, last_row()->key), ID "-a.1-rollback");
    assert_has(error(), "'compensated':['a'],'failed':[]");
}

static void test_rollback_retry__is_not_possible_while_it_runs_or_without_a_rollback(void **state)
{
    (void)state;
    run("{'code': 'a',"
        "  'steps': [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}]}");
    assert_false(undo(STR(ID)));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    run("{'code': 'a', 'steps': [{'code': 'l', 'retry': {'maxAttempts': 1},"
        "  'procedure': {'type': 'compute.fail', 'code': 'lost', 'message': 'm',"
        "    'class': 'indeterminate'}}]}");
    assert_int_equal(letter_count, 1);
    assert_false(undo(letters[0]));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    run("{'code': 'a', 'steps': [{'code': 'd', 'procedure': {'type': 'log', 'message': 'm'}}]}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_false(undo(STR(ID)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_rollback_retry__that_one_rollback_runs_and_the_end_stays),
        CLAIM(test_rollback_retry__has_all_its_attempts_and_another_letter),
        CLAIM(test_rollback_retry__a_cancelled_one_is_cancelled_again),
        CLAIM(test_rollback_retry__a_step_is_undone_when_all_its_commands_are),
        CLAIM(test_rollback_retry__is_not_possible_while_it_runs_or_without_a_rollback),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
