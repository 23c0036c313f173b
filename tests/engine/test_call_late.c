/* test_call_late.c - claims about calls of stopped branches whose answer comes afterwards. */
#include "engine/call_rig.h"

#define STEP_UNDO                                                                                  \
    ",'rollback':{'type':'integration.http','method':'DELETE','url':'" URL                         \
    "/{{ $.steps.x.output.body.id }}'}"
#define POST "{'type':'integration.http','method':'POST','url':'" URL "','timeout':'30s'"

static int64_t seq;

/* A branch charges beside one that fails with the signal. */
static void start_beside(const char *branch, const char *join)
{
    char scenario[3000];

    snprintf(scenario, sizeof(scenario),
             "{'code':'a','steps':[{'code':'p','parallel':{%s'branches':[[%s],[{'code':'w',"
             "'procedure':{'type':'wait.signal','signalType':'go'}}%s]]}},{'code':'z','procedure':"
             "{'type':'wait.signal','signalType':'on'}},{'code':'no','procedure':{'type':"
             "'compute.fail','code':'no','message':'m'}}]}",
             join, branch,
             join[0] != '\0'
                 ? ""
                 : ",{'code':'f','procedure':{'type':'compute.fail','code':'no','message':'m'}}");
    start(scenario);
    seq = left()->seq;
    assert_true(rig_signal(&rig, "1", "go", "1"));
    assert_string_equal(status(), join[0] != '\0' ? "waiting" : "compensating");
    rig_reload(&rig);
}

static void answer_late(const char *output, const char *failure)
{
    assert_true(rig_event(
        &rig, (struct event){
                  .kind = EVENT_ANSWER,
                  .answer_seq = seq,
                  .answer_output = output != NULL ? rig_value(&rig, output) : value_absent(),
                  .answer_error = failure != NULL ? rig_value(&rig, failure) : value_absent()}));
    rig_reload(&rig);
}

#define CHARGED "{'status_code':200,'headers':{},'body':{'id':'c1'}}"
#define DECLINED "{'status_code':422,'headers':{},'body':{'id':'c1'}}"
#define LOST "{'code':'external_unknown','class':'indeterminate','message':'lost'}"
#define STEP_X "{'code':'x','procedure':" POST "}" STEP_UNDO "}"

/* The rollback needs what the call has answered. */
static void test_late__what_was_done_is_undone_with_its_output(void **state)
{
    (void)state;
    start_beside(STEP_X, "");
    answer_late(CHARGED, NULL);
    assert_has(rig_text(&rig, left()->request_json), "/charges/c1");
    assert_string_equal(rig_text(&rig, left()->key), ID "-x-rollback");
    answer_status(204);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "w f.failed x.failed -x");
    assert_int_equal(rig.last.dead_letters.count, 0);
}

/* What was refused has not happened: there is nothing to undo, and nobody is asked. */
static void test_late__what_was_refused_is_not_undone(void **state)
{
    (void)state;
    start_beside(STEP_X, "");
    answer_late(DECLINED, NULL);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "w f.failed x.failed");
    assert_string_equal(rig_trace(&rig), "w f.failed x.failed");
    assert_int_equal(rig.last.dead_letters.count, 0);
}

/* Nobody knows: it is undone as what may have happened, once. */
static void test_late__what_is_lost_is_undone_as_what_may_have_happened(void **state)
{
    (void)state;
    start_beside("{'code':'x','procedure':" POST "},'rollback':{'type':'compute.transform',"
                 "'data':{'of':'$.steps.x.output'}}}",
                 "");
    answer_late(NULL, LOST);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "w f.failed x.failed -x");
}

/* Rollbacks of commands: that of the one that was answered has its result, and none comes behind it. */
static void test_late__commands_are_undone_with_their_results(void **state)
{
    (void)state;
    start_beside("{'code':'x','procedure':[" POST ",'as':'paid','rollback':{'type':"
                 "'integration.http','method':'DELETE','url':'" URL "/{{ paid.body.id }}'}},"
                 "{'type':'integration.http','method':'POST','url':'" URL "'}]}",
                 "");
    answer_late(CHARGED, NULL);
    assert_has(rig_text(&rig, left()->request_json), "/charges/c1");
    answer_status(204);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "w f.failed x.failed -x");
}

/* The flow has gone on behind a join; much later it rolls back, and knows. */
static void test_late__an_answer_counts_also_when_the_flow_has_gone_on(void **state)
{
    (void)state;
    start_beside(STEP_X, "'join':1,");
    answer_late(CHARGED, NULL);
    assert_string_equal(status(), "waiting");
    assert_true(rig_signal(&rig, "2", "on", "1"));
    assert_has(rig_text(&rig, left()->request_json), "/charges/c1");
    answer_status(204);
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "w x.failed p z no.failed -x");
    start_beside(STEP_X, "'join':1,");
    answer_late(DECLINED, NULL);
    assert_true(rig_signal(&rig, "2", "on", "1"));
    rig_settle(&rig);
    assert_string_equal(status(), "failed");
    assert_string_equal(rig_trace(&rig), "w x.failed p z no.failed");
}

/* One that has failed hears it too: an operator's retry may go on, and be rolled back later. */
static void test_late__one_that_has_failed_hears_it(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'p','parallel':{'join':1,'branches':[[" STEP_X
          "],[{'code':'w','procedure':{'type':'wait.signal','signalType':'go'}}]]}},"
          "{'code':'no','onError':'fail_fast','procedure':{'type':'compute.fail','code':'no',"
          "'message':'m','when':'input.n == 1'}},{'code':'z','procedure':{'type':'wait.signal',"
          "'signalType':'on'}}]}");
    seq = left()->seq;
    assert_true(rig_signal(&rig, "1", "go", "1"));
    assert_string_equal(status(), "failed");
    rig_reload(&rig);
    answer_late(CHARGED, NULL);
    assert_string_equal(status(), "failed");
    assert_true(
        rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = rig_value(&rig, "{'n':2}")}));
    assert_string_equal(status(), "waiting");
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_ROLLS_BACK}));
    assert_has(rig_text(&rig, left()->request_json), "/charges/c1");
}

/* Rounds that run at once: each is undone with the item that it had. */
static void test_late__a_round_is_undone_with_its_item(void **state)
{
    (void)state;
    start_beside("{'code':'l','loop':{'for':['i1'],'max':3,'concurrency':2,'steps':[{'code':'x',"
                 "'procedure':" POST "},'rollback':{'type':'integration.http','method':'DELETE',"
                 "'url':'" URL "/{{ loop.item }}/{{ $.steps.x.output.body.id }}'}}]}}",
                 "");
    answer_late(CHARGED, NULL);
    assert_has(rig_text(&rig, left()->request_json), "/charges/i1/c1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_late__what_was_done_is_undone_with_its_output),
        CLAIM(test_late__what_was_refused_is_not_undone),
        CLAIM(test_late__what_is_lost_is_undone_as_what_may_have_happened),
        CLAIM(test_late__commands_are_undone_with_their_results),
        CLAIM(test_late__an_answer_counts_also_when_the_flow_has_gone_on),
        CLAIM(test_late__one_that_has_failed_hears_it),
        CLAIM(test_late__a_round_is_undone_with_its_item),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
