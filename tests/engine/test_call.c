/* test_call.c - claims about integration.http as the engine sees it: requests, answers, lost answers. */
#include "engine/call_rig.h"

/* --- a call --- */

static void test_call__is_in_the_commit_and_its_answer_is_the_result(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges', 'headers': {'X-Id': '7'},"
          "  'query': {'a b': ['x', 'y&'], 'n': 1}, 'body': {'sum': '=input.n'}}}]}");
    assert_string_equal(status(), "waiting");
    assert_has(waiting_for(), "'kind':'call'");
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay");
    assert_string_equal(rig_text(&rig, left()->host), HOST);
    assert_has(rig_text(&rig, left()->request_json), "'url':'" URL "?a%20b=x&a%20b=y%26&n=1'");
    assert_has(rig_text(&rig, left()->request_json), "'body':{'sum':1}");
    assert_has(rig_text(&rig, left()->request_json), "'method':'POST'");
    assert_int_equal(left()->timeout_us, 10 * SECOND);
    answer("{'status_code':201,'headers':{'x':'y'},'body':{'id':'c1'}}");
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_output(&rig, "pay"),
                        "{'status_code':201,'headers':{'x':'y'},'body':{'id':'c1'}}");
}

static void test_call__goes_on_after_a_restart(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': ["
          "  {'type': 'compute.transform', 'data': 7, 'as': 'seven'},"
          "  {'type': 'integration.http', 'url': 'http://pay.example/charges', 'as': 'got'},"
          "  {'type': 'compute.transform', 'data': ['$.seven', '$.got.body']}]}]}");
    rig_reload(&rig);
    answer("{'status_code':200,'headers':{},'body':'ok'}");
    assert_string_equal(rig_output(&rig, "pay"), "[7,'ok']");
}

/* The rows of the last commit, each as "STATUS " */
static const char *last_rows(void)
{
    struct buf out;

    buf_init_arena(&out, &rig.mem);
    for (size_t i = 0; i < rig.last.history.count; i++) {
        buf_str(&out, rig.last.history.items[i].status);
        buf_char(&out, ' ');
    }
    return rig_text(&rig, buf_view(&out));
}

static void test_answer__row_that_ends_the_attempt_records_it(void **state)
{
    (void)state;
    start(
        "{'code': 'a', 'steps': ["
        "{'code': 'pay', 'procedure': {'type': 'integration.http', 'url': 'http://pay.example/'}},"
        "{'code': 'ship', 'procedure': {'type': 'integration.http', 'url': 'http://pay.example/'},"
        " 'retry': {'maxAttempts': 2, 'delay': '1s'}}]}");
    answer_status(200);
    assert_string_equal(last_rows(), "completed call ");
    assert_string_equal(rig_text(&rig, rig.last.history.items[0].answered), ID "-pay");
    assert_int_equal(rig.last.history.items[1].answered.len, 0);
    answer_status(503);
    assert_string_equal(rig_text(&rig, rig.last.history.items[0].answered), ID "-ship");
    assert_null(strstr(last_rows(), "answer"));
}

static void test_answer__step_that_goes_on_records_it_by_a_row_of_its_own(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': ["
          "  {'type': 'integration.http', 'url': 'http://pay.example/a', 'as': 'a'},"
          "  {'type': 'integration.http', 'url': 'http://pay.example/b'}]}]}");
    answer_status(200);
    assert_string_equal(last_rows(), "answer call ");
    assert_int_equal(rig.last.history.items[1].seq, left()->seq);
    answer_status(200);
    assert_string_equal(last_rows(), "completed ");
}

static void test_call__bad_requests_fail_before_anything_is_sent(void **state)
{
    static const char *const bad[][2] = {
        {"'url':'ftp://x/'", "http:// or https://"},
        {"'url':'http:///a'", "names no host"},
        {"'url':'http://a b/'", "holds no spaces"},
        {"'url':'http://me:secret@x/'", "user and password"},
        {"'url':'http://x:99999/'", "port"},
        {"'url':'http://x/','headers':{'Host':'y'}", "written by the server"},
        {"'url':'http://x/','headers':{'A':'b\\nC: d'}", "line feeds"},
        {"'url':'http://x/','headers':{'A B':'c'}", "name of a header"},
        {"'url':'http://x/','timeout':'9999h'", "an hour"},
    };
    char scenario[512];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        snprintf(scenario, sizeof(scenario),
                 "{'code': 'a', 'steps': [{'code': 'pay',"
                 "  'procedure': {'type': 'integration.http', %s}, 'retry': {'maxAttempts': 1}}]}",
                 bad[i][0]);
        start(scenario);
        assert_string_equal(status(), "failed");
        assert_int_equal(rig.last.asks.count, 0);
        assert_has(error(), bad[i][1]);
        assert_has(error(), "'validation_");
    }
}

