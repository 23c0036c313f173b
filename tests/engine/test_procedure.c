/* test_procedure.c - claims about procedures and the commands that have commands in them. */
#include "base/buf.h"
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define ID "01020304-0506-7708-890a-0b0c0d0e0f10"

static void start(const char *scenario, const char *input)
{
    rig_define(&rig, scenario);
    rig_start(&rig, input);
    rig_settle(&rig);
}

/* One step with these commands. */
static void run(const char *commands, const char *input)
{
    struct buf text;

    buf_init_arena(&text, &rig.mem);
    buf_printf(&text, "{'code':'a','steps':[{'code':'x','procedure':[%s]}]}", commands);
    buf_char(&text, 0);
    start(text.ptr, input);
}

static const char *result(void)
{
    return rig_text(&rig, rig.x->result_json);
}

static bool has_error(const char *word)
{
    return str_find(rig.x->error_json, str_of(word), 0) >= 0 ||
           str_find(rig.x->waiting_for_json, str_of(word), 0) >= 0;
}

/* --- flow --- */

static void test_if__runs_one_of_two_lists(void **state)
{
    static const char commands[] = "{'type': 'flow.if', 'condition': 'input.n > 1',"
                                   "  'then': [{'type': 'compute.transform', 'data': 'more'}],"
                                   "  'else': [{'type': 'compute.transform', 'data': 'less'}]}";

    (void)state;
    run(commands, "{'n':2}");
    assert_string_equal(result(), "'more'");
    run(commands, "{'n':1}");
    assert_string_equal(result(), "'less'");
    run("{'type': 'flow.if', 'condition': 'false',"
        "  'then': [{'type': 'compute.transform', 'data': 1}]}",
        "{}");
    assert_string_equal(result(), "null");
}

static void test_match__runs_the_case_of_the_value(void **state)
{
    static const char commands[] = "{'type': 'flow.match', 'expression': 'input.v', 'cases': "
                                   "{'red': [{'type': 'compute.transform',"
                                   "  'data': 1}], '2': [{'type': 'compute.transform', 'data': 2}],"
                                   "  'true': [{'type': 'compute.transform', 'data': 3}]},"
                                   "  'default': [{'type': 'compute.transform', 'data': 0}]}";

    (void)state;
    run(commands, "{'v':'red'}");
    assert_string_equal(result(), "1");
    run(commands, "{'v':2}");
    assert_string_equal(result(), "2");
    run(commands, "{'v':true}");
    assert_string_equal(result(), "3");
    run(commands, "{'v':'blue'}");
    assert_string_equal(result(), "0");
}

static void test_try__catches_and_sees_the_error(void **state)
{
    (void)state;
    run("{'type': 'flow.try', 'as': 't', 'commands': ["
        "  {'type': 'compute.fail', 'code': 'no', 'message': 'm'},"
        "  {'type': 'compute.transform', 'data': 'never'}],"
        "  'catch': [{'type': 'compute.transform', 'data': '$.error.code'}]},"
        "{'type': 'compute.transform', 'data': ['$.t']}",
        "{}");
    assert_string_equal(result(), "['no']");
    run("{'type': 'flow.try', 'commands': [{'type': 'compute.transform', 'data': 1}],"
        "  'catch': [{'type': 'compute.transform', 'data': 2}]}",
        "{}");
    assert_string_equal(result(), "1");
}

static void test_try__a_failure_in_the_catch_fails_the_step(void **state)
{
    (void)state;
    run("{'type': 'flow.try', 'commands': [{'type': 'compute.fail', 'code': 'no', 'message': 'm'}],"
        "  'catch': [{'type': 'compute.fail', 'code': 'worse', 'message': 'm'}]}",
        "{}");
    assert_true(has_error("worse"));
}

static void test_optional__an_error_becomes_a_warning(void **state)
{
    (void)state;
    run("{'type': 'compute.fail', 'code': 'no', 'message': 'm', 'optional': true, 'as': 'o'},"
        "{'type': 'compute.transform', 'data': {'w': '=$.warnings.map(w, w.code)', 'o': '=$.o'}}",
        "{}");
    assert_string_equal(result(), "{'w':['no'],'o':null}");
}

