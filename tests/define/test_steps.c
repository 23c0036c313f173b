/* test_steps.c - claims about branches, loops, jumps and what else a step may hold. */
#include "base/buf.h"
#include "define/definition.h"
#include "define/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define assert_text(s, text) assert_true(str_eq((s), STR(text)))

#define LOG_COMMAND "{'type': 'log', 'message': 'x'}"
#define LOG "'procedure': " LOG_COMMAND

/* --- the tree --- */

static void test_steps__form_a_tree_in_one_array(void **state)
{
    const struct program *p;

    (void)state;
    p = definition_steps("[{'code': 'pay', " LOG "},"
                         " {'code': 'check', 'branch': ["
                         "   {'when': '$.input.a', 'steps': [{'code': 'ask', " LOG "}]},"
                         "   {'steps': [{'code': 'note', " LOG "}]}]},"
                         " {'code': 'ship', " LOG "}]");
    assert_int_equal(p->step_count, 5);
    assert_int_equal(p->block_count, 3);
    assert_int_equal(p->blocks[0].owner, NO_STEP);
    assert_int_equal(p->blocks[0].first, 0);
    assert_int_equal(p->blocks[1].owner, 1);
    assert_int_equal(p->blocks[1].first, 2);
    assert_non_null(p->blocks[1].when);
    assert_int_equal(p->blocks[2].first, 3);
    assert_null(p->blocks[2].when);
    assert_int_equal(p->steps[0].next, 1);
    assert_int_equal(p->steps[1].next, 4);
    assert_int_equal(p->steps[1].kind, STEP_BRANCH);
    assert_int_equal(p->steps[1].first_block, 1);
    assert_int_equal(p->steps[1].block_count, 2);
    assert_int_equal(p->steps[2].next, NO_STEP);
    assert_int_equal(p->steps[2].block, 1);
    assert_int_equal(p->steps[2].depth, 1);
    assert_int_equal(p->steps[3].block, 2);
    assert_int_equal(p->steps[4].next, NO_STEP);
    assert_text(p->steps[3].pointer, "/steps/1/branch/1/steps/0");
    assert_text(p->steps[3].procedure->commands[0].pointer, "/steps/1/branch/1/steps/0/procedure");
    assert_ptr_equal(program_owner(p, &p->steps[3]), &p->steps[1]);
    assert_int_equal(definition_findings.count, 0);
}

static void test_steps__blocks_of_one_step_stand_together(void **state)
{
    const struct program *p;

    (void)state;
    p = definition_steps("[{'code': 'a', 'branch': ["
                         "  {'when': 'true', 'steps': [{'code': 'b', 'loop': {'while': 'false',"
                         "    'steps': [{'code': 'c', 'branch': [{'steps': []}]}]}}]},"
                         "  {'when': 'false', 'steps': [{'code': 'd', " LOG "}]}]}]");
    assert_int_equal(p->block_count, 5);
    assert_int_equal(p->steps[0].first_block, 1);
    assert_int_equal(p->steps[0].block_count, 2);
    assert_int_equal(p->blocks[2].owner, 0);
    assert_int_equal(p->steps[1].first_block, 3);
    assert_int_equal(p->steps[2].first_block, 4);
    assert_int_equal(p->blocks[4].first, NO_STEP);
    assert_int_equal(p->steps[2].depth, 2);
    assert_int_equal(p->blocks[2].first, p->steps[3].index);
}

static void test_steps__every_expression_sees_every_step(void **state)
{
    (void)state;
    definition_steps("[{'code': 'a', 'when': '$.steps.c != null', 'branch': [{'steps': ["
                     "   {'code': 'b', 'when': 'steps.d == null', " LOG "},"
                     "   {'code': 'c', 'when': 'steps.a == null', " LOG "}]}]},"
                     " {'code': 'd', 'input': {'x': '$.steps.b.y'}, " LOG "}]");
}

