/* test_call_retried.c - claims about an operator's retry while a call of the step is in flight. */
#include "engine/call_rig.h"
#include "engine/commit/call_capacity.h"

static bool is_epoch_over(const void *context, int64_t epoch)
{
    (void)context;
    (void)epoch;
    return false;
}

/* The attempts are those of a node that lives; from the retry on this is another node. */
static struct call_capacity living = {.limit = 9, .left = 9, .epoch_is_over = is_epoch_over};

static void begin(const struct call_capacity *capacity)
{
    static struct map no_hosts;

    map_init(&no_hosts, &rig.mem);
    living.hosts = &no_hosts;
    living.epoch = 7;
    rig.capacity = capacity;
}

/* Two calls of one step; the deadline passes while the second is in flight, and nothing is undone. */
static void fail_in_flight(void)
{
    start("{'code':'a','onError':'fail_fast','settings':{'timeout':'5s'},'steps':[{'code':'pay',"
          "'procedure':[{'type':'integration.http','method':'POST','url':'" URL "'},"
          "{'type':'integration.http','method':'POST','url':'" URL "','timeout':'30s'}]}]}");
    answer_status(200);
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay.2");
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(status(), "failed");
    rig_reload(&rig);
}

/* Naming the step that it stands at is no word about what is in flight: that is waited for. */
static void test_retry__from_its_own_step_waits_for_what_is_in_flight(void **state)
{
    struct event answer = {.kind = EVENT_ANSWER, .answer_error = value_absent()};

    (void)state;
    begin(&living);
    fail_in_flight();
    answer.answer_seq = rig.x->cursor.asked_seq;
    answer.answer_output = rig_value(&rig, "{'status_code':200,'headers':{},'body':2}");
    living.epoch = 8;
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .from = STR("pay")}));
    assert_int_equal(rig.last.asks.count, 0);
    assert_true(rig_event(&rig, answer));
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_trace(&rig), "pay");
    begin(NULL);
}

/* Nobody knows what became of it: it is asked for again under the key that it had. */
static void test_retry__from_its_own_step_keeps_the_key_of_what_is_in_doubt(void **state)
{
    (void)state;
    begin(NULL);
    fail_in_flight();
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .from = STR("pay")}));
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay.2");
    answer_status(200);
    assert_string_equal(status(), "completed");
}

/* The same of a visit that has ended in doubt. */
static void test_retry__from_a_step_that_failed_in_doubt_keeps_its_key(void **state)
{
    (void)state;
    begin(NULL);
    start("{'code':'a','onError':'fail_fast','steps':[{'code':'pay','retry':{'maxAttempts':1},"
          "'procedure':{'type':'integration.http','method':'POST','url':'" URL "'}}]}");
    assert_true(lose_calls());
    assert_string_equal(status(), "failed");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .from = STR("pay")}));
    assert_string_equal(rig_text(&rig, left()->key), ID "-pay");
    answer_status(200);
    assert_string_equal(status(), "completed");
}

/* Nobody knows what became of it, and reconcile has given up: naming the step asks once more. */
static void test_retry__from_a_step_in_doubt_asks_what_became_of_it(void **state)
{
    (void)state;
    begin(NULL);
    start("{'code':'a','steps':[{'code':'pay','retry':{'maxAttempts':1},'procedure':{"
          "'type':'integration.http','method':'POST','url':'" URL "'},'reconcile':{'every':'1s',"
          "'max':1,'procedure':[{'type':'compute.set','values':{"
          "'asked':'=(has($.variables.asked) ? $.variables.asked : 0) + 1'}},"
          "{'type':'compute.transform','data':'=[{\\'outcome\\':\\'unknown\\'},"
          "{\\'outcome\\':\\'succeeded\\',\\'output\\':7}][variables.asked - 1]'}]}}]}");
    assert_true(lose_calls());
    rig_settle(&rig);
    assert_has(waiting_for(), "'parked':true");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .from = STR("pay")}));
    rig_settle(&rig);
    assert_string_equal(status(), "completed");
    assert_string_equal(rig_output(&rig, "pay"), "7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_retry__from_its_own_step_waits_for_what_is_in_flight),
        CLAIM(test_retry__from_its_own_step_keeps_the_key_of_what_is_in_doubt),
        CLAIM(test_retry__from_a_step_that_failed_in_doubt_keeps_its_key),
        CLAIM(test_retry__from_a_step_in_doubt_asks_what_became_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
