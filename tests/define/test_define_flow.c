/* test_define_flow.c - claims about commands that hold others, waits, and what every command may have. */
#include "base/buf.h"
#include "define/definition.h"
#include "define/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define assert_text(s, text) assert_true(str_eq((s), STR(text)))

#define LOG "{'type': 'log', 'message': 'x'}"

static const struct procedure *procedure_of(const char *commands)
{
    const struct program *p = definition_steps(
        str_printf(&definition_mem, "[{'code': 'a', 'procedure': %s}]", commands).ptr);

    return p->steps[0].procedure;
}

/* --- bodies --- */

static void test_commands__if_and_try_have_two_bodies(void **state)
{
    const struct procedure *p;
    const struct command *c;

    (void)state;
    p = procedure_of("[{'type': 'flow.if', 'condition': '$.input.x > 1', 'then': [" LOG ", " LOG
                     "]}, {'type': 'flow.try', 'commands': [" LOG "], 'catch': {'type': 'log',"
                     " 'message': '{{ error.code }}'}}]");
    c = &p->commands[0];
    assert_int_equal(c->type, COMMAND_IF);
    assert_non_null(c->expressions[FIELD_CONDITION]);
    assert_int_equal(c->body_count, 2);
    assert_int_equal(c->bodies[BODY_THEN].count, 2);
    assert_int_equal(c->bodies[BODY_ELSE].count, 0);
    c = &p->commands[1];
    assert_int_equal(c->type, COMMAND_TRY);
    assert_int_equal(c->body_count, 2);
    assert_int_equal(c->bodies[BODY_COMMANDS].count, 1);
    assert_int_equal(c->bodies[BODY_CATCH].count, 1);
    assert_text(c->bodies[BODY_CATCH].commands[0].pointer, "/steps/0/procedure/1/catch");
}

static void test_commands__match_has_its_cases_and_a_default(void **state)
{
    const struct command *c;

    (void)state;
    c = procedure_of("{'type': 'flow.match', 'expression': '$.input.kind', 'cases': {"
                     " 'a': [" LOG "], 'b/c': []}}")
            ->commands;
    assert_non_null(c->expressions[FIELD_EXPRESSION]);
    assert_int_equal(c->body_count, 3);
    assert_text(value_text(c->bodies[0].match), "a");
    assert_text(value_text(c->bodies[1].match), "b/c");
    assert_int_equal(c->bodies[2].match.kind, VALUE_ABSENT);
    assert_int_equal(c->bodies[2].count, 0);
    c = procedure_of("{'type': 'flow.match', 'expression': '1', 'cases': {}, 'default': " LOG "}")
            ->commands;
    assert_int_equal(c->body_count, 1);
    assert_int_equal(c->bodies[0].count, 1);
}

static void test_commands__positions_are_counted_through_all_bodies(void **state)
{
    const struct command *c;

    (void)state;
    c = procedure_of("[" LOG ", {'type': 'flow.if', 'condition': 'true', 'then': [" LOG ", " LOG
                     "],"
                     " 'else': [{'type': 'flow.try', 'commands': [" LOG "], 'catch': [" LOG "]}]},"
                     " " LOG "]")
            ->commands;
    assert_text(c[0].position, "1");
    assert_text(c[1].position, "2");
    assert_text(c[1].bodies[0].commands[0].position, "2.1");
    assert_text(c[1].bodies[0].commands[1].position, "2.2");
    assert_text(c[1].bodies[1].commands[0].position, "2.3");
    assert_text(c[1].bodies[1].commands[0].bodies[0].commands[0].position, "2.3.1");
    assert_text(c[1].bodies[1].commands[0].bodies[1].commands[0].position, "2.3.2");
    assert_text(c[2].position, "3");
}

