/* test_schema_graph.c - claims about schemas: what their graphs become, and what is wrong with them. */
#include "base/buf.h"
#include "base/time/clock.h"
#include "define/catalog/catalog.h"
#include "define/definition.h"
#include "define/trigger.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct program *schema(const char *text)
{
    const struct program *p = definition_schema(definition_value(text));

    if (p == NULL)
        fail_msg("%s does not compile: %s", text,
                 definition_json(findings_value(&definition_mem, &definition_findings)));
    return p;
}

/* "a>b a!c c?end": where each step goes on, by edges: `>`, on failure `!`, a branch `branch:`. */
static const char *edges_of(const struct program *p)
{
    struct buf out;

    buf_init_arena(&out, &definition_mem);
    for (uint32_t i = 0; i < p->step_count; i++)
        for (uint32_t k = 0; k < p->steps[i].jumps.count; k++) {
            const struct jump *j = &p->steps[i].jumps.items[k];

            buf_printf(&out, "%s%.*s%s%.*s%s%.*s", out.len == 0 ? "" : " ",
                       STR_ARG(p->steps[i].code), j->after == AFTER_FAILURE ? "!" : ">",
                       STR_ARG(j->branch), j->branch.len > 0 ? ":" : "",
                       STR_ARG(j->kind == JUMP_END ? STR("END") : p->steps[j->step].code));
        }
    return str_copy(&definition_mem, buf_view(&out)).ptr;
}

#define SEED                                                                                       \
    "{'code': 'seed', 'nodes': ["                                                                  \
    "{'id': 'end_1', 'type': 'end', 'config': {'result': '$.variables.result'}},"                  \
    "{'id': 'http_1', 'type': 'http_request', 'config': {'method': 'GET', 'url': "                 \
    "'https://bank.example/balance'}},"                                                            \
    "{'id': 'start_1', 'type': 'start', 'config': {'trigger': 'manual'}},"                         \
    "{'id': 'condition_1', 'type': 'condition', 'config': {'expression': "                         \
    "'{{steps.http_1.output.status_code}} == 200'}},"                                              \
    "{'id': 'var_set_1', 'type': 'variable_set', 'position': {'x': 1, 'y': 2}, 'config': "         \
    "{'name': 'result', 'value': 'success'}}],"                                                    \
    "'edges': [{'source': 'start_1', 'target': 'http_1', 'id': 'e1'},"                             \
    "{'source': 'http_1', 'target': 'condition_1'},"                                               \
    "{'source': 'condition_1', 'target': 'var_set_1', 'branch': 'true'},"                          \
    "{'source': 'condition_1', 'target': 'end_1', 'branch': 'false'},"                             \
    "{'source': 'var_set_1', 'target': 'end_1'}]}"

static void test_schema__nodes_become_steps_from_the_start_on(void **state)
{
    const struct program *p;

    (void)state;
    p = schema(SEED);
    assert_int_equal(definition_findings.count, 0);
    assert_int_equal(p->kind, KIND_SCHEMA);
    assert_int_equal(p->step_count, 5);
    assert_int_equal(p->block_count, 1);
    assert_string_equal(edges_of(p), "start_1>http_1 http_1>condition_1 condition_1>true:var_set_1 "
                                     "condition_1>false:end_1 var_set_1>end_1 end_1>END");
    for (uint32_t i = 0; i < p->step_count; i++) {
        assert_true(p->steps[i].leaves_by_jumps);
        assert_int_equal(p->steps[i].next, NO_STEP);
        assert_int_equal(p->steps[i].procedure->command_count, 1);
    }
    assert_true(str_eq(p->steps[1].pointer, STR("/nodes/1")));
    assert_true(str_eq(p->steps[1].procedure->commands[0].pointer, STR("/nodes/1/config")));
    assert_int_equal(p->steps[1].procedure->commands[0].type, COMMAND_HTTP);
}

static void test_schema__a_call_expects_all_but_5xx_which_is_tried_again(void **state)
{
    const struct command *call;

    (void)state;
    call = schema(SEED)->steps[1].procedure->commands;
    assert_string_equal(definition_json(call->fields[FIELD_EXPECT]->value),
                        "[\"2xx\",\"3xx\",\"4xx\"]");
    assert_string_equal(definition_json(call->fields[FIELD_CLASSES]->value),
                        "{\"5xx\":\"transient\"}");
}

