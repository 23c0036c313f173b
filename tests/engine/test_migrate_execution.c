/* test_migrate_execution.c - claims about executions that go on with another version of their program. */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct rig other; /* has the program of another version */

static int setup(void **state)
{
    (void)state;
    rig_init(&rig);
    rig_init(&other);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (rig.program == other.program)
        rig.program = NULL;
    rig_fini(&rig);
    rig_fini(&other);
    return 0;
}

#define CLAIM_WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void start(const char *scenario, const char *input)
{
    rig_define(&rig, scenario);
    rig_start(&rig, input);
    rig_settle(&rig);
}

/* The same execution with another version of its program. */
static bool move_with(struct event event, const char *scenario)
{
    const struct program *old = rig.program;
    bool ok;

    other.version = old->version + 1;
    rig_define(&other, scenario);
    rig.program = event.program = other.program;
    rig_made(&rig, other.program, other.versions.items[other.versions.count - 1].definition);
    /* What was checked so far restores with the old version alone. */
    ok = rig_event(&rig, event);
    if (!ok)
        rig.program = old;
    return ok;
}

static bool migrate(const char *scenario)
{
    return move_with((struct event){.kind = EVENT_MIGRATE}, scenario);
}

#define WAITS(code) "{'code':'" code "','procedure':{'type':'wait.signal','signalType':'" code "'}}"
#define BRANCHES(list) "{'code':'p','steps':[{'code':'all','parallel':{'branches':[" list "]}}]}"

static void test_migrate__a_branch_that_a_parallel_step_has_gained_begins(void **state)
{
    (void)state;
    start(BRANCHES("[" WAITS("a") "],[" WAITS("b") "]"), "{}");
    assert_true(rig_signal(&rig, "1", "a", "null"));
    rig.is_of_versions = true;
    assert_true(migrate(BRANCHES("[" WAITS("a") "],[" WAITS("b") "],[" WAITS("c") "],[]")));
    rig_settle(&rig);
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "2", "b", "null"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "3", "c", "null"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "a b c all");
}