static void test_when__a_command_that_is_skipped_leaves_the_result(void **state)
{
    (void)state;
    run("{'type': 'compute.transform', 'as': 'a', 'data': 1},"
        "{'type': 'compute.transform', 'when': '$.a > 1', 'data': 2}",
        "{}");
    assert_string_equal(result(), "1");
}

static void test_result__shapes_what_a_command_answers(void **state)
{
    (void)state;
    run("{'type':'compute.transform','data':{'a':1,'b':2},'result':{'only':'$.response.b'}}", "{}");
    assert_string_equal(result(), "{'only':2}");
}

/* --- named procedures --- */

static void test_procedure__has_its_own_input_and_result(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedures': {'double': {'input': ["
          "  {'name': 'n', 'type': 'integer', 'required': true},"
          "  {'name': 'by', 'type': 'integer', 'default': 2}],"
          "  'commands': ["
          "    {'type': 'compute.transform', 'as': 'd', 'data': '=$.input.n * $.input.by'},"
          "    {'type': 'compute.transform', 'data': 'ignored'}], 'result': {'twice': '$.d'}}},"
          "  'steps': [{'code': 'x', 'procedure': 'double', 'input': {'n': '$.input.v'}}]}",
          "{'v':21}");
    assert_string_equal(result(), "{'twice':42}");
    assert_string_equal(rig_text(&rig, rig_row(&rig, "x")->input_json), "{'n':21}");
}

static void test_procedure__a_wrong_input_is_a_business_error(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedures': {'p': {'input': [{'name': 'n', 'type': 'integer',"
          "  'required': true}], 'commands': [{'type': 'compute.transform', 'data': 1}]}},"
          "  'steps': [{'code': 'x', 'procedure': 'p', 'input': {'n': '$.input.v'}}]}",
          "{'v':'text'}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(has_error("validation_input") && has_error("/input/n"));
}

static void test_call__gives_its_result_to_the_caller(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedures': {'inc': {'commands': [{'type': 'compute.transform',"
          "  'data': '=$.input.n + 1'}]}, 'twice': {'commands': ["
          "    {'type': 'flow.call', 'procedure': 'inc', 'input': {'n': '$.input.n'}, 'as': 'one'},"
          "    {'type': 'flow.call', 'procedure': 'inc', 'input': {'n': '$.one'}}]}},"
          "  'steps': [{'code': 'x', 'procedure': ["
          "    {'type': 'flow.call', 'procedure': 'twice', 'input': {'n': 5}, 'as': 't'},"
          "    {'type': 'compute.transform', 'data': '=$.t * 10'}]}]}",
          "{}");
    assert_string_equal(result(), "70");
}

static void test_call__writes_variables_of_the_process(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedures': {'p': {'commands': [{'type': 'compute.set',"
          "  'values': {'v': '$.input.n'}}]}}, 'steps': ["
          "    {'code': 'x',"
          "      'procedure': {'type': 'flow.call', 'procedure': 'p', 'input': {'n': 3}}},"
          "    {'code': 'y',"
          "      'procedure': {'type': 'compute.transform', 'data': '$.variables.v'}}]}",
          "{}");
    assert_string_equal(result(), "3");
}

/* --- workers --- */

static bool answer(const char *key, const char *output, const char *error)
{
    return rig_event(&rig,
                     (struct event){
                         .kind = EVENT_ANSWER,
                         .answer_key = str_of(key),
                         .answer_output = output != NULL ? rig_value(&rig, output) : value_absent(),
                         .answer_error = error != NULL ? rig_value(&rig, error) : value_absent(),
                     });
}

