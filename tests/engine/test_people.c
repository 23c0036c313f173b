/* test_people.c - claims about waits of people: who may answer, and giving one to somebody else. */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void start(const char *steps, const char *input)
{
    rig_define(&rig, str_printf(&rig.mem, "{'code':'a','steps':[%s]}", steps).ptr);
    rig_start(&rig, input);
}

static bool answer_at(const char *step, int64_t visit, const char *keys, const char *payload)
{
    static int count;
    struct answer_to to = {.step = str_of(step), .visit = visit, .keys = rig_value(&rig, keys)};

    return rig_event(&rig, (struct event){.kind = EVENT_SIGNAL,
                                          .signal_id = str_printf(&rig.mem, "s%d", ++count),
                                          .signal_type = STR("ok"),
                                          .signal_payload = rig_value(&rig, payload),
                                          .by = rig_value(&rig, "{'id':'u1'}"),
                                          .answer_to = &to});
}

static bool assign(const char *step, int64_t visit, const char *assignee)
{
    return rig_event(&rig, (struct event){.kind = EVENT_ASSIGN,
                                          .from = str_of(step),
                                          .visit = visit,
                                          .assignee = rig_value(&rig, assignee),
                                          .by = rig_value(&rig, "{'id':'op'}")});
}

static void test_people__a_wait_that_opens_says_in_whose_inbox_it_is(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'ok',"
          "  'title': 'Approve {{ input.n }}?', 'timeout': '1h',"
          "  'assignee': ['group:boss', 'Ann@Example.org', 'ann@example.org'],"
          "  'form': [{'name': 'yes', 'type': 'boolean'}]}}",
          "{'n':5}");
    assert_int_equal(rig.last.opened.count, 1);
    assert_true(str_eq(rig.last.opened.items[0].assignees_json,
                       STR("[\"group:boss\",\"ann@example.org\"]")));
    assert_true(str_eq(rig.last.opened.items[0].title, STR("Approve 5?")));
    assert_true(str_find(rig.last.opened.items[0].form_json, STR("\"yes\""), 0) >= 0);
    assert_int_equal(rig.last.opened.items[0].until_us - rig.last.opened.items[0].since_us,
                     INT64_C(3600) * 1000000);
    assert_true(answer_at("w", 1, "['u1','ann@example.org']", "{'yes':true}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.last.closed.count, 1);
}

static void test_people__facts_and_the_end_of_the_time_are_those_of_the_beginning(void **state)
{
    const struct listed_wait *wait;

    (void)state;
    start(
        "{'code': 'f', 'loop': {'for': [1], 'onError': 'continue', 'steps': ["
        "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'ok', 'timeout': '1h',"
        "    'assignee': 'u1', 'title': 'T',"
        "    'show': [{'label': 'N', 'value': '$.input.n'}, {'label': 'At', 'value': '$.now'}],"
        "    'then': [{'label': 'Yes', 'text': 'n is {{ input.n }}'}]}}]}}",
        "{'n':5}");
    assert_int_equal(rig.last.opened.count, 1);
    wait = &rig.last.opened.items[0];
    assert_true(
        str_starts_with(wait->show_json, STR("[{\"label\":\"N\",\"value\":5},{\"label\":\"At\"")));
    assert_true(str_eq(wait->then_json, STR("[{\"label\":\"Yes\",\"text\":\"n is 5\"}]")));
    assert_true(str_eq(wait->time_up_json, STR("{\"action\":\"continue\"}")));
    assert_true(answer_at("w", 1, "['u1']", "{}"));
    assert_int_equal(rig.last.answers.count, 1);
    assert_true(str_eq(rig.last.answers.items[0].user_id, STR("u1")));
    assert_true(str_eq(rig.last.answers.items[0].title, STR("T")));
}

static void test_people__only_who_is_assigned_may_answer(void **state)
{
    (void)state;
    start("{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'ok', 'assignee': 'group:boss'}}",
          "{}");
    assert_false(answer_at("w", 1, "['u1','group:clerk']", "1"));
    assert_int_equal(rig.err.code, ERR_NOT_FOUND);
    assert_false(answer_at("w", 2, "['group:boss']", "1"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(answer_at("other", 1, "['group:boss']", "1"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(answer_at("w", 1, "['u1','group:boss']", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_people__an_answer_that_does_not_match_is_refused_and_not_kept(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'ok', 'assignee': 'u1',"
          "  'match': '$.signal.payload == 1'}}",
          "{}");
    assert_false(answer_at("w", 1, "['u1']", "2"));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_int_equal(rig.x->signals.list.count, 0);
    assert_true(answer_at("w", 1, "['u1']", "1"));
}

static void test_people__an_answer_goes_to_the_wait_that_it_names(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a',"
          "    'procedure': {'type': 'wait.signal', 'signalType': 'ok', 'assignee': 'u1'}}],"
          "  [{'code': 'b',"
          "    'procedure': {'type': 'wait.signal', 'signalType': 'ok', 'assignee': 'u2'}}]]}}",
          "{}");
    assert_int_equal(rig.last.opened.count, 2);
    assert_false(answer_at("b", 1, "['u1']", "1"));
    assert_true(answer_at("b", 1, "['u2']", "'for b'"));
    rig_reload(&rig);
    assert_true(answer_at("a", 1, "['u1']", "'for a'"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_people__a_wait_that_is_assigned_anew_is_another_inbox(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'ok', 'title': 'T',"
          "  'assignee': 'u1'}}",
          "{}");
    rig_pass(&rig, 1000000);
    assert_true(assign("", 0, "['u2','group:x']"));
    assert_int_equal(rig.last.closed.count, 1);
    assert_int_equal(rig.last.opened.count, 1);
    assert_true(str_eq(rig.last.closed.items[0].assignees_json, STR("[\"u1\"]")));
    assert_true(str_eq(rig.last.opened.items[0].title, STR("T")));
    assert_int_equal(rig.last.opened.items[0].since_us, rig.x->started_at_us);
    assert_true(str_find(rig.x->waiting_for_json, STR("\"assignee\":[\"u2\",\"group:x\"]"), 0) > 0);
    rig_reload(&rig);
    assert_false(answer_at("w", 1, "['u1']", "1"));
    assert_true(answer_at("w", 1, "['group:x']", "1"));
}

static void test_people__assigning_needs_one_wait_and_somebody(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'ok'}}],"
          "  [{'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'ok'}}],"
          "  [{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '1h'}}]]}}",
          "{}");
    assert_false(assign("", 0, "'u1'"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(assign("t", 0, "'u1'"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(assign("a", 0, "[]"));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_false(assign("a", 2, "'u1'"));
    assert_true(assign("a", 1, "'u1'"));
    rig_reload(&rig);
    assert_true(answer_at("a", 1, "['u1']", "1"));
}

static void test_people__an_assignment_holds_while_the_execution_is_paused(void **state)
{
    (void)state;
    start("{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'ok', 'assignee': 'u1'}}",
          "{}");
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_PAUSE}));
    assert_true(assign("w", 0, "'u2'"));
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RESUME}));
    assert_true(str_find(rig.x->waiting_for_json, STR("\"assignee\":\"u2\""), 0) > 0);
    assert_false(answer_at("w", 1, "['u1']", "1"));
    assert_true(answer_at("w", 1, "['u2']", "1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_people__a_wait_that_opens_says_in_whose_inbox_it_is),
        CLAIM(test_people__facts_and_the_end_of_the_time_are_those_of_the_beginning),
        CLAIM(test_people__only_who_is_assigned_may_answer),
        CLAIM(test_people__an_answer_that_does_not_match_is_refused_and_not_kept),
        CLAIM(test_people__an_answer_goes_to_the_wait_that_it_names),
        CLAIM(test_people__a_wait_that_is_assigned_anew_is_another_inbox),
        CLAIM(test_people__assigning_needs_one_wait_and_somebody),
        CLAIM(test_people__an_assignment_holds_while_the_execution_is_paused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
