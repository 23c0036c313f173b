/* test_child.c - claims about executions that an execution starts. */
#include "engine/command/procedure.h"
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)

static struct rig other;

static int setup(void **state)
{
    (void)state;
    rig_init(&rig);
    rig_init(&other);
    rig_define(&other, "{'code':'child','input':[{'name':'n','type':'integer','required':true}],"
                       "'settings':{'key':'k{{ input.n }}'},'steps':[{'code':'x','procedure':{"
                       "'type':'compute.transform','data':'=input.n * 2'}}]}");
    *VEC_ADD(&rig.mem, &rig.processes) =
        (struct process_read){.code = STR("child"), .program = other.program};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rig_fini(&rig);
    rig_fini(&other);
    return 0;
}

#define CLAIM_WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void start(const char *scenario, const char *input)
{
    rig_define(&rig, scenario);
    rig_start(&rig, input);
}

static const char *awaited(void)
{
    return rig_text(&rig, rig.x->cursor.awaited);
}

/* Starts by starts have an end: the one behind the limit is held, as errors of our own are. */
static void test_start__is_nested_no_deeper_than_the_limit(void **state)
{
    (void)state;
    for (int64_t depth = START_DEPTH_MAX - 1; depth <= START_DEPTH_MAX; depth++) {
        start("{'code':'a','steps':[{'code':'w','procedure':{'type':'wait.signal','signalType':'go'"
              "}},{'code':'s','procedure':{'type':'flow.start','code':'child','input':{'n':1}}}]}",
              "{}");
        rig.x->depth = depth;
        rig_signal(&rig, depth < START_DEPTH_MAX ? "1" : "2", "go", "null");
        if (depth < START_DEPTH_MAX) {
            assert_int_equal(rig.x->status, STATUS_COMPLETED);
            assert_int_equal(rig.last.starts.items[0]->depth, START_DEPTH_MAX);
            continue;
        }
        assert_int_equal(rig.x->waiting_kind, WAITING_INCIDENT);
        assert_int_equal(rig.last.starts.count, 0);
        assert_non_null(strstr(rig_text(&rig, rig.x->waiting_for_json), "limit_depth"));
    }
}

static void test_start__begins_with_the_commit_of_its_step(void **state)
{
    const struct execution *child;
    char id[UUID_TEXT_LEN + 1];

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':4}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.last.starts.count, 1);
    child = rig.last.starts.items[0];
    uuid_write(child->id, id);
    assert_true(str_find(rig.x->result_json, str_of(id), 0) >= 0);
    assert_int_equal(child->status, STATUS_PENDING);
    assert_true(child->wake_at_us == WAKE_AT_ONCE && child->has_parent);
    assert_int_equal(uuid_cmp(child->parent_id, rig.x->id), 0);
    assert_string_equal(rig_text(&rig, child->key), "k4");
    assert_string_equal(rig_text(&rig, child->input_json), "{'n':4}");
}

static void test_start__a_pending_child_begins_when_it_is_woken(void **state)
{
    struct event wake = {.kind = EVENT_WAKE, .config = value_map_empty()};
    char id[UUID_TEXT_LEN + 1];
    struct commit c;

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':4}");
    assert_true(
        engine_advance(&rig.mem, rig.last.starts.items[0], &wake, rig.now_us, &c, &rig.err));
    assert_false(c.is_start);
    assert_int_equal(c.read_version, 1);
    assert_int_equal(c.after->status, STATUS_COMPLETED);
    assert_int_equal(c.notices.count, 1);
    assert_int_equal(uuid_cmp(c.notices.items[0].execution, rig.x->id), 0);
    assert_int_equal(c.notices.items[0].kind, NOTICE_CHILD);
    uuid_write(c.after->id, id);
    assert_string_equal(rig_text(&rig, c.notices.items[0].key),
                        str_printf(&rig.mem, "child:%s", id).ptr);
    assert_true(str_starts_with(c.notices.items[0].payload_json, STR("{\"output\":")));
}

