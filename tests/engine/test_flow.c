/* test_flow.c - claims about branches, loops and jumps. */
#include "base/buf.h"
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* Start a scenario of these steps and let it run to where it waits. */
static void run(const char *steps, const char *input)
{
    struct buf text;

    buf_init_arena(&text, &rig.mem);
    buf_printf(&text, "{'code':'a','steps':[%s]}", steps);
    buf_char(&text, 0);
    rig_define(&rig, text.ptr);
    rig_start(&rig, input);
    rig_settle(&rig);
}

static const char *result(void)
{
    return rig_text(&rig, rig.x->result_json);
}

static bool is_held_with(const char *code)
{
    return rig.x->status == STATUS_WAITING &&
           str_find(rig.x->waiting_for_json, STR("\"incident\""), 0) >= 0 &&
           str_find(rig.x->waiting_for_json, str_of(code), 0) >= 0;
}

/* --- branches --- */

static void test_branch__the_first_that_holds_runs(void **state)
{
    (void)state;
    run("{'code': 'b', 'branch': ["
        "  {'when': 'input.n > 10', 'steps': [{'code': 'many',"
        "    'procedure': {'type': 'compute.transform', 'data': 'big'}}]},"
        "  {'when': 'input.n > 5', 'steps': ["
        "    {'code': 'some', 'procedure': {'type': 'compute.transform', 'data': 'mid'}},"
        "    {'code': 'more', 'procedure': {'type': 'compute.transform', 'data': 1}}]},"
        "  {'steps': [{'code': 'few',"
        "    'procedure': {'type': 'compute.transform', 'data': 'small'}}]}]},"
        "{'code': 'z', 'procedure': {'type': 'compute.transform',"
        "  'data': {'b': '$.steps.b.branch', 'many': '$.steps.many',"
        "    'some': '$.steps.some.output'}}}",
        "{'n':7}");
    assert_string_equal(rig_trace(&rig), "some more b z");
    assert_string_equal(result(), "{'b':1,'many':null,'some':'mid'}");
}

static void test_branch__one_without_a_condition_takes_the_rest(void **state)
{
    (void)state;
    run("{'code': 'b', 'branch': ["
        "  {'when': 'input.n > 10', 'steps': [{'code': 'many',"
        "    'procedure': {'type': 'compute.transform', 'data': 'big'}}]},"
        "  {'when': 'input.n > 5', 'steps': ["
        "    {'code': 'some', 'procedure': {'type': 'compute.transform', 'data': 'mid'}},"
        "    {'code': 'more', 'procedure': {'type': 'compute.transform', 'data': 1}}]},"
        "  {'steps': [{'code': 'few',"
        "    'procedure': {'type': 'compute.transform', 'data': 'small'}}]}]}",
        "{'n':1}");
    assert_string_equal(rig_trace(&rig), "few b");
    /* The result is that of the last step, not what the branch says of itself. */
    assert_string_equal(result(), "'small'");
}

static void test_branch__without_a_match_nothing_runs(void **state)
{
    (void)state;
    run("{'code': 'b', 'branch': ["
        "  {'when': 'input.n > 10', 'steps': [{'code': 'many',"
        "    'procedure': {'type': 'compute.transform', 'data': 'big'}}]},"
        "  {'when': 'input.n > 5', 'steps': ["
        "    {'code': 'some', 'procedure': {'type': 'compute.transform', 'data': 'mid'}},"
        "    {'code': 'more', 'procedure': {'type': 'compute.transform', 'data': 1}}]}]},"
        "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': '=$.steps.b'}}",
        "{'n':1}");
    assert_string_equal(rig_trace(&rig), "b z");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_branch__is_skipped_as_a_whole(void **state)
{
    (void)state;
    run("{'code': 'b', 'when': 'false', 'branch': [{'steps': [{'code': 'x',"
        "  'procedure': {'type': 'compute.transform', 'data': 1}}]}]},"
        "{'code': 'z', 'procedure': {'type': 'compute.transform',"
        "  'data': '=$.steps.b == null && $.steps.x == null'}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "b.skipped z");
    assert_string_equal(result(), "true");
}

static void test_branch__may_wait_and_nest(void **state)
{
    (void)state;
    run("{'code': 'b', 'branch': [{'steps': ["
        "  {'code': 'c', 'branch': [{'when': 'input.ok',"
        "    'steps': [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}]}]},"
        "  {'code': 'after',"
        "    'procedure': {'type': 'compute.transform', 'data': '$.steps.w.payload'}}]}]}",
        "{'ok':true}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.x->frame_count, 2);
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "1", "go", "5"));
    assert_string_equal(rig_trace(&rig), "w c after b");
    assert_string_equal(result(), "5");
}

static void test_branch__a_condition_that_fails_holds(void **state)
{
    (void)state;
    run("{'code': 'b', 'branch': [{'when': 'input.none > 1',"
        "  'steps': [{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1}}]}]}",
        "{}");
    assert_true(is_held_with("expression_"));
    assert_string_equal(rig_trace(&rig), "b.failed");
}

/* --- loops --- */

static void test_loop__goes_over_a_list(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'for': '$.input.items', 'as': 'line',"
        "  'collect': '=$.steps.x.output * 10', 'steps': [{'code': 'x',"
        "    'procedure': {'type': 'compute.transform', 'data': '=$.loop.line + $.loop.index'}}]}}",
        "{'items':[1,2,3]}");
    assert_string_equal(rig_trace(&rig), "x x2 x3 l");
    assert_string_equal(result(), "{'count':3,'items':[10,30,50],'errors':[]}");
}