static void test_commands__bodies_that_exclude_each_other_may_share_a_name(void **state)
{
    static const struct definition_row rows[] = {
        {"{'type': 'flow.if', 'condition': 'true', 'then': [{'type': 'log', 'message': 'a',"
         " 'as': 'r'}], 'else': [{'type': 'log', 'message': 'b', 'as': 'r'}]},"
         " {'type': 'log', 'message': '{{ r.message }}'}",
         ""},
        {"{'type': 'log', 'message': 'a', 'as': 'r'}, {'type': 'flow.if', 'condition': 'true',"
         " 'then': [{'type': 'log', 'message': 'b', 'as': 'r'}]}",
         "/steps/0/procedure/1/then/0/as duplicate_name"},
        {"{'type': 'flow.if', 'condition': 'true', 'then': [{'type': 'log', 'message': 'b',"
         " 'as': 'r'}]}, {'type': 'log', 'message': 'a', 'as': 'r'}",
         "/steps/0/procedure/1/as duplicate_name"},
        {"{'type': 'flow.if', 'condition': 'true', 'then': [{'type': 'log', 'message': 'b',"
         " 'as': 'r'}, {'type': 'log', 'message': 'b', 'as': 'r'}]}",
         "/steps/0/procedure/0/then/1/as duplicate_name"},
        {"{'type': 'flow.if', 'condition': 'true', 'as': 'r', 'then': [{'type': 'log',"
         " 'message': 'b', 'as': 'r'}]}",
         "/steps/0/procedure/0/as duplicate_name"},
    };
    const struct command *c;

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': [%s]}]}", rows);
    c = procedure_of("{'type': 'flow.match', 'expression': '1', 'cases': {"
                     " 'a': {'type': 'log', 'message': 'a', 'as': 'r'},"
                     " 'b': {'type': 'log', 'message': 'b', 'as': 'r'}}}")
            ->commands;
    assert_int_equal(c->bodies[0].commands->as_slot, ROOT_COUNT + 1);
    assert_int_equal(c->bodies[1].commands->as_slot, ROOT_COUNT + 1);
}

