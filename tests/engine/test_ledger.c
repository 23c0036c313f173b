/*
 * test_ledger.c - claims about the ledger of a step: what its commands have done
 * survives whatever ends the step, is undone once, and is never done again.
 */
#include "engine/call_rig.h"

/* Step a: a charge that can be refunded, then a courier. */
#define ORDER(more)                                                                                \
    "{'code': 'o', " more " 'steps': [{'code': 'a', 'procedure': ["                                \
    "  {'type': 'integration.http', 'method': 'POST', 'url': 'http://pay.example/charge',"         \
    "    'as': 'charge',"                                                                          \
    "    'rollback': {'type': 'integration.http', 'method': 'POST',"                               \
    "      'url': 'http://pay.example/refund', 'body': '$.charge.body'}},"                         \
    "  {'type': 'integration.http', 'method': 'POST', 'url': 'http://pay.example/courier',"        \
    "    'body': '$.input'}],"                                                                     \
    "  'retry': {'maxAttempts': 3, 'delay': '30s', 'jitter': 'none'}}]}"

static void assert_left(const char *path, const char *key)
{
    char url[100];

    snprintf(url, sizeof(url), "'url':'http://pay.example/%s'", path);
    assert_has(rig_text(&rig, left()->request_json), url);
    assert_string_equal(rig_text(&rig, left()->key), key);
}

/* The charge is done and the courier has been asked. */
static void charge(const char *scenario)
{
    start(scenario);
    assert_left("charge", ID "-a");
    answer("{'status_code':200,'headers':{},'body':'c1'}");
    assert_left("courier", ID "-a.2");
}

/* The refund is asked for now, once; then nothing is left to undo. */
static void assert_refunded(const char *end)
{
    assert_string_equal(status(), "compensating");
    assert_left("refund", ID "-a.1-rollback");
    assert_has(rig_text(&rig, left()->request_json), "'body':'c1'");
    rig_reload(&rig);
    answer_status(200);
    rig_settle(&rig);
    assert_string_equal(status(), end);
    assert_has(error(), "'compensation':{'compensated':['a'],'failed':[]}");
}

/* --- what ends a step while it waits --- */

static void test_ledger__a_cancel_between_two_attempts_undoes_finished_commands(void **state)
{
    (void)state;
    charge(ORDER());
    answer_status(503);
    assert_has(waiting_for(), "'kind':'retry'");
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, "enough"));
    assert_refunded("cancelled");
}

static void test_ledger__a_deadline_between_two_attempts_undoes_finished_commands(void **state)
{
    (void)state;
    charge(ORDER("'settings': {'timeout': '10s'},"));
    answer_status(503);
    rig_pass(&rig, 11 * SECOND);
    assert_true(rig_wake(&rig));
    assert_refunded("failed");
}

static void test_ledger__a_cancel_of_a_held_step_undoes_finished_commands(void **state)
{
    (void)state;
    charge(ORDER("'onError': 'hold',"));
    answer_status(409);
    assert_has(waiting_for(), "'kind':'incident'");
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_CANCEL,
                                               .reason = STR("enough"),
                                               .cancel_rollback = CANCEL_ROLLS_BACK}));
    assert_refunded("cancelled");
}

/* --- an operator's retry --- */

static void test_ledger__a_retry_goes_on_behind_the_commands_that_are_done(void **state)
{
    (void)state;
    charge(ORDER("'onError': 'hold',"));
    answer_status(409);
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_left("courier", ID "-a-2.2");
    rig_reload(&rig);
    answer_status(200);
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_trace(&rig), "a.failed a2");
}

static void test_ledger__what_a_retry_took_over_is_undone_once(void **state)
{
    (void)state;
    charge(ORDER("'onError': 'hold',"));
    answer_status(409);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    answer_status(409);
    assert_has(waiting_for(), "'kind':'incident'");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_CANCEL,
                                               .reason = STR("enough"),
                                               .cancel_rollback = CANCEL_ROLLS_BACK}));
    assert_refunded("cancelled");
}

static void test_ledger__a_retry_evaluates_what_failed_anew(void **state)
{
    (void)state;
    charge(ORDER("'onError': 'hold',"));
    assert_has(rig_text(&rig, left()->request_json), "'body':{'n':1}");
    answer_status(409);
    assert_true(
        rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = rig_value(&rig, "{'n':2}")}));
    assert_left("courier", ID "-a-2.2");
    assert_has(rig_text(&rig, left()->request_json), "'body':{'n':2}");
}

/* An earlier attempt was lost; the last one was refused, so the first has not happened either. */
static void test_ledger__a_refusal_ends_the_doubt_about_earlier_attempts(void **state)
{
    (void)state;
    charge(ORDER("'onError': 'hold',"));
    assert_true(lose_calls());
    rig_pass(&rig, 30 * SECOND);
    assert_true(rig_wake(&rig));
    assert_left("courier", ID "-a.2");
    answer_status(409);
    assert_has(waiting_for(), "'kind':'incident'");
    assert_true(
        rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = rig_value(&rig, "{'n':2}")}));
    assert_left("courier", ID "-a-2.2");
    assert_has(rig_text(&rig, left()->request_json), "'body':{'n':2}");
}