static void test_loop__runs_while_a_condition_holds(void **state)
{
    (void)state;
    run("{'code':'s','procedure':{'type':'compute.set','values':{'n':0}}},"
        "{'code':'l','loop':{'while':'variables.n < 4','steps':[{'code':'x','procedure':"
        "{'type':'compute.set','values':{'n':'=variables.n + 1'}}}]}},"
        "{'code':'z','procedure':{'type':'compute.transform','data':['$.steps.l.count','"
        "$.variables.n']}}",
        "{}");
    assert_string_equal(result(), "[4,4]");
}

static void test_loop__an_empty_list_runs_nothing(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'for': [],"
        "  'steps': [{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "l");
    assert_string_equal(result(), "{'count':0,'items':[],'errors':[]}");
}

static void test_loop__inner_ones_see_the_outer_as_parent(void **state)
{
    (void)state;
    run("{'code': 'o', 'loop': {'for': [[1, 2], [3]], 'collect': '$.steps.i.items',"
        "  'steps': [{'code': 'i', 'loop': {'for': '$.loop.item',"
        "    'collect': '=$.loop.parent.index * 100 + $.loop.item',"
        "    'steps': [{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}]}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "x x2 i x3 i2 o");
    assert_string_equal(result(), "{'count':2,'items':[[1,2],[103]],'errors':[]}");
}

static void test_loop__the_list_stays_what_it_was(void **state)
{
    (void)state;
    run("{'code':'s','procedure':{'type':'compute.set','values':{'v':[1,2]}}},"
        "{'code':'l','loop':{'for':'$.variables.v','collect':'$.loop.item','steps':[{'code':'x',"
        "'procedure':{'type':'compute.set','values':{'v':[]}}}]}}",
        "{}");
    assert_string_equal(result(), "{'count':2,'items':[1,2],'errors':[]}");
}

static void test_loop__waits_within_an_iteration_survive_a_restart(void **state)
{
    (void)state;
    run("{'code':'l','loop':{'for':['a','b'],'collect':'$.steps.w.payload','steps':["
        "{'code':'w','procedure':{'type':'wait.signal','signalType':'go'}}]}}",
        "{}");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rig.x->frames[0].index, i);
        rig_reload(&rig);
        assert_true(rig_signal(&rig, i == 0 ? "1" : "2", "go", i == 0 ? "'x'" : "'y'"));
    }
    assert_string_equal(result(), "{'count':2,'items':['x','y'],'errors':[]}");
}

static void test_loop__next_and_break_leave_an_iteration(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'for': [1, 2, 3, 4, 5], 'collect': '$.loop.item',"
        "  'steps': ["
        "    {'code': 'x', 'procedure': {'type': 'log', 'message': 'm'},"
        "      'goto': ["
        "        {'when': '$.loop.item == 2', 'to': 'next'},"
        "        {'when': '$.loop.item == 4', 'to': 'break'}]},"
        "    {'code': 'y', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "x y x2 x3 y2 x4 l");
    assert_string_equal(result(), "{'count':4,'items':[1,3],'errors':[]}");
}

