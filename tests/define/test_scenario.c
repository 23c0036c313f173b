/* test_scenario.c - claims about what compiles, and what it compiles to. */
#include "base/buf.h"
#include "cel/cel.h"
#include "cel/program.h"
#include "define/definition.h"
#include "define/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define assert_text(s, text) assert_true(str_eq((s), STR(text)))

static struct value evaluate(const struct cel_program *program, const struct value *slots)
{
    struct cel_activation activation = {.slots = slots};

    return cel_evaluate(&definition_mem, program, &activation, NULL);
}

/* --- the examples of the manual, verbatim --- */

static void test_scenario__the_structure_of_the_manual_compiles(void **state)
{
    const struct program *p;

    (void)state;
    p = definition_program(
        "{\n"
        "  \"code\": \"order_fulfillment\",\n"
        "  \"name\": \"Order Fulfillment\",\n"
        "  \"version\": 1,\n"
        "  \"description\": \"Full cycle: reservation -> payment -> shipping\",\n"
        "  \"input\": [\n"
        "    { \"name\": \"orderId\", \"type\": \"uuid\", \"required\": true },\n"
        "    { \"name\": \"amount\", \"type\": \"number\", \"required\": true }\n"
        "  ],\n"
        "  \"steps\": [],\n"
        "  \"procedures\": {},\n"
        "  \"onError\": \"compensate\",\n"
        "  \"settings\": {\n"
        "    \"timeout\": \"30d\",\n"
        "    \"retryPolicy\": { \"maxAttempts\": 3, \"delay\": \"5s\", \"backoff\": 2 }\n"
        "  },\n"
        "  \"meta\": {}\n"
        "}\n");
    assert_text(p->code, "order_fulfillment");
    assert_text(p->name, "Order Fulfillment");
    assert_int_equal(p->version, 3);
    assert_int_equal(p->step_count, 0);
    assert_int_equal(p->param_count, 2);
    assert_int_equal(p->params[0].type, PARAM_UUID);
    assert_true(p->params[1].required);
    assert_true(p->timeout_us == INT64_C(30) * 86400 * 1000000);
    assert_true(p->retry_is_written);
    assert_int_equal(p->retry.max_attempts, 3);
    assert_true(p->retry.delay_us == 5000000 && p->retry.backoff == 2);
    assert_int_equal(definition_findings.count, 1);
    assert_true(definition_findings.items[0].is_warning);
    assert_text(definition_findings.items[0].code, "no_steps");
}

static void test_scenario__the_wait_of_the_manual_compiles(void **state)
{
    const struct program *p;
    const struct command *wait;

    (void)state;
    p = definition_steps("[{\n"
                         "  \"code\": \"wait_approval\",\n"
                         "  \"procedure\": { \"type\": \"wait.signal\", \"signalType\": "
                         "\"approval_decision\", \"timeout\": \"24h\" },\n"
                         "  \"input\": {}\n"
                         "}]");
    wait = &p->steps[0].procedure->commands[0];
    assert_int_equal(wait->type, COMMAND_WAIT_SIGNAL);
    assert_int_equal(wait->fields[FIELD_SIGNAL_TYPE]->kind, MAPPING_CONST);
    assert_text(value_text(wait->fields[FIELD_SIGNAL_TYPE]->value), "approval_decision");
    assert_int_equal(p->steps[0].input->kind, MAPPING_CONST);
}