static void test_external__waits_for_a_worker(void **state)
{
    (void)state;
    start("{'code': 'a',"
          "  'steps': [{'code': 'x', 'procedure': 'erp.sync', 'input': {'id': '$.input.id'}}]}",
          "{'id':7}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(has_error("\"kind\":\"job\"") && has_error("erp.sync") && has_error("reason"));
    assert_string_equal(rig_text(&rig, rig.last.history.items[0].key), ID "-x");
    assert_string_equal(rig_text(&rig, rig.last.history.items[0].input_json), "{'id':7}");
    rig_reload(&rig);
    assert_false(answer(ID "-other", "1", NULL));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(answer(ID "-x", "{'done':true}", NULL));
    assert_string_equal(result(), "{'done':true}");
    assert_false(answer(ID "-x", "{'done':true}", NULL));
}

static void test_external__its_error_is_the_steps(void **state)
{
    (void)state;
    start("{'code': 'a',"
          "  'steps': [{'code': 'x', 'procedure': 'erp.sync', 'input': {'id': '$.input.id'}}]}",
          "{'id':7}");
    assert_true(answer(ID "-x", NULL, "{'code':'full','message':'no room','class':'transient'}"));
    assert_int_equal(rig.x->cursor.phase, PHASE_RETRY);
    rig_settle(&rig);
    /* The same key again. */
    assert_int_equal(rig.x->cursor.phase, PHASE_JOB);
    assert_string_equal(rig_text(&rig, rig.x->cursor.awaited), ID "-x");
    assert_true(answer(ID "-x", NULL, "{'code':'full','class':'transient','retryable':false}"));
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

static void test_external__an_attempt_may_time_out(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'x','procedure':'erp.sync','timeout':'30s','retry':{"
          "'maxAttempts':2,'delay':'1s'}}]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(has_error("timeout_step"));
    assert_string_equal(rig_trace(&rig), "x.failed x.failed(2)");
    /* Nobody had claimed it: it did not happen. */
    assert_true(has_error("transient"));
    assert_int_equal(rig.last.asks_ended.items[0].how, ASK_UNCLAIMED);
}

static void test_external__time_that_is_up_while_a_worker_holds_it_leaves_doubt(void **state)
{
    (void)state;
    rig_define(&rig, "{'code':'a','steps':[{'code':'x','procedure':'erp.sync','timeout':'30s',"
                     "'retry':{'maxAttempts':2,'delay':'1s'},'rollback':{'type':"
                     "'compute.transform','data':1}}]}");
    rig_start(&rig, "{}");
    assert_int_equal(rig.x->cursor.phase, PHASE_JOB);
    *VEC_ADD(&rig.mem, &rig.leases) = rig.x->cursor.asked_seq;
    rig_pass(&rig, 30 * SECOND);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_WAKE}));
    assert_string_equal(rig_trace(&rig), "x.failed");
    assert_true(str_find(rig.history.items[rig.history.count - 1].error_json, STR("indeterminate"),
                         0) >= 0);
    assert_int_equal(rig.last.asks_ended.items[0].how, ASK_UNWANTED);
    /* The next attempt has the same key; when it ends in doubt, too, the step is undone. */
    rig_pass(&rig, SECOND);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_WAKE}));
    assert_string_equal(rig_text(&rig, rig.x->cursor.awaited), ID "-x");
    *VEC_ADD(&rig.mem, &rig.leases) = rig.x->cursor.asked_seq;
    rig_settle(&rig);
    assert_string_equal(rig_trace(&rig), "x.failed x.failed(2) -x");
}

/* As a version stored it that had no jobs: without the row of an attempt that a worker could claim. */
static void test_external__one_that_never_left_is_asked_for_when_it_is_woken(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'x', 'procedure': 'erp.sync',"
                     "  'input': {'id': '$.input.id'}}]}");
    rig_start(&rig, "{'id':7}");
    rig.x->cursor.asked_seq = 0;
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_WAKE}));
    assert_int_equal(rig.last.asks.count, 1);
    assert_string_equal(rig_text(&rig, rig.last.asks.items[0].key), ID "-x");
    assert_string_equal(rig_text(&rig, rig.last.asks.items[0].request_json), "{'id':7}");
    assert_int_equal(rig.x->cursor.attempt, 1);
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_WAKE}));
    assert_true(answer(ID "-x", "{'done':true}", NULL));
    assert_string_equal(result(), "{'done':true}");
}