static void test_steps__a_loop_has_its_defaults(void **state)
{
    const struct program *p;
    const struct loop *l;

    (void)state;
    p = definition_steps("[{'code': 'a', 'loop': {'while': '$.input.x', 'steps': ["
                         "   {'code': 'b', " LOG "}]}},"
                         " {'code': 'c', 'loop': {'for': '$.input.list', 'as': 'line', 'max': 5,"
                         "   'collect': {'n': '$.loop.line'}, 'onError': 'continue',"
                         "   'concurrency': 1, 'steps': [{'code': 'd', " LOG "}]}}]");
    l = p->steps[0].loop;
    assert_non_null(l->condition);
    assert_null(l->list);
    assert_int_equal(l->max, 100);
    assert_false(l->continues);
    assert_null(l->collect);
    l = p->steps[2].loop;
    assert_null(l->condition);
    assert_non_null(l->list);
    assert_int_equal(l->max, 5);
    assert_text(l->as, "line");
    assert_non_null(l->collect);
    assert_true(l->continues);
    p = definition_steps("[{'code': 'a', 'loop': {'for': [1, 2], 'steps': [{'code': 'b', " LOG
                         "}]}}]");
    assert_int_equal(p->steps[0].loop->max, 10000);
    assert_int_equal(p->steps[0].loop->list->kind, MAPPING_CONST);
}

static void test_steps__inner_steps_inherit_the_strategy(void **state)
{
    const struct program *p;

    (void)state;
    p = definition_program("{'code': 'a', 'onError': 'fail_fast', 'steps': ["
                           " {'code': 'a', 'onError': 'hold', 'branch': [{'steps': ["
                           "   {'code': 'b', " LOG "},"
                           "   {'code': 'c', 'onError': 'retry', " LOG "}]}]},"
                           " {'code': 'd', " LOG "}]}");
    assert_int_equal(p->steps[1].on_error, ON_ERROR_HOLD);
    assert_int_equal(p->steps[2].on_error, ON_ERROR_RETRY);
    assert_int_equal(p->steps[3].on_error, ON_ERROR_FAIL_FAST);
}

/* --- jumps --- */

static void test_steps__a_goto_leads_to_a_step_or_a_word(void **state)
{
    const struct program *p;
    const struct jumps *j;

    (void)state;
    p = definition_steps("[{'code': 'a', 'goto': null, " LOG "},"
                         " {'code': 'b', 'goto': 'a', 'when': 'true', " LOG "},"
                         " {'code': 'c', 'goto': [{'when': '$.input.x', 'to': 'end'}, {'to': 'b'}],"
                         "  'when': 'true', " LOG "},"
                         " {'code': 'd', 'loop': {'while': 'true', 'steps': ["
                         "   {'code': 'e', 'goto': [{'when': 'false', 'to': 'next'},"
                         "     {'when': 'false', 'to': 'break'}, {'when': 'false', 'to': 'a'},"
                         "     {'when': 'false', 'to': 'e'}], " LOG "}]}}]");
    assert_int_equal(p->steps[0].jumps.count, 0);
    j = &p->steps[1].jumps;
    assert_int_equal(j->count, 1);
    assert_null(j->items[0].when);
    assert_int_equal(j->items[0].kind, JUMP_STEP);
    assert_int_equal(j->items[0].step, 0);
    j = &p->steps[2].jumps;
    assert_int_equal(j->count, 2);
    assert_non_null(j->items[0].when);
    assert_int_equal(j->items[0].kind, JUMP_END);
    assert_int_equal(j->items[1].step, 1);
    j = &p->steps[4].jumps;
    assert_int_equal(j->items[0].kind, JUMP_NEXT);
    assert_int_equal(j->items[1].kind, JUMP_BREAK);
    assert_int_equal(j->items[2].kind, JUMP_STEP);
    assert_int_equal(j->items[3].step, 4);
    assert_int_equal(definition_findings.count, 0);
}

