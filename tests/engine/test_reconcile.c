/* test_reconcile.c - claims about finding out what became of an attempt. */
#include "engine/reconcile_rig.h"

/* --- what it answers --- */

static void test_reconcile__succeeded_completes_the_step_with_the_output(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "    'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "      'class': 'indeterminate', 'details': {'sent': true}},"
        "    'reconcile': {'procedure': ["
        "      {'type': 'compute.set',"
        "        'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "      {'type': 'compute.transform',"
        "        'data': "
        "'=[{\\'outcome\\':\\'succeeded\\',\\'output\\':{\\'id\\':\\'p1\\'}}][variables.asked - "
        "1]'}],"
        "      'every': '5s', 'max': 3}, 'retry': {'maxAttempts': 1}},"
        "  {'code': 'after', 'procedure': {'type': 'compute.transform', 'data': '$.steps.pay'}}]}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?pay pay after");
    assert_string_equal(rig_output(&rig, "pay"), "{'id':'p1'}");
    assert_has(rig_output(&rig, "after"), "'success':true");
    assert_string_equal(rig_text(&rig, question(0)->key), ID "-pay-reconcile-1");
    assert_string_equal(rig_text(&rig, rig_row(&rig, "pay")->input_json), "{'sum':10}");
    assert_int_equal(rig_row(&rig, "pay")->attempt, 1);
    assert_int_equal(rig.x->cursor.reconciling == NULL, true);
}

static void test_reconcile__failed_is_a_business_error_that_is_not_tried_again(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "    'class': 'indeterminate', 'details': {'sent': true}},"
        "  'reconcile': {'procedure': ["
        "    {'type': 'compute.set',"
        "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "    {'type': 'compute.transform',"
        "      'data': '=[{\\'outcome\\':\\'failed\\'}][variables.asked - 1]'}], 'every': '5s',"
        "    'max': 3}, 'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'}}]}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "?pay pay.failed");
    assert_has(error(), "'code':'external_failed'");
    assert_has(error(), "'class':'business','retryable':false");
    run("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "    'class': 'indeterminate', 'details': {'sent': true}},"
        "  'reconcile': {'procedure': ["
        "    {'type': 'compute.set',"
        "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "    {'type': 'compute.transform',"
        "      'data': "
        "'=[{\\'outcome\\':\\'failed\\',\\'error\\':{\\'code\\':\\'declined\\',\\'message\\':\\'no "
        "funds\\',\\'class\\':\\'transient\\'}}][variables.asked - 1]'}],"
        "    'every': '5s', 'max': 3},"
        "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'}}]}");
    assert_has(error(), "{'code':'declined','message':'no funds','class':'business'");
}

static void test_reconcile__not_happened_tries_again_with_the_same_key(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
          "  'procedure': ["
          "    {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
          "      'class': 'indeterminate', 'when': 'execution.attempt == 1'},"
          "    {'type': 'compute.transform', 'data': {'id': 'again'}}],"
          "  'reconcile': {'procedure': ["
          "    {'type': 'compute.set',"
          "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
          "    {'type': 'compute.transform',"
          "      'data': '=[{\\'outcome\\':\\'not_happened\\'}][variables.asked - 1]'}],"
          "    'every': '5s', 'max': 3},"
          "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'}}]}");
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(), "{'kind':'retry','step':'pay','attempt':2,'error':{'code':"
                              "'no_answer'");
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?pay pay.failed pay(2)");
    assert_int_equal(rig_row(&rig, "pay")->visit, 1);
}

