/* test_call_stopped.c - claims about calls that wait for capacity, are cancelled, held, or roll back. */
#include "base/map.h"
#include "engine/call_rig.h"
#include "engine/commit/call_capacity.h"

/* --- capacity --- */

static struct map hosts;
static struct call_host host;
static struct call_capacity capacity = {.hosts = &hosts, .limit = 2, .left = 100};

static void busy_with(size_t count)
{
    host = (struct call_host){.name = STR(HOST), .in_flight = count};
    map_init(&hosts, &rig.mem);
    map_put(&hosts, host.name, &host);
}

static bool wake_with_capacity(void)
{
    return rig_event(&rig, (struct event){.kind = EVENT_WAKE, .capacity = &capacity});
}

static void start_with_capacity(const char *scenario)
{
    rig_define(&rig, scenario);
    rig.capacity = &capacity;
    rig_start(&rig, "{'n':1}");
    rig.capacity = NULL;
}

static void test_capacity__a_busy_host_makes_the_call_wait_without_an_attempt(void **state)
{
    (void)state;
    busy_with(2);
    start_with_capacity("{'code': 'a', 'steps': [{'code': 'pay',"
                        "  'procedure': {'type': 'integration.http', 'method': 'POST',"
                        "    'url': 'http://pay.example/charges'}}]}");
    assert_int_equal(rig.last.asks.count, 0);
    assert_has(waiting_for(), "'queued':true");
    rig_reload(&rig);
    assert_false(wake_with_capacity());
    /* Whoever was to notify it of capacity may have ended: it looks itself. */
    rig_pass(&rig, 30 * SECOND);
    assert_true(wake_with_capacity());
    assert_has(waiting_for(), "'queued':true");
    assert_false(wake_with_capacity());
    busy_with(1);
    assert_true(wake_with_capacity());
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay");
    answer_status(200);
    assert_string_equal(status(), "completed");
}

static void test_capacity__branches_of_one_turn_share_it(void **state)
{
    (void)state;
    busy_with(1);
    start_with_capacity(
        "{'code': 'a', 'steps': [{'code': 'all',"
        "  'parallel': {'branches': ["
        "    [{'code': 'x', 'procedure': {'type': 'integration.http', 'method': 'POST',"
        "      'url': 'http://pay.example/charges'}}],"
        "    [{'code': 'y', 'procedure': {'type': 'integration.http', 'method': 'POST',"
        "      'url': 'http://pay.example/charges'}}]]}}]}");
    assert_int_equal(rig.last.asks.count, 1);
    assert_has(waiting_for(), "'queued':true");
}

/* --- nodes --- */

static int64_t epoch_over;

static bool is_epoch_over(const void *context, int64_t epoch)
{
    (void)context;
    return epoch == epoch_over;
}

/* A call that the node of epoch 7 makes; from then on this is a node of epoch 8. */
static void call_of_another_node(const char *scenario)
{
    epoch_over = 0;
    busy_with(0);
    capacity.epoch_is_over = is_epoch_over;
    capacity.epoch = 7;
    start_with_capacity(scenario);
    assert_int_equal(rig.last.asks.items[0].epoch, 7);
    rig_reload(&rig);
    capacity.epoch = 8;
}

static void forget_nodes(void)
{
    capacity.epoch_is_over = NULL;
    capacity.epoch = 0;
}

#define PAY_TWICE                                                                                  \
    "{'code': 'pay', 'procedure': {'type': 'integration.http', 'method': 'POST',"                  \
    "  'url': 'http://pay.example/charges', 'timeout': '10s'},"                                    \
    "  'retry': {'maxAttempts': 2, 'delay': '1s'}}"

static void test_nodes__attempt_is_its_senders_while_the_epoch_lives(void **state)
{
    (void)state;
    call_of_another_node("{'code': 'a', 'steps': [" PAY_TWICE "]}");
    rig_pass(&rig, 3600 * SECOND);
    assert_false(wake_with_capacity());
    answer_status(200);
    assert_string_equal(status(), "completed");
    forget_nodes();
}