static void test_steps__jumps_that_lead_nowhere_are_found(void **state)
{
    static const struct definition_row rows[] = {
        {"'secnd'", "/steps/0/goto unknown_step did you mean 'second'?"},
        {"'edn'", "/steps/0/goto unknown_step did you mean 'end'?"},
        {"'breaks'", "/steps/0/goto unknown_step did you mean 'break'?"},
        {"5", "/steps/0/goto wrong_type"},
        {"{'to': 'second'}", "/steps/0/goto wrong_type"},
        {"[5]", "/steps/0/goto/0 wrong_type"},
        {"[{}]", "/steps/0/goto/0/to missing_field"},
        {"[{'when': '1', 'to': 'second'}]", "/steps/0/goto/0/when expression_type:1"},
        {"[{'when': 'true', 'to': 'x', 'otherwise': 1}]",
         "/steps/0/goto/0/otherwise unknown_field\n/steps/0/goto/0/to unknown_step"},
        {"'next'", "/steps/0/goto bad_jump"},
        {"'break'", "/steps/0/goto bad_jump"},
        {"'in_loop'", "/steps/0/goto bad_jump"},
        {"'in_branch'", "/steps/0/goto bad_jump"},
        {"[{'when': 'true', 'to': 'end'}]", ""},
        {"[]", ""},
        {"[{'to': 'second'}, {'when': 'true', 'to': 'end'}]", "/steps/0/goto/1 unreachable?"},
    };

    (void)state;
    DEFINITION_ROWS(
        "{'code': 'a', 'steps': [{'code': 'first', " LOG ", 'goto': %s}, {'code': 'second', " LOG
        "},"
        " {'code': 'l', 'loop': {'while': 'true', 'steps': [{'code': 'in_loop', " LOG "}]}},"
        " {'code': 'b', 'branch': [{'when': 'true', 'steps': [{'code': 'in_branch', " LOG "}]}]}]}",
        rows);
}

static void test_steps__jumps_lead_out_of_blocks_and_not_across(void **state)
{
    static const struct definition_row rows[] = {
        {"'outer'", ""},
        {"'sibling'", ""},
        {"'other_way'", "/steps/1/branch/0/steps/0/goto bad_jump"},
        {"'choice'", ""},
        {"'next'", "/steps/1/branch/0/steps/0/goto bad_jump"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'outer', " LOG "},"
                    " {'code': 'choice', 'branch': ["
                    "   {'when': 'true', 'steps': [{'code': 'here', 'when': 'true', " LOG
                    ", 'goto': %s}, {'code': 'sibling', " LOG "}]},"
                    "   {'steps': [{'code': 'other_way', " LOG "}]}]}]}",
                    rows);
    /* The goto of the loop itself is outside of it. */
    assert_string_equal(
        definition_found("{'code': 'a', 'steps': [{'code': 'l', 'goto': 'next', 'loop': {"
                         " 'while': 'true', 'steps': [{'code': 'b', " LOG "}]}}]}"),
        "/steps/0/goto bad_jump");
    assert_string_equal(
        definition_found(
            "{'code': 'a', 'steps': [{'code': 'l', 'loop': {'while': 'true', 'steps': ["
            " {'code': 'b', 'branch': [{'steps': [{'code': 'c', 'goto': 'break', " LOG
            "}]}]}]}}]}"),
        "");
}

static void test_steps__jumps_stay_within_the_branch_of_a_parallel_step(void **state)
{
    static const struct definition_row rows[] = {
        {"'sibling'", ""},
        {"'here'", ""},
        {"'end'", ""},
        {"'outer'", "/steps/0/loop/steps/1/parallel/branches/0/0/goto bad_jump"},
        {"'p'", "/steps/0/loop/steps/1/parallel/branches/0/0/goto bad_jump"},
        {"'other'", "/steps/0/loop/steps/1/parallel/branches/0/0/goto bad_jump"},
        {"'next'", "/steps/0/loop/steps/1/parallel/branches/0/0/goto bad_jump"},
        {"'break'", "/steps/0/loop/steps/1/parallel/branches/0/0/goto bad_jump"},
    };

    (void)state;
    DEFINITION_ROWS(
        "{'code': 'a', 'steps': [{'code': 'l', 'loop': {'for': [1], 'steps': [{'code': "
        "'outer', " LOG
        "}, {'code': 'p', 'parallel': {'branches': [[{'code': 'here', 'when': 'true', " LOG
        ", 'goto': %s}, {'code': 'sibling', " LOG "}], [{'code': 'other', " LOG "}]]}}]}}]}",
        rows);
    /* A loop within the branch is left as any other. */
    assert_string_equal(
        definition_found("{'code': 'a', 'steps': [{'code': 'p', 'parallel': {'branches': [["
                         " {'code': 'l', 'loop': {'while': 'true', 'steps': ["
                         "  {'code': 'b', 'goto': 'break', " LOG "}]}}]]}}]}"),
        "");
    assert_string_equal(
        definition_found("{'code': 'a', 'steps': [{'code': 'p', 'parallel': {'branches': [["
                         " {'code': 'b', " LOG "}]]}}, {'code': 'c', 'goto': 'b', " LOG "}]}"),
        "/steps/1/goto bad_jump");
}

