/*
 * test_define_mutation.c - whatever a definition holds, compiling it ends with
 * a program or with an error, never with both or neither, and never badly.
 *
 * Valid definitions are damaged at random, from a fixed seed: as JSON values
 * (parts removed, swapped, replaced) and as text.
 */
#include "base/buf.h"
#include "define/definition.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char *const seeds[] = {
    "{'code': 'order', 'name': 'Order', 'version': 1, 'description': 'x',"
    " 'input': [{'name': 'id', 'type': 'uuid', 'required': true},"
    "  {'name': 'n', 'type': 'integer', 'default': 1, 'enum': [1, 2]}],"
    " 'onError': 'hold', 'settings': {'timeout': '30d', 'key': '{{ input.id }}',"
    "  'onKeyConflict': 'join', 'retryPolicy': {'maxAttempts': 3, 'delay': '5s', 'backoff': 2}},"
    " 'access': {'start': ['a'], 'view': ['group:b']}, 'meta': {'a': 1},"
    " 'result': {'total': '$.steps.sum.total', 'all': ['=1 + 1', '\\'x\\'']},"
    " 'steps': ["
    "  {'code': 'sum', 'name': 'Sum', 'when': '$.input.n > 0', 'input': {'a': '$.input.id'},"
    "   'onError': 'continue', 'meta': {}, 'goto': null,"
    "   'procedure': {'type': 'compute.transform', 'data': {'total': '=$.input.n * 2'}}},"
    "  {'code': 'store', 'procedure': ["
    "   {'type': 'record.create', 'object': 'order', 'id': '$.input.id', 'as': 'made',"
    "    'data': {'n': '$.input.n', 'd': ['{{ input.id }}-{{ input.n }}']}, 'ifExists': 'merge'},"
    "   {'type': 'record.query', 'object': 'order', 'where': 'record.n == 1', 'limit': 5},"
    "   {'type': 'log', 'level': 'info', 'message': '{{ made.id }}', 'when': 'made != null',"
    "    'result': {'x': '$.response'}}]},"
    "  {'code': 'wait', 'procedure': {'type': 'wait.signal', 'signalType': ['a', 'b'],"
    "   'match': '$.signal.payload.id.matches(`^[a-z]+$`)', 'timeout': '24h',"
    "   'onTimeout': 'continue'}},"
    "  {'code': 'pause', 'procedure': {'type': 'wait.timer', 'duration': '1h30m'}},"
    "  {'code': 'later', 'procedure': {'type': 'wait.until', 'timestamp': '2026-01-31'}},"
    "  {'code': 'stop', 'procedure': {'type': 'compute.fail', 'code': 'x', 'message': 'y'}}]}",
    "{'code': 'a', 'steps': [{'code': 'a', 'procedure': {'type': 'compute.set',"
    " 'values': {'x': {'y': [{'z': '$.variables.x'}]}}}}], 'triggers': [], 'procedures': {}}",
    "{'code': 'whole', 'onError': 'compensate', 'procedures': {"
    "  'charge': {'input': [{'name': 'n', 'type': 'integer', 'required': true}], 'commands': ["
    "   {'type': 'record.create', 'object': 'p', 'data': {'n': '$.input.n'}, 'as': 'made',"
    "    'rollback': {'type': 'record.delete', 'object': 'p', 'id': '$.made.id'}},"
    "   {'type': 'flow.call', 'procedure': 'note', 'optional': true}], 'result': '$.made'},"
    "  'note': [{'type': 'log', 'message': 'x'}]},"
    " 'steps': ["
    "  {'code': 'pay', 'procedure': 'charge', 'input': {'n': '$.input.n'}, 'timeout': '30s',"
    "   'retry': {'maxAttempts': 3, 'delay': '1s', 'backoff': 2, 'on': ['external_*']},"
    "   'rollback': {'procedure': 'pay.refund', 'input': {'id': '$.steps.pay.id'}},"
    "   'reconcile': {'procedure': 'pay.find', 'every': '5s', 'max': 3}},"
    "  {'code': 'choose', 'branch': [{'when': '$.input.n > 1', 'steps': ["
    "    {'code': 'ask', 'procedure': {'type': 'wait.signal', 'signalType': 'ok',"
    "     'timeout': '1h', 'onTimeout': {'to': 'done'}, 'form': [{'name': 'x'}],"
    "     'reminder': {'every': '1h', 'max': 2, 'procedure': 'note'}}, 'goto': 'done'}]},"
    "   {'steps': []}]},"
    "  {'code': 'each', 'loop': {'for': '$.input.list', 'as': 'line', 'max': 5,"
    "   'collect': '$.loop.line', 'onError': 'continue', 'steps': ["
    "    {'code': 'one', 'goto': [{'when': '$.loop.index > 2', 'to': 'break'}], 'procedure': ["
    "     {'type': 'flow.if', 'condition': '$.loop.line > 1', 'then': [{'type': 'compute.validate',"
    "      'rules': [{'expr': 'true', 'code': 'x', 'message': 'y'}]}], 'else': ["
    "      {'type': 'flow.try', 'commands': [{'type': 'compute.fail', 'code': 'x',"
    "       'message': 'y'}], 'catch': {'type': 'log', 'message': '{{ error.code }}'}}]},"
    "     {'type': 'flow.match', 'expression': '$.input.k', 'cases': {'a': [], 'b': ["
    "      {'type': 'compute.aggregate', 'items': [1], 'by': 'item', 'fields': {'s': {"
    "       'op': 'sum', 'of': 'item'}}}]}, 'default': {'type': 'flow.start', 'code': 'x'}}]}]}},"
    "  {'code': 'again', 'loop': {'while': '$.steps.each.count > 1', 'steps': [{'code': 'tick',"
    "   'procedure': {'type': 'log', 'message': 'x'}, 'goto': 'next'}]}},"
    "  {'code': 'done', 'procedure': {'type': 'log', 'message': 'x'}, 'goto': 'end'}]}",
    /* a graph with every type of node, an edge for failures, a circle and a wait that jumps */
    "{'code': 'graph', 'result': '$.variables.n', 'nodes': [{'id': 's', 'type': 'start', 'config': "
    "{'trigger': {'type': 'webhook', 'path': 'x'}}}, {'id': 'a', 'type': 'http_request', 'retry': "
    "{'maxAttempts': 2}, 'config': {'url': 'https://a.example/{{ input.x }}'}}, {'id': 'c', "
    "'type': "
    "'condition', 'config': {'cases': [{'branch': 'ok', 'expression': 'steps.a.output.status_code "
    "== "
    "200'}, {'branch': 'no', 'expression': 'false'}]}}, {'id': 'n', 'type': 'variable_set', "
    "'config': "
    "{'name': 'n', 'value': '=variables.n + 1'}}, {'id': 'm', 'type': 'math', 'config': "
    "{'operation': "
    "'divide', 'a': '$.variables.n', 'b': 2}}, {'id': 'w', 'type': 'sleep', 'config': {'duration': "
    "'1m'}}, {'id': 'r', 'type': 'rabbitmq_publish', 'config': {'routing_key': 'k', 'body': "
    "'$.steps.m.output'}}, {'id': 'q', 'type': 'wait.signal', 'config': {'signalType': 'go', "
    "'timeout': '1h', 'onTimeout': {'to': 'l'}}}, {'id': 'l', 'type': 'log', 'config': {'message': "
    "'{{ steps.a.error.code }}'}}, {'id': 'b', 'type': 'condition', 'config': {'expression': "
    "'true'}},"
    " {'id': 'e', 'type': 'end'}], 'edges': [{'source': 's', 'target': 'a'}, {'source': 'a', "
    "'target': 'c'}, {'source': 'a', 'target': 'l', 'branch': 'error'}, {'source': 'c', 'target': "
    "'n',"
    " 'branch': 'ok'}, {'source': 'c', 'target': 'a', 'branch': 'no'}, {'source': 'c', 'target': "
    "'e', "
    "'branch': 'default'}, {'source': 'n', 'target': 'm'}, {'source': 'm', 'target': 'w'}, "
    "{'source': "
    "'w', 'target': 'r'}, {'source': 'r', 'target': 'q'}, {'source': 'q', 'target': 'b'}, "
    "{'source': "
    "'b', 'target': 'a', 'branch': 'true'}, {'source': 'b', 'target': 'e', 'branch': 'false'}, "
    "{'source': 'l', 'target': 'e'}]}",
};

