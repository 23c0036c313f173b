/* test_letters.c - claims about dead letters: what is given up, and when that is over. */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void start(const char *scenario)
{
    rig_define(&rig, scenario);
    rig_start(&rig, "{}");
    rig_settle(&rig);
}

static bool notice(enum event_kind kind)
{
    return rig_event(&rig, (struct event){.kind = kind});
}

static void test_incident__has_one_letter_with_what_failed(void **state)
{
    const struct dead_letter *l;

    (void)state;
    start("{'code': 'a', 'onError': 'hold', 'steps': [{'code': 'x', 'input': {'n': 7},"
          "  'procedure': [{'type': 'compute.fail', 'when': 'execution.visit < 3', 'code': 'no',"
          "    'message': 'm'}]}]}");
    assert_int_equal(rig.last.dead_letters.count, 1);
    l = &rig.last.dead_letters.items[0];
    assert_string_equal(rig_text(&rig, l->kind), "incident");
    assert_string_equal(rig_text(&rig, l->step), "x");
    assert_string_equal(rig_text(&rig, l->payload_json), "{'n':7}");
    assert_true(str_find(l->cause_json, STR("\"no\""), 0) >= 0);
    assert_int_equal(rig.last.incident.status, LETTER_OPEN);
}

static void test_incident__is_over_when_it_is_tried_again(void **state)
{
    struct uuid first;

    (void)state;
    start("{'code': 'a', 'onError': 'hold', 'steps': [{'code': 'x', 'input': {'n': 7},"
          "  'procedure': [{'type': 'compute.fail', 'when': 'execution.visit < 3', 'code': 'no',"
          "    'message': 'm'}]}]}");
    first = rig.last.dead_letters.items[0].id;
    rig_reload(&rig);
    assert_true(notice(EVENT_RETRY));
    assert_int_equal(rig.last.incident.status, LETTER_RETRIED);
    /* It failed once more: that is another one. */
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_int_not_equal(uuid_cmp(rig.last.dead_letters.items[0].id, first), 0);
    assert_true(notice(EVENT_RETRY));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.last.incident.status, LETTER_RETRIED);
    assert_int_equal(rig.last.dead_letters.count, 0);
}

static void test_incident__is_over_when_it_is_skipped_or_cancelled(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'hold', 'steps': [{'code': 'x', 'input': {'n': 7},"
          "  'procedure': [{'type': 'compute.fail', 'when': 'execution.visit < 3', 'code': 'no',"
          "    'message': 'm'}]}]}");
    assert_true(notice(EVENT_SKIP));
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    start("{'code': 'a', 'onError': 'hold', 'steps': [{'code': 'x', 'input': {'n': 7},"
          "  'procedure': [{'type': 'compute.fail', 'when': 'execution.visit < 3', 'code': 'no',"
          "    'message': 'm'}]}]}");
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
}

static void test_incident__stays_when_a_signal_comes(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'hold', 'steps': [{'code': 'x', 'input': {'n': 7},"
          "  'procedure': [{'type': 'compute.fail', 'when': 'execution.visit < 3', 'code': 'no',"
          "    'message': 'm'}]}]}");
    assert_true(rig_signal(&rig, "s-1", "anything", "1"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.last.incident.status, LETTER_OPEN);
    assert_int_equal(rig.last.dead_letters.count, 0);
}

static void test_incident__was_none_where_nothing_was_held(void **state)
{
    (void)state;
    start(
        "{'code':'a','steps':[{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}]}");
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.last.incident.status, LETTER_OPEN);
    start("{'code':'a','onError':'fail_fast','steps':[{'code':'x','procedure':{'type':"
          "'compute.fail','code':'no','message':'m'}}]}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(notice(EVENT_RETRY));
    assert_int_equal(rig.last.incident.status, LETTER_OPEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_incident__has_one_letter_with_what_failed),
        CLAIM(test_incident__is_over_when_it_is_tried_again),
        CLAIM(test_incident__is_over_when_it_is_skipped_or_cancelled),
        CLAIM(test_incident__stays_when_a_signal_comes),
        CLAIM(test_incident__was_none_where_nothing_was_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
