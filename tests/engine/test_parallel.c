/* test_parallel.c - claims about parallel steps: strands beside each other. */
#include "base/buf.h"
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)

#define STEP(code, data, more)                                                                     \
    "{'code':'" code "','procedure':{'type':'compute.transform','data':" data "}" more "}"
#define UNDOABLE(code) STEP(code, "'" code "'", ",'rollback':{'type':'log','message':'x'}")
#define FAIL(code, more)                                                                           \
    "{'code':'" code "','procedure':{'type':'compute.fail','code':'no','message':'m'}" more "}"
#define SIGNAL(code, type, more)                                                                   \
    "{'code':'" code "','procedure':{'type':'wait.signal','signalType':'" type "'" more "}}"
#define TIMER(code, duration)                                                                      \
    "{'code':'" code "','procedure':{'type':'wait.timer','duration':'" duration "'}}"
#define WORKER(code, more) "{'code':'" code "','procedure':'erp." code "'" more "}"
#define PARALLEL(more, branches) "{'code':'p','parallel':{'branches':[" branches "]" more "}}"

static void start_with(const char *more, const char *steps)
{
    struct buf text;

    buf_init_arena(&text, &rig.mem);
    buf_printf(&text, "{'code':'a'%s,'steps':[%s]}", more, steps);
    buf_char(&text, 0);
    rig_define(&rig, text.ptr);
    rig_start(&rig, "{}");
}

static void start(const char *steps)
{
    start_with("", steps);
}

/* A signal, the state having been stored and read back before it. */
static void signal(const char *type)
{
    static unsigned number;

    rig_reload(&rig);
    assert_true(
        rig_signal(&rig, rig_text(&rig, str_printf(&rig.mem, "s%u", number++)), type, "null"));
}

static bool answer(const char *key, const char *output, const char *error)
{
    struct str full = str_printf(&rig.mem, "01020304-0506-7708-890a-0b0c0d0e0f10-%s", key);

    rig_reload(&rig);
    return rig_event(&rig,
                     (struct event){
                         .kind = EVENT_ANSWER,
                         .answer_key = full,
                         .answer_output = output != NULL ? rig_value(&rig, output) : value_absent(),
                         .answer_error = error != NULL ? rig_value(&rig, error) : value_absent(),
                     });
}

static void pass(int64_t us)
{
    rig_reload(&rig);
    rig_pass(&rig, us);
    assert_true(rig_wake(&rig));
}

static const char *result(void)
{
    return rig_text(&rig, rig.x->result_json);
}

static bool waits_with(const char *part)
{
    return strstr(rig_text(&rig, rig.x->waiting_for_json), part) != NULL;
}

/* The rows of kind event with a status: "code code". */
static const char *events(const char *status)
{
    struct buf out;

    buf_init_arena(&out, &rig.mem);
    for (size_t i = 0; i < rig.history.count; i++) {
        const struct history_row *row = &rig.history.items[i];
        if (row->kind != HISTORY_EVENT || !str_eq(row->status, str_of(status)))
            continue;
        if (out.len > 0)
            buf_char(&out, ' ');
        buf_str(&out, row->step);
    }
    buf_char(&out, 0);
    return out.ptr;
}

/* --- joining --- */

static void test_parallel__branches_run_one_after_the_other_when_none_waits(void **state)
{
    (void)state;
    start(PARALLEL("", "[" STEP("a", "1", "") "," STEP("b", "2", "") "],[" STEP(
                           "c", "'$.steps.a.output'", "") "]") "," STEP("z", "'$.steps.p'", ""));
    assert_string_equal(rig_trace(&rig), "a b c p z");
    assert_string_equal(rig_output(&rig, "p"), "{'branches':[2,1],'count':2,'ended':[0,1]}");
    assert_int_equal(rig.x->other_count, 0);
}

static void test_parallel__goes_on_when_all_have_ended(void **state)
{
    (void)state;
    start(PARALLEL("", "[" SIGNAL("a", "x", "") "],[" SIGNAL("b", "y", "") "," STEP(
                           "c", "'$.steps.b.type'", "") "]") "," STEP("z", "'$.steps.p.branches'",
                                                                      ""));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(execution_strands(rig.x), 2);
    signal("y");
    assert_string_equal(rig_trace(&rig), "b c");
    assert_int_equal(execution_strands(rig.x), 1);
    assert_string_equal(rig_text(&rig, rig.x->program->steps[rig.x->cursor.step].code), "a");
    signal("x");
    assert_string_equal(rig_trace(&rig), "b c a p z");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "c"), "'y'");
    assert_non_null(strstr(rig_output(&rig, "p"), "'count':2,'ended':[1,0]"));
}