static void test_external__what_was_done_before_it_is_not_done_again(void **state)
{
    int64_t version;

    (void)state;
    run("{'type': 'compute.set', 'values': {'v': '=string($.now)'}},"
        "{'type': 'compute.transform', 'as': 'first', 'data': '=string($.now)'},"
        "{'type': 'compute.transform', 'when': '$.now > timestamp(\\'2027-01-01\\')', 'data': 1,"
        "  'as': 'late'},"
        "{'type': 'record.create', 'object': 'o', 'id': '1', 'data': {'at': '$.first'}},"
        "{'type': 'flow.if', 'condition': '$.now < timestamp(\\'2027-01-01\\')',"
        "  'then': [{'type': 'flow.call', 'procedure': 'erp.sync', 'input': {'n': 1}, 'as': 'job',"
        "    'result': '=$.response * 2'}],"
        "  'else': [{'type': 'compute.transform', 'data': 'else'}]},"
        "{'type': 'compute.transform',"
        "  'data': {'first': '$.first', 'job': '$.job', 'late': '=$.late'}}",
        "{}");
    assert_string_equal(rig_text(&rig, rig.x->cursor.awaited), ID "-x.5.1");
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "none");
    rig_reload(&rig);
    rig_pass(&rig, 400 * 86400 * SECOND);
    rig.x->deadline_at_us = rig.stored.deadline_at_us = 0;
    assert_true(answer(ID "-x.5.1", "21", NULL));
    assert_string_equal(rig_text(&rig, rig.x->waiting_for_json), "");
    assert_string_equal(result(), "{'first':'2026-01-01T00:00:00Z','job':42,'late':null}");
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "{'at':'2026-01-01T00:00:00Z'}");
    assert_string_equal(rig_text(&rig, rig.x->variables_json), "{'v':'2026-01-01T00:00:00Z'}");
}

static void test_external__a_record_that_changed_meanwhile_is_a_conflict(void **state)
{
    (void)state;
    run("{'type':'record.create','object':'o','id':'1','data':{}},{'type':'flow.call','procedure':"
        "'erp.sync'}",
        "{}");
    rig_record(&rig, "o", "1", 1, "{'by':'another'}");
    assert_true(answer(ID "-x.2", "1", NULL));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(has_error("conflict_version"));
}

static void test_external__cancelling_does_not_wait_for_it(void **state)
{
    (void)state;
    start("{'code': 'a',"
          "  'steps': [{'code': 'x', 'procedure': 'erp.sync', 'input': {'id': '$.input.id'}}]}",
          "{'id':7}");
    assert_true(rig_cancel(&rig, ""));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

static void test_external__may_roll_back(void **state)
{
    (void)state;
    rig_define(
        &rig,
        "{'code': 'a', 'steps': ["
        "  {'code': 'x', 'procedure': {'type': 'compute.transform', 'data': {'id': 5}},"
        "    'rollback': {'procedure': 'erp.undo', 'input': {'id': '$.steps.x.id'}}},"
        "  {'code': 'y', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    rig_start(&rig, "{}");
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_string_equal(rig_text(&rig, rig.x->cursor.awaited), ID "-x-rollback");
    rig_reload(&rig);
    assert_true(answer(ID "-x-rollback", "{'ok':true}", NULL));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "x y.failed -x");
}

static void test_external__a_rollback_that_a_worker_refuses_is_a_dead_letter(void **state)
{
    (void)state;
    rig_define(
        &rig,
        "{'code': 'a', 'steps': ["
        "  {'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1},"
        "    'rollback': 'erp.undo'},"
        "  {'code': 'y', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}");
    rig_start(&rig, "{}");
    assert_true(answer(ID "-x-rollback", NULL, "{'code':'gone','message':'m'}"));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "x y.failed -x.failed");
    assert_int_equal(rig.last.dead_letters.count, 1);
}

/* --- compute --- */

