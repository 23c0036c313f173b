/* test_concurrent_loop.c - claims about loops whose rounds run at once. */
#include "base/buf.h"
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void start_with(const char *more, const char *steps, const char *list)
{
    struct buf text;

    buf_init_arena(&text, &rig.mem);
    buf_printf(&text, "{'code':'a'%s,'steps':[%s]}", more, steps);
    buf_char(&text, 0);
    rig_define(&rig, text.ptr);
    rig_start(&rig, rig_text(&rig, str_printf(&rig.mem, "{'list':%s}", list)));
}

static void start(const char *steps, const char *list)
{
    start_with("", steps, list);
}

/* The round of that item goes on, the state having been stored and read back before. */
static void go(const char *item)
{
    static unsigned number;

    rig_reload(&rig);
    assert_true(
        rig_signal(&rig, rig_text(&rig, str_printf(&rig.mem, "s%u", number++)), "go", item));
}

static const char *result(void)
{
    return rig_text(&rig, rig.x->result_json);
}

static size_t count_events(const char *status)
{
    size_t count = 0;

    for (size_t i = 0; i < rig.history.count; i++)
        count += rig.history.items[i].kind == HISTORY_EVENT &&
                 str_eq(rig.history.items[i].status, str_of(status));
    return count;
}

/* --- how many, and in which order --- */

static void test_rounds__as_many_run_at_once_as_it_says(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 2,"
          "  'collect': '$.steps.z.output', 'steps': ["
          "    {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "      'match': '$.signal.payload == $.loop.item'}},"
          "    {'code': 'z',"
          "      'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}}]}}",
          "[1,2,3,4]");
    assert_int_equal(execution_strands(rig.x), 2);
    go("2");
    assert_int_equal(execution_strands(rig.x), 2);
    assert_string_equal(rig_trace(&rig), "w2 z2");
    go("3");
    go("4");
    assert_int_equal(execution_strands(rig.x), 1);
    go("1");
    assert_string_equal(rig_trace(&rig), "w2 z2 w3 z3 w4 z4 w z l");
    assert_string_equal(result(), "{'count':4,'items':[1,2,3,4],'errors':[]}");
    assert_null(rig.x->rounds);
    assert_null(rig.x->loops);
}

static void test_rounds__without_waits_they_run_through(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 3,"
          "  'collect': '$.steps.z.output', 'steps': ["
          "    {'code': 'a',"
          "      'procedure': {'type': 'compute.transform', 'data': '=$.loop.item * 2'}},"
          "    {'code': 'z',"
          "      'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}}]}}",
          "[1,2,3,4,5]");
    rig_settle(&rig);
    assert_string_equal(result(), "{'count':5,'items':[1,2,3,4,5],'errors':[]}");
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 3,"
          "  'collect': '$.steps.z.output', 'steps': ["
          "    {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "    {'code': 'z',"
          "      'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}}]}}",
          "[]");
    assert_string_equal(result(), "{'count':0,'items':[],'errors':[]}");
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 3,"
          "  'collect': '$.steps.z.output', 'steps': ["
          "    {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "    {'code': 'z',"
          "      'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}}]}}",
          "[7]");
    assert_string_equal(result(), "{'count':1,'items':[7],'errors':[]}");
}

static void test_rounds__a_long_list_takes_several_turns(void **state)
{
    struct buf list;

    (void)state;
    buf_init_arena(&list, &rig.mem);
    for (int i = 0; i < 300; i++)
        buf_printf(&list, i == 0 ? "[%d" : ",%d", i);
    buf_text(&list, "]");
    buf_char(&list, 0);
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 10,"
          "  'collect': '$.steps.z.output', 'steps': ["
          "    {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "    {'code': 'z',"
          "      'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}}]}}",
          list.ptr);
    assert_int_equal(rig.x->status, STATUS_RUNNING);
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_non_null(strstr(result(), "{'count':300,'items':[0,1,2,3,"));
    assert_non_null(strstr(result(), ",297,298,299],'errors':[]}"));
    assert_int_equal(rig.x->steps[1].visit, 300);
}

