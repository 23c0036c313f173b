/* test_parallel.c - claims about parallel steps: strands beside each other. */
#include "engine/parallel_rig.h"

/* --- joining --- */

static void test_parallel__branches_run_one_after_the_other_when_none_waits(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "   {'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 2}}],"
          "  [{'code': 'c',"
          "    'procedure': {'type': 'compute.transform', 'data': '$.steps.a.output'}}]]}},"
          "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': '$.steps.p'}}");
    assert_string_equal(rig_trace(&rig), "a b c p z");
    assert_string_equal(rig_output(&rig, "p"), "{'branches':[2,1],'count':2,'ended':[0,1]}");
    assert_int_equal(rig.x->other_count, 0);
}

static void test_parallel__goes_on_when_all_have_ended(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}},"
          "   {'code': 'c',"
          "     'procedure': {'type': 'compute.transform', 'data': '$.steps.b.type'}}]]}},"
          "{'code': 'z',"
          "  'procedure': {'type': 'compute.transform', 'data': '$.steps.p.branches'}}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(execution_strands(rig.x), 2);
    signal("y");
    assert_string_equal(rig_trace(&rig), "b c");
    assert_int_equal(execution_strands(rig.x), 1);
    assert_string_equal(rig_text(&rig, rig.x->program->steps[rig.x->cursor.step].code), "a");
    signal("x");
    assert_string_equal(rig_trace(&rig), "b c a p z");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "c"), "'y'");
    assert_non_null(strstr(rig_output(&rig, "p"), "'count':2,'ended':[1,0]"));
}

static void test_parallel__any_stops_the_others(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.timer', 'duration': '1h'}}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}},"
          "{'code': 'z', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}");
    assert_int_equal(rig.x->wake_at_us, rig.now_us + 3600 * SECOND);
    signal("y");
    assert_string_equal(rig_trace(&rig), "c p");
    assert_string_equal(events("stopped"), "a b");
    assert_non_null(strstr(rig_output(&rig, "p"), "'branches':[null,null,{'type':'y'"));
    assert_non_null(strstr(rig_output(&rig, "p"), "'count':1,'ended':[2]"));
    /* Their waits and timers are gone. */
    assert_int_equal(execution_strands(rig.x), 1);
    assert_int_equal(rig.x->wake_at_us, rig.x->deadline_at_us);
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "c p z");
}

static void test_parallel__a_number_of_branches_is_enough(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'join': 2, 'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'z'}}]]}}");
    signal("z");
    assert_int_equal(execution_strands(rig.x), 2);
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(events("stopped"), "b");
    assert_string_equal(rig_trace(&rig), "c a p");
}

static void test_parallel__empty_branches_have_ended(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [],"
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  []]}}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    signal("x");
    assert_non_null(strstr(rig_output(&rig, "p"), "'count':3,'ended':[0,2,1]"));
    start("{'code': 'p', 'parallel': {'branches': [[], []]}},"
          "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 1}}");
    assert_string_equal(rig_trace(&rig), "p z");
    start("{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}}],"
          "  []]}}");
    assert_string_equal(rig_trace(&rig), "p");
}

static void test_parallel__the_result_of_a_branch_is_that_of_its_last_step(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "   {'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 2},"
          "     'when': 'false'}],"
          "  [{'code': 'c', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'},"
          "    'onError': 'continue'}],"
          "  [{'code': 'd', 'procedure': {'type': 'compute.transform', 'data': {'x': [1]}}}]]}}");
    assert_string_equal(rig_output(&rig, "p"),
                        "{'branches':[null,null,{'x':[1]}],'count':3,'ended':[0,1,2]}");
}

static void test_parallel__may_stand_in_loops_and_in_itself(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': [1, 2], 'as': 'n', 'collect': '$.steps.p.branches',"
          "  'steps': [{'code': 'p', 'parallel': {'branches': ["
          "    [{'code': 'a',"
          "      'procedure': {'type': 'compute.transform', 'data': '=$.loop.n * 10'}}],"
          "    [{'code': 'q', 'parallel': {'join': 'any',"
          "       'branches': ["
          "         [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "         [{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}},"
          "     {'code': 'd',"
          "       'procedure': {'type': 'compute.transform', 'data': '$.steps.q.ended'}}]]}}]}}");
    assert_int_equal(execution_strands(rig.x), 2);
    signal("y");
    assert_int_equal(execution_strands(rig.x), 2);
    assert_int_equal(rig.x->cursor.visit, 2);
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "l"),
                        "{'count':2,'items':[[10,[1]],[20,[0]]],'errors':[]}");
    assert_string_equal(rig_trace(&rig), "a c q d p a2 b2 q2 d2 p2 l");
}

