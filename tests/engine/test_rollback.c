/* test_rollback.c - claims about rolling back. */
#include "base/buf.h"
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define ID "01020304-0506-7708-890a-0b0c0d0e0f10"

static void run(const char *scenario)
{
    rig_define(&rig, scenario);
    rig_start(&rig, "{'n':1}");
    rig_settle(&rig);
}

static const char *variables(void)
{
    return rig_text(&rig, rig.x->variables_json);
}

static const char *error(void)
{
    return rig_text(&rig, rig.x->error_json);
}

/* Row `n` of kind rollback, from 0 on. */
static const struct history_row *rollback_row(unsigned n)
{
    for (size_t i = 0; i < rig.history.count; i++)
        if (rig.history.items[i].kind == HISTORY_ROLLBACK && n-- == 0)
            return &rig.history.items[i];
    fail_msg("there is no such row");
    return NULL;
}

static void test_saga__rollback_runs_in_reverse_order(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.a.output]'}}},"
        "  {'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 2},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.b.output]'}}},"
        "  {'code': 'c', 'procedure': {'type': 'compute.transform', 'data': 3},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.c.output]'}}},"
        "  {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "begin a b c x.failed -c -b -a");
    assert_string_equal(variables(), "{'log':[3,2,1]}");
    assert_string_equal(error(),
                        "{'code':'no','message':'m','class':'business','retryable':false,"
                        "'details':null,'source':'/steps/4/procedure','version':1,'step':'x',"
                        "'compensation':{'compensated':['c','b','a'],'failed':[]}}");
    assert_string_equal(rig_text(&rig, rollback_row(0)->key), ID "-c-rollback");
    assert_string_equal(rig_text(&rig, rollback_row(0)->status), "compensated");
    assert_int_equal(rig.last.dead_letters.count, 0);
}

static void test_saga__steps_without_rollback_skipped_and_failed_ones_are_passed_over(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.a.output]'}}, 'when': 'false'},"
        "  {'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 2},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.b.output]'}}},"
        "  {'code': 'c', 'onError': 'continue',"
        "    'procedure': {'type': 'compute.fail', 'code': 'z', 'message': 'm'},"
        "    'rollback': {'type': 'log', 'message': 'never'}},"
        "  {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_string_equal(rig_trace(&rig), "begin a.skipped b c.failed x.failed -b");
}

static void test_saga__every_visit_of_a_loop_is_undone_with_what_it_saw(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 'l', 'loop': {'for': ['p', 'q'], 'as': 'name',"
        "    'steps': [{'code': 'a',"
        "      'procedure': {'type': 'compute.transform', 'data': '=$.loop.index + 10'},"
        "      'rollback': {'type': 'compute.set', 'values': {'log': '=$.variables.log + "
        "[$.loop.name + string($.steps.a.output) + string($.loop.index)]'}}}]}},"
        "  {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_string_equal(rig_trace(&rig), "begin a a2 l x.failed -a2 -a");
    assert_string_equal(variables(), "{'log':['q111','p100']}");
    assert_string_equal(rig_text(&rig, rollback_row(0)->key), ID "-a-2-rollback");
}

static void test_saga__a_rollback_sees_the_error_the_input_and_what_was_undone(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.a.output]'}}},"
        "  {'code': 'b', 'input': {'m': '=$.input.n + 1'},"
        "    'procedure': {'type': 'compute.transform', 'data': 2},"
        "    'rollback': {'type': 'compute.set', 'values': {'saw': ["
        "      '$.error.code', '$.input.m', '$.input.n', '=$.compensation.compensated',"
        "      '$.steps.a.output']}}},"
        "  {'code': 'c', 'procedure': {'type': 'compute.transform', 'data': 3},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.c.output]'}}},"
        "  {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_string_equal(variables(), "{'log':[3,1],'saw':['no',2,1,['c'],1]}");
}