static void test_start__a_step_that_fails_starts_nothing(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'s','procedure':[{'type':'flow.start','code':'child',"
          "'input':{'n':1}},{'type':'compute.fail','code':'no','message':'m'}]}]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(rig.last.starts.count, 0);
}

static void test_start__what_is_wrong_is_an_error_of_the_step(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':'text'}");
    assert_true(str_find(rig.x->error_json, STR("validation_input"), 0) >= 0);
    start("{'code':'a','steps':[{'code':'s','procedure':{'type':'flow.start','code':'nobody'}}]}",
          "{}");
    assert_true(str_find(rig.x->error_json, STR("not_found_process"), 0) >= 0);
    rig.processes.items[0].key = STR("k7");
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':7}");
    assert_true(str_find(rig.x->error_json, STR("conflict_key"), 0) >= 0);
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'key': 'other',"
          "    'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':7}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_start__the_key_of_a_child_is_that_of_a_start(void **state)
{
    (void)state;
    rig_define(&other, "{'code':'child','input':[{'name':'n','type':'any'}],'settings':{'key':"
                       "'$.user.id'},'steps':[]}");
    rig.processes.items[0].program = other.program;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':4}");
    assert_int_equal(rig.last.starts.count, 1);
    assert_string_equal(rig_text(&rig, rig.last.starts.items[0]->key), "u1");
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'},"
          "    'key': '$.input.n', 'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          rig_text(&rig, str_printf(&rig.mem, "{'n':'%0600d'}", 7)));
    assert_true(str_find(rig.x->error_json, STR("validation_key"), 0) >= 0);
    assert_true(str_find(rig.x->error_json, STR("a key has from 1 to 255 bytes"), 0) >= 0);
}

static void test_wait__the_end_of_the_child_is_the_result(void **state)
{
    struct event answer = {.kind = EVENT_ANSWER, .answer_error = value_absent()};

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'wait': true,"
          "    'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':4}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.last.starts.count, 1);
    assert_true(str_find(rig.x->waiting_for_json, STR("\"kind\":\"child\""), 0) >= 0);
    rig_reload(&rig);
    answer.answer_key = rig.x->cursor.awaited;
    answer.answer_output = rig_value(&rig, "8");
    assert_true(rig_event(&rig, answer));
    assert_string_equal(rig_text(&rig, rig.x->result_json), "[8]");
    assert_int_equal(rig.last.starts.count, 0);
}

/* What the child of the parent in the rig is told, as its event. */
static struct event notice_cancel(const struct notice *notice)
{
    struct notice_row row = {
        .n = 1, .kind = notice->kind, .key = notice->key, .payload_json = notice->payload_json};
    struct event ev = {.config = value_map_empty()};

    assert_true(engine_notice_cancel(&rig.mem, &row, &ev));
    return ev;
}

static void test_cancel__the_child_that_is_waited_for_is_cancelled_the_same_way(void **state)
{
    struct event ev;
    const struct execution *child;
    struct commit c;

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'wait': true,"
          "    'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':4}");
    child = rig.last.starts.items[0];
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_CANCEL,
                                               .cancel_rollback = CANCEL_LEAVES,
                                               .reason = STR("too late")}));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.last.notices.count, 1);
    assert_int_equal(uuid_cmp(rig.last.notices.items[0].execution, child->id), 0);
    ev = notice_cancel(&rig.last.notices.items[0]);
    assert_int_equal(ev.cancel_rollback, CANCEL_LEAVES);
    assert_string_equal(rig_text(&rig, ev.reason), "too late");
    assert_true(engine_advance(&rig.mem, child, &ev, rig.now_us, &c, &rig.err));
    assert_int_equal(c.after->status, STATUS_CANCELLED);
}

static void test_cancel__one_that_another_has_started_is_left_alone(void **state)
{
    struct execution child;
    struct event ev;
    struct commit c;

    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'wait': true,"
          "    'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':4}");
    child = *rig.last.starts.items[0];
    assert_true(rig_cancel(&rig, ""));
    ev = notice_cancel(&rig.last.notices.items[0]);
    child.parent_id.bytes[0] ^= 1;
    assert_false(engine_advance(&rig.mem, &child, &ev, rig.now_us, &c, &rig.err));
    child.has_parent = false;
    assert_false(engine_advance(&rig.mem, &child, &ev, rig.now_us, &c, &rig.err));
}