static void test_parallel__stopped_steps_are_visited_anew_with_another_number(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': [1, 2], 'steps': [{'code': 'p',"
          "  'parallel': {'join': 'any', 'branches': ["
          "    [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "    [{'code': 'i', 'branch': [{'steps': [{'code': 'b',"
          "      'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]}]}]]}}]}}");
    signal("x");
    assert_string_equal(events("stopped"), "b i");
    signal("y");
    assert_string_equal(rig_trace(&rig), "a p b2 i2 p2 l");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

/* --- waiting --- */

static void test_parallel__says_what_each_branch_waits_for(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.timer', 'duration': '1h'}}]]}}");
    assert_true(waits_with("{'kind':'signal','step':'a'"));
    assert_true(waits_with("'branches':[{'kind':'signal','step':'a'"));
    assert_true(waits_with("{'kind':'timer','step':'b'"));
    signal("x");
    assert_true(waits_with("{'kind':'timer','step':'b'"));
    assert_false(waits_with("branches"));
}

static void test_parallel__a_signal_goes_to_the_oldest_wait(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '1m'}},"
          "   {'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]]}}");
    pass(60 * SECOND);
    assert_int_equal(execution_strands(rig.x), 2);
    signal("x");
    assert_string_equal(rig_trace(&rig), "t b");
    signal("x");
    assert_string_equal(rig_trace(&rig), "t b a p");
}

static void test_parallel__a_signal_goes_to_the_wait_that_it_matches(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x',"
          "    'match': '$.signal.payload == 1'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x',"
          "    'match': '$.signal.payload == 2'}}]]}}");
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "1", "x", "2"));
    assert_string_equal(rig_trace(&rig), "b");
    assert_true(waits_with("'unmatched':1"));
    assert_true(rig_signal(&rig, "2", "x", "1"));
    assert_string_equal(rig_trace(&rig), "b a p");
}

static void test_parallel__a_payload_must_fit_one_of_the_forms(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x',"
          "    'form': [{'name': 'n', 'type': 'integer', 'required': true}]}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x',"
          "    'form': [{'name': 's', 'type': 'string', 'required': true}]}}]]}}");
    assert_false(rig_signal(&rig, "1", "x", "{'z':1}"));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_true(rig_signal(&rig, "2", "x", "{'s':'t'}"));
    assert_string_equal(rig_trace(&rig), "b");
    assert_true(rig_signal(&rig, "3", "x", "{'n':1}"));
    assert_string_equal(rig_trace(&rig), "b a p");
}

static void test_parallel__timers_fire_each_at_its_time(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.timer', 'duration': '3m'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.timer', 'duration': '1m'}}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.timer', 'duration': '2m'}}]]}}");
    rig_settle(&rig);
    assert_string_equal(rig_trace(&rig), "b c a p");
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.timer', 'duration': '3m'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.timer', 'duration': '1m'}}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.timer', 'duration': '2m'}}]]}}");
    pass(3600 * SECOND);
    assert_string_equal(rig_trace(&rig), "a b c p");
    assert_false(rig_wake(&rig));
}

static void test_parallel__there_is_nothing_to_wake_before_the_time(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.timer', 'duration': '3m'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.timer', 'duration': '1m'}}]]}}");
    assert_false(rig_wake(&rig));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static void test_parallel__answers_go_to_the_strand_that_asked(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': 'erp.a'}],"
          "  [{'code': 'b', 'procedure': 'erp.b'},"
          "   {'code': 'c',"
          "     'procedure': {'type': 'compute.transform', 'data': '$.steps.b.output'}}]]}}");
    assert_true(waits_with("'branches':[{'kind':'job','step':'a'"));
    assert_true(answer("b", "5", NULL));
    assert_string_equal(rig_trace(&rig), "b c");
    assert_false(answer("b", "5", NULL));
    assert_true(answer("a", "6", NULL));
    assert_string_equal(rig_output(&rig, "p"), "{'branches':[6,5],'count':2,'ended':[1,0]}");
}

static void test_parallel__what_is_asked_for_and_stopped_in_one_turn_does_not_leave(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.timer', 'duration': '5s'}},"
          "   {'code': 'b', 'procedure': 'erp.b'}],"
          "  [{'code': 'c', 'procedure': {'type': 'wait.timer', 'duration': '5s'}}]]}}");
    pass(5 * SECOND);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.last.asks.count, 0);
}

/* Its job ended with the execution: nobody would ever answer it. */
static void test_parallel__a_retry_asks_workers_of_other_branches_again(void **state)
{
    (void)state;
    start_with(",'onError':'fail_fast','settings':{'timeout':'1h'}",
               "{'code': 'p', 'parallel': {'branches': ["
               "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
               "  [{'code': 'b', 'procedure': 'erp.b',"
               "    'retry': {'maxAttempts': 2, 'delay': '1s'}}]]}}");
    pass(3600 * SECOND);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(rig.last.asks_ended.count, 1);
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_string_equal(rig_trace(&rig), "b.failed");
    pass(SECOND);
    assert_int_equal(rig.last.asks.count, 1);
    assert_true(answer("b", "5", NULL));
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_parallel__attempts_wait_for_their_time_beside_others(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': 'erp.a',"
          "    'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]]}}");
    assert_true(answer("a", NULL, "{'code':'down','message':'m','class':'transient'}"));
    assert_true(waits_with("'kind':'retry'"));
    assert_int_equal(rig.x->wake_at_us, rig.now_us + 60 * SECOND);
    signal("x");
    pass(60 * SECOND);
    assert_true(answer("a", "1", NULL));
    assert_string_equal(rig_trace(&rig), "a.failed b a(2) p");
}

