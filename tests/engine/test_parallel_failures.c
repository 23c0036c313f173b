/* test_parallel_failures.c - claims about strands beside each other of which one fails, is held or is stopped. */
#include "engine/parallel_rig.h"

/* --- failures --- */

static void test_parallel__a_failure_stops_the_others_and_rolls_back(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 'a'},"
          "     'rollback': {'type': 'log', 'message': 'x'}},"
          "   {'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "   {'code': 'c', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}],"
          "  [{'code': 'd', 'procedure': {'type': 'compute.transform', 'data': 'd'},"
          "     'rollback': {'type': 'log', 'message': 'x'}},"
          "   {'code': 'e', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}}");
    signal("x");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(events("stopped"), "e");
    assert_string_equal(rig_trace(&rig), "a d b c.failed -d -a");
    assert_non_null(strstr(rig_text(&rig, rig.x->error_json), "'compensated':['d','a']"));
}

static void test_parallel__a_cancel_stops_each_branch_with_a_row_of_its_own(void **state)
{
    (void)state;
    start("{'code': 'r', 'procedure': {'type': 'log', 'message': 'r'},"
          "  'rollback': {'type': 'log', 'message': 'x'}},"
          "{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'z'}}]]}}");
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, ""));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(events("stopped"), "a b c");
    assert_string_equal(rig_trace(&rig), "r -r");
}

static void test_parallel__its_own_on_error_may_catch_a_failure(void **state)
{
    (void)state;
    start("{'code': 'p', 'onError': 'continue', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "   {'code': 'b', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}},"
          "{'code': 'z',"
          "  'procedure': {'type': 'compute.transform', 'data': '$.steps.p.error.code'}}");
    signal("x");
    assert_string_equal(rig_trace(&rig), "a b.failed p.failed z");
    assert_string_equal(events("stopped"), "c");
    assert_string_equal(result(), "'no'");
}

static void test_parallel__losers_that_had_completed_are_rolled_back_too(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 'a'},"
          "     'rollback': {'type': 'log', 'message': 'x'}},"
          "   {'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'c', 'procedure': {'type': 'compute.transform', 'data': 'c'},"
          "     'rollback': {'type': 'log', 'message': 'x'}},"
          "   {'code': 'd', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}},"
          "{'code': 'z', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}");
    signal("y");
    assert_string_equal(rig_trace(&rig), "a c d p z.failed -c -a");
}

static void test_parallel__a_worker_that_was_asked_may_have_done_it(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
          "  [{'code': 'a', 'procedure': 'erp.a', 'rollback': {'type': 'log', 'message': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]]}},"
          "{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "{'code': 'z', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}");
    signal("x");
    assert_string_equal(rig_trace(&rig), "b a.failed p");
    assert_non_null(strstr(rig_text(&rig, rig_row(&rig, "a")->error_json), "'class':'indetermin"));
    assert_false(answer("a", "1", NULL));
    signal("go");
    assert_string_equal(rig_trace(&rig), "b a.failed p c z.failed -a");
}

static void test_parallel__an_attempt_without_an_answer_may_have_happened(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
          "  [{'code': 'a', 'procedure': 'erp.a', 'retry': {'maxAttempts': 3, 'delay': '1h'},"
          "    'rollback': {'type': 'log', 'message': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]]}},"
          "{'code': 'z', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}");
    assert_true(answer("a", NULL, "{'code':'cut','message':'m','class':'indeterminate'}"));
    signal("x");
    assert_string_equal(rig_trace(&rig), "a.failed b a.failed(2) p z.failed -a");
}

static void test_parallel__what_is_being_asked_about_is_rolled_back_like_what_happened(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'compute.fail', 'code': 'cut', 'message': 'm',"
          "    'class': 'indeterminate'}, 'reconcile': {'procedure': {'type': 'compute.transform',"
          "      'data': {'outcome': 'unknown'}}, 'every': '1h'},"
          "    'rollback': {'type': 'log', 'message': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]]}},"
          "{'code': 'z', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}");
    assert_int_equal(execution_strands(rig.x), 2);
    pass(0);
    assert_true(waits_with("'kind':'reconcile'"));
    signal("x");
    assert_string_equal(rig_trace(&rig), "?a b a.failed p z.failed -a");
}