static void test_saga__what_is_lost_is_tried_again_as_the_visit_that_it_was(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'x', 'procedure': {'type': 'log', 'message': 'm'},"
        "    'goto': [{'when': 'execution.visit == 1', 'to': 'x'}]},"
        "  {'code': 'a', 'input': {'sum': '=$.input.n + 1'}, 'retry': {'maxAttempts': 1},"
        "    'procedure': ["
        "      {'type': 'compute.fail', 'when': 'execution.attempt == 1', 'code': 'lost',"
        "        'message': 'm', 'class': 'indeterminate'},"
        "      {'type': 'compute.transform', 'data': ['$.input.sum', '$.execution.visit']}],"
        "    'goto': [{'when': 'execution.visit == 1', 'to': 'a'}]}]}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_string_equal(rig_trace(&rig), "x x2 a.failed a(2) a2.failed");
    rig_settle(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_string_equal(rig_trace(&rig), "x x2 a.failed a(2) a2.failed a2(2)");
    assert_string_equal(rig_output(&rig, "a"), "[2,2]");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

/* A step that waits for its next attempt, the first having ended like this. */
static void wait_between_attempts(const char *class, const char *rollback)
{
    char scenario[1000];

    (void)snprintf(scenario, sizeof(scenario),
                   "{'code':'a','steps':[{'code':'a','input':{'m':5},'retry':{'maxAttempts':3,"
                   "'delay':'1h','jitter':'none'},'procedure':{'type':'compute.fail','code':'lost',"
                   "'message':'m','class':'%s'}%s},{'code':'z','procedure':{'type':'log',"
                   "'message':'m'},'rollback':{'type':'log','message':'z'}}]}",
                   class, rollback);
    rig_define(&rig, scenario);
    rig_start(&rig, "{'n':1}");
    assert_int_equal(rig.x->cursor.phase, PHASE_RETRY);
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

static void test_saga__what_may_have_happened_is_undone_also_between_two_attempts(void **state)
{
    const char *rollback = ",'rollback':{'type':'compute.transform','data':['$.steps.a.output',"
                           "'$.input.m']}";

    (void)state;
    wait_between_attempts("indeterminate", rollback);
    assert_string_equal(rig_trace(&rig), "a.failed a.failed(2) -a");
    assert_string_equal(rig_text(&rig, rollback_row(0)->output_json), "[null,5]");
    wait_between_attempts("indeterminate", "");
    assert_int_equal(rig.last.dead_letters.count, 1);
    wait_between_attempts("transient", rollback);
    assert_string_equal(rig_trace(&rig), "a.failed");
    assert_int_equal(rig.last.dead_letters.count, 0);
}

static void test_saga__a_later_attempt_does_not_end_the_doubt_by_failing_otherwise(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'a',"
        "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'},"
        "  'procedure': ["
        "    {'type': 'compute.fail', 'when': 'execution.attempt == 1', 'code': 'c',"
        "      'message': 'm', 'class': 'indeterminate'},"
        "    {'type': 'compute.fail', 'code': 'd', 'message': 'm', 'class': 'transient'}],"
        "  'rollback': {'type': 'log', 'message': 'a'}}]}");
    assert_string_equal(rig_trace(&rig), "a.failed a.failed(2) -a");
    run("{'code': 'a', 'steps': [{'code': 'a',"
        "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'},"
        "  'procedure': ["
        "    {'type': 'compute.fail', 'when': 'execution.attempt == 1', 'code': 'c',"
        "      'message': 'm', 'class': 'indeterminate'},"
        "    {'type': 'compute.fail', 'code': 'd', 'message': 'm', 'class': 'business'}],"
        "  'rollback': {'type': 'log', 'message': 'a'}}]}");
    assert_string_equal(rig_trace(&rig), "a.failed a.failed(2)");
}

static void test_saga__what_is_lost_has_one_letter_however_often_it_is_rolled_back(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': [{'code': 'w', 'procedure': {'type': 'log', 'message': 'm'}},"
        "  {'code': 'x', 'retry': {'maxAttempts': 1},"
        "  'procedure': {'type': 'compute.fail', 'code': 'lost', 'message': 'm',"
        "    'class': 'indeterminate'}}]}");
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .from = STR("w")}));
    rig_settle(&rig);
    assert_string_equal(rig_trace(&rig), "w x.failed w2 x2.failed");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(rig.last.dead_letters.count, 1);
}