static void test_schema__an_edge_error_is_for_failures_alone(void **state)
{
    const struct program *p;

    (void)state;
    p = schema("{'code': 'a', 'nodes': [{'id': 's', 'type': 'start'},"
               "{'id': 'x', 'type': 'compute.fail', 'config': {'code': 'c', 'message': 'm'}},"
               "{'id': 'ok', 'type': 'end'}, {'id': 'no', 'type': 'end'}],"
               "'edges': [{'source': 's', 'target': 'x'}, {'source': 'x', 'target': 'ok'},"
               "{'source': 'x', 'target': 'no', 'branch': 'error'}]}");
    assert_string_equal(edges_of(p), "s>x x!no x>ok no>END ok>END");
    assert_true(program_step(p, STR("x"))->continues);
    assert_false(program_step(p, STR("s"))->continues);
}

static void test_schema__a_node_has_what_a_step_has(void **state)
{
    const struct step *x;

    (void)state;
    x = program_step(
        schema("{'code': 'a', 'nodes': [{'id': 's', 'type': 'start'},"
               "{'id': 'x', 'type': 'flow.call', 'name': 'X', 'when': 'true', 'retry': "
               "{'maxAttempts': 7}, 'timeout': '3s', 'onError': 'hold', 'rollback': "
               "{'type': 'log', 'message': 'undo'}, 'reconcile': 'bank.find', 'meta': "
               "{'a': 1}, 'config': {'procedure': 'bank.pay'}}],"
               "'edges': [{'source': 's', 'target': 'x'}]}"),
        STR("x"));
    assert_non_null(x->when);
    assert_int_equal(x->retry->max_attempts, 7);
    assert_int_equal(x->timeout_us, 3000000);
    assert_int_equal(x->on_error, ON_ERROR_HOLD);
    assert_non_null(x->rollback.procedure);
    assert_non_null(x->reconcile);
    assert_true(str_eq(x->name, STR("X")));
    assert_int_equal(x->meta.len, 1);
}

static void test_schema__the_trigger_of_the_start_is_one_of_its_triggers(void **state)
{
    const struct program *p;

    (void)state;
    p = schema("{'code': 'a', 'triggers': [{'type': 'schedule', 'cron': '0 9 * * *'}],"
               "'nodes': [{'id': 's', 'type': 'start', 'config': {'trigger': {'type': 'webhook', "
               "'path': 'leads'}}}]}");
    assert_int_equal(p->trigger_count, 2);
    assert_int_equal(p->triggers[0].type, TRIGGER_SCHEDULE);
    assert_int_equal(p->triggers[1].type, TRIGGER_WEBHOOK);
    assert_int_equal(p->triggers[1].position, 1);
}

/* --- what is wrong with a graph --- */

#define START "{'id': 's', 'type': 'start'}"
#define END "{'id': 'e', 'type': 'end'}"
#define EDGE(from, to) "{'source': '" from "', 'target': '" to "'}"
#define BRANCH(from, to, name) "{'source': '" from "', 'target': '" to "', 'branch': '" name "'}"
#define CONDITION "{'id': 'c', 'type': 'condition', 'config': {'expression': 'true'}}"
#define CASES                                                                                      \
    "{'id': 'c', 'type': 'condition', 'config': {'cases': [{'branch': 'big', 'expression': "       \
    "'input.n > 1'}]}}"