static void test_parallel__branches_ask_beside_each_other(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'compute.fail', 'code': 'cut', 'message': 'm',"
          "    'class': 'indeterminate'}, 'reconcile': {'procedure': {'type': 'compute.transform',"
          "      'data': {'outcome': 'succeeded', 'output': 7}}}}],"
          "  [{'code': 'b', 'procedure': {'type': 'compute.fail', 'code': 'cut', 'message': 'm',"
          "    'class': 'indeterminate'}, 'reconcile': {'procedure': {'type': 'compute.transform',"
          "      'data': {'outcome': 'unknown'}}, 'every': '1m', 'max': 2}}]]}}");
    pass(0);
    assert_string_equal(rig_trace(&rig), "?a a ?b");
    pass(60 * SECOND);
    assert_true(execution_is_held(rig.x));
    assert_true(waits_with("'kind':'reconcile','parked':true"));
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RESOLVE,
                                               .letter = rig.x->cursor.reconciling->letter,
                                               .verdict = VERDICT_SUCCEEDED,
                                               .output = value_int(8)}));
    assert_string_equal(rig_output(&rig, "p"), "{'branches':[7,8],'count':2,'ended':[0,1]}");
}

/* What an operator said has led to an incident of the same attempt: the letter before is closed. */
static void test_parallel__a_branch_that_is_held_once_more_has_one_letter(void **state)
{
    (void)state;
    start_with(
        ",'onError':'hold'",
        "{'code': 'p', 'parallel': {'branches': ["
        "  [{'code': 'a', 'procedure': {'type': 'compute.fail', 'code': 'cut', 'message': 'm',"
        "    'class': 'indeterminate'},"
        "    'reconcile': {'procedure': {'type': 'compute.transform', 'data': 0}, 'max': 1}}],"
        "  [{'code': 'b', 'procedure': {'type': 'compute.fail', 'code': 'cut', 'message': 'm',"
        "    'class': 'indeterminate'},"
        "    'reconcile': {'procedure': {'type': 'compute.transform', 'data': 0}, 'max': 1}}]]}}");
    pass(0);
    assert_true(execution_is_held(rig.x));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RESOLVE,
                                               .letter = rig.x->cursor.reconciling->letter,
                                               .verdict = VERDICT_FAILED}));
    assert_true(execution_is_held(rig.x));
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_int_equal(rig.last.incident.steps.count, 1);
}

static void test_parallel__correlated_waits_open_and_close_each_for_itself(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a',"
          "    'procedure': {'type': 'wait.signal', 'signalType': 'x', 'correlation': 'one'}}],"
          "  [{'code': 'b',"
          "    'procedure': {'type': 'wait.signal', 'signalType': 'x', 'correlation': 'two'}}]]}}");
    assert_int_equal(rig.last.opened.count, 2);
    rig_reload(&rig);
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_SIGNAL,
                                                .signal_id = STR("1"),
                                                .signal_type = STR("x"),
                                                .signal_correlation = STR("three")}));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SIGNAL,
                                               .signal_id = STR("1"),
                                               .signal_type = STR("x"),
                                               .signal_correlation = STR("two")}));
    assert_string_equal(rig_trace(&rig), "b");
    assert_int_equal(rig.last.closed.count, 1);
    assert_int_equal(rig.last.opened.count, 0);
}

static void test_parallel__what_is_lost_has_one_letter_however_often_it_is_rolled_back(void **state)
{
    size_t letters = 0;

    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': 'erp.a'}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "   {'code': 'f',"
          "     'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]]}},"
          "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 'z'},"
          "  'rollback': {'type': 'log', 'message': 'x'}}");
    signal("x");
    letters += rig.last.dead_letters.count;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rig.x->status, STATUS_FAILED);
        rig_reload(&rig);
        assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = value_absent()}));
        letters += rig.last.dead_letters.count;
    }
    /* The worker was asked once, before the first failure, and nobody after it. */
    assert_int_equal(letters, 1);
}