static void test_saga__a_visit_that_was_tried_again_is_undone_once(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'onError': 'fail_fast', 'steps': ["
                     "  {'code': 'begin',"
                     "    'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
                     "  {'code': 'a', 'retry': {'maxAttempts': 1},"
                     "    'procedure': ["
                     "      {'type': 'compute.fail', 'when': 'execution.attempt == 1',"
                     "        'code': 'lost', 'message': 'm', 'class': 'indeterminate'},"
                     "      {'type': 'compute.transform', 'data': 1}],"
                     "    'rollback': {'type': 'compute.set',"
                     "      'values': {'log': '=$.variables.log + [$.steps.a.output]'}}},"
                     "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}");
    rig_start(&rig, "{'n':1}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_ROLLS_BACK}));
    rig_settle(&rig);
    assert_string_equal(rig_trace(&rig), "begin a.failed a(2) -a");
    assert_string_equal(variables(), "{'log':[1]}");
    assert_int_equal(rig.last.dead_letters.count, 0);
}

static void test_saga__a_rollback_that_fails_is_recorded_and_the_rest_goes_on(void **state)
{
    (void)state;
    rig_define(&rig,
               "{'code': 'a', 'steps': ["
               "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
               "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1},"
               "    'rollback': {'type': 'compute.set',"
               "      'values': {'log': '=$.variables.log + [$.steps.a.output]'}}},"
               "  {'code': 'b', 'procedure': {'type': 'log', 'message': 'm'},"
               "    'rollback': {'type': 'compute.fail', 'code': 'stuck', 'message': 'm'}},"
               "  {'code': 'x',"
               "    'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    rig_start(&rig, "{}");
    assert_string_equal(rig_trace(&rig), "begin a b x.failed -b.failed -a");
    assert_string_equal(error(),
                        "{'code':'no','message':'m','class':'business','retryable':false,"
                        "'details':null,'source':'/steps/3/procedure','version':1,'step':'x',"
                        "'compensation':{'compensated':['a'],'failed':['b']}}");
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_true(str_eq(rig.last.dead_letters.items[0].kind, STR("compensation")));
    assert_true(str_eq(rig.last.dead_letters.items[0].step, STR("b")));
    assert_true(str_find(rig.last.dead_letters.items[0].cause_json, STR("stuck"), 0) >= 0);
}

static void test_saga__a_rollback_has_the_attempts_of_its_own_retry(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': ["
                     "  {'code': 'begin',"
                     "    'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
                     "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1},"
                     "    'rollback': {'type': 'compute.set',"
                     "      'values': {'log': '=$.variables.log + [$.steps.a.output]'}}},"
                     "  {'code': 'b', 'procedure': {'type': 'log', 'message': 'm'},"
                     "    'rollback': {'type': 'compute.fail', 'code': 'down', 'message': 'm',"
                     "      'class': 'transient', 'retry': {'maxAttempts': 5, 'delay': '1s',"
                     "      'jitter': 'none'}}},"
                     "  {'code': 'x',"
                     "    'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    rig_start(&rig, "{}");
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_true(rig.x->wake_at_us == rig.now_us + SECOND);
    assert_true(str_find(rig.x->waiting_for_json, STR("\"kind\":\"retry\""), 0) >= 0);
    assert_false(rig_wake(&rig));
    rig_reload(&rig);
    rig_settle(&rig);
    assert_string_equal(rig_trace(&rig), "begin a b x.failed -b.failed -b.failed(2) -b.failed(3) "
                                         "-b.failed(4) -b.failed(5) -a");
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

static void test_saga__a_rollback_may_succeed_later(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 'b', 'procedure': {'type': 'log', 'message': 'm'},"
        "    'rollback': ["
        "      {'type': 'compute.fail', 'when': 'execution.attempt < 3', 'code': 'down',"
        "        'message': 'm', 'class': 'transient'},"
        "      {'type': 'log', 'message': 'm'}]},"
        "  {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_string_equal(rig_trace(&rig), "begin b x.failed -b.failed -b.failed(2) -b(3)");
    assert_true(str_find(rig.x->error_json, STR("\"failed\":[]"), 0) >= 0);
}

static void test_saga__goes_on_after_a_restart_and_over_pages(void **state)
{
    struct buf items;

    (void)state;
    buf_init_arena(&items, &rig.mem);
    buf_text(&items, "{'code':'a','steps':[{'code':'l','loop':{'for':[0");
    for (int i = 1; i < 150; i++)
        buf_printf(&items, ",%d", i);
    buf_text(&items, "], 'steps': ["
                     "  {'code': 'a', 'procedure': {'type': 'log', 'message': 'm'},"
                     "    'rollback': {'type': 'compute.set', 'values': {'last': '$.loop.item'}}},"
                     "  {'code': 'b', 'procedure': {'type': 'log', 'message': 'm'}}]}},"
                     "{'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no',"
                     "  'message': 'm'}}]}");
    buf_char(&items, 0);
    run(items.ptr);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(rig.x->compensated.list.count, 150);
    assert_string_equal(variables(), "{'last':0}");
    for (unsigned i = 0; i < 150; i++)
        assert_int_equal(rollback_row(i)->visit, 150 - i);
}

static void test_saga__named_procedures_with_input_roll_back(void **state)
{
    (void)state;
    run("{'code': 'a', 'procedures': {'undo': {'commands': [{'type': 'compute.set',"
        "  'values': {'undone': '$.input.what'}}]}}, 'steps': ["
        "    {'code': 'p', 'procedure': {'type': 'compute.transform', 'data': {'id': 'p1'}},"
        "      'rollback': {'procedure': 'undo', 'input': {'what': '$.steps.p.id'}}},"
        "    {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_string_equal(variables(), "{'undone':'p1'}");
    assert_string_equal(rig_text(&rig, rollback_row(0)->input_json), "{'what':'p1'}");
}

/* --- commands --- */

static void test_saga__finished_commands_of_a_failed_step_are_undone(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 'x', 'procedure': ["
        "    {'type': 'compute.transform', 'data': 1, 'as': 'c1',"
        "      'rollback': {'type': 'compute.set',"
        "        'values': {'log': '=$.variables.log + [$.c1]'}}},"
        "    {'type': 'compute.transform', 'data': 2, 'as': 'c2',"
        "      'rollback': {'type': 'compute.set',"
        "        'values': {'log': '=$.variables.log + [$.c2]'}}},"
        "    {'type': 'compute.fail', 'code': 'no', 'message': 'm'}]}]}");
    assert_string_equal(rig_trace(&rig), "begin x.failed -x -x");
    assert_string_equal(variables(), "{'log':[2,1]}");
    assert_string_equal(rig_text(&rig, rollback_row(0)->key), ID "-x.2-rollback");
    assert_string_equal(rig_text(&rig, rollback_row(1)->key), ID "-x.1-rollback");
    assert_true(str_find(rig.x->error_json, STR("\"compensated\":[\"x\"]"), 0) >= 0);
}

static void test_saga__commands_of_a_completed_step_are_undone_too(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 's', 'procedure': ["
        "    {'type': 'compute.transform', 'data': 1, 'as': 'c1',"
        "      'rollback': {'type': 'compute.set',"
        "        'values': {'log': '=$.variables.log + [$.c1]'}}},"
        "    {'type': 'compute.transform', 'data': 2, 'as': 'c2',"
        "      'rollback': {'type': 'compute.set',"
        "        'values': {'log': '=$.variables.log + [$.c2]'}}}]},"
        "  {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_string_equal(variables(), "{'log':[2,1]}");
}

static void test_saga__a_call_cascades(void **state)
{
    (void)state;
    run("{'code': 'a', 'procedures': {'inner': {'input': [{'name': 'v', 'type': 'integer'}],"
        "  'commands': [{'type': 'compute.transform', 'data': '=$.input.v * 10', 'as': 'made',"
        "    'rollback': {'type': 'record.create', 'object': 'undone',"
        "      'id': '=string($.made) + string($.input.v)', 'data': {}}}]}},"
        "  'steps': ["
        "    {'code': 's', 'procedure': ["
        "      {'type': 'log', 'message': 'm'},"
        "      {'type': 'flow.call', 'procedure': 'inner', 'input': {'v': 7}}]},"
        "    {'code': 'x', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    assert_string_equal(rig_trace(&rig), "s x.failed -s");
    assert_string_equal(rig_text(&rig, rollback_row(0)->key), ID "-s.2.1-rollback");
    assert_string_equal(rig_find_record(&rig, "undone", "707", &(int64_t){0}), "{}");
}

/* --- cancelling and time --- */

static void test_cancel__rolls_back(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.a.output]'}}},"
        "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'never'}}]}");
    assert_true(rig_cancel(&rig, "changed my mind"));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "begin a -a");
    assert_true(str_find(rig.x->error_json, STR("changed my mind"), 0) >= 0);
    assert_true(str_find(rig.x->error_json, STR("\"compensated\":[\"a\"]"), 0) >= 0);
}

static void test_cancel__without_rollback_when_asked_so_or_by_strategy(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.a.output]'}}},"
        "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'never'}}]}");
    assert_true(
        rig_event(&rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_LEAVES}));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "begin a");
    run("{'code': 'a', 'onError': 'fail_fast', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.a.output]'}}},"
        "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'never'}}]}");
    assert_true(rig_cancel(&rig, ""));
    assert_string_equal(rig_trace(&rig), "begin a");
}