/* --- each sees its own --- */

static void test_rounds__each_sees_its_own_results(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 3,"
          "  'collect': '$.steps.c.output', 'steps': ["
          "    {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}},"
          "    {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "      'match': '$.signal.payload == $.loop.item'}},"
          "    {'code': 'b', 'procedure': {'type': 'compute.transform',"
          "      'data': {'a': '$.steps.a.output', 'c': '$.steps.c'}}},"
          "    {'code': 'c', 'procedure': {'type': 'compute.transform',"
          "      'data': '=[$.steps.b.a, $.steps.b.c, $.loop.index, $.execution.visit]'}}]}},"
          "{'code': 'y', 'procedure': {'type': 'compute.transform',"
          "  'data': {'a': '$.steps.a.output', 'l': '$.steps.l.items'}}}",
          "[10,20,30]");
    go("30");
    go("10");
    go("20");
    assert_string_equal(result(), "{'a':30,'l':[[10,null,0,1],[20,null,1,2],[30,null,2,3]]}");
}

static void test_rounds__visits_are_numbered_by_round(void **state)
{
    (void)state;
    start("{'code': 'o', 'loop': {'for': [1, 2], 'steps': [{'code': 'l',"
          "  'loop': {'for': '$.input.list', 'concurrency': 2,"
          "    'steps': ["
          "      {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "      {'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 1},"
          "        'goto': [{'when': '$.execution.visit == 1', 'to': 'a'}]}]}}]}}",
          "[5,6]");
    rig_settle(&rig);
    /* The jump back takes the next number that nobody has. */
    assert_string_equal(rig_trace(&rig), "a b a3 b3 a2 b2 l a4 b4 a5 b5 l2 o");
}

static void test_rounds__keys_are_those_of_the_visit(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 2,"
          "  'collect': '$.steps.z.output', 'steps': ["
          "    {'code': 'x', 'procedure': 'erp.x'},"
          "    {'code': 'z',"
          "      'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}}]}}",
          "[1,2]");
    assert_true(str_ends_with(execution_cursor(rig.x, 0)->awaited, STR("-x")));
    assert_true(str_ends_with(execution_cursor(rig.x, 1)->awaited, STR("-x-2")));
    for (int i = 1; i >= 0; i--) {
        rig_reload(&rig);
        assert_true(rig_event(
            &rig, (struct event){.kind = EVENT_ANSWER,
                                 .answer_key = execution_cursor(rig.x, (uint32_t)i)->awaited,
                                 .answer_output = value_int(i),
                                 .answer_error = value_absent()}));
    }
    assert_string_equal(rig_trace(&rig), "x2 z2 x z l");
}

static void test_rounds__stand_in_each_other(void **state)
{
    (void)state;
    start("{'code': 'o', 'loop': {'for': [[1, 2], [3, 4]], 'concurrency': 2,"
          "  'collect': '$.steps.l.items', 'steps': [{'code': 'l',"
          "    'loop': {'for': '$.loop.item', 'concurrency': 2, 'collect': '$.steps.a.output',"
          "      'steps': ["
          "        {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "          'match': '$.signal.payload == $.loop.item'}},"
          "        {'code': 'a', 'procedure': {'type': 'compute.transform',"
          "          'data': '=[$.loop.parent.index, $.loop.item]'}}]}}]}}",
          "[]");
    assert_int_equal(execution_strands(rig.x), 4);
    go("4");
    go("1");
    go("2");
    go("3");
    assert_string_equal(result(), "{'count':2,'items':[[[0,1],[0,2]],[[1,3],[1,4]]],'errors':[]}");
    assert_string_equal(rig_trace(&rig), "w4 a4 w a w2 a2 l w3 a3 l2 o");
}