static void test_parallel__any_stops_the_others(void **state)
{
    (void)state;
    start(PARALLEL(",'join':'any'", "[" SIGNAL("a", "x", "") "],[" TIMER("b", "1h") "],[" SIGNAL(
                                        "c", "y", "") "]") "," SIGNAL("z", "x", ""));
    assert_int_equal(rig.x->wake_at_us, rig.now_us + 3600 * SECOND);
    signal("y");
    assert_string_equal(rig_trace(&rig), "c p");
    assert_string_equal(events("stopped"), "a b");
    assert_non_null(strstr(rig_output(&rig, "p"), "'branches':[null,null,{'type':'y'"));
    assert_non_null(strstr(rig_output(&rig, "p"), "'count':1,'ended':[2]"));
    /* Their waits and timers are gone. */
    assert_int_equal(execution_strands(rig.x), 1);
    assert_int_equal(rig.x->wake_at_us, rig.x->deadline_at_us);
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "c p z");
}

static void test_parallel__a_number_of_branches_is_enough(void **state)
{
    (void)state;
    start(PARALLEL(",'join':2", "[" SIGNAL("a", "x", "") "],[" SIGNAL("b", "y", "") "],[" SIGNAL(
                                    "c", "z", "") "]"));
    signal("z");
    assert_int_equal(execution_strands(rig.x), 2);
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(events("stopped"), "b");
    assert_string_equal(rig_trace(&rig), "c a p");
}

static void test_parallel__empty_branches_have_ended(void **state)
{
    (void)state;
    start(PARALLEL("", "[],[" SIGNAL("a", "x", "") "],[]"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    signal("x");
    assert_non_null(strstr(rig_output(&rig, "p"), "'count':3,'ended':[0,2,1]"));
    start(PARALLEL("", "[],[]") "," STEP("z", "1", ""));
    assert_string_equal(rig_trace(&rig), "p z");
    start(PARALLEL(",'join':'any'", "[" STEP("a", "1", "") "],[]"));
    assert_string_equal(rig_trace(&rig), "p");
}

static void test_parallel__the_result_of_a_branch_is_that_of_its_last_step(void **state)
{
    (void)state;
    start(PARALLEL("", "[" STEP("a", "1", "") "," STEP("b", "2", ",'when':'false'") "],[" FAIL(
                           "c", ",'onError':'continue'") "],[" STEP("d", "{'x':[1]}", "") "]"));
    assert_string_equal(rig_output(&rig, "p"),
                        "{'branches':[null,null,{'x':[1]}],'count':3,'ended':[0,1,2]}");
}

static void test_parallel__may_stand_in_loops_and_in_itself(void **state)
{
    (void)state;
    start("{'code':'l','loop':{'for':[1,2],'as':'n','collect':'$.steps.p.branches','steps':["
          "{'code':'p','parallel':{'branches':[[" STEP(
              "a", "'=$.loop.n * 10'",
              "") "],"
                  "[{'code':'q','parallel':{'branches':[[" SIGNAL("b", "x", "") "],[" SIGNAL(
                      "c", "y", "") "]],'join':'any'}}," STEP("d", "'$.steps.q.ended'", "") "]]}}]}"
                                                                                            "}");
    assert_int_equal(execution_strands(rig.x), 2);
    signal("y");
    assert_int_equal(execution_strands(rig.x), 2);
    assert_int_equal(rig.x->cursor.visit, 2);
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "l"),
                        "{'count':2,'items':[[10,[1]],[20,[0]]],'errors':[]}");
    assert_string_equal(rig_trace(&rig), "a c q d p a2 b2 q2 d2 p2 l");
}

static void test_parallel__stopped_steps_are_visited_anew_with_another_number(void **state)
{
    (void)state;
    start("{'code':'l','loop':{'for':[1,2],'steps':[" PARALLEL(
        ",'join':'any'", "[" SIGNAL("a", "x", "") "],[{'code':'i','branch':[{'steps':[" SIGNAL(
                             "b", "y", "") "]}]}]") "]}}");
    signal("x");
    assert_string_equal(events("stopped"), "b i");
    signal("y");
    assert_string_equal(rig_trace(&rig), "a p b2 i2 p2 l");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

/* --- waiting --- */

static void test_parallel__says_what_each_branch_waits_for(void **state)
{
    (void)state;
    start(PARALLEL("", "[" SIGNAL("a", "x", "") "],[" TIMER("b", "1h") "]"));
    assert_true(waits_with("{'kind':'signal','step':'a'"));
    assert_true(waits_with("'branches':[{'kind':'signal','step':'a'"));
    assert_true(waits_with("{'kind':'timer','step':'b'"));
    signal("x");
    assert_true(waits_with("{'kind':'timer','step':'b'"));
    assert_false(waits_with("branches"));
}

static void test_parallel__a_signal_goes_to_the_oldest_wait(void **state)
{
    (void)state;
    start(
        PARALLEL("", "[" TIMER("t", "1m") "," SIGNAL("a", "x", "") "],[" SIGNAL("b", "x", "") "]"));
    pass(60 * SECOND);
    assert_int_equal(execution_strands(rig.x), 2);
    signal("x");
    assert_string_equal(rig_trace(&rig), "t b");
    signal("x");
    assert_string_equal(rig_trace(&rig), "t b a p");
}

static void test_parallel__a_signal_goes_to_the_wait_that_it_matches(void **state)
{
    (void)state;
    start(PARALLEL("", "[" SIGNAL("a", "x", ",'match':'$.signal.payload == 1'") "],[" SIGNAL(
                           "b", "x", ",'match':'$.signal.payload == 2'") "]"));
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "1", "x", "2"));
    assert_string_equal(rig_trace(&rig), "b");
    assert_true(waits_with("'unmatched':1"));
    assert_true(rig_signal(&rig, "2", "x", "1"));
    assert_string_equal(rig_trace(&rig), "b a p");
}

