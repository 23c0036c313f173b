/* test_facts.c - claims about what is derived of a definition when it is published. */
#include "define/definition.h"
#include "define/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char *facts_json(const char *definition)
{
    return definition_json(facts_of(&definition_mem, definition_value(definition)));
}

#define LOG(code, more) "{'code': '" code "', 'procedure': {'type': 'log', 'message': 'x'}" more "}"

static void test_facts__meta_of_steps_is_found_wherever_they_stand(void **state)
{
    (void)state;
    assert_string_equal(
        facts_json("{'code': 'a', 'steps': [" LOG(
            "top",
            ", 'meta': {'n': 1}") ", {'code': 'p', "
                                  "'parallel': {'branches': [[" LOG(
                                      "left",
                                      ", 'meta': {'n': 2}") "], [{'code': "
                                                            "'l', 'loop': {'for': [], 'steps': "
                                                            "[{'code': 'b', 'branch': [{'steps': "
                                                            "[" LOG("deep",
                                                                    ", 'meta': {'n': 3}") "]}]}]}}]"
                                                                                          "]}}]}"),
        definition_quote("{'stepMeta':{'top':{'n':1},'left':{'n':2},'deep':{'n':3}}}"));
}

static void test_facts__sensitive_names_of_input_and_forms_stand_apart(void **state)
{
    (void)state;
    assert_string_equal(
        facts_json("{'code': 'a', 'input': [{'name': 'card', 'sensitive': true}, {'name': 'n'}],"
                   " 'steps': [{'code': 'p', 'parallel': {'branches': [[{'code': 'w', 'procedure':"
                   " [{'type': 'wait.signal', 'signalType': 'x', 'form': [{'name': 'pin',"
                   " 'sensitive': true}, {'name': 'ok'}]}]}]]}}]}"),
        definition_quote("{'sensitive':['card'],'answers':['pin']}"));
}

static void test_facts__access_and_triggers_are_as_written(void **state)
{
    (void)state;
    assert_string_equal(facts_json("{'code': 'a', 'steps': [], 'access': {'start': ['admin']},"
                                   " 'triggers': [{'type': 'schedule'}]}"),
                        definition_quote("{'access':{'start':['admin']},"
                                         "'triggers':[{'type':'schedule'}]}"));
}

static void test_facts__say_what_is_named(void **state)
{
    struct value facts;

    (void)state;
    assert_string_equal(
        facts_json("{'code': 'a', 'steps': [{'code': 's', 'procedure': 'price', 'rollback': 'undo',"
                   " 'when': 'fn.vat(1) > 2 && config.rate > 3'}, {'code': 't', 'procedure':"
                   " {'type': 'flow.call', 'procedure': 'price'}}, {'code': 'u', 'procedure':"
                   " 'bank.charge'}, {'code': 'v', 'procedure': {'type': 'flow.start', 'code':"
                   " 'refund', 'input': {'x': 'see {{ $.config.?city }} or {{ fn.vat(2) }}',"
                   " 'y': '=$.config[\\u0022zone\\u0022]', 'z': 'myfn.vat, reconfig.a'}}}]}"),
        definition_quote("{'uses':{'procedure':['price','undo'],'function':['vat'],"
                         "'config':['rate','city','zone'],'process':['refund']}}"));
    facts = facts_of(&definition_mem,
                     definition_value("{'params': [], 'body': 'fn.other(1)', 'name': 'x'}"));
    assert_true(facts_use(facts, "function", STR("other")));
    assert_false(facts_use(facts, "function", STR("othe")));
    assert_false(facts_use(facts, "config", STR("other")));
}

static void test_facts__most_definitions_have_none(void **state)
{
    (void)state;
    assert_string_equal(facts_json("{'code': 'a', 'steps': [" LOG("s", "") "]}"), "{}");
}

static void test_facts__as_text_they_say_which_rules_hold(void **state)
{
    struct str text = facts_text(&definition_mem, STR("{\"steps\":[]}"));

    (void)state;
    assert_string_equal(str_copy(&definition_mem, text).ptr, definition_quote("{'rules':1}"));
    assert_int_equal(facts_rules(&definition_mem, text), RULES_NEWEST);
    assert_int_equal(facts_rules(&definition_mem, STR_NONE), RULES_FIRST);
    assert_int_equal(facts_rules(&definition_mem, STR("{\"access\":{}}")), RULES_FIRST);
    assert_int_equal(facts_rules(&definition_mem, STR("{\"rules\":\"1\"}")), RULES_FIRST);
    assert_int_equal(facts_rules(&definition_mem, STR("{\"rules\":99}")), RULES_FIRST);
}

static void test_facts__drafts_may_hold_anything(void **state)
{
    static const char *const texts[] = {
        "1",
        "[]",
        "{'steps': 1}",
        "{'steps': [1, null, {'code': 2, 'meta': 3}]}",
        "{'input': {'name': 'x'}, 'steps': [{'parallel': [], 'branch': {}, 'loop': 1}]}",
        "{'steps': [{'code': 'a', 'meta': {'x': 1}}, {'code': 'a', 'meta': {'x': 2}}]}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_string_equal(facts_json(texts[i]), "{}");
    assert_int_equal(facts_text(&definition_mem, STR("{")).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_facts__meta_of_steps_is_found_wherever_they_stand),
        DEFINITION_TEST(test_facts__sensitive_names_of_input_and_forms_stand_apart),
        DEFINITION_TEST(test_facts__access_and_triggers_are_as_written),
        DEFINITION_TEST(test_facts__say_what_is_named),
        DEFINITION_TEST(test_facts__most_definitions_have_none),
        DEFINITION_TEST(test_facts__as_text_they_say_which_rules_hold),
        DEFINITION_TEST(test_facts__drafts_may_hold_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
