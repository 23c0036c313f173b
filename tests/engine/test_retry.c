/* test_retry.c - claims about error classes, further attempts and what onError does. */
#include "base/buf.h"
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)

static void start(const char *scenario)
{
    rig_define(&rig, scenario);
    rig_start(&rig, "{'n':1}");
}

static bool waits_for(const char *word)
{
    return str_find(rig.x->waiting_for_json, str_of(word), 0) >= 0;
}

static void test_retry__a_transient_error_is_tried_again(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'x', 'procedure': ["
          "  {'type': 'compute.fail', 'when': 'execution.attempt <= 2', 'code': 'no_answer',"
          "    'message': 'm', 'class': 'transient'},"
          "  {'type': 'compute.transform', 'data': '$.execution.attempt'}]}]}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.x->cursor.phase, PHASE_RETRY);
    assert_true(waits_for("\"kind\":\"retry\"") && waits_for("\"attempt\":2"));
    assert_true(waits_for("no_answer"));
    /* Full jitter: somewhere within the delay. */
    assert_true(rig.x->wake_at_us >= rig.now_us && rig.x->wake_at_us <= rig.now_us + 5 * SECOND);
    assert_int_equal(rig.x->steps[0].outcome, OUTCOME_NONE);
    rig_reload(&rig);
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "x.failed x.failed(2) x(3)");
    assert_string_equal(rig_output(&rig, "x"), "3");
}

static void test_retry__attempts_end(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'x', 'procedure': ["
          "  {'type': 'compute.fail', 'when': 'execution.attempt <= 99', 'code': 'no_answer',"
          "    'message': 'm', 'class': 'transient'},"
          "  {'type': 'compute.transform', 'data': '$.execution.attempt'}]}]}");
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "x.failed x.failed(2) x.failed(3)");
}