static void test_parallel__a_payload_must_fit_one_of_the_forms(void **state)
{
    (void)state;
    start(PARALLEL(
        "",
        "[" SIGNAL(
            "a", "x",
            ",'form':[{'name':'n','type':'integer','required':true}]") "],[" SIGNAL("b", "x",
                                                                                    ",'form':[{'"
                                                                                    "name':'s','"
                                                                                    "type':'string'"
                                                                                    ",'required':"
                                                                                    "true}]") "]"));
    assert_false(rig_signal(&rig, "1", "x", "{'z':1}"));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_true(rig_signal(&rig, "2", "x", "{'s':'t'}"));
    assert_string_equal(rig_trace(&rig), "b");
    assert_true(rig_signal(&rig, "3", "x", "{'n':1}"));
    assert_string_equal(rig_trace(&rig), "b a p");
}

static void test_parallel__timers_fire_each_at_its_time(void **state)
{
    (void)state;
    start(PARALLEL("", "[" TIMER("a", "3m") "],[" TIMER("b", "1m") "],[" TIMER("c", "2m") "]"));
    rig_settle(&rig);
    assert_string_equal(rig_trace(&rig), "b c a p");
    start(PARALLEL("", "[" TIMER("a", "3m") "],[" TIMER("b", "1m") "],[" TIMER("c", "2m") "]"));
    pass(3600 * SECOND);
    assert_string_equal(rig_trace(&rig), "a b c p");
    assert_false(rig_wake(&rig));
}

