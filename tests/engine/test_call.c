/* test_call.c - claims about integration.http as the engine sees it. */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define ID "01020304-0506-7708-890a-0b0c0d0e0f10"
#define URL "http://pay.example/charges"
#define HOST "http://pay.example:80"

#define POST(more) "{'type':'integration.http','method':'POST','url':'" URL "'" more "}"
#define SCENARIO(steps) "{'code':'a','steps':[" steps "]}"
#define NO_RETRY ",'retry':{'maxAttempts':1}"
#define RETRY ",'retry':{'maxAttempts':3,'delay':'1m','jitter':'none'}"
#define UNDO ",'rollback':{'type':'compute.transform','data':'$.steps.pay.output'}"
#define ASK                                                                                        \
    ",'reconcile':{'procedure':{'type':'integration.http','url':'" URL                             \
    "/1','result':{'outcome':'$.response.body.outcome','output':'$.response.body'}},'every':'5s'," \
    "'max':3}"

static void start(const char *scenario)
{
    rig_define(&rig, scenario);
    rig_start(&rig, "{'n':1}");
}

static const char *waiting_for(void)
{
    return rig_text(&rig, rig.x->waiting_for_json);
}

static const char *error(void)
{
    return rig_text(&rig, rig.x->error_json);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in %s", part, text);
}

static const char *status(void)
{
    return status_name(rig.x->status);
}

/* The call that left with the last commit. */
static const struct ask *left(void)
{
    assert_int_equal(rig.last.asks.count, 1);
    return &rig.last.asks.items[0];
}

static struct event answer_event(const char *answer)
{
    return (struct event){.kind = EVENT_ANSWER,
                          .answer_key = rig.x->cursor.awaited,
                          .answer_seq = rig.x->cursor.asked_seq,
                          .answer_output = rig_value(&rig, answer),
                          .answer_error = value_absent()};
}

static void answer(const char *json)
{
    assert_true(rig_event(&rig, answer_event(json)));
}

static void answer_status(int code)
{
    char json[100];

    snprintf(json, sizeof(json), "{'status_code':%d,'headers':{},'body':null}", code);
    answer(json);
}

static bool lose_calls(void)
{
    return rig_event(
        &rig, (struct event){.kind = EVENT_ANSWER,
                             .answer_seq = rig.x->cursor.asked_seq,
                             .answer_output = value_absent(),
                             .answer_error = rig_value(&rig, "{'code':'external_unknown','class':"
                                                             "'indeterminate','message':'lost'}")});
}

/* --- a call --- */

static void test_call__is_in_the_commit_and_its_answer_is_the_result(void **state)
{
    (void)state;
    start(SCENARIO("{'code':'pay','procedure':" POST(
        ",'headers':{'X-Id':'7'},'query':{'a b':['x','y&'],'n':1},'body':{'sum':'=input.n'}") "}"));
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
    start(SCENARIO("{'code':'pay','procedure':[{'type':'compute.transform','data':7,'as':'seven'},"
                   "{'type':'integration.http','url':'" URL
                   "','as':'got'},{'type':'compute.transform','data':['$.seven','$.got.body']}]}"));
    rig_reload(&rig);
    answer("{'status_code':200,'headers':{},'body':'ok'}");
    assert_string_equal(rig_output(&rig, "pay"), "[7,'ok']");
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
                 SCENARIO("{'code':'pay','procedure':{'type':'integration.http',%s}" NO_RETRY "}"),
                 bad[i][0]);
        start(scenario);
        assert_string_equal(status(), "failed");
        assert_int_equal(rig.last.asks.count, 0);
        assert_has(error(), bad[i][1]);
        assert_has(error(), "'validation_");
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

        start(SCENARIO("{'code':'pay','procedure':" POST("") NO_RETRY "}"));
        answer_status(rows[i].status);
        assert_string_equal(status(), "failed");
        snprintf(class, sizeof(class), "'class':'%s'", rows[i].class);
        assert_has(error(), class);
        assert_has(error(), "'code':'external_status'");
    }
}

