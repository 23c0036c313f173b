/* test_debug.c - claims about executions that are debugged: where they stop, and how they go on. */
#include "engine/pause_rig.h"

#define STEP(code) "{'code':'" code "','procedure':{'type':'compute.transform','data':'" code "'}}"
#define ABC STEP("a") "," STEP("b") "," STEP("c")
#define WAIT(code) "{'code':'" code "','procedure':{'type':'wait.signal','signalType':'" code "'}}"
#define JOB(code) "{'code':'" code "','procedure':'erp.sync'}"

/* --- how they are debugged --- */

static const struct debug by_steps = {.until = DEBUG_STEP};

static void debug(const char *settings, const char *steps)
{
    rig.debug = &by_steps;
    start_with(settings, steps);
}

static void debug_before(const char *breakpoints, const char *steps)
{
    struct debug *d = ARENA_NEW(&rig.mem, struct debug);

    d->until = DEBUG_END;
    d->breakpoints_json = str_of(breakpoints);
    rig.debug = d;
    start(steps);
}

static bool continue_with(struct event ev)
{
    ev.kind = EVENT_CONTINUE;
    ev.by = rig_value(&rig, "{'id':'u2','name':'Bob'}");
    rig_reload(&rig);
    return rig_event(&rig, ev);
}

static bool step(void)
{
    return continue_with((struct event){0});
}

static bool go_to(const char *to)
{
    return continue_with((struct event){.to = str_of(to)});
}

static bool step_in(const char *branch)
{
    return continue_with((struct event){.branch = str_of(branch)});
}

static bool set_breakpoints(const char *nodes)
{
    rig_reload(&rig);
    return rig_event(&rig,
                     (struct event){.kind = EVENT_BREAKPOINTS, .nodes = rig_value(&rig, nodes)});
}

/* Whether it is stopped before that step, and nothing but an operator or an answer moves it. */
static bool stands_before(const char *next)
{
    return rig.x->status == STATUS_WAITING_DEBUG && rig.x->waiting_kind == WAITING_DEBUG &&
           shows(rig_text(&rig, str_printf(&rig.mem, "'next':'%s'", next))) &&
           str_eq(execution_current_step(rig.x), str_of(next)) && offers(ACTION_CONTINUE) &&
           offers(ACTION_BREAKPOINTS) && offers(ACTION_CANCEL) && !offers(ACTION_PAUSE);
}

static void assert_trace(const char *expected)
{
    assert_string_equal(rig_trace(&rig), expected);
}

/* --- steps --- */

