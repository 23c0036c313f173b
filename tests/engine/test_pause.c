/* test_pause.c - claims about executions that are paused, and go on. */
#include "base/buf.h"
#include "engine/rig.h"
#include "engine/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define ID "01020304-0506-7708-890a-0b0c0d0e0f10"

#define SETS(code, data)                                                                           \
    "{'code':'" code "','procedure':{'type':'compute.transform','data':" data "}}"
#define WAITS(code, type, fields)                                                                  \
    "{'code':'" code "','procedure':{'type':'wait.signal','signalType':'" type "'" fields "}}"
#define TIMER(code, duration)                                                                      \
    "{'code':'" code "','procedure':{'type':'wait.timer','duration':'" duration "'}}"
#define PARALLEL(branches) "{'code':'p','parallel':{'branches':[" branches "]}}"

static void start_with(const char *settings, const char *steps)
{
    struct buf text;

    buf_init_arena(&text, &rig.mem);
    buf_text(&text, "{'code':'a',");
    buf_text(&text, settings);
    buf_text(&text, "'steps':[");
    buf_text(&text, steps);
    buf_text(&text, "]}");
    buf_char(&text, 0);
    rig_define(&rig, text.ptr);
    rig_start(&rig, "{}");
}

static void start(const char *steps)
{
    start_with("", steps);
}

/* Each event meets a state that was stored and read back. */
static bool pause_for(const char *reason)
{
    rig_reload(&rig);
    return rig_event(&rig, (struct event){.kind = EVENT_PAUSE,
                                          .reason = str_of(reason),
                                          .by = rig_value(&rig, "{'id':'u1','name':'Ann'}")});
}

static bool resume(void)
{
    rig_reload(&rig);
    return rig_event(&rig, (struct event){.kind = EVENT_RESUME,
                                          .by = rig_value(&rig, "{'id':'u2','name':'Bob'}")});
}

static bool signal(const char *id, const char *type, const char *payload)
{
    rig_reload(&rig);
    return rig_signal(&rig, id, type, payload);
}

static bool send(const char *id, const char *type, const char *correlation)
{
    rig_reload(&rig);
    return rig_event(&rig, (struct event){.kind = EVENT_SIGNAL,
                                          .signal_id = str_of(id),
                                          .signal_type = str_of(type),
                                          .signal_correlation = str_of(correlation),
                                          .signal_payload = value_null()});
}

static bool answer(const char *key, const char *output, const char *error)
{
    rig_reload(&rig);
    return rig_event(&rig,
                     (struct event){
                         .kind = EVENT_ANSWER,
                         .answer_key = str_of(key),
                         .answer_output = output != NULL ? rig_value(&rig, output) : value_absent(),
                         .answer_error = error != NULL ? rig_value(&rig, error) : value_absent(),
                     });
}

static bool wake_after(int64_t us)
{
    rig_reload(&rig);
    rig_pass(&rig, us);
    return rig_wake(&rig);
}

static const char *waits(void)
{
    return rig_text(&rig, rig.x->waiting_for_json);
}

static const char *result(void)
{
    return rig_text(&rig, rig.x->result_json);
}

static bool shows(const char *part)
{
    return strstr(waits(), part) != NULL;
}

static bool is_paused(void)
{
    return rig.x->status == STATUS_WAITING && rig.x->pause != NULL &&
           str_starts_with(rig.x->waiting_for_json, STR("{\"kind\":\"paused\""));
}

static const char *delta(void)
{
    return rig_text(&rig, rig.history.items[rig.history.count - 1].delta_json);
}

/* Whether the action is offered. */
static bool offers(enum action action)
{
    return show_allows(&rig.stored, action);
}

/* --- pausing --- */

static void test_pause__says_who_why_and_what_waits_under_it(void **state)
{
    (void)state;
    start(WAITS("w", "go", ",'timeout':'1h'"));
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
    start(TIMER("t", "5s"));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_PAUSE}));
    assert_true(is_paused() && !shows("reason") && !shows("'by'"));
    assert_string_equal(delta(), "");
}