enum { SEEDS = ARRAY_SIZE(seeds) };

/* What a part is replaced with. */
static const char *const pieces[] = {
    "null",
    "true",
    "0",
    "-1",
    "1e308",
    "''",
    "'x'",
    "'$.'",
    "'='",
    "'{{'",
    "'$.steps.a'",
    "'=$.input.n +'",
    "'{{ x }}'",
    "[]",
    "{}",
    "[[[]]]",
    "{'a': null}",
    "'wait.timer'",
    "'1h'",
    "'\\''",
    "'record.get'",
    "[1, 'a']",
    "{'to': 'a'}",
    "'=\\'x\\'.matches(`[`)'",
    "'end'",
    "'input'",
    "9007199254740993",
    "'=[1].map(x, x)'",
    "'charge'",
    "'next'",
    "'pay.refund'",
    "[{'when': 'true', 'to': 'done'}]",
    "{'type': 'flow.call', 'procedure': 'charge'}",
    "{'type': 'wait.timer', 'duration': '1s'}",
    "{'while': 'true', 'steps': []}",
    "[{'code': 'x', 'procedure': {'type': 'log', 'message': 'x'}, 'goto': 'x'}]",
};

static uint64_t seed_state;

static uint32_t draw(uint32_t below)
{
    seed_state = seed_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed_state >> 33) % below;
}

