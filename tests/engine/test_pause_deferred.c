/* test_pause_deferred.c - claims about what comes for executions that are paused: signals, answers, ends of children. */
#include "engine/pause_rig.h"
#include "engine/state.h"

/* --- signals --- */

static void test_pause__a_signal_is_kept_for_the_wait(void **state)
{
    (void)state;
    start("{'code': 'v', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': '$.steps.v.payload'}}");
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7") && is_paused());
    assert_true(signal("2", "go", "8") && is_paused());
    assert_true(signal("3", "other", "9") && is_paused());
    assert_string_equal(rig_trace(&rig), "");
    assert_true(resume());
    assert_string_equal(rig_trace(&rig), "v w z");
    assert_string_equal(result(), "7");
}

static void test_pause__a_wait_for_new_signals_takes_what_came_meanwhile(void **state)
{
    (void)state;
    start("{'code': 'v',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'go', 'accept': 'new'}},"
          "{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'go', 'accept': 'new'}}");
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7") && signal("2", "go", "8"));
    assert_true(resume());
    /* The second came before the second wait began. */
    assert_string_equal(rig_trace(&rig), "v");
    assert_true(shows("'step':'w'"));
}

static void test_pause__what_came_is_taken_before_the_wait_times_out(void **state)
{
    (void)state;
    start("{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'go', 'timeout': '5s'}}");
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7"));
    rig_pass(&rig, 60 * SECOND);
    assert_true(resume());
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_true(strstr(result(), "'timedOut':false") != NULL);
}

static void test_pause__forms_are_checked_and_matches_counted(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "  'match': 'signal.payload.n > 1',"
          "  'form': [{'name': 'n', 'type': 'integer', 'required': true}]}}");
    assert_true(pause_for(""));
    assert_false(signal("1", "go", "{}"));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_true(signal("2", "go", "{'n':1}"));
    assert_true(is_paused() && shows("'unmatched':1"));
    assert_true(signal("3", "go", "{'n':2}"));
    assert_true(resume());
    assert_string_equal(rig_output(&rig, "w"),
                        "{'type':'go','payload':{'n':2},'by':{'id':'u1','name':'Ann'},"
                        "'receivedAt':'2026-01-01T00:00:00Z','timedOut':false}");
}