static void test_nodes__attempt_of_an_epoch_that_is_over_ends_at_once(void **state)
{
    (void)state;
    call_of_another_node("{'code': 'a', 'steps': [" PAY_TWICE "]}");
    assert_false(wake_with_capacity());
    epoch_over = 7;
    assert_true(wake_with_capacity());
    assert_has(rig_text(&rig, rig.last.history.items[0].error_json), "external_unknown");
    rig_pass(&rig, 2 * SECOND);
    assert_true(wake_with_capacity());
    assert_int_equal(left()->epoch, 8);
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay");
    forget_nodes();
}

static void test_nodes__strand_of_an_epoch_that_is_over_ends_beside_one_that_lives(void **state)
{
    (void)state;
    call_of_another_node("{'code': 'a', 'steps': [{'code': 'all', 'parallel': {'branches': ["
                         "[{'code': 'w', 'procedure': {'type': 'wait.signal',"
                         "  'signalType': 'go'}}], [" PAY_TWICE "]]}}]}");
    rig_pass(&rig, 3600 * SECOND);
    assert_false(wake_with_capacity());
    epoch_over = 7;
    assert_true(wake_with_capacity());
    rig_pass(&rig, 2 * SECOND);
    assert_true(wake_with_capacity());
    assert_int_equal(left()->epoch, 8);
    forget_nodes();
}

static void test_nodes__cancel_waits_for_the_sender_of_a_call(void **state)
{
    (void)state;
    call_of_another_node("{'code': 'a', 'steps': [" PAY_TWICE "]}");
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_CANCEL, .capacity = &capacity}));
    rig_pass(&rig, 3600 * SECOND);
    (void)wake_with_capacity();
    assert_string_not_equal(status(), "cancelled");
    epoch_over = 7;
    assert_true(wake_with_capacity());
    assert_string_equal(status(), "cancelled");
    forget_nodes();
}

/* --- cancelling --- */

static void test_cancel__waits_for_the_answer_of_a_call_before_it_rolls_back(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  'rollback': {'type': 'compute.transform', 'data': '$.steps.pay.output'}}]}");
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
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'},"
          "  'rollback': {'type': 'compute.transform', 'data': '$.steps.pay.output'}}]}");
    assert_true(rig_cancel(&rig, "enough"));
    answer_status(422);
    rig_settle(&rig);
    assert_string_equal(status(), "cancelled");
    assert_string_equal(rig_trace(&rig), "pay.failed");
}

static void test_cancel__a_lost_call_is_asked_about_or_rolled_back(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'},"
          "  'rollback': {'type': 'compute.transform', 'data': '$.steps.pay.output'}}]}");
    assert_true(rig_cancel(&rig, "enough"));
    assert_true(lose_calls());
    rig_settle(&rig);
    assert_string_equal(status(), "cancelled");
    assert_string_equal(rig_trace(&rig), "pay.failed -pay");
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
          "  'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'},"
          "  'reconcile': {'procedure': {'type': 'integration.http',"
          "    'url': 'http://pay.example/charges/1',"
          "    'result': {'outcome': '$.response.body.outcome', 'output': '$.response.body'}},"
          "    'every': '5s', 'max': 3},"
          "  'rollback': {'type': 'compute.transform', 'data': '$.steps.pay.output'}}]}");
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
    start("{'code': 'a', 'steps': [{'code': 'pay', 'procedure': ["
          "  {'type': 'integration.http', 'method': 'POST', 'url': 'http://pay.example/charges'},"
          "  {'type': 'integration.http', 'method': 'POST', 'url': 'http://pay.example/charges'}],"
          "  'rollback': {'type': 'compute.transform', 'data': '$.steps.pay.output'}}]}");
    assert_true(rig_cancel(&rig, "enough"));
    answer_status(200);
    assert_int_equal(rig.last.asks.count, 0);
    rig_settle(&rig);
    assert_string_equal(status(), "cancelled");
}