static void test_answer__expect_and_classes_win(void **state)
{
    (void)state;
    start(SCENARIO("{'code':'pay','procedure':" POST(",'expect':['2xx',404]") "}"));
    answer_status(404);
    assert_string_equal(status(), "completed");
    start(SCENARIO("{'code':'pay','procedure':" POST(",'expect':[200]") NO_RETRY "}"));
    answer_status(201);
    assert_string_equal(status(), "failed");
    start(SCENARIO("{'code':'pay','procedure':" POST(
        ",'classes':{'4xx':'transient','409':'business'}") NO_RETRY "}"));
    answer_status(404);
    assert_has(error(), "'class':'transient'");
    start(SCENARIO("{'code':'pay','procedure':" POST(
        ",'classes':{'4xx':'transient','409':'business'}") NO_RETRY "}"));
    answer_status(409);
    assert_has(error(), "'class':'business'");
}

static void test_answer__a_service_may_say_the_class(void **state)
{
    (void)state;
    start(SCENARIO("{'code':'pay','procedure':" POST("") NO_RETRY "}"));
    answer("{'status_code':400,'headers':{},'body':{'error':{'code':'later','class':'transient',"
           "'message':'busy'}}}");
    assert_has(error(), "'class':'transient'");
    assert_has(error(), "busy");
}

static void test_answer__transient_is_tried_again_with_the_same_key_and_request(void **state)
{
    struct str first;

    (void)state;
    start(SCENARIO("{'code':'pay','procedure':" POST(",'body':{'at':'$.now'}") RETRY "}"));
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
    start(SCENARIO("{'code':'pay','procedure':[" POST("") "," POST(
        ",'body':{'at':'$.now'}") "]" RETRY ASK "}"));
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
    start(SCENARIO("{'code':'pay','procedure':" POST(
        "") ",'retry':{'maxAttempts':3,'delay':'1s','maxDelay':'1h','jitter':'none'}}"));
    answer("{'status_code':429,'headers':{'retry-after':'120'},'body':null}");
    assert_int_equal(rig.x->wake_at_us - rig.now_us, 120 * SECOND);
}

static void test_answer__of_an_earlier_attempt_is_refused(void **state)
{
    struct event late;

    (void)state;
    start(SCENARIO("{'code':'pay','procedure':" POST("") RETRY "}"));
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
    start(SCENARIO("{'code':'pay','procedure':" POST("") RETRY "}"));
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
    start(SCENARIO("{'code':'pay','procedure':" POST(",'timeout':'2s'") NO_RETRY "}"));
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
    start(SCENARIO("{'code':'pay','procedure':" POST("") RETRY ASK "}"));
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
        start(SCENARIO("{'code':'pay','procedure':" POST("") RETRY ASK "}"));
        answer_status(open[i]);
        assert_has(waiting_for(), "'kind':'reconcile'");
    }
    start(SCENARIO("{'code':'pay','procedure':" POST("") RETRY "}"));
    answer_status(202);
    assert_string_equal(status(), "completed");
}

static void test_lost__last_attempt_that_may_have_happened_is_rolled_back(void **state)
{
    (void)state;
    start(SCENARIO("{'code':'pay','procedure':" POST("") NO_RETRY UNDO "}"));
    answer_status(500);
    rig_settle(&rig);
    assert_string_equal(rig_trace(&rig), "pay.failed -pay");
    start(SCENARIO("{'code':'pay','procedure':" POST("") NO_RETRY UNDO "}"));
    answer_status(422);
    rig_settle(&rig);
    assert_string_equal(rig_trace(&rig), "pay.failed");
}

/* --- room --- */

static struct map hosts;
static struct call_host host;
static struct call_room room = {.hosts = &hosts, .limit = 2, .left = 100};

static void busy_with(size_t count)
{
    host = (struct call_host){.name = STR(HOST), .under_way = count};
    map_init(&hosts, &rig.mem);
    map_put(&hosts, host.name, &host);
}

static bool wake_with_room(void)
{
    return rig_event(&rig, (struct event){.kind = EVENT_WAKE, .room = &room});
}

static void start_with_room(const char *scenario)
{
    rig_define(&rig, scenario);
    rig.room = &room;
    rig_start(&rig, "{'n':1}");
    rig.room = NULL;
}