static void test_cancel__a_branch_that_is_stopped_cancels_its_child(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'p','parallel':{'join':'any','branches':[[{'code':'s',"
          "'procedure':{'type':'flow.start','code':'child','input':{'n':1},'wait':true}}],[{'code':"
          "'w','procedure':{'type':'wait.signal','signalType':'go'}}]]}}]}",
          "{}");
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "1", "go", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.last.notices.count, 1);
    assert_int_equal(notice_cancel(&rig.last.notices.items[0]).cancel_rollback, CANCEL_ROLLS_BACK);
}

/* Whether the child undoes itself follows from what becomes of the parent, not from its own onError. */
static void test_cancel__a_child_is_undone_unless_what_was_done_stays(void **state)
{
    static const struct {
        const char *more; /* of the parent */
        struct event ev;
        enum cancel_rollback expected;
    } cases[] = {
        {"", {.kind = EVENT_CANCEL}, CANCEL_ROLLS_BACK},
        {",'settings':{'timeout':'5s'}", {.kind = EVENT_WAKE}, CANCEL_ROLLS_BACK},
        {",'onError':'fail_fast','settings':{'timeout':'5s'}",
         {.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_ROLLS_BACK},
         CANCEL_ROLLS_BACK},
        {",'onError':'hold'", {.kind = EVENT_CANCEL}, CANCEL_BY_STRATEGY},
        {"", {.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_LEAVES}, CANCEL_LEAVES},
    };
    char scenario[1000];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(scenario, sizeof(scenario),
                 "{'code':'a'%s,'steps':[{'code':'s','procedure':{'type':'flow.start',"
                 "'code':'child','input':{'n':1},'wait':true}}]}",
                 cases[i].more);
        start(scenario, "{}");
        rig_reload(&rig);
        rig_pass(&rig, 6000000);
        assert_true(rig_event(&rig, cases[i].ev));
        assert_int_equal(rig.last.notices.count, 1);
        assert_int_equal(notice_cancel(&rig.last.notices.items[0]).cancel_rollback,
                         cases[i].expected);
    }
}

static void kid_ends(enum execution_status status, const char *error)
{
    rig.child =
        (struct child_read){.is_found = true, .status = status, .error = rig_value(&rig, error)};
}

static void test_cancel__children_of_all_branches_are_told_once(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'r','procedure':{'type':'compute.transform','data':1},"
          "'rollback':{'type':'compute.transform','data':1}},{'code':'l','loop':{'for':[1,2,3],"
          "'concurrency':3,'steps':[{'code':'s','procedure':{'type':'flow.start','code':'child',"
          "'input':{'n':'$.loop.item'},'wait':true}}]}}]}",
          "{}");
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, ""));
    assert_int_equal(rig.last.notices.count, 3);
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_string_equal(rig_trace(&rig), "r s2.failed s3.failed");
    rig_reload(&rig);
    kid_ends(STATUS_CANCELLED, "{'code':'cancelled','message':'m'}");
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.last.notices.count, 0);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "r s2.failed s3.failed s.failed -r");
}

/* --- undoing across the boundary --- */

/* One step that can be undone, then one that waits for a child. */
#define BOOKED(more)                                                                               \
    "{'code':'a'" more ",'steps':[{'code':'r','procedure':{'type':'compute.transform','data':1},"  \
    "'rollback':{'type':'log','message':'m'}},{'code':'s','timeout':'10s','retry':{'maxAttempts':" \
    "1},'procedure':{'type':"                                                                      \
    "'flow.start','code':'child','input':{'n':1},'wait':true}}]}"

static void test_rollback__waits_until_the_child_has_been_undone(void **state)
{
    (void)state;
    start(BOOKED(""), "{}");
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, ""));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_true(str_find(rig.x->waiting_for_json, STR("\"kind\":\"child\""), 0) >= 0);
    assert_string_equal(rig_trace(&rig), "r");
    rig_reload(&rig);
    /* It is looked at now and then, and its time is not that of the step. */
    rig.child = (struct child_read){.is_found = true, .status = STATUS_COMPENSATING};
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(rig_trace(&rig), "r");
    assert_int_equal(rig.last.notices.count, 0);
    kid_ends(STATUS_CANCELLED, "{'code':'cancelled','message':'m','compensation':{'compensated':"
                               "['x'],'failed':['y','z/w']}}");
    rig_reload(&rig);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "r s.failed -r");
    assert_true(str_find(rig.x->error_json,
                         STR("{\"compensated\":[\"r\"],\"failed\":[\"s/y\",\"s/z/w\"]}"), 0) >= 0);
}

