/* test_task.c - claims about tasks that a step asks the planner for. */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)

static void start(const char *scenario)
{
    rig_define(&rig, scenario);
    rig_start(&rig, "{'n':4}");
}

static const struct task_act *act(void)
{
    assert_int_equal(rig.last.tasks.count, 1);
    return &rig.last.tasks.items[0];
}

/* The planner says what became of a task. */
static bool notice(struct str id, const char *output, const char *error, bool has_expired)
{
    struct task_answers *answers = ARENA_NEW(&rig.mem, struct task_answers);

    *VEC_ADD(&rig.mem, answers) =
        (struct task_answer){.id = id,
                             .output = output != NULL ? rig_value(&rig, output) : value_absent(),
                             .error = error != NULL ? rig_value(&rig, error) : value_absent(),
                             .has_expired = has_expired};
    return rig_event(&rig, (struct event){.kind = EVENT_WAKE, .tasks = answers});
}

static void test_task__is_asked_for_with_the_commit_of_its_step(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': {'type': 'task.create',"
          "  'title': 'Paint {{ input.n }}', 'priority': 3, 'due_at': '2030-01-01T00:00:00Z',"
          "  'depends_on': ['x'], 'wait': true, 'form': [{'name': 'l', 'type': 'number'}]}}]}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.x->waiting_kind, WAITING_TASK);
    assert_int_equal(act()->kind, TASK_ACT_CREATE);
    assert_true(act()->waits);
    assert_string_equal(rig_text(&rig, value_text(value_map_get_str(act()->body, STR("title")))),
                        "Paint 4");
    assert_int_equal(value_map_get_str(act()->body, STR("due_at_us")).i,
                     INT64_C(1893456000) * SECOND);
    assert_true(act()->form_json.len > 0);
    assert_true(str_find(rig.x->waiting_for_json, STR("\"kind\":\"task\""), 0) >= 0);
    assert_true(str_find(rig.x->waiting_for_json, act()->id, 0) >= 0);
}

static void test_task__completes_the_step_when_it_has_ended(void **state)
{
    struct str id;

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': {'type': 'task.create',"
          "  'title': 'Paint {{ input.n }}', 'wait': true}}]}");
    id = act()->id;
    assert_true(notice(id, "{'id':'t','status':'done','result':{'l':2}}", NULL, false));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "s"),
                        "{'id':'t','status':'done','result':{'l':2},'timedOut':false}");
    assert_int_equal(rig.last.tasks.count, 0);
}

static void test_task__without_wait_is_answered_at_once_and_never_canceled(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's',"
          "  'procedure': {'type': 'task.create', 'title': 'Paint {{ input.n }}'}}]}");
    assert_false(act()->waits);
    assert_true(notice(act()->id, "{'id':'t','status':'available'}", NULL, false));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_task__that_the_planner_refuses_is_an_error_of_the_step(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': {'type': 'task.create',"
          "  'title': 'Paint {{ input.n }}', 'assign_to': 'nobody'}}]}");
    assert_true(notice(act()->id, NULL,
                       "{'code':'validation_task','message':'no','class':'business'}", false));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(str_find(rig.x->error_json, STR("validation_task"), 0) >= 0);
}

static void test_task__with_values_of_the_wrong_kind_is_never_asked_for(void **state)
{
    static const char *const wrong[] = {",'min_skill':'=input.n * 0 - 1'",
                                        ",'due_at':'=string(input.n)'", ",'depends_on':'=[1]'",
                                        ",'wait':'=input.n'", ",'project_id':'=input.n'"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        char text[400];

        (void)snprintf(text, sizeof(text),
                       "{'code': 'a', 'onError': 'fail_fast', 'steps': [{'code': 's',"
                       "  'procedure': {'type': 'task.create',"
                       "    'title': 'Paint {{ input.n }}'%s}}]}",
                       wrong[i]);
        start(text);
        assert_int_equal(rig.x->status, STATUS_FAILED);
        assert_int_equal(rig.last.tasks.count, 0);
    }
}