static void test_scenario__the_step_of_the_manual_compiles(void **state)
{
    const struct program *p;
    const struct step *step;

    (void)state;
    definition_procedures =
        "{'process_payment': {'code': 'process_payment', 'input': [{'name': 'orderId',"
        " 'type': 'uuid'}, {'name': 'amount', 'type': 'number'}], 'commands': [{'type': 'log',"
        " 'message': 'x'}]}, 'refund_payment': {'code': 'refund_payment', 'commands': ["
        " {'type': 'log', 'message': 'x'}]}}";
    p = definition_steps("[{\"code\": \"reserve\", \"procedure\": \"stock.reserve\"}, {\n"
                         "  \"code\": \"charge_payment\",\n"
                         "  \"name\": \"Charge Payment\",\n"
                         "  \"procedure\": \"process_payment\",\n"
                         "  \"input\": {\n"
                         "    \"orderId\": \"$.input.orderId\",\n"
                         "    \"amount\": \"$.input.amount\"\n"
                         "  },\n"
                         "  \"rollback\": {\n"
                         "    \"procedure\": \"refund_payment\",\n"
                         "    \"input\": { \"paymentId\": \"$.steps.charge_payment.paymentId\" }\n"
                         "  },\n"
                         "  \"retry\": { \"maxAttempts\": 3, \"delay\": \"5s\", \"backoff\": 2 },\n"
                         "  \"timeout\": \"30s\",\n"
                         "  \"when\": \"$.steps.reserve.success\",\n"
                         "  \"goto\": null,\n"
                         "  \"meta\": {}\n"
                         "}]");
    assert_int_equal(definition_findings.count, 0);
    step = &p->steps[1];
    assert_text(step->name, "Charge Payment");
    assert_int_equal(step->procedure->kind, PROCEDURE_REGISTRY);
    assert_int_equal(step->procedure->version, 7);
    assert_int_equal(step->rollback.procedure->kind, PROCEDURE_REGISTRY);
    assert_non_null(step->rollback.input);
    assert_int_equal(step->retry->max_attempts, 3);
    assert_int_equal(step->timeout_us, 30000000);
    assert_int_equal(step->jumps.count, 0);
    assert_int_equal(p->steps[0].procedure->kind, PROCEDURE_EXTERNAL);
}

static void test_scenario__a_step_may_carry_what_the_manual_leaves_empty(void **state)
{
    (void)state;
    definition_steps("[{'code': 'reserve', 'procedure': {'type': 'log', 'message': 'x'}},"
                     " {'code': 'charge_payment', 'name': 'Charge Payment',"
                     "  'procedure': [{'type': 'record.create', 'object': 'payment', 'data': {}}],"
                     "  'input': {'orderId': '$.input.orderId', 'amount': '$.input.amount'},"
                     "  'when': '$.steps.reserve.success', 'goto': null, 'meta': {}}]");
    assert_int_equal(definition_findings.count, 0);
}

/* --- every command --- */

