/* test_findings_expressions.c - claims about what is found wrong with the expressions of a definition. */
#include "define/definition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define LOG "'procedure': {'type': 'log', 'message': 'x'}"

static void test_findings__about_expressions(void **state)
{
    static const struct definition_row rows[] = {
        {"'when': true", "/steps/0/when wrong_type"},
        {"'when': '1 +'", "/steps/0/when expression_syntax:4"},
        {"'when': '1 + 1'", "/steps/0/when expression_type:1"},
        {"'when': ''", "/steps/0/when expression_syntax:1"},
        {"'when': '$.inptu.x'", "/steps/0/when expression_type:3 did you mean 'input'?"},
        {"'when': 'true &&\\n  nothing'", "/steps/0/when expression_type:11"},
        {"'when': '`éé` == 1 + `x`'", "/steps/0/when expression_type:11"},
        {"'when': '$.steps.secnd.success'",
         "/steps/0/when expression_type:9 did you mean 'steps.second'?"},
        {"'when': 'steps.unknown == null'", "/steps/0/when expression_type:7"},
        {"'when': 'has($.steps.unknown)'", "/steps/0/when expression_type:13"},
        {"'when': 'has($.steps.unknown.x)'", "/steps/0/when expression_type:13"},
        {"'when': '$.steps.?unknown.hasValue()'", "/steps/0/when expression_type:10"},
        {"'input': {'a': {'b/c': ['x', '=1 +']}}", "/steps/0/input/a/b~1c/1 expression_syntax:5"},
        {"'input': {'a': 'x{{ 1 + }}'}", "/steps/0/input/a expression_syntax:9"},
        {"'input': {'a': 'x{{ 1'}", "/steps/0/input/a expression_syntax:6"},
        {"'input': {'a': '$.now + 1', 'b': '$.nothing', 'c': '='}",
         "/steps/0/input/a expression_type:7\n/steps/0/input/b expression_type:3\n"
         "/steps/0/input/c expression_syntax:2"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'first', " LOG ", %s},"
                    " {'code': 'second', " LOG "}]}",
                    rows);
}