/* --- flow.try --- */

#define TRYING                                                                                     \
    "{'code': 'o', 'steps': [{'code': 'a', 'procedure': {'type': 'flow.try', 'commands': ["        \
    "  {'type': 'integration.http', 'method': 'POST', 'url': 'http://pay.example/charge',"         \
    "    'rollback': {'type': 'integration.http', 'method': 'POST',"                               \
    "      'url': 'http://pay.example/refund'}},"                                                  \
    "  {'type': 'integration.http', 'method': 'POST', 'url': 'http://pay.example/declined'}],"     \
    " 'catch': [{'type': 'integration.http', 'method': 'POST',"                                    \
    "    'url': 'http://pay.example/caught',"                                                      \
    "    'rollback': {'type': 'integration.http', 'method': 'POST',"                               \
    "      'url': 'http://pay.example/uncaught'}}]}},"                                             \
    " {'code': 'z', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'no'}}]}"

static void test_ledger__a_catch_that_calls_forgets_nothing(void **state)
{
    (void)state;
    start(TRYING);
    answer_status(200);
    assert_left("declined", ID "-a.1.2");
    answer_status(409);
    assert_left("caught", ID "-a.1.3");
    rig_reload(&rig);
    answer_status(200);
    assert_string_equal(status(), "compensating");
    assert_left("uncaught", ID "-a.1.3-rollback");
    answer_status(200);
    assert_left("refund", ID "-a.1.1-rollback");
    answer_status(200);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
}

/* --- what may have happened --- */

static void test_ledger__what_was_lost_and_caught_is_undone_all_the_same(void **state)
{
    (void)state;
    start(TRYING);
    assert_true(lose_calls());
    assert_left("caught", ID "-a.1.3");
    rig_reload(&rig);
    answer_status(200);
    assert_left("uncaught", ID "-a.1.3-rollback");
    answer_status(200);
    assert_left("refund", ID "-a.1.1-rollback");
    answer_status(200);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
}

static void test_ledger__a_command_that_was_lost_is_undone_by_its_own_rollback(void **state)
{
    (void)state;
    start("{'code': 'o', 'steps': [{'code': 'a', 'procedure': ["
          "  {'type': 'integration.http', 'method': 'POST', 'url': 'http://pay.example/charge',"
          "    'rollback': {'type': 'integration.http', 'method': 'POST',"
          "      'url': 'http://pay.example/refund'}}],"
          "  'retry': {'maxAttempts': 1}}]}");
    assert_true(lose_calls());
    assert_string_equal(status(), "compensating");
    assert_left("refund", ID "-a.1-rollback");
    answer_status(200);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_int_equal(rig.last.dead_letters.count, 0);
    assert_has(error(), "'compensation':{'compensated':['a'],'failed':[]}");
}

/* --- rolling back --- */

/* The clock has jumped over the deadline of the refund's attempt, which is still in flight. */
static void test_ledger__a_signal_does_not_send_a_rollback_again(void **state)
{
    (void)state;
    charge(ORDER("'onError': 'compensate',"));
    answer_status(409);
    assert_left("refund", ID "-a.1-rollback");
    rig_pass(&rig, 900 * SECOND);
    assert_true(rig_signal(&rig, "s1", "x", "1"));
    assert_int_equal(rig.last.asks.count, 0);
    answer_status(200);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
}

/* --- how much it may hold --- */

static void test_ledger__what_all_strands_hold_is_bounded(void **state)
{
    (void)state;
    start("{'code': 'o', 'onError': 'fail_fast', 'steps': [{'code': 'l', 'loop': {"
          "  'for': '=lists.range(60)', 'concurrency': 60, 'steps': [{'code': 'a',"
          "    'retry': {'maxAttempts': 1}, 'procedure': {'type': 'integration.http',"
          "      'method': 'POST', 'url': 'http://pay.example/charge',"
          "      'body': '=lists.range(20000).map(i, \\'0123456789012345\\')'}}]}}]}");
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_has(error(), "'limit_context_size'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_ledger__a_cancel_between_two_attempts_undoes_finished_commands),
        CLAIM(test_ledger__a_deadline_between_two_attempts_undoes_finished_commands),
        CLAIM(test_ledger__a_cancel_of_a_held_step_undoes_finished_commands),
        CLAIM(test_ledger__a_retry_goes_on_behind_the_commands_that_are_done),
        CLAIM(test_ledger__what_a_retry_took_over_is_undone_once),
        CLAIM(test_ledger__a_retry_evaluates_what_failed_anew),
        CLAIM(test_ledger__a_refusal_ends_the_doubt_about_earlier_attempts),
        CLAIM(test_ledger__a_catch_that_calls_forgets_nothing),
        CLAIM(test_ledger__what_was_lost_and_caught_is_undone_all_the_same),
        CLAIM(test_ledger__a_command_that_was_lost_is_undone_by_its_own_rollback),
        CLAIM(test_ledger__a_signal_does_not_send_a_rollback_again),
        CLAIM(test_ledger__what_all_strands_hold_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