static void test_cancel__is_refused_while_rolling_back(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': ["
                     "  {'code': 'b', 'procedure': {'type': 'log', 'message': 'm'},"
                     "    'rollback': {'type': 'compute.fail', 'code': 'down', 'message': 'm',"
                     "      'class': 'transient'}},"
                     "  {'code': 'w',"
                     "    'procedure': {'type': 'wait.signal', 'signalType': 'never'}}]}");
    rig_start(&rig, "{}");
    assert_true(rig_cancel(&rig, ""));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_true(rig.x->stop_requested);
    assert_false(rig_cancel(&rig, ""));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    /* Signals are kept all the same. */
    assert_true(rig_signal(&rig, "1", "never", "1"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

static void test_deadline__does_not_bind_rollbacks_which_have_a_day_each(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'settings': {'timeout': '10s'},"
                     "  'steps': ["
                     "    {'code': 'b', 'procedure': {'type': 'log', 'message': 'm'},"
                     "      'rollback': {'type': 'compute.fail', 'code': 'down', 'message': 'm',"
                     "        'class': 'transient', 'retry': {'maxAttempts': 9, 'delay': '10h',"
                     "        'maxDelay': '10h', 'jitter': 'none'}}},"
                     "    {'code': 'w',"
                     "      'procedure': {'type': 'wait.signal', 'signalType': 'never'}}]}");
    rig_start(&rig, "{}");
    rig_pass(&rig, 10 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_true(str_find(rig.x->error_json, STR("timeout_execution"), 0) >= 0);
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    /* After 0, 10 and 20 hours; the time is up after 24. */
    assert_string_equal(rig_trace(&rig), "b -b.failed -b.failed(2) -b.failed(3) -b.failed(4)");
    assert_true(str_find(rollback_row(3)->error_json, STR("timeout_compensation"), 0) >= 0);
}

static void test_hold__cancelling_an_incident_rolls_back(void **state)
{
    (void)state;
    run("{'code': 'a', 'steps': ["
        "  {'code': 'begin', 'procedure': {'type': 'compute.set', 'values': {'log': []}}},"
        "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1},"
        "    'rollback': {'type': 'compute.set',"
        "      'values': {'log': '=$.variables.log + [$.steps.a.output]'}}},"
        "  {'code': 'x', 'procedure': {'type': 'compute.transform', 'data': '$.input.none'}}]}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(rig_cancel(&rig, ""));
    assert_string_equal(rig_trace(&rig), "begin a x.failed -a");
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_saga__rollback_runs_in_reverse_order),
        CLAIM(test_saga__steps_without_rollback_skipped_and_failed_ones_are_passed_over),
        CLAIM(test_saga__every_visit_of_a_loop_is_undone_with_what_it_saw),
        CLAIM(test_saga__a_rollback_sees_the_error_the_input_and_what_was_undone),
        CLAIM(test_saga__what_is_lost_is_tried_again_as_the_visit_that_it_was),
        CLAIM(test_saga__what_may_have_happened_is_undone_also_between_two_attempts),
        CLAIM(test_saga__a_later_attempt_does_not_end_the_doubt_by_failing_otherwise),
        CLAIM(test_saga__what_is_lost_has_one_letter_however_often_it_is_rolled_back),
        CLAIM(test_saga__a_visit_that_was_tried_again_is_undone_once),
        CLAIM(test_saga__a_rollback_that_fails_is_recorded_and_the_rest_goes_on),
        CLAIM(test_saga__a_rollback_has_the_attempts_of_its_own_retry),
        CLAIM(test_saga__a_rollback_may_succeed_later),
        CLAIM(test_saga__goes_on_after_a_restart_and_over_pages),
        CLAIM(test_saga__named_procedures_with_input_roll_back),
        CLAIM(test_saga__finished_commands_of_a_failed_step_are_undone),
        CLAIM(test_saga__commands_of_a_completed_step_are_undone_too),
        CLAIM(test_saga__a_call_cascades),
        CLAIM(test_cancel__rolls_back),
        CLAIM(test_cancel__without_rollback_when_asked_so_or_by_strategy),
        CLAIM(test_cancel__is_refused_while_rolling_back),
        CLAIM(test_deadline__does_not_bind_rollbacks_which_have_a_day_each),
        CLAIM(test_hold__cancelling_an_incident_rolls_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