static void test_parallel__attempts_that_were_tried_again_are_undone_once(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'onError': 'hold', 'retry': {'maxAttempts': 1},"
          "    'procedure': [{'type': 'compute.fail', 'when': 'execution.attempt == 1',"
          "      'code': 'cut', 'message': 'm', 'class': 'indeterminate'}],"
          "    'rollback': {'type': 'log', 'message': 'x'}}],"
          "  [{'code': 'b', 'onError': 'hold', 'retry': {'maxAttempts': 1},"
          "    'procedure': [{'type': 'compute.fail', 'when': 'execution.attempt == 1',"
          "      'code': 'cut', 'message': 'm', 'class': 'indeterminate'}],"
          "    'rollback': {'type': 'log', 'message': 'x'}}]]}},"
          "{'code': 'z', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}");
    for (int i = 0; i < 2; i++) {
        assert_true(execution_is_held(rig.x));
        rig_reload(&rig);
        assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = value_absent()}));
    }
    assert_string_equal(rig_trace(&rig), "a.failed b.failed a(2) b(2) p z.failed -b -a");
}

static void test_parallel__a_retry_begins_the_stopped_branches_anew(void **state)
{
    (void)state;
    /* There is something to roll back in the program, and nothing of it has happened. */
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "   {'code': 'f', 'procedure': [{'type': 'compute.fail', 'when': 'execution.visit == 1',"
          "     'code': 'no', 'message': 'm'}]}],"
          "  [{'code': 'l', 'loop': {'for': [1, 2], 'collect': '$.loop.item',"
          "    'steps': [{'code': 'b',"
          "      'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]}}]]}},"
          "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 'z'},"
          "  'rollback': {'type': 'log', 'message': 'x'}}");
    signal("y");
    signal("x");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(events("stopped"), "b");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = value_absent()}));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_string_equal(rig_trace(&rig), "b a f.failed f2");
    signal("y");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "b a f.failed f2 b3 l p z");
    assert_string_equal(rig_output(&rig, "l"), "{'count':2,'items':[1,2],'errors':[]}");
}

static void test_parallel__finished_commands_of_a_stopped_step_are_rolled_back(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
          "  [{'code': 'a', 'procedure': ["
          "    {'type': 'compute.transform', 'data': 1, 'as': 'one',"
          "      'rollback': {'type': 'log', 'message': '{{ $.one }}'}},"
          "    {'type': 'flow.try', 'commands': [{'type': 'flow.call', 'procedure': 'erp.b'}],"
          "      'catch': [{'type': 'log', 'message': 'no'}]}]}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]]}},"
          "{'code': 'z', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}");
    signal("x");
    assert_string_equal(rig_trace(&rig), "c a.failed p z.failed -a");
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

static void test_parallel__a_held_branch_lets_the_others_go_on(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "   {'code': 'a2', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'b',"
          "     'procedure': {'type': 'compute.transform', 'data': '=$.steps.a.no.such'}},"
          "   {'code': 'c', 'procedure': {'type': 'compute.transform', 'data': 1}}]]}}");
    assert_true(execution_is_held(rig.x));
    assert_true(waits_with("{'kind':'incident','step':'b'"));
    assert_true(waits_with("'branches':[{'kind':'signal','step':'a'"));
    signal("x");
    assert_true(execution_is_held(rig.x));
    assert_string_equal(rig_trace(&rig), "b.failed a");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP, .output = value_absent()}));
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_string_equal(rig_trace(&rig), "b.failed a b2.skipped c");
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_parallel__an_incident_that_is_stopped_in_its_turn_has_no_letter(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a',"
          "    'procedure': {'type': 'compute.transform', 'data': '=$.steps.b.no.such'}}],"
          "  [{'code': 'b',"
          "    'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]]}}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "a.failed b.failed");
    assert_int_equal(rig.last.dead_letters.count, 0);
}

static void test_parallel__each_incident_has_a_letter_of_its_own(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a',"
          "    'procedure': {'type': 'compute.transform', 'data': '=$.steps.c.no.such'}}],"
          "  [{'code': 'b',"
          "    'procedure': {'type': 'compute.transform', 'data': '=$.steps.c.no.such'}}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]]}}");
    assert_int_equal(rig.last.dead_letters.count, 2);
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP, .output = value_absent()}));
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_int_equal(rig.last.incident.steps.count, 1);
    assert_true(str_eq(rig.last.incident.steps.items[0], STR("a")));
    assert_true(execution_is_held(rig.x));
    assert_true(waits_with("{'kind':'incident','step':'b'"));
    signal("x");
    assert_int_equal(rig.last.incident.status, LETTER_OPEN);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP, .output = value_absent()}));
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_parallel__a_letter_is_retried_where_its_step_is_held(void **state)
{
    struct event retry = {.kind = EVENT_RETRY, .held = STR("b"), .input = value_absent()};

    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a',"
          "    'procedure': {'type': 'compute.transform', 'data': '=$.steps.c.no.such'}}],"
          "  [{'code': 'b',"
          "    'procedure': {'type': 'compute.transform', 'data': '=size($.steps.c.type)'}}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]]}}");
    assert_int_equal(rig.last.dead_letters.count, 2);
    signal("x");
    rig_reload(&rig);
    assert_true(rig_event(&rig, retry));
    assert_string_equal(rig_trace(&rig), "a.failed b.failed c b2");
    assert_int_equal(rig.last.incident.status, LETTER_RETRIED);
    assert_true(str_eq(rig.last.incident.steps.items[0], STR("b")));
    assert_true(waits_with("{'kind':'incident','step':'a'"));
    signal("nobody waits");
    assert_int_equal(rig.last.incident.status, LETTER_OPEN);
}