/* What is known at one place only is an error at the others, which says where it is known. */
static void test_findings__about_roots_out_of_place(void **state)
{
    static const struct definition_row rows[] = {
        {"{'type': 'log', 'message': '{{ loop.index }}'}",
         "/steps/0/procedure/message expression_type:4 $.loop is known in the steps of a loop, "
         "its 'while' and its 'collect'"},
        {"{'type': 'log', 'message': '$.error.code'}",
         "/steps/0/procedure/message expression_type:3 $.error is known in a rollback, a 'catch' "
         "and a reconcile"},
        {"{'type': 'log', 'message': '$.response.x'}",
         "/steps/0/procedure/message expression_type:3 $.response is known in 'result' of a "
         "command"},
        {"{'type': 'record.query', 'object': 'o', 'where': 'record.n > 1 && signal.type == `a`'}",
         "/steps/0/procedure/where expression_type:17 $.signal is known in 'match' of a wait, and "
         "in the "
         "transitions of a machine"},
        {"{'type': 'wait.signal', 'signalType': ['a', 'b'], 'match': 'signal.type == `c`'}",
         "/steps/0/procedure/match expression_type:16"},
        {"{'type': 'wait.signal', 'signalType': '$.input.x', 'match': 'signal.type == `c`'}", ""},
        {"{'type': 'flow.try', 'commands': [{'type': 'log', 'message': '$.error.code'}],"
         " 'catch': [{'type': 'flow.if', 'condition': 'error.class == `business`', 'then': ["
         "  {'type': 'log', 'message': '$.error.code'}]}]}",
         "/steps/0/procedure/commands/0/message expression_type:3 $.error is known in a rollback, "
         "a 'catch' and a reconcile"},
        {"[{'type': 'flow.try', 'commands': [{'type': 'log', 'message': 'x'}], 'catch': ["
         "  {'type': 'log', 'message': '$.error.code', 'as': 'a'}]},"
         " {'type': 'log', 'message': '{{ error.code }} {{ a.message }}'}]",
         "/steps/0/procedure/1/message expression_type:4 $.error is known in a rollback, a "
         "'catch' and a reconcile"},
        {"{'type': 'log', 'message': 'x', 'result': '$.response.message', 'rollback': {"
         "  'type': 'log', 'message': '{{ error.code }} {{ compensation.failed }}'}}",
         ""},
        {"{'type': 'log', 'message': 'x', 'rollback': {'type': 'log', 'message':"
         "  '{{ compensation.faild }}'}}",
         "/steps/0/procedure/rollback/message expression_type:17 did you mean "
         "'compensation.failed'?"},
        {"{'type': 'record.query', 'object': 'o', 'where': 'n > 1'}",
         "/steps/0/procedure/where expression_type:1 did you mean 'record.n'?"},
        {"{'type': 'wait.signal', 'signalType': 's', 'match': 'ok == true'}",
         "/steps/0/procedure/match expression_type:1 did you mean 'signal.payload.ok'?"},
        {"{'type': 'compute.aggregate', 'items': [], 'fields': {'x': {'op': 'sum', 'of': 'n'}}}",
         "/steps/0/procedure/fields/x/of expression_type:1 did you mean 'item.n'?"},
        {"{'type': 'log', 'message': '$.execution.idd'}",
         "/steps/0/procedure/message expression_type:13 did you mean 'execution.id'?"},
        {"{'type': 'log', 'message': '{{ user.team }}', 'when': 'has(user.team)'}",
         "/steps/0/procedure/message expression_type:9"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': %s}]}", rows);
    assert_string_equal(
        definition_found(
            "{'code': 'a', 'steps': [{'code': 'a', 'loop': {'while': 'loop.index < 2',"
            " 'collect': '$.loop.index', 'steps': [{'code': 'b', 'branch': [{'when':"
            " 'loop.index == 1', 'steps': [{'code': 'c', 'when': 'loop.index > 0', " LOG ","
            " 'rollback': {'type': 'log', 'message': '{{ loop.index }}'}}]}]}]},"
            " 'goto': [{'when': 'loop.index > 1', 'to': 'end'}]}]}"),
        "/steps/0/goto/0/when expression_type:1 $.loop is known in the steps of a loop, its "
        "'while' and its 'collect'");
}

/* All statuses of the planner, and no other word. */
static void test_findings__about_the_status_of_a_task(void **state)
{
    static const struct definition_row rows[] = {
#define TASK_STATUS(symbol, name) {"steps.t.status == `" name "`", ""},
#include "planner/task_status.def"
#undef TASK_STATUS
        {"steps.t.status == `cancelled`",
         "/steps/1/when expression_type:19 did you mean 'canceled'?"},
        {"steps.t.status in [`done`, `closed`]", "/steps/1/when expression_type:28"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': ["
                    " {'code': 't', 'procedure': {'type': 'task.create', 'title': 'x'}},"
                    " {'code': 'b', 'when': '%s', 'procedure': {'type': 'log', 'message': 'm'}}]}",
                    rows);
}

static void test_findings__about_comparisons_that_are_never_true(void **state)
{
    static const struct definition_row rows[] = {
        {"steps.wait.type == `yes` || $.steps.wait.type != `no`", ""},
        {"steps.wait.type == `yess`", "/steps/1/when expression_type:20 did you mean 'yes'?"},
        {"`maybe` == $.steps.wait.type", "/steps/1/when expression_type:1"},
        {"$.steps.wait.type in [`yes`, `on`]", "/steps/1/when expression_type:30"},
        {"steps.wait.type == null || steps.next_one.type == `anything`",
         "/steps/1/when result_not_there:43?"},
        {"steps.wait.error.class == `transient`", ""},
        {"steps.wait.error.class == `transiant`",
         "/steps/1/when expression_type:27 did you mean 'transient'?"},
        {"steps.wait.success == `true`", "/steps/1/when expression_type:23"},
        {"steps.wait.error.code > 5", "/steps/1/when expression_type:25"},
        {"user.role == `admin` && execution.attempt > 1 && user.id != null", ""},
        {"user.role == `admni`", "/steps/1/when expression_type:14 did you mean 'admin'?"},
        {"$.execution.visit == `1`", "/steps/1/when expression_type:22"},
        {"execution.startedAt < `2026-01-01`", "/steps/1/when expression_type:23"},
        {"input.count == 5 && input.count < 1.5 && input.count == null", ""},
        {"input.count == `5`", "/steps/1/when expression_type:16"},
        {"input.flag in [true, `yes`]", "/steps/1/when expression_type:22"},
        {"input.day < 20260101", "/steps/1/when expression_type:13"},
        {"input.size == `xl`", "/steps/1/when expression_type:15"},
        {"input.size == `s` && input.free == `xl`", ""},
        {"input.siez == `s`", "/steps/1/when undeclared_input:7? did you mean 'input.size'?"},
        {"has(input.siez) && input.?siez.orValue(`x`) == `s`", ""},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'input': ["
                    " {'name': 'size', 'enum': ['s', 'm', 1], 'required': true},"
                    " {'name': 'free', 'required': true},"
                    " {'name': 'count', 'type': 'integer', 'required': true},"
                    " {'name': 'flag', 'type': 'boolean', 'required': true},"
                    " {'name': 'day', 'type': 'date', 'required': true}],"
                    " 'steps': ["
                    " {'code': 'wait', 'procedure': {'type': 'wait.signal',"
                    "  'signalType': ['yes', 'no']}},"
                    " {'code': 'next_one', 'when': '%s', " LOG "}]}",
                    rows);
    /* What a step lays over the input has its own values; a procedure has an input of its own. */
    assert_string_equal(
        definition_found(
            "{'code': 'a', 'input': [{'name': 'size', 'enum': ['s']}], 'procedures': {"
            "  'p': {'input': [{'name': 'size', 'enum': ['t'], 'required': true}], 'commands': "
            "[{'type': 'log',"
            "   'message': 'x', 'when': 'input.size == `t`'}]}, 'q': {'type': 'log', 'message': "
            "'x',"
            "   'when': 'input.size == `anything`'}},"
            " 'steps': [{'code': 'a', 'input': {'size': 'huge', 'more': 1}, 'procedure': {"
            "  'type': 'log', 'message': '{{ input.more }}', 'when': 'input.size == `huge`'}},"
            " {'code': 'b', 'procedure': {'type': 'log', 'message': '{{ input.more }}'}}]}"),
        "/steps/1/procedure/message undeclared_input:10?");
    /* A wait whose types are computed, or whose result is shaped, may be of any type. */
    assert_string_equal(
        definition_found(
            "{'code': 'a', 'steps': [{'code': 'a', 'procedure': {'type': 'wait.signal',"
            " 'signalType': ['x', '$.input.y']}}, {'code': 'b', 'procedure': {"
            " 'type': 'wait.signal', 'signalType': 'x', 'result': {'type': 1}}},"
            " {'code': 'c', 'when': 'steps.a.type == `z` || steps.b.type == `z`', " LOG "}]}"),
        "/steps/2/when expression_type:37?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_findings__about_expressions),
        DEFINITION_TEST(test_findings__about_roots_out_of_place),
        DEFINITION_TEST(test_findings__about_the_status_of_a_task),
        DEFINITION_TEST(test_findings__about_comparisons_that_are_never_true),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