static void test_pause__a_wait_keeps_one_signal_of_its_correlation(void **state)
{
    (void)state;
    start("{'code': 'v',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'go', 'correlation': 'o-1'}},"
          "{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}");
    assert_true(pause_for(""));
    assert_int_equal(rig.last.closed.count, 0);
    assert_false(send("1", "go", "o-2"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(send("2", "go", "o-1"));
    assert_int_equal(rig.last.closed.count, 1);
    /* Another one is for whoever waits next. */
    assert_false(send("3", "go", "o-1"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(resume());
    assert_int_equal(rig.last.closed.count + rig.last.opened.count, 0);
    assert_string_equal(rig_trace(&rig), "v");
}

/* --- answers and children --- */

static void test_pause__an_answer_is_kept(void **state)
{
    (void)state;
    start("{'code': 'x', 'procedure': 'erp.sync', 'timeout': '1h'},"
          "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': '$.steps.x.output'}}");
    assert_int_equal(rig.x->cursor.phase, PHASE_JOB);
    assert_true(pause_for(""));
    assert_true(answer(ID "-x", "{'done':true}", NULL));
    assert_true(is_paused());
    assert_false(answer(ID "-x", "{'done':false}", NULL));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_string_equal(rig_trace(&rig), "");
    rig_pass(&rig, 7200 * SECOND);
    assert_true(resume());
    assert_string_equal(result(), "{'done':true}");
}

/* The worker was told that its answer is taken: it is not lost when an operator goes on later. */
static void test_pause__an_answer_is_kept_beyond_the_deadline(void **state)
{
    static const char *const settings[] = {"'onError':'hold','settings':{'timeout':'1h'},",
                                           "'onError':'fail_fast','settings':{'timeout':'1h'},"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        start_with(settings[i], "{'code': 'x', 'procedure': 'erp.sync'}");
        assert_true(pause_for(""));
        assert_true(answer(ID "-x", "{'done':true}", NULL));
        assert_true(wake_after(3600 * SECOND));
        assert_true(rig.x->pause == NULL);
        rig_reload(&rig);
        assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
        assert_string_equal(result(), "{'done':true}");
        assert_string_equal(rig_trace(&rig), "x");
    }
}

static void test_pause__cancelling_goes_on_with_the_answer_that_says_what_became_of_it(void **state)
{
    (void)state;
    start("{'code': 'x', 'procedure': 'erp.sync', 'reconcile': {'procedure': 'erp.ask'},"
          "  'rollback': {'type': 'log', 'message': 'm'}}");
    assert_true(answer(ID "-x", NULL, "{'code':'lost','message':'m','class':'indeterminate'}"));
    rig_settle(&rig);
    assert_int_equal(rig.x->cursor.phase, PHASE_RECONCILE);
    assert_true(pause_for(""));
    assert_true(answer(ID "-x-reconcile-1", "{'outcome':'failed'}", NULL));
    rig_reload(&rig);
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_ROLLS_BACK}));
    /* Nobody is asked for it again, and nothing is undone that did not happen. */
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?x x.failed");
}

static void test_pause__an_answer_that_failed_is_kept(void **state)
{
    (void)state;
    start("{'code': 'x', 'procedure': 'erp.sync'}");
    assert_true(pause_for(""));
    assert_true(answer(ID "-x", NULL, "{'code':'full','message':'m','class':'transient'}"));
    assert_true(is_paused());
    assert_true(resume());
    assert_int_equal(rig.x->cursor.phase, PHASE_RETRY);
    assert_string_equal(rig_trace(&rig), "x.failed");
    assert_int_equal(rig.x->cursor.deferred_seq, 0);
}

static void test_pause__a_child_that_ended_is_looked_at_when_it_goes_on(void **state)
{
    struct rig other;

    (void)state;
    rig_init(&other);
    rig_define(&other, "{'code': 'child', 'steps': [{'code': 'c',"
                       "  'procedure': {'type': 'compute.transform', 'data': 1}}]}");
    *VEC_ADD(&rig.mem, &rig.processes) =
        (struct process_read){.code = STR("child"), .program = other.program};
    start("{'code':'s','procedure':{'type':'flow.start','code':'child','wait':true}}");
    assert_true(pause_for(""));
    assert_true(shows("'branches':[{'kind':'child'"));
    rig.child = (struct child_read){
        .is_found = true, .status = STATUS_COMPLETED, .result = rig_value(&rig, "8")};
    assert_false(wake_after(7200 * SECOND));
    assert_true(is_paused());
    assert_true(resume());
    assert_string_equal(result(), "8");
    rig_fini(&other);
}

static void test_pause__one_that_has_not_begun_begins_when_it_goes_on(void **state)
{
    struct event pause = {.kind = EVENT_PAUSE, .config = value_map_empty()};
    struct event resumed = {.kind = EVENT_RESUME, .config = value_map_empty()};
    struct event wake = {.kind = EVENT_WAKE, .config = value_map_empty()};
    struct execution *x;
    struct commit c;

    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'x',"
                     "  'procedure': {'type': 'compute.transform', 'data': 1}}]}");
    rig_start(&rig, "{}");
    x = state_copy(&rig.mem, rig.x);
    *x = (struct execution){.id = x->id,
                            .program = x->program,
                            .user_json = x->user_json,
                            .input = x->input,
                            .input_json = x->input_json,
                            .context_bytes = x->input_json.len,
                            .variables = value_map_empty(),
                            .row_version = 1,
                            .wake_at_us = WAKE_AT_ONCE,
                            .steps = arena_zalloc(&rig.mem, 2 * sizeof(*x->steps))};
    assert_true(engine_advance(&rig.mem, x, &pause, rig.now_us, &c, &rig.err));
    assert_int_equal(c.after->status, STATUS_WAITING);
    assert_true(c.after->wake_at_us == 0 && c.after->started_at_us == 0);
    x = c.after;
    assert_false(engine_advance(&rig.mem, x, &wake, rig.now_us, &c, &rig.err));
    assert_true(engine_advance(&rig.mem, x, &resumed, rig.now_us + 1, &c, &rig.err));
    assert_int_equal(c.after->status, STATUS_COMPLETED);
    assert_true(c.after->started_at_us == rig.now_us + 1);
}

/* --- several strands --- */