static void test_parallel__an_operator_retries_the_branch_that_is_held(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'b',"
          "    'procedure': {'type': 'compute.transform', 'data': '=size($.steps.a.type)'}}]]}}");
    assert_true(execution_is_held(rig.x));
    signal("x");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY,
                                               .input = value_absent(),
                                               .program = NULL,
                                               .from = STR_NONE}));
    assert_int_equal(rig.last.incident.status, LETTER_RETRIED);
    assert_string_equal(rig_trace(&rig), "b.failed a b2 p");
}

static void test_parallel__a_failed_one_goes_on_with_all_branches(void **state)
{
    (void)state;
    start_with(
        ",'onError':'fail_fast'",
        "{'code': 'p', 'parallel': {'branches': ["
        "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
        "   {'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 1}}],"
        "  [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}},"
        "   {'code': 'd', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'},"
        "     'when': '$.steps.e == null'},"
        "   {'code': 'e', 'procedure': {'type': 'compute.transform', 'data': 2}}]]}}");
    signal("y");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    rig_reload(&rig);
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_RETRY, .from = STR("e"), .input = value_absent()}));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "c d.failed e a b p");
}

static void test_parallel__end_stops_everything(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "   {'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 1}, 'goto': 'end'}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}},"
          "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 1}}");
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "a b p");
    assert_string_equal(events("stopped"), "c");
}

static void test_parallel__cancel_rolls_back_all_branches(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 'a'},"
          "     'rollback': {'type': 'log', 'message': 'x'}},"
          "   {'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'c', 'procedure': {'type': 'compute.transform', 'data': 'c'},"
          "     'rollback': {'type': 'log', 'message': 'x'}},"
          "   {'code': 'd', 'procedure': 'erp.d',"
          "     'rollback': {'type': 'log', 'message': 'x'}}]]}}");
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, "no more"));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "a c d.failed -d -c -a");
}

static void test_parallel__the_deadline_ends_all_branches(void **state)
{
    (void)state;
    start_with(",'settings':{'timeout':'1h'}",
               "{'code': 'p', 'parallel': {'branches': ["
               "  [{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 'a'},"
               "     'rollback': {'type': 'log', 'message': 'x'}},"
               "   {'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
               "  [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}}");
    pass(3600 * SECOND);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "a -a");
}

/* --- turns --- */

/* The deadline has held a branch between two attempts: the one that will not be is the second. */
static void test_parallel__a_held_branch_is_stopped_behind_its_attempts(void **state)
{
    (void)state;
    start_with(",'onError':'hold','settings':{'timeout':'1h'}",
               "{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
               "  [{'code': 'x', 'retry': {'maxAttempts': 3, 'delay': '2h'},"
               "    'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm',"
               "      'class': 'indeterminate'}}],"
               "  [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}]]}}");
    assert_int_equal(execution_cursor(rig.x, 0)->phase, PHASE_RETRY);
    pass(3600 * SECOND);
    assert_true(execution_is_held(rig.x));
    signal("go");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig_row(&rig, "x")->attempt, 2);
}