static void test_pause__twice_is_refused_and_so_is_resuming_twice(void **state)
{
    (void)state;
    start(TIMER("t", "5s"));
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
    start(SETS("x", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_false(offers(ACTION_PAUSE));
    assert_false(pause_for(""));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    start("{'code':'x','procedure':{'type':'compute.transform','data':1},'rollback':{'procedure':"
          "{'type':'compute.fail','code':'no','message':'m','class':'transient'}}}," TIMER("t",
                                                                                           "5s"));
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
    start(TIMER("t", "5s") "," SETS("z", "1"));
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
    start(TIMER("t", "5s"));
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
    start(WAITS("w", "go",
                ",'reminder':{'every':'10s','procedure':{'type':'compute.transform',"
                "'data':1}}"));
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
    buf_text(&list, "],'steps':[" SETS("s", "1") "]}}");
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

/* --- signals --- */

static void test_pause__a_signal_is_kept_for_the_wait(void **state)
{
    (void)state;
    start(WAITS("v", "go", "") "," WAITS("w", "go", "") "," SETS("z", "'$.steps.v.payload'"));
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
    start(WAITS("v", "go", ",'accept':'new'") "," WAITS("w", "go", ",'accept':'new'"));
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
    start(WAITS("w", "go", ",'timeout':'5s'"));
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
    start(WAITS("w", "go",
                ",'match':'signal.payload.n > 1','form':[{'name':'n','type':'integer',"
                "'required':true}]"));
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
    start(WAITS("v", "go", ",'correlation':'o-1'") "," WAITS("w", "go", ""));
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

#define WORKER(more) "{'code':'x','procedure':'erp.sync'" more "}"

static void test_pause__an_answer_is_kept(void **state)
{
    (void)state;
    start(WORKER(",'timeout':'1h'") "," SETS("z", "'$.steps.x.output'"));
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

static void test_pause__an_answer_that_failed_is_kept(void **state)
{
    (void)state;
    start(WORKER(""));
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
    rig_define(&other, "{'code':'child','steps':[" SETS("c", "1") "]}");
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
    rig_define(&rig, "{'code':'a','steps':[" SETS("x", "1") "]}");
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
    start(PARALLEL("[" WAITS("v", "go", "") "],[" TIMER("t", "5s") "],[" WORKER("") "]") "," SETS(
        "z", "'$.steps.p.branches'"));
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
    start(
        PARALLEL("[" WAITS("v", "go", "") "," WAITS("n", "go", "") "],[" WAITS("w", "go", "") "]"));
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
    start(PARALLEL("[" WAITS("v", "go", "") "],[" TIMER("t", "5s") "," WAITS("w", "go", "") "]"));
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
    start("{'code':'p','parallel':{'join':'any','branches':[[" WAITS("v", "go", "") "],[" WAITS(
        "w", "stop", "") "]]}}," WAITS("u", "stop", ""));
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7") && signal("2", "stop", "8"));
    assert_true(resume());
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "v p u");
}

/* --- what still counts --- */

static void test_pause__the_deadline_still_counts(void **state)
{
    (void)state;
    start_with("'settings':{'timeout':'1h'},", WAITS("w", "go", ""));
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
               PARALLEL("[" WAITS("v", "go", "") "],[" WAITS("w", "stop", "") "]"));
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
               PARALLEL("[" WAITS("v", "go", "") "],[" WAITS("w", "stop", ",'accept':'new'") "]"));
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "6") && signal("2", "stop", "7"));
    assert_true(wake_after(3600 * SECOND));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "v2 w p");
}

static void test_pause__can_be_cancelled(void **state)
{
    (void)state;
    start("{'code':'x','procedure':{'type':'compute.transform','data':1},'rollback':{'type':'log',"
          "'message':'m'}}," PARALLEL("[" WAITS("v", "go", "") "],[" TIMER("t", "5s") "]"));
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7"));
    rig_reload(&rig);
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_ROLLS_BACK}));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "x -x");
    start(TIMER("t", "5s"));
    assert_true(pause_for(""));
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

static void test_pause__can_move_to_another_version(void **state)
{
    const struct program *first;

    (void)state;
    start(WAITS("w", "go", "") "," SETS("z", "1"));
    first = rig.program;
    assert_true(pause_for(""));
    assert_true(signal("1", "go", "7"));
    rig_define(&rig, "{'code':'a','steps':[" SETS("y", "0") "," WAITS("w", "go",
                                                                      "") "," SETS("z", "2") "]}");
    ((struct program *)(uintptr_t)rig.program)->version = first->version + 1;
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = rig.program}));
    assert_true(is_paused());
    assert_true(resume());
    assert_string_equal(result(), "2");
}

static void test_pause__is_no_incident(void **state)
{
    (void)state;
    start(TIMER("t", "5s"));
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
        CLAIM(test_pause__a_signal_is_kept_for_the_wait),
        CLAIM(test_pause__a_wait_for_new_signals_takes_what_came_meanwhile),
        CLAIM(test_pause__what_came_is_taken_before_the_wait_times_out),
        CLAIM(test_pause__forms_are_checked_and_matches_counted),
        CLAIM(test_pause__a_wait_keeps_one_signal_of_its_correlation),
        CLAIM(test_pause__an_answer_is_kept),
        CLAIM(test_pause__an_answer_that_failed_is_kept),
        CLAIM(test_pause__a_child_that_ended_is_looked_at_when_it_goes_on),
        CLAIM(test_pause__one_that_has_not_begun_begins_when_it_goes_on),
        CLAIM(test_pause__stops_all_strands),
        CLAIM(test_pause__what_is_kept_for_one_strand_is_not_taken_by_another),
        CLAIM(test_pause__strands_go_on_waiting),
        CLAIM(test_pause__what_was_kept_for_a_strand_that_is_stopped_is_left),
        CLAIM(test_pause__the_deadline_still_counts),
        CLAIM(test_pause__one_that_is_past_its_deadline_may_be_held),
        CLAIM(test_pause__a_retry_after_the_deadline_takes_what_was_kept),
        CLAIM(test_pause__can_be_cancelled),
        CLAIM(test_pause__can_move_to_another_version),
        CLAIM(test_pause__is_no_incident),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