static void test_loop__break_leaves_the_branch_it_stands_in(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'for': [1, 2, 3], 'steps': [{'code': 'b',"
        "  'branch': [{'steps': [{'code': 'x', 'procedure': {'type': 'log', 'message': 'm'},"
        "    'goto': 'break'}]}]}]}},"
        "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': '$.steps.l.count'}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "x b l z");
    assert_string_equal(result(), "1");
}

static void test_loop__a_failed_iteration_may_be_recorded(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'for': [1, 2, 3], 'onError': 'continue', 'collect': '$.loop.item',"
        "  'steps': ["
        "    {'code': 'x', 'when': '$.loop.item == 2',"
        "      'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}},"
        "    {'code': 'y', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "x.skipped y x2.failed x3.skipped y2 l");
    assert_string_equal(
        result(), "{'count':3,'items':[1,3],'errors':[{'index':1,'item':2,'error':{'code':'no',"
                  "'message':'m','class':'business','retryable':false,'details':null,"
                  "'source':'/steps/0/loop/steps/0/procedure','version':1}}]}");
}

static void test_loop__item_is_the_name_of_its_item_and_may_be_written(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'for': [1, 2], 'as': 'item', 'collect': '$.loop.item',"
        "  'steps': [{'code': 'x', 'procedure': {'type': 'log', 'message': '{{ loop.item }}'}}]}}",
        "{}");
    assert_string_equal(result(), "{'count':2,'items':[1,2],'errors':[]}");
}

static void test_loop__beyond_its_limit_is_an_error(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'while': 'true', 'max': 3,"
        "  'steps': [{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}",
        "{}");
    assert_true(is_held_with("limit_loop"));
    assert_string_equal(rig_trace(&rig), "x x2 x3");
    run("{'code': 'l', 'loop': {'for': '$.input.items', 'max': 2,"
        "  'steps': [{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}",
        "{'items':[1,2,3]}");
    assert_true(is_held_with("limit_loop"));
    assert_string_equal(rig_trace(&rig), "l.failed");
}

static void test_loop__what_is_no_list_is_an_error(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'for': '$.input.items',"
        "  'steps': [{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}",
        "{'items':5}");
    assert_string_equal(rig_trace(&rig), "l.failed");
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

/* Rows and checkpoints: what a long loop writes grows with what it does, not with its square. */
static void test_loop__a_long_one_costs_in_proportion(void **state)
{
    size_t bytes[2] = {0};

    (void)state;
    for (int run_number = 0; run_number < 2; run_number++) {
        struct buf input;
        int count = run_number == 0 ? 100 : 1000;

        buf_init_arena(&input, &rig.mem);
        buf_text(&input, "{'items':[0");
        for (int i = 1; i < count; i++)
            buf_printf(&input, ",%d", i);
        buf_text(&input, "]}");
        buf_char(&input, 0);
        rig_define(&rig, "{'code':'a','steps':[{'code':'l','loop':{'for':'$.input.items',"
                         "'collect':'=string($.loop.item) + \\' is collected\\'','steps':["
                         "{'code':'x','procedure':{'type':'log','message':'m'}}]}}]}");
        rig_start(&rig, input.ptr);
        while (rig.x->status == STATUS_RUNNING) {
            bytes[run_number] += rig.last.context_json.len + rig.last.cursor_json.len;
            assert_true(rig_wake(&rig));
        }
        assert_int_equal(rig.x->status, STATUS_COMPLETED);
        for (size_t i = 0; i < rig.history.count; i++)
            bytes[run_number] += (size_t)state_row_bytes(&rig.history.items[i]);
    }
    assert_true(bytes[1] < 20 * bytes[0]);
}

/* --- jumps --- */