static void test_reconcile__not_happened_without_an_attempt_left_has_failed(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "    'class': 'indeterminate', 'details': {'sent': true}},"
        "  'reconcile': {'procedure': ["
        "    {'type': 'compute.set',"
        "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "    {'type': 'compute.transform',"
        "      'data': '=[{\\'outcome\\':\\'not_happened\\'}][variables.asked - 1]'}],"
        "    'every': '5s', 'max': 3}, 'retry': {'maxAttempts': 1},"
        "  'rollback': {'type': 'compute.transform',"
        "    'data': ['$.steps.pay.output', '$.input.sum']}}]}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    /* It has not happened, so there is nothing to undo and nothing to see. */
    assert_string_equal(rig_trace(&rig), "?pay pay.failed");
    assert_has(error(), "'code':'no_answer','message':'lost','class':'transient'");
    assert_int_equal(rig.last.dead_letters.count, 0);
}

static void test_reconcile__anything_else_is_asked_again_after_every(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
          "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
          "    'class': 'indeterminate', 'details': {'sent': true}},"
          "  'reconcile': {'procedure': ["
          "    {'type': 'compute.set',"
          "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
          "    {'type': 'compute.transform',"
          "      'data': "
          "'=[{\\'outcome\\':\\'unknown\\'},7,{\\'outcome\\':\\'succeeded\\'}][variables.asked - "
          "1]'}],"
          "    'every': '5s', 'max': 3}, 'retry': {'maxAttempts': 1}}]}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_string_equal(waiting_for(),
                        "{'kind':'reconcile','step':'pay','asked':0,'error':{'code':'no_answer',"
                        "'message':'lost','class':'indeterminate','retryable':true,'details':"
                        "{'sent':true},'source':'/steps/0/procedure','version':1},'since':"
                        "'2026-01-01T00:00:00Z','until':'2026-01-01T00:00:00Z'}");
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(), "'asked':1");
    assert_has(waiting_for(), "'until':'2026-01-01T00:00:05Z'");
    assert_false(rig_wake(&rig));
    rig_pass(&rig, 5 * SECOND);
    rig_reload(&rig);
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(), "'asked':2");
    assert_true(may(ACTION_CANCEL));
    assert_false(may(ACTION_RETRY));
    assert_false(may(ACTION_SKIP));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "pay"), "null");
    assert_string_equal(rig_text(&rig, question(2)->key), ID "-pay-reconcile-3");
    assert_int_equal(question(2)->attempt, 3);
}

static void test_reconcile__an_error_of_its_own_is_no_answer(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "    'class': 'indeterminate', 'details': {'sent': true}},"
        "  'reconcile': {'procedure': ["
        "    {'type': 'compute.set', 'values': {'asked': 1}},"
        "    {'type': 'compute.transform', 'data': '=1 / 0'}], 'every': '5s', 'max': 3},"
        "  'retry': {'maxAttempts': 1}}]}");
    assert_string_equal(rig_trace(&rig), "?pay.failed ?pay.failed(2) ?pay.failed(3)");
    assert_has(rig_text(&rig, question(0)->error_json), "expression_");
    /* A question that failed leaves no trace. */
    assert_int_equal(rig.x->variables_json.len, 0);
    assert_has(waiting_for(), "'parked':true");
}

static void test_reconcile__sees_the_error_the_input_and_no_result(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'before', 'procedure': {'type': 'compute.transform', 'data': 5}},"
        "  {'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "    'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "      'class': 'indeterminate', 'details': {'sent': true}},"
        "    'reconcile': {'procedure': {'type': 'compute.transform',"
        "      'data': {'outcome': 'succeeded', 'output': ["
        "        '$.error.code', '$.error.details.sent', '$.input.sum', '$.input.n',"
        "        '$.steps.pay', '$.steps.before.output', '$.execution.attempt']}}, 'every': '5s',"
        "      'max': 3}, 'retry': {'maxAttempts': 1}}]}");
    assert_string_equal(rig_output(&rig, "pay"), "['no_answer',true,10,1,null,5,1]");
}

static void test_reconcile__may_be_a_named_procedure_with_its_input(void **state)
{
    (void)state;
    run("{'code': 'a', 'procedures': {'look': {'commands': [{'type': 'compute.transform',"
        "  'data': {'outcome': 'succeeded', 'output': '$.input.of'}}]}},"
        "  'steps': [{'code': 'pay', 'input': {'sum': 4}, 'retry': {'maxAttempts': 1},"
        "    'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "      'class': 'indeterminate', 'details': {'sent': true}},"
        "    'reconcile': {'procedure': 'look', 'input': {'of': '$.input.sum'}}}]}");
    assert_string_equal(rig_output(&rig, "pay"), "4");
    assert_string_equal(rig_text(&rig, question(0)->input_json), "{'of':4}");
}

static void test_reconcile__sees_the_loop_that_its_step_is_in(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'l', 'loop': {'for': ['x', 'y'], 'as': 'line',"
        "  'collect': '$.steps.pay.output', 'steps': [{'code': 'pay',"
        "    'input': {'sum': '=input.n * 10'}, 'procedure': {'type': 'compute.fail',"
        "      'code': 'no_answer', 'message': 'lost', 'class': 'indeterminate',"
        "      'details': {'sent': true}}, 'reconcile': {'procedure': {'type': 'compute.transform',"
        "      'data': {'outcome': 'succeeded', 'output': '$.loop.line'}}, 'every': '5s',"
        "      'max': 3}, 'retry': {'maxAttempts': 1}}]}}]}");
    assert_string_equal(rig_trace(&rig), "?pay pay ?pay2 pay2 l");
    assert_has(rig_output(&rig, "l"), "'items':['x','y']");
    assert_string_equal(rig_text(&rig, question(1)->key), ID "-pay-2-reconcile-1");
}