static void test_schema__findings_about_the_graph(void **state)
{
    static const struct definition_row rows[] = {
        {"[], 'edges': []", "/nodes missing_field"},
        {"{}", "/nodes wrong_type"},
        {"[" START ", " END "], 'edges': {}", "/edges wrong_type\n/nodes/0 no_steps? lead an edge "
                                              "from it to a node of the type 'end'"},
        {"[" END "]", "/nodes missing_field"},
        {"[" START ", " END "], 'edges': [" EDGE("s", "e") "]", ""},
        {"[" START "]", "/nodes/0 no_steps? lead an edge from it to a node of the type 'end'"},
        /* one start */
        {"[" START ", {'id': 't', 'type': 'start'}], 'edges': []",
         "/nodes/1 duplicate_code\n/nodes/0 no_steps? lead an edge from it to a node of the type "
         "'end'\n/nodes/1 no_steps? lead an edge from it to a node of the type 'end'"},
        /* ids */
        {"[" START ", {'id': 's', 'type': 'end'}], 'edges': [" EDGE("s", "s") "]",
         "/nodes/1/id duplicate_code each node has an id of its own\n/edges/0/target bad_jump"},
        {"[" START ", {'id': 'end', 'type': 'end'}]",
         "/nodes/1/id reserved_code\n/nodes/0 no_steps? lead an edge from it to a node of the type "
         "'end'"},
        {"[" START ", {'id': '1a', 'type': 'end'}, {'id': '_a', 'type': 'end'}, {'id': 7, 'type': "
         "'end'}, {'type': 'end'}]",
         "/nodes/1/id bad_code\n/nodes/2/id bad_code\n/nodes/3/id wrong_type\n/nodes/4/id "
         "missing_field\n/nodes/0 no_steps? lead an edge from it to a node of the type 'end'"},
        /* types */
        {"[" START ", {'id': 'x', 'type': 'http_requst'}], 'edges': [" EDGE("s", "x") "]",
         "/nodes/1/type unknown_command did you mean 'http_request'?"},
        {"[" START ", {'id': 'x', 'type': 'compute.transfrm'}], 'edges': [" EDGE("s", "x") "]",
         "/nodes/1/type unknown_command did you mean 'compute.transform'?"},
        /* reach */
        {"[" START ", " END ", {'id': 'x', 'type': 'end'}], 'edges': [" EDGE("s", "e") "]",
         "/nodes/2 unreachable"},
        {"[" START ", " END ", {'id': 'x', 'type': 'log', 'config': {'message': 'm'}}], 'edges': "
         "[" EDGE("s", "e") ", " EDGE("x", "x") "]",
         "/nodes/2 unreachable"},
        /* edges */
        {"[" START ", " END "], 'edges': [" EDGE("s", "f") "]", "/edges/0/target unknown_step"},
        {"[" START ", " END "], 'edges': [" EDGE("s", "e") ", " EDGE("nobody", "e") "]",
         "/edges/1/source unknown_step"},
        {"[" START ", " END "], 'edges': [" EDGE("s", "e") ", " EDGE("s", "e") "]",
         "/edges/1/source duplicate_name"},
        {"[" START ", " END ", " CONDITION "], 'edges': [" EDGE("s", "c") ", " BRANCH(
             "c", "e", "true") ", " BRANCH("c", "e", "false") ", " BRANCH("c", "e", "true") "]",
         "/edges/3/branch duplicate_name"},
        {"[" START ", " END "], 'edges': [" EDGE("s", "e") ", " EDGE("e", "e") "]",
         "/edges/1/source bad_jump"},
        {"[" START ", " END ", " CONDITION "], 'edges': [" EDGE("s", "c") ", " BRANCH(
             "c", "e", "true") ", " BRANCH("c", "s", "false") "]",
         "/edges/2/target bad_jump"},
        {"[" START ", " END "], 'edges': [" EDGE("s", "e") ", " BRANCH("s", "e", "error") "]",
         "/edges/1/branch bad_value"},
        {"[" START ", " END "], 'edges': [" BRANCH("s", "e", "true") "]",
         "/edges/0/branch bad_value a condition has branches; any other node has \"error\" and an "
         "edge without 'branch'\n/nodes/0 no_steps? lead an edge from it to a node of the type "
         "'end'"},
        {"[" START ", " END "], 'edges': [{'source': 's', 'target': 'e', 'label': 'x'}, 5]",
         "/edges/0/label unknown_field\n/edges/1 wrong_type"},
        /* branches of a condition */
        {"[" START ", " END ", " CONDITION
         "], 'edges': [" EDGE("s", "c") ", " BRANCH("c", "e", "true") "]",
         "/nodes/2 missing_field"},
        {"[" START ", " END ", " CONDITION "], 'edges': [" EDGE("s", "c") ", " BRANCH(
             "c", "e", "true") ", " BRANCH("c", "e", "flase") "]",
         "/edges/2/branch bad_value did you mean 'false'?\n/nodes/2 missing_field"},
        {"[" START ", " END ", " CONDITION
         "], 'edges': [" EDGE("s", "c") ", " BRANCH("c", "e", "true") ", " EDGE("c", "e") "]",
         "/edges/2/branch missing_field an edge that leaves a condition says of which branch it "
         "is\n"
         "/nodes/2 missing_field"},
        {"[" START ", " END ", " CASES
         "], 'edges': [" EDGE("s", "c") ", " BRANCH("c", "e", "big") "]",
         "/nodes/2 missing_field"},
        {"[" START ", " END ", " CASES "], 'edges': [" EDGE("s", "c") ", " BRANCH(
             "c", "e", "big") ", " BRANCH("c", "e", "default") "]",
         ""},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'nodes': %s}", rows);
}