static void test_room__a_busy_host_makes_the_call_wait_without_an_attempt(void **state)
{
    (void)state;
    busy_with(2);
    start_with_room(SCENARIO("{'code':'pay','procedure':" POST("") "}"));
    assert_int_equal(rig.last.asks.count, 0);
    assert_has(waiting_for(), "'queued':true");
    rig_reload(&rig);
    assert_false(wake_with_room());
    /* Whoever was to tell it of room may have ended: it looks itself. */
    rig_pass(&rig, 30 * SECOND);
    assert_true(wake_with_room());
    assert_has(waiting_for(), "'queued':true");
    assert_false(wake_with_room());
    busy_with(1);
    assert_true(wake_with_room());
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay");
    answer_status(200);
    assert_string_equal(status(), "completed");
}

static void test_room__branches_of_one_turn_share_it(void **state)
{
    (void)state;
    busy_with(1);
    start_with_room(SCENARIO("{'code':'all','parallel':{'branches':[[{'code':'x','procedure':" POST(
        "") "}],[{'code':'y','procedure':" POST("") "}]]}}"));
    assert_int_equal(rig.last.asks.count, 1);
    assert_has(waiting_for(), "'queued':true");
}

/* --- cancelling --- */

static void test_cancel__waits_for_the_answer_of_a_call_before_it_rolls_back(void **state)
{
    (void)state;
    start(SCENARIO("{'code':'pay','procedure':" POST("") UNDO "}"));
    assert_true(rig_cancel(&rig, "enough"));
    assert_string_equal(status(), "compensating");
    assert_has(waiting_for(), "'kind':'call'");
    rig_reload(&rig);
    answer("{'status_code':200,'headers':{},'body':{'id':'c9'}}");
    rig_settle(&rig);
    assert_string_equal(status(), "cancelled");
    assert_string_equal(rig_trace(&rig), "pay -pay");
}

static void test_cancel__a_call_that_failed_meanwhile_has_nothing_to_roll_back(void **state)
{
    (void)state;
    start(SCENARIO("{'code':'pay','procedure':" POST("") RETRY UNDO "}"));
    assert_true(rig_cancel(&rig, "enough"));
    answer_status(422);
    rig_settle(&rig);
    assert_string_equal(status(), "cancelled");
    assert_string_equal(rig_trace(&rig), "pay.failed");
}

static void test_cancel__a_lost_call_is_asked_about_or_rolled_back(void **state)
{
    (void)state;
    start(SCENARIO("{'code':'pay','procedure':" POST("") RETRY UNDO "}"));
    assert_true(rig_cancel(&rig, "enough"));
    assert_true(lose_calls());
    rig_settle(&rig);
    assert_string_equal(status(), "cancelled");
    assert_string_equal(rig_trace(&rig), "pay.failed -pay");
    start(SCENARIO("{'code':'pay','procedure':" POST("") RETRY ASK UNDO "}"));
    assert_true(rig_cancel(&rig, "enough"));
    assert_true(lose_calls());
    assert_true(rig_wake(&rig));
    assert_has(rig_text(&rig, left()->key), "-reconcile-1");
    answer("{'status_code':200,'headers':{},'body':{'outcome':'not_happened'}}");
    rig_settle(&rig);
    assert_string_equal(status(), "cancelled");
    assert_string_equal(rig_trace(&rig), "?pay pay.failed");
}

static void test_cancel__no_further_command_of_the_step_leaves(void **state)
{
    (void)state;
    start(SCENARIO("{'code':'pay','procedure':[" POST("") "," POST("") "]" UNDO "}"));
    assert_true(rig_cancel(&rig, "enough"));
    answer_status(200);
    assert_int_equal(rig.last.asks.count, 0);
    rig_settle(&rig);
    assert_string_equal(status(), "cancelled");
}

static void test_cancel__a_queued_call_has_not_happened(void **state)
{
    (void)state;
    busy_with(2);
    start_with_room(SCENARIO("{'code':'pay','procedure':" POST("") UNDO "}"));
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_string_equal(status(), "cancelled");
    assert_string_equal(rig_trace(&rig), "");
}

/* --- held --- */

static void hold_by_deadline(void)
{
    rig_define(&rig, "{'code':'a','onError':'hold','settings':{'timeout':'5s'},'steps':[{'code':"
                     "'pay','procedure':" POST(",'timeout':'30s'") "}]}");
    rig_start(&rig, "{'n':1}");
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(), "'kind':'incident'");
}