/* --- which attempts --- */

static void test_reconcile__is_not_asked_about_other_failures(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "  'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'},"
        "  'reconcile': {'procedure': ["
        "    {'type': 'compute.set',"
        "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "    {'type': 'compute.transform', 'data': '=[][variables.asked - 1]'}], 'every': '5s',"
        "    'max': 3}, 'retry': {'maxAttempts': 1}}]}");
    assert_string_equal(rig_trace(&rig), "pay.failed");
    run("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "  'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm',"
        "    'class': 'transient'}, 'reconcile': {'procedure': ["
        "    {'type': 'compute.set',"
        "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "    {'type': 'compute.transform', 'data': '=[][variables.asked - 1]'}], 'every': '5s',"
        "    'max': 3}, 'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'}}]}");
    assert_string_equal(rig_trace(&rig), "pay.failed pay.failed(2)");
}

static void test_reconcile__each_attempt_in_doubt_has_its_own_questions(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "    'class': 'indeterminate', 'details': {'sent': true}},"
        "  'reconcile': {'procedure': ["
        "    {'type': 'compute.set',"
        "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "    {'type': 'compute.transform',"
        "      'data': "
        "'=[{\\'outcome\\':\\'not_happened\\'},0,0,{\\'outcome\\':\\'succeeded\\'}][variables."
        "asked - 1]'}],"
        "    'every': '5s', 'max': 3},"
        "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'}}]}");
    assert_string_equal(rig_trace(&rig), "?pay pay.failed ?pay(2) ?pay(3) ?pay(4) "
                                         "pay(2)");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_reconcile__comes_before_the_policy_of_a_command(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "  'procedure': [{'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "    'class': 'indeterminate',"
        "    'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'}}],"
        "  'reconcile': {'procedure': ["
        "    {'type': 'compute.set',"
        "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "    {'type': 'compute.transform',"
        "      'data': "
        "'=[{\\'outcome\\':\\'not_happened\\'},{\\'outcome\\':\\'not_happened\\'}][variables.asked "
        "- 1]'}],"
        "    'every': '5s', 'max': 3}, 'retry': {'maxAttempts': 1}}]}");
    assert_string_equal(rig_trace(&rig), "?pay pay.failed ?pay(2) pay.failed(2)");
}

/* --- what the attempt had done --- */

static void test_reconcile__what_the_attempt_staged_is_applied_when_it_succeeded(void **state)
{
    int64_t version;

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
          "  'procedure': ["
          "    {'type': 'compute.set', 'values': {'v': 1}},"
          "    {'type': 'record.create', 'object': 'o', 'id': '1', 'data': {'k': 2}},"
          "    {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
          "      'class': 'indeterminate', 'details': {'sent': true}}],"
          "  'reconcile': {'procedure': ["
          "    {'type': 'compute.set',"
          "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
          "    {'type': 'compute.transform',"
          "      'data': '=[{\\'outcome\\':\\'succeeded\\'}][variables.asked - 1]'}],"
          "    'every': '5s', 'max': 3}, 'retry': {'maxAttempts': 1}}]}");
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "none");
    rig_reload(&rig);
    rig_settle(&rig);
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "{'k':2}");
    assert_string_equal(rig_text(&rig, rig.x->variables_json), "{'asked':1,'v':1}");
}

static void test_reconcile__what_the_attempt_staged_is_gone_when_it_failed(void **state)
{
    int64_t version;

    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "  'procedure': ["
        "    {'type': 'record.create', 'object': 'o', 'id': '1', 'data': {'k': 2}},"
        "    {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "      'class': 'indeterminate', 'details': {'sent': true}}],"
        "  'reconcile': {'procedure': ["
        "    {'type': 'compute.set',"
        "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "    {'type': 'compute.transform',"
        "      'data': '=[{\\'outcome\\':\\'failed\\'}][variables.asked - 1]'}], 'every': '5s',"
        "    'max': 3}, 'retry': {'maxAttempts': 1}}]}");
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "none");
}

static void test_reconcile__finished_commands_are_not_repeated_and_are_undone(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "  'procedure': ["
        "    {'type': 'compute.transform', 'as': 'first', 'data': '=$.execution.attempt',"
        "      'rollback': {'type': 'compute.transform', 'data': '=$.first'}},"
        "    {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "      'class': 'indeterminate', 'details': {'sent': true}}],"
        "  'reconcile': {'procedure': ["
        "    {'type': 'compute.set',"
        "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "    {'type': 'compute.transform',"
        "      'data': "
        "'=[{\\'outcome\\':\\'not_happened\\'},{\\'outcome\\':\\'failed\\'}][variables.asked - "
        "1]'}],"
        "    'every': '5s', 'max': 3},"
        "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'}}]}");
    assert_string_equal(rig_trace(&rig), "?pay pay.failed ?pay(2) pay.failed(2) -pay");
    assert_string_equal(undone(), "1");
    assert_has(error(), "'compensated':['pay']");
}