static void test_task__another_one_is_none_of_its_business(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': {'type': 'task.create',"
          "  'title': 'Paint {{ input.n }}', 'wait': true}}]}");
    assert_false(notice(STR("0190a1b2-0000-7000-8000-000000000000"), "{}", NULL, false));
    assert_int_equal(rig.x->status, STATUS_WAITING);
}

static void test_task__whose_time_is_up_is_asked_about_first(void **state)
{
    struct str id;

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': {'type': 'task.create',"
          "  'title': 'Paint {{ input.n }}', 'wait': true, 'timeout': '10s'}}]}");
    id = act()->id;
    rig_pass(&rig, 10 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(act()->kind, TASK_ACT_EXPIRE);
    assert_false(act()->keeps);
    assert_true(rig.x->cursor.is_overdue);
    rig_reload(&rig);
    /* It was done a moment before: that counts. */
    assert_true(notice(id, "{'status':'done'}", NULL, false));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_task__that_is_late_fails_continues_or_jumps(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': {'type': 'task.create',"
          "  'title': 'Paint {{ input.n }}', 'wait': true, 'timeout': '10s'}}]}");
    rig_pass(&rig, 10 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(notice(act()->id, "{'status':'canceled'}", NULL, true));
    assert_true(str_find(rig.x->error_json, STR("timeout_task"), 0) >= 0);

    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': {'type': 'task.create',"
          "  'title': 'Paint {{ input.n }}', 'wait': true, 'keep': true, 'timeout': '10s',"
          "  'onTimeout': 'continue'}}]}");
    rig_pass(&rig, 10 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(act()->keeps);
    assert_true(notice(act()->id, "{'status':'assigned'}", NULL, true));
    assert_string_equal(rig_output(&rig, "s"), "{'status':'assigned','timedOut':true}");

    start("{'code': 'a', 'steps': ["
          "  {'code': 's', 'procedure': {'type': 'task.create', 'title': 'Paint {{ input.n }}',"
          "    'wait': true, 'timeout': '10s', 'onTimeout': {'to': 'late'}}},"
          "  {'code': 'skipped', 'procedure': {'type': 'log', 'message': 'x'}},"
          "  {'code': 'late', 'procedure': {'type': 'log', 'message': 'late'}}]}");
    rig_pass(&rig, 10 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(notice(act()->id, "{'status':'canceled'}", NULL, true));
    assert_string_equal(rig_trace(&rig), "s late");
}

static void test_task__reminds_while_it_waits(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': {'type': 'task.create',"
          "  'title': 'Paint {{ input.n }}', 'wait': true,"
          "  'reminder': {'every': '5s', 'procedure': {'type': 'log', 'message': 'r'}}}}]}");
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.last.logs.count, 1);
    assert_int_equal(rig.last.tasks.count, 0);
    assert_int_equal(rig.x->status, STATUS_WAITING);
}

static void test_task__is_canceled_with_who_waits_for_it(void **state)
{
    struct str id;

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': {'type': 'task.create',"
          "  'title': 'Paint {{ input.n }}', 'wait': true}}]}");
    id = act()->id;
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(act()->kind, TASK_ACT_CANCEL);
    assert_true(str_eq(act()->id, id));
}