static void test_rounds__hold_loops_branches_and_parallel_steps(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 2,"
          "  'collect': '$.steps.i.items', 'steps': [{'code': 'i',"
          "    'loop': {'for': '$.loop.item', 'collect': '$.steps.b.branch',"
          "      'steps': [{'code': 'b', 'branch': ["
          "        {'when': '$.loop.item > 2', 'steps': [{'code': 'p',"
          "          'parallel': {'join': 'any', 'branches': ["
          "            [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "              'match': '$.signal.payload == $.loop.item'}}],"
          "            [{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '1h'}}]]}}]},"
          "        {'steps': [{'code': 'v', 'procedure': {'type': 'wait.signal',"
          "          'signalType': 'go', 'match': '$.signal.payload == $.loop.item'}}]}]}]}}]}}",
          "[[1,3],[4,2]]");
    assert_int_equal(execution_strands(rig.x), 3);
    go("4");
    assert_int_equal(execution_strands(rig.x), 2);
    go("1");
    go("2");
    go("3");
    assert_string_equal(result(), "{'count':2,'items':[[1,0],[0,1]],'errors':[]}");
}

/* --- ends --- */

static void test_rounds__errors_are_recorded_in_the_order_of_the_list(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 3, 'onError': 'continue',"
          "  'collect': '$.loop.item', 'steps': ["
          "    {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "      'match': '$.signal.payload == $.loop.item'}},"
          "    {'code': 'f', 'when': '$.loop.item != 2',"
          "      'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}}",
          "[1,2,3]");
    go("3");
    go("2");
    go("1");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_non_null(strstr(result(), "{'count':3,'items':[2],'errors':[{'index':0,'item':1,"));
    assert_non_null(strstr(result(), "{'index':2,'item':3,"));
}

static void test_rounds__a_failure_stops_the_others(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 3,"
          "  'steps': ["
          "    {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': '$.loop.item'},"
          "      'rollback': {'type': 'log', 'message': '{{ $.loop.item }}'}},"
          "    {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "      'match': '$.signal.payload == $.loop.item'}},"
          "    {'code': 'f',"
          "      'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}}",
          "[1,2,3]");
    go("2");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "a a2 a3 w2 f2.failed -a3 -a2 -a");
    assert_int_equal(count_events("stopped"), 2);
}

static void test_rounds__loops_in_them_are_kept_apart_while_it_rolls_back(void **state)
{
    (void)state;
    /* The rollback is tried again later, so that the state is stored in the middle of it. */
    start("{'code': 'a', 'procedure': {'type': 'log', 'message': 'x'},"
          "  'rollback': {'type': 'compute.fail', 'code': 'down', 'message': 'm',"
          "    'class': 'transient'}},"
          "{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 3,"
          "  'steps': ["
          "    {'code': 'i', 'loop': {'for': [7, 8], 'collect': '$.loop.item',"
          "      'steps': [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "        'match': '$.signal.payload == $.loop.parent.item'}}]}},"
          "    {'code': 'f',"
          "      'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}}",
          "[1,2,3]");
    go("1");
    go("2");
    go("3");
    go("1");
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

static void test_rounds__break_stops_the_others(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 3,"
          "  'collect': '$.loop.item', 'steps': ["
          "    {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "      'match': '$.signal.payload == $.loop.item'}},"
          "    {'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 1},"
          "      'goto': [{'when': '$.loop.item == 2', 'to': 'break'}]}]}},"
          "{'code': 'y', 'procedure': {'type': 'compute.transform', 'data': '$.steps.l'}}",
          "[1,2,3]");
    go("3");
    go("2");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "w3 b3 w2 b2 l y");
    assert_string_equal(rig_output(&rig, "l"), "{'count':2,'items':[3],'errors':[]}");
    assert_int_equal(count_events("stopped"), 1);
}

static void test_rounds__next_collects_nothing(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 2,"
          "  'collect': '$.loop.item', 'steps': ["
          "    {'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 1},"
          "      'goto': [{'when': '$.loop.item == 2', 'to': 'next'}]},"
          "    {'code': 'c', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}",
          "[1,2,3]");
    rig_settle(&rig);
    assert_string_equal(rig_output(&rig, "l"), "{'count':3,'items':[1,3],'errors':[]}");
}