/* What was passed over before the call has no result, and hides nothing that stands behind it. */
static void test_cancel__an_answer_behind_a_command_that_was_passed_over_counts(void **state)
{
    static const char *const before[] = {
        "{'type':'compute.fail','when':'false','code':'x','message':'y'},",
        "{'type':'flow.try','commands':[{'type':'log','message':'a'},"
        "{'type':'compute.fail','when':'false','code':'x','message':'y'}],"
        "'catch':[{'type':'log','message':'b'}]},",
        "{'type':'integration.http','when':'false','url':'" URL "'},",
    };
    char scenario[1000];

    (void)state;
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        snprintf(scenario, sizeof(scenario),
                 "{'code':'a','steps':[{'code':'pay','procedure':[%s"
                 "{'type':'integration.http','method':'POST','url':'" URL "',"
                 "'rollback':{'type':'compute.transform','data':1}},"
                 "{'type':'log','message':'never'}]}]}",
                 before[i]);
        start(scenario);
        assert_true(rig_cancel(&rig, "enough"));
        rig_reload(&rig);
        answer_status(200);
        rig_settle(&rig);
        assert_string_equal(status(), "cancelled");
        assert_string_equal(rig_trace(&rig), "pay.failed -pay");
    }
}

static void test_cancel__a_queued_call_has_not_happened(void **state)
{
    (void)state;
    busy_with(2);
    start_with_capacity(
        "{'code': 'a', 'steps': [{'code': 'pay',"
        "  'procedure': {'type': 'integration.http', 'method': 'POST',"
        "    'url': 'http://pay.example/charges'},"
        "  'rollback': {'type': 'compute.transform', 'data': '$.steps.pay.output'}}]}");
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_string_equal(status(), "cancelled");
    assert_string_equal(rig_trace(&rig), "");
}

/* --- held --- */

static void hold_by_deadline(void)
{
    rig_define(&rig, "{'code': 'a', 'onError': 'hold', 'settings': {'timeout': '5s'},"
                     "  'steps': [{'code': 'pay', 'procedure': {'type': 'integration.http',"
                     "    'method': 'POST', 'url': 'http://pay.example/charges',"
                     "    'timeout': '30s'}}]}");
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

/* The call has happened: what the step left behind can be undone, should it come to that. */
static void test_held__a_step_that_is_skipped_keeps_what_has_happened(void **state)
{
    (void)state;
    hold_by_deadline();
    answer("{'status_code':200,'headers':{},'body':'done'}");
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP, .output = value_absent()}));
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_trace(&rig), "pay.failed pay2.skipped");
}

/* --- rolling back by a call --- */

/* Room comes while it is rolled back: it stays where it is. */
static void test_rollback__a_call_that_waited_for_capacity_goes_on(void **state)
{
    (void)state;
    busy_with(0);
    start_with_capacity(
        "{'code': 'a', 'steps': ["
        "  {'code': 'pay', 'procedure': {'type': 'integration.http', 'method': 'POST',"
        "    'url': 'http://pay.example/charges'},"
        "    'rollback': {'type': 'integration.http', 'method': 'POST',"
        "      'url': 'http://pay.example/charges'}},"
        "  {'code': 'no',"
        "    'procedure': {'type': 'compute.fail', 'code': 'x', 'message': 'y'}}]}");
    busy_with(2);
    rig.capacity = &capacity;
    answer_status(200);
    assert_has(waiting_for(), "'queued':true");
    busy_with(1);
    assert_true(wake_with_capacity());
    answer_status(200);
    rig.capacity = NULL;
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "pay no.failed -pay");
}