static void test_schema__findings_about_conditions(void **state)
{
    static const struct definition_row rows[] = {
        {"'type': 'condition'", "/nodes/1/config one_of"},
        {"'type': 'condition', 'config': {'expression': 'true', 'cases': [{'branch': 'a', "
         "'expression': 'true'}]}",
         "/edges/1/branch bad_value\n/edges/2/branch bad_value\n/nodes/1 missing_field\n"
         "/nodes/1 missing_field\n/nodes/1/config one_of"},
        {"'type': 'condition', 'config': {'cases': []}",
         "/edges/1/branch bad_value\n/edges/2/branch bad_value\n/nodes/1 missing_field\n"
         "/nodes/1/config/cases bad_value"},
        {"'type': 'condition', 'config': {'cases': [{'branch': 'a', 'expression': 'true'}, "
         "{'branch': 'a', 'expression': '1 +'}, {'branch': 'default', 'expression': 'true'}]}",
         "/edges/1/branch bad_value\n/edges/2/branch bad_value\n/nodes/1 missing_field\n"
         "/nodes/1 missing_field\n/nodes/1/config/cases/1/branch "
         "duplicate_name\n/nodes/1/config/cases/1/expression "
         "expression_syntax:4\n/nodes/1/config/cases/2/branch bad_name"},
        {"'type': 'condition', 'when': 'true', 'config': {'expression': 'true'}",
         "/nodes/1/when misplaced ask for it in its expression"},
        {"'type': 'condition', 'config': {'expression': 'true', 'when': 'true'}",
         "/nodes/1/config/when unknown_field"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'nodes': [" START ", {'id': 'x', %s}, " END "], 'edges': [" EDGE(
                        "s", "x") ", " BRANCH("x", "e", "true") ", " BRANCH("x", "e", "false") "]}",
                    rows);
}

static void test_schema__findings_about_nodes(void **state)
{
    static const struct definition_row rows[] = {
        {"'type': 'variable_set', 'config': {'name': 'x'}", "/nodes/1/config one_of"},
        {"'type': 'variable_set', 'config': {'name': 'x', 'value': null}", ""},
        {"'type': 'variable_set', 'config': {'name': '2x', 'value': 1}",
         "/nodes/1/config/name bad_name"},
        {"'type': 'variable_set', 'config': {'values': {'a': 1}, 'name': 'x', 'value': 1}",
         "/nodes/1/config one_of"},
        {"'type': 'math', 'config': {'operation': 'add', 'a': 1}",
         "/nodes/1/config/b missing_field"},
        {"'type': 'math', 'config': {'operation': 'abs', 'a': -1, 'b': 1}",
         "/nodes/1/config/b misplaced"},
        {"'type': 'math', 'config': {'operation': 'plus', 'a': 1, 'b': 1}",
         "/nodes/1/config/operation bad_value"},
        {"'type': 'math', 'config': {'operation': 'add', 'a': 'x', 'b': '=`y`'}",
         "/nodes/1/config/a wrong_type\n/nodes/1/config/b wrong_type"},
        {"'type': 'math', 'config': {'expression': '1 + 1', 'a': 1}", "/nodes/1/config misplaced"},
        {"'type': 'math', 'config': {'expression': '`text`'}",
         "/nodes/1/config/expression expression_type"},
        {"'type': 'math', 'config': {}", "/nodes/1/config one_of"},
        {"'type': 'sleep'", "/nodes/1/config one_of"},
        {"'type': 'sleep', 'config': {'duration': 'soon'}",
         "/nodes/1/config/duration bad_duration"},
        {"'type': 'sleep', 'config': {'until': 'tomorrow'}", "/nodes/1/config/until bad_timestamp"},
        {"'type': 'sleep', 'config': {'duration': '60d'}",
         "/nodes/1/config/duration wait_beyond_deadline?"},
        {"'type': 'sleep', 'timeout': '1s', 'config': {'duration': '1d'}",
         "/nodes/1/timeout timeout_on_wait?"},
        {"'type': 'rabbitmq_publish', 'config': {'exchange': 'x'}",
         "/nodes/1/config/routing_key missing_field"},
        {"'type': 'log', 'config': {'message': 'm', 'type': 'log'}",
         "/nodes/1/config/type misplaced"},
        {"'type': 'log', 'config': []", "/nodes/1/config wrong_type\n/nodes/1/config/message "
                                        "missing_field"},
        {"'type': 'log', 'procedure': 'x', 'config': {'message': 'm'}",
         "/nodes/1/procedure unknown_field"},
        {"'type': 'log', 'config': {'message': '{{ steps.nobody.output }}'}",
         "/nodes/1/config/message expression_type:10"},
        {"'type': 'log', 'config': {'message': '{{ steps.x.output }}'}",
         "/nodes/1/config/message result_not_there:12?"},
        {"'type': 'log', 'config': {'message': '{{ steps.s.output }}'}", ""},
        {"'type': 'wait.signal', 'config': {'signalType': 'x', 'timeout': '1d', 'onTimeout': "
         "{'to': "
         "'nobody'}}",
         "/nodes/1/config/onTimeout/to unknown_step"},
        {"'type': 'start', 'config': {'trigger': 'manual'}",
         "/nodes/1 duplicate_code\n/edges/0/target bad_jump"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'nodes': [" START ", {'id': 'x', %s}, " END
                    "], 'edges': [" EDGE("s", "x") ", " EDGE("x", "e") "]}",
                    rows);
}

/* --- size --- */

/* A chain of so many nodes, each of which reads the one before it; every tenth is a condition. */
static struct value chain_of(unsigned nodes)
{
    struct buf text, edges;
    struct value v;
    struct err err;

    buf_init_arena(&text, &definition_mem);
    buf_init_arena(&edges, &definition_mem);
    buf_text(&text, "{\"code\":\"a\",\"nodes\":[{\"id\":\"n0\",\"type\":\"start\"}");
    for (unsigned i = 1; i < nodes; i++) {
        bool is_condition = i % 10 == 0;

        buf_printf(
            &text, ",{\"id\":\"n%u\",\"type\":\"%s\",\"config\":{\"%s\":\"%s steps.n%u %s\"}}", i,
            is_condition ? "condition" : "compute.transform", is_condition ? "expression" : "data",
            is_condition ? "" : "{{", i - 1, is_condition ? "!= null" : "}}");
        buf_printf(&edges, "%s{\"source\":\"n%u\",\"target\":\"n%u\"%s}", i == 1 ? "" : ",", i - 1,
                   i, i > 1 && (i - 1) % 10 == 0 ? ",\"branch\":\"true\"" : "");
        if (is_condition && i + 1 < nodes)
            buf_printf(&edges, ",{\"source\":\"n%u\",\"target\":\"n%u\",\"branch\":\"false\"}", i,
                       i - 9);
    }
    buf_printf(&text, "],\"edges\":[%.*s]}", STR_ARG(buf_view(&edges)));
    if (!json_read(&definition_mem, buf_view(&text), &v, &err))
        fail_msg("%s", err.message);
    return v;
}

/* The least of some tries, so that nobody else's load counts. */
static int64_t compile_us(struct value definition)
{
    int64_t least = INT64_MAX;

    for (unsigned i = 0; i < 3; i++) {
        int64_t began_us = clock_thread_us(), took_us;

        assert_non_null(definition_schema(definition));
        took_us = clock_thread_us() - began_us;
        least = took_us < least ? took_us : least;
    }
    return least;
}

static void test_schema__of_a_thousand_nodes_costs_what_ten_of_a_hundred_do(void **state)
{
    int64_t hundred, thousand;

    (void)state;
    hundred = compile_us(chain_of(100));
    thousand = compile_us(chain_of(1000));
    print_message("100 nodes: %lld us, 1,000 nodes: %lld us\n", (long long)hundred,
                  (long long)thousand);
    assert_true(thousand < 20 * hundred);
    assert_null(definition_schema(chain_of(1001)));
    assert_true(str_eq(definition_findings.items[0].code, STR("limit_steps")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_schema__nodes_become_steps_from_the_start_on),
        DEFINITION_TEST(test_schema__a_call_expects_all_but_5xx_which_is_tried_again),
        DEFINITION_TEST(test_schema__an_edge_error_is_for_failures_alone),
        DEFINITION_TEST(test_schema__a_node_has_what_a_step_has),
        DEFINITION_TEST(test_schema__the_trigger_of_the_start_is_one_of_its_triggers),
        DEFINITION_TEST(test_schema__findings_about_the_graph),
        DEFINITION_TEST(test_schema__findings_about_conditions),
        DEFINITION_TEST(test_schema__findings_about_nodes),
        DEFINITION_TEST(test_schema__of_a_thousand_nodes_costs_what_ten_of_a_hundred_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