static void test_goto__leads_back_and_counts_visits(void **state)
{
    (void)state;
    run("{'code':'a','procedure':{'type':'compute.transform','data':'$.execution.visit'}},"
        "{'code':'b','procedure':{'type':'log','message':'m'},'goto':["
        "{'when':'$.steps.a.output < 3','to':'a'}]},{'code':'c','procedure':{'type':"
        "'compute.transform','data':'$.steps.a.output'}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "a b a2 b2 a3 b3 c");
    assert_string_equal(result(), "3");
}

static void test_goto__end_completes(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'for': [1, 2], 'steps': [{'code': 'a',"
        "  'procedure': {'type': 'compute.transform', 'data': 7}, 'goto': 'end'}]}},"
        "{'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 8}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "a l");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_goto__is_not_taken_by_a_skipped_step(void **state)
{
    (void)state;
    run("{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}, 'when': 'false',"
        "  'goto': 'end'},"
        "{'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 2}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "a.skipped b");
}

static void test_goto__out_of_a_loop_ends_it(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'for': [1, 2, 3], 'steps': [{'code': 'a',"
        "  'procedure': {'type': 'compute.transform', 'data': 1}, 'goto': 'z'}]}},"
        "{'code': 'y', 'procedure': {'type': 'compute.transform', 'data': 2}},"
        "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': '$.steps.l.count'}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "a l z");
    assert_string_equal(result(), "1");
    assert_null(rig.x->loops);
}

static void test_goto__the_hundred_and_first_is_an_error(void **state)
{
    (void)state;
    run("{'code':'a','procedure':{'type':'log','message':'m'},'goto':'a'}", "{}");
    assert_true(is_held_with("limit_goto"));
    assert_int_equal(rig.x->steps[0].visit, 101);
    assert_int_equal(rig.x->steps[0].outcome, OUTCOME_COMPLETED);
}

static void test_goto__a_condition_that_fails_holds(void **state)
{
    (void)state;
    run("{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1},"
        "  'goto': [{'when': 'input.none', 'to': 'end'}]}",
        "{}");
    assert_true(is_held_with("expression_"));
    assert_true(rig_cancel(&rig, ""));
}

/* --- failures within --- */

static void test_failure__of_an_inner_step_may_be_continued_by_the_step_around_it(void **state)
{
    (void)state;
    run("{'code': 'b', 'onError': 'continue', 'branch': [{'steps': [{'code': 'l',"
        "  'loop': {'for': [1, 2], 'steps': [{'code': 'x',"
        "    'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}}]}]},"
        "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': '$.steps.b.error.code'}}",
        "{}");
    assert_string_equal(rig_trace(&rig), "x.failed l.failed b.failed z");
    assert_string_equal(result(), "'no'");
    assert_null(rig.x->loops);
}

static void test_failure__of_an_inner_step_fails_the_execution(void **state)
{
    (void)state;
    run("{'code': 'l', 'loop': {'for': [1, 2], 'steps': [{'code': 'x',"
        "  'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}}",
        "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(str_find(rig.x->error_json, STR("\"no\""), 0) >= 0);
}

static void test_visits__are_counted_over_the_whole_execution(void **state)
{
    const struct history_row *row;

    (void)state;
    run("{'code': 'l', 'loop': {'for': [1, 2, 3],"
        "  'steps': [{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}",
        "{}");
    row = rig_row(&rig, "x");
    assert_int_equal(row->visit, 3);
}

/* The history of one execution has a size; what operators do, and rolling back, is not held up. */
static void test_history__that_is_too_large_holds_the_execution(void **state)
{
    (void)state;
    rig_define(&rig, "{'code':'a','steps':[{'code':'a','procedure':{'type':'log','message':'1'},"
                     "'rollback':{'type':'log','message':'undo'}},"
                     "{'code':'w','procedure':{'type':'wait.signal','signalType':'go'}},"
                     "{'code':'b','procedure':{'type':'log','message':'2'}}]}");
    rig_start(&rig, "{}");
    assert_true(rig.x->history_bytes > 0);
    rig.x->history_bytes = HISTORY_BYTES_MAX;
    assert_true(rig_signal(&rig, "1", "go", "null"));
    assert_int_equal(rig.x->waiting_kind, WAITING_INCIDENT);
    assert_non_null(strstr(rig_text(&rig, rig.x->waiting_for_json), "limit_history"));
    rig_reload(&rig);
    assert_true(rig.x->history_bytes > HISTORY_BYTES_MAX);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_int_equal(rig.x->waiting_kind, WAITING_INCIDENT);
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "a w -a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_branch__the_first_that_holds_runs),
        CLAIM(test_branch__one_without_a_condition_takes_the_rest),
        CLAIM(test_branch__without_a_match_nothing_runs),
        CLAIM(test_branch__is_skipped_as_a_whole),
        CLAIM(test_branch__may_wait_and_nest),
        CLAIM(test_branch__a_condition_that_fails_holds),
        CLAIM(test_loop__goes_over_a_list),
        CLAIM(test_loop__runs_while_a_condition_holds),
        CLAIM(test_loop__an_empty_list_runs_nothing),
        CLAIM(test_loop__inner_ones_see_the_outer_as_parent),
        CLAIM(test_loop__the_list_stays_what_it_was),
        CLAIM(test_loop__waits_within_an_iteration_survive_a_restart),
        CLAIM(test_loop__next_and_break_leave_an_iteration),
        CLAIM(test_loop__break_leaves_the_branch_it_stands_in),
        CLAIM(test_loop__a_failed_iteration_may_be_recorded),
        CLAIM(test_loop__item_is_the_name_of_its_item_and_may_be_written),
        CLAIM(test_loop__beyond_its_limit_is_an_error),
        CLAIM(test_loop__what_is_no_list_is_an_error),
        CLAIM(test_loop__a_long_one_costs_in_proportion),
        CLAIM(test_goto__leads_back_and_counts_visits),
        CLAIM(test_goto__end_completes),
        CLAIM(test_goto__is_not_taken_by_a_skipped_step),
        CLAIM(test_goto__out_of_a_loop_ends_it),
        CLAIM(test_goto__the_hundred_and_first_is_an_error),
        CLAIM(test_goto__a_condition_that_fails_holds),
        CLAIM(test_failure__of_an_inner_step_may_be_continued_by_the_step_around_it),
        CLAIM(test_failure__of_an_inner_step_fails_the_execution),
        CLAIM(test_visits__are_counted_over_the_whole_execution),
        CLAIM(test_history__that_is_too_large_holds_the_execution),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
