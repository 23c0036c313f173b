/* test_procedures.c - claims about procedures by name: local, of the registry, external. */
#include "base/buf.h"
#include "define/definition.h"
#include "define/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define assert_text(s, text) assert_true(str_eq((s), STR(text)))

#define LOG "{'type': 'log', 'message': 'x'}"

static const struct procedure *find(const struct program *p, const char *name)
{
    for (uint32_t i = 0; i < p->procedure_count; i++)
        if (str_eq(p->procedures[i]->name, str_of(name)))
            return p->procedures[i];
    return NULL;
}

static void test_procedures__local_ones_have_three_forms(void **state)
{
    const struct program *p;
    const struct procedure *x;

    (void)state;
    p = definition_program(
        "{'code': 'a', 'procedures': {"
        " 'whole': {'name': 'Whole', 'description': 'x', 'input': [{'name': 'n',"
        "   'type': 'integer', 'default': 1}], 'commands': [{'type': 'compute.transform',"
        "   'data': '=$.input.n + 1', 'as': 'r'}], 'result': {'sum': '$.r'}},"
        " 'list': [" LOG ", " LOG "], 'one': " LOG "},"
        " 'steps': [{'code': 'a', 'procedure': 'whole'}, {'code': 'b', 'procedure': 'whole',"
        "  'input': {'n': '$.steps.a.sum'}}, {'code': 'c', 'procedure': 'list',"
        "  'rollback': 'one'}]}");
    x = p->steps[0].procedure;
    assert_int_equal(x->kind, PROCEDURE_LOCAL);
    assert_text(x->name, "whole");
    assert_true(x->declares_input);
    assert_int_equal(x->param_count, 1);
    assert_int_equal(x->command_count, 1);
    assert_non_null(x->result);
    assert_text(x->result->pointer, "/procedures/whole/result");
    assert_ptr_equal(p->steps[1].procedure, x);
    assert_int_equal(p->steps[2].procedure->command_count, 2);
    assert_ptr_equal(p->steps[2].rollback.procedure, find(p, "one"));
    assert_int_equal(p->procedure_count, 3);
    /* Its names stand right behind the roots. */
    assert_int_equal(x->commands[0].as_slot, ROOT_COUNT);
    assert_int_equal(x->slot_count, ROOT_COUNT + 1);
    assert_text(x->commands[0].pointer, "/procedures/whole/commands/0");
    assert_text(x->commands[0].position, "1");
}

static void test_procedures__local_ones_win_over_the_registry(void **state)
{
    const struct program *p;

    (void)state;
    definition_procedures = "{'both': {'code': 'both', 'commands': [" LOG ", " LOG "]},"
                            " 'theirs': {'code': 'theirs', 'commands': [{'type': 'flow.call',"
                            "   'procedure': 'both'}]}}";
    p = definition_program("{'code': 'a', 'procedures': {'both': [" LOG "]}, 'steps': ["
                           " {'code': 'a', 'procedure': 'both'},"
                           " {'code': 'b', 'procedure': 'theirs'}]}");
    assert_int_equal(p->steps[0].procedure->kind, PROCEDURE_LOCAL);
    assert_int_equal(p->steps[1].procedure->kind, PROCEDURE_REGISTRY);
    assert_int_equal(p->steps[1].procedure->version, 7);
    /* What the registry holds does not see what the scenario calls the same. */
    assert_int_equal(p->steps[1].procedure->commands[0].call.procedure->kind, PROCEDURE_REGISTRY);
    assert_int_equal(p->steps[1].procedure->commands[0].call.procedure->command_count, 2);
    assert_int_equal(p->procedure_count, 3);
}