static void test_steps__rounds_that_run_at_once_set_no_variables(void **state)
{
    static const struct definition_row rows[] = {
        {"'concurrency': 1, 'steps': [{'code': 'a', 'procedure': {'type': 'compute.set',"
         " 'values': {'x': 1}}}]",
         ""},
        {"'concurrency': 2, 'steps': [{'code': 'a', 'procedure': {'type': 'compute.set',"
         " 'values': {'x': 1}}}]",
         "/steps/0/loop/steps/0/procedure misplaced"},
        {"'concurrency': 2, 'steps': [{'code': 'b', 'branch': [{'steps': [{'code': 'a',"
         " 'procedure': [" LOG_COMMAND ", {'type': 'flow.if', 'condition': 'true', 'then': ["
         "{'type': 'compute.set', 'values': {'x': 1}}]}]}]}]}]",
         "/steps/0/loop/steps/0/branch/0/steps/0/procedure/1/then/0 misplaced"},
        {"'concurrency': 2, 'steps': [{'code': 'a', 'procedure': 'sets'}]",
         "/steps/0/loop/steps/0/procedure misplaced"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'procedures': {'sets': {'commands': [{'type': 'compute.set',"
                    " 'values': {'x': 1}}]}}, 'steps': [{'code': 'l', 'loop': {'for': [1], %s}}]}",
                    rows);
}

static void test_steps__what_is_never_reached_is_told_once(void **state)
{
    static const struct definition_row rows[] = {
        {"{'code': 'a', 'goto': 'end', " LOG "}, {'code': 'b', " LOG "}, {'code': 'c', " LOG "}",
         "/steps/1 unreachable?"},
        {"{'code': 'a', 'goto': 'c', " LOG "}, {'code': 'b', " LOG "}, {'code': 'c', " LOG "}",
         "/steps/1 unreachable?"},
        {"{'code': 'a', 'goto': [{'to': 'c'}], " LOG "}, {'code': 'b', " LOG "},"
         " {'code': 'c', " LOG "}",
         "/steps/1 unreachable?"},
        /* A step that may be skipped does not always jump; one that may fail does. */
        {"{'code': 'a', 'goto': 'end', 'when': 'true', " LOG "}, {'code': 'b', " LOG "}", ""},
        {"{'code': 'a', 'goto': 'end', 'onError': 'continue', " LOG "}, {'code': 'b', " LOG "}",
         "/steps/1 unreachable?"},
        {"{'code': 'a', 'goto': [{'when': 'true', 'to': 'end'}], " LOG "}, {'code': 'b', " LOG "}",
         ""},
        /* Only what is reached itself leads on. */
        {"{'code': 'a', 'goto': 'd', " LOG "}, {'code': 'b', 'goto': 'c', " LOG "},"
         " {'code': 'c', 'goto': 'b', " LOG "}, {'code': 'd', " LOG "}",
         "/steps/1 unreachable?"},
        /* Both ways of a branch jump. */
        {"{'code': 'a', 'branch': [{'when': 'true', 'steps': [{'code': 'b', 'goto': 'end', " LOG
         "}]}, {'steps': [{'code': 'c', 'goto': 'end', " LOG "}]}]}, {'code': 'd', " LOG "}",
         "/steps/1 unreachable?"},
        {"{'code': 'a', 'branch': [{'when': 'true', 'steps': [{'code': 'b', 'goto': 'end', " LOG
         "}]}]}, {'code': 'd', " LOG "}",
         ""},
        {"{'code': 'a', 'branch': [{'steps': [{'code': 'b', 'goto': 'end', " LOG "}]},"
         " {'when': 'true', 'steps': []}]}, {'code': 'd', " LOG "}",
         "/steps/0/branch/0 unreachable?"},
        {"{'code': 'a', 'loop': {'while': 'true', 'steps': [{'code': 'b', 'goto': 'break', " LOG
         "}, {'code': 'c', " LOG "}]}}, {'code': 'd', " LOG "}",
         "/steps/0/loop/steps/1 unreachable?"},
        {"{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x', 'timeout': '1h',"
         "  'onTimeout': {'to': 'c'}}, 'goto': 'end'}, {'code': 'b', " LOG "},"
         " {'code': 'c', " LOG "}",
         "/steps/1 unreachable?"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [%s]}", rows);
}

/* --- findings about the rest --- */

static void test_steps__findings_about_kinds(void **state)
{
    static const struct definition_row rows[] = {
        {"'x': 1", "/steps/0/x unknown_field\n/steps/0/procedure missing_field"},
        {"'procedure': null", "/steps/0/procedure missing_field"},
        {LOG ", 'branch': [{'steps': []}]", "/steps/0 one_of"},
        {"'loop': {'while': 'true', 'steps': []}, 'branch': [{'steps': []}]", "/steps/0 one_of"},
        {LOG ", 'loop': null, 'branch': null, 'rollback': null, 'retry': null, 'timeout': null,"
             " 'reconcile': null, 'goto': null, 'parallel': null",
         ""},
        {"'parallel': {'branches': [[], [{'code': 'b', " LOG "}]]}", ""},
        {"'parallel': []", "/steps/0/parallel wrong_type"},
        {"'parallel': {}", "/steps/0/parallel/branches missing_field"},
        {"'parallel': {'branches': []}", "/steps/0/parallel/branches bad_value"},
        {"'parallel': {'branches': {}}", "/steps/0/parallel/branches wrong_type"},
        {"'parallel': {'branches': [{'steps': []}]}", "/steps/0/parallel/branches/0 wrong_type"},
        {"'parallel': {'branches': [[1]]}", "/steps/0/parallel/branches/0/0 wrong_type"},
        {"'parallel': {'branches': [[{'code': 'a', " LOG "}]]}",
         "/steps/0/parallel/branches/0/0/code duplicate_code"},
        {"'parallel': {'branches': [[], []], 'join': 'any'}", ""},
        {"'parallel': {'branches': [[], []], 'join': 2}", ""},
        {"'parallel': {'branches': [[], []], 'join': 3}", "/steps/0/parallel/join bad_value"},
        {"'parallel': {'branches': [[], []], 'join': 0}", "/steps/0/parallel/join bad_value"},
        {"'parallel': {'branches': [[], []], 'join': 'al'}", "/steps/0/parallel/join bad_value"},
        {"'parallel': {'branches': [[], []], 'join': 1.5}", "/steps/0/parallel/join wrong_type"},
        {"'parallel': {'branches': [[]], 'jion': 1}",
         "/steps/0/parallel/jion unknown_field did you mean 'join'?"},
        {"'parallel': {'branches': [[]]}, 'timeout': '1s'", "/steps/0/timeout misplaced"},
        {"'parallel': {'branches': [[]]}, " LOG, "/steps/0 one_of"},
        {"'branch': {}", "/steps/0/branch wrong_type"},
        {"'branch': []", "/steps/0/branch bad_value"},
        {"'branch': [1]", "/steps/0/branch/0 wrong_type"},
        {"'branch': [{}]", "/steps/0/branch/0/steps missing_field"},
        {"'branch': [{'when': true, 'steps': {}, 'else': []}]",
         "/steps/0/branch/0/steps wrong_type\n/steps/0/branch/0/else unknown_field\n"
         "/steps/0/branch/0/when wrong_type"},
        {"'branch': [{'steps': [1]}]", "/steps/0/branch/0/steps/0 wrong_type"},
        {"'branch': [{'steps': [{'code': 'a', " LOG "}]}]",
         "/steps/0/branch/0/steps/0/code duplicate_code"},
        {"'branch': [{'steps': [{'code': 'b', 'when': '$.steps.x', " LOG "}]}]",
         "/steps/0/branch/0/steps/0/when expression_type:9 did you mean 'steps.a'?"},
        {"'loop': []", "/steps/0/loop wrong_type"},
        {"'loop': {}", "/steps/0/loop/steps missing_field\n/steps/0/loop one_of"},
        {"'loop': {'while': 'true', 'for': [], 'steps': [{'code': 'b', " LOG "}]}",
         "/steps/0/loop one_of"},
        {"'loop': {'while': 'true', 'steps': []}", "/steps/0/loop no_steps?"},
        {"'loop': {'while': '1', 'steps': [{'code': 'b', " LOG "}], 'max': 0}",
         "/steps/0/loop/while expression_type:1\n/steps/0/loop/max bad_value"},
        {"'loop': {'for': 5, 'steps': [{'code': 'b', " LOG "}], 'max': 1.5, 'as': 'index'}",
         "/steps/0/loop/for wrong_type\n/steps/0/loop/as bad_name\n/steps/0/loop/max wrong_type"},
        {"'loop': {'for': '=`x`', 'steps': [{'code': 'b', " LOG "}], 'as': 'a b'}",
         "/steps/0/loop/for wrong_type\n/steps/0/loop/as bad_name"},
        {"'loop': {'for': '=$.now', 'steps': [{'code': 'b', " LOG "}]}",
         "/steps/0/loop/for expression_type"},
        {"'loop': {'while': 'true', 'as': 'x', 'steps': [{'code': 'b', " LOG "}]}",
         "/steps/0/loop/as misplaced"},
        {"'loop': {'for': [], 'steps': [{'code': 'b', " LOG "}], 'concurrency': 4,"
         " 'onError': 'hold', 'colect': 1}",
         "/steps/0/loop/colect unknown_field did you mean 'collect'?\n"
         "/steps/0/loop/onError bad_value"},
        {"'loop': {'for': [], 'steps': [{'code': 'b', " LOG "}], 'concurrency': 101}",
         "/steps/0/loop/concurrency bad_value"},
        {"'loop': {'while': 'true', 'steps': [{'code': 'b', " LOG "}], 'concurrency': 2}",
         "/steps/0/loop/concurrency misplaced"},
        {"'loop': {'while': 'false', 'steps': [{'code': 'b', " LOG "}]}, 'timeout': '1s',"
         " 'retry': {}, 'input': {}, 'reconcile': 'x.y'",
         "/steps/0/input misplaced\n/steps/0/retry misplaced\n/steps/0/timeout misplaced\n"
         "/steps/0/reconcile misplaced"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', %s}]}", rows);
}

static void test_steps__findings_about_how_a_step_runs(void **state)
{
    static const struct definition_row rows[] = {
        {"'timeout': '30s', 'retry': {'maxAttempts': 3, 'delay': '5s', 'backoff': 2,"
         " 'maxDelay': '1m', 'jitter': 'none', 'on': ['external_*', 'transient'], 'notOn': ['x']}",
         ""},
        {"'timeout': 30", "/steps/0/timeout wrong_type"},
        {"'timeout': 'soon'", "/steps/0/timeout bad_duration"},
        {"'timeout': '0s'", "/steps/0/timeout bad_duration"},
        {"'timeout': '$.input.x'", "/steps/0/timeout bad_duration"},
        {"'retry': 3", "/steps/0/retry wrong_type"},
        {"'retry': {'attempts': 3}",
         "/steps/0/retry/attempts unknown_field did you mean 'maxAttempts'?"},
        {"'retry': {'maxAttempts': 0}", "/steps/0/retry/maxAttempts bad_value"},
        {"'retry': {'maxAttempts': 1001}", "/steps/0/retry/maxAttempts bad_value"},
        {"'retry': {'maxAttempts': '3'}", "/steps/0/retry/maxAttempts wrong_type"},
        {"'retry': {'delay': '5', 'maxDelay': 'x', 'backoff': 'y', 'jitter': true}",
         "/steps/0/retry/delay bad_duration\n/steps/0/retry/backoff wrong_type\n"
         "/steps/0/retry/maxDelay bad_duration\n/steps/0/retry/jitter wrong_type"},
        {"'retry': {'on': [], 'notOn': ['', '*', 'a*b', 'two words', 1]}",
         "/steps/0/retry/notOn/0 bad_value\n/steps/0/retry/notOn/1 bad_value\n"
         "/steps/0/retry/notOn/2 bad_value\n/steps/0/retry/notOn/3 bad_value\n"
         "/steps/0/retry/notOn/4 wrong_type"},
        {"'rollback': 5", "/steps/0/rollback wrong_type"},
        {"'rollback': 'refund'", "/steps/0/rollback unknown_procedure"},
        {"'rollback': {}", "/steps/0/rollback/procedure missing_field"},
        {"'rollback': {'procedure': 'pay.refund', 'inptu': {}}",
         "/steps/0/rollback/inptu unknown_field did you mean 'input'?"},
        {"'rollback': {'procedure': 'pay.refund', 'input': []}",
         "/steps/0/rollback/input wrong_type"},
        {"'rollback': []", "/steps/0/rollback bad_value"},
        {"'rollback': {'type': 'wait.timer', 'duration': '1s'}",
         "/steps/0/rollback wait_not_alone"},
        {"'rollback': [{'type': 'log', 'message': '{{ steps.x.id }}'}]",
         "/steps/0/rollback/0/message expression_type:10 did you mean 'steps.a'?"},
        {"'rollback': [{'type': 'log', 'message': '{{ steps.a.id }} {{ error.code }}'}]", ""},
        {"'reconcile': {'procedure': 'pay.find', 'input': {'id': '$.steps.a'}, 'every': '1s',"
         " 'max': 3}",
         ""},
        {"'reconcile': {'procedure': 'pay.find', 'every': '0s', 'max': 0, 'each': 1}",
         "/steps/0/reconcile/each "
         "unknown_field\n/steps/0/reconcile/every bad_duration\n"
         "/steps/0/reconcile/max bad_value"},
        {"'reconcile': {'every': '1s'}", "/steps/0/reconcile/procedure missing_field"},
        {"'reconcile': 'pay.find'", ""},
        {"'onError': 'ignore'", "/steps/0/onError bad_value did you mean 'continue'?"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', " LOG ", %s}]}", rows);
    assert_string_equal(
        definition_found("{'code': 'a', 'steps': [{'code': 'a', 'timeout': '1h',"
                         " 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}"),
        "/steps/0/timeout timeout_on_wait?");
}

static void test_steps__two_hundred_are_counted_through_the_whole_tree(void **state)
{
    struct buf text;

    (void)state;
    for (int inner = 198; inner <= 199; inner++) {
        buf_init_arena(&text, &definition_mem);
        buf_text(&text, "{'code': 'a', 'steps': [{'code': 'first', 'branch': [{'steps': [");
        for (int i = 0; i < inner; i++)
            buf_printf(&text, "%s{'code': 's%d', " LOG "}", i == 0 ? "" : ",", i);
        buf_text(&text, "]}]}, {'code': 'last', " LOG "}]}");
        buf_char(&text, '\0');
        assert_string_equal(definition_found(text.ptr), inner == 198 ? "" : "/steps limit_steps");
    }
}

/* --- what comes out --- */

static void test_steps__a_policy_fills_up_from_that_of_the_settings(void **state)
{
    const struct program *p;
    const struct retry *r;

    (void)state;
    p = definition_program(
        "{'code': 'a', 'settings': {'retryPolicy': {'maxAttempts': 5, 'delay': '10ms',"
        " 'jitter': 'none', 'on': ['x']}}, 'steps': ["
        " {'code': 'a', 'retry': {'maxAttempts': 2}, " LOG "},"
        " {'code': 'b', 'retry': {'delay': '1s', 'on': [], 'jitter': 'full'}, " LOG "},"
        " {'code': 'c', " LOG "}]}");
    r = p->steps[0].retry;
    assert_int_equal(r->max_attempts, 2);
    assert_int_equal(r->delay_us, 10000);
    assert_false(r->has_jitter);
    assert_int_equal(r->on_count, 1);
    r = p->steps[1].retry;
    assert_int_equal(r->max_attempts, 5);
    assert_int_equal(r->delay_us, 1000000);
    assert_true(r->has_jitter);
    assert_int_equal(r->on_count, 0);
    assert_null(p->steps[2].retry);
}

static void test_steps__rollbacks_have_four_forms(void **state)
{
    static const char *const rows[] = {
        "'pay.refund'",
        "{'procedure': 'pay.refund', 'input': {'id': '$.steps.a.id'}}",
        "{'type': 'log', 'message': 'x'}",
        "[{'type': 'log', 'message': 'x'}, {'type': 'log', 'message': 'y'}]",
        "{'procedure': [{'type': 'log', 'message': 'x'}]}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct program *p = definition_steps(
            str_printf(&definition_mem, "[{'code': 'a', " LOG ", 'rollback': %s}]", rows[i]).ptr);
        const struct procedure_call *call = &p->steps[0].rollback;
        assert_non_null(call->procedure);
        assert_int_equal(call->procedure->kind, i < 2 ? PROCEDURE_EXTERNAL : PROCEDURE_INLINE);
        assert_true((call->input != NULL) == (i == 1));
        if (i >= 2)
            assert_int_equal(call->procedure->command_count, i == 3 ? 2 : 1);
    }
}

static void test_steps__reconcile_and_timeout_are_kept(void **state)
{
    const struct program *p;

    (void)state;
    p = definition_steps("[{'code': 'a', " LOG ", 'timeout': '30s', 'reconcile': 'pay.find'},"
                         " {'code': 'b', 'procedure': 'pay.charge', 'reconcile': {"
                         "  'procedure': 'pay.find', 'every': '1s', 'max': 3}}]");
    assert_int_equal(p->steps[0].timeout_us, 30000000);
    assert_int_equal(p->steps[0].reconcile->every_us, 5000000);
    assert_int_equal(p->steps[0].reconcile->max, 10);
    assert_int_equal(p->steps[1].reconcile->every_us, 1000000);
    assert_int_equal(p->steps[1].reconcile->max, 3);
    assert_int_equal(p->steps[1].procedure->kind, PROCEDURE_EXTERNAL);
    assert_text(p->steps[1].procedure->name, "pay.charge");
    assert_ptr_equal(p->steps[0].reconcile->call.procedure, p->steps[1].reconcile->call.procedure);
    assert_int_equal(p->procedure_count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_steps__form_a_tree_in_one_array),
        DEFINITION_TEST(test_steps__blocks_of_one_step_stand_together),
        DEFINITION_TEST(test_steps__every_expression_sees_every_step),
        DEFINITION_TEST(test_steps__a_loop_has_its_defaults),
        DEFINITION_TEST(test_steps__inner_steps_inherit_the_strategy),
        DEFINITION_TEST(test_steps__a_goto_leads_to_a_step_or_a_word),
        DEFINITION_TEST(test_steps__jumps_that_lead_nowhere_are_found),
        DEFINITION_TEST(test_steps__jumps_lead_out_of_blocks_and_not_across),
        DEFINITION_TEST(test_steps__jumps_stay_within_the_branch_of_a_parallel_step),
        DEFINITION_TEST(test_steps__rounds_that_run_at_once_set_no_variables),
        DEFINITION_TEST(test_steps__what_is_never_reached_is_told_once),
        DEFINITION_TEST(test_steps__findings_about_kinds),
        DEFINITION_TEST(test_steps__findings_about_how_a_step_runs),
        DEFINITION_TEST(test_steps__two_hundred_are_counted_through_the_whole_tree),
        DEFINITION_TEST(test_steps__a_policy_fills_up_from_that_of_the_settings),
        DEFINITION_TEST(test_steps__rollbacks_have_four_forms),
        DEFINITION_TEST(test_steps__reconcile_and_timeout_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