/* A text of so many bytes 'x' in the input, and a scenario with this call. */
static void start_with_text(size_t bytes, const char *call)
{
    char *text = arena_alloc(&rig.mem, bytes + 1);

    memset(text, 'x', bytes);
    text[bytes] = '\0';
    rig_define(&rig, str_printf(&rig.mem,
                                "{'code': 'a', 'steps': [{'code': 'pay',"
                                "  'procedure': {'type': 'integration.http', %s}}]}",
                                call)
                         .ptr);
    rig_start(&rig, str_printf(&rig.mem, "{'text':'%s'}", text).ptr);
}

static void test_call__url_that_is_too_long_fails_the_step(void **state)
{
    static const char *const calls[] = {
        "'url': 'http://x/', 'query': {'q': '$.input.text'}",
        "'url': 'http://x/{{ $.input.text }}'",
        /* What takes the place of a secret is longer than its mark. */
        "'url': 'http://x/?{{ $.secrets.a_very_long_name_of_a_credential.v }}{{ $.input.text }}'",
    };
    static const size_t sizes[] = {9000, 8192, 8192 - 53};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        start_with_text(sizes[i], calls[i]);
        assert_string_equal(status(), "failed");
        assert_int_equal(rig.last.asks.count, 0);
        assert_has(error(), "'code':'validation_url'");
        assert_has(error(), "8192 bytes");
    }
}

/* --- what an answer means --- */

static void test_answer__statuses_have_classes(void **state)
{
    static const struct {
        int status;
        const char *class;
    } rows[] = {
        {400, "business"},  {401, "business"}, {404, "business"},  {408, "transient"},
        {409, "business"},  {422, "business"}, {425, "transient"}, {429, "transient"},
        {500, "transient"}, {501, "business"}, {502, "transient"}, {503, "transient"},
        {504, "transient"}, {301, "business"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char class[64];

        start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
              "  'method': 'POST', 'url': 'http://pay.example/charges'},"
              "  'retry': {'maxAttempts': 1}}]}");
        answer_status(rows[i].status);
        assert_string_equal(status(), "failed");
        snprintf(class, sizeof(class), "'class':'%s'", rows[i].class);
        assert_has(error(), class);
        assert_has(error(), "'code':'external_status'");
    }
}

/* An answer with this status and a body of so many bytes. */
static void answer_large(int code, size_t bytes)
{
    char *text = arena_alloc(&rig.mem, bytes + 1);

    memset(text, 'x', bytes);
    text[bytes] = '\0';
    answer(str_printf(&rig.mem, "{'status_code':%d,'headers':{'content-type':'a/b'},'body':'%s'}",
                      code, text)
               .ptr);
}

static void test_answer__body_that_does_not_fit_changes_no_status(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': ["
          "  {'type': 'integration.http', 'method': 'POST', 'url': 'http://pay.example/charges',"
          "   'as': 'got'},"
          "  {'type': 'compute.transform', 'data': {'got': '$.got',"
          "   'warned': '=$.warnings.map(w, w.code)'}}],"
          "  'retry': {'maxAttempts': 2, 'delay': '1s', 'jitter': 'none'}}]}");
    answer_large(503, CONTEXT_BYTES_MAX - 50);
    assert_has(waiting_for(), "'kind':'retry'");
    rig_pass(&rig, SECOND);
    assert_true(rig_wake(&rig));
    answer_large(201, CONTEXT_BYTES_MAX - 50);
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_output(&rig, "pay"),
                        "{'got':{'status_code':201,'headers':{},'body':null,'contentType':'a/b',"
                        "'size':1048526},'warned':['external_bad_body']}");
}

static void test_answer__expect_and_classes_win(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges', 'expect': ['2xx', 404]}}]}");
    answer_status(404);
    assert_string_equal(status(), "completed");
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges', 'expect': [200]},"
          "  'retry': {'maxAttempts': 1}}]}");
    answer_status(201);
    assert_string_equal(status(), "failed");
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges',"
          "  'classes': {'4xx': 'transient', '409': 'business'}}, 'retry': {'maxAttempts': 1}}]}");
    answer_status(404);
    assert_has(error(), "'class':'transient'");
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges',"
          "  'classes': {'4xx': 'transient', '409': 'business'}}, 'retry': {'maxAttempts': 1}}]}");
    answer_status(409);
    assert_has(error(), "'class':'business'");
}

static void test_answer__a_service_may_say_the_class(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  'retry': {'maxAttempts': 1}}]}");
    answer("{'status_code':400,'headers':{},'body':{'error':{'code':'later','class':'transient',"
           "'message':'busy'}}}");
    assert_has(error(), "'class':'transient'");
    assert_has(error(), "busy");
}