static void test_task__of_a_branch_that_loses_is_canceled(void **state)
{
    struct str id;

    (void)state;
    start("{'code': 'a', 'onError': 'fail_fast', 'steps': [{'code': 'p',"
          "  'parallel': {'join': 'any', 'branches': ["
          "    [{'code': 's', 'procedure': {'type': 'task.create', 'title': 'Paint {{ input.n }}',"
          "      'wait': true}}],"
          "    [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "     {'code': 'f', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'},"
          "       'when': '$.steps.w.output.payload.fails && $.input.n == 4'}]]}}]}");
    id = act()->id;
    assert_true(rig_signal(&rig, "1", "go", "{'fails':false}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(act()->kind, TASK_ACT_CANCEL);
    assert_true(str_eq(act()->id, id));
}

static void test_task__of_a_failed_execution_is_canceled_and_asked_for_anew(void **state)
{
    struct str id;

    (void)state;
    start("{'code': 'a', 'onError': 'fail_fast', 'steps': [{'code': 'p',"
          "  'parallel': {'join': 'all', 'branches': ["
          "    [{'code': 's', 'procedure': {'type': 'task.create', 'title': 'Paint {{ input.n }}',"
          "      'wait': true}}],"
          "    [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "     {'code': 'f', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'},"
          "       'when': '$.steps.w.output.payload.fails && $.input.n == 4'}]]}}]}");
    id = str_copy(&rig.mem, act()->id);
    assert_true(rig_signal(&rig, "1", "go", "{'fails':true}"));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(act()->kind, TASK_ACT_CANCEL);
    assert_true(
        rig_event(&rig, (struct event){.kind = EVENT_RETRY, .input = rig_value(&rig, "{'n':5}")}));
    assert_int_equal(act()->kind, TASK_ACT_CREATE);
    assert_true(!str_eq(act()->id, id));
}

static void
test_task__that_was_asked_for_by_a_branch_that_is_stopped_at_once_never_was(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 'p', 'parallel': {'join': 'any',"
          "  'branches': ["
          "    [{'code': 's', 'procedure': {'type': 'task.create', 'title': 'Paint {{ input.n }}',"
          "      'wait': true}}],"
          "    [{'code': 'l', 'procedure': {'type': 'log', 'message': 'm'}}]]}}]}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.last.tasks.count, 0);
}

static void test_task__is_looked_at_when_an_operator_goes_on(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'hold', 'steps': [{'code': 'p',"
          "  'parallel': {'branches': ["
          "    [{'code': 's', 'procedure': {'type': 'task.create', 'title': 'Paint {{ input.n }}',"
          "      'wait': true}}],"
          "    [{'code': 'f',"
          "      'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'm'}}]]}}]}");
    assert_int_equal(act()->kind, TASK_ACT_CREATE);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_SKIP, .output = value_null()}));
    assert_int_equal(act()->kind, TASK_ACT_LOOK);
}

static void test_task__a_row_that_tells_of_it_reads_back(void **state)
{
    struct notice_row row = {.kind = NOTICE_TASK,
                             .key = STR("task:t1"),
                             .payload_json = STR("{\"output\":{\"id\":\"t1\"},\"expired\":true}")};
    struct task_answer answer;

    (void)state;
    assert_true(engine_notice_task(&rig.mem, &row, &answer));
    assert_true(str_eq(answer.id, STR("t1")) && answer.has_expired);
    assert_true(answer.output.kind == VALUE_MAP && answer.error.kind == VALUE_ABSENT);
    row.kind = NOTICE_CHILD;
    assert_false(engine_notice_task(&rig.mem, &row, &answer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_task__is_asked_for_with_the_commit_of_its_step),
        CLAIM(test_task__completes_the_step_when_it_has_ended),
        CLAIM(test_task__without_wait_is_answered_at_once_and_never_canceled),
        CLAIM(test_task__that_the_planner_refuses_is_an_error_of_the_step),
        CLAIM(test_task__with_values_of_the_wrong_kind_is_never_asked_for),
        CLAIM(test_task__another_one_is_none_of_its_business),
        CLAIM(test_task__whose_time_is_up_is_asked_about_first),
        CLAIM(test_task__that_is_late_fails_continues_or_jumps),
        CLAIM(test_task__reminds_while_it_waits),
        CLAIM(test_task__is_canceled_with_who_waits_for_it),
        CLAIM(test_task__of_a_branch_that_loses_is_canceled),
        CLAIM(test_task__of_a_failed_execution_is_canceled_and_asked_for_anew),
        CLAIM(test_task__that_was_asked_for_by_a_branch_that_is_stopped_at_once_never_was),
        CLAIM(test_task__is_looked_at_when_an_operator_goes_on),
        CLAIM(test_task__a_row_that_tells_of_it_reads_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
