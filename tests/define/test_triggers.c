/* test_triggers.c - claims about `triggers`: what is found wrong, what is compiled, what they come to. */
#include "define/definition.h"
#include "define/program.h"
#include "define/trigger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define STEP "'steps': [{'code': 's', 'procedure': {'type': 'log', 'message': 'x'}}]"

static void test_triggers__what_is_wrong_with_one_is_found(void **state)
{
    static const struct definition_row rows[] = {
        {"{}", "/triggers wrong_type"},
        {"['x']", "/triggers/0 wrong_type"},
        {"[{}]", "/triggers/0/type missing_field it is \"schedule\", \"webhook\", \"event\" or "
                 "\"action\""},
        {"[{'type': 'cron'}]", "/triggers/0/type bad_value did you mean 'schedule'?"},
        {"[{'type': 'web_hook'}]", "/triggers/0/type bad_value did you mean 'webhook'?"},
        {"[{'type': 'schedule'}]", "/triggers/0/cron missing_field"},
        {"[{'type': 'schedule', 'cron': ' '}]",
         "/triggers/0/cron bad_cron:1 minute, hour, day of month, month, day of week: "
         "0 9 * * MON-FRI"},
        {"[{'type': 'schedule', 'cron': '0 9 * * *', 'timezone': 'Mars/Base', 'catchUp': 'some'}]",
         "/triggers/0/timezone bad_value\n/triggers/0/catchUp bad_value"},
        {"[{'type': 'schedule', 'cron': '0 9 * * *', 'org_id': 'x', 'when': 'true'}]",
         "/triggers/0/when unknown_field\n/triggers/0/org_id bad_value"},
        {"[{'type': 'schedule', 'cron': '0 9 * * *', 'input': {'n': '$.webhook.payload'}}]",
         "/triggers/0/input/n expression_type:3 a schedule sees $.schedule, $.config, $.meta, "
         "$.user and "
         "$.now"},
        {"[{'type': 'webhook'}]", "/triggers/0/path missing_field"},
        {"[{'type': 'webhook', 'path': '/hooks/a/b'}]",
         "/triggers/0/path bad_value did you mean 'a/b'?"},
        {"[{'type': 'webhook', 'path': 'a//b'}]", "/triggers/0/path bad_value"},
        {"[{'type': 'webhook', 'path': 'a/../b'}]", "/triggers/0/path bad_value"},
        {"[{'type': 'webhook', 'path': 'a b'}]", "/triggers/0/path bad_value"},
        {"[{'type': 'webhook', 'path': 'a', 'method': 'post'}]",
         "/triggers/0/method bad_value did you mean 'POST'?"},
        {"[{'type': 'webhook', 'path': 'a', 'verify': {'credential': 'c'}}]",
         "/triggers/0/verify one_of"},
        {"[{'type': 'webhook', 'path': 'a', 'verify': {'credential': 'c', 'scheme': 'paypal'}}]",
         "/triggers/0/verify/scheme bad_value"},
        {"[{'type': 'webhook', 'path': 'a', 'verify': {'credential': 'c', 'scheme': 'github',"
         "  'header': 'x'}}]",
         "/triggers/0/verify one_of"},
        {"[{'type': 'webhook', 'path': 'a', 'verify': {'credential': 'c', 'scheme': 'slack',"
         "  'encoding': 'hex'}}]",
         "/triggers/0/verify/encoding misplaced"},
        {"[{'type': 'webhook', 'path': 'a', 'verify': {'header': 'x y'}}]",
         "/triggers/0/verify/credential missing_field\n/triggers/0/verify/header bad_value"},
        {"[{'type': 'webhook', 'path': 'a', 'key': 5, 'id': '$.input.x'}]",
         "/triggers/0/key wrong_type\n/triggers/0/id expression_type:3 "
         "a webhook sees $.webhook, $.config, $.meta, $.user and $.now"},
        {"[{'type': 'webhook', 'path': 'a', 'when': 'webhook.body.x == 1'}]",
         "/triggers/0/when expression_type:9"},
        {"[{'type': 'webhook', 'path': 'a', 'key': 'k', 'signal': {'type': 'x'}}]",
         "/triggers/0/signal/correlation missing_field\n/triggers/0/key misplaced"},
        {"[{'type': 'webhook', 'path': 'a'}, {'type': 'webhook', 'path': 'a', 'method': 'PUT'},"
         " {'type': 'webhook', 'path': 'a', 'method': 'POST'}]",
         "/triggers/2/path duplicate_name"},
        {"[{'type': 'event', 'event': 'execution.complete'}]",
         "/triggers/0/event bad_value? did you mean 'execution.completed'?"},
        {"[{'type': 'event', 'event': '', 'when': 'event.what'}]",
         "/triggers/0/when expression_type:7 did you mean 'event.at'?\n/triggers/0/event "
         "bad_value"},
        {"[{'type': 'event', 'event': 'OrderPaid', 'when': 'record.x == 1'}]",
         "/triggers/0/when expression_type:1 an event trigger sees $.event, $.config, $.meta, "
         "$.user "
         "and $.now"},
        {"[{'type': 'action', 'object': 'deal'}, {'type': 'action', 'object': 'deal'}]",
         "/triggers/1/object duplicate_name"},
        {"[{'type': 'action', 'object': 'deal', 'input': {'deal': '$.steps.s'}}]",
         "/triggers/0/input/deal expression_type:3 an action sees $.record, $.config, $.meta, "
         "$.user "
         "and $.now"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'triggers': %s, " STEP "}", rows);
}

static void test_triggers__their_input_is_held_against_the_parameters(void **state)
{
    static const struct definition_row rows[] = {
        {"[{'type': 'schedule', 'cron': '0 9 * * *'}]", "/triggers/0/input/n missing_input"},
        {"[{'type': 'schedule', 'cron': '0 9 * * *', 'input': {'n': 'x'}}]",
         "/triggers/0/input/n wrong_type"},
        {"[{'type': 'webhook', 'path': 'a', 'input': {'n': 1, 'm': 2}}]",
         "/triggers/0/input/m undeclared_input"},
        {"[{'type': 'webhook', 'path': 'a', 'signal': {'type': 'x', 'correlation': 'y'}}]", ""},
        {"[{'type': 'action', 'object': 'deal'}]", ""},
        {"[{'type': 'event', 'event': 'x', 'input': {'n': '$.event.payload.n'}}]", ""},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'input': [{'name': 'n', 'type': 'number', 'required': true}], "
                    "'triggers': %s, " STEP "}",
                    rows);
}

static const struct trigger *first_trigger(const char *triggers, const struct program **program)
{
    *program = definition_program(
        str_printf(&definition_mem, "{'code': 'a', 'name': 'A', 'triggers': [%s], " STEP "}",
                   triggers)
            .ptr);
    assert_int_equal((*program)->trigger_count, 1);
    return (*program)->triggers;
}

static void test_triggers__what_is_written_is_compiled(void **state)
{
    const struct program *p;
    const struct trigger *t;

    (void)state;
    t = first_trigger("{'type': 'schedule', 'cron': '0 9 * * 1', 'timezone': 'Europe/Berlin', "
                      "'catchUp': 'all'}",
                      &p);
    assert_int_equal(t->type, TRIGGER_SCHEDULE);
    assert_int_equal(t->catch_up, CATCH_UP_ALL);
    assert_true(str_eq(t->cron, STR("0 9 * * 1")) && str_eq(t->timezone, STR("Europe/Berlin")));
    t = first_trigger("{'type': 'webhook', 'path': 'shop/paid', 'verify': {'credential': 'shop', "
                      "'header': 'X-Sig', 'encoding': 'base64'}}",
                      &p);
    assert_true(str_eq(t->method, STR("POST")) && str_eq(t->path, STR("shop/paid")));
    assert_true(str_eq(t->verify_header, STR("x-sig")));
    assert_int_equal(t->verify_encoding, VERIFY_BASE64);
    t = first_trigger("{'type': 'action', 'object': 'deal'}", &p);
    assert_true(str_eq(t->label, STR("A")));
}

static struct trigger_context context_of(const char *webhook)
{
    return (struct trigger_context){.webhook = definition_value(webhook),
                                    .event = value_absent(),
                                    .record = value_absent(),
                                    .config = value_absent(),
                                    .user = value_absent(),
                                    .now_us = 1000000};
}

static void test_triggers__come_to_a_start_a_signal_or_nothing(void **state)
{
    struct trigger_context context =
        context_of("{'payload': {'id': 7, 'status': 'paid'}, 'headers': {'x-id': 'd1'}}");
    struct trigger_outcome out;
    const struct program *p;
    const struct trigger *t;
    struct err err;

    (void)state;
    t = first_trigger("{'type': 'webhook', 'path': 'a', 'id': '$.webhook.headers[`x-id`]', "
                      "'when': 'webhook.payload.status == `paid`', 'key': '$.webhook.payload.id', "
                      "'input': {'order': '$.webhook.payload.id', 'at': '$.now'}}",
                      &p);
    assert_true(trigger_evaluate(&definition_mem, p, t, &context, &out, &err));
    assert_true(out.fires && str_eq(out.id, STR("d1")) && str_eq(out.key, STR("7")));
    assert_int_equal(out.signal_type.len, 0);
    assert_string_equal(definition_json(out.input),
                        definition_quote("{'order':7,'at':'1970-01-01T00:00:01Z'}"));
    context = context_of("{'payload': {'status': 'open'}, 'headers': {'x-id': 'd2'}}");
    assert_true(trigger_evaluate(&definition_mem, p, t, &context, &out, &err));
    assert_false(out.fires);
    assert_true(str_eq(out.id, STR("d2")));
    context = context_of("{'payload': {'status': 'paid'}, 'headers': {}}");
    assert_false(trigger_evaluate(&definition_mem, p, t, &context, &out, &err));
    assert_true(str_starts_with(str_of(err.message), STR("triggers[0].id: ")));
    t = first_trigger("{'type': 'webhook', 'path': 'a', 'signal': {'type': 'signed', "
                      "'correlation': '$.webhook.payload.envelope'}}",
                      &p);
    context = context_of("{'payload': {'envelope': 'e-1'}}");
    assert_true(trigger_evaluate(&definition_mem, p, t, &context, &out, &err));
    assert_true(out.fires && str_eq(out.signal_type, STR("signed")) &&
                str_eq(out.correlation, STR("e-1")));
    assert_int_equal(out.input.kind, VALUE_ABSENT);
}

static void test_triggers__topics_tell_them_apart(void **state)
{
    static const struct {
        const char *written, *topic;
    } rows[] = {
        {"{'type': 'webhook', 'path': 'a/b'}", "POST a/b"},
        {"{'type': 'webhook', 'path': 'a', 'method': 'PUT'}", "PUT a"},
        {"{'type': 'event', 'event': 'task.done'}", "task.done"},
        {"{'type': 'action', 'object': 'deal'}", "deal"},
        {"{'type': 'schedule', 'cron': '* * * * *'}", ""},
        {"5", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_true(str_eq(trigger_topic(&definition_mem, definition_value(rows[i].written)),
                           str_of(rows[i].topic)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_triggers__what_is_wrong_with_one_is_found),
        DEFINITION_TEST(test_triggers__their_input_is_held_against_the_parameters),
        DEFINITION_TEST(test_triggers__what_is_written_is_compiled),
        DEFINITION_TEST(test_triggers__come_to_a_start_a_signal_or_nothing),
        DEFINITION_TEST(test_triggers__topics_tell_them_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
