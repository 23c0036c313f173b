/* test_reconcile_operator.c - claims about attempts in doubt that are parked for an operator, or rolled back. */
#include "engine/reconcile_rig.h"

/* --- parked --- */

static void park(const char *more)
{
    char scenario[2000];

    (void)snprintf(
        scenario, sizeof(scenario),
        "{'code': 'a', 'steps': ["
        "  {'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "    'procedure': ["
        "      {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "        'class': 'indeterminate', 'when': 'execution.attempt == 1'},"
        "      {'type': 'compute.transform', 'data': {'id': 'again'}}],"
        "    'reconcile': {"
        "      'procedure': {'type': 'compute.transform', 'data': {'outcome': 'unknown'}},"
        "      'every': '5s', 'max': 3}%s},"
        "  {'code': 'after', 'procedure': {'type': 'compute.transform', 'data': '$.steps.pay'}}]}",
        more);
    run(scenario);
    assert_int_equal(rig.x->status, STATUS_WAITING);
}

static void test_reconcile__after_max_it_is_parked_with_a_dead_letter(void **state)
{
    const struct dead_letter *l;

    (void)state;
    park(", 'retry': {'maxAttempts': 1}");
    assert_has(waiting_for(), "{'kind':'reconcile','parked':true,'step':'pay','asked':3,'error':"
                              "{'code':'no_answer'");
    assert_int_equal(rig.x->wake_at_us, 0);
    assert_int_equal(rig.last.dead_letters.count, 1);
    l = &rig.last.dead_letters.items[0];
    assert_string_equal(rig_text(&rig, l->kind), "reconcile");
    assert_string_equal(rig_text(&rig, l->step), "pay");
    assert_int_equal(l->attempts, 3);
    assert_string_equal(rig_text(&rig, l->payload_json), "{'sum':10}");
    assert_has(rig_text(&rig, l->cause_json), "'no_answer'");
    assert_true(may(ACTION_CANCEL));
    assert_true(may(ACTION_RETRY));
    assert_false(may(ACTION_SKIP));
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_SKIP}));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    /* Its deadline does not decide it. */
    rig_pass(&rig, 100 * 86400 * SECOND);
    assert_false(rig_wake(&rig));
    assert_true(rig_signal(&rig, "s", "x", "1"));
    assert_int_equal(rig.last.incident.status, LETTER_OPEN);
}

static void test_reconcile__an_operator_says_that_it_succeeded(void **state)
{
    (void)state;
    park(", 'retry': {'maxAttempts': 1}");
    rig_reload(&rig);
    rig_pass(&rig, 100 * 86400 * SECOND);
    assert_true(resolve("succeeded", "{'id':'by hand'}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "pay"), "{'id':'by hand'}");
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_string_equal(rig_text(&rig, rig.last.incident.note), "looked it up");
}

static void test_reconcile__an_operator_says_that_it_failed(void **state)
{
    (void)state;
    park(", 'retry': {'maxAttempts': 1}");
    assert_true(resolve("failed", NULL));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_has(error(), "'class':'business'");
}

static void test_reconcile__an_operator_says_that_it_has_not_happened(void **state)
{
    (void)state;
    park(", 'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'}");
    rig_pass(&rig, 3600 * SECOND);
    assert_true(resolve("not_happened", NULL));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) ?pay(3) pay.failed pay(2) after");
}

static void test_reconcile__an_outcome_for_another_letter_is_refused(void **state)
{
    (void)state;
    park(", 'retry': {'maxAttempts': 1}");
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_RESOLVE,
                                                .letter = STR("01020304-0506-7708-890a-0b0c0d0e0f1"
                                                              "1")}));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    start("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
          "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
          "    'class': 'indeterminate', 'details': {'sent': true}},"
          "  'reconcile': {'procedure': {'type': 'compute.transform',"
          "    'data': {'outcome': 'unknown'}}, 'every': '5s', 'max': 3},"
          "  'retry': {'maxAttempts': 1}}]}");
    assert_false(resolve("failed", NULL));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static void test_reconcile__a_retry_asks_anew_and_keys_count_on(void **state)
{
    (void)state;
    park(", 'retry': {'maxAttempts': 1}");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_int_equal(rig.last.incident.status, LETTER_RETRIED);
    assert_has(waiting_for(), "{'kind':'reconcile','step':'pay','asked':0");
    rig_settle(&rig);
    assert_has(waiting_for(), "'parked':true,'step':'pay','asked':3");
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_string_equal(rig_text(&rig, question(5)->key), ID "-pay-reconcile-6");
    assert_true(resolve("succeeded", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_reconcile__cancelling_a_parked_one_rolls_back_what_may_have_happened(void **state)
{
    (void)state;
    park(", 'retry': {'maxAttempts': 1},"
         "'rollback': {'type': 'compute.transform',"
         "  'data': ['$.steps.pay.output', '$.input.sum']}");
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) ?pay(3) pay.failed -pay");
    assert_string_equal(undone(), "[null,10]");
}

static void test_reconcile__a_parked_one_without_rollback_is_lost_when_it_is_cancelled(void **state)
{
    (void)state;
    park(", 'retry': {'maxAttempts': 1}");
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_string_equal(rig_text(&rig, rig.last.dead_letters.items[0].kind), "compensation");
    park(", 'retry': {'maxAttempts': 1}");
    assert_true(
        rig_event(&rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_LEAVES}));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.last.dead_letters.count, 0);
}