static void test_debug__it_stops_behind_the_first_step_and_each_other(void **state)
{
    (void)state;
    debug("", ABC);
    assert_trace("a");
    assert_true(stands_before("b") && shows("'kind':'debug'") && shows("'step':'a'"));
    assert_int_equal(rig.x->wake_at_us, 0);
    rig_pass(&rig, 3600 * SECOND);
    rig_reload(&rig);
    assert_false(rig_wake(&rig));
    assert_true(step() && stands_before("c") && shows("'step':'b'"));
    assert_true(step());
    assert_trace("a b c");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_false(step());
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static void test_debug__history_says_who_went_on_and_how_far(void **state)
{
    (void)state;
    debug("", ABC);
    assert_true(continue_with(
        (struct event){.to = STR("c"), .set = rig_value(&rig, "{'variables':{'n':7}}")}));
    for (size_t i = 0; i < rig.history.count; i++)
        if (str_eq(rig.history.items[i].status, STR("continued"))) {
            assert_string_equal(rig_text(&rig, rig.history.items[i].input_json),
                                "{'to':'c','set':{'variables':{'n':7}}}");
            assert_non_null(strstr(rig_text(&rig, rig.history.items[i].delta_json), "'Bob'"));
            return;
        }
    fail_msg("no row says that it went on");
}

static void test_debug__to_runs_up_to_a_step_and_it(void **state)
{
    (void)state;
    debug("", ABC "," STEP("d"));
    assert_true(go_to("c") && stands_before("d"));
    assert_trace("a b c");
    assert_true(go_to("end"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_trace("a b c d");
}

static void test_debug__to_a_step_that_there_is_not_is_refused(void **state)
{
    (void)state;
    debug("", ABC);
    assert_false(go_to("bb"));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_true(stands_before("b"));
    assert_false(continue_with((struct event){.branch = STR("p.1")}));
    assert_int_equal(rig.err.code, ERR_INVALID);
}

static void test_debug__breakpoints_alone_let_it_run_until_one(void **state)
{
    (void)state;
    debug_before("[\"c\"]", ABC);
    assert_true(stands_before("c"));
    assert_trace("a b");
    assert_true(step());
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_debug__a_breakpoint_at_the_first_step_stops_before_it(void **state)
{
    (void)state;
    debug_before("[\"a\"]", ABC);
    assert_trace("");
    assert_true(stands_before("a") && !shows("'step'"));
    assert_true(go_to("end"));
    assert_trace("a b c");
}

static void test_debug__breakpoints_are_changed_and_stop_every_way_of_going_on(void **state)
{
    (void)state;
    debug("", ABC "," STEP("d"));
    assert_true(set_breakpoints("['c']"));
    assert_true(stands_before("b"));
    assert_true(go_to("d") && stands_before("c"));
    assert_true(set_breakpoints("[]"));
    assert_true(go_to("end"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_debug__breakpoints_are_steps(void **state)
{
    (void)state;
    debug("", ABC);
    assert_false(set_breakpoints("['b','bx']"));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_int_equal(rig.last.findings.count, 0);
    assert_true(stands_before("b"));
}

static void test_debug__what_is_not_debugged_is_refused(void **state)
{
    (void)state;
    start(WAIT("w"));
    assert_false(step());
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(set_breakpoints("['w']"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(offers(ACTION_CONTINUE) || offers(ACTION_BREAKPOINTS));
}

static void test_debug__one_that_waits_is_not_stopped(void **state)
{
    (void)state;
    debug("", WAIT("w") "," STEP("z"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_false(step());
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(signal("1", "w", "1") && stands_before("z"));
}

/* --- variables --- */

static void test_debug__variables_are_set_for_the_steps_that_come(void **state)
{
    (void)state;
    debug("", "{'code':'a','procedure':{'type':'compute.set','values':{'x':1,'y':2}}},"
              "{'code':'b','procedure':{'type':'compute.transform','data':'=$.variables'}}");
    assert_true(
        continue_with((struct event){.set = rig_value(&rig, "{'variables':{'x':5,'z':[1]}}")}));
    assert_string_equal(result(), "{'x':5,'y':2,'z':[1]}");
}

static void test_debug__nothing_but_variables_is_set(void **state)
{
    static const char *const wrong[] = {"{'input':{}}", "{'variables':1}", "{}"};

    (void)state;
    debug("", ABC);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        assert_false(continue_with((struct event){.set = rig_value(&rig, wrong[i])}));
        assert_int_equal(rig.err.code, ERR_INVALID);
        assert_true(stands_before("b"));
    }
}

static void test_debug__variables_stay_within_the_context(void **state)
{
    struct buf big;

    (void)state;
    debug("", ABC);
    buf_init_arena(&big, &rig.mem);
    buf_text(&big, "{'variables':{'x':'");
    for (unsigned i = 0; i < CONTEXT_BYTES_MAX; i++)
        buf_char(&big, 'x');
    buf_text(&big, "'}}");
    buf_char(&big, 0);
    assert_false(continue_with((struct event){.set = rig_value(&rig, big.ptr)}));
    assert_true(stands_before("b"));
}

/* --- loops, branches, jumps --- */

static void test_debug__a_loop_is_entered_and_stepped_through(void **state)
{
    (void)state;
    debug("", "{'code':'l','loop':{'for':[1,2],'steps':[" STEP("i") "]}}," STEP("z"));
    assert_trace("");
    assert_true(stands_before("i"));
    assert_true(step() && stands_before("i"));
    assert_true(step() && stands_before("z"));
    assert_trace("i i2 l");
}

static void test_debug__to_a_loop_runs_until_it_is_done(void **state)
{
    (void)state;
    debug("", STEP("a") ",{'code':'l','loop':{'for':[1,2,3],'steps':[" STEP("i") "]}}," STEP("z"));
    assert_true(go_to("l") && stands_before("z"));
    assert_trace("a i i2 i3 l");
}

static void test_debug__a_skipped_step_is_one(void **state)
{
    (void)state;
    debug("", STEP("a") ",{'code':'b','when':'false','procedure':{'type':'compute.transform',"
                        "'data':1}}," STEP("c"));
    assert_true(step() && stands_before("c"));
    assert_trace("a b.skipped");
}

/* --- several strands --- */

#define PARALLEL(one, two) "{'code':'p','parallel':{'branches':[[" one "],[" two "]],'join':'all'}}"

static void test_debug__the_first_branch_goes_on_first(void **state)
{
    (void)state;
    debug("", PARALLEL(STEP("a") "," STEP("b"), STEP("c") "," STEP("d")) "," STEP("z"));
    assert_true(stands_before("a") && shows("'branch':'p.0'"));
    assert_true(shows("'branches':[{'kind':'debug','next':'a','branch':'p.0'},"
                      "{'kind':'debug','next':'c','branch':'p.1'}]"));
    assert_true(step() && stands_before("b"));
    assert_trace("a");
    assert_true(step_in("p.1"));
    assert_trace("a c");
    assert_true(stands_before("b") && shows("'next':'d'"));
    assert_true(go_to("d"));
    assert_trace("a c b d p");
    assert_true(stands_before("z"));
}

static void test_debug__a_branch_that_is_none_is_refused(void **state)
{
    (void)state;
    debug("", PARALLEL(STEP("a"), STEP("c")));
    assert_false(step_in("p.2"));
    assert_int_equal(rig.err.code, ERR_INVALID);
}

static void test_debug__a_breakpoint_stops_all_branches(void **state)
{
    (void)state;
    debug_before("[\"b\"]",
                 PARALLEL(STEP("a") "," STEP("b"), STEP("c") "," STEP("d")) "," STEP("z"));
    assert_true(stands_before("b"));
    assert_trace("a");
    assert_true(go_to("end"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_debug__iterations_that_run_at_once_are_stepped_one_by_one(void **state)
{
    (void)state;
    debug("", "{'code':'l','loop':{'for':[7,8],'concurrency':2,'steps':[" STEP("i") "]}}");
    assert_true(shows("'branch':'l.0'") && shows("'branch':'l.1'"));
    assert_true(step_in("l.1"));
    assert_trace("i2");
    assert_true(step());
    assert_trace("i2 i l");
}

/* --- what is in flight --- */

static void test_debug__an_answer_is_recorded_and_nothing_begins(void **state)
{
    (void)state;
    debug("", PARALLEL(JOB("x") "," STEP("y"), STEP("c") "," STEP("d")) "," STEP("z"));
    assert_true(step() && stands_before("c") && shows("'kind':'job'"));
    assert_true(answer(ID "-x", "{'done':true}", NULL));
    assert_true(rig_row(&rig, "x") != NULL && rig_row(&rig, "y") == NULL);
    assert_true(stands_before("y"));
    assert_trace("x");
    assert_true(go_to("end"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_debug__an_attempt_times_out_while_it_is_stopped(void **state)
{
    (void)state;
    debug("", PARALLEL("{'code':'x','procedure':'erp.sync','timeout':'5s','onError':'continue'}",
                       STEP("c")));
    assert_true(step() && stands_before("c"));
    assert_true(rig.x->wake_at_us > 0);
    rig_pass(&rig, 6 * SECOND);
    rig_reload(&rig);
    assert_true(rig_wake(&rig));
    assert_trace("x.failed");
    assert_true(stands_before("c"));
    assert_int_equal(rig.x->wake_at_us, 0);
}

static void test_debug__a_signal_is_kept_until_it_goes_on(void **state)
{
    (void)state;
    debug("", PARALLEL(WAIT("w") "," STEP("y"), STEP("c") "," STEP("d")));
    assert_true(step() && stands_before("c"));
    assert_true(signal("1", "w", "7"));
    assert_true(stands_before("c"));
    assert_trace("");
    /* What came ends the wait; one step more begins, the one that it stood before. */
    assert_true(step());
    assert_trace("w c");
    assert_true(stands_before("y") && shows("'next':'d'"));
}

static void test_debug__a_join_that_is_complete_lets_the_stop_go(void **state)
{
    (void)state;
    debug("", "{'code':'p','parallel':{'join':'any','branches':[[" JOB("x") "],[" STEP(
                  "c") "]]}}," STEP("z"));
    assert_true(step() && stands_before("c"));
    assert_true(answer(ID "-x", "1", NULL));
    assert_true(stands_before("z"));
    assert_trace("x p");
}

/* The branch that was stopped is gone, and the other one only waits: it is stopped no more. */
static void test_debug__what_is_left_goes_on_when_the_stopped_branch_is_gone(void **state)
{
    (void)state;
    debug("", PARALLEL("{'code':'w','procedure':{'type':'wait.signal','signalType':'w',"
                       "'timeout':'60s'}}",
                       "{'code':'q','parallel':{'join':'any','branches':[[" JOB("x") "],[" STEP(
                           "c") "]]}}"));
    assert_true(step() && stands_before("q"));
    assert_true(step() && stands_before("x"));
    assert_true(step() && stands_before("c"));
    rig_pass(&rig, 100 * SECOND);
    assert_true(signal("1", "w", "7"));
    assert_true(answer(ID "-x", "1", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_trace("x q w p");
}

/* --- time --- */

static void test_debug__timers_move_by_the_time_it_stood(void **state)
{
    (void)state;
    debug("", PARALLEL("{'code':'w','procedure':{'type':'wait.signal','signalType':'w',"
                       "'timeout':'60s'}}",
                       STEP("c") "," STEP("d")));
    assert_true(step() && stands_before("c"));
    assert_int_equal(rig.x->wake_at_us, 0);
    rig_pass(&rig, 1000 * SECOND);
    rig_reload(&rig);
    assert_false(rig_wake(&rig));
    assert_true(go_to("end"));
    assert_trace("c d");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.x->wake_at_us, rig.now_us + 60 * SECOND);
    assert_true(shows("'until':'2026-01-01T00:17:40Z'"));
    rig_pass(&rig, 60 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_trace("c d w.failed");
}

static void test_debug__a_retry_that_was_planned_meanwhile_waits_its_time(void **state)
{
    (void)state;
    debug("'settings':{'timeout':'10m','retryPolicy':{'maxAttempts':3,'delay':'30s',"
          "'jitter':'none'}},",
          PARALLEL(JOB("x"), STEP("c") "," STEP("d")));
    assert_true(step() && stands_before("c"));
    rig_pass(&rig, 100 * SECOND);
    assert_true(
        answer(ID "-x", NULL, "{'code':'external_down','message':'x','class':'transient'}"));
    assert_true(stands_before("c"));
    rig_pass(&rig, 50 * SECOND);
    rig_reload(&rig);
    assert_false(rig_wake(&rig));
    assert_true(go_to("end"));
    assert_true(rig.x->wake_at_us <= rig.now_us + 30 * SECOND);
    assert_true(rig.x->wake_at_us > rig.now_us);
    assert_int_equal(rig.x->deadline_at_us, rig.x->created_at_us + 750 * SECOND);
}

static void test_debug__the_deadline_stands_still(void **state)
{
    int64_t deadline_us;

    (void)state;
    debug("'settings':{'timeout':'60s'},", ABC);
    deadline_us = rig.x->deadline_at_us;
    rig_pass(&rig, 3600 * SECOND);
    rig_reload(&rig);
    assert_false(rig_wake(&rig));
    assert_true(step() && stands_before("c"));
    assert_int_equal(rig.x->deadline_at_us, deadline_us + 3600 * SECOND);
    assert_true(rig.last.moves);
}

static void test_debug__reminders_are_sent_later(void **state)
{
    (void)state;
    debug("", PARALLEL("{'code':'w','procedure':{'type':'wait.signal','signalType':'w',"
                       "'reminder':{'every':'10s','procedure':{'type':'log','message':'r'}}}}",
                       STEP("c") "," STEP("d")));
    assert_true(step() && stands_before("c"));
    rig_pass(&rig, 1000 * SECOND);
    assert_false(rig_wake(&rig));
    assert_true(go_to("end"));
    assert_int_equal(rig.x->wake_at_us, rig.now_us + 10 * SECOND);
}

/* --- failures, operators --- */

static void test_debug__rolling_back_does_not_stop(void **state)
{
    (void)state;
    debug("", "{'code':'a','procedure':{'type':'compute.transform','data':1},"
              "'rollback':{'type':'log','message':'undo a'}},"
              "{'code':'b','procedure':{'type':'compute.transform','data':1},"
              "'rollback':{'type':'log','message':'undo b'}},"
              "{'code':'c','procedure':{'type':'compute.fail','code':'no','message':'no'}}");
    assert_true(step() && step());
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_trace("a b c.failed -b -a");
}

static void test_debug__it_is_cancelled_where_it_stands(void **state)
{
    (void)state;
    debug("", "{'code':'a','procedure':{'type':'compute.transform','data':1},"
              "'rollback':{'type':'log','message':'undo a'}}," STEP("b"));
    assert_true(stands_before("b"));
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, ""));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_trace("a -a");
}

static void test_debug__pausing_what_is_stopped_is_refused(void **state)
{
    (void)state;
    debug("", ABC);
    assert_false(pause_for(""));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(stands_before("b"));
}

static void test_debug__what_is_paused_stops_when_it_is_resumed(void **state)
{
    (void)state;
    debug("", WAIT("w") "," STEP("z"));
    assert_true(pause_for(""));
    assert_true(signal("1", "w", "1") && is_paused());
    assert_false(step());
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(resume() && stands_before("z"));
    assert_trace("w");
}

static void test_debug__a_step_that_is_tried_again_runs(void **state)
{
    (void)state;
    debug("'onError':'hold',",
          "{'code':'a','procedure':{'type':'compute.fail','code':'no','message':'no',"
          "'when':'!has(variables.ok)'}}," STEP("b") "," STEP("c"));
    assert_true(execution_is_held(rig.x));
    assert_false(step());
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_true(execution_is_held(rig.x));
    assert_trace("a.failed a2.failed");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP}));
    assert_true(stands_before("b"));
}

static void test_debug__an_incident_beside_the_stop_comes_first(void **state)
{
    (void)state;
    debug("'onError':'hold',", PARALLEL(JOB("x") "," STEP("y"), STEP("c") "," STEP("d")));
    assert_true(step() && stands_before("c"));
    assert_true(answer(ID "-x", NULL, "{'code':'no','message':'no','class':'business'}"));
    assert_true(execution_is_held(rig.x));
    assert_false(step());
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP}));
    assert_true(stands_before("y") && shows("'next':'c'"));
}

static void test_debug__a_failed_one_goes_on_in_debug(void **state)
{
    (void)state;
    debug("'onError':'fail_fast',",
          STEP("a") ",{'code':'b','procedure':{'type':'compute.fail','code':'no',"
                    "'message':'no','when':'$.input.n != 2'}}," STEP("c"));
    assert_true(step());
    assert_int_equal(rig.x->status, STATUS_FAILED);
    rig_reload(&rig);
    assert_true(
        rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = rig_value(&rig, "{'n':2}")}));
    assert_true(stands_before("c"));
}

static void test_debug__it_goes_on_with_another_version(void **state)
{
    (void)state;
    debug_before("[\"b\",\"c\"]", ABC);
    assert_true(stands_before("b"));
    rig.version = 2;
    rig_define(&rig, "{'code':'a','steps':[" STEP("a") "," STEP("b") "," STEP("d") "]}");
    rig.is_of_versions = true;
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = rig.program}));
    assert_true(stands_before("b"));
    assert_string_equal(rig_text(&rig, rig.x->debug->breakpoints_json), "['b']");
    assert_true(go_to("end"));
    assert_trace("a b d");
}

static void test_debug__a_child_that_ends_is_recorded(void **state)
{
    struct rig other;

    (void)state;
    rig_init(&other);
    rig_define(&other, "{'code':'child','steps':[" STEP("x") "]}");
    *VEC_ADD(&rig.mem, &rig.processes) =
        (struct process_read){.code = STR("child"), .program = other.program};
    debug("", PARALLEL("{'code':'k','procedure':{'type':'flow.start','code':'child','input':{},"
                       "'wait':true}}," STEP("y"),
                       STEP("c") "," STEP("d")));
    assert_true(step() && stands_before("c"));
    /* It goes on by itself: nobody debugs it. */
    assert_int_equal(rig.last.starts.count, 1);
    assert_null(rig.last.starts.items[0]->debug);
    rig.child = (struct child_read){
        .is_found = true, .status = STATUS_COMPLETED, .result = rig_value(&rig, "{'done':true}")};
    rig_reload(&rig);
    assert_true(rig_wake(&rig));
    assert_trace("k");
    assert_true(stands_before("y"));
    rig_fini(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_debug__it_stops_behind_the_first_step_and_each_other),
        CLAIM(test_debug__history_says_who_went_on_and_how_far),
        CLAIM(test_debug__to_runs_up_to_a_step_and_it),
        CLAIM(test_debug__to_a_step_that_there_is_not_is_refused),
        CLAIM(test_debug__breakpoints_alone_let_it_run_until_one),
        CLAIM(test_debug__a_breakpoint_at_the_first_step_stops_before_it),
        CLAIM(test_debug__breakpoints_are_changed_and_stop_every_way_of_going_on),
        CLAIM(test_debug__breakpoints_are_steps),
        CLAIM(test_debug__what_is_not_debugged_is_refused),
        CLAIM(test_debug__one_that_waits_is_not_stopped),
        CLAIM(test_debug__variables_are_set_for_the_steps_that_come),
        CLAIM(test_debug__nothing_but_variables_is_set),
        CLAIM(test_debug__variables_stay_within_the_context),
        CLAIM(test_debug__a_loop_is_entered_and_stepped_through),
        CLAIM(test_debug__to_a_loop_runs_until_it_is_done),
        CLAIM(test_debug__a_skipped_step_is_one),
        CLAIM(test_debug__the_first_branch_goes_on_first),
        CLAIM(test_debug__a_branch_that_is_none_is_refused),
        CLAIM(test_debug__a_breakpoint_stops_all_branches),
        CLAIM(test_debug__iterations_that_run_at_once_are_stepped_one_by_one),
        CLAIM(test_debug__an_answer_is_recorded_and_nothing_begins),
        CLAIM(test_debug__an_attempt_times_out_while_it_is_stopped),
        CLAIM(test_debug__a_signal_is_kept_until_it_goes_on),
        CLAIM(test_debug__a_join_that_is_complete_lets_the_stop_go),
        CLAIM(test_debug__what_is_left_goes_on_when_the_stopped_branch_is_gone),
        CLAIM(test_debug__timers_move_by_the_time_it_stood),
        CLAIM(test_debug__a_retry_that_was_planned_meanwhile_waits_its_time),
        CLAIM(test_debug__the_deadline_stands_still),
        CLAIM(test_debug__reminders_are_sent_later),
        CLAIM(test_debug__rolling_back_does_not_stop),
        CLAIM(test_debug__it_is_cancelled_where_it_stands),
        CLAIM(test_debug__pausing_what_is_stopped_is_refused),
        CLAIM(test_debug__what_is_paused_stops_when_it_is_resumed),
        CLAIM(test_debug__a_step_that_is_tried_again_runs),
        CLAIM(test_debug__an_incident_beside_the_stop_comes_first),
        CLAIM(test_debug__a_failed_one_goes_on_in_debug),
        CLAIM(test_debug__it_goes_on_with_another_version),
        CLAIM(test_debug__a_child_that_ends_is_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