static void test_parallel__there_is_nothing_to_wake_before_the_time(void **state)
{
    (void)state;
    start(PARALLEL("", "[" TIMER("a", "3m") "],[" TIMER("b", "1m") "]"));
    assert_false(rig_wake(&rig));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static void test_parallel__answers_go_to_the_strand_that_asked(void **state)
{
    (void)state;
    start(PARALLEL(
        "", "[" WORKER("a", "") "],[" WORKER("b", "") "," STEP("c", "'$.steps.b.output'", "") "]"));
    assert_true(waits_with("'branches':[{'kind':'job','step':'a'"));
    assert_true(answer("b", "5", NULL));
    assert_string_equal(rig_trace(&rig), "b c");
    assert_false(answer("b", "5", NULL));
    assert_true(answer("a", "6", NULL));
    assert_string_equal(rig_output(&rig, "p"), "{'branches':[6,5],'count':2,'ended':[1,0]}");
}

static void test_parallel__attempts_wait_for_their_time_beside_others(void **state)
{
    (void)state;
    start(PARALLEL(
        "", "[" WORKER("a", ",'retry':{'maxAttempts':2,'delay':'1m','jitter':'none'}") "],[" SIGNAL(
                "b", "x", "") "]"));
    assert_true(answer("a", NULL, "{'code':'down','message':'m','class':'transient'}"));
    assert_true(waits_with("'kind':'retry'"));
    assert_int_equal(rig.x->wake_at_us, rig.now_us + 60 * SECOND);
    signal("x");
    pass(60 * SECOND);
    assert_true(answer("a", "1", NULL));
    assert_string_equal(rig_trace(&rig), "a.failed b a(2) p");
}

/* --- failures --- */

static void test_parallel__a_failure_stops_the_others_and_rolls_back(void **state)
{
    (void)state;
    start(PARALLEL("", "[" UNDOABLE("a") "," SIGNAL("b", "x", "") "," FAIL("c", "") "],[" UNDOABLE(
                           "d") "," SIGNAL("e", "y", "") "]"));
    signal("x");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(events("stopped"), "e");
    assert_string_equal(rig_trace(&rig), "a d b c.failed -d -a");
    assert_non_null(strstr(rig_text(&rig, rig.x->error_json), "'compensated':['d','a']"));
}

static void test_parallel__its_own_on_error_may_catch_a_failure(void **state)
{
    (void)state;
    start("{'code':'p','onError':'continue','parallel':{'branches':[[" SIGNAL(
        "a", "x", "") "," FAIL("b", "") "],[" SIGNAL("c", "y", "") "]]}}," STEP("z",
                                                                                "'$.steps.p.error."
                                                                                "code'",
                                                                                ""));
    signal("x");
    assert_string_equal(rig_trace(&rig), "a b.failed p.failed z");
    assert_string_equal(events("stopped"), "c");
    assert_string_equal(result(), "'no'");
}

static void test_parallel__losers_that_had_completed_are_rolled_back_too(void **state)
{
    (void)state;
    start(PARALLEL(",'join':'any'", "[" UNDOABLE("a") "," SIGNAL("b", "x", "") "],[" UNDOABLE(
                                        "c") "," SIGNAL("d", "y", "") "]") "," FAIL("z", ""));
    signal("y");
    assert_string_equal(rig_trace(&rig), "a c d p z.failed -c -a");
}

static void test_parallel__a_worker_that_was_asked_may_have_done_it(void **state)
{
    (void)state;
    start(PARALLEL(",'join':'any'",
                   "[" WORKER("a", ",'rollback':{'type':'log','message':'x'}") "],[" SIGNAL(
                       "b", "x", "") "]") "," SIGNAL("c", "go", "") "," FAIL("z", ""));
    signal("x");
    assert_string_equal(rig_trace(&rig), "b a.failed p");
    assert_non_null(strstr(rig_text(&rig, rig_row(&rig, "a")->error_json), "'class':'indetermin"));
    assert_false(answer("a", "1", NULL));
    signal("go");
    assert_string_equal(rig_trace(&rig), "b a.failed p c z.failed -a");
}

static void test_parallel__an_attempt_without_an_answer_may_have_happened(void **state)
{
    (void)state;
    start(PARALLEL(",'join':'any'",
                   "[" WORKER("a",
                              ",'retry':{'maxAttempts':3,'delay':'1h'},'rollback':{'type':'log',"
                              "'message':'x'}") "],[" SIGNAL("b", "x", "") "]") "," FAIL("z", ""));
    assert_true(answer("a", NULL, "{'code':'cut','message':'m','class':'indeterminate'}"));
    signal("x");
    assert_string_equal(rig_trace(&rig), "a.failed b a.failed(2) p z.failed -a");
}

static void test_parallel__what_is_being_asked_about_is_rolled_back_like_what_happened(void **state)
{
    (void)state;
    start(PARALLEL(
        ",'join':'any'",
        "[{'code':'a','procedure':{'type':'compute.fail','code':'cut','message':'m','class':"
        "'indeterminate'},'reconcile':{'procedure':{'type':'compute.transform','data':{'outcome':"
        "'unknown'}},'every':'1h'},'rollback':{'type':'log','message':'x'}}],[" SIGNAL(
            "b", "x", "") "]") "," FAIL("z", ""));
    assert_int_equal(execution_strands(rig.x), 2);
    pass(0);
    assert_true(waits_with("'kind':'reconcile'"));
    signal("x");
    assert_string_equal(rig_trace(&rig), "?a b a.failed p z.failed -a");
}

static void test_parallel__branches_ask_beside_each_other(void **state)
{
    (void)state;
    start(PARALLEL(
        "", "[{'code':'a','procedure':{'type':'compute.fail','code':'cut','message':'m','class':"
            "'indeterminate'},'reconcile':{'procedure':{'type':'compute.transform','data':"
            "{'outcome':'succeeded','output':7}}}}],[{'code':'b','procedure':{'type':"
            "'compute.fail','code':'cut','message':'m','class':'indeterminate'},'reconcile':{"
            "'procedure':{'type':'compute.transform','data':{'outcome':'unknown'}},'every':'1m',"
            "'max':2}}]"));
    pass(0);
    assert_string_equal(rig_trace(&rig), "?a a ?b");
    pass(60 * SECOND);
    assert_true(execution_is_held(rig.x));
    assert_true(waits_with("'kind':'reconcile','parked':true"));
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RESOLVE,
                                               .letter = rig.x->cursor.reconciling->letter,
                                               .verdict = VERDICT_SUCCEEDED,
                                               .output = value_int(8)}));
    assert_string_equal(rig_output(&rig, "p"), "{'branches':[7,8],'count':2,'ended':[0,1]}");
}

/* What an operator said has led to an incident of the same attempt: the letter before is closed. */
static void test_parallel__a_branch_that_is_held_once_more_has_one_letter(void **state)
{
#define DOUBT(code)                                                                                \
    "[{'code':'" code "','procedure':{'type':'compute.fail','code':'cut','message':'m','class':"   \
    "'indeterminate'},'reconcile':{'procedure':{'type':'compute.transform','data':0},'max':1}}]"

    (void)state;
    start_with(",'onError':'hold'", PARALLEL("", DOUBT("a") "," DOUBT("b")));
    pass(0);
    assert_true(execution_is_held(rig.x));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RESOLVE,
                                               .letter = rig.x->cursor.reconciling->letter,
                                               .verdict = VERDICT_FAILED}));
    assert_true(execution_is_held(rig.x));
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_int_equal(rig.last.incident.steps.count, 1);
#undef DOUBT
}