/* Also one that failed by itself, of a parent that can undo nothing. */
static void test_rollback__knows_what_a_child_that_failed_could_not_undo(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'s','procedure':{'type':'flow.start','code':'child',"
          "'input':{'n':1},'wait':true}}]}",
          "{}");
    rig_reload(&rig);
    kid_ends(STATUS_FAILED, "{'code':'no','message':'m','class':'business','compensation':{"
                            "'compensated':[],'failed':['y']}}");
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(str_find(rig.x->error_json, STR("\"failed\":[\"s/y\"]"), 0) >= 0);
}

/* The same when that was long ago, and the parent went on. */
static void test_rollback__knows_what_an_earlier_child_could_not_undo(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'s','onError':'continue','procedure':{'type':'flow.start',"
          "'code':'child','input':{'n':1},'wait':true}},"
          "{'code':'w','procedure':{'type':'wait.signal','signalType':'go'}},"
          "{'code':'z','procedure':{'type':'compute.fail','code':'x','message':'y'}}]}",
          "{}");
    kid_ends(STATUS_FAILED, "{'code':'no','message':'m','class':'business','compensation':{"
                            "'compensated':[],'failed':['y']}}");
    assert_true(rig_wake(&rig));
    rig_reload(&rig);
    assert_true(rig_signal(&rig, "1", "go", "1"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(str_find(rig.x->error_json, STR("\"failed\":[\"s/y\"]"), 0) >= 0);
}

/* It had completed before it was told: the step has, too, and is undone like any other. */
static void test_rollback__a_child_that_completed_all_the_same_counts(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'s','procedure':{'type':'flow.start','code':'child',"
          "'input':{'n':1},'wait':true},'rollback':{'type':'log','message':'m'}}]}",
          "{}");
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, ""));
    rig.child = (struct child_read){
        .is_found = true, .status = STATUS_COMPLETED, .result = rig_value(&rig, "8")};
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "s -s");
}

static void test_rollback__a_deadline_waits_for_the_child_too(void **state)
{
    (void)state;
    start(BOOKED(",'settings':{'timeout':'5s'}"), "{}");
    rig_reload(&rig);
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_int_equal(rig.last.notices.count, 1);
    assert_string_equal(rig_trace(&rig), "r");
    kid_ends(STATUS_CANCELLED, "{'code':'cancelled','message':'m'}");
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "r s.failed -r");
}

/* It has told its end while its parent was held, and tells it once: the parent looks for itself. */
static void
test_rollback__a_child_that_ended_while_its_parent_was_held_is_not_waited_for(void **state)
{
    struct event answer = {.kind = EVENT_ANSWER, .answer_error = value_absent()};

    (void)state;
    start(BOOKED(",'onError':'hold','settings':{'timeout':'5s'}"), "{}");
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    rig_reload(&rig);
    answer.answer_key = rig.x->cursor.awaited;
    answer.answer_output = rig_value(&rig, "8");
    assert_true(rig_event(&rig, answer));
    rig_reload(&rig);
    kid_ends(STATUS_COMPLETED, "null");
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_ROLLS_BACK}));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_non_null(strstr(rig_trace(&rig), "-r"));
}

static void test_rollback__a_child_that_took_too_long_is_cancelled_and_waited_for(void **state)
{
    (void)state;
    start(BOOKED(""), "{}");
    rig_reload(&rig);
    rig.child = (struct child_read){.is_found = true, .status = STATUS_RUNNING};
    rig_pass(&rig, 10 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_int_equal(rig.last.notices.count, 1);
    assert_string_equal(rig_trace(&rig), "r s.failed");
    rig_reload(&rig);
    kid_ends(STATUS_CANCELLED, "{'code':'cancelled','message':'m'}");
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "r s.failed -r");
}