static void test_scenario__every_command_compiles_with_all_its_fields(void **state)
{
    static const struct {
        const char *command;
        enum command_type type;
    } rows[] = {
        {"{'type': 'compute.transform', 'data': {'a': ['$.input.x', 1]}}", COMMAND_TRANSFORM},
        {"{'type': 'compute.transform', 'data': '$.input.x'}", COMMAND_TRANSFORM},
        {"{'type': 'compute.set', 'values': {'n': '=$.variables.n + 1'}}", COMMAND_SET},
        {"{'type': 'compute.set', 'values': '$.input.all'}", COMMAND_SET},
        {"{'type': 'compute.fail', 'code': 'no_stock', 'message': 'No {{ input.sku }}',"
         " 'class': 'transient', 'details': {'sku': '$.input.sku'}}",
         COMMAND_FAIL},
        {"{'type': 'record.create', 'object': 'order', 'id': '$.input.id', 'ifExists': 'merge',"
         " 'data': {'at': '$.now'}}",
         COMMAND_RECORD_CREATE},
        {"{'type': 'record.get', 'object': 'order', 'id': '$.input.id'}", COMMAND_RECORD_GET},
        {"{'type': 'record.update', 'object': 'order', 'id': 'o-{{ input.id }}',"
         " 'data': {}, 'expectedVersion': 3}",
         COMMAND_RECORD_UPDATE},
        {"{'type': 'record.delete', 'object': 'order', 'id': 'x',"
         " 'expectedVersion': '=$.input.v'}",
         COMMAND_RECORD_DELETE},
        {"{'type': 'record.query', 'object': 'order', 'where': 'record.total > 10',"
         " 'orderBy': ['-total', 'id'], 'limit': 5}",
         COMMAND_RECORD_QUERY},
        {"{'type': 'log', 'level': 'warn', 'message': '$.input.text', 'data': [1, null]}",
         COMMAND_LOG},
        {"{'type': 'wait.signal', 'signalType': ['paid', '$.input.other'],"
         " 'match': '$.signal.payload.id == $.input.id', 'timeout': '=duration(`1h`)',"
         " 'onTimeout': 'continue'}",
         COMMAND_WAIT_SIGNAL},
        {"{'type': 'wait.timer', 'duration': '$.input.pause'}", COMMAND_WAIT_TIMER},
        {"{'type': 'wait.delay', 'duration': '1h30m'}", COMMAND_WAIT_TIMER},
        {"{'type': 'wait.until', 'timestamp': '=$.now + duration(`7d`)'}", COMMAND_WAIT_UNTIL},
        {"{'type': 'wait.until', 'timestamp': '2026-01-31'}", COMMAND_WAIT_UNTIL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct program *p = definition_steps(
            str_printf(&definition_mem, "[{'code': 'a', 'procedure': %s}]", rows[i].command).ptr);
        assert_int_equal(p->steps[0].procedure->command_count, 1);
        assert_int_equal(p->steps[0].procedure->commands[0].type, rows[i].type);
        assert_int_equal(definition_findings.count, 0);
    }
}

static void test_scenario__fields_become_mappings_words_and_expressions(void **state)
{
    const struct program *p;
    const struct command *query, *create;

    (void)state;
    p = definition_steps(
        "[{'code': 'a', 'procedure': ["
        " {'type': 'record.create', 'object': 'order', 'data': {'n': '$.input.n', 's': 'x'},"
        "  'ifExists': 'keep'},"
        " {'type': 'record.query', 'object': 'order', 'where': 'record.n == 1'}]}]");
    create = &p->steps[0].procedure->commands[0];
    query = &p->steps[0].procedure->commands[1];
    assert_int_equal(create->fields[FIELD_DATA]->kind, MAPPING_MAP);
    assert_int_equal(create->fields[FIELD_DATA]->count, 2);
    assert_text(create->fields[FIELD_DATA]->pointer, "/steps/0/procedure/0/data");
    assert_text(create->fields[FIELD_DATA]->items[0].pointer, "/steps/0/procedure/0/data/n");
    assert_int_equal(create->fields[FIELD_IF_EXISTS]->kind, MAPPING_CONST);
    assert_text(value_text(create->fields[FIELD_IF_EXISTS]->value), "keep");
    assert_null(create->fields[FIELD_ID]);
    assert_non_null(query->expressions[FIELD_WHERE]);
    assert_null(query->fields[FIELD_WHERE]);
    assert_null(query->fields[FIELD_LIMIT]);
}

/* --- what expressions see --- */

static void test_scenario__slots_are_roots_then_steps_then_named_results(void **state)
{
    struct value slots[ROOT_COUNT + 4];
    const struct program *p;

    (void)state;
    p = definition_steps(
        "[{'code': 'one', 'procedure': {'type': 'log', 'message': 'x'}},"
        " {'code': 'two', 'when': '$.steps.one == 7 && steps.two == null', 'procedure': ["
        "   {'type': 'compute.transform', 'data': 1, 'as': 'first'},"
        "   {'type': 'compute.transform', 'data': '=$.first + first', 'as': 'second'},"
        "   {'type': 'log', 'message': 'x', 'when': 'second == 2 && $.first == 1'}]}]");
    assert_int_equal(p->steps[0].procedure->slot_count, ROOT_COUNT + 2);
    assert_int_equal(p->steps[1].procedure->slot_count, ROOT_COUNT + 4);
    assert_int_equal(p->slot_count, ROOT_COUNT + 4);
    assert_int_equal(cel_env_slot_count(p->env), ROOT_COUNT + 2);
    assert_int_equal(p->steps[1].index, 1);
    assert_int_equal(p->steps[1].procedure->commands[0].as_slot, ROOT_COUNT + 2);
    assert_int_equal(p->steps[1].procedure->commands[1].as_slot, ROOT_COUNT + 3);
    assert_int_equal(p->steps[1].procedure->commands[2].as_slot, 0);
    assert_ptr_equal(program_step(p, STR("two")), &p->steps[1]);
    assert_null(program_step(p, STR("three")));

    for (size_t i = 0; i < ROOT_COUNT + 4; i++)
        slots[i] = value_absent();
    slots[ROOT_COUNT] = value_int(7);
    slots[ROOT_COUNT + 1] = value_null();
    assert_true(value_is_true(evaluate(p->steps[1].when, slots)));
    slots[ROOT_COUNT + 2] = value_int(1);
    slots[ROOT_COUNT + 3] = value_int(2);
    assert_true(value_is_true(evaluate(p->steps[1].procedure->commands[2].when, slots)));
}

static void test_scenario__roots_have_the_slots_of_their_numbers(void **state)
{
    struct value slots[ROOT_COUNT + 1];
    const struct program *p;
    struct value v;

    (void)state;
    p = definition_steps(
        "[{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': ["
        " '=input', '=steps', '=signals', '=variables', '=config', '=meta',"
        " '=user', '=execution', '=now', '=webhook']}}, {'code': 'b', 'loop': {'while': 'true',"
        " 'steps': [{'code': 'c', 'procedure': {'type': 'log', 'message': 'x'}, 'rollback': {"
        "  'type': 'compute.transform', 'data': 1, 'result': ["
        "  '=response', '=error', '=warnings', '$.loop', '=compensation']}}]}}]");
    for (int i = 0; i <= ROOT_COUNT; i++)
        slots[i] = value_int(i);
    v = mapping_evaluate(&definition_mem, p->steps[0].procedure->commands[0].fields[FIELD_DATA],
                         &(struct cel_activation){.slots = slots});
    assert_int_equal(v.kind, VALUE_LIST);
    assert_int_equal(v.len, ROOT_SIGNAL);
    for (int i = 0; i < ROOT_SIGNAL; i++)
        assert_int_equal(v.items[i].i, i);
    v = mapping_evaluate(&definition_mem,
                         p->steps[2].rollback.procedure->commands[0].fields[FIELD_RESULT],
                         &(struct cel_activation){.slots = slots});
    assert_int_equal(v.items[0].i, ROOT_RESPONSE);
    assert_int_equal(v.items[1].i, ROOT_ERROR);
    assert_int_equal(v.items[2].i, ROOT_WARNINGS);
    assert_int_equal(v.items[3].i, ROOT_LOOP);
    assert_int_equal(v.items[4].i, ROOT_COMPENSATION);
}

static void test_scenario__steps_as_a_whole_and_by_index_are_allowed(void **state)
{
    (void)state;
    definition_steps("[{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': ["
                     " '$.steps', '=steps', '=$', '=steps[`a`]', '=$.steps[$.input.name]',"
                     " '=$.steps.?a', '=has($.steps.a)', '=has($.steps.a.b.c)',"
                     " '=[{`x`: 1}].map(steps, steps.x)']}}]");
}

static void test_scenario__a_template_in_an_expression_is_part_of_it(void **state)
{
    struct value slots[ROOT_COUNT + 1] = {[ROOT_INPUT] = value_absent()};
    const struct program *p;

    (void)state;
    p = definition_steps("[{'code': 'a', 'when': '{{ 1 + 1 }} * 2 == 4',"
                         " 'procedure': {'type': 'log', 'message': 'x'}}]");
    assert_true(value_is_true(evaluate(p->steps[0].when, slots)));
}

/* --- the rest of a scenario --- */

static void
test_scenario__a_step_takes_the_strategy_of_the_scenario_unless_it_has_its_own(void **state)
{
    const struct program *p;

    (void)state;
    p = definition_program(
        "{'code': 'a', 'onError': 'fail_fast', 'steps': ["
        " {'code': 'a', 'procedure': {'type': 'log', 'message': 'x'}},"
        " {'code': 'b', 'procedure': {'type': 'log', 'message': 'x'}, 'onError': 'hold'},"
        " {'code': 'c', 'procedure': {'type': 'log', 'message': 'x'}, 'onError': 'continue'},"
        " {'code': 'd', 'procedure': {'type': 'log', 'message': 'x'}, 'onError': 'retry'},"
        " {'code': 'e', 'procedure': {'type': 'log', 'message': 'x'}, 'onError': 'compensate'}]}");
    assert_int_equal(p->on_error, ON_ERROR_FAIL_FAST);
    assert_int_equal(p->steps[0].on_error, ON_ERROR_FAIL_FAST);
    assert_int_equal(p->steps[1].on_error, ON_ERROR_HOLD);
    assert_true(!p->steps[1].continues);
    assert_int_equal(p->steps[2].on_error, ON_ERROR_FAIL_FAST);
    assert_true(p->steps[2].continues);
    assert_int_equal(p->steps[3].on_error, ON_ERROR_RETRY);
    assert_int_equal(p->steps[4].on_error, ON_ERROR_COMPENSATE);
}

static void test_scenario__settings_result_access_and_meta_are_kept(void **state)
{
    const struct program *p;

    (void)state;
    p = definition_program(
        "{'code': 'a', 'steps': [{'code': 'a', 'meta': {'any': {'thing': '$.'}},"
        " 'procedure': {'type': 'log', 'message': 'x'}}],"
        " 'settings': {'timeout': '1h', 'key': 'order-{{ input.id }}', 'onKeyConflict': 'join'},"
        " 'result': {'total': '$.steps.a.total'}, 'meta': {'owner': '= not an expression'},"
        " 'access': {'start': ['manager', 'group:sales'], 'view': []}}");
    assert_true(p->timeout_us == INT64_C(3600) * 1000000);
    assert_true(p->joins_by_key);
    assert_int_equal(p->key->kind, MAPPING_PROGRAM);
    assert_text(p->key->pointer, "/settings/key");
    assert_int_equal(p->result->kind, MAPPING_MAP);
    assert_string_equal(definition_json(p->meta), "{\"owner\":\"= not an expression\"}");
    assert_string_equal(definition_json(p->steps[0].meta), "{\"any\":{\"thing\":\"$.\"}}");
    assert_text(p->steps[0].name, "a");
}

static void test_scenario__what_is_left_out_has_its_default(void **state)
{
    const struct program *p = definition_steps("[]");

    (void)state;
    assert_text(p->name, "test");
    assert_int_equal(p->on_error, ON_ERROR_COMPENSATE);
    assert_false(p->joins_by_key);
    assert_false(p->declares_input);
    assert_null(p->key);
    assert_null(p->result);
    assert_false(p->retry_is_written);
    assert_int_equal(p->retry.max_attempts, 3);
    assert_true(p->retry.max_delay_us == INT64_C(3600) * 1000000 && p->retry.has_jitter);
    assert_true(p->timeout_us == INT64_C(30) * 86400 * 1000000);
    assert_int_equal(p->meta.kind, VALUE_MAP);
}

static void test_scenario__fifty_steps_of_fifty_commands_are_allowed(void **state)
{
    const struct program *p;
    struct buf text;

    (void)state;
    buf_init_arena(&text, &definition_mem);
    for (int i = 0; i < 50; i++) {
        buf_printf(&text, "%s{'code': 's%d', 'procedure': [", i == 0 ? "[" : ", ", i);
        for (int k = 0; k < 50; k++)
            buf_printf(&text, "%s{'type': 'log', 'message': 'x', 'as': 'r%d'}", k == 0 ? "" : ", ",
                       k);
        buf_text(&text, "]}");
    }
    buf_text(&text, "]");
    buf_char(&text, '\0');
    p = definition_steps(text.ptr);
    assert_int_equal(p->step_count, 50);
    assert_int_equal(p->slot_count, ROOT_COUNT + 50 + 50);
}

static void test_scenario__patterns_of_all_expressions_are_released(void **state)
{
    const struct program *p;

    (void)state;
    /* Under the sanitizers a pattern that is left behind ends the test. */
    p = definition_program("{'code': 'a', 'result': '=$.input.a.matches(`^r+$`)',"
                           " 'settings': {'key': '{{ input.k.matches(`k`) }}'},"
                           " 'steps': [{'code': 'a', 'when': '$.input.b.matches(`^w+$`)',"
                           "  'input': {'x': ['=$.input.c.matches(`^i+$`)']},"
                           "  'procedure': {'type': 'wait.signal', 'signalType': 'x',"
                           "   'match': '$.signal.type.matches(`^m+$`)'}}]}");
    assert_non_null(p->patterns);
    definition_compile(
        definition_value("{'code': 'A', 'result': '=$.input.a.matches(`^r+$`)', 'steps': []}"));
    assert_true(findings_have_errors(&definition_findings));
}

/* Each costs some 50 ms to compile: all of them would hold the compiler for seconds. */
static void test_scenario__patterns_of_a_definition_have_one_budget(void **state)
{
    struct buf text;
    size_t refused = 0;

    (void)state;
    buf_init_arena(&text, &definition_mem);
    buf_text(&text, "{'code': 'a', 'steps': [{'code': 'a', 'procedure': {"
                    "'type': 'compute.transform', 'data': {");
    for (int i = 0; i < 150; i++)
        buf_printf(&text, "%s'k%d': '=$.input.a.matches(`%d[\\\\\\\\pL\\\\\\\\pN]{1,50}`)'",
                   i > 0 ? ", " : "", i, i);
    buf_text(&text, "}}}]}");
    buf_char(&text, '\0');
    assert_null(definition_compile(definition_value(buf_view(&text).ptr)));
    for (size_t i = 0; i < definition_findings.count; i++)
        refused += strstr(definition_findings.items[i].message.text.ptr, "taken together") != NULL;
    assert_in_range(refused, 130, 149);
}

static void test_scenario__kinds_are_seen_from_the_shape(void **state)
{
    (void)state;
    assert_string_equal(kind_of(definition_value("{'steps': []}"))->name, "scenario");
    assert_string_equal(kind_of(definition_value("{'commands': []}"))->name, "procedure");
    assert_string_equal(kind_of(definition_value("{'nodes': []}"))->name, "schema");
    assert_string_equal(kind_of(definition_value("{'states': {}}"))->name, "machine");
    assert_null(kind_of(definition_value("{'code': 'x'}")));
    assert_null(kind_of(definition_value("[1]")));
}

static void test_scenario__durations_are_microseconds(void **state)
{
    int64_t us = 0;

    (void)state;
    assert_true(define_duration_us(value_string(STR("1h30m")), &us) && us == 5400000000);
    assert_true(define_duration_us(value_string(STR("250ms")), &us) && us == 250000);
    assert_true(define_duration_us(value_string(STR("7d")), &us) && us == INT64_C(604800000000));
    assert_true(define_duration_us(value_duration(-1, 500000000), &us) && us == -500000);
    assert_true(define_duration_us(value_duration(INT64_C(315576000000), 0), &us));
    assert_false(define_duration_us(value_string(STR("soon")), &us));
    assert_false(define_duration_us(value_int(5), &us));
    assert_false(define_duration_us(value_null(), &us));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_scenario__the_structure_of_the_manual_compiles),
        DEFINITION_TEST(test_scenario__the_step_of_the_manual_compiles),
        DEFINITION_TEST(test_scenario__the_wait_of_the_manual_compiles),
        DEFINITION_TEST(test_scenario__a_step_may_carry_what_the_manual_leaves_empty),
        DEFINITION_TEST(test_scenario__every_command_compiles_with_all_its_fields),
        DEFINITION_TEST(test_scenario__fields_become_mappings_words_and_expressions),
        DEFINITION_TEST(test_scenario__slots_are_roots_then_steps_then_named_results),
        DEFINITION_TEST(test_scenario__roots_have_the_slots_of_their_numbers),
        DEFINITION_TEST(test_scenario__steps_as_a_whole_and_by_index_are_allowed),
        DEFINITION_TEST(test_scenario__a_template_in_an_expression_is_part_of_it),
        DEFINITION_TEST(
            test_scenario__a_step_takes_the_strategy_of_the_scenario_unless_it_has_its_own),
        DEFINITION_TEST(test_scenario__settings_result_access_and_meta_are_kept),
        DEFINITION_TEST(test_scenario__what_is_left_out_has_its_default),
        DEFINITION_TEST(test_scenario__fifty_steps_of_fifty_commands_are_allowed),
        DEFINITION_TEST(test_scenario__patterns_of_all_expressions_are_released),
        DEFINITION_TEST(test_scenario__patterns_of_a_definition_have_one_budget),
        DEFINITION_TEST(test_scenario__kinds_are_seen_from_the_shape),
        DEFINITION_TEST(test_scenario__durations_are_microseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
