/*
 * test_released.c - a branch that the deadline has held, when another one makes the execution fail:
 * a retry goes on with its visit, with the keys and the inputs that this has used.
 */
#include "engine/parallel_rig.h"

#define SETTINGS ",'onError':'hold','settings':{'timeout':'1h'}"
/* Fails once, as soon as it is told to, with the whole execution. */
#define FAILS                                                                                      \
    "[{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"                    \
    " {'code': 'f', 'onError': 'fail_fast', 'procedure': [{'type': 'compute.fail',"                \
    "   'when': 'execution.visit == 1', 'code': 'no', 'message': 'm'}]}]"

/* One branch of that step beside the one that fails. */
static void start_beside(const char *step)
{
    start_with(
        SETTINGS,
        rig_text(&rig,
                 str_printf(&rig.mem, "{'code': 'p', 'parallel': {'branches': [[%s]," FAILS "]}}",
                            step)));
}

static void hold_and_fail(void)
{
    pass(3600 * SECOND);
    assert_true(execution_is_held(rig.x));
    signal("go");
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

static void retry(void)
{
    rig_reload(&rig);
    rig_pass(&rig, SECOND);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = value_absent()}));
}

/* All attempts under the key ask for the same; how many there were. */
static size_t asked_the_same(const char *key)
{
    struct str full = str_printf(&rig.mem, "01020304-0506-7708-890a-0b0c0d0e0f10-%s", key);
    const struct history_row *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < rig.history.count; i++) {
        const struct history_row *row = &rig.history.items[i];

        if (row->kind != HISTORY_EVENT || !str_eq(row->key, full) || row->input_json.len == 0)
            continue;
        if (first == NULL)
            first = row;
        assert_string_equal(rig_text(&rig, row->input_json), rig_text(&rig, first->input_json));
        count++;
    }
    return count;
}