static void test_answer__transient_is_tried_again_with_the_same_key_and_request(void **state)
{
    struct str first;

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges', 'body': {'at': '$.now'}},"
          "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'}}]}");
    first = str_copy(&rig.mem, left()->request_json);
    answer_status(503);
    assert_has(waiting_for(), "'kind':'retry'");
    rig_pass(&rig, 60 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(str_eq(left()->request_json, first));
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay");
    answer_status(200);
    assert_string_equal(status(), "completed");
}

/* What was asked before is asked again, also when it is asked about in between. */
static void test_answer__second_command_of_a_step_asks_for_the_same_again(void **state)
{
    struct str first;

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': ["
          "  {'type': 'integration.http', 'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  {'type': 'integration.http', 'method': 'POST', 'url': 'http://pay.example/charges',"
          "    'body': {'at': '$.now'}}],"
          "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'},"
          "  'reconcile': {'procedure': {'type': 'integration.http',"
          "    'url': 'http://pay.example/charges/1',"
          "    'result': {'outcome': '$.response.body.outcome', 'output': '$.response.body'}},"
          "    'every': '5s', 'max': 3}}]}");
    answer_status(200);
    first = str_copy(&rig.mem, left()->request_json);
    rig_pass(&rig, SECOND);
    assert_true(lose_calls());
    assert_true(rig_wake(&rig));
    answer("{'status_code':200,'headers':{},'body':{'outcome':'not_happened'}}");
    rig_pass(&rig, 60 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(str_eq(left()->request_json, first));
}

static void test_answer__retry_after_is_honoured(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  'retry': {'maxAttempts': 3, 'delay': '1s', 'maxDelay': '1h', 'jitter': 'none'}}]}");
    answer("{'status_code':429,'headers':{'retry-after':'120'},'body':null}");
    assert_int_equal(rig.x->wake_at_us - rig.now_us, 120 * SECOND);
}

static void start_patient(const char *timeout)
{
    start(str_printf(&rig.mem,
                     "{'code': 'a', 'settings': {'timeout': '%s'}, 'steps': [{'code': 'pay',"
                     "  'procedure': {'type': 'integration.http', 'method': 'POST',"
                     "  'url': 'http://pay.example/charges'},"
                     "  'retry': {'maxAttempts': 2, 'delay': '1s', 'maxDelay': '30s',"
                     "  'jitter': 'none'}}]}",
                     timeout)
              .ptr);
}

/* The service asks for this; how long the next attempt is put off, 0: there is none. */
static int64_t put_off(const char *retry_after)
{
    answer(str_printf(&rig.mem, "{'status_code':429,'headers':{'retry-after':'%s'},'body':null}",
                      retry_after)
               .ptr);
    return status_is_terminal(rig.x->status) ? 0 : rig.x->cursor.wake_at_us - rig.now_us;
}

static void wake_after(int64_t us)
{
    rig_pass(&rig, us);
    assert_true(rig_wake(&rig));
}

static void test_answer__retry_after_is_no_attempt_and_longer_than_max_delay(void **state)
{
    (void)state;
    start_patient("300d");
    assert_int_equal(put_off("3600"), 3600 * SECOND);
    wake_after(3600 * SECOND);
    assert_int_equal(put_off("9999999999"), 86400 * SECOND);
    wake_after(86400 * SECOND);
    assert_int_equal(put_off("Fri, 31 Dec 9999 23:59:59 GMT"), 86400 * SECOND);
    rig_reload(&rig);
    wake_after(86400 * SECOND);
    /* One that is not longer than the delay is an attempt as any other. */
    assert_int_equal(put_off("1"), SECOND);
    wake_after(SECOND);
    assert_int_equal(put_off("1"), 0);
    assert_has(error(), "'code':'external_status'");
}

static void test_answer__retry_after_counts_from_the_hundredth_on(void **state)
{
    int count = 0;

    (void)state;
    start_patient("300d");
    while (put_off("60") > 0) {
        wake_after(60 * SECOND);
        count++;
    }
    assert_int_equal(count, 101);
}

static void test_answer__retry_after_behind_the_deadline_is_not_waited_for(void **state)
{
    (void)state;
    start_patient("1h");
    assert_int_equal(put_off("600"), 600 * SECOND);
    wake_after(600 * SECOND);
    assert_int_equal(put_off("3600"), 0);
    assert_string_equal(status(), "failed");
    assert_has(error(), "'code':'external_status'");
    assert_has(error(), "answered 429");
}