static void test_migrate__a_branch_that_has_ended_does_not_begin_in_another_place(void **state)
{
    (void)state;
    start(BRANCHES("[" WAITS("a") "],[" WAITS("b") "]"), "{}");
    assert_true(rig_signal(&rig, "1", "a", "null"));
    rig.is_of_versions = true;
    assert_false(migrate(BRANCHES("[" WAITS("c") "],[" WAITS("b") "],[" WAITS("a") "]")));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    /* b runs in a branch that is gone. */
    assert_false(migrate(BRANCHES("[" WAITS("a") "]")));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

/* Of a, b and c one has ended and is gone in the other version: the two are still to come. */
static void test_migrate__a_branch_that_is_gone_does_not_count(void **state)
{
    (void)state;
    start(BRANCHES("[" WAITS("a") "],[" WAITS("b") "],[" WAITS("c") "]"), "{}");
    assert_true(rig_signal(&rig, "1", "c", "null"));
    rig.is_of_versions = true;
    assert_true(migrate(BRANCHES("[" WAITS("a") "],[" WAITS("b") "]")));
    assert_true(rig_signal(&rig, "2", "a", "null"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(rig_signal(&rig, "3", "b", "null"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_retry__goes_on_elsewhere_in_a_version_without_the_step_that_failed(void **state)
{
    const char *without =
        "{'code': 'a', 'steps': ["
        "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
        "  {'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 'done'}}]}";

    (void)state;
    for (int held = 0; held <= 1; held++) {
        start(held ? "{'code': 'a', 'onError': 'hold', 'steps': ["
                     "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
                     "  {'code': 'bad',"
                     "    'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'no'}},"
                     "  {'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 2}}]}"
                   : "{'code': 'a', 'onError': 'fail_fast', 'steps': ["
                     "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
                     "  {'code': 'bad',"
                     "    'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'no'}},"
                     "  {'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 2}}]}",
              "{}");
        assert_int_equal(rig.x->status, held ? STATUS_WAITING : STATUS_FAILED);
        assert_false(move_with((struct event){.kind = EVENT_RETRY}, without));
        assert_int_equal(rig.err.code, ERR_CONFLICT);
        assert_true(move_with((struct event){.kind = EVENT_RETRY, .from = STR("z")}, without));
        assert_int_equal(rig.x->status, STATUS_COMPLETED);
        assert_string_equal(rig_text(&rig, rig.x->result_json), "'done'");
        rig_reload(&rig);
        assert_string_equal(rig_text(&rig, rig.x->result_json), "'done'");
    }
}

static void test_migrate__a_waiting_execution_goes_on_with_another_version(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': ["
          "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "  {'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 'old'}}]}",
          "{}");
    assert_true(migrate("{'code': 'a', 'steps': ["
                        "  {'code': 'new', 'procedure': {'type': 'compute.transform', 'data': 0}},"
                        "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
                        "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
                        "  {'code': 'z', 'procedure': {'type': 'compute.transform',"
                        "    'data': ['new', '$.steps.a.output']}}]}"));
    assert_int_equal(rig.x->cursor.step, 2);
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_string_equal(rig_text(&rig, rig.x->result_json), "['new',1]");
}

static void test_migrate__a_step_goes_on_counting_when_a_version_has_it_again(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': ["
          "  {'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}",
          "{}");
    assert_true(migrate("{'code': 'a', 'steps': [{'code': 'w',"
                        "  'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}"));
    rig_reload(&rig);
    assert_true(migrate("{'code': 'a', 'steps': ["
                        "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
                        "  {'code': 'a',"
                        "    'procedure': {'type': 'compute.transform', 'data': 2}}]}"));
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "a w a2");
}

static void test_migrate__needs_the_step_of_the_same_kind_in_the_same_place(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'l','loop':{'for':[1],'steps':[{'code':'w','procedure':{"
          "'type':'wait.signal','signalType':'x'}}]}}]}",
          "{}");
    assert_false(migrate("{'code': 'a', 'steps': [{'code': 'z',"
                         "  'procedure': {'type': 'compute.transform', 'data': 1}}]}"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(
        migrate("{'code': 'a', 'steps': ["
                "  {'code': 'l', 'procedure': {'type': 'compute.transform', 'data': 1}},"
                "  {'code': 'w', 'procedure': {'type': 'compute.transform', 'data': 1}}]}"));
    assert_false(migrate(
        "{'code': 'a', 'steps': ["
        "  {'code': 'l', 'loop': {'for': [1],"
        "    'steps': [{'code': 'y', 'procedure': {'type': 'compute.transform', 'data': 1}}]}},"
        "  {'code': 'w', 'procedure': {'type': 'compute.transform', 'data': 1}}]}"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_migrate__a_wait_stays_a_wait_for_the_same(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'w',"
                     "  'procedure': {'type': 'wait.timer', 'duration': '1h'}}]}");
    rig_start(&rig, "{}");
    assert_false(migrate("{'code': 'a', 'steps': [{'code': 'w',"
                         "  'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(migrate("{'code': 'a', 'steps': [{'code': 'w',"
                         "  'procedure': {'type': 'compute.transform', 'data': 1}}]}"));
    assert_false(migrate("{'code':'a','procedures':{'p':{'commands':[{'type':'log','message':'m'}]}"
                         "},'steps':[{'code':'w','procedure':'p'}]}"));
    assert_true(migrate("{'code': 'a', 'steps': [{'code': 'w',"
                        "  'procedure': {'type': 'wait.timer', 'duration': '2h'}}]}"));
    assert_true(rig_signal(&rig, "1", "x", "1"));
    rig_pass(&rig, 3600 * INT64_C(1000000));
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_migrate__a_version_without_reminders_sends_no_more(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'w', 'procedure': {'type': 'wait.signal',"
                     "  'signalType': 'x', 'timeout': '1h', 'reminder': {'every': '10m',"
                     "  'procedure': {'type': 'log', 'message': 'm'}}}}]}");
    rig_start(&rig, "{}");
    rig_pass(&rig, 600 * INT64_C(1000000));
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->cursor.reminders, 1);
    assert_true(migrate("{'code': 'a', 'steps': [{'code': 'w', 'procedure': {"
                        "  'type': 'wait.signal', 'signalType': 'x', 'timeout': '1h'}}]}"));
    rig_pass(&rig, 600 * INT64_C(1000000));
    assert_false(rig_wake(&rig));
    rig_pass(&rig, 2400 * INT64_C(1000000));
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

static void test_migrate__what_commands_have_done_belongs_to_the_same_commands(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'x',"
                     "  'retry': {'maxAttempts': 3, 'delay': '1m', 'jitter': 'none'},"
                     "  'procedure': ["
                     "    {'type': 'integration.http', 'url': 'http://a/charge', 'as': 'c'},"
                     "    {'type': 'integration.http', 'url': 'http://a/busy'},"
                     "    {'type': 'log', 'message': 'm'}]}]}");
    rig_start(&rig, "{}");
    assert_int_equal(rig.x->cursor.phase, PHASE_JOB);
    /* Another call before it, another one in its place, none: refused. */
    assert_false(migrate("{'code': 'a', 'steps': [{'code': 'x', 'procedure': ["
                         "  {'type': 'log', 'message': 'new'},"
                         "  {'type': 'integration.http', 'url': 'http://a/charge', 'as': 'c'},"
                         "  {'type': 'integration.http', 'url': 'http://a/busy'}]}]}"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(migrate("{'code': 'a', 'steps': [{'code': 'x', 'procedure': "
                         "  {'type': 'integration.http', 'url': 'http://a/busy'}}]}"));
    /* What comes behind may differ, and so may the order of members. */
    assert_true(migrate("{'code': 'a', 'steps': [{'code': 'x',"
                        "  'procedure': ["
                        "    {'as': 'c', 'type': 'integration.http', 'url': 'http://a/charge'},"
                        "    {'type': 'integration.http', 'url': 'http://a/other'}]}]}"));
    rig_reload(&rig);
    assert_int_equal(rig.x->status, STATUS_WAITING);
}

static void test_migrate__a_version_without_reconcile_asks_no_more(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'x',"
                     "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'},"
                     "  'procedure': ["
                     "    {'type': 'compute.fail', 'when': 'execution.attempt == 1',"
                     "      'code': 'lost', 'message': 'm', 'class': 'indeterminate'},"
                     "    {'type': 'compute.transform', 'data': 1}],"
                     "  'reconcile': {'type': 'compute.transform', 'data': 0}}]}");
    rig_start(&rig, "{}");
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->cursor.phase, PHASE_RECONCILE);
    assert_true(migrate("{'code': 'a', 'steps': [{'code': 'x',"
                        "  'retry': {'maxAttempts': 2, 'delay': '1m', 'jitter': 'none'},"
                        "  'procedure': ["
                        "    {'type': 'compute.fail', 'when': 'execution.attempt == 1',"
                        "      'code': 'lost', 'message': 'm', 'class': 'indeterminate'},"
                        "    {'type': 'compute.transform', 'data': 1}]}]}"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?x x.failed x(2)");
}

static void test_migrate__what_was_done_is_rolled_back_by_the_version_that_did_it(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': ["
          "  {'code': 'a', 'procedure': ["
          "    {'type': 'log', 'message': '1', 'rollback': {'type': 'log', 'message': 'undo'}},"
          "    {'type': 'log', 'message': '2'}]},"
          "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}",
          "{}");
    assert_true(migrate("{'code': 'a', 'steps': ["
                        "  {'code': 'a', 'procedure': ["
                        "    {'type': 'log', 'message': '1'},"
                        "    {'type': 'log', 'message': '2',"
                        "      'rollback': {'type': 'log', 'message': 'undo'}}]},"
                        "  {'code': 'w',"
                        "    'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}"));
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "a -a");
}

#define POSTS(path) "{'type':'integration.http','method':'POST','url':'http://e.example/" path "'}"
#define WAIT_X "{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}"

static void assert_left(const char *path)
{
    assert_int_equal(rig.last.asks.count, 1);
    if (strstr(rig_text(&rig, rig.last.asks.items[0].request_json), path) == NULL)
        fail_msg("'%s' is not in %s", path, rig_text(&rig, rig.last.asks.items[0].request_json));
}

/* The strand that has asked somebody. */
static const struct cursor *asking(void)
{
    for (uint32_t i = 0; i < execution_strands(rig.x); i++)
        if (execution_cursor(rig.x, i)->awaited.len > 0)
            return execution_cursor(rig.x, i);
    fail_msg("nobody was asked");
    return NULL;
}

static void migrate_answer(int code)
{
    char json[100];

    snprintf(json, sizeof(json), "{'status_code':%d,'headers':{},'body':null}", code);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_ANSWER,
                                               .answer_key = asking()->awaited,
                                               .answer_seq = asking()->asked_seq,
                                               .answer_output = rig_value(&rig, json),
                                               .answer_error = value_absent()}));
}

/* The step is gone, or has another rollback or none; the call of the rollback outlives a restart. */
static void test_migrate__a_rollback_is_that_of_the_version_which_ran_the_step(void **state)
{
    const char *later[] = {
        "{'code':'a','steps':[" WAIT_X "]}",
        "{'code':'a','steps':[{'code':'a','procedure':{'type':'log','message':'1'}}," WAIT_X "]}",
        "{'code':'a','steps':[{'code':'a','procedure':{'type':'log','message':'1'},"
        "'rollback':" POSTS("v2") "}," WAIT_X "]}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
        start("{'code':'a','steps':[{'code':'a','procedure':{'type':'log','message':'1'},"
              "'rollback':" POSTS("v1") "}," WAIT_X "]}",
              "{}");
        rig.is_of_versions = true;
        assert_true(migrate(later[i]));
        assert_true(rig_cancel(&rig, "enough"));
        assert_int_equal(rig.x->status, STATUS_COMPENSATING);
        assert_left("e.example/v1");
        assert_string_equal(rig_text(&rig, execution_current_step(rig.x)), "a");
        rig_reload(&rig);
        /* It is tried again, also after a restart. */
        migrate_answer(503);
        rig_reload(&rig);
        assert_string_equal(rig_text(&rig, execution_current_step(rig.x)), "a");
        rig_pass(&rig, INT64_C(3600) * 1000000);
        assert_true(rig_wake(&rig));
        assert_left("e.example/v1");
        migrate_answer(200);
        assert_int_equal(rig.x->status, STATUS_CANCELLED);
        assert_string_equal(rig_trace(&rig), "a -a.failed -a(2)");
        assert_int_equal(rig.x->program->version, 2);
        teardown(NULL);
        setup(NULL);
    }
}

/* What a version did that had no rollback is not undone by that of another. */
static void test_migrate__what_had_no_rollback_gets_none(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'a','procedure':{'type':'log','message':'1'}}," WAIT_X "]}",
          "{}");
    rig.is_of_versions = true;
    assert_true(migrate("{'code':'a','steps':[{'code':'a','procedure':{'type':'log','message':'1'},"
                        "'rollback':" POSTS("v2") "}," WAIT_X "]}"));
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "a");
}

#define TWO_CALLS(undo)                                                                            \
    "{'code':'a','procedures':{'undo':{'commands':[" POSTS(                                        \
        undo) "]}},'steps':[{'code':'s',"                                                          \
              "'onError':'hold','retry':{'maxAttempts':1},'procedure':["                           \
              "{'type':'integration.http','method':'POST','url':'http://e.example/one',"           \
              "'rollback':{'procedure':'undo'}},"                                                  \
              "{'type':'integration.http','method':'POST','url':'http://e.example/two',"           \
              "'rollback':{'procedure':'undo'}}]}," WAIT_X "]}"

/* The first command ran with version 1, the second with version 2: each is undone by its own. */
/* Its first step asks somebody outside. */
static void begin(const char *scenario)
{
    rig_define(&rig, scenario);
    rig_start(&rig, "{}");
}

static void test_migrate__each_entry_of_a_ledger_is_rolled_back_by_its_version(void **state)
{
    (void)state;
    begin(TWO_CALLS("v1"));
    migrate_answer(200);
    migrate_answer(422); /* held */
    rig.is_of_versions = true;
    assert_true(move_with((struct event){.kind = EVENT_RETRY}, TWO_CALLS("v2")));
    assert_left("e.example/two");
    migrate_answer(200);
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, "enough"));
    assert_left("e.example/v2");
    rig_reload(&rig);
    migrate_answer(200);
    assert_left("e.example/v1");
    rig_reload(&rig);
    migrate_answer(200);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

/* A visit that goes on with its key goes on with the same commands, whoever moves it. */
static void test_retry__of_a_visit_that_goes_on_needs_the_same_commands(void **state)
{
    (void)state;
    begin("{'code':'a','onError':'hold','steps':[{'code':'s','retry':{'maxAttempts':1},"
          "'procedure':[" POSTS("one") "," POSTS("two") "]}]}");
    migrate_answer(200);
    migrate_answer(504); /* it may have happened: the retry carries its key */
    rig.is_of_versions = true;
    assert_false(move_with((struct event){.kind = EVENT_RETRY},
                           "{'code':'a','onError':'hold','steps':[{'code':'s','procedure':["
                           "{'type':'log','message':'1'},{'type':'log','message':'2'}]}]}"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static void test_migrate__a_version_that_is_gone_is_a_dead_letter(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'a','procedure':{'type':'log','message':'1'},"
          "'rollback':" POSTS("v1") "}," WAIT_X "]}",
          "{}");
    rig.is_of_versions = true;
    assert_true(migrate("{'code':'a','steps':[" WAIT_X "]}"));
    rig.forgets_versions = true;
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.last.dead_letters.count, 1);
}

#define UNDONE_CALL(path, undo)                                                                    \
    "{'type':'integration.http','method':'POST','url':'http://e.example/" path "',"                \
    "'rollback':" POSTS(undo) "}"
#define BESIDE(v)                                                                                  \
    "{'code':'a','steps':[{'code':'all','parallel':{'branches':[[{'code':'s','procedure':"         \
    "[" UNDONE_CALL("one", "undo-one") "," UNDONE_CALL(                                            \
        "two", "undo-two") "]}],"                                                                  \
                           "[" WAITS("b") ",{'code':'c','procedure':{'type':'log','message':'1'}," \
                                          "'rollback':{'type':'log','message':'" v                 \
                                          "'}}]]}}," WAIT_X "]}"

static size_t letters_with(const char *code)
{
    size_t found = 0;

    for (size_t i = 0; i < rig.last.dead_letters.count; i++)
        if (strstr(rig_text(&rig, rig.last.dead_letters.items[i].cause_json), code) != NULL)
            found++;
    return found;
}

/* Of a visit that two versions have run, one is gone: all else is undone, also what came before. */
static void test_migrate__an_entry_whose_version_is_gone_costs_its_own_rollback(void **state)
{
    struct str letter;

    (void)state;
    begin(BESIDE("v1"));
    migrate_answer(200);
    rig.is_of_versions = true;
    assert_true(migrate(BESIDE("v2")));
    assert_true(rig_signal(&rig, "1", "b", "null"));
    migrate_answer(200);
    assert_string_equal(rig_trace(&rig), "b c s all");
    rig.forgets_versions = true;
    assert_true(rig_cancel(&rig, "enough"));
    assert_left("e.example/undo-two");
    rig_reload(&rig);
    migrate_answer(200);
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "b c s all -s -s.failed -c");
    assert_int_equal(letters_with("internal_program"), 1);
    assert_string_equal(rig_text(&rig, rig.last.dead_letters.items[0].step), "s");
    letter = str_copy(&rig.mem, str_of(UUID_STR(rig.last.dead_letters.items[0].id).ptr));
    rig_reload(&rig);
    /* The letter can be tried again once the version is there. */
    rig.forgets_versions = false;
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_ROLLBACK, .letter = letter}));
    assert_left("e.example/undo-one");
    migrate_answer(200);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

/* The visit ended with a version that is gone; what an earlier one did in it is undone all the same. */
static void test_migrate__a_ledger_is_rolled_back_also_when_its_last_version_is_gone(void **state)
{
    (void)state;
    begin(TWO_CALLS("v1"));
    migrate_answer(200);
    migrate_answer(422); /* held */
    rig.is_of_versions = true;
    assert_true(move_with((struct event){.kind = EVENT_RETRY}, TWO_CALLS("v2")));
    migrate_answer(200);
    assert_true(migrate(TWO_CALLS("v3")));
    rig.forgotten = 2;
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(letters_with("internal_program"), 1);
    assert_left("e.example/v1");
    rig_reload(&rig);
    migrate_answer(200);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "s.failed s2 -s2.failed -s2");
}

/* What the rollback of a step looks at may be gone with its version: it sees it as it was. */
static void test_migrate__a_rollback_sees_the_steps_of_the_version_that_it_is_of(void **state)
{
    const char *later[] = {
        "{'code':'a','steps':[" WAIT_X "]}",
        "{'code':'a','steps':[{'code':'b','procedure':{'type':'log','message':'1'}}," WAIT_X "]}",
        /* It is there again, and has not run. */
        "{'code':'a','steps':[" WAIT_X ",{'code':'p','procedure':{'type':'log','message':'1'}}]}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
        start("{'code':'a','steps':["
              "{'code':'p','procedure':{'type':'compute.transform','data':{'id':'p-7'}}},"
              "{'code':'q','onError':'continue',"
              "'procedure':{'type':'compute.fail','code':'no','message':'no'}},"
              "{'code':'b','procedure':{'type':'log','message':'1'},'rollback':{"
              "'type':'integration.http','method':'POST',"
              "'url':'http://e.example/{{ $.steps.p.id }}/{{ $.steps.q.error.code }}'}}," WAIT_X
              "]}",
              "{}");
        rig.is_of_versions = true;
        assert_true(migrate("{'code':'a','steps':[" WAIT_X "]}"));
        rig_reload(&rig);
        assert_true(migrate(later[i]));
        rig_reload(&rig);
        assert_true(rig_cancel(&rig, "enough"));
        assert_left("e.example/p-7/no");
        rig_reload(&rig);
        migrate_answer(200);
        assert_int_equal(rig.x->status, STATUS_CANCELLED);
        teardown(NULL);
        setup(NULL);
    }
}

#define TAKES(code)                                                                                \
    "{'code':'" code "','procedure':{'type':'compute.transform','data':'$.input.x'}}"
#define UNDONE                                                                                     \
    "{'code':'u','procedure':{'type':'log','message':'1'},'rollback':{'type':'log','message':'2'}" \
    "}"

static void test_migrate__what_is_kept_for_rollbacks_is_bounded(void **state)
{
    char *input = arena_alloc(&rig.mem, 400100);

    (void)state;
    snprintf(input, 400100, "{'x':'%0400000d'}", 7);
    start("{'code':'a','steps':[" UNDONE "," TAKES("p") "," WAITS("k") "," WAITS("l") "]}", input);
    rig.is_of_versions = true;
    assert_true(migrate("{'code':'a','steps':[" WAITS("k") "," TAKES("q") "," WAITS("l") "]}"));
    assert_true(rig_signal(&rig, "1", "k", "null"));
    assert_true(migrate("{'code':'a','steps':[" WAITS("l") "," TAKES("r") "," WAITS("m") "]}"));
    assert_true(rig_signal(&rig, "2", "l", "null"));
    assert_false(migrate("{'code':'a','steps':[" WAITS("m") "]}"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(rig_signal(&rig, "3", "m", "null"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

/* A pointer leads into one version: an error says which, wherever it is shown later. */
static void test_migrate__an_error_says_which_version_its_pointer_is_of(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'q','onError':'continue','procedure':"
          "{'type':'compute.fail','code':'no','message':'no'}}," WAIT_X ",{'code':'z','procedure':"
          "{'type':'compute.transform','data':1}}]}",
          "{}");
    rig.is_of_versions = true;
    assert_true(migrate("{'code':'a','steps':[" WAIT_X ",{'code':'q','procedure':"
                        "{'type':'log','message':'1'}},{'code':'z','procedure':"
                        "{'type':'compute.transform','data':'=1/$.signals.size()-1/0'}}]}"));
    rig_reload(&rig);
    assert_non_null(strstr(rig_text(&rig, rig.x->steps[1].error_json),
                           "'source':'/steps/0/procedure','version':1"));
    assert_true(rig_signal(&rig, "1", "x", "null"));
    assert_non_null(strstr(rig_text(&rig, rig.x->waiting_for_json),
                           "'source':'/steps/2/procedure/data','version':2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM_WITH(test_migrate__a_branch_that_a_parallel_step_has_gained_begins),
        CLAIM_WITH(test_migrate__a_branch_that_has_ended_does_not_begin_in_another_place),
        CLAIM_WITH(test_migrate__a_branch_that_is_gone_does_not_count),
        CLAIM_WITH(test_retry__goes_on_elsewhere_in_a_version_without_the_step_that_failed),
        CLAIM_WITH(test_migrate__a_waiting_execution_goes_on_with_another_version),
        CLAIM_WITH(test_migrate__a_step_goes_on_counting_when_a_version_has_it_again),
        CLAIM_WITH(test_migrate__what_commands_have_done_belongs_to_the_same_commands),
        CLAIM_WITH(test_migrate__a_version_without_reconcile_asks_no_more),
        CLAIM_WITH(test_migrate__what_was_done_is_rolled_back_by_the_version_that_did_it),
        CLAIM_WITH(test_migrate__a_rollback_is_that_of_the_version_which_ran_the_step),
        CLAIM_WITH(test_migrate__what_had_no_rollback_gets_none),
        CLAIM_WITH(test_migrate__each_entry_of_a_ledger_is_rolled_back_by_its_version),
        CLAIM_WITH(test_retry__of_a_visit_that_goes_on_needs_the_same_commands),
        CLAIM_WITH(test_migrate__a_version_that_is_gone_is_a_dead_letter),
        CLAIM_WITH(test_migrate__an_entry_whose_version_is_gone_costs_its_own_rollback),
        CLAIM_WITH(test_migrate__a_ledger_is_rolled_back_also_when_its_last_version_is_gone),
        CLAIM_WITH(test_migrate__a_rollback_sees_the_steps_of_the_version_that_it_is_of),
        CLAIM_WITH(test_migrate__what_is_kept_for_rollbacks_is_bounded),
        CLAIM_WITH(test_migrate__an_error_says_which_version_its_pointer_is_of),
        CLAIM_WITH(test_migrate__needs_the_step_of_the_same_kind_in_the_same_place),
        CLAIM_WITH(test_migrate__a_wait_stays_a_wait_for_the_same),
        CLAIM_WITH(test_migrate__a_version_without_reminders_sends_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
