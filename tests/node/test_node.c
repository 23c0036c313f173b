/* test_node.c - requests through the real node and a real SQLite store. */
#include "node/node_rig.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state)
{
    return node_rig_open(state, (struct node_options){0});
}

static struct value answer(struct fixture *f, const struct node_request *r)
{
    struct value v;
    struct err err;

    if (!r->ok)
        fail_msg("%s", r->err.message);
    if (!json_read(&f->mem, r->execution_json, &v, &err))
        fail_msg("%s in %.*s", err.message, STR_ARG(r->execution_json));
    return v;
}

static void assert_text(struct value map, const char *key, const char *want)
{
    struct value v = value_map_get_str(map, str_of(key));

    assert_int_equal(v.kind, VALUE_STRING);
    assert_int_equal(v.len, strlen(want));
    assert_memory_equal(v.text, want, v.len);
}

static void test_node__runs_local_steps_in_one_answer(void **state)
{
    struct fixture *f = *state;
    struct node_request r = {.kind = NODE_START, .code = STR("sum"), .wait_us = 1000000};
    struct value x;

    node_rig_define(
        f, "scenario", "sum",
        "{\"code\":\"sum\",\"steps\":["
        "{\"code\":\"a\",\"procedure\":{\"type\":\"compute.transform\",\"data\":{\"n\":1}}},"
        "{\"code\":\"b\",\"procedure\":{\"type\":\"compute.transform\","
        "\"data\":{\"n\":\"=$.steps.a.n + 1\"}}}]}");
    r.event.input = value_map_empty();
    node_rig_try(f, &r, &f->mem);
    x = answer(f, &r);
    assert_text(x, "status", "completed");
    assert_int_equal(value_map_get_str(value_map_get_str(x, STR("result")), STR("n")).i, 2);
}

static const char approval[] =
    "{\"code\":\"approval\",\"steps\":["
    "{\"code\":\"wait\",\"procedure\":{\"type\":\"wait.signal\",\"signalType\":\"decision\","
    "\"timeout\":\"24h\"}},"
    "{\"code\":\"say\",\"procedure\":{\"type\":\"compute.transform\","
    "\"data\":{\"approved\":\"$.steps.wait.payload.ok\"}}}]}";

static struct uuid start_approval(struct fixture *f)
{
    struct node_request r = {.kind = NODE_START, .code = STR("approval")};

    r.event.input = value_map_empty();
    node_rig_try(f, &r, &f->mem);
    assert_text(answer(f, &r), "status", "waiting");
    return r.id;
}

static void signal_ok(struct fixture *f, struct uuid id)
{
    struct node_request r = {.kind = NODE_EVENT,
                             .event.kind = EVENT_SIGNAL,
                             .execution = id,
                             .event.signal_type = STR("decision")};
    struct err err;

    assert_true(json_read(&f->mem, STR("{\"ok\":true}"), &r.event.signal_payload, &err));
    r.event.by = value_map_empty();
    node_rig_try(f, &r, &f->mem);
    assert_true(r.ok);
}

static struct value wait_for_end(struct fixture *f, struct uuid id)
{
    struct node_request r = {.kind = NODE_WAIT, .execution = id, .wait_us = 1000000};

    node_rig_try(f, &r, &f->mem);
    return answer(f, &r);
}

static void test_node__a_signal_wakes_what_waits(void **state)
{
    struct fixture *f = *state;
    struct uuid id;
    struct value x;

    node_rig_define(f, "scenario", "approval", approval);
    id = start_approval(f);
    signal_ok(f, id);
    x = wait_for_end(f, id);
    assert_text(x, "status", "completed");
    assert_true(
        value_is_true(value_map_get_str(value_map_get_str(x, STR("result")), STR("approved"))));
}

static void test_node__goes_on_after_it_was_closed_and_opened(void **state)
{
    struct fixture *f = *state;
    struct uuid id;

    node_rig_define(f, "scenario", "approval", approval);
    id = start_approval(f);
    node_rig_reopen(f);
    signal_ok(f, id);
    assert_text(wait_for_end(f, id), "status", "completed");
}

static void test_node__a_timer_fires_when_its_time_has_come(void **state)
{
    struct fixture *f = *state;
    struct uuid id;

    node_rig_define(f, "scenario", "approval", approval);
    id = start_approval(f);
    node_rig_advance(f, INT64_C(24) * 3600 * 1000000);
    assert_text(wait_for_end(f, id), "status", "failed");
}

static void test_node__an_unknown_code_is_not_found(void **state)
{
    struct fixture *f = *state;
    struct node_request r = {.kind = NODE_START, .code = STR("nothing")};

    r.event.input = value_map_empty();
    node_rig_try(f, &r, &f->mem);
    assert_false(r.ok);
    assert_int_equal(r.err.code, ERR_NOT_FOUND);
}