static void test_pause__stops_all_strands(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'v', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}],"
          "  [{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '5s'}}],"
          "  [{'code': 'x', 'procedure': 'erp.sync'}]]}},"
          "{'code': 'z',"
          "  'procedure': {'type': 'compute.transform', 'data': '$.steps.p.branches'}}");
    assert_true(pause_for(""));
    assert_true(is_paused());
    assert_true(shows("'branches':[{'kind':'signal','step':'v'"));
    assert_true(shows("},{'kind':'timer','step':'t'") && shows("},{'kind':'job','step':'x'"));
    assert_false(wake_after(60 * SECOND));
    assert_true(answer(ID "-x", "2", NULL));
    assert_true(signal("1", "go", "7"));
    assert_true(is_paused());
    assert_string_equal(rig_trace(&rig), "");
    assert_true(resume());
    /* In the order in which they came, and then what has become due. */
    assert_string_equal(rig_trace(&rig), "x v t p z");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_pause__what_is_kept_for_one_strand_is_not_taken_by_another(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'v', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "   {'code': 'n', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}],"
          "  [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}]]}}");
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "1"));
    assert_true(signal("2", "go", "2"));
    assert_true(resume());
    assert_string_equal(rig_trace(&rig), "v w");
    assert_true(shows("{'kind':'signal','step':'n'"));
    assert_true(signal("3", "go", "3"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_pause__strands_go_on_waiting(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'v', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}],"
          "  [{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '5s'}},"
          "   {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}]]}}");
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7"));
    rig_pass(&rig, SECOND);
    assert_true(resume());
    assert_string_equal(rig_trace(&rig), "v");
    assert_true(shows("{'kind':'timer','step':'t'"));
    assert_true(rig.x->wake_at_us == rig.now_us + 4 * SECOND);
    assert_true(pause_for(""));
    assert_true(wake_after(10 * SECOND) == false && resume());
    assert_string_equal(rig_trace(&rig), "v t");
    assert_true(signal("2", "go", "7"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

/* A strand that is stopped by another takes nothing. */
static void test_pause__what_was_kept_for_a_strand_that_is_stopped_is_left(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
          "  [{'code': 'v', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}],"
          "  [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'stop'}}]]}},"
          "{'code': 'u', 'procedure': {'type': 'wait.signal', 'signalType': 'stop'}}");
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7") && signal("2", "stop", "8"));
    assert_true(resume());
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "v p u");
}

/* --- answers of people --- */

static bool answer_as_ann(const char *id, const char *step, int64_t visit, const char *payload)
{
    struct answer_to to = {
        .step = str_of(step), .visit = visit, .keys = rig_value(&rig, "['ann@x.org']")};

    rig_reload(&rig);
    return rig_event(&rig, (struct event){.kind = EVENT_SIGNAL,
                                          .signal_id = str_of(id),
                                          .signal_type = STR("ok"),
                                          .signal_payload = rig_value(&rig, payload),
                                          .by = rig_value(&rig, "{'id':'ann'}"),
                                          .answer_to = &to});
}

static bool retry(void)
{
    rig_reload(&rig);
    return rig_event(&rig, (struct event){.kind = EVENT_RETRY});
}

#define ASK "'procedure':{'type':'wait.signal','signalType':'ok','assignee':'ann@x.org'}"

/* It was there before the time was up: its wait ends with it, whatever becomes of the execution. */
static void test_pause__a_wait_that_was_answered_ends_with_that_at_the_deadline(void **state)
{
    static const char *const settings[] = {
        "'onError':'hold','settings':{'timeout':'1h'},",
        "'onError':'fail_fast','settings':{'timeout':'1h'},",
        "'onError':'compensate','settings':{'timeout':'1h'},",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        start_with(settings[i], "{'code':'a'," ASK "},{'code':'b'," ASK "}");
        assert_true(pause_for(""));
        assert_true(answer_as_ann("1", "a", 1, "7"));
        assert_true(wake_after(3600 * SECOND));
        rig_settle(&rig);
        assert_string_equal(rig_trace(&rig), "a");
        assert_int_equal(state_row_took(&rig.mem, rig_row(&rig, "a")), 3);
        assert_true(retry());
        assert_string_equal(rig_trace(&rig), "a");
        assert_true(shows("'step':'b'"));
        assert_true(answer_as_ann("2", "b", 1, "8"));
        assert_int_equal(rig.x->status, STATUS_COMPLETED);
    }
}