static void test_commands__findings_about_bodies(void **state)
{
    static const struct definition_row rows[] = {
        {"{'type': 'flow.if'}",
         "/steps/0/procedure/condition missing_field\n/steps/0/procedure/then missing_field"},
        {"{'type': 'flow.if', 'condition': '1', 'then': 5, 'else': 'x'}",
         "/steps/0/procedure/condition expression_type:1\n/steps/0/procedure/then wrong_type\n"
         "/steps/0/procedure/else wrong_type"},
        {"{'type': 'flow.if', 'condition': 'true', 'then': [1, {'type': 'lgo', 'message': ''}]}",
         "/steps/0/procedure/then/0 wrong_type\n"
         "/steps/0/procedure/then/1/type unknown_command did you mean 'log'?"},
        {"{'type': 'flow.if', 'condition': 'true', 'then': [{'type': 'wait.timer',"
         " 'duration': '1s'}]}",
         "/steps/0/procedure/then/0 wait_not_alone"},
        {"{'type': 'flow.match', 'expression': 'x', 'cases': [], 'default': 1}",
         "/steps/0/procedure/expression expression_type:1\n/steps/0/procedure/cases wrong_type\n"
         "/steps/0/procedure/default wrong_type"},
        {"{'type': 'flow.match', 'expression': '1', 'cases': {'a': 1}}",
         "/steps/0/procedure/cases/a wrong_type"},
        {"{'type': 'flow.try', 'commands': []}", "/steps/0/procedure/catch missing_field"},
        {"{'type': 'flow.try', 'commands': [], 'catch': [], 'finally': []}",
         "/steps/0/procedure/finally unknown_field"},
        {"{'type': 'flow.start'}", "/steps/0/procedure/code missing_field"},
        {"{'type': 'flow.start', 'code': '', 'input': [], 'key': 1, 'wait': 'yes'}",
         "/steps/0/procedure/code bad_value\n/steps/0/procedure/input wrong_type\n"
         "/steps/0/procedure/key wrong_type\n/steps/0/procedure/wait wrong_type"},
        {"{'type': 'flow.start', 'code': '$.input.c', 'input': {'a': 1}, 'key': 'k{{ input.k }}',"
         " 'wait': '=$.input.w'}",
         ""},
        {"{'type': 'flow.call'}", "/steps/0/procedure/procedure missing_field"},
        {"{'type': 'flow.call', 'procedure': {}, 'input': 1}",
         "/steps/0/procedure/input wrong_type\n/steps/0/procedure/procedure wrong_type"},
        {"{'type': 'flow.call', 'procedure': 'nothing'}",
         "/steps/0/procedure/procedure unknown_procedure"},
        {"{'type': 'flow.call', 'procedure': ''}", "/steps/0/procedure/procedure bad_value"},
        {"{'type': 'flow.call', 'procedure': 'crm.sync'}", ""},
        {"'record.create'", "/steps/0/procedure unknown_procedure"},
        {"'a..b'", "/steps/0/procedure bad_name"},
        {"'.b'", "/steps/0/procedure bad_name"},
        {"'b.'", "/steps/0/procedure bad_name"},
        {"'crm.do it'", "/steps/0/procedure bad_name"},
        {"'crm.sync-1'", ""},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': %s}]}", rows);
}

static void test_commands__five_deep_is_deep_enough(void **state)
{
    static const char open[] = "{'type': 'flow.if', 'condition': 'true', 'then': ";
    struct buf text;

    (void)state;
    for (int depth = 5; depth <= 6; depth++) {
        buf_init_arena(&text, &definition_mem);
        buf_text(&text, "{'code': 'a', 'steps': [{'code': 'a', 'procedure': ");
        for (int i = 0; i < depth; i++)
            buf_text(&text, open);
        buf_text(&text, LOG);
        for (int i = 0; i < depth; i++)
            buf_char(&text, '}');
        buf_text(&text, "}]}");
        buf_char(&text, '\0');
        assert_string_equal(definition_found(text.ptr),
                            depth == 5 ? ""
                                       : "/steps/0/procedure/then/then/then/then/then limit_depth");
    }
}

static void test_commands__commands_are_counted_through_all_bodies(void **state)
{
    struct buf text;

    (void)state;
    for (int inner = 24; inner <= 25; inner++) {
        buf_init_arena(&text, &definition_mem);
        buf_text(&text, "{'code': 'a', 'steps': [{'code': 'a', 'procedure': [" LOG
                        ", {'type': 'flow.if', 'condition': 'true', 'then': [");
        for (int i = 0; i < inner; i++)
            buf_text(&text, i == 0 ? LOG : ", " LOG);
        buf_text(&text, "], 'else': [");
        for (int i = 0; i < inner; i++)
            buf_text(&text, i == 0 ? LOG : ", " LOG);
        buf_text(&text, "]}]}]}");
        buf_char(&text, '\0');
        assert_string_equal(definition_found(text.ptr),
                            inner == 24 ? "" : "/steps/0/procedure limit_commands");
    }
}

/* --- compute --- */

static void test_commands__rules_and_aggregates_are_compiled(void **state)
{
    const struct procedure *p;
    const struct command *c;

    (void)state;
    p = procedure_of(
        "[{'type': 'compute.validate', 'rules': [{'expr': '$.input.n > 0', 'code': 'bad_n',"
        "  'message': 'n is {{ input.n }}'}]},"
        " {'type': 'compute.aggregate', 'items': '$.input.lines', 'by': 'item.sku', 'fields': {"
        "  'total': {'op': 'sum', 'of': 'item.price * $.item.count'}, 'n': {'op': 'count'}},"
        "  'as': 'sums'},"
        " {'type': 'compute.aggregate', 'items': [1, 2], 'fields': {'m': {'op': 'max',"
        "  'of': 'item'}}, 'as': 'most'}]");
    c = &p->commands[0];
    assert_int_equal(c->rule_count, 1);
    assert_non_null(c->rules[0].expr);
    assert_text(value_text(c->rules[0].code->value), "bad_n");
    assert_int_equal(c->rules[0].message->kind, MAPPING_PROGRAM);
    c = &p->commands[1];
    assert_non_null(c->expressions[FIELD_BY]);
    assert_int_equal(c->aggregate_count, 2);
    assert_text(c->aggregates[0].name, "total");
    assert_int_equal(c->aggregates[0].op, AGGREGATE_SUM);
    assert_non_null(c->aggregates[0].of);
    assert_int_equal(c->aggregates[1].op, AGGREGATE_COUNT);
    assert_null(c->aggregates[1].of);
    /* $.item has a slot that no result has. */
    assert_int_equal(c->item_slot, ROOT_COUNT + 1);
    assert_int_equal(c->as_slot, ROOT_COUNT + 2);
    assert_int_equal(p->commands[2].item_slot, ROOT_COUNT + 3);
    assert_int_equal(p->commands[2].as_slot, ROOT_COUNT + 4);
    assert_int_equal(p->slot_count, ROOT_COUNT + 5);
}

/* A rollback's slots begin above those of its procedure, and so does its $.item. */
static void test_commands__an_aggregate_may_stand_in_a_rollback_and_behind_it(void **state)
{
#define SUM                                                                                        \
    "{'type': 'compute.aggregate', 'items': [1], 'fields': {'s': {'op': 'sum', 'of': 'item'}}"
    const struct procedure *p, *undo, *inner;

    (void)state;
    p = procedure_of("[{'type': 'log', 'message': 'x', 'rollback': [" SUM ", 'rollback': " SUM
                     "}}, " SUM "}]}, " SUM "}]");
    undo = p->commands[0].rollback.procedure;
    inner = undo->commands[0].rollback.procedure;
    assert_int_equal(p->commands[1].item_slot, ROOT_COUNT + 1);
    assert_int_equal(undo->commands[0].item_slot, ROOT_COUNT + 2);
    assert_int_equal(undo->commands[1].item_slot, ROOT_COUNT + 3);
    assert_int_equal(inner->commands[0].item_slot, ROOT_COUNT + 4);
    assert_int_equal(inner->slot_count, ROOT_COUNT + 5);
#undef SUM
}

static void test_commands__findings_about_compute(void **state)
{
    static const struct definition_row rows[] = {
        {"{'type': 'compute.validate'}", "/steps/0/procedure/rules missing_field"},
        {"{'type': 'compute.validate', 'rules': {}}", "/steps/0/procedure/rules wrong_type"},
        {"{'type': 'compute.validate', 'rules': []}", "/steps/0/procedure/rules bad_value"},
        {"{'type': 'compute.validate', 'rules': [1, {}]}",
         "/steps/0/procedure/rules/0 wrong_type\n/steps/0/procedure/rules/1/expr missing_field\n"
         "/steps/0/procedure/rules/1/code missing_field\n"
         "/steps/0/procedure/rules/1/message missing_field"},
        {"{'type': 'compute.validate', 'rules': [{'expr': '1', 'code': 1, 'message': '',"
         " 'class': 'x'}]}",
         "/steps/0/procedure/rules/0/class unknown_field\n"
         "/steps/0/procedure/rules/0/expr expression_type:1\n"
         "/steps/0/procedure/rules/0/code wrong_type\n"
         "/steps/0/procedure/rules/0/message bad_value"},
        {"{'type': 'compute.aggregate'}",
         "/steps/0/procedure/items missing_field\n/steps/0/procedure/fields missing_field"},
        {"{'type': 'compute.aggregate', 'items': 'x', 'fields': {}}",
         "/steps/0/procedure/items wrong_type\n/steps/0/procedure/fields bad_value"},
        {"{'type': 'compute.aggregate', 'items': [], 'by': 'itm', 'fields': {'a': {'op': 'median',"
         " 'of': 'item.'}, 'b': 1, 'c': {'of': 'item'}}}",
         "/steps/0/procedure/by expression_type:1 did you mean 'item'?\n"
         "/steps/0/procedure/fields/a/op bad_value\n"
         "/steps/0/procedure/fields/a/of expression_syntax:6\n"
         "/steps/0/procedure/fields/b wrong_type\n/steps/0/procedure/fields/c/op missing_field"},
        /* There is no item but there. */
        {"[{'type': 'compute.aggregate', 'items': [], 'fields': {'a': {'op': 'count'}}},"
         " {'type': 'compute.transform', 'data': '$.item'}]",
         "/steps/0/procedure/1/data expression_type:3"},
        {"{'type': 'log', 'message': 'x', 'as': 'item'}", "/steps/0/procedure/as bad_name"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': %s}]}", rows);
}

/* --- what every command may have --- */

static void test_commands__optional_retry_and_rollback_belong_to_every_command(void **state)
{
    const struct procedure *p;
    const struct command *c;

    (void)state;
    p = procedure_of("[{'type': 'record.create', 'object': 'o', 'data': {}, 'as': 'made',"
                     "  'optional': true, 'retry': {'maxAttempts': 2, 'delay': '1s'},"
                     "  'rollback': {'type': 'record.delete', 'object': 'o', 'id': '$.made.id'}},"
                     " {'type': 'log', 'message': 'x', 'as': 'second', 'rollback': ["
                     "  {'type': 'log', 'message': 'x', 'as': 'mine'},"
                     "  {'type': 'log', 'message': '{{ mine.message }} {{ made.id }}'}]}]");
    c = &p->commands[0];
    assert_true(c->is_optional);
    assert_int_equal(c->retry->max_attempts, 2);
    assert_int_equal(c->rollback.procedure->kind, PROCEDURE_INLINE);
    assert_int_equal(c->rollback.procedure->command_count, 1);
    assert_text(c->rollback.procedure->commands[0].position, "1");
    assert_true(p->has_rollbacks);
    assert_false(c->rollback.procedure->has_rollbacks);
    /* What a rollback names stands above all that the procedure has named. */
    assert_int_equal(p->slot_count, ROOT_COUNT + 3);
    assert_int_equal(c->rollback.procedure->slot_count, ROOT_COUNT + 3);
    assert_int_equal(p->commands[1].rollback.procedure->commands[0].as_slot, ROOT_COUNT + 3);
    assert_int_equal(p->commands[1].rollback.procedure->slot_count, ROOT_COUNT + 4);
    assert_null(p->commands[1].retry);
    assert_false(p->commands[1].is_optional);
    assert_false(procedure_of(LOG)->has_rollbacks);
}

static void test_commands__findings_about_common_fields(void **state)
{
    static const struct definition_row rows[] = {
        {"'optional': 'yes'", "/steps/0/procedure/optional wrong_type"},
        {"'retry': {'max': 1}",
         "/steps/0/procedure/retry/max unknown_field did you mean 'maxAttempts'?"},
        {"'rollback': 1", "/steps/0/procedure/rollback wrong_type"},
        {"'rollback': {'type': 'log'}", "/steps/0/procedure/rollback/message missing_field"},
        {"'rollback': {'type': 'wait.timer', 'duration': '1s'}",
         "/steps/0/procedure/rollback wait_not_alone"},
        {"'rollback': {'type': 'log', 'message': 'x', 'as': 'r'}, 'as': 'r'",
         "/steps/0/procedure/rollback/as duplicate_name"},
        {"'rollback': {'type': 'log', 'message': 'x', 'as': 'r'}, 'as': 's'", ""},
        {"'rollback': null, 'retry': null", ""},
    };
    static const struct definition_row waits[] = {
        {"'optional': true, 'retry': {}, 'rollback': {'type': 'log', 'message': 'x'}",
         "/steps/0/procedure/optional misplaced\n/steps/0/procedure/retry misplaced\n"
         "/steps/0/procedure/rollback misplaced"},
        {"'as': 'r', 'when': 'true', 'result': {'at': '$.response.firedAt'}", ""},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': {'type': 'log',"
                    " 'message': 'x', %s}}]}",
                    rows);
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': {'type': 'wait.timer',"
                    " 'duration': '1s', %s}}]}",
                    waits);
}

static void test_commands__calls_that_may_take_more_than_30_s_together_are_a_warning(void **state)
{
#define CALL(timeout) "{'type': 'integration.http', 'url': 'http://a.example/'" timeout "}"
    static const struct definition_row rows[] = {
        {CALL("") "," CALL("") "," CALL(""), ""},
        {CALL("") "," CALL("") "," CALL("") "," CALL(""), "/steps/0/procedure slow_calls?"},
        {CALL(", 'timeout': '20s'") "," CALL(", 'timeout': '11s'"),
         "/steps/0/procedure slow_calls?"},
        {CALL(", 'timeout': '$.input.t'") "," CALL(", 'timeout': '20s'"), ""},
        {CALL(", 'timeout': '31s'"), "/steps/0/procedure slow_calls?"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': [%s]}]}", rows);
}

static void test_commands__calls_over_http_and_letters_are_counted(void **state)
{
    struct buf text;

    (void)state;
    buf_init_arena(&text, &definition_mem);
    buf_text(&text, "{'code': 'a', 'steps': [{'code': 'a', 'procedure': [");
    for (int i = 0; i < 22; i++)
        buf_printf(&text, "%s{'type': '%s'}", i == 0 ? "" : ", ",
                   i % 2 == 0 ? "integration.http" : "notification.email");
    buf_text(&text, "]}]}");
    buf_char(&text, '\0');
    (void)definition_found(text.ptr);
    assert_int_equal(definition_findings.count, 24);
    assert_text(definition_findings.items[22].code, "limit_calls");
    assert_text(definition_findings.items[23].code, "limit_calls");
}

/* --- waits --- */

static void test_commands__a_wait_for_people_has_all_its_fields(void **state)
{
    const struct program *p;
    const struct command *c;
    const struct wait *w;

    (void)state;
    p = definition_steps(
        "[{'code': 'ask', 'procedure': {'type': 'wait.signal', 'signalType': ['yes', 'no'],"
        "  'match': '$.signal.payload.id == $.input.id', 'accept': 'new',"
        "  'correlation': 'order-{{ input.id }}', 'timeout': '24h', 'onTimeout': {'to': 'late'},"
        "  'reminder': {'every': '=duration(`1h`)', 'max': 3, 'procedure': {'type': 'log',"
        "   'message': 'n {{ reminder.index }}'}, 'input': {'x': '$.input.id'}},"
        "  'title': 'Approve {{ input.id }}', 'assignee': ['group:boss', '$.input.who'],"
        "  'form': [{'name': 'ok', 'type': 'boolean', 'required': true}], 'public': true}},"
        " {'code': 'late', 'procedure': " LOG "}]");
    c = p->steps[0].procedure->commands;
    w = c->wait;
    assert_int_equal(w->on_timeout, ON_TIMEOUT_JUMP);
    assert_int_equal(w->timeout_kind, JUMP_STEP);
    assert_int_equal(w->timeout_step, 1);
    assert_true(w->accepts_new_only);
    assert_true(w->is_public);
    assert_int_equal(w->form_count, 1);
    assert_int_equal(w->form[0].type, PARAM_BOOLEAN);
    assert_int_equal(w->reminder_max, 3);
    assert_non_null(w->reminder_every);
    assert_int_equal(w->reminder.procedure->command_count, 1);
    assert_non_null(w->reminder.input);
    assert_non_null(c->fields[FIELD_CORRELATION]);
    assert_non_null(c->fields[FIELD_TITLE]);
    assert_non_null(c->fields[FIELD_ASSIGNEE]);
    assert_non_null(c->expressions[FIELD_MATCH]);
    p = definition_steps("[{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x',"
                         " 'timeout': '1h', 'onTimeout': {'to': 'end'}}}]");
    assert_int_equal(p->steps[0].procedure->commands->wait->timeout_kind, JUMP_END);
}

static void test_commands__findings_about_waits_for_people(void **state)
{
    static const struct definition_row rows[] = {
        {"'onTimeout': {'to': 'b'}, 'timeout': '1h'",
         "/steps/0/procedure/onTimeout/to unknown_step"},
        {"'onTimeout': {}, 'timeout': '1h'", "/steps/0/procedure/onTimeout/to missing_field"},
        {"'onTimeout': {'to': 'next'}, 'timeout': '1h'",
         "/steps/0/procedure/onTimeout/to bad_jump"},
        {"'onTimeout': {'goto': 'a'}, 'timeout': '1h'",
         "/steps/0/procedure/onTimeout/goto unknown_field did you mean 'to'?\n"
         "/steps/0/procedure/onTimeout/to missing_field"},
        {"'onTimeout': 'continue'", "/steps/0/procedure/onTimeout misplaced?"},
        {"'onTimeout': 'skip', 'timeout': '1h'", "/steps/0/procedure/onTimeout bad_value"},
        {"'accept': 'all'", "/steps/0/procedure/accept bad_value"},
        {"'public': '$.input.x'", "/steps/0/procedure/public wrong_type"},
        {"'public': 'yes'", "/steps/0/procedure/public wrong_type"},
        {"'form': {}", "/steps/0/procedure/form wrong_type"},
        {"'form': [{'name': 'a', 'type': 'text'}]",
         "/steps/0/procedure/form/0/type bad_value did you mean 'string'?"},
        {"'assignee': [], 'title': 5, 'correlation': {}",
         "/steps/0/procedure/title wrong_type\n/steps/0/procedure/assignee bad_value\n"
         "/steps/0/procedure/correlation wrong_type"},
        {"'reminder': '1h'", "/steps/0/procedure/reminder wrong_type"},
        {"'reminder': {}", "/steps/0/procedure/reminder/procedure missing_field\n"
                           "/steps/0/procedure/reminder one_of"},
        {"'reminder': {'every': '1d', 'at': ['1d'], 'procedure': 'x.y'}",
         "/steps/0/procedure/reminder one_of"},
        {"'reminder': {'at': ['1d', '3d', '1bd', '2bd', '$.input.x'], 'procedure': 'x.y'}", ""},
        {"'reminder': {'at': [], 'procedure': 'x.y'}", "/steps/0/procedure/reminder/at bad_value"},
        {"'reminder': {'at': '1d', 'procedure': 'x.y'}",
         "/steps/0/procedure/reminder/at wrong_type"},
        {"'reminder': {'at': ['3d', '1d', 5, '0bd'], 'procedure': 'x.y'}",
         "/steps/0/procedure/reminder/at/1 bad_duration\n"
         "/steps/0/procedure/reminder/at/2 wrong_type\n"
         "/steps/0/procedure/reminder/at/3 bad_duration"},
        {"'reminder': {'at': ['2bd', '1bd'], 'procedure': 'x.y'}",
         "/steps/0/procedure/reminder/at/1 bad_duration"},
        {"'reminder': {'at': ['1d'], 'max': 3, 'procedure': 'x.y'}",
         "/steps/0/procedure/reminder/max misplaced"},
        {"'reminder': {'every': '1bd', 'procedure': 'x.y'}",
         "/steps/0/procedure/reminder/every bad_duration"},
        {"'timeout': '3bd'", ""},
        {"'timeout': '31bd'", "/steps/0/procedure/timeout wait_beyond_deadline?"},
        {"'timeout': '1001bd'", "/steps/0/procedure/timeout bad_duration"},
        {"'timeout': '1.5bd'", "/steps/0/procedure/timeout bad_duration"},
        {"'timeout': '1d2bd'", "/steps/0/procedure/timeout bad_duration"},
        {"'reminder': {'every': 'daily', 'procedure': 'x.y', 'max': 0, 'until': 1}",
         "/steps/0/procedure/reminder/until unknown_field\n"
         "/steps/0/procedure/reminder/max bad_value\n"
         "/steps/0/procedure/reminder/every bad_duration"},
        {"'reminder': {'every': '0s', 'procedure': 'x.y'}",
         "/steps/0/procedure/reminder/every bad_duration"},
        {"'reminder': {'every': '1h', 'procedure': {'type': 'wait.timer', 'duration': '1s'}}",
         "/steps/0/procedure/reminder/procedure wait_not_alone"},
        {"'signal': 'x'", "/steps/0/procedure/signal unknown_field did you mean 'signalType'?"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': {'type': 'wait.signal',"
                    " 'signalType': 'x', %s}}]}",
                    rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_commands__if_and_try_have_two_bodies),
        DEFINITION_TEST(test_commands__match_has_its_cases_and_a_default),
        DEFINITION_TEST(test_commands__positions_are_counted_through_all_bodies),
        DEFINITION_TEST(test_commands__bodies_that_exclude_each_other_may_share_a_name),
        DEFINITION_TEST(test_commands__findings_about_bodies),
        DEFINITION_TEST(test_commands__five_deep_is_deep_enough),
        DEFINITION_TEST(test_commands__commands_are_counted_through_all_bodies),
        DEFINITION_TEST(test_commands__rules_and_aggregates_are_compiled),
        DEFINITION_TEST(test_commands__an_aggregate_may_stand_in_a_rollback_and_behind_it),
        DEFINITION_TEST(test_commands__findings_about_compute),
        DEFINITION_TEST(test_commands__optional_retry_and_rollback_belong_to_every_command),
        DEFINITION_TEST(test_commands__findings_about_common_fields),
        DEFINITION_TEST(test_commands__calls_over_http_and_letters_are_counted),
        DEFINITION_TEST(test_commands__calls_that_may_take_more_than_30_s_together_are_a_warning),
        DEFINITION_TEST(test_commands__a_wait_for_people_has_all_its_fields),
        DEFINITION_TEST(test_commands__findings_about_waits_for_people),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