static void test_held__the_answer_is_kept_until_an_operator_goes_on(void **state)
{
    (void)state;
    hold_by_deadline();
    answer("{'status_code':200,'headers':{},'body':'done'}");
    assert_has(waiting_for(), "'kind':'incident'");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_int_equal(rig.last.asks.count, 0);
    assert_string_equal(status(), "completed");
}

static void test_held__without_an_answer_it_is_tried_again(void **state)
{
    (void)state;
    hold_by_deadline();
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay");
    answer_status(200);
    assert_string_equal(status(), "completed");
}

static void test_held__a_step_that_is_skipped_forgets_the_answer(void **state)
{
    (void)state;
    hold_by_deadline();
    answer("{'status_code':200,'headers':{},'body':'done'}");
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP, .output = value_absent()}));
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_trace(&rig), "pay2.skipped");
}

/* --- rolling back by a call --- */

/* Room comes while it is rolled back: it stays where it is. */
static void test_rollback__a_call_that_waited_for_room_goes_on(void **state)
{
    (void)state;
    busy_with(0);
    start_with_room(SCENARIO("{'code':'pay','procedure':" POST("") ",'rollback':" POST(
        "") "},{'code':'no','procedure':{'type':'compute.fail','code':'x',"
            "'message':'y'}}"));
    busy_with(2);
    rig.room = &room;
    answer_status(200);
    assert_has(waiting_for(), "'queued':true");
    busy_with(1);
    assert_true(wake_with_room());
    answer_status(200);
    rig.room = NULL;
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "pay no.failed -pay");
}

static void test_rollback__a_call_undoes_what_a_call_did(void **state)
{
    (void)state;
    start(SCENARIO("{'code':'pay','procedure':" POST(
        "") ",'rollback':{'type':'integration.http','method':'DELETE','url':'" URL
            "/{{ $.steps.pay.output.body.id }}'}},{'code':'no','procedure':{'type':'compute.fail',"
            "'code':'x','message':'y'}}"));
    answer("{'status_code':200,'headers':{},'body':{'id':'c1'}}");
    assert_string_equal(status(), "compensating");
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay-rollback");
    assert_has(rig_text(&rig, left()->request_json), "/charges/c1");
    answer_status(204);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "pay no.failed -pay");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_call__is_in_the_commit_and_its_answer_is_the_result),
        CLAIM(test_call__goes_on_after_a_restart),
        CLAIM(test_call__bad_requests_fail_before_anything_is_sent),
        CLAIM(test_answer__statuses_have_classes),
        CLAIM(test_answer__expect_and_classes_win),
        CLAIM(test_answer__a_service_may_say_the_class),
        CLAIM(test_answer__transient_is_tried_again_with_the_same_key_and_request),
        CLAIM(test_answer__second_command_of_a_step_asks_for_the_same_again),
        CLAIM(test_answer__retry_after_is_honoured),
        CLAIM(test_answer__of_an_earlier_attempt_is_refused),
        CLAIM(test_lost__an_attempt_without_an_answer_is_tried_again_with_the_same_key),
        CLAIM(test_lost__is_found_by_its_deadline_alone),
        CLAIM(test_lost__is_asked_about_before_anything_else),
        CLAIM(test_lost__with_reconcile_also_202_and_500_are_asked_about),
        CLAIM(test_lost__last_attempt_that_may_have_happened_is_rolled_back),
        CLAIM(test_room__a_busy_host_makes_the_call_wait_without_an_attempt),
        CLAIM(test_room__branches_of_one_turn_share_it),
        CLAIM(test_cancel__waits_for_the_answer_of_a_call_before_it_rolls_back),
        CLAIM(test_cancel__a_call_that_failed_meanwhile_has_nothing_to_roll_back),
        CLAIM(test_cancel__a_lost_call_is_asked_about_or_rolled_back),
        CLAIM(test_cancel__no_further_command_of_the_step_leaves),
        CLAIM(test_cancel__a_queued_call_has_not_happened),
        CLAIM(test_held__the_answer_is_kept_until_an_operator_goes_on),
        CLAIM(test_held__without_an_answer_it_is_tried_again),
        CLAIM(test_held__a_step_that_is_skipped_forgets_the_answer),
        CLAIM(test_rollback__a_call_that_waited_for_room_goes_on),
        CLAIM(test_rollback__a_call_undoes_what_a_call_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