/* --- rolling back while it asks --- */

static void test_reconcile__cancelling_finds_out_first(void **state)
{
    (void)state;
    start(
        "{'code': 'a', 'steps': ["
        "  {'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "    'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "      'class': 'indeterminate', 'details': {'sent': true}},"
        "    'reconcile': {'procedure': ["
        "      {'type': 'compute.set',"
        "        'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "      {'type': 'compute.transform',"
        "        'data': '=[0,{\\'outcome\\':\\'succeeded\\',\\'output\\':7}][variables.asked - "
        "1]'}],"
        "      'every': '5s', 'max': 3},"
        "    'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'},"
        "    'rollback': {'type': 'compute.transform',"
        "      'data': ['$.steps.pay.output', '$.input.sum']}},"
        "  {'code': 'after', 'procedure': {'type': 'compute.transform', 'data': '$.steps.pay'}}]}");
    assert_true(rig_wake(&rig));
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_has(waiting_for(), "{'kind':'reconcile'");
    assert_false(may(ACTION_CANCEL));
    assert_false(rig_cancel(&rig, "again"));
    rig_reload(&rig);
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) pay -pay");
    assert_string_equal(undone(), "[7,10]");
}

static void test_reconcile__what_has_not_happened_is_not_tried_again_once_stopped(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
          "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
          "    'class': 'indeterminate', 'details': {'sent': true}},"
          "  'reconcile': {'procedure': ["
          "    {'type': 'compute.set',"
          "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
          "    {'type': 'compute.transform',"
          "      'data': '=[0,{\\'outcome\\':\\'not_happened\\'}][variables.asked - 1]'}],"
          "    'every': '5s', 'max': 3},"
          "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'},"
          "  'rollback': {'type': 'compute.transform',"
          "    'data': ['$.steps.pay.output', '$.input.sum']}}]}");
    assert_true(rig_wake(&rig));
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) pay.failed");
}

static void test_reconcile__what_stays_in_doubt_is_rolled_back_without_output(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
          "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
          "    'class': 'indeterminate', 'details': {'sent': true}},"
          "  'reconcile': {'procedure': {'type': 'compute.transform',"
          "    'data': {'outcome': 'unknown'}}, 'every': '5s', 'max': 3},"
          "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'},"
          "  'rollback': {'type': 'compute.transform',"
          "    'data': ['$.steps.pay.output', '$.input.sum']}}]}");
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) ?pay(3) pay.failed -pay");
    assert_string_equal(undone(), "[null,10]");
}

static void test_reconcile__a_worker_answers_while_it_is_rolled_back(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
          "  'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
          "    'class': 'indeterminate', 'details': {'sent': true}},"
          "  'reconcile': {'procedure': 'bank.find', 'every': '5s', 'max': 3},"
          "  'retry': {'maxAttempts': 1}, 'rollback': {'type': 'compute.transform',"
          "    'data': ['$.steps.pay.output', '$.input.sum']}}]}");
    assert_true(rig_wake(&rig));
    assert_true(rig_cancel(&rig, "enough"));
    assert_has(waiting_for(), "'kind':'job'");
    rig_reload(&rig);
    assert_true(answer(ID "-pay-reconcile-1", "{'outcome':'succeeded','output':3}", NULL));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?pay pay -pay");
}

