/* test_findings.c - claims about what is found wrong with a definition, where, and in which words. */
#include "base/buf.h"
#include "define/definition.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_findings__about_a_scenario(void **state)
{
    static const struct definition_row rows[] = {
        {"1", " wrong_type"},
        {"[]", " wrong_type"},
        {"null", " wrong_type"},
        {"{}", "/code missing_field\n/steps missing_field"},
        {"{'code': 'a', 'steps': {}}", "/steps wrong_type"},
        {"{'code': 1, 'steps': []}", "/code wrong_type\n/steps no_steps?"},
        {"{'code': '', 'steps': []}", "/code bad_code\n/steps no_steps?"},
        {"{'code': 'Order', 'steps': []}",
         "/code bad_code did you mean 'order'?\n/steps no_steps?"},
        {"{'code': 'a-b', 'steps': []}", "/code bad_code did you mean 'a_b'?\n/steps no_steps?"},
        {"{'code': '1a', 'steps': []}", "/code bad_code\n/steps no_steps?"},
        {"{'code': 'a', 'stepz': [], 'steps': []}",
         "/stepz unknown_field did you mean 'steps'?\n/steps no_steps?"},
        {"{'code': 'a', 'on_error': 'hold', 'steps': []}",
         "/on_error unknown_field did you mean 'onError'?\n/steps no_steps?"},
        {"{'code': 'a', 'x~y/z': 1, 'steps': []}", "/x~0y~1z unknown_field\n/steps no_steps?"},
        {"{'code': 'a', 'onError': 'continue', 'steps': []}",
         "/onError bad_value\n/steps no_steps?"},
        {"{'code': 'a', 'onError': null, 'steps': []}", "/onError wrong_type\n/steps no_steps?"},
        {"{'code': 'a', 'name': 1, 'description': [], 'meta': 2, 'steps': []}",
         "/name wrong_type\n/description wrong_type\n/meta wrong_type\n/steps no_steps?"},
        {"{'code': 'a', 'triggers': [{'type': 'schedule'}], 'procedures': {'p': {}}, 'steps': []}",
         "/triggers/0/cron missing_field\n/procedures/p/commands missing_field\n/steps no_steps?"},
        {"{'code': 'a', 'access': [], 'steps': []}", "/access wrong_type\n/steps no_steps?"},
        {"{'code': 'a', 'access': {'start': ['operater', 'admin', 'group:a']}, 'steps': []}",
         "/access/start/0 bad_value? did you mean 'operator'?\n/steps no_steps?"},
        {"{'code': 'a', 'access': {'start': 'x', 'view': [1], 'run': []}, 'steps': []}",
         "/access/run unknown_field\n/access/start wrong_type\n/access/view/0 wrong_type\n"
         "/steps no_steps?"},
        {"{'code': 'a', 'access': {'start': ['', 'group:', 'group:a', 'admin']}, 'steps': []}",
         "/access/start/0 bad_value\n/access/start/1 bad_value\n/steps no_steps?"},
        {"{'code': 'a', 'result': '$.steps.x', 'steps': []}",
         "/steps no_steps?\n/result expression_type:9"},
    };

    (void)state;
    DEFINITION_ROWS("%s", rows);
}