static void test_rollback__a_call_undoes_what_a_call_did(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': ["
          "  {'code': 'pay', 'procedure': {'type': 'integration.http', 'method': 'POST',"
          "    'url': 'http://pay.example/charges'}, 'rollback': {'type': 'integration.http',"
          "      'method': 'DELETE',"
          "      'url': 'http://pay.example/charges/{{ $.steps.pay.output.body.id }}'}},"
          "  {'code': 'no', 'procedure': {'type': 'compute.fail', 'code': 'x', 'message': 'y'}}]}");
    answer("{'status_code':200,'headers':{},'body':{'id':'c1'}}");
    assert_string_equal(status(), "compensating");
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay-rollback");
    assert_has(rig_text(&rig, left()->request_json), "/charges/c1");
    answer_status(204);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "pay no.failed -pay");
}

/* The attempt before it may have happened, and the deadline is no answer to that. */
static void test_deadline__an_attempt_that_never_left_says_nothing_of_the_one_before(void **state)
{
    (void)state;
    start("{'code':'p','settings':{'timeout':'1h'},'steps':[{'code':'pay','retry':{'maxAttempts':3,"
          "'delay':'1s'},'procedure':[{'type':'integration.http','method':'POST','url':'" URL "',"
          "'rollback':{'type':'log','message':'undo'}},{'type':'log','message':'2'}]}]}");
    assert_true(lose_calls());
    rig_pass(&rig, 10 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_PAUSE, .reason = STR("wait")}));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_ANSWER,
                                               .answer_seq = rig.x->cursor.asked_seq,
                                               .answer_output = value_absent(),
                                               .answer_error = rig_value(
                                                   &rig, "{'code':'" CALL_NEVER_SENT "',"
                                                         "'class':'transient','message':'m'}")}));
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "pay.failed pay.failed(2) -pay");
}

/* --- failing beside it --- */

/* Whoever answers after another branch has failed is heard: an operator's retry does not ask again. */
static void test_failed__an_answer_is_kept_for_a_retry(void **state)
{
    struct event answer = {.kind = EVENT_ANSWER, .answer_error = value_absent()};

    (void)state;
    start("{'code': 'a', 'onError': 'fail_fast', 'steps': [{'code': 'all', 'parallel': {"
          "  'branches': ["
          "    [{'code': 'pay', 'procedure': {'type': 'integration.http', 'method': 'POST',"
          "      'url': 'http://pay.example/charges'}}],"
          "    [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "     {'code': 'no', 'procedure': {'type': 'compute.fail', 'code': 'x', 'message': 'y',"
          "      'when': 'input.n == 1'}}]]}}]}");
    answer.answer_seq = left()->seq;
    answer.answer_output = rig_value(&rig, "{'status_code':200,'headers':{},'body':{'id':1}}");
    assert_true(rig_signal(&rig, "1", "go", "1"));
    assert_string_equal(status(), "failed");
    rig_reload(&rig);
    assert_true(rig_event(&rig, answer));
    assert_string_equal(status(), "failed");
    assert_int_equal(rig.last.notices.count, 0);
    rig_reload(&rig);
    /* It is heard once. */
    assert_false(rig_event(&rig, answer));
    assert_true(
        rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = rig_value(&rig, "{'n':2}")}));
    assert_int_equal(rig.last.asks.count, 0);
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_output(&rig, "pay"),
                        "{'status_code':200,'headers':{},'body':{'id':1}}");
}

/* --- a visit that completes while the execution is stopped --- */

/* A call is in flight behind an event that is staged; the deadline passes; then it is answered. */
static void complete_behind_deadline(const char *rest)
{
    char scenario[1000];

    snprintf(scenario, sizeof(scenario),
             "{'code':'a','settings':{'timeout':'5s'},'steps':[{'code':'pay','procedure':["
             "{'type':'event.publish','event':'paying'},"
             "{'type':'integration.http','method':'POST','url':'" URL "','timeout':'30s'}]%s}]}",
             rest);
    start(scenario);
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(status(), "compensating");
    assert_int_equal(rig.last.messages.count, 0);
    rig_reload(&rig);
}

