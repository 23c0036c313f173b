/* test_wait.c - claims about waits and signals. */
#include "base/buf.h"
#include "engine/rig.h"
#include "engine/signals_at.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define DAY (INT64_C(86400) * SECOND)

static void start(const char *steps, const char *input)
{
    rig_define(&rig, str_printf(&rig.mem, "{'code':'a','steps':[%s]}", steps).ptr);
    rig_start(&rig, input);
}

static const char *result(void)
{
    return rig_text(&rig, rig.x->result_json);
}

static const char *waiting_for(void)
{
    return rig_text(&rig, rig.x->waiting_for_json);
}

/* --- signals --- */

static void test_wait__a_signal_ends_the_wait_with_its_content(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'paid'}}", "{}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_string_equal(waiting_for(), "{'kind':'signal','step':'w','signalType':'paid',"
                                       "'since':'2026-01-01T00:00:00Z'}");
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_signal(&rig, "s1", "paid", "{'amount':5}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(result(), "{'type':'paid','payload':{'amount':5},'by':{'id':'u1','name':"
                                  "'Ann'},'receivedAt':'2026-01-01T00:00:05Z','timedOut':false}");
    assert_true(rig.last.received != NULL && str_eq(rig.last.received->id, STR("s1")));
}

static void test_wait__another_signal_is_kept_and_the_wait_goes_on(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'paid'}}", "{}");
    assert_true(rig_signal(&rig, "s1", "other", "1"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.x->signals.list.count, 1);
    assert_int_equal(rig.last.history.count, 1);
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "s2", "paid", "2"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_wait__signals_that_came_before_are_taken_later_in_order(void **state)
{
    (void)state;
    start("{'code': 'go', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "{'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'y'}},"
          "{'code': 'd', 'procedure': {'type': 'compute.transform',"
          "  'data': {'a': '=steps.a.payload', 'b': '=steps.b.payload', 'c': '=steps.c.payload',"
          "    'all': '=signals.map(s, s.id)'}}}",
          "{}");
    assert_true(rig_signal(&rig, "1", "x", "'first'"));
    assert_true(rig_signal(&rig, "2", "y", "'why'"));
    assert_true(rig_signal(&rig, "3", "x", "'second'"));
    assert_true(rig_signal(&rig, "4", "x", "'third'"));
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "5", "go", "null"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(result(),
                        "{'a':'first','b':'second','c':'why','all':['1','2','3','4','5']}");
    assert_false(signals_at(&rig.x->signals, 3)->is_taken);
}

static void test_wait__a_list_of_types_takes_any_of_them(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': ['yes', 'no']}}", "{}");
    assert_true(rig_signal(&rig, "1", "maybe", "1"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(rig_signal(&rig, "2", "no", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_wait__match_looks_at_the_signal_and_the_context(void **state)
{
    (void)state;
    start("{'code':'w','input':{'wanted':'=input.id * 10'},'procedure':{'type':'wait.signal',"
          "'signalType':'x','match':'signal.payload.id == input.wanted'}}",
          "{'id':7}");
    assert_true(rig_signal(&rig, "1", "x", "{'id':7}"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    /* One that cannot be evaluated is no match. */
    assert_true(rig_signal(&rig, "2", "x", "'text'"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "3", "x", "{'id':70}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_wait__the_result_field_shapes_what_a_wait_answers(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x',"
          "  'result': {'n': '=response.payload.n'}}}",
          "{}");
    assert_true(rig_signal(&rig, "1", "x", "{'n':4,'much':'more'}"));
    assert_string_equal(result(), "{'n':4}");
}

static void test_wait__when_of_the_command_skips_the_wait(void **state)
{
    (void)state;
    start("{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'when': 'input.ask', 'signalType': 'x'}},"
          "{'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 1}}",
          "{'ask':false}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "w"), "null");
}

static void test_wait__a_known_id_is_recognised(void **state)
{
    struct value five = value_int(5);

    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}", "{}");
    assert_true(rig_signal(&rig, "1", "x", "5"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(engine_signal_known(rig.x, STR("1"), STR("x"), five), SIGNAL_SAME);
    assert_int_equal(engine_signal_known(rig.x, STR("1"), STR("y"), five), SIGNAL_DIFFERS);
    assert_int_equal(engine_signal_known(rig.x, STR("1"), STR("x"), value_null()), SIGNAL_DIFFERS);
    assert_int_equal(engine_signal_known(rig.x, STR("2"), STR("x"), five), SIGNAL_NEW);
}

static void test_wait__a_signal_keeps_nothing_of_the_memory_of_its_request(void **state)
{
    char id[] = "one", type[] = "other", text[] = "payload";
    struct event ev = {.kind = EVENT_SIGNAL,
                       .signal_id = str_of(id),
                       .signal_type = str_of(type),
                       .signal_payload = value_string(str_of(text)),
                       .config = value_map_empty()};
    struct commit c;

    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}", "{}");
    assert_true(engine_advance(&rig.mem, rig.x, &ev, rig.now_us, &c, &rig.err));
    memset(id, 'z', 3);
    memset(type, 'z', 5);
    memset(text, 'z', 7);
    assert_true(str_eq(signals_at(&c.after->signals, 0)->id, STR("one")));
    assert_true(str_eq(signals_at(&c.after->signals, 0)->type, STR("other")));
    assert_true(str_eq(
        value_text(value_map_get_str(signals_at(&c.after->signals, 0)->view, STR("payload"))),
        STR("payload")));
}

static void test_wait__only_the_last_hundred_signals_are_shown(void **state)
{
    (void)state;
    start("{'code': 'never', 'procedure': {'type': 'wait.signal', 'signalType': 'never'}},"
          "{'code': 'b', 'procedure': {'type': 'compute.transform',"
          "  'data': {'n': '=size(signals)', 'first': '=signals[0].payload'}}}",
          "{}");
    for (int i = 0; i < 130; i++) {
        char id[16], n[16];
        snprintf(id, sizeof(id), "s%d", i);
        snprintf(n, sizeof(n), "%d", i);
        assert_true(rig_signal(&rig, id, "x", n));
    }
    assert_int_equal(rig.x->signals.list.count, 130); /* pending ones are kept */
    assert_true(rig_signal(&rig, "last", "never", "130"));
    assert_string_equal(result(), "{'n':100,'first':31}");
}

static void test_wait__taken_signals_leave_the_state_after_a_hundred_more(void **state)
{
    struct buf steps;

    (void)state;
    /* One definition has at most fifty steps: take some, then receive more than a hundred. */
    buf_init_arena(&steps, &rig.mem);
    for (int i = 0; i < 40; i++)
        buf_printf(&steps, "{'code':'w%d','procedure':{'type':'wait.signal','signalType':'x'}},",
                   i);
    buf_printf(&steps, "{'code':'e','procedure':{'type':'wait.signal','signalType':'never'}}");
    buf_char(&steps, 0);
    start(steps.ptr, "{}");
    for (int i = 0; i < 125; i++) {
        char id[16];
        snprintf(id, sizeof(id), "s%d", i);
        assert_true(rig_signal(&rig, id, "x", "'0123456789'"));
        if (i % 7 == 0)
            rig_reload(&rig);
    }
    assert_int_equal(rig.x->signals.list.count, 100);
    assert_true(str_eq(signals_at(&rig.x->signals, 0)->id, STR("s25")));
}

static void test_wait__a_signal_that_would_overfill_the_context_is_refused(void **state)
{
    struct buf payload;

    (void)state;
    buf_init_arena(&payload, &rig.mem);
    buf_char(&payload, '\'');
    for (int i = 0; i < 60000; i++)
        buf_text(&payload, "0123456789");
    buf_text(&payload, "'");
    buf_char(&payload, 0);
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}", "{}");
    assert_true(rig_signal(&rig, "1", "y", payload.ptr));
    assert_false(rig_signal(&rig, "2", "x", payload.ptr));
    assert_int_equal(rig.err.code, ERR_TOO_LARGE);
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.x->signals.list.count, 1);
}

/* --- timeouts --- */

static void test_wait__a_timeout_fails_the_step(void **state)
{
    (void)state;
    start("{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'x', 'timeout': '30s'}}",
          "{}");
    assert_true(rig.x->wake_at_us == rig.now_us + 30 * SECOND);
    assert_non_null(strstr(waiting_for(), "'until':'2026-01-01T00:00:30Z'"));
    rig_pass(&rig, 30 * SECOND - 1);
    assert_false(rig_wake(&rig));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    rig_pass(&rig, 1);
    rig_reload(&rig);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_non_null(strstr(rig_text(&rig, rig.x->error_json), "'code':'timeout_signal'"));
    assert_true(rig_row(&rig, "w")->started_at_us == rig.now_us - 30 * SECOND);
}

static void test_wait__a_timeout_can_go_on(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x',"
          "  'timeout': '=duration(\\'30s\\')', 'onTimeout': 'continue'}},"
          "{'code': 'b',"
          "  'procedure': {'type': 'compute.transform', 'data': {'late': '=steps.w.timedOut'}}}",
          "{}");
    rig_pass(&rig, 31 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(result(), "{'late':true}");
    assert_string_equal(rig_output(&rig, "w"), "{'type':null,'payload':null,'by':null,"
                                               "'receivedAt':null,'timedOut':true}");
}

static void test_wait__a_timeout_that_is_no_duration_fails_the_step(void **state)
{
    (void)state;
    start("{'code': 'w', 'onError': 'continue',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'x', 'timeout': '=input.t'}},"
          "{'code': 'b',"
          "  'procedure': {'type': 'compute.transform', 'data': {'e': '=steps.w.error.code'}}}",
          "{'t':'soon'}");
    assert_string_equal(result(), "{'e':'validation_duration'}");
}

/* --- timers --- */

static void test_wait__a_timer_fires_when_its_time_has_come(void **state)
{
    (void)state;
    start("{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '1h30m'}},"
          "{'code': 'b',"
          "  'procedure': {'type': 'compute.transform', 'data': {'at': '=steps.t.firedAt'}}}",
          "{}");
    assert_true(rig.x->wake_at_us == rig.now_us + 5400 * SECOND);
    assert_non_null(strstr(waiting_for(), "'kind':'timer'"));
    assert_false(rig_wake(&rig));
    rig_pass(&rig, 5401 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(result(), "{'at':'2026-01-01T01:30:01Z'}");
}

static void test_wait__a_signal_does_not_end_a_timer(void **state)
{
    (void)state;
    start("{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '1h'}}", "{}");
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(rig.x->wake_at_us == rig.now_us + 3600 * SECOND);
}

static void test_wait__until_fires_at_its_time_and_the_past_at_once(void **state)
{
    static const struct {
        const char *timestamp;
        bool waits;
    } cases[] = {
        {"'2026-01-01T00:00:10Z'", true},
        {"'2025-12-31T23:59:59Z'", false},
        {"'2026-01-02'", true},
        {"'1969-01-01'", false},
        {"'=now + duration(\\'5s\\')'", true},
        {"'=now'", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        start(str_printf(&rig.mem, "{'code':'u','procedure':{'type':'wait.until','timestamp':%s}}",
                         cases[i].timestamp)
                  .ptr,
              "{}");
        assert_int_equal(rig.x->status, cases[i].waits ? STATUS_WAITING : STATUS_COMPLETED);
        if (!cases[i].waits)
            assert_string_equal(result(), "{'firedAt':'2026-01-01T00:00:00Z'}");
    }
}

static void test_wait__a_duration_of_nothing_fires_at_once(void **state)
{
    (void)state;
    start("{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '0s'}}", "{}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_wait__the_deadline_comes_before_a_later_timer(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'settings': {'timeout': '1h'},"
                     "  'steps': [{'code': 't',"
                     "    'procedure': {'type': 'wait.timer', 'duration': '2h'}}]}");
    rig_start(&rig, "{}");
    assert_true(rig.x->wake_at_us == rig.now_us + 3600 * SECOND);
}

/* --- a clock that is set --- */

static void test_wait__times_in_a_history_never_go_back(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}",
          "{}");
    rig_pass(&rig, -DAY);
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_true(rig.history.items[rig.history.count - 1].completed_at_us == rig.now_us + DAY);
    rig_pass(&rig, DAY / 2);
    assert_true(rig_signal(&rig, "2", "x", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_true(rig.x->completed_at_us >= rig.x->started_at_us);
}

static void test_wait__a_timer_set_after_the_clock_went_back_is_not_a_day_late(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '10s'}}",
          "{}");
    rig_pass(&rig, -DAY);
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_true(rig.x->wake_at_us == rig.now_us + 10 * SECOND);
    rig_pass(&rig, 9 * SECOND);
    assert_false(rig_wake(&rig));
    rig_pass(&rig, SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

/* --- people, reminders, jumps --- */

static bool waits_with(const char *text)
{
    return str_find(rig.x->waiting_for_json, str_of(text), 0) >= 0;
}

static void test_wait__signals_that_do_not_match_are_counted(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x',"
          "  'match': 'signal.payload.id == 1'}}",
          "{}");
    assert_false(waits_with("unmatched"));
    assert_true(rig_signal(&rig, "1", "x", "{'id':2}"));
    assert_true(rig_signal(&rig, "2", "x", "'cannot be evaluated'"));
    assert_true(rig_signal(&rig, "3", "other", "1"));
    assert_true(waits_with("\"unmatched\":2"));
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "4", "x", "{'id':1}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_wait__accept_new_leaves_what_came_before(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "{'code': 'b',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'x', 'accept': 'new'}}",
          "{}");
    assert_true(rig_signal(&rig, "1", "x", "'old'"));
    assert_true(rig_signal(&rig, "2", "go", "1"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(rig_signal(&rig, "3", "x", "'new'"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_true(str_find(rig.x->result_json, STR("\"new\""), 0) >= 0);
}

static void test_wait__says_what_people_need_to_know(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'ok',"
          "  'title': 'Approve {{ input.n }}', 'assignee': ['group:boss'],"
          "  'correlation': '$.input.n', 'public': true,"
          "  'form': [{'name': 'yes', 'type': 'boolean', 'required': true}]}}",
          "{'n':'five'}");
    assert_true(waits_with("\"title\":\"Approve five\""));
    assert_true(waits_with("\"assignee\":[\"group:boss\"]"));
    assert_true(waits_with("\"correlation\":\"five\""));
    assert_true(waits_with("\"form\":[{\"name\":\"yes\"") && waits_with("\"public\":true"));
}

static void test_wait__a_form_refuses_what_does_not_fit(void **state)
{
    struct commit c;
    struct event ev = {.kind = EVENT_SIGNAL,
                       .signal_id = STR("1"),
                       .signal_type = STR("ok"),
                       .config = value_map_empty()};

    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'ok',"
          "  'form': [{'name': 'yes', 'type': 'boolean', 'required': true}]}}",
          "{}");
    ev.signal_payload = rig_value(&rig, "{'yes':'maybe'}");
    assert_false(engine_advance(&rig.mem, rig.x, &ev, rig.now_us, &c, &rig.err));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_int_equal(c.findings.count, 1);
    assert_true(rig_signal(&rig, "1", "other", "{'yes':'maybe'}"));
    assert_true(rig_signal(&rig, "2", "ok", "{'yes':true}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_wait__a_form_fills_what_was_left_out(void **state)
{
    const char *form = "'signalType':'ok','form':[{'name':'yes','type':'boolean'},"
                       "{'name':'note','type':'string','default':'none'}]";

    (void)state;
    start(str_printf(&rig.mem,
                     "{'code': 'w', 'procedure': {'type': 'wait.signal', %s}},"
                     "{'code': 'b', 'procedure': {'type': 'wait.signal', %s}}",
                     form, form)
              .ptr,
          "{}");
    assert_true(rig_signal(&rig, "1", "ok", "{'yes':true}"));
    assert_true(rig_signal(&rig, "2", "ok", "{'yes':false}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_true(strstr(rig_output(&rig, "w"), "'payload':{'yes':true,'note':'none'}") != NULL);
    assert_true(strstr(rig_output(&rig, "b"), "'payload':{'yes':false,'note':'none'}") != NULL);
    /* The signal is recorded as it was sent. */
    assert_true(
        str_find(signals_at(&rig.x->signals, 0)->json, STR("\"payload\":{\"yes\":true}"), 0) >= 0);
}

static void test_wait__a_form_fills_signals_that_came_before(void **state)
{
    (void)state;
    start("{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '1h'}},"
          "{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'ok',"
          "  'form': [{'name': 'note', 'type': 'string', 'default': 'none'}]}}",
          "{}");
    assert_true(rig_signal(&rig, "1", "ok", "{}"));
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(strstr(rig_output(&rig, "w"), "'payload':{'note':'none'}") != NULL);
}

static void test_wait__a_timeout_may_jump(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x', 'timeout': '1h',"
          "  'onTimeout': {'to': 'late'}}},"
          "{'code': 'never', 'procedure': {'type': 'compute.transform', 'data': 1}},"
          "{'code': 'late',"
          "  'procedure': {'type': 'compute.transform', 'data': '$.steps.w.timedOut'}}",
          "{}");
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(rig_trace(&rig), "w late");
    assert_string_equal(result(), "true");
    assert_int_equal(rig.x->jumps, 0); /* forward */
}

static void test_wait__reminders_come_and_never_fail_the_wait(void **state)
{
    const struct history_row *row;

    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x', 'timeout': '10h',"
          "  'onTimeout': 'continue', 'reminder': {'every': '2h', 'max': 3,"
          "    'procedure': ["
          "      {'type': 'record.create', 'object': 'mail', 'data': {'n': '$.reminder.index'}},"
          "      {'type': 'compute.fail', 'when': '$.reminder.index == 2', 'code': 'no',"
          "        'message': 'm'}]}}}",
          "{}");
    for (int hour = 2; hour <= 6; hour += 2) {
        rig_pass(&rig, 2 * 3600 * SECOND);
        assert_true(rig_wake(&rig));
        assert_int_equal(rig.x->status, STATUS_WAITING);
        rig_reload(&rig);
    }
    assert_string_equal(rig_trace(&rig), "!w !w.failed !w");
    row = &rig.last.history.items[0];
    assert_string_equal(rig_text(&rig, row->key),
                        "01020304-0506-7708-890a-0b0c0d0e0f10-w-reminder-3");
    assert_int_equal(rig.records.count, 2);
    /* There were three; the next thing is the timeout. */
    rig_pass(&rig, 2 * 3600 * SECOND);
    assert_false(rig_wake(&rig));
    rig_pass(&rig, 2 * 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_wait__reminders_that_were_missed_are_not_made_up_for(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x',"
          "  'reminder': {'every': '1h', 'procedure': {'type': 'log', 'message': 'm'}}}}",
          "{}");
    rig_pass(&rig, 10 * 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_false(rig_wake(&rig));
    assert_string_equal(rig_trace(&rig), "!w");
    assert_true(rig.x->wake_at_us == rig.now_us + 3600 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_wait__a_signal_ends_the_wait_with_its_content),
        CLAIM(test_wait__another_signal_is_kept_and_the_wait_goes_on),
        CLAIM(test_wait__signals_that_came_before_are_taken_later_in_order),
        CLAIM(test_wait__a_list_of_types_takes_any_of_them),
        CLAIM(test_wait__match_looks_at_the_signal_and_the_context),
        CLAIM(test_wait__the_result_field_shapes_what_a_wait_answers),
        CLAIM(test_wait__when_of_the_command_skips_the_wait),
        CLAIM(test_wait__a_known_id_is_recognised),
        CLAIM(test_wait__a_signal_keeps_nothing_of_the_memory_of_its_request),
        CLAIM(test_wait__only_the_last_hundred_signals_are_shown),
        CLAIM(test_wait__taken_signals_leave_the_state_after_a_hundred_more),
        CLAIM(test_wait__a_signal_that_would_overfill_the_context_is_refused),
        CLAIM(test_wait__a_timeout_fails_the_step),
        CLAIM(test_wait__a_timeout_can_go_on),
        CLAIM(test_wait__a_timeout_that_is_no_duration_fails_the_step),
        CLAIM(test_wait__a_timer_fires_when_its_time_has_come),
        CLAIM(test_wait__a_signal_does_not_end_a_timer),
        CLAIM(test_wait__until_fires_at_its_time_and_the_past_at_once),
        CLAIM(test_wait__a_duration_of_nothing_fires_at_once),
        CLAIM(test_wait__the_deadline_comes_before_a_later_timer),
        CLAIM(test_wait__times_in_a_history_never_go_back),
        CLAIM(test_wait__a_timer_set_after_the_clock_went_back_is_not_a_day_late),
        CLAIM(test_wait__signals_that_do_not_match_are_counted),
        CLAIM(test_wait__accept_new_leaves_what_came_before),
        CLAIM(test_wait__says_what_people_need_to_know),
        CLAIM(test_wait__a_form_refuses_what_does_not_fit),
        CLAIM(test_wait__a_form_fills_what_was_left_out),
        CLAIM(test_wait__a_form_fills_signals_that_came_before),
        CLAIM(test_wait__a_timeout_may_jump),
        CLAIM(test_wait__reminders_come_and_never_fail_the_wait),
        CLAIM(test_wait__reminders_that_were_missed_are_not_made_up_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