/* A copy of `v` in which, on average, one of `rarity` parts is damaged. */
static struct value damage(struct value v, uint32_t rarity)
{
    struct value_entry *entries;
    struct value *items, made;
    size_t count = 0, duplicate;

    if (draw(rarity) == 0)
        return definition_value(pieces[draw(ARRAY_SIZE(pieces))]);
    if (v.kind == VALUE_LIST) {
        items = ARENA_ARRAY(&definition_mem, (size_t)v.len * 2, struct value);
        for (uint32_t i = 0; i < v.len; i++) {
            if (draw(rarity) != 0)
                items[count++] = damage(v.items[i], rarity);
            if (draw(rarity) == 0)
                items[count++] = v.items[draw(v.len)];
        }
        return value_list(items, count);
    }
    if (v.kind != VALUE_MAP)
        return v;
    entries = ARENA_ARRAY(&definition_mem, v.len, struct value_entry);
    for (uint32_t i = 0; i < v.len; i++) {
        struct value_entry e = v.map->entries[i];
        struct str key = value_text(e.key);
        if (draw(rarity) == 0)
            continue;
        if (draw(rarity) == 0 && key.len > 0)
            e.key = value_string(str_slice(key, 0, draw((uint32_t)key.len)));
        if (draw(rarity) == 0)
            e.value = v.map->entries[draw(v.len)].value;
        e.value = damage(e.value, rarity);
        entries[count++] = e;
    }
    made = value_map_make(&definition_mem, entries, count, &duplicate);
    return made.kind == VALUE_ABSENT ? v : made;
}

/* As a schema when it has nodes, else as a scenario. */
static void check(struct value definition)
{
    const struct program *p = value_map_member(definition, STR("nodes")).kind != VALUE_ABSENT
                                  ? definition_schema(definition)
                                  : definition_compile(definition);

    if ((p == NULL) != findings_have_errors(&definition_findings))
        fail_msg("%s: %s", p == NULL ? "neither program nor error" : "program and error",
                 definition_json(definition));
    for (size_t i = 0; i < definition_findings.count; i++)
        assert_true(definition_findings.items[i].message.text.len > 0);
    (void)definition_json(findings_value(&definition_mem, &definition_findings));
}

static void test_mutation__damaged_values_end_with_a_program_or_an_error(void **state)
{
    static const uint32_t rarities[] = {300, 100, 30, 8};
    unsigned programs = 0;

    (void)state;
    for (uint32_t run = 0; run < 4000; run++) {
        (void)definition_set_up(NULL);
        seed_state = run;
        check(damage(definition_value(seeds[run % SEEDS]), rarities[run % 4]));
        programs += !findings_have_errors(&definition_findings);
        (void)definition_tear_down(NULL);
    }
    /* Neither everything nor nothing, or this test shows little. */
    assert_in_range(programs, 200, 3000);
}

static void test_mutation__damaged_texts_end_with_a_program_or_an_error(void **state)
{
    static const char bytes[] = "\"\"{}[]:,$.=\\0123abc'`()+ \n";
    unsigned readable = 0;

    (void)state;
    for (uint32_t run = 0; run < 4000; run++) {
        const char *quoted;
        char *text;
        struct value v;
        struct err err;

        (void)definition_set_up(NULL);
        seed_state = run + 1000000;
        quoted = definition_quote(seeds[run % SEEDS]);
        text = arena_copy(&definition_mem, quoted, strlen(quoted));
        for (uint32_t i = 0; i <= run % 3; i++)
            text[draw((uint32_t)strlen(text))] = bytes[draw(sizeof(bytes) - 1)];
        if (json_read(&definition_mem, str_of(text), &v, &err)) {
            readable++;
            check(v);
        }
        (void)definition_tear_down(NULL);
    }
    assert_in_range(readable, 500, 3900);
}

static void test_mutation__damaged_input_is_checked(void **state)
{
    (void)state;
    for (uint32_t run = 0; run < 2000; run++) {
        struct findings findings = {0};
        struct value out = value_absent();
        const struct program *p;

        (void)definition_set_up(NULL);
        seed_state = run + 2000000;
        p = definition_program(seeds[0]);
        define_check_input(
            &definition_mem, p,
            damage(definition_value("{'id': '0190b5a2-7c3e-7d11-8f60-2b1f5c9e4a77', 'n': 2}"), 4),
            &out, &findings);
        assert_int_equal(out.kind, VALUE_MAP);
        (void)definition_tear_down(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutation__damaged_values_end_with_a_program_or_an_error),
        cmocka_unit_test(test_mutation__damaged_texts_end_with_a_program_or_an_error),
        cmocka_unit_test(test_mutation__damaged_input_is_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
