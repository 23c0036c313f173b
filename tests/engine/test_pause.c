/* test_pause.c - claims about executions that are paused, and go on. */
#include "engine/pause_rig.h"

/* --- pausing --- */

static void test_pause__says_who_why_and_what_waits_under_it(void **state)
{
    (void)state;
    start("{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'go', 'timeout': '1h'}}");
    assert_true(offers(ACTION_PAUSE) && !offers(ACTION_RESUME));
    assert_true(pause_for("the shop is closed"));
    assert_true(is_paused());
    assert_true(shows("{'kind':'paused','step':'w','reason':'the shop is closed',"
                      "'by':{'id':'u1','name':'Ann'},'since':'2026-01-01T00:00:00Z','branches':[{"
                      "'kind':'signal','step':'w','signalType':'go'"));
    assert_true(str_eq(rig.history.items[rig.history.count - 1].status, STR("paused")));
    assert_string_equal(delta(), "{'pause':{'reason':'the shop is closed','by':{'id':'u1','name':"
                                 "'Ann'}}}");
    assert_true(rig.x->wake_at_us == rig.x->deadline_at_us);
    assert_true(!offers(ACTION_PAUSE) && offers(ACTION_RESUME) && offers(ACTION_CANCEL));
    assert_true(offers(ACTION_SIGNAL) && offers(ACTION_MIGRATE) && !offers(ACTION_RETRY));
    assert_true(resume());
    assert_string_equal(delta(), "{'resume':{'by':{'id':'u2','name':'Bob'}}}");
    assert_true(shows("{'kind':'signal','step':'w'"));
    assert_true(rig.x->wake_at_us == rig.now_us + 3600 * SECOND);
    assert_true(offers(ACTION_PAUSE) && !offers(ACTION_RESUME));
    assert_true(signal("1", "go", "7"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_pause__needs_no_reason_and_nobody(void **state)
{
    (void)state;
    start("{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '5s'}}");
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_PAUSE}));
    assert_true(is_paused() && !shows("reason") && !shows("'by'"));
    assert_string_equal(delta(), "");
}