static void test_answer__of_an_earlier_attempt_is_refused(void **state)
{
    struct event late;

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'}}]}");
    late = answer_event("{'status_code':200,'headers':{},'body':null}");
    late.answer_key = str_copy(&rig.mem, late.answer_key);
    answer_status(503);
    rig_pass(&rig, 60 * SECOND);
    assert_true(rig_wake(&rig));
    assert_false(rig_event(&rig, late));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

/* --- no answer --- */

static void test_lost__an_attempt_without_an_answer_is_tried_again_with_the_same_key(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'}}]}");
    rig_reload(&rig);
    assert_true(lose_calls());
    assert_has(waiting_for(), "'class':'indeterminate'");
    rig_pass(&rig, 60 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay");
}

static void test_lost__is_found_by_its_deadline_alone(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges', 'timeout': '2s'},"
          "  'retry': {'maxAttempts': 1}}]}");
    rig_pass(&rig, 2 * SECOND);
    assert_false(rig_wake(&rig));
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(status(), "failed");
    assert_has(error(), "'code':'timeout_call'");
    assert_has(error(), "'class':'indeterminate'");
}

static void test_lost__is_asked_about_before_anything_else(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'},"
          "  'reconcile': {'procedure': {'type': 'integration.http',"
          "    'url': 'http://pay.example/charges/1',"
          "    'result': {'outcome': '$.response.body.outcome', 'output': '$.response.body'}},"
          "    'every': '5s', 'max': 3}}]}");
    assert_true(lose_calls());
    assert_true(rig_wake(&rig));
    assert_has(rig_text(&rig, left()->key), "-reconcile-1");
    answer("{'status_code':200,'headers':{},'body':{'outcome':'succeeded','id':'c7'}}");
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_output(&rig, "pay"), "{'outcome':'succeeded','id':'c7'}");
}

static void test_lost__with_reconcile_also_202_and_500_are_asked_about(void **state)
{
    static const int open[] = {202, 500, 502, 504};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(open); i++) {
        start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
              "  'method': 'POST', 'url': 'http://pay.example/charges'},"
              "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'},"
              "  'reconcile': {'procedure': {'type': 'integration.http',"
              "    'url': 'http://pay.example/charges/1',"
              "    'result': {'outcome': '$.response.body.outcome', 'output': '$.response.body'}},"
              "    'every': '5s', 'max': 3}}]}");
        answer_status(open[i]);
        assert_has(waiting_for(), "'kind':'reconcile'");
    }
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'}}]}");
    answer_status(202);
    assert_string_equal(status(), "completed");
}

static void test_lost__last_attempt_that_may_have_happened_is_rolled_back(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'}, 'retry': {'maxAttempts': 1},"
          "  'rollback': {'type': 'compute.transform', 'data': '$.steps.pay.output'}}]}");
    answer_status(500);
    rig_settle(&rig);
    assert_string_equal(rig_trace(&rig), "pay.failed -pay");
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'}, 'retry': {'maxAttempts': 1},"
          "  'rollback': {'type': 'compute.transform', 'data': '$.steps.pay.output'}}]}");
    answer_status(422);
    rig_settle(&rig);
    assert_string_equal(rig_trace(&rig), "pay.failed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_call__is_in_the_commit_and_its_answer_is_the_result),
        CLAIM(test_call__goes_on_after_a_restart),
        CLAIM(test_answer__row_that_ends_the_attempt_records_it),
        CLAIM(test_answer__step_that_goes_on_records_it_by_a_row_of_its_own),
        CLAIM(test_call__bad_requests_fail_before_anything_is_sent),
        CLAIM(test_call__url_that_is_too_long_fails_the_step),
        CLAIM(test_answer__statuses_have_classes),
        CLAIM(test_answer__body_that_does_not_fit_changes_no_status),
        CLAIM(test_answer__expect_and_classes_win),
        CLAIM(test_answer__a_service_may_say_the_class),
        CLAIM(test_answer__transient_is_tried_again_with_the_same_key_and_request),
        CLAIM(test_answer__second_command_of_a_step_asks_for_the_same_again),
        CLAIM(test_answer__retry_after_is_honoured),
        CLAIM(test_answer__retry_after_is_no_attempt_and_longer_than_max_delay),
        CLAIM(test_answer__retry_after_counts_from_the_hundredth_on),
        CLAIM(test_answer__retry_after_behind_the_deadline_is_not_waited_for),
        CLAIM(test_answer__of_an_earlier_attempt_is_refused),
        CLAIM(test_lost__an_attempt_without_an_answer_is_tried_again_with_the_same_key),
        CLAIM(test_lost__is_found_by_its_deadline_alone),
        CLAIM(test_lost__is_asked_about_before_anything_else),
        CLAIM(test_lost__with_reconcile_also_202_and_500_are_asked_about),
        CLAIM(test_lost__last_attempt_that_may_have_happened_is_rolled_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