static void test_parallel__correlated_waits_open_and_close_each_for_itself(void **state)
{
    (void)state;
    start(PARALLEL("", "[" SIGNAL("a", "x", ",'correlation':'one'") "],[" SIGNAL(
                           "b", "x", ",'correlation':'two'") "]"));
    assert_int_equal(rig.last.opened.count, 2);
    rig_reload(&rig);
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_SIGNAL,
                                                .signal_id = STR("1"),
                                                .signal_type = STR("x"),
                                                .signal_correlation = STR("three")}));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SIGNAL,
                                               .signal_id = STR("1"),
                                               .signal_type = STR("x"),
                                               .signal_correlation = STR("two")}));
    assert_string_equal(rig_trace(&rig), "b");
    assert_int_equal(rig.last.closed.count, 1);
    assert_int_equal(rig.last.opened.count, 0);
}

static void test_parallel__what_is_lost_has_one_letter_however_often_it_is_rolled_back(void **state)
{
    size_t letters = 0;

    (void)state;
    start(PARALLEL("", "[" WORKER("a", "") "],[" SIGNAL("b", "x", "") "," FAIL(
                           "f", "") "]") "," UNDOABLE("z"));
    signal("x");
    letters += rig.last.dead_letters.count;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rig.x->status, STATUS_FAILED);
        rig_reload(&rig);
        assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = value_absent()}));
        letters += rig.last.dead_letters.count;
    }
    /* The worker was asked once, before the first failure, and nobody after it. */
    assert_int_equal(letters, 1);
}

static void test_parallel__attempts_that_were_tried_again_are_undone_once(void **state)
{
#define ONCE(code)                                                                                 \
    "[{'code':'" code "','onError':'hold','retry':{'maxAttempts':1},'procedure':[{'type':"         \
    "'compute.fail','when':'execution.attempt == 1','code':'cut','message':'m','class':"           \
    "'indeterminate'}],'rollback':{'type':'log','message':'x'}}]"

    (void)state;
    start(PARALLEL("", ONCE("a") "," ONCE("b")) "," FAIL("z", ""));
    for (int i = 0; i < 2; i++) {
        assert_true(execution_is_held(rig.x));
        rig_reload(&rig);
        assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = value_absent()}));
    }
    assert_string_equal(rig_trace(&rig), "a.failed b.failed a(2) b(2) p z.failed -b -a");
#undef ONCE
}

static void test_parallel__a_retry_begins_the_stopped_branches_anew(void **state)
{
    (void)state;
    /* There is something to roll back in the program, and nothing of it has happened. */
    start(PARALLEL(
        "",
        "[" SIGNAL("a", "x",
                   "") ",{'code':'f','procedure':[{'type':'compute.fail',"
                       "'when':'execution.visit == 1','code':'no','message':'m'}]}],[{'code':'l',"
                       "'loop':{'for':[1,2],'collect':'$.loop.item','steps':[" SIGNAL(
                           "b", "y", "") "]}}]") "," UNDOABLE("z"));
    signal("y");
    signal("x");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(events("stopped"), "b");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = value_absent()}));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_string_equal(rig_trace(&rig), "b a f.failed f2");
    signal("y");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "b a f.failed f2 b3 l p z");
    assert_string_equal(rig_output(&rig, "l"), "{'count':2,'items':[1,2],'errors':[]}");
}

static void test_parallel__finished_commands_of_a_stopped_step_are_rolled_back(void **state)
{
    (void)state;
    start(PARALLEL(",'join':'any'",
                   "[{'code':'a','procedure':["
                   "{'type':'compute.transform','data':1,'as':'one','rollback':{'type':'log',"
                   "'message':'{{ $.one }}'}},"
                   "{'type':'flow.try','commands':[{'type':'flow.call','procedure':'erp.b'}],"
                   "'catch':[{'type':'log','message':'no'}]}]}],[" SIGNAL(
                       "c", "x", "") "]") "," FAIL("z", ""));
    signal("x");
    assert_string_equal(rig_trace(&rig), "c a.failed p z.failed -a");
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

static void test_parallel__a_held_branch_lets_the_others_go_on(void **state)
{
    (void)state;
    start(PARALLEL("", "[" SIGNAL("a", "x", "") "," SIGNAL("a2", "x", "") "],[" STEP(
                           "b", "'=$.steps.a.no.such'", "") "," STEP("c", "1", "") "]"));
    assert_true(execution_is_held(rig.x));
    assert_true(waits_with("{'kind':'incident','step':'b'"));
    assert_true(waits_with("'branches':[{'kind':'signal','step':'a'"));
    signal("x");
    assert_true(execution_is_held(rig.x));
    assert_string_equal(rig_trace(&rig), "b.failed a");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP, .output = value_absent()}));
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_string_equal(rig_trace(&rig), "b.failed a b2.skipped c");
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_parallel__an_incident_that_is_stopped_in_its_turn_has_no_letter(void **state)
{
    (void)state;
    start(PARALLEL("", "[" STEP("a", "'=$.steps.b.no.such'", "") "],[" FAIL("b", "") "]"));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "a.failed b.failed");
    assert_int_equal(rig.last.dead_letters.count, 0);
}