/* It has completed, and its messages have left: neither happens once more. */
static void test_deadline__a_retry_goes_on_behind_a_step_that_completed_meanwhile(void **state)
{
    (void)state;
    complete_behind_deadline(",'goto':'end'},{'code':'never','procedure':{'type':'compute.fail',"
                             "'code':'x','message':'y'}");
    answer_status(200);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "pay");
    assert_int_equal(rig.history.items[rig.history.count - 1].seq, rig.x->seq);
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_int_equal(rig.last.messages.count, 0);
    assert_int_equal(rig.last.asks.count, 0);
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_trace(&rig), "pay");
}

/* The same of one whose answer was lost and that was found out about. */
static void test_deadline__a_retry_goes_on_behind_a_step_that_was_reconciled(void **state)
{
    (void)state;
    complete_behind_deadline(",'reconcile':{'procedure':{'type':'compute.transform',"
                             "'data':{'outcome':'succeeded','output':7}}}");
    assert_true(lose_calls());
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "?pay pay");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_int_equal(rig.last.messages.count, 0);
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_output(&rig, "pay"), "7");
}

/* Who names the step begins it anew: what the completed visit has done is not part of the new one. */
static void test_deadline__a_retry_from_a_completed_step_takes_nothing_of_it(void **state)
{
    (void)state;
    complete_behind_deadline("");
    answer_status(200);
    rig_settle(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .from = STR("pay")}));
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay-2.2");
    answer_status(200);
    assert_int_equal(rig.last.messages.count, 1);
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_trace(&rig), "pay pay2");
}

/* --- calls of branches that are stopped --- */

#define CHARGE(code)                                                                               \
    "[{'code':'" code "','procedure':{'type':'integration.http','method':'POST','url':'" URL       \
    "','timeout':'30s'},'rollback':{'type':'log','message':'x'}}]"

/* Two calls in branches beside one that fails with the signal; `more` stands in the parallel step. */
static void start_branches(const char *join, const char *more, int64_t seqs[2])
{
    char scenario[2000];

    snprintf(
        scenario, sizeof(scenario),
        "{'code':'a','steps':[{'code':'p','parallel':{%s'branches':[" CHARGE("x") "," CHARGE(
            "y") ",[{'code':'w','procedure':{'type':'wait.signal','signalType':'go'}}%s]]}},"
                 "{'code':'z','procedure':{'type':'compute.fail','code':'no','message':'m'}}]}",
        join, more);
    start(scenario);
    assert_int_equal(rig.last.asks.count, 2);
    for (int i = 0; i < 2; i++)
        seqs[i] = rig.last.asks.items[i].seq;
    rig_reload(&rig);
}

#define FAILING ",{'code':'f','procedure':{'type':'compute.fail','code':'no','message':'m'}}"

static bool answer_seq(int64_t seq)
{
    return rig_event(&rig, (struct event){.kind = EVENT_ANSWER,
                                          .answer_seq = seq,
                                          .answer_output = rig_value(
                                              &rig, "{'status_code':200,'headers':{},'body':1}"),
                                          .answer_error = value_absent()});
}

/* Whatever stops them, nothing is undone before the calls that have left are answered. */
static void test_branches__rolling_back_waits_for_calls_that_have_left(void **state)
{
    int64_t seqs[2];

    (void)state;
    for (int how = 0; how < 3; how++) {
        start_branches(how == 1 ? "'join':1," : "", how == 0 ? FAILING : "", seqs);
        if (how == 2)
            assert_true(rig_cancel(&rig, "enough"));
        else
            assert_true(rig_signal(&rig, "1", "go", "1"));
        assert_string_equal(status(), "compensating");
        assert_has(waiting_for(), "'kind':'call'");
        assert_null(strstr(rig_trace(&rig), "-"));
        rig_reload(&rig);
        assert_true(answer_seq(seqs[0]));
        assert_string_equal(status(), "compensating");
        assert_null(strstr(rig_trace(&rig), "-"));
        rig_reload(&rig);
        assert_true(answer_seq(seqs[1]));
        rig_settle(&rig);
        assert_string_equal(status(), how == 2 ? "cancelled" : "failed");
        assert_non_null(strstr(rig_trace(&rig), "-x"));
        assert_non_null(strstr(rig_trace(&rig), "-y"));
        assert_false(answer_seq(seqs[1]));
    }
}