/* Rolling back takes several commits: where a retry goes on is known in each of them. */
static void test_rollback__stands_behind_what_completed_until_children_have_ended(void **state)
{
    (void)state;
    start("{'code':'a','settings':{'timeout':'5s'},'steps':[{'code':'p','parallel':{'branches':["
          "[{'code':'pay','procedure':{'type':'integration.http','method':'POST','url':"
          "'http://pay.example/x'}}],"
          "[{'code':'s','procedure':{'type':'flow.start','code':'child','input':{'n':1},"
          "'wait':true}}]]}}]}",
          "{}");
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_ANSWER,
                             .answer_seq = rig.x->cursor.asked_seq,
                             .answer_output = rig_value(&rig, "{'status_code':200,'headers':{},"
                                                              "'body':null}"),
                             .answer_error = value_absent()}));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_int_equal(rig.x->rollback->from->behind, BEHIND_STEP);
    rig_reload(&rig);
    kid_ends(STATUS_CANCELLED, "{'code':'cancelled','message':'m'}");
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(rig.x->cursor.behind, BEHIND_STEP);
}

/* What comes with the deadline is heard once: the branch that it is for goes on with it. */
static void test_deadline__a_branch_hears_of_its_child_in_the_same_turn(void **state)
{
    struct child_reads told = {0};
    struct child_read *kid = VEC_ADD(&rig.mem, &told);

    (void)state;
    start(
        "{'code':'a','onError':'hold','settings':{'timeout':'5s'},'steps':[{'code':'l','loop':{"
        "'for':[1,2],'concurrency':2,'steps':[{'code':'s','procedure':{'type':'flow.start','code':"
        "'child','input':{'n':'$.loop.item'},'wait':true}}]}}]}",
        "{}");
    *kid =
        (struct child_read){.is_found = true, .status = STATUS_COMPLETED, .result = value_int(7)};
    assert_true(child_awaited(execution_cursor(rig.x, 1), &kid->id));
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_WAKE, .children = &told}));
    assert_true(execution_is_held(rig.x));
    assert_string_equal(rig_trace(&rig), "s2");
}

/* One that ended the server too often does not end: a person must see it. */
static void test_rollback__a_child_that_is_parked_is_given_up_after_a_day(void **state)
{
    (void)state;
    start(BOOKED(""), "{}");
    assert_true(rig_cancel(&rig, ""));
    rig.child =
        (struct child_read){.is_found = true, .status = STATUS_COMPENSATING, .is_parked = true};
    for (unsigned hour = 1; hour <= 24; hour++) {
        assert_int_equal(rig.x->status, STATUS_COMPENSATING);
        rig_pass(&rig, 3600 * SECOND);
        rig_reload(&rig);
        assert_true(rig_wake(&rig));
    }
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_string_equal(rig_text(&rig, rig.last.dead_letters.items[0].step), "s");
    assert_true(str_find(rig.x->error_json, STR("\"failed\":[\"s\"]"), 0) >= 0);
}

/* It was to begin with the very turn that has stopped it. */
static void test_rollback__a_child_that_nobody_waits_for_never_begins(void **state)
{
    (void)state;
    start("{'code':'a','steps':[{'code':'p','parallel':{'join':'any','branches':[[{'code':'s',"
          "'procedure':{'type':'flow.start','code':'child','input':{'n':1},'wait':true}}],[{'code':"
          "'w','procedure':{'type':'compute.transform','data':1}}]]}}]}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.last.starts.count, 0);
    assert_int_equal(rig.last.notices.count, 0);
}

/* The child holds the key that it would have, and is another's. */
static void join(void)
{
    rig_define(&other, "{'code':'child','input':[{'name':'n','type':'any'}],'settings':{'key':'k',"
                       "'onKeyConflict':'join'},'steps':[]}");
    rig.processes.items[0].program = other.program;
    rig.processes.items[0].key = STR("k");
    rig.processes.items[0].holder.bytes[3] = 9;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'wait': true,"
          "    'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':4}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.last.starts.count, 0);
    rig.child = (struct child_read){.is_found = true, .status = STATUS_RUNNING};
}

static void test_wait__one_that_was_joined_is_asked_to_tell_its_end(void **state)
{
    const struct notice *notice;
    struct notice_row row = {.kind = NOTICE_JOIN};
    struct notice end;

    (void)state;
    join();
    assert_int_equal(rig.last.notices.count, 1);
    notice = &rig.last.notices.items[0];
    assert_int_equal(notice->kind, NOTICE_JOIN);
    assert_int_equal(notice->execution.bytes[3], 9);
    assert_true(rig.x->wake_at_us - rig.now_us >= 3600 * SECOND);
    row.key = notice->key;
    assert_true(engine_notice_join(&rig.mem, rig.x, &row, &end));
    assert_int_equal(end.kind, NOTICE_CHILD);
    assert_int_equal(uuid_cmp(end.execution, rig.x->id), 0);
    row.kind = NOTICE_CHILD;
    assert_false(engine_notice_join(&rig.mem, rig.x, &row, &end));
}

static void test_rollback__who_has_joined_neither_waits_nor_cancels(void **state)
{
    (void)state;
    join();
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, ""));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.last.notices.count, 0);
}

