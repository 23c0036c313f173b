/* test_repair.c - claims about what operators do: retry, skip, migrate. */
#include "base/buf.h"
#include "engine/rig.h"
#include "engine/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)

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

#define TRANSFORM(code, data)                                                                      \
    "{'code':'" code "','procedure':{'type':'compute.transform','data':" data "}}"
/* Fails on its first visit. */
#define ONCE(code)                                                                                 \
    "{'code':'" code "','procedure':[{'type':'compute.fail','when':'execution.visit == 1',"        \
    "'code':'no','message':'m'},{'type':'compute.transform','data':'$.execution.visit'}]}"

static void start(const char *scenario, const char *input)
{
    rig_define(&rig, scenario);
    rig_start(&rig, input);
    rig_settle(&rig);
}

static bool retry(const char *from, const char *input)
{
    return rig_event(
        &rig, (struct event){.kind = EVENT_RETRY,
                             .from = str_of(from),
                             .input = input != NULL ? rig_value(&rig, input) : value_absent()});
}

static bool skip_step(const char *output)
{
    return rig_event(
        &rig, (struct event){.kind = EVENT_SKIP,
                             .output = output != NULL ? rig_value(&rig, output) : value_absent()});
}

static void test_retry__a_held_step_runs_again_as_a_new_visit(void **state)
{
    (void)state;
    start("{'code':'a','onError':'hold','steps':[" ONCE("x") "," TRANSFORM("y", "1") "]}", "{}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    rig_reload(&rig);
    assert_true(retry("", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "x.failed x2 y");
}

static void test_retry__a_failed_execution_goes_on(void **state)
{
    (void)state;
    start("{'code':'a','onError':'fail_fast','steps':[" TRANSFORM("a", "1") "," ONCE("x") "]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    rig_reload(&rig);
    assert_true(retry("", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.x->error_json.len, 0);
    assert_string_equal(rig_trace(&rig), "a x.failed x2");
}

static void test_retry__within_a_loop_keeps_its_place(void **state)
{
    (void)state;
    start("{'code':'a','onError':'fail_fast','steps':[{'code':'l','loop':{'for':[1,2,3],'collect':"
          "'$.loop.item','steps':[{'code':'x','procedure':{'type':'compute.fail','code':'no',"
          "'message':'m'},'when':'$.loop.item == 2 && execution.visit == 2'}]}}]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    rig_reload(&rig);
    assert_true(retry("", NULL));
    assert_string_equal(rig_text(&rig, rig.x->result_json),
                        "{'count':3,'items':[1,2,3],'errors':[]}");
}

static void test_retry__from_another_step(void **state)
{
    (void)state;
    start("{'code':'a','onError':'hold','steps':[" TRANSFORM(
              "a", "1") ",{'code':'l','loop':{'for':["
                        "1,2],'steps':[" ONCE("x") "]}}," TRANSFORM("z", "1") "]}",
          "{}");
    assert_false(retry("nowhere", NULL));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_true(retry("a", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "a x.failed l.skipped a2 x2 x3 l2 z");
    assert_null(rig.x->loops);
}

static void test_retry__not_into_another_step(void **state)
{
    (void)state;
    start("{'code':'a','onError':'hold','steps':[{'code':'l','loop':{'for':[1],'steps':[" TRANSFORM(
              "i", "1") "]}}," ONCE("x") "]}",
          "{}");
    assert_false(retry("i", NULL));
    assert_int_equal(rig.err.code, ERR_INVALID);
}

static void test_retry__with_another_input(void **state)
{
    (void)state;
    start("{'code':'a','steps':[" TRANSFORM("x", "'$.input.n'") "," TRANSFORM("y", "1") "]}",
          "{'m':1}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(retry("", "{'n':5}"));
    assert_string_equal(rig_output(&rig, "x"), "5");
    assert_string_equal(rig_text(&rig, rig.x->input_json), "{'n':5}");
}

#define ASKED "{'code':'ask','procedure':'bank.charge','rollback':{'type':'log','message':'m'}}"

static void test_skip__of_a_wait_for_a_worker(void **state)
{
    (void)state;
    start("{'code':'a','steps':[" ASKED "," TRANSFORM("y", "'=$.steps.ask == null'") "]}", "{}");
    rig_reload(&rig);
    assert_true(skip_step(NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "ask.failed ask2.skipped y");
    assert_string_equal(rig_output(&rig, "y"), "true");
}

static void test_skip__of_a_wait_for_a_worker_with_a_result(void **state)
{
    (void)state;
    start("{'code':'a','steps':[" ASKED "," TRANSFORM("y", "'$.steps.ask.id'") "]}", "{}");
    rig_reload(&rig);
    assert_true(skip_step("{'id':7}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "y"), "7");
    assert_string_equal(rig_trace(&rig), "ask y");
}

static void test_skip__a_worker_that_answers_afterwards_is_too_late(void **state)
{
    struct str key;

    (void)state;
    start("{'code':'a','steps':[" ASKED ",{'code':'w','procedure':{'type':'wait.timer','duration':"
          "'1h'}}]}",
          "{}");
    key = rig.x->cursor.awaited;
    assert_true(skip_step("1"));
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_ANSWER,
                                                .answer_key = key,
                                                .answer_output = value_int(2),
                                                .answer_error = value_absent()}));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static void test_skip__what_was_done_before_the_worker_was_asked_is_kept_with_a_result(void **state)
{
    int64_t version;

    (void)state;
    start("{'code':'a','steps':[{'code':'x','procedure':[{'type':'record.create','object':'o','id':"
          "'1','data':{'n':1}},{'type':'flow.call','procedure':'bank.charge'}]}]}",
          "{}");
    rig_reload(&rig);
    assert_true(skip_step("{'id':7}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "{'n':1}");
    assert_string_equal(rig_text(&rig, rig.x->result_json), "{'id':7}");
}

static void test_skip__what_a_worker_may_have_done_is_undone(void **state)
{
    (void)state;
    start("{'code':'a','steps':[" ASKED ",{'code':'z','procedure':{'type':'compute.fail','code':"
          "'no','message':'m'}}]}",
          "{}");
    assert_true(skip_step(NULL));
    assert_string_equal(rig_trace(&rig), "ask.failed ask2.skipped z.failed -ask");
    start("{'code':'a','steps':[" ASKED ",{'code':'z','procedure':{'type':'compute.fail','code':"
          "'no','message':'m'}}]}",
          "{}");
    assert_true(skip_step("1"));
    assert_string_equal(rig_trace(&rig), "ask z.failed -ask");
}

static void test_retry__is_refused_when_nothing_has_failed_or_it_was_rolled_back(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}]}",
          "{}");
    assert_false(retry("", NULL));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    start("{'code':'a','steps':[{'code':'a','procedure':{'type':'log','message':'m'},'rollback':{"
          "'type':'log','message':'m'}}," ONCE("x") "]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_false(retry("", NULL));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    start("{'code':'a','steps':[]}", "{}");
    assert_false(retry("", NULL));
}

static void test_retry__an_unknown_outcome_keeps_its_visit_and_its_key(void **state)
{
    (void)state;
    start("{'code':'a','onError':'hold','steps':[{'code':'x','procedure':'erp.pay','retry':{"
          "'maxAttempts':1}}]}",
          "{}");
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_ANSWER,
                             .answer_key = rig.x->cursor.awaited,
                             .answer_output = value_absent(),
                             .answer_error = rig_value(&rig, "{'class':'indeterminate'}")}));
    assert_int_equal(rig.x->cursor.phase, PHASE_HELD);
    rig_reload(&rig);
    assert_true(retry("", NULL));
    assert_int_equal(rig.x->cursor.phase, PHASE_JOB);
    assert_int_equal(rig.x->cursor.visit, 1);
    assert_string_equal(rig_text(&rig, rig.x->cursor.awaited),
                        "01020304-0506-7708-890a-0b0c0d0e0f10-x");
}

static void test_retry__a_result_that_failed_is_made_again(void **state)
{
    (void)state;
    start("{'code':'a','steps':[],'result':{'n':'$.input.n'}}", "{}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(retry("", "{'n':3}"));
    assert_string_equal(rig_text(&rig, rig.x->result_json), "{'n':3}");
}

static void test_retry__has_jumps_and_time_again(void **state)
{
    (void)state;
    start("{'code':'a','settings':{'timeout':'1h'},'onError':'hold','steps':[{'code':'x',"
          "'procedure':{'type':'log','message':'m'},'goto':[{'when':'execution.visit < 150','to':"
          "'x'}]},{'code':'w','procedure':{'type':'wait.signal','signalType':'y'}}]}",
          "{}");
    assert_true(str_find(rig.x->waiting_for_json, STR("limit_goto"), 0) >= 0);
    rig_pass(&rig, 7200 * SECOND);
    assert_true(retry("", NULL));
    rig_settle(&rig);
    assert_int_equal(rig.x->cursor.phase, PHASE_WAIT);
    assert_true(rig.x->deadline_at_us == rig.now_us + 3600 * SECOND);
}

/* A step between two attempts when the time of the execution is up. */
static void hold_between_attempts(void)
{
    start(
        "{'code':'a','onError':'hold','settings':{'timeout':'1m'},'steps':[{'code':'x','retry':{"
        "'maxAttempts':3,'delay':'30m','jitter':'none'},'procedure':{'type':'compute.fail','code':"
        "'no','message':'m','class':'transient'}}," TRANSFORM("y", "1") "]}",
        "{}");
    assert_int_equal(rig.x->cursor.phase, PHASE_RETRY);
    rig_pass(&rig, 120 * SECOND);
    rig_settle(&rig);
    assert_int_equal(rig.x->cursor.phase, PHASE_HELD);
}

static void test_retry__a_visit_without_an_end_goes_on(void **state)
{
    (void)state;
    hold_between_attempts();
    assert_true(retry("", NULL));
    assert_int_equal(rig.x->cursor.visit, 1);
    assert_int_equal(rig.x->cursor.attempt, 2);
}

static void test_retry__a_visit_that_was_left_has_a_number_of_its_own(void **state)
{
    (void)state;
    hold_between_attempts();
    assert_true(retry("x", NULL));
    assert_int_equal(rig.x->cursor.visit, 2);
    rig_reload(&rig);
    assert_int_equal(rig.x->steps[0].visit, 1);
}

static void test_skip__a_visit_without_an_end_is_left(void **state)
{
    (void)state;
    hold_between_attempts();
    assert_true(skip_step(NULL));
    assert_string_equal(rig_trace(&rig), "x.failed x2.skipped y");
}

static void test_skip__goes_on_without_the_step_or_with_another_output(void **state)
{
    (void)state;
    start(
        "{'code':'a','onError':'hold','steps':[" ONCE("x") "," TRANSFORM("y", "'=$.steps.x'") "]}",
        "{}");
    assert_true(skip_step(NULL));
    assert_string_equal(rig_trace(&rig), "x.failed x2.skipped y");
    assert_string_equal(rig_output(&rig, "y"), "null");
    start("{'code':'a','onError':'hold','steps':[" ONCE("x") "," TRANSFORM("y",
                                                                           "'$.steps.x.id'") "]}",
          "{}");
    assert_true(skip_step("{'id':9}"));
    assert_string_equal(rig_trace(&rig), "x.failed x2 y");
    assert_string_equal(rig_output(&rig, "y"), "9");
}

static void test_skip__is_for_held_steps(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}]}",
          "{}");
    assert_false(skip_step(NULL));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

/* The same execution with another version of its program. */
static bool move_with(struct event event, const char *scenario)
{
    const struct program *old = rig.program;
    bool ok;

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

static void test_retry__goes_on_elsewhere_in_a_version_without_the_step_that_failed(void **state)
{
#define FAILS "{'code':'bad','procedure':{'type':'compute.fail','code':'no','message':'no'}}"
    const char *without =
        "{'code':'a','steps':[" TRANSFORM("a", "1") "," TRANSFORM("z", "'done'") "]}";

    (void)state;
    for (int held = 0; held <= 1; held++) {
        start(held ? "{'code':'a','onError':'hold','steps':[" TRANSFORM(
                         "a", "1") "," FAILS "," TRANSFORM("z", "2") "]}"
                   : "{'code':'a','onError':'fail_fast','steps':[" TRANSFORM(
                         "a", "1") "," FAILS "," TRANSFORM("z", "2") "]}",
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
    start("{'code':'a','steps':[" TRANSFORM("a", "1") ",{'code':'w','procedure':{'type':"
                                                      "'wait.signal','signalType':'x'}}," TRANSFORM(
                                                          "z", "'old'") "]}",
          "{}");
    assert_true(migrate("{'code':'a','steps':[" TRANSFORM("new", "0") "," TRANSFORM("a", "1") //
                        ",{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}},"  //
                        TRANSFORM("z", "['new','$.steps.a.output']") "]}"));
    assert_int_equal(rig.x->cursor.step, 2);
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_string_equal(rig_text(&rig, rig.x->result_json), "['new',1]");
}

static void test_migrate__a_step_goes_on_counting_when_a_version_has_it_again(void **state)
{
    (void)state;
#define ASK "{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}"
    start("{'code':'a','steps':[" TRANSFORM("a", "1") "," ASK "]}", "{}");
    assert_true(migrate("{'code':'a','steps':[" ASK "]}"));
    rig_reload(&rig);
    assert_true(migrate("{'code':'a','steps':[" ASK "," TRANSFORM("a", "2") "]}"));
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "a w a2");
#undef ASK
}

static void test_migrate__needs_the_step_of_the_same_kind_in_the_same_place(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'l','loop':{'for':[1],'steps':[{'code':'w','procedure':{"
          "'type':'wait.signal','signalType':'x'}}]}}]}",
          "{}");
    assert_false(migrate("{'code':'a','steps':[" TRANSFORM("z", "1") "]}"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(migrate("{'code':'a','steps':[" TRANSFORM("l", "1") "," TRANSFORM("w", "1") "]}"));
    assert_false(migrate("{'code':'a','steps':[{'code':'l','loop':{'for':[1],'steps':[" TRANSFORM(
        "y", "1") "]}}," TRANSFORM("w", "1") "]}"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_migrate__a_wait_stays_a_wait_for_the_same(void **state)
{
    (void)state;
#define STEP(command) "{'code':'a','steps':[{'code':'w','procedure':{" command "}}]}"
    rig_define(&rig, STEP("'type':'wait.timer','duration':'1h'"));
    rig_start(&rig, "{}");
    assert_false(migrate(STEP("'type':'wait.signal','signalType':'x'")));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(migrate(STEP("'type':'compute.transform','data':1")));
    assert_false(migrate("{'code':'a','procedures':{'p':{'commands':[{'type':'log','message':'m'}]}"
                         "},'steps':[{'code':'w','procedure':'p'}]}"));
    assert_true(migrate(STEP("'type':'wait.timer','duration':'2h'")));
    assert_true(rig_signal(&rig, "1", "x", "1"));
    rig_pass(&rig, 3600 * INT64_C(1000000));
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
#undef STEP
}

static void test_migrate__a_version_without_reconcile_asks_no_more(void **state)
{
#define DOUBT(more)                                                                                \
    "{'code':'a','steps':[{'code':'x','retry':{'maxAttempts':2,'delay':'1m','jitter':'none'},"     \
    "'procedure':[{'type':'compute.fail','when':'execution.attempt == 1','code':'lost','message'"  \
    ":'m','class':'indeterminate'},{'type':'compute.transform','data':1}]" more "}]}"

    (void)state;
    rig_define(&rig, DOUBT(",'reconcile':{'type':'compute.transform','data':0}"));
    rig_start(&rig, "{}");
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->cursor.phase, PHASE_RECONCILE);
    assert_true(migrate(DOUBT("")));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?x x.failed x(2)");
#undef DOUBT
}

static void test_migrate__a_rollback_that_the_version_lacks_is_given_up(void **state)
{
#define COMMANDS(first, second)                                                                    \
    "{'code':'a','steps':[{'code':'a','procedure':[{'type':'log','message':'1'" first              \
    "},{'type':'log','message':'2'" second                                                         \
    "}]},{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}]}"
#define UNDO ",'rollback':{'type':'log','message':'undo'}"

    (void)state;
    start(COMMANDS(UNDO, ""), "{}");
    assert_true(migrate(COMMANDS("", UNDO)));
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "a -a.failed");
#undef UNDO
#undef COMMANDS
}

static bool has_actions(const char *wanted)
{
    struct buf text;

    buf_init_arena(&text, &rig.mem);
    show_execution(&text, rig.x);
    return str_find(buf_view(&text), str_printf(&rig.mem, "\"actions\":[%s]", wanted), 0) >= 0;
}

static void test_actions__say_what_can_be_done_now(void **state)
{
    (void)state;
    start("{'code':'a','onError':'hold','steps':[" ONCE("x") "]}", "{}");
    assert_true(has_actions("\"cancel\",\"signal\",\"retry\",\"skip\",\"migrate\""));
    assert_true(retry("", NULL));
    assert_true(has_actions("\"again\",\"delete\""));
    start("{'code':'a','steps':[{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}]}",
          "{}");
    assert_true(has_actions("\"cancel\",\"signal\",\"assign\",\"migrate\",\"pause\""));
    start("{'code':'a','steps':[" ASKED "]}", "{}");
    assert_true(has_actions("\"cancel\",\"signal\",\"skip\",\"migrate\",\"pause\""));
    start("{'code':'a','steps':[" ONCE("x") "]}", "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(has_actions("\"retry\",\"again\",\"delete\""));
    start("{'code':'a','steps':[{'code':'a','procedure':{'type':'log','message':'m'},'rollback':{"
          "'type':'log','message':'m'}}," ONCE("x") "]}",
          "{}");
    assert_true(has_actions("\"again\",\"delete\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM_WITH(test_retry__a_held_step_runs_again_as_a_new_visit),
        CLAIM_WITH(test_retry__a_failed_execution_goes_on),
        CLAIM_WITH(test_retry__within_a_loop_keeps_its_place),
        CLAIM_WITH(test_retry__from_another_step),
        CLAIM_WITH(test_retry__not_into_another_step),
        CLAIM_WITH(test_retry__with_another_input),
        CLAIM_WITH(test_retry__is_refused_when_nothing_has_failed_or_it_was_rolled_back),
        CLAIM_WITH(test_retry__an_unknown_outcome_keeps_its_visit_and_its_key),
        CLAIM_WITH(test_retry__a_result_that_failed_is_made_again),
        CLAIM_WITH(test_retry__has_jumps_and_time_again),
        CLAIM_WITH(test_retry__a_visit_without_an_end_goes_on),
        CLAIM_WITH(test_retry__a_visit_that_was_left_has_a_number_of_its_own),
        CLAIM_WITH(test_skip__a_visit_without_an_end_is_left),
        CLAIM_WITH(test_skip__goes_on_without_the_step_or_with_another_output),
        CLAIM_WITH(test_skip__is_for_held_steps),
        CLAIM_WITH(test_skip__of_a_wait_for_a_worker),
        CLAIM_WITH(test_skip__of_a_wait_for_a_worker_with_a_result),
        CLAIM_WITH(test_skip__a_worker_that_answers_afterwards_is_too_late),
        CLAIM_WITH(test_skip__what_was_done_before_the_worker_was_asked_is_kept_with_a_result),
        CLAIM_WITH(test_skip__what_a_worker_may_have_done_is_undone),
        CLAIM_WITH(test_retry__goes_on_elsewhere_in_a_version_without_the_step_that_failed),
        CLAIM_WITH(test_migrate__a_waiting_execution_goes_on_with_another_version),
        CLAIM_WITH(test_migrate__a_step_goes_on_counting_when_a_version_has_it_again),
        CLAIM_WITH(test_migrate__a_version_without_reconcile_asks_no_more),
        CLAIM_WITH(test_migrate__a_rollback_that_the_version_lacks_is_given_up),
        CLAIM_WITH(test_migrate__needs_the_step_of_the_same_kind_in_the_same_place),
        CLAIM_WITH(test_migrate__a_wait_stays_a_wait_for_the_same),
        CLAIM_WITH(test_actions__say_what_can_be_done_now),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