/* The same beside other branches, and where rolling back begins and finds nothing to undo. */
static void test_pause__answers_of_all_branches_are_taken_at_the_deadline(void **state)
{
    static const char *const settings[] = {
        "'onError':'hold','settings':{'timeout':'1h'},",
        "'onError':'fail_fast','settings':{'timeout':'1h'},",
        "'onError':'compensate','settings':{'timeout':'1h'},",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        start_with(settings[i], "{'code':'p','parallel':{'branches':["
                                "  [{'code':'a'," ASK "},{'code':'c'," ASK "}],"
                                "  [{'code':'b'," ASK "},{'code':'d'," ASK "}]]}},"
                                "{'code':'z','procedure':{'type':'log','message':'m'},"
                                " 'rollback':{'type':'log','message':'m'}}");
        assert_true(pause_for(""));
        assert_true(answer_as_ann("1", "b", 1, "7") && answer_as_ann("2", "a", 1, "7"));
        assert_true(wake_after(3600 * SECOND));
        rig_settle(&rig);
        assert_string_equal(rig_trace(&rig), "b a");
        assert_true(retry());
        assert_string_equal(rig_trace(&rig), "b a");
        assert_true(shows("'step':'c'") && shows("'step':'d'"));
    }
}

/* An answer names the wait that it is for: no other one takes it, when that is stopped. */
static void test_pause__an_answer_to_a_wait_that_is_stopped_is_for_no_other(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'join': 'any', 'branches': ["
          "  [{'code': 'v', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}],"
          "  [{'code':'w'," ASK "}]]}},{'code':'u'," ASK "}");
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7") && answer_as_ann("2", "w", 1, "8"));
    assert_true(resume());
    assert_string_equal(rig_trace(&rig), "v p");
    assert_true(shows("'step':'u'"));
    rig_reload(&rig);
    assert_true(answer_as_ann("3", "u", 1, "9"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_true(strstr(result(), "'payload':9") != NULL);
}

/* Its step has failed with it in hand: whoever mends that does not ask once more. */
static void test_answer__is_taken_by_the_retry_of_a_step_that_failed_with_it(void **state)
{
    (void)state;
    start("{'code':'w','procedure':{'type':'wait.signal','signalType':'ok','assignee':'ann@x.org',"
          "  'result':{'n':'$.response.payload.n / $.input.by'}}}");
    assert_true(answer_as_ann("1", "w", 1, "{'n':6}"));
    assert_true(shows("'kind':'incident'"));
    rig_reload(&rig);
    assert_true(
        rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = rig_value(&rig, "{'by':2}")}));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(result(), "{'n':3}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_pause__a_signal_is_kept_for_the_wait),
        CLAIM(test_pause__a_wait_for_new_signals_takes_what_came_meanwhile),
        CLAIM(test_pause__what_came_is_taken_before_the_wait_times_out),
        CLAIM(test_pause__forms_are_checked_and_matches_counted),
        CLAIM(test_pause__a_wait_keeps_one_signal_of_its_correlation),
        CLAIM(test_pause__an_answer_is_kept),
        CLAIM(test_pause__an_answer_is_kept_beyond_the_deadline),
        CLAIM(test_pause__cancelling_goes_on_with_the_answer_that_says_what_became_of_it),
        CLAIM(test_pause__an_answer_that_failed_is_kept),
        CLAIM(test_pause__a_child_that_ended_is_looked_at_when_it_goes_on),
        CLAIM(test_pause__one_that_has_not_begun_begins_when_it_goes_on),
        CLAIM(test_pause__stops_all_strands),
        CLAIM(test_pause__what_is_kept_for_one_strand_is_not_taken_by_another),
        CLAIM(test_pause__strands_go_on_waiting),
        CLAIM(test_pause__what_was_kept_for_a_strand_that_is_stopped_is_left),
        CLAIM(test_pause__a_wait_that_was_answered_ends_with_that_at_the_deadline),
        CLAIM(test_pause__answers_of_all_branches_are_taken_at_the_deadline),
        CLAIM(test_pause__an_answer_to_a_wait_that_is_stopped_is_for_no_other),
        CLAIM(test_answer__is_taken_by_the_retry_of_a_step_that_failed_with_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