static void test_reconcile__the_deadline_finds_out_first(void **state)
{
    (void)state;
    rig_define(
        &rig, "{'code': 'a', 'settings': {'timeout': '2s'}, 'steps': [{'code': 'pay',"
              "  'input': {'sum': '=input.n * 10'}, 'procedure': {'type': 'compute.fail',"
              "    'code': 'no_answer', 'message': 'lost', 'class': 'indeterminate',"
              "    'details': {'sent': true}}, 'reconcile': {'procedure': ["
              "    {'type': 'compute.set',"
              "      'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
              "    {'type': 'compute.transform',"
              "      'data': '=[0,{\\'outcome\\':\\'succeeded\\',\\'output\\':7}][variables.asked "
              "- 1]'}],"
              "    'every': '5s', 'max': 3}, 'retry': {'maxAttempts': 1},"
              "  'rollback': {'type': 'compute.transform',"
              "    'data': ['$.steps.pay.output', '$.input.sum']}}]}");
    rig_start(&rig, "{'n':1}");
    assert_true(rig_wake(&rig));
    rig_pass(&rig, 2 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    /* The deadline of the execution is none of the rollback: it is found out, then undone. */
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_has(error(), "'code':'timeout_execution'");
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) pay -pay");
}

static void test_reconcile__a_deadline_that_holds_is_asked_anew_by_a_retry(void **state)
{
    (void)state;
    rig_define(
        &rig,
        "{'code': 'a', 'onError': 'hold', 'settings': {'timeout': '2s'},"
        "  'steps': [{'code': 'pay', 'input': {'sum': '=input.n * 10'},"
        "    'procedure': {'type': 'compute.fail', 'code': 'no_answer', 'message': 'lost',"
        "      'class': 'indeterminate', 'details': {'sent': true}},"
        "    'reconcile': {'procedure': ["
        "      {'type': 'compute.set',"
        "        'values': {'asked': '=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
        "      {'type': 'compute.transform',"
        "        'data': '=[0,{\\'outcome\\':\\'succeeded\\',\\'output\\':7}][variables.asked - "
        "1]'}],"
        "      'every': '5s', 'max': 3}, 'retry': {'maxAttempts': 1}}]}");
    rig_start(&rig, "{'n':1}");
    assert_true(rig_wake(&rig));
    rig_pass(&rig, 2 * SECOND);
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(), "{'kind':'incident'");
    assert_true(may(ACTION_SKIP));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_has(waiting_for(), "{'kind':'reconcile'");
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) pay");
}

static void test_reconcile__onerror_continue_passes_over_what_has_failed(void **state)
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
        "        'data': '=[{\\'outcome\\':\\'failed\\'}][variables.asked - 1]'}], 'every': '5s',"
        "      'max': 3}, 'retry': {'maxAttempts': 1}, 'onError': 'continue'},"
        "  {'code': 'after', 'procedure': {'type': 'compute.transform', 'data': '$.steps.pay'}}]}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_has(rig_output(&rig, "after"), "'success':false");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_reconcile__after_max_it_is_parked_with_a_dead_letter),
        CLAIM(test_reconcile__an_operator_says_that_it_succeeded),
        CLAIM(test_reconcile__an_operator_says_that_it_failed),
        CLAIM(test_reconcile__an_operator_says_that_it_has_not_happened),
        CLAIM(test_reconcile__an_outcome_for_another_letter_is_refused),
        CLAIM(test_reconcile__a_retry_asks_anew_and_keys_count_on),
        CLAIM(test_reconcile__cancelling_a_parked_one_rolls_back_what_may_have_happened),
        CLAIM(test_reconcile__a_parked_one_without_rollback_is_lost_when_it_is_cancelled),
        CLAIM(test_reconcile__cancelling_finds_out_first),
        CLAIM(test_reconcile__what_has_not_happened_is_not_tried_again_once_stopped),
        CLAIM(test_reconcile__what_stays_in_doubt_is_rolled_back_without_output),
        CLAIM(test_reconcile__a_worker_answers_while_it_is_rolled_back),
        CLAIM(test_reconcile__the_deadline_finds_out_first),
        CLAIM(test_reconcile__a_deadline_that_holds_is_asked_anew_by_a_retry),
        CLAIM(test_reconcile__onerror_continue_passes_over_what_has_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