static void test_parallel__each_incident_has_a_letter_of_its_own(void **state)
{
    (void)state;
    start(PARALLEL("", "[" STEP("a", "'=$.steps.c.no.such'", "") "],[" STEP(
                           "b", "'=$.steps.c.no.such'", "") "],[" SIGNAL("c", "x", "") "]"));
    assert_int_equal(rig.last.dead_letters.count, 2);
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP, .output = value_absent()}));
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_int_equal(rig.last.incident.steps.count, 1);
    assert_true(str_eq(rig.last.incident.steps.items[0], STR("a")));
    assert_true(execution_is_held(rig.x));
    assert_true(waits_with("{'kind':'incident','step':'b'"));
    signal("x");
    assert_int_equal(rig.last.incident.status, LETTER_OPEN);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP, .output = value_absent()}));
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_parallel__a_letter_is_retried_where_its_step_is_held(void **state)
{
    struct event retry = {.kind = EVENT_RETRY, .held = STR("b"), .input = value_absent()};

    (void)state;
    start(PARALLEL("", "[" STEP("a", "'=$.steps.c.no.such'", "") "],[" STEP(
                           "b", "'=size($.steps.c.type)'", "") "],[" SIGNAL("c", "x", "") "]"));
    assert_int_equal(rig.last.dead_letters.count, 2);
    signal("x");
    rig_reload(&rig);
    assert_true(rig_event(&rig, retry));
    assert_string_equal(rig_trace(&rig), "a.failed b.failed c b2");
    assert_int_equal(rig.last.incident.status, LETTER_RETRIED);
    assert_true(str_eq(rig.last.incident.steps.items[0], STR("b")));
    assert_true(waits_with("{'kind':'incident','step':'a'"));
    signal("nobody waits");
    assert_int_equal(rig.last.incident.status, LETTER_OPEN);
}

static void test_parallel__an_operator_retries_the_branch_that_is_held(void **state)
{
    (void)state;
    start(
        PARALLEL("", "[" SIGNAL("a", "x", "") "],[" STEP("b", "'=size($.steps.a.type)'", "") "]"));
    assert_true(execution_is_held(rig.x));
    signal("x");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY,
                                               .input = value_absent(),
                                               .program = NULL,
                                               .from = STR_NONE}));
    assert_int_equal(rig.last.incident.status, LETTER_RETRIED);
    assert_string_equal(rig_trace(&rig), "b.failed a b2 p");
}

static void test_parallel__a_failed_one_goes_on_with_all_branches(void **state)
{
    (void)state;
    start_with(
        ",'onError':'fail_fast'",
        PARALLEL(
            "", "[" SIGNAL("a", "x", "") "," STEP("b", "1", "") "],[" SIGNAL("c", "y", "") "," FAIL(
                    "d", ",'when':'$.steps.e == null'") "," STEP("e", "2", "") "]"));
    signal("y");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    rig_reload(&rig);
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_RETRY, .from = STR("e"), .input = value_absent()}));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "c d.failed e a b p");
}

static void test_parallel__end_stops_everything(void **state)
{
    (void)state;
    start(PARALLEL("", "[" SIGNAL("a", "x", "") "," STEP("b", "1", ",'goto':'end'") "],[" SIGNAL(
                           "c", "y", "") "]") "," STEP("z", "1", ""));
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "a b p");
    assert_string_equal(events("stopped"), "c");
}

static void test_parallel__cancel_rolls_back_all_branches(void **state)
{
    (void)state;
    start(PARALLEL("", "[" UNDOABLE("a") "," SIGNAL("b", "x", "") "],[" UNDOABLE("c") "," WORKER(
                           "d", ",'rollback':{'type':'log','message':'x'}") "]"));
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, "no more"));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "a c d.failed -d -c -a");
}

static void test_parallel__the_deadline_ends_all_branches(void **state)
{
    (void)state;
    start_with(
        ",'settings':{'timeout':'1h'}",
        PARALLEL("", "[" UNDOABLE("a") "," SIGNAL("b", "x", "") "],[" SIGNAL("c", "y", "") "]"));
    pass(3600 * SECOND);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "a -a");
}