static void test_pause__twice_is_refused_and_so_is_resuming_twice(void **state)
{
    (void)state;
    start("{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '5s'}}");
    assert_false(resume());
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(pause_for("x"));
    assert_false(pause_for("y"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(shows("'reason':'x'"));
    assert_true(resume());
    assert_false(resume());
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(pause_for("again") && shows("'reason':'again'"));
}

static void test_pause__is_refused_of_what_does_not_go_forward(void **state)
{
    (void)state;
    start("{'code':'x','procedure':{'type':'compute.transform','data':'=1 / 0'}}");
    assert_int_equal(rig.x->cursor.phase, PHASE_HELD);
    assert_false(offers(ACTION_PAUSE));
    assert_false(pause_for(""));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    start("{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1}}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_false(offers(ACTION_PAUSE));
    assert_false(pause_for(""));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    start("{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1},"
          "  'rollback': {'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm',"
          "    'class': 'transient'}}},"
          "{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '5s'}}");
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_ROLLS_BACK}));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_false(offers(ACTION_PAUSE));
    assert_false(pause_for(""));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

/* --- timers --- */

static void test_pause__a_timer_fires_when_it_goes_on(void **state)
{
    (void)state;
    start("{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '5s'}},"
          "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 1}}");
    assert_true(pause_for(""));
    assert_false(wake_after(60 * SECOND));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_string_equal(rig_trace(&rig), "");
    assert_true(resume());
    assert_string_equal(rig_trace(&rig), "t z");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_pause__a_timer_that_is_not_due_waits_for_its_time(void **state)
{
    (void)state;
    start("{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '5s'}}");
    assert_true(pause_for(""));
    rig_pass(&rig, 2 * SECOND);
    assert_true(resume());
    assert_true(rig.x->wake_at_us == rig.now_us + 3 * SECOND);
    assert_true(wake_after(3 * SECOND));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_pause__no_attempt_begins(void **state)
{
    (void)state;
    start_with("'settings':{'retryPolicy':{'delay':'10s','jitter':'none'}},",
               "{'code':'x','procedure':[{'type':'compute.fail','when':'execution.attempt <= 1',"
               "'code':'n','message':'m','class':'transient'},{'type':'compute.transform','data':"
               "'$.execution.attempt'}]}");
    assert_int_equal(rig.x->cursor.phase, PHASE_RETRY);
    assert_true(pause_for(""));
    assert_true(shows("'branches':[{'kind':'retry'"));
    assert_false(wake_after(60 * SECOND));
    assert_string_equal(rig_trace(&rig), "x.failed");
    assert_true(resume());
    assert_string_equal(rig_trace(&rig), "x.failed x(2)");
}

static void test_pause__no_reminder_is_sent(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go',"
          "  'reminder': {'every': '10s',"
          "    'procedure': {'type': 'compute.transform', 'data': 1}}}}");
    assert_true(pause_for(""));
    assert_false(wake_after(60 * SECOND));
    assert_int_equal(rig.x->cursor.reminders, 0);
    assert_true(resume());
    /* Those that were missed are not made up for. */
    assert_int_equal(rig.x->cursor.reminders, 1);
    assert_true(rig.x->wake_at_us == rig.now_us + 10 * SECOND);
}

static void test_pause__a_step_that_is_next_does_not_begin(void **state)
{
    struct buf list;

    (void)state;
    buf_init_arena(&list, &rig.mem);
    buf_text(&list, "{'code':'l','loop':{'for':[0");
    for (unsigned i = 0; i < TURN_STEPS_MAX; i++)
        buf_text(&list, ",0");
    buf_text(&list, "], 'steps': ["
                    "{'code': 's', 'procedure': {'type': 'compute.transform', 'data': 1}}]}}");
    buf_char(&list, 0);
    start(list.ptr);
    assert_int_equal(rig.x->status, STATUS_RUNNING);
    assert_true(rig.x->wake_at_us == WAKE_AT_ONCE && offers(ACTION_PAUSE));
    assert_true(pause_for(""));
    assert_true(is_paused() && !shows("branches"));
    assert_false(wake_after(SECOND));
    assert_true(resume());
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

/* --- what still counts --- */

static void test_pause__the_deadline_still_counts(void **state)
{
    (void)state;
    start_with("'settings':{'timeout':'1h'},", "{'code': 'w',"
                                               "  'procedure': {'type': 'wait.signal',"
                                               "    'signalType': 'go'}}");
    assert_true(pause_for(""));
    assert_true(rig.x->wake_at_us == rig.x->deadline_at_us);
    assert_true(signal("1", "go", "7"));
    assert_true(rig.x->wake_at_us == rig.x->deadline_at_us);
    assert_true(wake_after(3600 * SECOND));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(rig.x->pause == NULL && rig.x->cursor.deferred_seq == 0);
    /* A retry begins the wait anew, and takes the signal that is there. */
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_pause__one_that_is_past_its_deadline_may_be_held(void **state)
{
    (void)state;
    start_with("'onError':'hold','settings':{'timeout':'1h'},",
               "{'code': 'p', 'parallel': {'branches': ["
               "  [{'code': 'v', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}],"
               "  [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'stop'}}]]}}");
    assert_true(pause_for(""));
    assert_true(signal("1", "stop", "7"));
    assert_true(wake_after(3600 * SECOND));
    assert_true(execution_is_held(rig.x) && rig.x->pause == NULL);
    /* The other branch goes on. */
    assert_string_equal(rig_trace(&rig), "w");
    assert_true(offers(ACTION_RETRY) && !offers(ACTION_RESUME));
    assert_false(resume());
}

static void test_pause__a_retry_after_the_deadline_takes_what_was_kept(void **state)
{
    (void)state;
    start_with("'onError':'fail_fast','settings':{'timeout':'1h'},",
               "{'code': 'p', 'parallel': {'branches': ["
               "  [{'code': 'v', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}],"
               "  [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'stop',"
               "    'accept': 'new'}}]]}}");
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "6") && signal("2", "stop", "7"));
    assert_true(wake_after(3600 * SECOND));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "v w p");
}

static void test_pause__can_be_cancelled(void **state)
{
    (void)state;
    start("{'code': 'x', 'procedure': {'type': 'compute.transform', 'data': 1},"
          "  'rollback': {'type': 'log', 'message': 'm'}},"
          "{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'v', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}}],"
          "  [{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '5s'}}]]}}");
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7"));
    rig_reload(&rig);
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_ROLLS_BACK}));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "x -x");
    start("{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '5s'}}");
    assert_true(pause_for(""));
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

static void test_pause__can_move_to_another_version(void **state)
{
    const struct program *first;

    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "{'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 1}}");
    first = rig.program;
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7"));
    rig_define(&rig, "{'code': 'a', 'steps': ["
                     "  {'code': 'y', 'procedure': {'type': 'compute.transform', 'data': 0}},"
                     "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
                     "  {'code': 'z', 'procedure': {'type': 'compute.transform', 'data': 2}}]}");
    ((struct program *)(uintptr_t)rig.program)->version = first->version + 1;
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = rig.program}));
    assert_true(is_paused());
    assert_true(resume());
    assert_string_equal(result(), "2");
}

static void test_pause__is_no_incident(void **state)
{
    (void)state;
    start("{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '5s'}}");
    assert_true(pause_for(""));
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_SKIP}));
    assert_false(execution_is_held(rig.x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_pause__says_who_why_and_what_waits_under_it),
        CLAIM(test_pause__needs_no_reason_and_nobody),
        CLAIM(test_pause__twice_is_refused_and_so_is_resuming_twice),
        CLAIM(test_pause__is_refused_of_what_does_not_go_forward),
        CLAIM(test_pause__a_timer_fires_when_it_goes_on),
        CLAIM(test_pause__a_timer_that_is_not_due_waits_for_its_time),
        CLAIM(test_pause__no_attempt_begins),
        CLAIM(test_pause__no_reminder_is_sent),
        CLAIM(test_pause__a_step_that_is_next_does_not_begin),
        CLAIM(test_pause__the_deadline_still_counts),
        CLAIM(test_pause__one_that_is_past_its_deadline_may_be_held),
        CLAIM(test_pause__a_retry_after_the_deadline_takes_what_was_kept),
        CLAIM(test_pause__can_be_cancelled),
        CLAIM(test_pause__can_move_to_another_version),
        CLAIM(test_pause__is_no_incident),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