static void test_reconcile__a_step_that_succeeded_so_is_rolled_back_like_any_other(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "    'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "      'class': 'indeterminate', 'details': {'sent': true}},"
        "    'reconcile': {'procedure': ["
        "      {'type': 'compute.set',"
        "        'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "      {'type': 'compute.transform',"
        "        'data': '=[{\\'outcome\\':\\'succeeded\\',\\'output\\':7}][variables.asked - "
        "1]'}],"
        "      'every': '5s', 'max': 3}, 'retry': {'maxAttempts': 1},"
        "    'rollback': {'type': 'compute.transform',"
        "      'data': ['$.steps.pay.output', '$.input.sum']}},"
        "  {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_string_equal(rig_trace(&rig), "?pay pay x.failed -pay");
    assert_string_equal(undone(), "[7,10]");
}

/* --- workers --- */

static void test_reconcile__a_worker_may_be_in_doubt_and_another_asked(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
          "  'procedure': 'bank.pay',"
          "  'reconcile': {'procedure': 'bank.find', 'every': '5s', 'max': 3},"
          "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'}, 'timeout': '1h'}]}");
    assert_true(
        answer(ID "-pay", NULL, "{'code':'no_answer','message':'lost','class':'indeterminate'}"));
    assert_has(waiting_for(), "'kind':'reconcile'");
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(),
               "{'kind':'job','step':'pay','procedure':'bank.find','reconcile':true");
    rig_reload(&rig);
    assert_false(answer(ID "-pay", "{}", NULL));
    assert_true(answer(ID "-pay-reconcile-1", NULL, "{'code':'down','message':'m'}"));
    assert_has(waiting_for(), "{'kind':'reconcile','step':'pay','asked':1");
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(answer(ID "-pay-reconcile-2", "{'outcome':'not_happened'}", NULL));
    assert_has(waiting_for(), "{'kind':'retry','step':'pay','attempt':2");
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(answer(ID "-pay", "{'id':'p'}", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?pay.failed ?pay(2) pay.failed pay(2)");
}

static void test_reconcile__a_worker_that_takes_too_long_has_not_answered(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
          "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
          "    'class': 'indeterminate', 'details': {'sent': true}},"
          "  'reconcile': {'procedure': 'bank.find', 'every': '5s', 'max': 3},"
          "  'retry': {'maxAttempts': 1}, 'timeout': '1m'}]}");
    assert_true(rig_wake(&rig));
    rig_pass(&rig, 60 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(rig_trace(&rig), "?pay.failed");
    assert_has(waiting_for(), "'asked':1");
    assert_int_equal(question(0)->completed_at_us - question(0)->started_at_us, 60 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_reconcile__succeeded_completes_the_step_with_the_output),
        CLAIM(test_reconcile__failed_is_a_business_error_that_is_not_tried_again),
        CLAIM(test_reconcile__not_happened_tries_again_with_the_same_key),
        CLAIM(test_reconcile__not_happened_without_an_attempt_left_has_failed),
        CLAIM(test_reconcile__anything_else_is_asked_again_after_every),
        CLAIM(test_reconcile__an_error_of_its_own_is_no_answer),
        CLAIM(test_reconcile__sees_the_error_the_input_and_no_result),
        CLAIM(test_reconcile__may_be_a_named_procedure_with_its_input),
        CLAIM(test_reconcile__sees_the_loop_that_its_step_is_in),
        CLAIM(test_reconcile__is_not_asked_about_other_failures),
        CLAIM(test_reconcile__each_attempt_in_doubt_has_its_own_questions),
        CLAIM(test_reconcile__comes_before_the_policy_of_a_command),
        CLAIM(test_reconcile__what_the_attempt_staged_is_applied_when_it_succeeded),
        CLAIM(test_reconcile__what_the_attempt_staged_is_gone_when_it_failed),
        CLAIM(test_reconcile__finished_commands_are_not_repeated_and_are_undone),
        CLAIM(test_reconcile__a_step_that_succeeded_so_is_rolled_back_like_any_other),
        CLAIM(test_reconcile__a_worker_may_be_in_doubt_and_another_asked),
        CLAIM(test_reconcile__a_worker_that_takes_too_long_has_not_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
