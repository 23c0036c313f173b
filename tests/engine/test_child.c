/* test_child.c - claims about executions that an execution starts. */
#include "base/buf.h"
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

#define START(more)                                                                                \
    "{'code':'a','steps':[{'code':'s','procedure':[{'type':'flow.start','code':'child','input':{"  \
    "'n':'$.input.n'}" more ",'as':'c'},{'type':'compute.transform','data':['$.c']}]}]}"

static void start(const char *scenario, const char *input)
{
    rig_define(&rig, scenario);
    rig_start(&rig, input);
}

static const char *awaited(void)
{
    return rig_text(&rig, rig.x->cursor.awaited);
}

static void test_start__begins_with_the_commit_of_its_step(void **state)
{
    const struct execution *child;
    char id[UUID_TEXT_LEN + 1];

    (void)state;
    start(START(""), "{'n':4}");
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
    start(START(""), "{'n':4}");
    assert_true(
        engine_advance(&rig.mem, rig.last.starts.items[0], &wake, rig.now_us, &c, &rig.err));
    assert_false(c.is_start);
    assert_int_equal(c.read_version, 1);
    assert_int_equal(c.after->status, STATUS_COMPLETED);
    assert_int_equal(c.tells.count, 1);
    assert_int_equal(uuid_cmp(c.tells.items[0].execution, rig.x->id), 0);
    assert_int_equal(c.tells.items[0].kind, TELL_CHILD);
    uuid_write(c.after->id, id);
    assert_string_equal(rig_text(&rig, c.tells.items[0].key),
                        str_printf(&rig.mem, "child:%s", id).ptr);
    assert_true(str_starts_with(c.tells.items[0].payload_json, STR("{\"output\":")));
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
    start(START(""), "{'n':'text'}");
    assert_true(str_find(rig.x->error_json, STR("validation_input"), 0) >= 0);
    start("{'code':'a','steps':[{'code':'s','procedure':{'type':'flow.start','code':'nobody'}}]}",
          "{}");
    assert_true(str_find(rig.x->error_json, STR("not_found_process"), 0) >= 0);
    rig.processes.items[0].key = STR("k7");
    start(START(""), "{'n':7}");
    assert_true(str_find(rig.x->error_json, STR("conflict_key"), 0) >= 0);
    start(START(",'key':'other'"), "{'n':7}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_start__the_key_of_a_child_is_that_of_a_start(void **state)
{
    (void)state;
    rig_define(&other, "{'code':'child','input':[{'name':'n','type':'any'}],'settings':{'key':"
                       "'$.user.id'},'steps':[]}");
    rig.processes.items[0].program = other.program;
    start(START(""), "{'n':4}");
    assert_int_equal(rig.last.starts.count, 1);
    assert_string_equal(rig_text(&rig, rig.last.starts.items[0]->key), "u1");
    start(START(",'key':'$.input.n'"), rig_text(&rig, str_printf(&rig.mem, "{'n':'%0501d'}", 7)));
    assert_true(str_find(rig.x->error_json, STR("validation_key"), 0) >= 0);
    assert_true(str_find(rig.x->error_json, STR("longer than 500 bytes"), 0) >= 0);
}

static void test_wait__the_end_of_the_child_is_the_result(void **state)
{
    struct event answer = {.kind = EVENT_ANSWER, .answer_error = value_absent()};

    (void)state;
    start(START(",'wait':true"), "{'n':4}");
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

static void test_wait__the_parent_looks_for_itself(void **state)
{
    (void)state;
    start(START(",'wait':true"), "{'n':4}");
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
    start(START(",'wait':true"), "{'n':4}");
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
        CLAIM_WITH(test_start__begins_with_the_commit_of_its_step),
        CLAIM_WITH(test_start__a_pending_child_begins_when_it_is_woken),
        CLAIM_WITH(test_start__a_step_that_fails_starts_nothing),
        CLAIM_WITH(test_start__what_is_wrong_is_an_error_of_the_step),
        CLAIM_WITH(test_start__the_key_of_a_child_is_that_of_a_start),
        CLAIM_WITH(test_wait__the_end_of_the_child_is_the_result),
        CLAIM_WITH(test_wait__the_parent_looks_for_itself),
        CLAIM_WITH(test_wait__the_failure_of_the_child_is_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