static void test_procedures__named_ones_see_their_own_input_alone(void **state)
{
    static const struct definition_row rows[] = {
        {"$.input.x", ""},
        {"=config.x + user.id + execution.id", ""},
        {"=$.now", ""},
        {"=$.warnings", ""},
        {"$.steps.a", "/procedures/p/data expression_type:3 a procedure sees its own input, config,"
                      " user, execution and now: hand over the rest in 'input'"},
        {"=steps", "/procedures/p/data expression_type:2 a procedure sees its own input, config,"
                   " user, execution and now: hand over the rest in 'input'"},
        {"$.variables.x", "/procedures/p/data expression_type:3 a procedure sees its own input,"
                          " config, user, execution and now: hand over the rest in 'input'"},
        {"{{ loop.item }}", "/procedures/p/data expression_type:4 a procedure sees its own input,"
                            " config, user, execution and now: hand over the rest in 'input'"},
        {"$.inptu.x", "/procedures/p/data expression_type:3 did you mean 'input'?"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'procedures': {'p': {'type': 'compute.transform',"
                    " 'data': '%s'}}, 'steps': [{'code': 'a', 'procedure': 'p'}]}",
                    rows);
}

static void test_procedures__findings_about_local_ones(void **state)
{
    static const struct definition_row rows[] = {
        {"[]", "/procedures wrong_type"},
        {"null", ""},
        {"{}", ""},
        {"{'P': [" LOG "]}", "/procedures/P bad_code did you mean 'p'?"},
        {"{'a.b': [" LOG "]}", "/procedures/a.b bad_code did you mean 'a_b'?"},
        {"{'p': 1}", "/procedures/p wrong_type"},
        {"{'p': {}}", "/procedures/p/commands missing_field"},
        {"{'p': []}", "/procedures/p bad_value"},
        {"{'p': {'commands': [], 'steps': []}}", "/procedures/p/steps unknown_field did you mean "
                                                 "'commands'?\n/procedures/p/commands bad_value"},
        {"{'p': {'commands': [" LOG "], 'input': [{'name': 'a', 'sensitive': true}]}}",
         "/procedures/p/input/0/sensitive misplaced?"},
        {"{'p': {'commands': [" LOG "], 'input': {}, 'result': '=1 +'}}",
         "/procedures/p/input wrong_type\n/procedures/p/result expression_syntax:5"},
        {"{'p': {'type': 'wait.timer', 'duration': '1s'}}", "/procedures/p wait_not_alone"},
        {"{'p': {'type': 'wait.signal', 'signalType': 'x', 'timeout': '1h',"
         " 'onTimeout': {'to': 'a'}}}",
         "/procedures/p wait_not_alone"},
        {"{'p': [{'type': 'flow.call', 'procedure': 'q'}], 'q': [{'type': 'flow.call',"
         " 'procedure': 'p'}]}",
         "/procedures/q/0/procedure procedure_cycle"},
        {"{'p': {'type': 'flow.call', 'procedure': 'p'}}",
         "/procedures/p/procedure procedure_cycle"},
        {"{'send': " LOG ", 'p': {'type': 'flow.call', 'procedure': 'sned'}}",
         "/procedures/p/procedure unknown_procedure did you mean 'send'?"},
    };

    (void)state;
    DEFINITION_ROWS(
        "{'code': 'a', 'procedures': %s, 'steps': [{'code': 'a', 'procedure': " LOG "}]}", rows);
}

static void test_procedures__calls_go_three_deep(void **state)
{
    (void)state;
    assert_string_equal(
        definition_found("{'code': 'a', 'procedures': {"
                         " 'a1': {'type': 'flow.call', 'procedure': 'a2'},"
                         " 'a2': {'type': 'flow.call', 'procedure': 'a3'},"
                         " 'a3': {'type': 'flow.call', 'procedure': 'a4'}, 'a4': " LOG "},"
                         " 'steps': [{'code': 'a', 'procedure': 'a1'}]}"),
        "");
    assert_string_equal(
        definition_found("{'code': 'a', 'procedures': {"
                         " 'a1': {'type': 'flow.call', 'procedure': 'a2'},"
                         " 'a2': {'type': 'flow.call', 'procedure': 'a3'},"
                         " 'a3': {'type': 'flow.call', 'procedure': 'a4'},"
                         " 'a4': {'type': 'flow.call', 'procedure': 'a5'}, 'a5': " LOG "},"
                         " 'steps': [{'code': 'a', 'procedure': 'a1'}]}"),
        "/procedures/a1 limit_depth");
    assert_string_equal(
        definition_found("{'code': 'a', 'procedures': {"
                         " 'a1': {'type': 'flow.call', 'procedure': 'a2'},"
                         " 'a2': {'type': 'flow.call', 'procedure': 'a3'},"
                         " 'a3': {'type': 'flow.call', 'procedure': 'a4'}, 'a4': " LOG "},"
                         " 'steps': [{'code': 'a', 'procedure': {'type': 'flow.call',"
                         "  'procedure': 'a1'}}]}"),
        "/steps/0/procedure limit_depth");
}

static void test_procedures__a_long_chain_of_calls_is_no_trouble(void **state)
{
    struct buf text;

    (void)state;
    buf_init_arena(&text, &definition_mem);
    buf_text(&text, "{'code': 'a', 'steps': [], 'procedures': {");
    for (int i = 0; i < 100; i++)
        buf_printf(&text, "%s'p%d': {'type': 'flow.call', 'procedure': 'p%d'}", i == 0 ? "" : ", ",
                   i, (i + 1) % 100);
    buf_text(&text, "}}");
    buf_char(&text, '\0');
    assert_true(strstr(definition_found(text.ptr), "/procedures/p0 limit_depth") != NULL);
    buf_clear(&text);
    buf_text(&text, "{'code': 'a', 'steps': [], 'procedures': {");
    for (int i = 0; i < 101; i++)
        buf_printf(&text, "%s'p%d': " LOG, i == 0 ? "" : ", ", i);
    buf_text(&text, "}}");
    buf_char(&text, '\0');
    assert_string_equal(definition_found(text.ptr), "/procedures limit_procedures\n"
                                                    "/steps no_steps?");
}

static void test_procedures__what_is_called_counts(void **state)
{
    struct buf text;

    (void)state;
    for (int calls = 3; calls <= 4; calls++) {
        buf_init_arena(&text, &definition_mem);
        buf_text(&text, "{'code': 'a', 'procedures': {'p': [");
        for (int i = 0; i < 12; i++)
            buf_text(&text, i == 0 ? LOG : ", " LOG);
        buf_text(&text, "]}, 'steps': [{'code': 'a', 'procedure': [");
        for (int i = 0; i < calls; i++)
            buf_printf(&text, "%s{'type': 'flow.call', 'procedure': 'p'}", i == 0 ? "" : ", ");
        buf_text(&text, "]}]}");
        buf_char(&text, '\0');
        assert_string_equal(definition_found(text.ptr),
                            calls == 3 ? "" : "/steps/0/procedure limit_commands");
    }
}

static void test_procedures__what_is_handed_over_must_fit(void **state)
{
    static const struct definition_row rows[] = {
        {"'input': {'n': 1}", ""},
        {"'input': {'n': '$.input.x', 'kind': 'a'}", ""},
        {"'input': {}", "/steps/0/input/n missing_input"},
        {"'meta': {}", "/steps/0/input/n missing_input"},
        {"'input': {'n': 'x'}", "/steps/0/input/n wrong_type"},
        {"'input': {'n': 1, 'kind': 'c'}", "/steps/0/input/kind bad_value"},
        {"'input': {'n': '$.input.x', 'kindd': '$.input.y'}",
         "/steps/0/input/kindd undeclared_input did you mean 'kind'?"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'procedures': {'p': {'input': [{'name': 'n', 'type': 'integer',"
                    " 'required': true}, {'name': 'kind', 'enum': ['a', 'b']}], 'commands': [" LOG
                    "]}}, 'steps': [{'code': 'a', 'procedure': 'p', %s}]}",
                    rows);
    assert_string_equal(
        definition_found("{'code': 'a', 'procedures': {'p': {'input': [], 'commands': [" LOG
                         "]}}, 'steps': [{'code': 'a', 'procedure': [{'type': 'flow.call',"
                         " 'procedure': 'p', 'input': {'x': 1}}], 'rollback': {'procedure': 'p',"
                         " 'input': {'y': 2}}}]}"),
        "/steps/0/procedure/0/input/x undeclared_input\n/steps/0/rollback/input/y "
        "undeclared_input");
}

static void test_procedures__rollbacks_within_calls_are_known(void **state)
{
    const struct program *p;

    (void)state;
    p = definition_program("{'code': 'a', 'procedures': {'p': {'type': 'log', 'message': 'x',"
                           " 'as': 'r', 'rollback': {'type': 'log', 'message': '{{ r.message }}',"
                           " 'as': 'q'}}, 'none': " LOG "},"
                           " 'steps': [{'code': 'a', 'procedure': {'type': 'flow.if',"
                           "  'condition': 'true', 'then': {'type': 'flow.call',"
                           "  'procedure': 'p'}}}, {'code': 'b', 'procedure': 'none'}]}");
    assert_true(p->steps[0].procedure->has_rollbacks);
    assert_true(find(p, "p")->has_rollbacks);
    assert_false(p->steps[1].procedure->has_rollbacks);
    /* In a named procedure a rollback goes on behind its names. */
    assert_int_equal(find(p, "p")->commands[0].rollback.procedure->commands[0].as_slot,
                     ROOT_COUNT + 1);
    assert_true(p->slot_count >= ROOT_COUNT + 2);
}

/* --- the registry --- */

static void test_procedures__what_the_registry_holds_wrongly_is_one_finding(void **state)
{
    (void)state;
    definition_procedures = "{'bad': {'code': 'bad', 'commands': [{'type': 'lgo'}, {}]},"
                            " 'calls_bad': {'code': 'calls_bad', 'commands': [{'type': 'flow.call',"
                            "  'procedure': 'bad'}]},"
                            " 'me': {'code': 'me', 'commands': [{'type': 'flow.call',"
                            "  'procedure': 'me'}]}}";
    assert_string_equal(
        definition_found("{'code': 'a', 'steps': [{'code': 'a', 'procedure': 'bad'}]}"),
        "/steps/0/procedure broken_procedure");
    assert_text(definition_findings.items[0].message.text,
                "version 7 of the procedure 'bad' is not valid: /commands/0/type: there is no "
                "command 'lgo'");
    assert_string_equal(
        definition_found("{'code': 'a', 'steps': [{'code': 'a', 'procedure': 'calls_bad'}]}"),
        "/steps/0/procedure broken_procedure");
    assert_string_equal(
        definition_found("{'code': 'a', 'steps': [{'code': 'a', 'procedure': 'me'}]}"),
        "/steps/0/procedure broken_procedure");
}

static void test_procedures__one_of_the_registry_compiles_by_itself(void **state)
{
    const struct program *p;

    (void)state;
    definition_procedures = "{'other': {'code': 'other', 'commands': [" LOG "]}}";
    p = definition_procedure(definition_value(
        "{'code': 'p', 'name': 'P', 'description': 'x', 'version': 3, 'meta': {}, 'kind': "
        "'procedure',"
        " 'input': [{'name': 'n'}], 'commands': [{'type': 'flow.call', 'procedure': 'other',"
        " 'as': 'r'}], 'result': {'x': '$.r'}}"));
    assert_int_equal(definition_findings.count, 0);
    assert_non_null(p);
    assert_text(p->code, "p");
    assert_int_equal(p->step_count, 0);
    assert_int_equal(p->procedure_count, 2);
    assert_text(p->procedures[0]->name, "p");
    assert_int_equal(p->procedures[0]->kind, PROCEDURE_REGISTRY);
    assert_int_equal(p->procedures[0]->version, 3);
    assert_true(p->procedures[0]->declares_input);
    assert_int_equal(p->slot_count, ROOT_COUNT + 1);
}

static void test_procedures__findings_about_one_of_the_registry(void **state)
{
    static const struct definition_row rows[] = {
        {"'commands': 5", "/commands wrong_type"},
        {"'commands': []", "/commands bad_value"},
        {"'commands': [" LOG "], 'setps': 1", "/setps unknown_field"},
        {"'commands': [" LOG "], 'name': 1", "/name wrong_type"},
        {"'commands': [{'type': 'flow.call', 'procedure': 'p'}]",
         "/commands/0/procedure procedure_cycle"},
        {"'commands': [{'type': 'flow.call', 'procedure': 'round'}]",
         "/commands/0/procedure broken_procedure"},
        {"'commands': [{'type': 'wait.timer', 'duration': '1s'}]", "/commands/0 wait_not_alone"},
        {"'commands': [{'type': 'compute.transform', 'data': '$.steps.a'}]",
         "/commands/0/data expression_type:3 a procedure sees its own input, config, user,"
         " execution and now: hand over the rest in 'input'"},
        {"'commands': [{'type': 'flow.start', 'code': 'x', 'wait': true}]", ""},
    };
    char *long_text;

    (void)state;
    definition_procedures = "{'round': {'code': 'round', 'commands': [{'type': 'flow.call',"
                            " 'procedure': 'p'}]}}";
    DEFINITION_ROWS("{'code': 'p', %s}", rows);
    assert_string_equal(definition_found("{'commands': [" LOG "]}"), "/code missing_field");
    long_text = arena_alloc(&definition_mem, 66000);
    memset(long_text, 'x', 65999);
    long_text[65999] = '\0';
    assert_string_equal(definition_found(str_printf(&definition_mem,
                                                    "{'code': 'p', 'description': '%s',"
                                                    " 'commands': [" LOG "]}",
                                                    long_text)
                                             .ptr),
                        " limit_size");
}

static void test_procedures__what_is_not_known_here_may_be_elsewhere(void **state)
{
    static const struct registry partial = {.is_partial = true};
    struct findings findings = {0};
    const struct program *p = NULL;

    (void)state;
    define_compile(&definition_mem, define_env(&definition_mem), &partial, KIND_SCENARIO,
                   definition_value("{'code': 'a', 'steps': [{'code': 'a', 'procedure': 'far'},"
                                    " {'code': 'b', 'procedure': 'far'}]}"),
                   0, &findings, &p);
    assert_non_null(p);
    assert_int_equal(findings.count, 1);
    assert_true(findings.items[0].is_warning);
    assert_text(findings.items[0].code, "unknown_procedure");
    program_release(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_procedures__local_ones_have_three_forms),
        DEFINITION_TEST(test_procedures__local_ones_win_over_the_registry),
        DEFINITION_TEST(test_procedures__named_ones_see_their_own_input_alone),
        DEFINITION_TEST(test_procedures__findings_about_local_ones),
        DEFINITION_TEST(test_procedures__calls_go_three_deep),
        DEFINITION_TEST(test_procedures__a_long_chain_of_calls_is_no_trouble),
        DEFINITION_TEST(test_procedures__what_is_called_counts),
        DEFINITION_TEST(test_procedures__what_is_handed_over_must_fit),
        DEFINITION_TEST(test_procedures__rollbacks_within_calls_are_known),
        DEFINITION_TEST(test_procedures__what_the_registry_holds_wrongly_is_one_finding),
        DEFINITION_TEST(test_procedures__one_of_the_registry_compiles_by_itself),
        DEFINITION_TEST(test_procedures__findings_about_one_of_the_registry),
        DEFINITION_TEST(test_procedures__what_is_not_known_here_may_be_elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