static void test_rounds__a_jump_out_ends_the_loop(void **state)
{
    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 2,"
          "  'steps': ["
          "    {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "      'match': '$.signal.payload == $.loop.item'}},"
          "    {'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 1},"
          "      'goto': 'y'}]}},"
          "{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "{'code': 'y', 'procedure': {'type': 'compute.transform', 'data': 1}}",
          "[1,2,3]");
    go("2");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "w2 b2 l y");
}

static void test_rounds__an_operator_repairs_the_round_that_is_held(void **state)
{
    (void)state;
    start_with(",'onError':'hold'",
               "{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 2,"
               "  'collect': '$.steps.f.output', 'steps': ["
               "    {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
               "      'match': '$.signal.payload == $.loop.item'}},"
               "    {'code': 'f',"
               "      'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}}",
               "[1,2]");
    go("2");
    assert_true(execution_is_held(rig.x));
    go("1");
    for (int i = 0; i < 2; i++) {
        assert_true(execution_is_held(rig.x));
        rig_reload(&rig);
        assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP, .output = value_int(i)}));
    }
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(result(), "{'count':2,'items':[1,0],'errors':[]}");
    assert_string_equal(rig_trace(&rig), "w2 f2.failed w f.failed f3 f4 l");
}

static void test_rounds__retry_begins_another_visit(void **state)
{
    (void)state;
    start_with(",'onError':'hold'",
               "{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 2,"
               "  'steps': ["
               "    {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
               "      'match': '$.signal.payload == $.loop.item'}},"
               "    {'code': 'f', 'when': '$.loop.item == 2',"
               "      'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]}}",
               "[1,2]");
    go("2");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = value_absent()}));
    assert_true(execution_is_held(rig.x));
    assert_string_equal(rig_trace(&rig), "w2 f2.failed f3.failed");
    rig_reload(&rig);
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_RETRY, .from = STR("w"), .input = value_absent()}));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    go("1");
    assert_string_equal(rig_trace(&rig), "w2 f2.failed f3.failed w f.skipped");
    go("2");
    assert_string_equal(rig_trace(&rig), "w2 f2.failed f3.failed w f.skipped w3 f4.failed");
}

static void test_rounds__every_one_moves_to_another_version(void **state)
{
    const struct program *old;

    (void)state;
    start("{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 2,"
          "  'collect': '$.steps.z.output', 'steps': ["
          "    {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}},"
          "    {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "      'match': '$.signal.payload == $.loop.item'}},"
          "    {'code': 'z',"
          "      'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}}]}}",
          "[1,2,3]");
    old = rig.program;
    rig.program = NULL;
    rig_define(&rig, "{'code': 'a', 'steps': ["
                     "  {'code': 'new', 'procedure': {'type': 'compute.transform', 'data': 1}},"
                     "  {'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 3,"
                     "    'collect': '$.steps.z.output', 'steps': ["
                     "      {'code': 'a',"
                     "        'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}},"
                     "      {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
                     "        'match': '$.signal.payload == $.loop.item'}},"
                     "      {'code': 'b', 'procedure': {'type': 'compute.transform',"
                     "        'data': '$.steps.a.output'}},"
                     "      {'code': 'z', 'procedure': {'type': 'compute.transform',"
                     "        'data': '$.loop.item'}}]}}]}");
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = rig.program}));
    go("2");
    assert_string_equal(rig_output(&rig, "b"), "2");
    go("1");
    go("3");
    assert_string_equal(result(), "{'count':3,'items':[1,2,3],'errors':[]}");
    program_release(old);
}