/* --- turns --- */

static void test_parallel__a_long_branch_does_not_keep_the_others(void **state)
{
    (void)state;
    start(PARALLEL("", "[{'code':'l','loop':{'while':'$.steps.z == null','max':1000,'steps':[" STEP(
                           "a", "1", "") "]}}],[" STEP("z", "1", "") "]"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_true(rig.history.count < 200);
}

static void test_parallel__children_are_looked_at_together(void **state)
{
    struct process_read *process;

    (void)state;
    rig_define(&rig, "{'code':'child','steps':[" STEP("s", "1", "") "]}");
    process = VEC_ADD(&rig.mem, &rig.processes);
    *process = (struct process_read){.code = STR("child"), .program = rig.program};
    rig.program = NULL;
    start(PARALLEL("", "[{'code':'a','procedure':{'type':'flow.start','code':'child','input':{},"
                       "'wait':true}}],"
                       "[{'code':'b','procedure':{'type':'flow.start','code':'child','input':{},"
                       "'wait':true}}]"));
    assert_int_equal(execution_strands(rig.x), 2);
    rig.child = (struct child_read){
        .is_found = true, .status = STATUS_COMPLETED, .result = rig_value(&rig, "8")};
    rig_reload(&rig);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.needs, 1);
    assert_string_equal(rig_output(&rig, "p"), "{'branches':[8,8],'count':2,'ended':[0,1]}");
    program_release(process->program);
}

static void test_parallel__every_strand_moves_to_another_version(void **state)
{
    const struct program *old;

    (void)state;
    start(PARALLEL("", "[" SIGNAL("a", "x", "") "],[" SIGNAL("b", "y", "") "]"));
    old = rig.program;
    rig.program = NULL;
    rig_define(&rig, "{'code':'a','steps':[" STEP("first", "1", "") "," PARALLEL(
                         "", "[" SIGNAL("a", "x", "") "," STEP(
                                 "c", "'$.steps.b.type'", "") "],[" SIGNAL("b", "y", "") "]") "]}");
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = rig.program}));
    signal("y");
    signal("x");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "b a c p");
    program_release(old);
}

static void test_parallel__a_version_without_the_step_of_a_strand_is_refused(void **state)
{
    const struct program *old;

    (void)state;
    start(PARALLEL("", "[" SIGNAL("a", "x", "") "],[" SIGNAL("b", "y", "") "]"));
    old = rig.program;
    rig.program = NULL;
    rig_define(&rig, "{'code':'a','steps':[" PARALLEL(
                         "", "[" SIGNAL("a", "x", "") "],[" SIGNAL("c", "y", "") "]") "]}");
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = rig.program}));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    program_release(old);
}

/* The deadline has held a branch between two attempts: the one that will not be is the second. */
static void test_parallel__a_held_branch_is_stopped_behind_its_attempts(void **state)
{
    (void)state;
    start_with(
        ",'onError':'hold','settings':{'timeout':'1h'}",
        PARALLEL(",'join':'any'",
                 "[{'code':'x','retry':{'maxAttempts':3,'delay':'2h'},'procedure':{'type':"
                 "'compute.fail','code':'no','message':'m','class':'indeterminate'}}],[" SIGNAL(
                     "w", "go", "") "]"));
    assert_int_equal(execution_cursor(rig.x, 0)->phase, PHASE_RETRY);
    pass(3600 * SECOND);
    assert_true(execution_is_held(rig.x));
    signal("go");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig_row(&rig, "x")->attempt, 2);
}

/* The same after a wait for a child, which leaves no doubt about what has happened. */
static void test_parallel__a_held_branch_is_stopped_behind_its_wait_for_a_child(void **state)
{
    struct process_read *process;

    (void)state;
    rig_define(&rig, "{'code':'child','steps':[" STEP("s", "1", "") "]}");
    process = VEC_ADD(&rig.mem, &rig.processes);
    *process = (struct process_read){.code = STR("child"), .program = rig.program};
    rig.program = NULL;
    rig.child = (struct child_read){.is_found = true, .status = STATUS_WAITING};
    start_with(
        ",'onError':'hold','settings':{'timeout':'1h'}",
        PARALLEL(",'join':'any'",
                 "[{'code':'x','timeout':'1s','retry':{'maxAttempts':3,'delay':'2h'},'procedure':"
                 "{'type':'flow.start','code':'child','input':{},'wait':true}}],[" SIGNAL("w", "go",
                                                                                          "") "]"));
    pass(2 * SECOND);
    assert_int_equal(execution_cursor(rig.x, 0)->phase, PHASE_RETRY);
    pass(3600 * SECOND);
    assert_true(execution_is_held(rig.x));
    signal("go");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig_row(&rig, "x")->attempt, 2);
    program_release(process->program);
}

