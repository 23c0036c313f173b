/* test_remind.c - claims about reminders that call services and ask workers. */
#include "engine/commit/call_capacity.h"
#include "engine/pause_rig.h"
#include "engine/state.h"

#define WAIT(more)                                                                                 \
    "{'code':'w','procedure':{'type':'wait.signal','signalType':'ok','timeout':'10h',"             \
    "'reminder':{'every':'1h','max':3,'input':{'at':'$.now'},'procedure':" more "}}}"
#define CALL                                                                                       \
    "{'type':'integration.http','method':'POST','url':'http://sms.example/x',"                     \
    "'body':{'n':'$.reminder.index','at':'$.input.at'}}"
#define ANSWER "{'status_code':200,'headers':{},'body':7}"
#define DOWN "{'code':'down','message':'m','class':'transient'}"
#define HOUR (3600 * SECOND)

/* The reminder that waits; there is one. */
static const struct strand *reminding(void)
{
    assert_int_equal(rig.x->reminding_count, 1);
    return rig.x->reminding[0];
}

static struct event answer_event(const char *output, const char *error)
{
    return (struct event){.kind = EVENT_ANSWER,
                          .answer_seq = reminding()->cursor.asked_seq,
                          .answer_output =
                              output != NULL ? rig_value(&rig, output) : value_absent(),
                          .answer_error = error != NULL ? rig_value(&rig, error) : value_absent()};
}

static void answer_it(const char *output, const char *error)
{
    rig_reload(&rig);
    assert_true(rig_event(&rig, answer_event(output, error)));
}

static const char *asked_key(void)
{
    assert_int_equal(rig.last.asks.count, 1);
    return rig_text(&rig, rig.last.asks.items[0].key);
}

/* Its rows: "1 completed, 2 failed(2)", by index and attempt. */
static const char *reminders(void)
{
    struct buf out;

    buf_init_arena(&out, &rig.mem);
    for (size_t i = 0; i < rig.history.count; i++) {
        const struct history_row *row = &rig.history.items[i];
        struct str key = row->key;

        if (row->kind != HISTORY_REMINDER)
            continue;
        buf_printf(&out, "%s%c %.*s", out.len > 0 ? ", " : "", key.ptr[key.len - 1],
                   STR_ARG(row->status));
        if (row->attempt > 1)
            buf_printf(&out, "(%lld)", (long long)row->attempt);
    }
    buf_char(&out, 0);
    return out.ptr;
}