/* The state as a version before has stored it: it did not say whose child it is. */
static void forget_whose(void)
{
    bool has_said = false;
    static const char *const said[] = {",\"joined\":1", ",\"started\":1"};

    for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
        struct str json = rig.stored.cursor_json, word = str_of(said[i]);
        int64_t at = str_find(json, word, 0);

        has_said = has_said || at >= 0;
        if (at >= 0)
            rig.stored.cursor_json =
                str_printf(&rig.mem, "%.*s%.*s", STR_ARG(str_slice(json, 0, (size_t)at)),
                           STR_ARG(str_slice(json, (size_t)at + word.len, json.len)));
    }
    assert_true(has_said);
    rig_reload(&rig);
}

static void test_rollback__who_has_joined_before_states_said_so_waits_for_nobody(void **state)
{
    (void)state;
    join();
    forget_whose();
    rig.child.is_others = true;
    assert_true(rig_cancel(&rig, ""));
    for (unsigned i = 0; i < 4 && !status_is_terminal(rig.x->status); i++)
        assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.x->stopped_count, 0);
}

static void test_rollback__a_child_of_its_own_is_waited_for_whoever_stored_it(void **state)
{
    (void)state;
    start(BOOKED(""), "{}");
    forget_whose();
    rig.child = (struct child_read){.is_found = true, .status = STATUS_RUNNING};
    assert_true(rig_cancel(&rig, ""));
    assert_int_equal(rig.last.notices.count, 1);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_true(rig.x->wake_at_us > rig.now_us);
    kid_ends(STATUS_CANCELLED, "{'code':'cancelled','message':'m'}");
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "r s.failed -r");
}

/* A branch that was stopped has left it behind. */
static void test_rollback__a_branch_that_had_joined_leaves_nothing_to_wait_for(void **state)
{
    (void)state;
    rig_define(&other, "{'code':'child','input':[{'name':'n','type':'any'}],'settings':{'key':'k',"
                       "'onKeyConflict':'join'},'steps':[]}");
    rig.processes.items[0].program = other.program;
    rig.processes.items[0].key = STR("k");
    rig.processes.items[0].holder.bytes[3] = 9;
    start("{'code':'a','steps':[{'code':'r','procedure':{'type':'log','message':'m'},'rollback':{"
          "'type':'log','message':'m'}},{'code':'p','parallel':{'branches':[[{'code':'s',"
          "'procedure':{'type':'flow.start','code':'child','input':{'n':1},'wait':true}}],[{'code':"
          "'w','procedure':{'type':'wait.signal','signalType':'x'}},{'code':'z','procedure':"
          "{'type':'compute.fail','code':'no','message':'no'}}]]}}]}",
          "{}");
    forget_whose();
    rig.child = (struct child_read){.is_found = true, .status = STATUS_RUNNING, .is_others = true};
    assert_true(rig_signal(&rig, "1", "x", "1"));
    for (unsigned i = 0; i < 4 && !status_is_terminal(rig.x->status); i++)
        assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "r w z.failed s.failed -r");
}

/* Such a state was stored when those who joined looked every now and then. */
static void test_wait__who_has_joined_without_asking_asks_when_it_looks(void **state)
{
    struct cursor *cursor;

    (void)state;
    join();
    cursor = &rig.x->cursor;
    cursor->remind_every_us = SECOND;
    cursor->wake_at_us = rig.x->wake_at_us = rig.now_us + SECOND;
    rig_pass(&rig, SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.last.notices.count, 1);
    assert_int_equal(rig.last.notices.items[0].kind, NOTICE_JOIN);
    assert_int_equal(rig.x->cursor.remind_every_us, 0);
}