static void test_retry__too_early_a_wake_does_nothing(void **state)
{
    (void)state;
    start("{'code': 'a', 'settings': {'retryPolicy': {'delay': '10s', 'jitter': 'none'}},"
          "  'steps': [{'code': 'x', 'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.attempt <= 1', 'code': 'no_answer',"
          "      'message': 'm', 'class': 'transient'},"
          "    {'type': 'compute.transform', 'data': '$.execution.attempt'}]}]}");
    assert_true(rig.x->wake_at_us == rig.now_us + 10 * SECOND);
    rig_pass(&rig, 9 * SECOND);
    assert_false(rig_wake(&rig));
    rig_pass(&rig, SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_retry__delays_grow_up_to_the_longest(void **state)
{
    static const int64_t seconds[] = {2, 6, 18, 20, 20};

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'x', 'procedure': ["
          "  {'type': 'compute.fail', 'when': 'execution.attempt <= 5', 'code': 'no_answer',"
          "    'message': 'm', 'class': 'transient'},"
          "  {'type': 'compute.transform', 'data': '$.execution.attempt'}],"
          "  'retry': {'maxAttempts': 9, 'delay': '2s', 'backoff': 3, 'maxDelay': '20s',"
          "    'jitter': 'none'}}]}");
    for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
        assert_true(rig.x->wake_at_us == rig.now_us + seconds[i] * SECOND);
        rig.now_us = rig.x->wake_at_us;
        assert_true(rig_wake(&rig));
    }
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_retry__a_business_error_is_final(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'x', 'procedure': ["
          "  {'type': 'compute.fail', 'when': 'execution.attempt <= 1', 'code': 'no_answer',"
          "    'message': 'm', 'class': 'business'},"
          "  {'type': 'compute.transform', 'data': '$.execution.attempt'}],"
          "  'retry': {'maxAttempts': 9, 'on': ['no_answer']}}]}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

static void test_retry__on_and_not_on_narrow_it(void **state)
{
    static const struct {
        const char *policy;
        bool retries;
    } rows[] = {
        {"'on':['no_answer']", true},     {"'on':['other']", false},
        {"'on':['no_*']", true},          {"'on':['transient']", true},
        {"'notOn':['no_answer']", false}, {"'notOn':['other']", true},
        {"'notOn':['transient']", false}, {"'on':['no_*'],'notOn':['no_answer']", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct buf text;

        buf_init_arena(&text, &rig.mem);
        buf_printf(&text,
                   "{'code': 'a', 'steps': [{'code': 'x', 'procedure': ["
                   "  {'type': 'compute.fail', 'when': 'execution.attempt <= 1',"
                   "    'code': 'no_answer', 'message': 'm', 'class': 'transient'},"
                   "  {'type': 'compute.transform', 'data': '$.execution.attempt'}],"
                   "  'retry': {%s}}]}",
                   rows[i].policy);
        buf_char(&text, 0);
        start(text.ptr);
        assert_int_equal(rig.x->status, rows[i].retries ? STATUS_WAITING : STATUS_FAILED);
    }
}

static void test_retry__fail_fast_drops_the_default_policy_but_not_a_written_one(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'fail_fast', 'steps': [{'code': 'x',"
          "  'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.attempt <= 1', 'code': 'no_answer',"
          "      'message': 'm', 'class': 'transient'},"
          "    {'type': 'compute.transform', 'data': '$.execution.attempt'}]}]}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    start("{'code': 'a', 'onError': 'fail_fast', 'steps': [{'code': 'x',"
          "  'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.attempt <= 1', 'code': 'no_answer',"
          "      'message': 'm', 'class': 'transient'},"
          "    {'type': 'compute.transform', 'data': '$.execution.attempt'}],"
          "  'retry': {'maxAttempts': 2}}]}");
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    start("{'code': 'a', 'onError': 'fail_fast', 'settings': {'retryPolicy': {'maxAttempts': 2}},"
          "  'steps': [{'code': 'x', 'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.attempt <= 1', 'code': 'no_answer',"
          "      'message': 'm', 'class': 'transient'},"
          "    {'type': 'compute.transform', 'data': '$.execution.attempt'}]}]}");
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_retry__every_strategy_tries_again_first(void **state)
{
    static const struct {
        const char *on_error;
        enum execution_status end;
    } rows[] = {{"compensate", STATUS_FAILED}, {"retry", STATUS_FAILED}, {"hold", STATUS_WAITING}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct buf text;

        buf_init_arena(&text, &rig.mem);
        buf_printf(&text,
                   "{'code': 'a', 'onError': '%s', 'steps': [{'code': 'x', 'procedure': ["
                   "  {'type': 'compute.fail', 'when': 'execution.attempt <= 99',"
                   "    'code': 'no_answer', 'message': 'm', 'class': 'transient'},"
                   "  {'type': 'compute.transform', 'data': '$.execution.attempt'}]}]}",
                   rows[i].on_error);
        buf_char(&text, 0);
        start(text.ptr);
        rig_settle(&rig);
        assert_string_equal(rig_trace(&rig), "x.failed x.failed(2) x.failed(3)");
        assert_int_equal(rig.x->status, rows[i].end);
    }
    assert_true(waits_for("incident"));
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_true(str_eq(rig.last.dead_letters.items[0].kind, STR("incident")));
    assert_int_equal(rig.last.dead_letters.items[0].attempts, 3);
}

static void test_retry__continue_goes_on_after_the_last_attempt(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': ["
          "  {'code': 'x', 'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.attempt <= 99', 'code': 'no_answer',"
          "      'message': 'm', 'class': 'transient'},"
          "    {'type': 'compute.transform', 'data': '$.execution.attempt'}],"
          "    'onError': 'continue'},"
          "  {'code': 'y',"
          "    'procedure': {'type': 'compute.transform', 'data': '$.steps.x.error.code'}}]}");
    rig_settle(&rig);
    assert_string_equal(rig_output(&rig, "y"), "'no_answer'");
}

static void test_retry__the_input_of_a_visit_is_evaluated_once(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'x','input':{'at':'=string($.now)'},'procedure':["
          "{'type':'compute.fail','when':'execution.attempt == 1','code':'c','message':'m',"
          "'class':'transient'},{'type':'compute.transform','data':'$.input.at'}]}]}");
    rig_pass(&rig, 3600 * SECOND);
    rig_settle(&rig);
    assert_string_equal(rig_output(&rig, "x"), "'2026-01-01T00:00:00Z'");
}

static void test_retry__an_attempt_that_failed_leaves_nothing(void **state)
{
    int64_t version;

    (void)state;
    start("{'code':'a','steps':[{'code':'x','procedure':["
          "{'type':'compute.set','values':{'n':'=has($.variables.n) ? 2 : 1'}},"
          "{'type':'record.create','object':'o','id':'1','data':{'attempt':'$.execution.attempt'}},"
          "{'type':'compute.fail','when':'execution.attempt == 1','code':'c','message':'m',"
          "'class':'transient'}]}]}");
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "none");
    assert_int_equal(rig.x->variables.len, 0);
    rig_settle(&rig);
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "{'attempt':2}");
    assert_string_equal(rig_text(&rig, rig.x->variables_json), "{'n':1}");
}

static void test_retry__a_command_may_have_a_policy_of_its_own(void **state)
{
    (void)state;
    start("{'code':'a','onError':'fail_fast','steps':[{'code':'x','procedure':["
          "{'type':'compute.fail','when':'execution.attempt <= 2','code':'c','message':'m',"
          "'class':'transient','retry':{'maxAttempts':3,'delay':'1s','jitter':'none'}},"
          "{'type':'compute.transform','data':'$.execution.attempt'}]}]}");
    assert_true(rig.x->wake_at_us == rig.now_us + SECOND);
    rig_settle(&rig);
    assert_string_equal(rig_output(&rig, "x"), "3");
}

static void test_retry__comes_before_catch_and_optional(void **state)
{
    (void)state;
    start("{'code':'a','onError':'fail_fast','steps':[{'code':'x','procedure':["
          "{'type':'flow.try','as':'t','commands':[{'type':'compute.fail','code':'c','message':'m',"
          "'class':'transient','retry':{'maxAttempts':2}}],'catch':[{'type':'compute.transform',"
          "'data':'=$.execution.attempt * 10'}]}]}]}");
    assert_int_equal(rig.x->cursor.phase, PHASE_RETRY);
    rig_settle(&rig);
    assert_string_equal(rig_output(&rig, "x"), "20");
}

static void test_retry__cancel_ends_the_wait_for_the_next_attempt(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'x', 'procedure': ["
          "  {'type': 'compute.fail', 'when': 'execution.attempt <= 1', 'code': 'no_answer',"
          "    'message': 'm', 'class': 'transient'},"
          "  {'type': 'compute.transform', 'data': '$.execution.attempt'}]}]}");
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_retry__a_transient_error_is_tried_again),
        CLAIM(test_retry__attempts_end),
        CLAIM(test_retry__too_early_a_wake_does_nothing),
        CLAIM(test_retry__delays_grow_up_to_the_longest),
        CLAIM(test_retry__a_business_error_is_final),
        CLAIM(test_retry__on_and_not_on_narrow_it),
        CLAIM(test_retry__fail_fast_drops_the_default_policy_but_not_a_written_one),
        CLAIM(test_retry__every_strategy_tries_again_first),
        CLAIM(test_retry__continue_goes_on_after_the_last_attempt),
        CLAIM(test_retry__the_input_of_a_visit_is_evaluated_once),
        CLAIM(test_retry__an_attempt_that_failed_leaves_nothing),
        CLAIM(test_retry__a_command_may_have_a_policy_of_its_own),
        CLAIM(test_retry__comes_before_catch_and_optional),
        CLAIM(test_retry__cancel_ends_the_wait_for_the_next_attempt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
