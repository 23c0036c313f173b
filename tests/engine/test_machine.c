/* test_machine.c - claims about machines that the rows of tests/conformance do not make. */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)

static const char *const order =
    "{'code': 'order', 'mode': 'state_machine', 'initial': 'new', 'states': {"
    "  'new': {'on': {'pay': {'to': 'paid', 'do': [{'type': 'flow.call', 'procedure': "
    "'bank.charge'}]},"
    "    'note': {'do': [{'type': 'compute.set', 'values': {'note': '$.signal.payload'}}]}}},"
    "  'paid': {'on': {'ship': {'to': 'done'}, 'tick': {'to': 'paid'}}, 'after': {'1h': {'to': "
    "'done'}}},"
    "  'done': {'final': true}}}";

static void begin(const char *machine)
{
    rig_define(&rig, machine);
    rig_start(&rig, "{}");
}

static bool event(const char *type)
{
    static unsigned n;
    char id[16];

    (void)snprintf(id, sizeof(id), "e%u", ++n);
    return rig_signal(&rig, id, type, "1");
}

static bool stands_in(const char *state)
{
    return str_eq(execution_current_step(rig.x), str_of(state));
}

static bool answer(const char *output)
{
    return rig_event(&rig, (struct event){.kind = EVENT_ANSWER,
                                          .answer_key = rig.x->cursor.awaited,
                                          .answer_seq = rig.x->cursor.asked_seq,
                                          .answer_error = value_absent(),
                                          .answer_output = rig_value(&rig, output)});
}

/* How many rows of this status the history has. */
static unsigned rows(const char *status)
{
    unsigned count = 0;

    for (size_t i = 0; i < rig.history.count; i++)
        count += str_eq(rig.history.items[i].status, str_of(status));
    return count;
}

static void test_machine__an_event_is_judged_or_says_that_it_is_not_yet(void **state)
{
    (void)state;
    begin(order);
    assert_true(event("note"));
    assert_false(rig.last.is_kept);
    assert_true(event("pay"));
    assert_false(rig.last.is_kept);
    assert_true(stands_in("new") && rig.x->cursor.phase == PHASE_JOB);
    assert_true(event("nonsense"));
    assert_true(rig.last.is_kept);
    assert_int_equal(rig.last.not_allowed, 0);
    rig_reload(&rig);
    assert_true(answer("{}"));
    assert_true(stands_in("paid"));
    assert_int_equal(rig.last.not_allowed, 1);
    assert_int_equal(rows("transition_not_allowed"), 1);
    /* Judged once: it is not there for a later state. */
    assert_true(event("tick"));
    assert_int_equal(rows("transition_not_allowed"), 1);
}

static void test_machine__what_is_refused_leaves_nothing(void **state)
{
    size_t before;

    (void)state;
    begin(order);
    before = rig.history.count;
    assert_false(event("ship"));
    assert_int_equal(rig.err.code, ERR_EVENT_NOT_ALLOWED);
    assert_int_equal(rig.history.count, before);
    assert_int_equal(rig.x->signals.list.count, 0);
}

static void test_machine__goes_round_as_often_as_it_likes(void **state)
{
    (void)state;
    begin(order);
    assert_true(event("pay") && answer("{}"));
    for (unsigned i = 0; i < 3 * JUMPS_MAX; i++)
        assert_true(event("tick"));
    assert_true(stands_in("paid"));
    /* What it holds does not grow with its events. */
    assert_true(rig.x->signals.list.count <= SIGNALS_SHOWN);
    assert_true(rig.x->context_bytes < 64 * 1024);
    assert_true(event("ship"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_machine__in_a_pause_events_are_kept_and_judged_in_order_behind_it(void **state)
{
    (void)state;
    begin(order);
    assert_true(event("pay") && answer("{}"));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_PAUSE}));
    assert_true(event("note"));
    assert_true(rig.last.is_kept);
    assert_true(event("ship"));
    assert_true(rig.last.is_kept);
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RESUME}));
    assert_int_equal(rows("transition_not_allowed"), 1);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_machine__in_a_pause_the_time_of_a_state_comes_behind_the_events(void **state)
{
    (void)state;
    begin(order);
    assert_true(event("pay") && answer("{}"));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_PAUSE}));
    rig_pass(&rig, 7200 * SECOND);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RESUME}));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "done"), "{'state':'done'}");
}

static void test_machine__a_worker_is_asked_under_a_key_of_its_own_each_time(void **state)
{
    (void)state;
    begin("{'code': 'm', 'mode': 'state_machine', 'initial': 'a', 'states': {'a': {'on': {'x': "
          "{'do': {'type': 'flow.call', 'procedure': 'crm.note'}}}}, 'b': {'final': true}}}");
    assert_true(event("x"));
    assert_string_equal(rig_text(&rig, rig.x->cursor.awaited),
                        "01020304-0506-7708-890a-0b0c0d0e0f10-a.x");
    assert_true(answer("{}"));
    assert_true(event("x"));
    assert_string_equal(rig_text(&rig, rig.x->cursor.awaited),
                        "01020304-0506-7708-890a-0b0c0d0e0f10-a.x-2");
}

static void
test_machine__the_beginning_is_undone_and_fails_since_there_is_no_state_before(void **state)
{
    (void)state;
    begin("{'code': 'm', 'mode': 'state_machine', 'initial': 'a', 'onError': 'compensate', "
          "'states': {'a': {'entry': [{'type': 'compute.transform', 'data': 1, 'rollback': {'type':"
          " 'log', 'message': 'undo'}}, {'type': 'compute.fail', 'code': 'no', 'message': 'm'}], "
          "'on': {'x': {'to': 'b'}}}, 'b': {'final': true}}}");
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "a#entry.failed -a#entry");
}

static void test_machine__a_state_that_cannot_wait_is_held_whatever_onError_says(void **state)
{
    (void)state;
    begin("{'code': 'm', 'mode': 'state_machine', 'initial': 'a', 'meta': {'who': 1}, 'onError': "
          "'compensate', "
          "'states': {'a': {'wait': {'assignee': '$.meta.who'}, 'on': {'x': {'to': 'b'}}}, 'b': "
          "{'final': true}}}");
    assert_true(execution_is_held(rig.x));
    assert_false(event("x"));
    assert_int_equal(rig.err.code, ERR_HELD);
}

static void test_machine__a_deadline_that_is_written_holds_it(void **state)
{
    (void)state;
    begin("{'code': 'm', 'mode': 'state_machine', 'initial': 'a', 'settings': {'timeout': '1h'}, "
          "'states': {'a': {'on': {'x': {'to': 'b'}}}, 'b': {'final': true}}}");
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(execution_is_held(rig.x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_machine__an_event_is_judged_or_says_that_it_is_not_yet),
        CLAIM(test_machine__what_is_refused_leaves_nothing),
        CLAIM(test_machine__goes_round_as_often_as_it_likes),
        CLAIM(test_machine__in_a_pause_events_are_kept_and_judged_in_order_behind_it),
        CLAIM(test_machine__in_a_pause_the_time_of_a_state_comes_behind_the_events),
        CLAIM(test_machine__a_worker_is_asked_under_a_key_of_its_own_each_time),
        CLAIM(test_machine__the_beginning_is_undone_and_fails_since_there_is_no_state_before),
        CLAIM(test_machine__a_state_that_cannot_wait_is_held_whatever_onError_says),
        CLAIM(test_machine__a_deadline_that_is_written_holds_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