static void test_findings__about_settings(void **state)
{
    static const struct definition_row rows[] = {
        {"[]", "/settings wrong_type"},
        {"{'timeout': 30}", "/settings/timeout wrong_type"},
        {"{'timeout': 'soon'}", "/settings/timeout bad_duration"},
        {"{'timeout': '-1h'}", "/settings/timeout bad_duration"},
        {"{'timeout': '0s'}", "/settings/timeout bad_duration"},
        {"{'timeOut': '1s'}", "/settings/timeOut unknown_field did you mean 'timeout'?"},
        {"{'key': 5}", "/settings/key wrong_type"},
        {"{'key': '$.steps.a.id'}", "/settings/key expression_type:9"},
        {"{'onKeyConflict': 'wait'}", "/settings/onKeyConflict bad_value"},
        {"{'concurrency': 5, 'rate': '1/s', 'priority': 1}",
         "/settings/concurrency not_supported_yet\n/settings/rate not_supported_yet\n"
         "/settings/priority not_supported_yet"},
        {"{'retryPolicy': {'maxAttempts': 0, 'delay': 5, 'backoff': 0.5, 'jitter': 'some',"
         " 'maxDelay': 'x', 'on': 'y', 'notOn': [1], 'tries': 1}}",
         "/settings/retryPolicy/tries unknown_field\n"
         "/settings/retryPolicy/maxAttempts bad_value\n"
         "/settings/retryPolicy/delay wrong_type\n"
         "/settings/retryPolicy/backoff bad_value\n"
         "/settings/retryPolicy/maxDelay bad_duration\n"
         "/settings/retryPolicy/jitter bad_value\n"
         "/settings/retryPolicy/on wrong_type\n"
         "/settings/retryPolicy/notOn/0 wrong_type"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'settings': %s, 'steps': [{'code': 'a',"
                    " 'procedure': {'type': 'log', 'message': 'x'}}]}",
                    rows);
}

static void test_findings__about_parameters(void **state)
{
    static const struct definition_row rows[] = {
        {"{}", "/input wrong_type"},
        {"[1]", "/input/0 wrong_type"},
        {"[{}]", "/input/0/name missing_field"},
        {"[{'name': 'a b'}]", "/input/0/name bad_name"},
        {"[{'name': 'a', 'type': 'text'}]", "/input/0/type bad_value did you mean 'string'?"},
        {"[{'name': 'a', 'required': 'yes', 'sensitive': 1}]",
         "/input/0/required wrong_type\n/input/0/sensitive wrong_type"},
        {"[{'name': 'a'}, {'name': 'a'}]", "/input/1/name duplicate_name"},
        {"[{'name': 'a', 'typ': 'string'}]", "/input/0/typ unknown_field did you mean 'type'?"},
        {"[{'name': 'a', 'type': 'integer', 'default': 1.5}]", "/input/0/default wrong_type"},
        {"[{'name': 'a', 'type': 'uuid', 'default': 'x'}]", "/input/0/default wrong_type"},
        {"[{'name': 'a', 'type': 'string', 'enum': []}]", "/input/0/enum bad_value"},
        {"[{'name': 'a', 'type': 'string', 'enum': 'x'}]", "/input/0/enum wrong_type"},
        {"[{'name': 'a', 'type': 'string', 'enum': ['x', 2]}]", "/input/0/enum/1 wrong_type"},
        {"[{'name': 'a', 'type': 'string', 'enum': ['x'], 'default': 'y'}]",
         "/input/0/default bad_value"},
        {"[{'name': 'a', 'type': 'string', 'min': 1}]", "/input/0/min misplaced"},
        {"[{'name': 'a', 'type': 'number', 'max': '9'}]", "/input/0/max wrong_type"},
        {"[{'name': 'a', 'type': 'number', 'min': 2, 'max': 1.5}]", "/input/0/max bad_value"},
        {"[{'name': 'a', 'type': 'number', 'max': 1, 'default': 2}]", "/input/0/default bad_value"},
        {"[{'name': 'a', 'type': 'number', 'minLength': 2}]", "/input/0/minLength misplaced"},
        {"[{'name': 'a', 'type': 'string', 'minLength': 2, 'maxLength': 1}]",
         "/input/0/maxLength bad_value"},
        {"[{'name': 'a', 'type': 'string', 'minLength': -1}]", "/input/0/minLength bad_value"},
        {"[{'name': 'a', 'type': 'string', 'pattern': '('}]", "/input/0/pattern bad_value"},
        {"[{'name': 'a', 'type': 'string', 'pattern': '`\\\\d\\n'}]", ""},
        {"[{'name': 'a', 'pattern': 'x'}]", "/input/0/pattern misplaced"},
        {"[{'name': 'a', 'type': 'number', 'multiline': true}]", "/input/0/multiline misplaced"},
        {"[{'name': 'a', 'type': 'array', 'fields': []}]", "/input/0/fields misplaced"},
        {"[{'name': 'a', 'type': 'object', 'items': {}}]", "/input/0/items misplaced"},
        {"[{'name': 'a', 'type': 'object', 'fields': [{'type': 'string'}]}]",
         "/input/0/fields/0/name missing_field"},
        {"[{'name': 'a', 'type': 'object', 'fields': [{'name': 'b'}, {'name': 'b'}]}]",
         "/input/0/fields/1/name duplicate_name"},
        {"[{'name': 'a', 'type': 'array', 'items': {'required': true}}]",
         "/input/0/items/required unknown_field"},
        {"[{'name': 'a', 'type': 'array', 'items': {'type': 'array', 'items': {'type': 'array',"
         " 'items': {'type': 'array', 'items': {'type': 'array', 'items': {'type': 'array',"
         " 'items': {}}}}}}}]",
         "/input/0/items/items/items/items/items/items limit_params"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'input': %s, 'steps': [{'code': 'a',"
                    " 'procedure': {'type': 'log', 'message': 'x'}}]}",
                    rows);
}

#define LOG "'procedure': {'type': 'log', 'message': 'x'}"

static void test_findings__about_steps(void **state)
{
    static const struct definition_row rows[] = {
        {"1", "/steps/0 wrong_type"},
        {"{" LOG "}", "/steps/0/code missing_field"},
        {"{'code': null, " LOG "}", "/steps/0/code wrong_type"},
        {"{'code': 'a.b', " LOG "}", "/steps/0/code bad_code did you mean 'a_b'?"},
        {"{'code': 'end', " LOG "}", "/steps/0/code reserved_code"},
        {"{'code': 'next', " LOG "}", "/steps/0/code reserved_code"},
        {"{'code': 'break', " LOG "}", "/steps/0/code reserved_code"},
        {"{'code': 'a', " LOG "}, {'code': 'a', " LOG "}", "/steps/1/code duplicate_code"},
        {"{'code': 'a', 'when': 'true', 'whenName': 'it is due', " LOG "}", ""},
        {"{'code': 'a', 'whenName': 'it is due', " LOG "}", "/steps/0/whenName misplaced?"},
        {"{'code': 'a', 'when': 'true', 'whenName': 1, " LOG "}", "/steps/0/whenName wrong_type"},
        {"{'code': 'a', 'goto': [{'when': 'true', 'name': 'it is late', 'to': 'end'}], " LOG "}",
         ""},
        {"{'code': 'a', 'goto': [{'name': [], 'to': 'end'}], " LOG "}",
         "/steps/0/goto/0/name wrong_type"},
        {"{'code': 'a', 'branch': [{'name': 'yes', 'when': 'true', 'steps': [{'code': 'b', " LOG
         "}]}]}",
         ""},
        {"{'code': 'a'}", "/steps/0/procedure missing_field"},
        {"{'code': 'a', 'procedure': 'create_customer'}", "/steps/0/procedure unknown_procedure"},
        {"{'code': 'a', 'procedure': 5}", "/steps/0/procedure wrong_type"},
        {"{'code': 'a', 'procedure': []}", "/steps/0/procedure bad_value"},
        {"{'code': 'a', 'procedure': [1]}", "/steps/0/procedure/0 wrong_type"},
        {"{'code': 'a', 'handler': 'x', " LOG "}",
         "/steps/0/handler unknown_field did you mean 'procedure'?"},
        {"{'code': 'a', 'onError': 'ignore', " LOG "}",
         "/steps/0/onError bad_value did you mean 'continue'?"},
        {"{'code': 'a', 'name': {}, 'input': [], 'meta': [], " LOG "}",
         "/steps/0/name wrong_type\n/steps/0/input wrong_type\n/steps/0/meta wrong_type"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [%s]}", rows);
}

static void test_findings__about_commands(void **state)
{
    static const struct definition_row rows[] = {
        {"{'type': 'integration.http', 'credential': 'erp', 'path': '=input.a'}",
         "/steps/0/procedure/path url_value?"},
        {"{'type': 'integration.http', 'credential': 'erp', 'path': '=url.raw(input.a)'}", ""},
        {"{'type': 'integration.http', 'url': 'https://a.example', 'headers': {'S': '=hash.hmac("
         "input.a, $.secrets.a.b)'}}",
         "/steps/0/procedure/headers not_supported_yet"},
        {"{'type': 'integration.http', 'url': 'https://a.example/{{ url.encode(input.a) }}'}",
         "/steps/0/procedure/url url_value?"},
        {"{'type': 'integration.http', 'url': 'https://a.example/{{ input.a + url.raw(input.a) "
         "}}'}",
         "/steps/0/procedure/url expression_syntax:36"},
        {"{}", "/steps/0/procedure/type missing_field"},
        {"{'type': 1}", "/steps/0/procedure/type wrong_type"},
        {"{'type': 'wait.singal'}",
         "/steps/0/procedure/type unknown_command did you mean 'wait.signal'?"},
        {"{'type': 'message.publish'}", "/steps/0/procedure/routing_key missing_field"},
        /* Nodes of schemas are no commands. */
        {"{'type': 'sleep', 'duration': '1s'}",
         "/steps/0/procedure/type unknown_command did you mean 'wait.timer'?"},
        {"{'type': 'task.create'}", "/steps/0/procedure/title missing_field"},
        {"{'type': 'task.create', 'title': 'x', 'timeout': '1d', 'keep': true}",
         "/steps/0/procedure/timeout misplaced?\n/steps/0/procedure/keep misplaced?"},
        {"{'type': 'task.create', 'title': 'x', 'wait': true, 'onTimeout': 'continue'}",
         "/steps/0/procedure/onTimeout misplaced?"},
        {"{'type': 'task.create', 'title': 'x', 'form': [{'nam': 'a'}], 'due_at': 'soon'}",
         "/steps/0/procedure/due_at bad_timestamp\n/steps/0/procedure/form/0/nam unknown_field did "
         "you mean 'name'?\n/steps/0/procedure/form/0/name missing_field"},
        {"{'type': 'task.create', 'title': 'x', 'form': [{'name': 'pin', 'sensitive': true}]}",
         "/steps/0/procedure/form/0/sensitive misplaced"},
        {"[{'type': 'task.create', 'title': 'x'}, {'type': 'log', 'message': 'm'}]",
         "/steps/0/procedure/0 wait_not_alone"},
        {"{'type': 'compute.transform'}", "/steps/0/procedure/data missing_field"},
        {"{'type': 'compute.transform', 'date': 1, 'data': 1}",
         "/steps/0/procedure/date unknown_field did you mean 'data'?"},
        {"{'type': 'compute.transform', 'data': 1, 'object': 'x'}",
         "/steps/0/procedure/object unknown_field"},
        {"{'type': 'compute.set', 'values': [1]}", "/steps/0/procedure/values wrong_type"},
        {"{'type': 'compute.set', 'values': ['$.input.x']}",
         "/steps/0/procedure/values wrong_type"},
        {"{'type': 'compute.set', 'values': '=[1, $.input.x]'}",
         "/steps/0/procedure/values expression_type"},
        {"{'type': 'compute.fail', 'code': 'x'}", "/steps/0/procedure/message missing_field"},
        {"{'type': 'compute.fail', 'code': 5, 'message': 'x', 'class': 'bad'}",
         "/steps/0/procedure/code wrong_type\n/steps/0/procedure/class bad_value"},
        {"{'type': 'record.create', 'object': '', 'data': 'x', 'ifExists': 'no'}",
         "/steps/0/procedure/object bad_value\n/steps/0/procedure/data wrong_type\n"
         "/steps/0/procedure/ifExists bad_value"},
        {"{'type': 'record.create', 'object': {'a': '$.now'}, 'data': {}}",
         "/steps/0/procedure/object wrong_type"},
        {"{'type': 'record.create', 'object': '=size($.input.x)', 'data': {}}",
         "/steps/0/procedure/object expression_type"},
        {"{'type': 'record.update', 'object': 'o', 'id': '1', 'data': {},"
         " 'expectedVersion': '3'}",
         "/steps/0/procedure/expectedVersion wrong_type"},
        {"{'type': 'record.query', 'object': 'o', 'where': 'record.x = 1', 'limit': -1,"
         " 'orderBy': [1]}",
         "/steps/0/procedure/where expression_syntax:10\n"
         "/steps/0/procedure/orderBy/0 wrong_type\n/steps/0/procedure/limit wrong_type"},
        {"{'type': 'record.query', 'object': 'o', 'where': 'record'}", ""},
        {"{'type': 'record.query', 'object': 'o', 'where': '1'}",
         "/steps/0/procedure/where expression_type:1"},
        {"{'type': 'log', 'message': 'x', 'level': 'loud'}", "/steps/0/procedure/level bad_value"},
        {"{'type': 'wait.signal', 'signalType': []}", "/steps/0/procedure/signalType bad_value"},
        {"{'type': 'wait.signal', 'signalType': ['a', 1]}",
         "/steps/0/procedure/signalType/1 wrong_type"},
        {"{'type': 'wait.signal', 'signalType': ['$.input.x', '=1 + 1']}",
         "/steps/0/procedure/signalType/1 wrong_type"},
        {"{'type': 'wait.signal', 'signalType': 'a', 'timeout': 'later'}",
         "/steps/0/procedure/timeout bad_duration"},
        {"{'type': 'wait.signal', 'signalType': 'a', 'onTimeout': 'retry'}",
         "/steps/0/procedure/onTimeout bad_value\n/steps/0/procedure/onTimeout misplaced?"},
        {"{'type': 'wait.timer', 'duration': 5}", "/steps/0/procedure/duration wrong_type"},
        {"{'type': 'wait.timer', 'duration': '5 minutes'}",
         "/steps/0/procedure/duration bad_duration"},
        {"{'type': 'wait.timer', 'duration': '-5m'}", "/steps/0/procedure/duration bad_duration"},
        {"{'type': 'wait.timer', 'duration': '=`1 hour`'}",
         "/steps/0/procedure/duration bad_duration"},
        {"{'type': 'wait.timer', 'duration': '$.now'}",
         "/steps/0/procedure/duration expression_type"},
        {"{'type': 'wait.until', 'timestamp': 'tomorrow'}",
         "/steps/0/procedure/timestamp bad_timestamp"},
        {"{'type': 'wait.until', 'timestamp': 1767225600}",
         "/steps/0/procedure/timestamp wrong_type"},
        {"[{'type': 'log', 'message': 'x'}, {'type': 'wait.timer', 'duration': '1s'}]",
         "/steps/0/procedure/1 wait_not_alone"},
        {"[{'type': 'wait.timer', 'duration': '1s'}]", ""},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': %s}]}", rows);
}

static void test_findings__about_named_results(void **state)
{
    static const struct definition_row rows[] = {
        {"{'type': 'log', 'message': 'x', 'as': 5}", "/steps/0/procedure/0/as wrong_type"},
        {"{'type': 'log', 'message': 'x', 'as': 'a b'}", "/steps/0/procedure/0/as bad_name"},
        {"{'type': 'log', 'message': 'x', 'as': 'in'}", "/steps/0/procedure/0/as bad_name"},
        {"{'type': 'log', 'message': 'x', 'as': 'input'}", "/steps/0/procedure/0/as bad_name"},
        {"{'type': 'log', 'message': 'x', 'as': 'loop'}", "/steps/0/procedure/0/as bad_name"},
        {"{'type': 'log', 'message': 'x', 'as': 'x'}, {'type': 'log', 'message': 'x', 'as': 'x'}",
         "/steps/0/procedure/1/as duplicate_name"},
        {"{'type': 'compute.transform', 'data': '$.later'},"
         "{'type': 'log', 'message': 'x', 'as': 'later'}",
         "/steps/0/procedure/0/data expression_type:3"},
        {"{'type': 'compute.transform', 'data': '$.self', 'as': 'self'}",
         "/steps/0/procedure/0/data expression_type:3"},
        {"{'type': 'log', 'message': 'x', 'when': '1', 'result': ['=']}",
         "/steps/0/procedure/0/when expression_type:1\n"
         "/steps/0/procedure/0/result/0 expression_syntax:2"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': [%s]}]}", rows);
    /* The names of one step are not those of the next. */
    assert_string_equal(
        definition_found(
            "{'code': 'a', 'steps': ["
            "{'code': 'a', 'procedure': {'type': 'log', 'message': 'x', 'as': 'mine'}},"
            "{'code': 'b', 'procedure': {'type': 'compute.transform', 'data': '$.mine'}}]}"),
        "/steps/1/procedure/data expression_type:3");
}

static void test_findings__limits_are_named(void **state)
{
    struct buf text;

    (void)state;
    buf_init_arena(&text, &definition_mem);
    buf_text(&text, "{'code': 'a', 'steps': [");
    for (int i = 0; i < 201; i++)
        buf_printf(&text, "%s{'code': 's%d', " LOG "}", i == 0 ? "" : ",", i);
    buf_text(&text, "]}");
    buf_char(&text, '\0');
    assert_string_equal(definition_found(text.ptr), "/steps limit_steps");

    buf_clear(&text);
    buf_text(&text, "{'code': 'a', 'steps': [{'code': 'a', 'procedure': [");
    for (int i = 0; i < 51; i++)
        buf_printf(&text, "%s{'type': 'log', 'message': 'x'}", i == 0 ? "" : ",");
    buf_text(&text, "]}]}");
    buf_char(&text, '\0');
    assert_string_equal(definition_found(text.ptr), "/steps/0/procedure limit_commands");

    buf_clear(&text);
    buf_text(&text, "{'code': 'a', 'steps': [], 'input': [");
    for (int i = 0; i < 201; i++)
        buf_printf(&text, "%s{'name': 'p%d'}", i == 0 ? "" : ",", i);
    buf_text(&text, "]}");
    buf_char(&text, '\0');
    assert_string_equal(definition_found(text.ptr), "/input limit_params\n/steps no_steps?");

    buf_clear(&text);
    buf_text(&text, "{'code': 'a', 'steps': [], 'result': ");
    for (int i = 0; i < 200; i++)
        buf_char(&text, '[');
    for (int i = 0; i < 200; i++)
        buf_char(&text, ']');
    buf_text(&text, "}");
    buf_char(&text, '\0');
    (void)definition_found(text.ptr);
    assert_true(str_eq(definition_findings.items[1].code, STR("limit_depth")));
}

static void test_findings__a_flood_is_cut_off(void **state)
{
    struct buf text;

    (void)state;
    buf_init_arena(&text, &definition_mem);
    buf_text(&text, "{'code': 'a', 'steps': []");
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, ", 'unknown%d': 1", i);
    buf_text(&text, "}");
    buf_char(&text, '\0');
    assert_null(definition_compile(definition_value(text.ptr)));
    assert_int_equal(definition_findings.count, 200);
    assert_true(findings_have_errors(&definition_findings));
}

static void test_findings__long_names_are_cut_between_characters(void **state)
{
    struct buf text;
    struct value v;
    struct err err;

    (void)state;
    for (int shift = 0; shift < 4; shift++) {
        buf_init_arena(&text, &definition_mem);
        buf_printf(&text, "{'%.*s", shift, "xxxx");
        for (int i = 0; i < 400; i++)
            buf_text(&text, "é");
        buf_text(&text, "': 1}");
        buf_char(&text, '\0');
        assert_null(definition_compile(definition_value(text.ptr)));
        /* The reader of JSON refuses what is not UTF-8. */
        assert_true(json_read(
            &definition_mem,
            str_of(definition_json(findings_value(&definition_mem, &definition_findings))), &v,
            &err));
    }
}

static void test_findings__are_shown_in_one_shape(void **state)
{
    (void)state;
    (void)definition_compile(definition_value(
        "{'code': 'a', 'steps': [{'code': 'pay', 'when': '$.steps.pya', 'nmae': 'x', " LOG "}]}"));
    assert_string_equal(
        definition_json(findings_value(&definition_mem, &definition_findings)),
        "[{\"pointer\":\"/steps/0/nmae\",\"step\":\"pay\",\"code\":\"unknown_field\","
        "\"message\":\"there is no field 'nmae' here\",\"severity\":\"error\","
        "\"hint\":\"did you mean 'name'?\",\"fix\":{\"pointer\":\"/steps/0\",\"value\":{"
        "\"code\":\"pay\",\"when\":\"$.steps.pya\",\"name\":\"x\",\"procedure\":{"
        "\"type\":\"log\",\"message\":\"x\"}},\"label\":\"call it 'name'\"}},"
        "{\"pointer\":\"/steps/0/when\",\"step\":\"pay\",\"code\":\"expression_type\","
        "\"message\":\"undeclared reference to 'steps.pya'\",\"column\":9,"
        "\"severity\":\"error\",\"hint\":\"did you mean 'steps.pay'?\","
        "\"fix\":{\"pointer\":\"/steps/0/when\",\"value\":\"$.steps.pay\","
        "\"label\":\"write \\\"$.steps.pay\\\"\"}}]");
    (void)definition_compile(definition_value("{'code': 'a', 'steps': []}"));
    assert_string_equal(definition_json(findings_value(&definition_mem, &definition_findings)),
                        "[{\"pointer\":\"/steps\",\"code\":\"no_steps\",\"message\":\"there are no "
                        "steps, so nothing will happen\",\"severity\":\"warning\"}]");
}

static void test_findings__messages_are_for_people(void **state)
{
    static const struct definition_row rows[] = {
        {"{'code': 'a', 'onError': 'x', 'steps': []}",
         "onError must be \"compensate\", \"retry\", \"fail_fast\" or \"hold\""},
        {"{'code': 'a', 'onError': 1, 'steps': []}",
         "onError must be \"compensate\", \"retry\", \"fail_fast\" or \"hold\", not a number"},
        {"{'code': 'a', 'steps': {}}", "steps must be a list of steps, not an object"},
        {"{'code': 'a', 'steps': [true]}", "each item must be an object, not true"},
        {"[]", "the definition must be an object, not a list"},
        {"{'code': 'a', 'settings': {'timeout': '1 hour'}, 'steps': []}",
         "timeout must be a duration such as \"30s\" or \"1h30m\""},
        {"{'code': 'a', 'steps': [{'code': 'a', 'when': '1', " LOG "}]}",
         "this must be true or false, and it is of type int"},
        {"{'code': 'a', 'steps': [{'code': 'a', 'when': 'steps.a.error.class == `x`', " LOG "}]}",
         "'steps.a.error.class' is never \"x\", but \"transient\", \"business\" or "
         "\"indeterminate\""},
        {"{'code': 'a', 'steps': [{'code': 'a', 'retry': {'maxAttempts': 1.5}, " LOG "}]}",
         "maxAttempts must be a whole number, not a number with a fraction"},
        {"{'code': 'a', 'steps': [{'code': 'a', 'procedure': {'type': 'record.query', 'object':"
         " 'o', 'limit': -1}}]}",
         "limit must be a whole number, not below zero, not a number below zero"},
        {"{'code': 'a', 'steps': [{'code': 'a', 'procedure': {'type': 'wait.signal',"
         " 'signalType': 's', 'timeout': '1s', 'onTimeout': 'b'}}]}",
         "onTimeout must be \"fail\", \"continue\" or {\"to\": the code of a step}"},
        {"{'code': 'a', 'input': [{'name': 'n', 'type': 'number'}], 'steps': [{'code': 'a',"
         " 'when': 'input.n == `5`', " LOG "}]}",
         "'input.n' is never of type string, but a number"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        (void)definition_found(rows[i].part);
        assert_string_equal(
            str_copy(&definition_mem, definition_findings.items[0].message.text).ptr,
            rows[i].expected);
    }
}

static void test_findings__about_waits_beyond_the_deadline(void **state)
{
    static const struct definition_row rows[] = {
        {"'steps': [{'code': 'w', 'procedure': {'type': 'wait.timer', 'duration': '45d'}}]",
         "/steps/0/procedure/duration wait_beyond_deadline?"},
        {"'steps': [{'code': 'w', 'procedure': [{'type': 'wait.signal', 'signalType': 'x',"
         " 'timeout': '31d'}]}]",
         "/steps/0/procedure/0/timeout wait_beyond_deadline?"},
        {"'settings': {'timeout': '60d'}, 'steps': [{'code': 'w', 'procedure': {'type':"
         " 'wait.timer', 'duration': '45d'}}]",
         ""},
        {"'settings': {'timeout': '1h'}, 'steps': [{'code': 'w', 'procedure': {'type':"
         " 'wait.timer', 'duration': '61m'}}]",
         "/steps/0/procedure/duration wait_beyond_deadline?"},
        {"'steps': [{'code': 'w', 'procedure': {'type': 'wait.timer', 'duration': '30d'}}]", ""},
        {"'steps': [{'code': 'w', 'procedure': {'type': 'wait.timer', 'duration': '=input.d'}}]",
         ""},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', %s}", rows);
}

#define QUERY_5000                                                                                 \
    "{'code': 'a', 'steps': [{'code': 's', 'procedure': {'type': 'record.query', 'object': 'x',"   \
    " 'limit': 5000}}]}"

/* The program of a definition, as it is saved or as it was stored before; NULL: it is refused. */
static const struct program *compiled(const char *text, bool is_stored)
{
    const struct registry registry = {.is_stored = is_stored};
    const struct program *program;

    definition_findings.count = 0;
    define_compile(&definition_mem, define_env(&definition_mem), &registry, KIND_SCENARIO,
                   definition_value(text), 1, &definition_findings, &program);
    if (program != NULL)
        program_release(program);
    return program;
}

static void test_findings__stricter_rules_hold_only_when_a_definition_is_saved(void **state)
{
    (void)state;
    assert_string_equal(definition_found(QUERY_5000), "/steps/0/procedure/limit bad_value");
    assert_null(compiled(QUERY_5000, false));
    assert_non_null(compiled(QUERY_5000, true));
    assert_int_equal(definition_findings.count, 0);
    /* What such a version names was published before, too: the version of each is 7. */
    definition_procedures =
        "{'old': {'commands': [{'type': 'record.query', 'object': 'x', 'limit': 5000}]}}";
    assert_string_equal(
        definition_found("{'code': 'a', 'steps': [{'code': 's', 'procedure': 'old'}]}"), "");
    definition_procedures = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_findings__about_a_scenario),
        DEFINITION_TEST(test_findings__about_settings),
        DEFINITION_TEST(test_findings__about_parameters),
        DEFINITION_TEST(test_findings__about_steps),
        DEFINITION_TEST(test_findings__about_commands),
        DEFINITION_TEST(test_findings__about_waits_beyond_the_deadline),
        DEFINITION_TEST(test_findings__stricter_rules_hold_only_when_a_definition_is_saved),
        DEFINITION_TEST(test_findings__about_named_results),
        DEFINITION_TEST(test_findings__limits_are_named),
        DEFINITION_TEST(test_findings__a_flood_is_cut_off),
        DEFINITION_TEST(test_findings__long_names_are_cut_between_characters),
        DEFINITION_TEST(test_findings__are_shown_in_one_shape),
        DEFINITION_TEST(test_findings__messages_are_for_people),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