static void test_wait__the_parent_looks_for_itself(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'wait': true,"
          "    'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':4}");
    rig.child = (struct child_read){.is_found = true, .status = STATUS_RUNNING};
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(rig.x->wake_at_us > rig.now_us);
    assert_int_not_equal(awaited()[0], 0);
    rig.child = (struct child_read){
        .is_found = true, .status = STATUS_COMPLETED, .result = rig_value(&rig, "8")};
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(rig_text(&rig, rig.x->result_json), "[8]");
}

static void test_wait__the_failure_of_the_child_is_ours(void **state)
{
    (void)state;
    start("{'code': 'a', 'steps': [{'code': 's', 'procedure': ["
          "  {'type': 'flow.start', 'code': 'child', 'input': {'n': '$.input.n'}, 'wait': true,"
          "    'as': 'c'},"
          "  {'type': 'compute.transform', 'data': ['$.c']}]}]}",
          "{'n':4}");
    rig.child = (struct child_read){.is_found = true,
                                    .status = STATUS_FAILED,
                                    .error = rig_value(&rig, "{'code':'broke','message':'m'}")};
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(str_find(rig.x->error_json, STR("broke"), 0) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM_WITH(test_start__is_nested_no_deeper_than_the_limit),
        CLAIM_WITH(test_start__begins_with_the_commit_of_its_step),
        CLAIM_WITH(test_start__a_pending_child_begins_when_it_is_woken),
        CLAIM_WITH(test_start__a_step_that_fails_starts_nothing),
        CLAIM_WITH(test_start__what_is_wrong_is_an_error_of_the_step),
        CLAIM_WITH(test_start__the_key_of_a_child_is_that_of_a_start),
        CLAIM_WITH(test_wait__the_end_of_the_child_is_the_result),
        CLAIM_WITH(test_cancel__the_child_that_is_waited_for_is_cancelled_the_same_way),
        CLAIM_WITH(test_cancel__one_that_another_has_started_is_left_alone),
        CLAIM_WITH(test_cancel__a_branch_that_is_stopped_cancels_its_child),
        CLAIM_WITH(test_cancel__a_child_is_undone_unless_what_was_done_stays),
        CLAIM_WITH(test_cancel__children_of_all_branches_are_told_once),
        CLAIM_WITH(test_rollback__who_has_joined_neither_waits_nor_cancels),
        CLAIM_WITH(test_rollback__waits_until_the_child_has_been_undone),
        CLAIM_WITH(test_rollback__knows_what_a_child_that_failed_could_not_undo),
        CLAIM_WITH(test_rollback__knows_what_an_earlier_child_could_not_undo),
        CLAIM_WITH(test_rollback__stands_behind_what_completed_until_children_have_ended),
        CLAIM_WITH(test_rollback__a_child_that_completed_all_the_same_counts),
        CLAIM_WITH(test_rollback__a_deadline_waits_for_the_child_too),
        CLAIM_WITH(test_rollback__a_child_that_ended_while_its_parent_was_held_is_not_waited_for),
        CLAIM_WITH(test_rollback__a_child_that_took_too_long_is_cancelled_and_waited_for),
        CLAIM_WITH(test_deadline__a_branch_hears_of_its_child_in_the_same_turn),
        CLAIM_WITH(test_rollback__a_child_that_is_parked_is_given_up_after_a_day),
        CLAIM_WITH(test_rollback__who_has_joined_before_states_said_so_waits_for_nobody),
        CLAIM_WITH(test_rollback__a_child_of_its_own_is_waited_for_whoever_stored_it),
        CLAIM_WITH(test_rollback__a_branch_that_had_joined_leaves_nothing_to_wait_for),
        CLAIM_WITH(test_rollback__a_child_that_nobody_waits_for_never_begins),
        CLAIM_WITH(test_wait__one_that_was_joined_is_asked_to_tell_its_end),
        CLAIM_WITH(test_wait__who_has_joined_without_asking_asks_when_it_looks),
        CLAIM_WITH(test_wait__the_parent_looks_for_itself),
        CLAIM_WITH(test_wait__the_failure_of_the_child_is_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