/* --- turns --- */

static void test_parallel__a_long_branch_does_not_keep_the_others(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'l', 'loop': {'while': '$.steps.z == null', 'max': 1000,"
          "    'steps': [{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}],"
          "  [{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 1}}]]}}");
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_true(rig.history.count < 200);
}

/* Each has said how it ended: nothing is read. */
static void test_parallel__children_that_have_ended_are_not_read(void **state)
{
    struct process_read *process;

    (void)state;
    rig_define(&rig, "{'code': 'child', 'steps': [{'code': 's',"
                     "  'procedure': {'type': 'compute.transform', 'data': 1}}]}");
    process = VEC_ADD(&rig.mem, &rig.processes);
    *process = (struct process_read){.code = STR("child"), .program = rig.program};
    rig.program = NULL;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a',"
          "    'procedure': {'type': 'flow.start', 'code': 'child', 'input': {}, 'wait': true}}],"
          "  [{'code': 'b', 'procedure': {'type': 'flow.start', 'code': 'child', 'input': {},"
          "    'wait': true}}]]}}");
    assert_int_equal(execution_strands(rig.x), 2);
    rig.child = (struct child_read){
        .is_found = true, .status = STATUS_COMPLETED, .result = rig_value(&rig, "8")};
    rig_reload(&rig);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.needs, 0);
    assert_string_equal(rig_output(&rig, "p"), "{'branches':[8,8],'count':2,'ended':[0,1]}");
    program_release(process->program);
}

static void test_parallel__every_strand_moves_to_another_version(void **state)
{
    const struct program *old;

    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}}");
    old = rig.program;
    rig.program = NULL;
    rig_define(&rig, "{'code': 'a', 'steps': ["
                     "  {'code': 'first', 'procedure': {'type': 'compute.transform', 'data': 1}},"
                     "  {'code': 'p', 'parallel': {'branches': ["
                     "    [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
                     "     {'code': 'c', 'procedure': {'type': 'compute.transform',"
                     "       'data': '$.steps.b.type'}}],"
                     "    [{'code': 'b',"
                     "      'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}}]}");
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = rig.program}));
    signal("y");
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "b a c p");
    program_release(old);
}

static void test_parallel__a_version_without_the_step_of_a_strand_is_refused(void **state)
{
    const struct program *old;

    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}}");
    old = rig.program;
    rig.program = NULL;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'p',"
                     "  'parallel': {'branches': ["
                     "    [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}],"
                     "    [{'code': 'c',"
                     "      'procedure': {'type': 'wait.signal', 'signalType': 'y'}}]]}}]}");
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = rig.program}));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    program_release(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_parallel__branches_run_one_after_the_other_when_none_waits),
        CLAIM(test_parallel__goes_on_when_all_have_ended),
        CLAIM(test_parallel__any_stops_the_others),
        CLAIM(test_parallel__a_number_of_branches_is_enough),
        CLAIM(test_parallel__empty_branches_have_ended),
        CLAIM(test_parallel__the_result_of_a_branch_is_that_of_its_last_step),
        CLAIM(test_parallel__may_stand_in_loops_and_in_itself),
        CLAIM(test_parallel__stopped_steps_are_visited_anew_with_another_number),
        CLAIM(test_parallel__says_what_each_branch_waits_for),
        CLAIM(test_parallel__a_signal_goes_to_the_oldest_wait),
        CLAIM(test_parallel__a_signal_goes_to_the_wait_that_it_matches),
        CLAIM(test_parallel__a_payload_must_fit_one_of_the_forms),
        CLAIM(test_parallel__timers_fire_each_at_its_time),
        CLAIM(test_parallel__there_is_nothing_to_wake_before_the_time),
        CLAIM(test_parallel__answers_go_to_the_strand_that_asked),
        CLAIM(test_parallel__what_is_asked_for_and_stopped_in_one_turn_does_not_leave),
        CLAIM(test_parallel__a_retry_asks_workers_of_other_branches_again),
        CLAIM(test_parallel__attempts_wait_for_their_time_beside_others),
        CLAIM(test_parallel__a_long_branch_does_not_keep_the_others),
        CLAIM(test_parallel__children_that_have_ended_are_not_read),
        CLAIM(test_parallel__every_strand_moves_to_another_version),
        CLAIM(test_parallel__a_version_without_the_step_of_a_strand_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