static void test_released__a_job_is_asked_for_again_with_its_input(void **state)
{
    (void)state;
    start_beside("{'code': 'x', 'retry': {'maxAttempts': 2, 'delay': '1s', 'jitter': 'none'},"
                 " 'procedure': [{'type': 'compute.transform', 'data': 1},"
                 "   {'type': 'flow.call', 'procedure': 'erp.x', 'input': {'at': '$.now'}}]}");
    assert_int_equal(asked_the_same("x.2"), 1);
    hold_and_fail();
    retry();
    assert_int_equal(asked_the_same("x.2"), 1);
    pass(SECOND);
    assert_int_equal(asked_the_same("x.2"), 2);
    assert_true(answer("x.2", "5", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_released__what_was_answered_while_it_was_held_counts(void **state)
{
    (void)state;
    start_beside("{'code': 'x', 'procedure': 'erp.x', 'input': {'at': '$.now'}}");
    pass(3600 * SECOND);
    assert_true(answer("x", "5", NULL));
    assert_true(execution_is_held(rig.x));
    signal("go");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    retry();
    assert_int_equal(asked_the_same("x"), 1);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "x"), "5");
}

static void test_released__the_next_attempt_has_the_input_of_the_last(void **state)
{
    (void)state;
    start_beside("{'code': 'x', 'retry': {'maxAttempts': 3, 'delay': '2h', 'jitter': 'none'},"
                 " 'procedure': 'erp.x', 'input': {'at': '$.now'}}");
    assert_true(answer("x", NULL, "{'code':'down','message':'m','class':'transient'}"));
    assert_true(waits_with("'kind':'retry'"));
    hold_and_fail();
    retry();
    assert_int_equal(asked_the_same("x"), 1);
    assert_true(waits_with("'kind':'retry'"));
    pass(0);
    assert_int_equal(asked_the_same("x"), 2);
    assert_true(answer("x", "5", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig_row(&rig, "x")->attempt, 2);
}

static void test_released__a_call_is_waited_for(void **state)
{
    (void)state;
    start_beside("{'code': 'x', 'procedure': {'type': 'integration.http', 'method': 'POST',"
                 "  'url': 'http://pay.example/charges', 'body': {'at': '$.now'}}}");
    rig_reload(&rig);
    hold_and_fail();
    /* It comes after the end: whoever tries the execution again goes on with it. */
    assert_true(answer("x", "{'status_code':200,'headers':{},'body':7}", NULL));
    retry();
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(asked_the_same("x"), 1);
}

static void test_released__an_attempt_in_doubt_is_asked_about(void **state)
{
    (void)state;
    start_beside("{'code': 'x', 'procedure': 'erp.x', 'input': {'at': '$.now'},"
                 " 'reconcile': {'procedure': 'erp.state', 'every': '1s', 'max': 1}}");
    assert_true(answer("x", NULL, "{'code':'lost','message':'m','class':'indeterminate'}"));
    pass(0);
    assert_true(answer("x-reconcile-1", "{'outcome':'unknown'}", NULL));
    assert_true(waits_with("'parked':true"));
    signal("go");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    retry();
    assert_int_equal(asked_the_same("x"), 1);
    pass(0);
    assert_true(answer("x-reconcile-2", "{'outcome':'succeeded','output':5}", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig_row(&rig, "x")->visit, 1);
}

static void test_released__what_came_before_a_child_is_not_done_again(void **state)
{
    struct process_read *process;

    (void)state;
    rig_define(&rig, "{'code': 'child', 'steps': [{'code': 's',"
                     "  'procedure': {'type': 'compute.transform', 'data': 1}}]}");
    process = VEC_ADD(&rig.mem, &rig.processes);
    *process = (struct process_read){.code = STR("child"), .program = rig.program};
    rig.program = NULL;
    rig.child = (struct child_read){.is_found = true, .status = STATUS_WAITING};
    start_beside("{'code': 'x', 'procedure': ["
                 "  {'type': 'flow.call', 'procedure': 'erp.x', 'input': {'at': '$.now'}},"
                 "  {'type': 'flow.start', 'code': 'child', 'input': {}, 'wait': true}]}");
    assert_true(answer("x", "5", NULL));
    hold_and_fail();
    retry();
    assert_int_equal(asked_the_same("x"), 1);
    assert_true(waits_with("'kind':'child'"));
    assert_true(waits_with("'code':'child'"));
    rig.child =
        (struct child_read){.is_found = true, .status = STATUS_COMPLETED, .result = value_int(7)};
    pass(0);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "x"), "7");
    program_release(process->program);
}

/* --- visits that have failed for good --- */

#define DECLINED "{'code':'no','message':'m','class':'business'}"
#define LOST "{'code':'lost','message':'m','class':'indeterminate'}"

static void fail_beside(void)
{
    assert_true(execution_is_held(rig.x));
    signal("go");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    retry();
}

/* It may have happened: its key stays, and with it what it asks for. */
static void test_released__a_visit_that_may_have_happened_keeps_its_key(void **state)
{
    (void)state;
    start_beside("{'code': 'x', 'retry': {'maxAttempts': 1}, 'procedure': 'erp.x',"
                 " 'input': {'at': '$.now'}}");
    assert_true(answer("x", NULL, LOST));
    fail_beside();
    assert_int_equal(asked_the_same("x"), 2);
    assert_int_equal(asked_the_same("x-2"), 0);
    assert_true(answer("x", "5", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "x.failed w f.failed f2 x(2) p");
}

static void test_released__what_a_failed_visit_has_done_stays_done(void **state)
{
    (void)state;
    start_beside("{'code': 'x', 'retry': {'maxAttempts': 1}, 'procedure': ["
                 "  {'type': 'flow.call', 'procedure': 'erp.a', 'as': 'a', 'input': {'n': 1}},"
                 "  {'type': 'flow.call', 'procedure': 'erp.b', 'input': {'a': '$.a'}}]}");
    assert_true(answer("x", "5", NULL));
    assert_true(answer("x.2", NULL, DECLINED));
    fail_beside();
    assert_int_equal(asked_the_same("x"), 1);
    assert_int_equal(asked_the_same("x-2"), 0);
    assert_int_equal(asked_the_same("x-2.2"), 1);
    assert_true(answer("x-2.2", "6", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_released__a_visit_that_has_done_nothing_begins_anew(void **state)
{
    (void)state;
    start_beside("{'code': 'x', 'retry': {'maxAttempts': 1}, 'procedure': 'erp.x',"
                 " 'input': {'at': '$.now'}}");
    assert_true(answer("x", NULL, DECLINED));
    fail_beside();
    assert_int_equal(asked_the_same("x"), 1);
    assert_int_equal(asked_the_same("x-2"), 1);
}

/* The same of one that is stopped in the middle, when rolling back finds nothing to undo. */
static void test_released__what_a_stopped_visit_has_done_stays_done(void **state)
{
    (void)state;
    start_with("", "{'code': 'p', 'parallel': {'branches': ["
                   "  [{'code': 'x', 'retry': {'maxAttempts': 2, 'delay': '1h'}, 'procedure': ["
                   "    {'type': 'flow.call', 'procedure': 'erp.a', 'input': {'n': 1}},"
                   "    {'type': 'flow.call', 'procedure': 'erp.b', 'input': {'n': 2}}]}],"
                   "  [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
                   "   {'code': 'f', 'procedure': [{'type': 'compute.fail',"
                   "     'when': 'execution.visit == 1', 'code': 'no', 'message': 'm'}]}]]}},"
                   "{'code': 'z', 'procedure': {'type': 'log', 'message': 'm'},"
                   " 'rollback': {'type': 'log', 'message': 'm'}}");
    assert_true(answer("x", "5", NULL));
    assert_true(answer("x.2", NULL, "{'code':'down','message':'m','class':'transient'}"));
    signal("go");
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    retry();
    assert_int_equal(asked_the_same("x"), 1);
    assert_int_equal(asked_the_same("x-2"), 0);
    assert_int_equal(asked_the_same("x-2.2"), 1);
    assert_true(answer("x-2.2", "6", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

/* What it has done has a place in the version that it moves to; or it does not move. */
static void test_released__a_failed_visit_moves_with_its_commands(void **state)
{
    const struct program *other;

    (void)state;
    rig_define(&rig, "{'code':'a','onError':'hold','steps':[{'code':'x','procedure':["
                     "  {'type': 'flow.call', 'procedure': 'erp.other'},"
                     "  {'type': 'flow.call', 'procedure': 'erp.b'}]}]}");
    other = rig.program;
    rig.program = NULL;
    start_with(",'onError':'hold'", "{'code': 'x', 'retry': {'maxAttempts': 1}, 'procedure': ["
                                    "  {'type': 'flow.call', 'procedure': 'erp.a'},"
                                    "  {'type': 'flow.call', 'procedure': 'erp.b'}]}");
    assert_true(answer("x", "5", NULL));
    assert_true(answer("x.2", NULL, DECLINED));
    assert_true(execution_is_held(rig.x));
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = other}));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    program_release(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_released__a_job_is_asked_for_again_with_its_input),
        CLAIM(test_released__what_was_answered_while_it_was_held_counts),
        CLAIM(test_released__the_next_attempt_has_the_input_of_the_last),
        CLAIM(test_released__a_call_is_waited_for),
        CLAIM(test_released__an_attempt_in_doubt_is_asked_about),
        CLAIM(test_released__what_came_before_a_child_is_not_done_again),
        CLAIM(test_released__a_visit_that_may_have_happened_keeps_its_key),
        CLAIM(test_released__what_a_failed_visit_has_done_stays_done),
        CLAIM(test_released__a_visit_that_has_done_nothing_begins_anew),
        CLAIM(test_released__what_a_stopped_visit_has_done_stays_done),
        CLAIM(test_released__a_failed_visit_moves_with_its_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