static void test_remind__a_call_leaves_and_the_wait_goes_on(void **state)
{
    (void)state;
    start(WAIT(CALL));
    assert_true(wake_after(HOUR));
    assert_string_equal(asked_key(), ID "-w-reminder-1");
    assert_true(shows("'kind':'signal'"));
    assert_true(rig.x->wake_at_us > 0 && rig.x->wake_at_us < rig.now_us + 60 * SECOND);
    answer_it(ANSWER, NULL);
    assert_string_equal(reminders(), "1 completed");
    assert_int_equal(rig.x->reminding_count, 0);
    assert_true(rig.x->wake_at_us == rig.now_us + HOUR);
    assert_true(wake_after(HOUR));
    assert_string_equal(asked_key(), ID "-w-reminder-2");
    answer_it(ANSWER, NULL);
    assert_true(signal("1", "ok", "5"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "!w !w w");
}

static void test_remind__the_wait_takes_a_signal_meanwhile(void **state)
{
    (void)state;
    start(WAIT(CALL) ",{'code':'v','procedure':{'type':'wait.signal','signalType':'end'}}");
    assert_true(wake_after(HOUR));
    assert_true(signal("1", "ok", "5"));
    assert_true(shows("'step':'v'"));
    /* It is brought to its end, and changes nothing. */
    answer_it(ANSWER, NULL);
    assert_string_equal(reminders(), "1 completed");
    assert_int_equal(rig.x->reminding_count, 0);
    assert_true(shows("'step':'v'"));
    assert_true(rig.x->wake_at_us == rig.x->deadline_at_us);
    assert_true(signal("2", "end", "5"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_remind__nothing_else_leaves_once_the_wait_is_over(void **state)
{
    (void)state;
    start(
        WAIT("[" CALL "," CALL
             ",{'type':'event.publish','event':'reminded'}]") ",{'code':'v','procedure':{'type':'"
                                                              "wait.signal','signalType':'end'}}");
    assert_true(wake_after(HOUR));
    assert_true(signal("1", "ok", "5"));
    answer_it(ANSWER, NULL);
    assert_int_equal(rig.last.asks.count + rig.last.messages.count, 0);
    assert_string_equal(reminders(), "1 completed");
    assert_int_equal(rig.x->reminding_count, 0);
}

static void test_remind__ends_with_the_execution(void **state)
{
    struct event late;

    (void)state;
    start(WAIT("'erp.remind'"));
    assert_true(wake_after(HOUR));
    late = answer_event("1", NULL);
    assert_true(signal("1", "ok", "5"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    /* The worker's job is withdrawn. */
    assert_int_equal(rig.last.asks_ended.count, 1);
    assert_false(rig_event(&rig, late));
}

static void test_remind__several_commands_go_on_behind_each_other(void **state)
{
    (void)state;
    start(WAIT("[{'type':'compute.set','values':{'told':1}}," CALL ",{'type':'flow.call',"
               "'procedure':'erp.remind','input':{'n':'$.reminder.index'}},"
               "{'type':'event.publish','event':'reminded'}]"));
    assert_true(wake_after(HOUR));
    assert_string_equal(asked_key(), ID "-w-reminder-1.2");
    assert_int_equal(rig.last.messages.count, 0);
    answer_it(ANSWER, NULL);
    assert_string_equal(asked_key(), ID "-w-reminder-1.3");
    assert_string_equal(rig_text(&rig, rig.last.asks.items[0].request_json), "{'n':1}");
    answer_it("8", NULL);
    assert_int_equal(rig.last.messages.count, 1);
    assert_string_equal(reminders(), "1 completed");
}

/* All attempts ask for the same under the same key; its failure is none of the wait. */
static void test_remind__is_tried_again_by_the_policy(void **state)
{
    struct str first;

    (void)state;
    start_with("'settings':{'retryPolicy':{'maxAttempts':2,'delay':'10s','jitter':'none'}},",
               WAIT(CALL));
    assert_true(wake_after(HOUR));
    first = str_copy(&rig.mem, rig.last.asks.items[0].request_json);
    answer_it(NULL, DOWN);
    assert_string_equal(reminders(), "1 failed");
    assert_true(rig.x->wake_at_us == rig.now_us + 10 * SECOND);
    assert_true(wake_after(10 * SECOND));
    assert_string_equal(asked_key(), ID "-w-reminder-1");
    assert_true(str_eq(first, rig.last.asks.items[0].request_json));
    answer_it(NULL, DOWN);
    assert_string_equal(reminders(), "1 failed, 1 failed(2)");
    assert_true(shows("'kind':'signal'"));
    assert_true(rig.x->wake_at_us == rig.now_us + HOUR - 10 * SECOND);
    assert_true(wake_after(HOUR));
    assert_string_equal(asked_key(), ID "-w-reminder-2");
}

static void test_remind__an_attempt_that_waits_for_its_time_goes_with_the_wait(void **state)
{
    (void)state;
    start(WAIT(CALL) ",{'code':'v','procedure':{'type':'wait.signal','signalType':'end'}}");
    assert_true(wake_after(HOUR));
    answer_it(NULL, DOWN);
    assert_int_equal(rig.x->reminding_count, 1);
    assert_true(signal("1", "ok", "5"));
    assert_int_equal(rig.x->reminding_count, 0);
    assert_string_equal(reminders(), "1 failed");
}

/* One at a time: what comes due meanwhile is left out. */
static void test_remind__has_one_at_a_time(void **state)
{
    (void)state;
    start(WAIT("'erp.remind'"));
    assert_true(wake_after(HOUR));
    assert_true(rig.x->wake_at_us == rig.x->cursor.timeout_at_us);
    assert_false(wake_after(3 * HOUR));
    answer_it("1", NULL);
    assert_true(rig.x->wake_at_us == rig.now_us + HOUR);
    assert_true(wake_after(HOUR));
    assert_string_equal(asked_key(), ID "-w-reminder-2");
}

static void test_remind__a_call_without_an_answer_ends_by_its_time(void **state)
{
    (void)state;
    start_with("'settings':{'retryPolicy':{'maxAttempts':1}},", WAIT(CALL));
    assert_true(wake_after(HOUR));
    assert_true(wake_after(60 * SECOND));
    assert_string_equal(reminders(), "1 failed");
    assert_true(strstr(rig_text(&rig, rig.history.items[rig.history.count - 1].error_json),
                       "timeout_call") != NULL);
    assert_true(shows("'kind':'signal'"));
}

static void test_remind__the_wait_times_out_meanwhile(void **state)
{
    (void)state;
    start("{'code':'w','onError':'continue','procedure':{'type':'wait.signal','signalType':'ok',"
          "'timeout':'2h','reminder':{'every':'90m','procedure':'erp.remind'}}},"
          "{'code':'v','procedure':{'type':'wait.signal','signalType':'end'}}");
    assert_true(wake_after(HOUR + HOUR / 2));
    assert_true(wake_after(HOUR / 2));
    assert_true(shows("'step':'v'"));
    answer_it(NULL, DOWN);
    assert_string_equal(reminders(), "1 failed");
    assert_int_equal(rig.x->reminding_count, 0);
}

static void test_remind__what_is_answered_in_a_pause_is_kept(void **state)
{
    (void)state;
    start(WAIT("[" CALL "," CALL "]"));
    assert_true(wake_after(HOUR));
    assert_true(pause_for(""));
    answer_it(ANSWER, NULL);
    assert_true(is_paused());
    assert_int_equal(rig.last.asks.count, 0);
    assert_false(rig_event(&rig, answer_event(ANSWER, NULL)));
    assert_true(resume());
    assert_string_equal(asked_key(), ID "-w-reminder-1.2");
    answer_it(ANSWER, NULL);
    assert_string_equal(reminders(), "1 completed");
}

/* It waits for capacity when its wait ends: nothing of it leaves any more. */
static void test_remind__what_has_not_left_when_its_wait_ends_does_not_leave(void **state)
{
    struct map hosts;
    struct call_capacity busy = {.hosts = &hosts, .limit = 1, .left = 0};

    (void)state;
    map_init(&hosts, &rig.mem);
    start(WAIT(CALL) ",{'code':'v','procedure':{'type':'wait.signal','signalType':'end'}}");
    rig.capacity = &busy;
    assert_true(wake_after(HOUR));
    assert_int_equal(rig.last.asks.count, 0);
    assert_int_equal(reminding()->cursor.asked_seq, 0);
    assert_true(pause_for(""));
    assert_true(signal("1", "ok", "5"));
    rig.capacity = NULL;
    rig_pass(&rig, 60 * SECOND);
    assert_true(resume());
    assert_true(shows("'step':'v'"));
    assert_int_equal(rig.last.asks.count, 0);
    assert_int_equal(rig.x->reminding_count, 0);
}

static void test_remind__sees_its_wait_in_a_branch(void **state)
{
    (void)state;
    start("{'code':'l','loop':{'for':'=[10,20]','concurrency':2,'steps':[{'code':'w','procedure':"
          "{'type':'wait.signal','signalType':'ok','match':'signal.payload == loop.item',"
          "'title':'T{{ loop.item }}','assignee':'ann@x.org','reminder':{'every':'1h','procedure':"
          "[" CALL ",{'type':'flow.call','procedure':'erp.remind','input':"
          "{'i':'$.loop.item','t':'$.reminder.title','r':'$.reminder.index'}}],"
          "'input':{'at':1}}}}]}}");
    assert_true(wake_after(HOUR));
    assert_int_equal(rig.last.asks.count, 2);
    assert_int_equal(rig.x->reminding_count, 2);
    assert_true(signal("1", "ok", "10"));
    rig_reload(&rig);
    /* That of the first is brought to its end, that of the second goes on. */
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_ANSWER,
                                               .answer_seq = rig.x->reminding[0]->cursor.asked_seq,
                                               .answer_output = rig_value(&rig, ANSWER),
                                               .answer_error = value_absent()}));
    assert_int_equal(rig.last.asks.count, 0);
    answer_it(ANSWER, NULL);
    assert_string_equal(rig_text(&rig, rig.last.asks.items[0].request_json),
                        "{'i':20,'t':'T20','r':1}");
    assert_true(signal("2", "ok", "20"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_remind__moves_with_the_same_commands_alone(void **state)
{
    const struct program *same, *other;

    (void)state;
    rig_define(&rig, "{'code':'a','name':'n','steps':[" WAIT(CALL) "]}");
    same = rig.program;
    rig.program = NULL;
    rig_define(&rig, "{'code':'a','steps':[" WAIT("'erp.remind'") "]}");
    other = rig.program;
    rig.program = NULL;
    start(WAIT(CALL));
    assert_true(wake_after(HOUR));
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = other}));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    rig.is_of_versions = true;
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_MIGRATE, .program = same}));
    assert_true(rig_event(&rig, answer_event(ANSWER, NULL)));
    assert_string_equal(reminders(), "1 completed");
    program_release(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_remind__a_call_leaves_and_the_wait_goes_on),
        CLAIM(test_remind__the_wait_takes_a_signal_meanwhile),
        CLAIM(test_remind__nothing_else_leaves_once_the_wait_is_over),
        CLAIM(test_remind__ends_with_the_execution),
        CLAIM(test_remind__several_commands_go_on_behind_each_other),
        CLAIM(test_remind__is_tried_again_by_the_policy),
        CLAIM(test_remind__an_attempt_that_waits_for_its_time_goes_with_the_wait),
        CLAIM(test_remind__has_one_at_a_time),
        CLAIM(test_remind__a_call_without_an_answer_ends_by_its_time),
        CLAIM(test_remind__the_wait_times_out_meanwhile),
        CLAIM(test_remind__what_is_answered_in_a_pause_is_kept),
        CLAIM(test_remind__what_has_not_left_when_its_wait_ends_does_not_leave),
        CLAIM(test_remind__sees_its_wait_in_a_branch),
        CLAIM(test_remind__moves_with_the_same_commands_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