static void test_node__a_key_belongs_to_one_live_execution(void **state)
{
    struct fixture *f = *state;
    struct node_request r = {.kind = NODE_START, .code = STR("approval"), .key = STR("k1")};
    struct node_request again = r;

    node_rig_define(f, "scenario", "approval", approval);
    r.event.input = again.event.input = value_map_empty();
    node_rig_try(f, &r, &f->mem);
    assert_true(r.ok);
    node_rig_try(f, &again, &f->mem);
    assert_false(again.ok);
    assert_int_equal(again.err.code, ERR_KEY_BUSY);
    assert_int_equal(uuid_cmp(again.id, r.id), 0);
}

static int64_t members(const struct fixture *f)
{
    struct node_stats stats;

    node_stats(f->node, &stats);
    assert_int_equal(stats.members_refused, 0);
    return stats.members_applied;
}

/* Only what changes nothing has to assert what it rests on. */
static void test_node__what_commits_has_no_further_member(void **state)
{
    struct fixture *f = *state;
    struct node_request again = {.kind = NODE_EVENT, .event.kind = EVENT_CANCEL};
    struct uuid id;
    int64_t before;

    node_rig_define(f, "scenario", "approval", approval);
    before = members(f);
    id = start_approval(f);
    assert_int_equal(members(f) - before, 1);
    signal_ok(f, id);
    assert_int_equal(members(f) - before, 2);
    again.execution = id;
    node_rig_try(f, &again, &f->mem);
    assert_int_equal(again.err.code, ERR_CONFLICT);
    assert_int_equal(members(f) - before, 3);
}

/* The version of the child that an execution of `starter` has started; both have ended. */
static int64_t version_started(struct fixture *f)
{
    struct node_request r = {.kind = NODE_START, .code = STR("starter"), .wait_us = 1000000};
    struct value started;
    struct uuid child;

    r.event.input = value_map_empty();
    node_rig_try(f, &r, &f->mem);
    started =
        value_map_get_str(value_map_get_str(answer(f, &r), STR("result")), STR("executionId"));
    assert_int_equal(started.kind, VALUE_STRING);
    assert_true(uuid_read(value_text(started), &child));
    return value_map_get_str(wait_for_end(f, child), STR("version")).i;
}

static void define_child(struct fixture *f, const char *said)
{
    char text[300];

    snprintf(text, sizeof(text),
             "{\"code\":\"kid\",\"input\":[{\"name\":\"a\",\"type\":\"string\","
             "\"default\":\"%s\"}],\"steps\":[{\"code\":\"a\","
             "\"procedure\":{\"type\":\"compute.transform\",\"data\":{\"said\":\"=$.input.a\"}}}]}",
             said);
    node_rig_define(f, "scenario", "kid", text);
}

/* What is started by many is compiled when it is new, not for each of them. */
static void test_node__children_begin_with_the_program_in_memory(void **state)
{
    enum { STARTS = 30, ENOUGH = 8 };
    struct fixture *f = *state;
    struct node_stats before, after;

    define_child(f, "one");
    node_rig_define(f, "scenario", "starter",
                    "{\"code\":\"starter\",\"steps\":[{\"code\":\"s\",\"procedure\":"
                    "{\"type\":\"flow.start\",\"code\":\"kid\"}}]}");
    node_stats(f->node, &before);
    for (int i = 0; i < STARTS; i++)
        assert_int_equal(version_started(f), 1);
    define_child(f, "two");
    for (int i = 0; i < STARTS; i++)
        assert_int_equal(version_started(f), 2);
    node_stats(f->node, &after);
    assert_in_range(after.programs_compiled - before.programs_compiled, 1, ENOUGH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_node__runs_local_steps_in_one_answer, set_up,
                                        node_rig_close),
        cmocka_unit_test_setup_teardown(test_node__a_signal_wakes_what_waits, set_up,
                                        node_rig_close),
        cmocka_unit_test_setup_teardown(test_node__goes_on_after_it_was_closed_and_opened, set_up,
                                        node_rig_close),
        cmocka_unit_test_setup_teardown(test_node__a_timer_fires_when_its_time_has_come, set_up,
                                        node_rig_close),
        cmocka_unit_test_setup_teardown(test_node__an_unknown_code_is_not_found, set_up,
                                        node_rig_close),
        cmocka_unit_test_setup_teardown(test_node__a_key_belongs_to_one_live_execution, set_up,
                                        node_rig_close),
        cmocka_unit_test_setup_teardown(test_node__what_commits_has_no_further_member, set_up,
                                        node_rig_close),
        cmocka_unit_test_setup_teardown(test_node__children_begin_with_the_program_in_memory,
                                        set_up, node_rig_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