/* The deadline holds it while it waits for its child: its only attempt is stopped. */
static void test_parallel__a_branch_held_while_it_waits_for_a_child_is_stopped_once(void **state)
{
    struct process_read *process;

    (void)state;
    rig_define(&rig, "{'code':'child','steps':[" STEP("s", "1", "") "]}");
    process = VEC_ADD(&rig.mem, &rig.processes);
    *process = (struct process_read){.code = STR("child"), .program = rig.program};
    rig.program = NULL;
    rig.child = (struct child_read){.is_found = true, .status = STATUS_WAITING};
    start_with(",'onError':'hold','settings':{'timeout':'1h'}",
               PARALLEL(",'join':'any'",
                        "[{'code':'x','retry':{'maxAttempts':3,'delay':'2h'},'procedure':"
                        "{'type':'flow.start','code':'child','input':{},'wait':true}}],[" SIGNAL(
                            "w", "go", "") "]"));
    pass(3600 * SECOND);
    assert_true(execution_is_held(rig.x));
    signal("go");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig_row(&rig, "x")->attempt, 1);
    program_release(process->program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_parallel__branches_run_one_after_the_other_when_none_waits),
        CLAIM(test_parallel__goes_on_when_all_have_ended),
        CLAIM(test_parallel__any_stops_the_others),
        CLAIM(test_parallel__a_number_of_branches_is_enough),
        CLAIM(test_parallel__empty_branches_have_ended),
        CLAIM(test_parallel__the_result_of_a_branch_is_that_of_its_last_step),
        CLAIM(test_parallel__may_stand_in_loops_and_in_itself),
        CLAIM(test_parallel__stopped_steps_are_visited_anew_with_another_number),
        CLAIM(test_parallel__says_what_each_branch_waits_for),
        CLAIM(test_parallel__a_signal_goes_to_the_oldest_wait),
        CLAIM(test_parallel__a_signal_goes_to_the_wait_that_it_matches),
        CLAIM(test_parallel__a_payload_must_fit_one_of_the_forms),
        CLAIM(test_parallel__timers_fire_each_at_its_time),
        CLAIM(test_parallel__there_is_nothing_to_wake_before_the_time),
        CLAIM(test_parallel__answers_go_to_the_strand_that_asked),
        CLAIM(test_parallel__attempts_wait_for_their_time_beside_others),
        CLAIM(test_parallel__a_failure_stops_the_others_and_rolls_back),
        CLAIM(test_parallel__its_own_on_error_may_catch_a_failure),
        CLAIM(test_parallel__losers_that_had_completed_are_rolled_back_too),
        CLAIM(test_parallel__a_worker_that_was_asked_may_have_done_it),
        CLAIM(test_parallel__an_attempt_without_an_answer_may_have_happened),
        CLAIM(test_parallel__what_is_being_asked_about_is_rolled_back_like_what_happened),
        CLAIM(test_parallel__branches_ask_beside_each_other),
        CLAIM(test_parallel__a_branch_that_is_held_once_more_has_one_letter),
        CLAIM(test_parallel__correlated_waits_open_and_close_each_for_itself),
        CLAIM(test_parallel__what_is_lost_has_one_letter_however_often_it_is_rolled_back),
        CLAIM(test_parallel__attempts_that_were_tried_again_are_undone_once),
        CLAIM(test_parallel__a_retry_begins_the_stopped_branches_anew),
        CLAIM(test_parallel__finished_commands_of_a_stopped_step_are_rolled_back),
        CLAIM(test_parallel__a_held_branch_lets_the_others_go_on),
        CLAIM(test_parallel__an_incident_that_is_stopped_in_its_turn_has_no_letter),
        CLAIM(test_parallel__each_incident_has_a_letter_of_its_own),
        CLAIM(test_parallel__a_letter_is_retried_where_its_step_is_held),
        CLAIM(test_parallel__an_operator_retries_the_branch_that_is_held),
        CLAIM(test_parallel__a_failed_one_goes_on_with_all_branches),
        CLAIM(test_parallel__end_stops_everything),
        CLAIM(test_parallel__cancel_rolls_back_all_branches),
        CLAIM(test_parallel__the_deadline_ends_all_branches),
        CLAIM(test_parallel__a_long_branch_does_not_keep_the_others),
        CLAIM(test_parallel__children_are_looked_at_together),
        CLAIM(test_parallel__every_strand_moves_to_another_version),
        CLAIM(test_parallel__a_version_without_the_step_of_a_strand_is_refused),
        CLAIM(test_parallel__a_held_branch_is_stopped_behind_its_attempts),
        CLAIM(test_parallel__a_held_branch_is_stopped_behind_its_wait_for_a_child),
        CLAIM(test_parallel__a_branch_held_while_it_waits_for_a_child_is_stopped_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
