/* test_repair.c - claims about what operators do: retry and skip. */
#include "base/buf.h"
#include "engine/rig.h"
#include "engine/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)

static void start(const char *scenario, const char *input)
{
    rig_define(&rig, scenario);
    rig_start(&rig, input);
    rig_settle(&rig);
}

static bool retry(const char *from, const char *input)
{
    return rig_event(
        &rig, (struct event){.kind = EVENT_RETRY,
                             .from = str_of(from),
                             .input = input != NULL ? rig_value(&rig, input) : value_absent()});
}

static bool skip_step(const char *output)
{
    return rig_event(
        &rig, (struct event){.kind = EVENT_SKIP,
                             .output = output != NULL ? rig_value(&rig, output) : value_absent()});
}

static void test_retry__a_held_step_runs_again_as_a_new_visit(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'hold', 'steps': ["
          "  {'code': 'x', 'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.visit == 1', 'code': 'no',"
          "      'message': 'm'},"
          "    {'type': 'compute.transform', 'data': '$.execution.visit'}]},"
          "  {'code': 'y', 'procedure': {'type': 'compute.transform', 'data': 1}}]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    rig_reload(&rig);
    assert_true(retry("", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "x.failed x2 y");
}

static void test_retry__a_failed_execution_goes_on(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'fail_fast', 'steps': ["
          "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "  {'code': 'x', 'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.visit == 1', 'code': 'no',"
          "      'message': 'm'},"
          "    {'type': 'compute.transform', 'data': '$.execution.visit'}]}]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    rig_reload(&rig);
    assert_true(retry("", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.x->error_json.len, 0);
    assert_string_equal(rig_trace(&rig), "a x.failed x2");
}

static void test_retry__within_a_loop_keeps_its_place(void **state)
{
    (void)state;
    start("{'code':'a','onError':'fail_fast','steps':[{'code':'l','loop':{'for':[1,2,3],'collect':"
          "'$.loop.item','steps':[{'code':'x','procedure':{'type':'compute.fail','code':'no',"
          "'message':'m'},'when':'$.loop.item == 2 && execution.visit == 2'}]}}]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    rig_reload(&rig);
    assert_true(retry("", NULL));
    assert_string_equal(rig_text(&rig, rig.x->result_json),
                        "{'count':3,'items':[1,2,3],'errors':[]}");
}

static void test_retry__from_another_step(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'hold', 'steps': ["
          "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "  {'code': 'l', 'loop': {'for': [1, 2], 'steps': [{'code': 'x',"
          "    'procedure': ["
          "      {'type': 'compute.fail', 'when': 'execution.visit == 1', 'code': 'no',"
          "        'message': 'm'},"
          "      {'type': 'compute.transform', 'data': '$.execution.visit'}]}]}},"
          "  {'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 1}}]}",
          "{}");
    assert_false(retry("nowhere", NULL));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_true(retry("a", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "a x.failed l.skipped a2 x2 x3 l2 z");
    assert_null(rig.x->loops);
}

static void test_retry__not_into_another_step(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'hold', 'steps': ["
          "  {'code': 'l', 'loop': {'for': [1],"
          "    'steps': [{'code': 'i', 'procedure': {'type': 'compute.transform', 'data': 1}}]}},"
          "  {'code': 'x', 'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.visit == 1', 'code': 'no',"
          "      'message': 'm'},"
          "    {'type': 'compute.transform', 'data': '$.execution.visit'}]}]}",
          "{}");
    assert_false(retry("i", NULL));
    assert_int_equal(rig.err.code, ERR_INVALID);
}

static void test_retry__with_another_input(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': ["
          "  {'code': 'x', 'procedure': {'type': 'compute.transform', 'data': '$.input.n'}},"
          "  {'code': 'y', 'procedure': {'type': 'compute.transform', 'data': 1}}]}",
          "{'m':1}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(retry("", "{'n':5}"));
    assert_string_equal(rig_output(&rig, "x"), "5");
    assert_string_equal(rig_text(&rig, rig.x->input_json), "{'n':5}");
}

static void test_skip__of_a_wait_for_a_worker(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': ["
          "  {'code': 'ask', 'procedure': 'bank.charge',"
          "    'rollback': {'type': 'log', 'message': 'm'}},"
          "  {'code': 'y',"
          "    'procedure': {'type': 'compute.transform', 'data': '=$.steps.ask == null'}}]}",
          "{}");
    rig_reload(&rig);
    assert_true(skip_step(NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "ask.failed ask2.skipped y");
    assert_string_equal(rig_output(&rig, "y"), "true");
}

static void test_skip__of_a_wait_for_a_worker_with_a_result(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': ["
          "  {'code': 'ask', 'procedure': 'bank.charge',"
          "    'rollback': {'type': 'log', 'message': 'm'}},"
          "  {'code': 'y',"
          "    'procedure': {'type': 'compute.transform', 'data': '$.steps.ask.id'}}]}",
          "{}");
    rig_reload(&rig);
    assert_true(skip_step("{'id':7}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "y"), "7");
    assert_string_equal(rig_trace(&rig), "ask y");
}

static void test_skip__a_worker_that_answers_afterwards_is_too_late(void **state)
{
    struct str key;

    (void)state;
    start("{'code': 'a', 'steps': ["
          "  {'code': 'ask', 'procedure': 'bank.charge',"
          "    'rollback': {'type': 'log', 'message': 'm'}},"
          "  {'code': 'w', 'procedure': {'type': 'wait.timer', 'duration': '1h'}}]}",
          "{}");
    key = rig.x->cursor.awaited;
    assert_true(skip_step("1"));
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_ANSWER,
                                                .answer_key = key,
                                                .answer_output = value_int(2),
                                                .answer_error = value_absent()}));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static void test_skip__what_was_done_before_the_worker_was_asked_is_kept_with_a_result(void **state)
{
    int64_t version;

    (void)state;
    start("{'code':'a','steps':[{'code':'x','procedure':[{'type':'record.create','object':'o','id':"
          "'1','data':{'n':1}},{'type':'flow.call','procedure':'bank.charge'}]}]}",
          "{}");
    rig_reload(&rig);
    assert_true(skip_step("{'id':7}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "{'n':1}");
    assert_string_equal(rig_text(&rig, rig.x->result_json), "{'id':7}");
}

static void test_skip__what_a_worker_may_have_done_is_undone(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': ["
          "  {'code': 'ask', 'procedure': 'bank.charge',"
          "    'rollback': {'type': 'log', 'message': 'm'}},"
          "  {'code': 'z', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}",
          "{}");
    assert_true(skip_step(NULL));
    assert_string_equal(rig_trace(&rig), "ask.failed ask2.skipped z.failed -ask");
    start("{'code': 'a', 'steps': ["
          "  {'code': 'ask', 'procedure': 'bank.charge',"
          "    'rollback': {'type': 'log', 'message': 'm'}},"
          "  {'code': 'z', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}",
          "{}");
    assert_true(skip_step("1"));
    assert_string_equal(rig_trace(&rig), "ask z.failed -ask");
}

static void test_retry__is_refused_when_nothing_has_failed_or_it_was_rolled_back(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}]}",
          "{}");
    assert_false(retry("", NULL));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    start("{'code': 'a', 'steps': ["
          "  {'code': 'a', 'procedure': {'type': 'log', 'message': 'm'},"
          "    'rollback': {'type': 'log', 'message': 'm'}},"
          "  {'code': 'x', 'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.visit == 1', 'code': 'no',"
          "      'message': 'm'},"
          "    {'type': 'compute.transform', 'data': '$.execution.visit'}]}]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_false(retry("", NULL));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    start("{'code':'a','steps':[]}", "{}");
    assert_false(retry("", NULL));
}

static void test_retry__an_unknown_outcome_keeps_its_visit_and_its_key(void **state)
{
    (void)state;
    start("{'code':'a','onError':'hold','steps':[{'code':'x','procedure':'erp.pay','retry':{"
          "'maxAttempts':1}}]}",
          "{}");
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_ANSWER,
                             .answer_key = rig.x->cursor.awaited,
                             .answer_output = value_absent(),
                             .answer_error = rig_value(&rig, "{'class':'indeterminate'}")}));
    assert_int_equal(rig.x->cursor.phase, PHASE_HELD);
    rig_reload(&rig);
    assert_true(retry("", NULL));
    assert_int_equal(rig.x->cursor.phase, PHASE_JOB);
    assert_int_equal(rig.x->cursor.visit, 1);
    assert_string_equal(rig_text(&rig, rig.x->cursor.awaited),
                        "01020304-0506-7708-890a-0b0c0d0e0f10-x");
}

static void test_retry__a_result_that_failed_is_made_again(void **state)
{
    (void)state;
    start("{'code':'a','steps':[],'result':{'n':'$.input.n'}}", "{}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(retry("", "{'n':3}"));
    assert_string_equal(rig_text(&rig, rig.x->result_json), "{'n':3}");
}

/* --- between two steps: what has ended does not run again --- */

/* A loop whose rounds need $.input.factor for what is written as `more`. */
static void start_loop(const char *more, const char *list)
{
    start(rig_text(&rig, str_printf(&rig.mem,
                                    "{'code':'a','input':[{'name':'list','type':'array'},{'name':"
                                    "'factor','type':'any'}],'steps':[{'code':'l','loop':{%s,"
                                    "'steps':[{'code':'pay','procedure':{'type':"
                                    "'compute.transform','data':'$.loop.index'}}]}}]}",
                                    more)),
          list);
    assert_int_equal(rig.x->cursor.phase, PHASE_HELD);
    rig_reload(&rig);
}

static void test_retry__a_loop_whose_collect_failed_keeps_its_rounds(void **state)
{
    (void)state;
    start_loop("'for':'$.input.list','collect':'=$.loop.item == 3 ? 3 * $.input.factor : "
               "$.loop.item'",
               "{'list':[1,2,3,4]}");
    assert_string_equal(rig_trace(&rig), "pay pay2 pay3");
    assert_true(retry("", NULL));
    assert_int_equal(rig.x->cursor.phase, PHASE_HELD);
    assert_string_equal(rig_trace(&rig), "pay pay2 pay3");
    rig_reload(&rig);
    assert_true(retry("", "{'list':[],'factor':10}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "pay pay2 pay3 pay4 l");
    assert_string_equal(rig_output(&rig, "l"), "{'count':4,'items':[1,2,30,4],'errors':[]}");
}

static void test_retry__rounds_at_once_keep_what_they_have_done(void **state)
{
    (void)state;
    start_loop("'for':'$.input.list','concurrency':2,'collect':'=$.loop.item * $.input.factor'",
               "{'list':[1,2,3]}");
    /* Each of the two holds behind its round. */
    assert_string_equal(rig_trace(&rig), "pay pay2");
    assert_true(retry("", "{'list':[],'factor':10}"));
    rig_settle(&rig);
    rig_reload(&rig);
    assert_true(retry("", NULL));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "pay pay2 pay3 l");
    assert_string_equal(rig_output(&rig, "l"), "{'count':3,'items':[10,20,30],'errors':[]}");
}

static void test_retry__a_while_that_failed_keeps_its_rounds(void **state)
{
    (void)state;
    start_loop("'while':'loop.index < 2 || loop.index < input.factor'", "{'list':[]}");
    assert_string_equal(rig_trace(&rig), "pay pay2");
    assert_true(retry("", "{'factor':3}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "pay pay2 pay3 l");
}

static void test_retry__a_loop_that_failed_fast_keeps_its_rounds(void **state)
{
    (void)state;
    start("{'code':'a','onError':'fail_fast','steps':[{'code':'l','loop':{'for':[1,2],'collect':"
          "'$.input.x','steps':[{'code':'pay','procedure':{'type':'log','message':'m'}}]}}]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    rig_reload(&rig);
    assert_true(retry("", "{'x':1}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "pay pay2 l");
}

static void test_retry__a_goto_that_failed_does_not_repeat_its_step(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'pay','procedure':{'type':'log','message':'m'},'goto':[{"
          "'when':'input.x == 1','to':'end'}]},{'code':'y','procedure':{'type':'log','message':"
          "'m'}}]}",
          "{}");
    assert_int_equal(rig.x->cursor.phase, PHASE_HELD);
    rig_reload(&rig);
    assert_true(retry("", "{'x':1}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "pay");
}

static void test_skip__a_loop_that_is_held_behind_a_round_is_left(void **state)
{
    (void)state;
    start_loop("'for':'$.input.list','collect':'$.input.factor'", "{'list':[1,2]}");
    assert_true(skip_step("{'items':[]}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "pay l2");
}

static void test_retry__has_jumps_and_time_again(void **state)
{
    (void)state;
    start("{'code':'a','settings':{'timeout':'1h'},'onError':'hold','steps':[{'code':'x',"
          "'procedure':{'type':'log','message':'m'},'goto':[{'when':'execution.visit < 150','to':"
          "'x'}]},{'code':'w','procedure':{'type':'wait.signal','signalType':'y'}}]}",
          "{}");
    assert_true(str_find(rig.x->waiting_for_json, STR("limit_goto"), 0) >= 0);
    rig_pass(&rig, 7200 * SECOND);
    assert_true(retry("", NULL));
    rig_settle(&rig);
    assert_int_equal(rig.x->cursor.phase, PHASE_WAIT);
    assert_true(rig.x->deadline_at_us == rig.now_us + 3600 * SECOND);
}

/* A step between two attempts when the time of the execution is up. */
static void hold_between_attempts(void)
{
    start("{'code': 'a', 'onError': 'hold', 'settings': {'timeout': '1m'},"
          "  'steps': ["
          "    {'code': 'x', 'retry': {'maxAttempts': 3, 'delay': '30m', 'jitter': 'none'},"
          "      'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm',"
          "        'class': 'transient'}},"
          "    {'code': 'y', 'procedure': {'type': 'compute.transform', 'data': 1}}]}",
          "{}");
    assert_int_equal(rig.x->cursor.phase, PHASE_RETRY);
    rig_pass(&rig, 120 * SECOND);
    rig_settle(&rig);
    assert_int_equal(rig.x->cursor.phase, PHASE_HELD);
}

static void test_retry__a_visit_without_an_end_goes_on(void **state)
{
    (void)state;
    hold_between_attempts();
    assert_true(retry("", NULL));
    assert_int_equal(rig.x->cursor.visit, 1);
    assert_int_equal(rig.x->cursor.attempt, 2);
}

static void test_retry__a_visit_that_was_left_has_a_number_of_its_own(void **state)
{
    (void)state;
    hold_between_attempts();
    assert_true(retry("x", NULL));
    assert_int_equal(rig.x->cursor.visit, 2);
    rig_reload(&rig);
    assert_int_equal(rig.x->steps[0].visit, 1);
}

static void test_skip__a_visit_without_an_end_is_left(void **state)
{
    (void)state;
    hold_between_attempts();
    assert_true(skip_step(NULL));
    assert_string_equal(rig_trace(&rig), "x.failed x2.skipped y");
}

static void test_skip__goes_on_without_the_step_or_with_another_output(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'hold', 'steps': ["
          "  {'code': 'x', 'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.visit == 1', 'code': 'no',"
          "      'message': 'm'},"
          "    {'type': 'compute.transform', 'data': '$.execution.visit'}]},"
          "  {'code': 'y', 'procedure': {'type': 'compute.transform', 'data': '=$.steps.x'}}]}",
          "{}");
    assert_true(skip_step(NULL));
    assert_string_equal(rig_trace(&rig), "x.failed x2.skipped y");
    assert_string_equal(rig_output(&rig, "y"), "null");
    start("{'code': 'a', 'onError': 'hold', 'steps': ["
          "  {'code': 'x', 'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.visit == 1', 'code': 'no',"
          "      'message': 'm'},"
          "    {'type': 'compute.transform', 'data': '$.execution.visit'}]},"
          "  {'code': 'y', 'procedure': {'type': 'compute.transform', 'data': '$.steps.x.id'}}]}",
          "{}");
    assert_true(skip_step("{'id':9}"));
    assert_string_equal(rig_trace(&rig), "x.failed x2 y");
    assert_string_equal(rig_output(&rig, "y"), "9");
}

static void test_skip__is_for_held_steps(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}]}",
          "{}");
    assert_false(skip_step(NULL));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static bool has_actions(const char *wanted)
{
    struct buf text;

    buf_init_arena(&text, &rig.mem);
    show_execution(&text, rig.x);
    return str_find(buf_view(&text), str_printf(&rig.mem, "\"actions\":[%s]", wanted), 0) >= 0;
}

static void test_actions__say_what_can_be_done_now(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'hold', 'steps': [{'code': 'x',"
          "  'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.visit == 1', 'code': 'no',"
          "      'message': 'm'},"
          "    {'type': 'compute.transform', 'data': '$.execution.visit'}]}]}",
          "{}");
    assert_true(has_actions("\"cancel\",\"signal\",\"retry\",\"skip\",\"migrate\""));
    assert_true(retry("", NULL));
    assert_true(has_actions("\"again\",\"delete\""));
    start("{'code':'a','steps':[{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}]}",
          "{}");
    assert_true(has_actions("\"cancel\",\"signal\",\"assign\",\"migrate\",\"pause\""));
    start("{'code': 'a', 'steps': [{'code': 'ask', 'procedure': 'bank.charge',"
          "  'rollback': {'type': 'log', 'message': 'm'}}]}",
          "{}");
    assert_true(has_actions("\"cancel\",\"signal\",\"skip\",\"migrate\",\"pause\""));
    start("{'code': 'a', 'steps': [{'code': 'x', 'procedure': ["
          "  {'type': 'compute.fail', 'when': 'execution.visit == 1', 'code': 'no',"
          "    'message': 'm'},"
          "  {'type': 'compute.transform', 'data': '$.execution.visit'}]}]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(has_actions("\"retry\",\"again\",\"delete\""));
    start("{'code': 'a', 'steps': ["
          "  {'code': 'a', 'procedure': {'type': 'log', 'message': 'm'},"
          "    'rollback': {'type': 'log', 'message': 'm'}},"
          "  {'code': 'x', 'procedure': ["
          "    {'type': 'compute.fail', 'when': 'execution.visit == 1', 'code': 'no',"
          "      'message': 'm'},"
          "    {'type': 'compute.transform', 'data': '$.execution.visit'}]}]}",
          "{}");
    assert_true(has_actions("\"again\",\"delete\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_retry__a_held_step_runs_again_as_a_new_visit),
        CLAIM(test_retry__a_failed_execution_goes_on),
        CLAIM(test_retry__within_a_loop_keeps_its_place),
        CLAIM(test_retry__from_another_step),
        CLAIM(test_retry__not_into_another_step),
        CLAIM(test_retry__with_another_input),
        CLAIM(test_retry__is_refused_when_nothing_has_failed_or_it_was_rolled_back),
        CLAIM(test_retry__an_unknown_outcome_keeps_its_visit_and_its_key),
        CLAIM(test_retry__a_result_that_failed_is_made_again),
        CLAIM(test_retry__has_jumps_and_time_again),
        CLAIM(test_retry__a_loop_whose_collect_failed_keeps_its_rounds),
        CLAIM(test_retry__rounds_at_once_keep_what_they_have_done),
        CLAIM(test_retry__a_while_that_failed_keeps_its_rounds),
        CLAIM(test_retry__a_loop_that_failed_fast_keeps_its_rounds),
        CLAIM(test_retry__a_goto_that_failed_does_not_repeat_its_step),
        CLAIM(test_skip__a_loop_that_is_held_behind_a_round_is_left),
        CLAIM(test_retry__a_visit_without_an_end_goes_on),
        CLAIM(test_retry__a_visit_that_was_left_has_a_number_of_its_own),
        CLAIM(test_skip__a_visit_without_an_end_is_left),
        CLAIM(test_skip__goes_on_without_the_step_or_with_another_output),
        CLAIM(test_skip__is_for_held_steps),
        CLAIM(test_skip__of_a_wait_for_a_worker),
        CLAIM(test_skip__of_a_wait_for_a_worker_with_a_result),
        CLAIM(test_skip__a_worker_that_answers_afterwards_is_too_late),
        CLAIM(test_skip__what_was_done_before_the_worker_was_asked_is_kept_with_a_result),
        CLAIM(test_skip__what_a_worker_may_have_done_is_undone),
        CLAIM(test_actions__say_what_can_be_done_now),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