static void test_rounds__what_they_hold_counts_against_the_limit(void **state)
{
    struct value_entry *input = ARENA_ARRAY(&rig.mem, 2, struct value_entry);
    char *text = arena_alloc(&rig.mem, 300000);
    size_t duplicate;

    (void)state;
    memset(text, 'x', 300000);
    input[0] = (struct value_entry){value_key(STR("list")), rig_value(&rig, "[1,2,3]")};
    input[1] = (struct value_entry){value_key(STR("text")), value_string(str_from(text, 300000))};
    rig_define(&rig, "{'code': 'a', 'steps': ["
                     "  {'code': 'big',"
                     "    'procedure': {'type': 'compute.transform', 'data': '$.input.text'}},"
                     "  {'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 3,"
                     "    'steps': ["
                     "      {'code': 'a',"
                     "        'procedure': {'type': 'compute.transform', 'data': '$.input.text'}},"
                     "      {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
                     "        'match': '$.signal.payload == $.loop.item'}}]}}]}");
    rig_start_with(&rig, value_map_make(&rig.mem, input, 2, &duplicate));
    assert_true(execution_is_held(rig.x));
    assert_true(str_find(rig.x->waiting_for_json, STR("limit_context_size"), 0) >= 0);
}

/* Each of them is in a parallel step of its own, which holds what one of its branches came to. */
static void test_rounds__that_were_stopped_keep_apart_what_they_hold(void **state)
{
    (void)state;
    start("{'code': 'u', 'procedure': {'type': 'compute.transform', 'data': 1},"
          "  'rollback': {'type': 'compute.fail', 'code': 'no', 'message': 'm',"
          "    'class': 'transient'}},"
          "{'code': 'l', 'loop': {'for': '$.input.list', 'concurrency': 2,"
          "  'steps': [{'code': 'p', 'parallel': {'branches': ["
          "    [{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': '$.loop.item'}}],"
          "    [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "      'match': '$.signal.payload == $.loop.item'}}]]}}]}}",
          "[1,2]");
    rig_reload(&rig);
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_ROLLS_BACK}));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    rig_reload(&rig);
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

/* The numbers that its rounds were given stay given where they run one after the other. */
static void test_rounds__visits_go_on_in_a_version_without_them(void **state)
{
    const struct program *old;

    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': ["
                     "  {'code': 'l', 'loop': {'for': [1, 2, 3], 'concurrency': 3,"
                     "    'steps': [{'code': 's', 'goto': 'break',"
                     "      'procedure': {'type': 'compute.transform', 'data': 1}}]}},"
                     "  {'code': 'w', 'goto': 'l',"
                     "    'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}");
    rig_start(&rig, "{}");
    old = rig.program;
    rig.program = NULL;
    rig_define(&rig, "{'code': 'a', 'steps': ["
                     "  {'code': 'l', 'loop': {'for': [1, 2, 3],"
                     "    'steps': [{'code': 's', 'goto': 'break',"
                     "      'procedure': {'type': 'compute.transform', 'data': 2}}]}},"
                     "  {'code': 'w', 'goto': 'l',"
                     "    'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}");
    rig.is_of_versions = true;
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = rig.program}));
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_string_equal(rig_trace(&rig), "s l w s4 l2");
    program_release(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_rounds__as_many_run_at_once_as_it_says),
        CLAIM(test_rounds__without_waits_they_run_through),
        CLAIM(test_rounds__a_long_list_takes_several_turns),
        CLAIM(test_rounds__each_sees_its_own_results),
        CLAIM(test_rounds__visits_are_numbered_by_round),
        CLAIM(test_rounds__keys_are_those_of_the_visit),
        CLAIM(test_rounds__stand_in_each_other),
        CLAIM(test_rounds__hold_loops_branches_and_parallel_steps),
        CLAIM(test_rounds__errors_are_recorded_in_the_order_of_the_list),
        CLAIM(test_rounds__a_failure_stops_the_others),
        CLAIM(test_rounds__loops_in_them_are_kept_apart_while_it_rolls_back),
        CLAIM(test_rounds__break_stops_the_others),
        CLAIM(test_rounds__next_collects_nothing),
        CLAIM(test_rounds__a_jump_out_ends_the_loop),
        CLAIM(test_rounds__an_operator_repairs_the_round_that_is_held),
        CLAIM(test_rounds__retry_begins_another_visit),
        CLAIM(test_rounds__every_one_moves_to_another_version),
        CLAIM(test_rounds__what_they_hold_counts_against_the_limit),
        CLAIM(test_rounds__that_were_stopped_keep_apart_what_they_hold),
        CLAIM(test_rounds__visits_go_on_in_a_version_without_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