static void test_validate__names_every_rule_that_is_broken(void **state)
{
    static const char commands[] =
        "{'type':'compute.validate','rules':["
        "{'expr':'input.n > 1','code':'small','message':'n is {{ input.n }}'},"
        "{'expr':'input.n > 2','code':'smaller','message':'m'},"
        "{'expr':'true','code':'never','message':'m'}]}";

    (void)state;
    run(commands, "{'n':9}");
    assert_string_equal(result(), "{'valid':true}");
    run(commands, "{'n':1}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(has_error("\"code\":\"small\"") && has_error("n is 1") && has_error("smaller"));
    assert_false(has_error("never"));
}

static void test_aggregate__over_all_items(void **state)
{
    (void)state;
    run("{'type':'compute.aggregate','items':'$.input.items','fields':{'total':{'op':'sum','of':"
        "'item.n'},'mean':{'op':'avg','of':'item.n'},'least':{'op':'min','of':'item.n'},'most':{"
        "'op':'max','of':'item.n'},'count':{'op':'count'}}}",
        "{'items': [{'k': 'a', 'n': 1}, {'k': 'b', 'n': 5}, {'k': 'a', 'n': 2.5}]}");
    assert_string_equal(result(),
                        "{'total':8.5,'mean':2.8333333333333335,'least':1,'most':5,'count':3}");
    run("{'type':'compute.aggregate','items':[],'fields':{'total':{'op':'sum','of':'item.n'},"
        "'mean':{'op':'avg','of':'item.n'},'count':{'op':'count'}}}",
        "{}");
    assert_string_equal(result(), "{'total':0,'mean':null,'count':0}");
}

static void test_aggregate__by_group(void **state)
{
    (void)state;
    run("{'type':'compute.aggregate','items':'$.input.items','by':'item.k','fields':{'total':{'op':"
        "'sum','of':'item.n'},'count':{'op':'count'}}}",
        "{'items': [{'k': 'a', 'n': 1}, {'k': 'b', 'n': 5}, {'k': 'a', 'n': 2.5}]}");
    assert_string_equal(result(), "{'groups':[{'key':'a','total':3.5,'count':2},{'key':'b','total':"
                                  "5,'count':1}]}");
}

static void test_aggregate__what_is_no_number_is_an_error(void **state)
{
    (void)state;
    run("{'type':'compute.aggregate','items':['x'],'fields':{'t':{'op':'sum','of':'item'}}}", "{}");
    assert_true(has_error("validation_type"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_if__runs_one_of_two_lists),
        CLAIM(test_match__runs_the_case_of_the_value),
        CLAIM(test_try__catches_and_sees_the_error),
        CLAIM(test_try__a_failure_in_the_catch_fails_the_step),
        CLAIM(test_optional__an_error_becomes_a_warning),
        CLAIM(test_when__a_command_that_is_skipped_leaves_the_result),
        CLAIM(test_result__shapes_what_a_command_answers),
        CLAIM(test_procedure__has_its_own_input_and_result),
        CLAIM(test_procedure__a_wrong_input_is_a_business_error),
        CLAIM(test_call__gives_its_result_to_the_caller),
        CLAIM(test_call__writes_variables_of_the_process),
        CLAIM(test_external__waits_for_a_worker),
        CLAIM(test_external__its_error_is_the_steps),
        CLAIM(test_external__an_attempt_may_time_out),
        CLAIM(test_external__one_that_never_left_is_asked_for_when_it_is_woken),
        CLAIM(test_external__time_that_is_up_while_a_worker_holds_it_leaves_doubt),
        CLAIM(test_external__what_was_done_before_it_is_not_done_again),
        CLAIM(test_external__a_record_that_changed_meanwhile_is_a_conflict),
        CLAIM(test_external__cancelling_does_not_wait_for_it),
        CLAIM(test_external__may_roll_back),
        CLAIM(test_external__a_rollback_that_a_worker_refuses_is_a_dead_letter),
        CLAIM(test_validate__names_every_rule_that_is_broken),
        CLAIM(test_aggregate__over_all_items),
        CLAIM(test_aggregate__by_group),
        CLAIM(test_aggregate__what_is_no_number_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