/* One whose answer does not come is waited for until its time is up. */
static void test_branches__rolling_back_waits_no_longer_than_the_calls_have_time(void **state)
{
    int64_t seqs[2];

    (void)state;
    start_branches("", FAILING, seqs);
    assert_true(rig_signal(&rig, "1", "go", "1"));
    assert_false(rig_wake(&rig));
    rig_reload(&rig);
    rig_pass(&rig, 60 * SECOND);
    assert_true(rig_wake(&rig));
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_non_null(strstr(rig_trace(&rig), "-x"));
    assert_non_null(strstr(rig_trace(&rig), "-y"));
}

/* Who goes on after a join waits for nobody; what is answered meanwhile is struck off. */
static void test_branches__going_on_waits_for_no_call(void **state)
{
    int64_t seqs[2];

    (void)state;
    rig_define(&rig, "{'code':'a','steps':[{'code':'p','parallel':{'join':1,'branches':[" CHARGE(
                         "x") ",[{'code':'w','procedure':{'type':'wait.signal','signalType':'go'}}]"
                              "]}},{'code':'v','procedure':{'type':'wait.signal','signalType':"
                              "'on'}}]}");
    rig_start(&rig, "{'n':1}");
    seqs[0] = left()->seq;
    assert_true(rig_signal(&rig, "1", "go", "1"));
    assert_string_equal(status(), "waiting");
    rig_reload(&rig);
    assert_true(answer_seq(seqs[0]));
    assert_false(answer_seq(seqs[0]));
    assert_true(rig_signal(&rig, "2", "on", "1"));
    assert_string_equal(status(), "completed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_capacity__a_busy_host_makes_the_call_wait_without_an_attempt),
        CLAIM(test_capacity__branches_of_one_turn_share_it),
        CLAIM(test_nodes__attempt_is_its_senders_while_the_epoch_lives),
        CLAIM(test_nodes__attempt_of_an_epoch_that_is_over_ends_at_once),
        CLAIM(test_nodes__strand_of_an_epoch_that_is_over_ends_beside_one_that_lives),
        CLAIM(test_nodes__cancel_waits_for_the_sender_of_a_call),
        CLAIM(test_cancel__waits_for_the_answer_of_a_call_before_it_rolls_back),
        CLAIM(test_cancel__a_call_that_failed_meanwhile_has_nothing_to_roll_back),
        CLAIM(test_cancel__a_lost_call_is_asked_about_or_rolled_back),
        CLAIM(test_cancel__no_further_command_of_the_step_leaves),
        CLAIM(test_cancel__an_answer_behind_a_command_that_was_passed_over_counts),
        CLAIM(test_cancel__a_queued_call_has_not_happened),
        CLAIM(test_held__the_answer_is_kept_until_an_operator_goes_on),
        CLAIM(test_held__without_an_answer_it_is_tried_again),
        CLAIM(test_held__a_step_that_is_skipped_keeps_what_has_happened),
        CLAIM(test_failed__an_answer_is_kept_for_a_retry),
        CLAIM(test_rollback__a_call_that_waited_for_capacity_goes_on),
        CLAIM(test_deadline__an_attempt_that_never_left_says_nothing_of_the_one_before),
        CLAIM(test_rollback__a_call_undoes_what_a_call_did),
        CLAIM(test_deadline__a_retry_goes_on_behind_a_step_that_completed_meanwhile),
        CLAIM(test_deadline__a_retry_goes_on_behind_a_step_that_was_reconciled),
        CLAIM(test_deadline__a_retry_from_a_completed_step_takes_nothing_of_it),
        CLAIM(test_branches__rolling_back_waits_for_calls_that_have_left),
        CLAIM(test_branches__rolling_back_waits_no_longer_than_the_calls_have_time),
        CLAIM(test_branches__going_on_waits_for_no_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