/* The same after a wait for a child, which leaves no doubt about what has happened. */
static void test_parallel__a_held_branch_is_stopped_behind_its_wait_for_a_child(void **state)
{
    struct process_read *process;

    (void)state;
    rig_define(&rig, "{'code': 'child', 'steps': [{'code': 's',"
                     "  'procedure': {'type': 'compute.transform', 'data': 1}}]}");
    process = VEC_ADD(&rig.mem, &rig.processes);
    *process = (struct process_read){.code = STR("child"), .program = rig.program};
    rig.program = NULL;
    rig.child = (struct child_read){.is_found = true, .status = STATUS_WAITING};
    start_with(
        ",'onError':'hold','settings':{'timeout':'1h'}",
        "{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
        "  [{'code': 'x', 'timeout': '1s', 'retry': {'maxAttempts': 3, 'delay': '2h'},"
        "    'procedure': {'type': 'flow.start', 'code': 'child', 'input': {}, 'wait': true}}],"
        "  [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}]]}}");
    pass(2 * SECOND);
    assert_int_equal(execution_cursor(rig.x, 0)->phase, PHASE_RETRY);
    pass(3600 * SECOND);
    assert_true(execution_is_held(rig.x));
    signal("go");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig_row(&rig, "x")->attempt, 2);
    program_release(process->program);
}

/* The deadline holds it while it waits for its child: its only attempt is stopped. */
static void test_parallel__a_branch_held_while_it_waits_for_a_child_is_stopped_once(void **state)
{
    struct process_read *process;

    (void)state;
    rig_define(&rig, "{'code': 'child', 'steps': [{'code': 's',"
                     "  'procedure': {'type': 'compute.transform', 'data': 1}}]}");
    process = VEC_ADD(&rig.mem, &rig.processes);
    *process = (struct process_read){.code = STR("child"), .program = rig.program};
    rig.program = NULL;
    rig.child = (struct child_read){.is_found = true, .status = STATUS_WAITING};
    start_with(",'onError':'hold','settings':{'timeout':'1h'}",
               "{'code': 'p', 'parallel': {'join': 'any',"
               "  'branches': ["
               "    [{'code': 'x', 'retry': {'maxAttempts': 3, 'delay': '2h'},"
               "      'procedure': {'type': 'flow.start', 'code': 'child', 'input': {},"
               "        'wait': true}}],"
               "    [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}]]}}");
    pass(3600 * SECOND);
    assert_true(execution_is_held(rig.x));
    signal("go");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig_row(&rig, "x")->attempt, 1);
    program_release(process->program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_parallel__a_cancel_stops_each_branch_with_a_row_of_its_own),
        CLAIM(test_parallel__a_failure_stops_the_others_and_rolls_back),
        CLAIM(test_parallel__its_own_on_error_may_catch_a_failure),
        CLAIM(test_parallel__losers_that_had_completed_are_rolled_back_too),
        CLAIM(test_parallel__a_worker_that_was_asked_may_have_done_it),
        CLAIM(test_parallel__an_attempt_without_an_answer_may_have_happened),
        CLAIM(test_parallel__what_is_being_asked_about_is_rolled_back_like_what_happened),
        CLAIM(test_parallel__branches_ask_beside_each_other),
        CLAIM(test_parallel__a_branch_that_is_held_once_more_has_one_letter),
        CLAIM(test_parallel__correlated_waits_open_and_close_each_for_itself),
        CLAIM(test_parallel__what_is_lost_has_one_letter_however_often_it_is_rolled_back),
        CLAIM(test_parallel__attempts_that_were_tried_again_are_undone_once),
        CLAIM(test_parallel__a_retry_begins_the_stopped_branches_anew),
        CLAIM(test_parallel__finished_commands_of_a_stopped_step_are_rolled_back),
        CLAIM(test_parallel__a_held_branch_lets_the_others_go_on),
        CLAIM(test_parallel__an_incident_that_is_stopped_in_its_turn_has_no_letter),
        CLAIM(test_parallel__each_incident_has_a_letter_of_its_own),
        CLAIM(test_parallel__a_letter_is_retried_where_its_step_is_held),
        CLAIM(test_parallel__an_operator_retries_the_branch_that_is_held),
        CLAIM(test_parallel__a_failed_one_goes_on_with_all_branches),
        CLAIM(test_parallel__end_stops_everything),
        CLAIM(test_parallel__cancel_rolls_back_all_branches),
        CLAIM(test_parallel__the_deadline_ends_all_branches),
        CLAIM(test_parallel__a_held_branch_is_stopped_behind_its_attempts),
        CLAIM(test_parallel__a_held_branch_is_stopped_behind_its_wait_for_a_child),
        CLAIM(test_parallel__a_branch_held_while_it_waits_for_a_child_is_stopped_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
