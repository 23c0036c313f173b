/*
 * test_node_memory.c - what a node holds in memory is bounded, however long it
 * runs. Memory is what the allocator has given out.
 */
#include "node/node_rig.h"
#include "value/json.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static int set_up(void **state)
{
    return node_rig_open(state, (struct node_options){0});
}

static size_t used_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

enum { SCENARIOS = 20 };

static void name_scenario(char code[16], int i)
{
    snprintf(code, 16, "s%d", i);
}

/* Scenarios that call the function `used`; executions of them end at once, or wait. */
static void define_scenarios(struct fixture *f, const char *type)
{
    node_rig_define(f, "function", "used",
                    "{\"params\":[{\"name\":\"x\",\"type\":\"number\"}],\"body\":\"x + 1\"}");
    for (int i = 0; i < SCENARIOS; i++) {
        char code[16], text[400];

        name_scenario(code, i);
        snprintf(text, sizeof(text),
                 "{\"code\":\"%s\",\"steps\":["
                 "{\"code\":\"a\",\"procedure\":{\"type\":\"compute.transform\","
                 "\"data\":{\"n\":\"=fn.used(1)\"}}},"
                 "{\"code\":\"b\",\"procedure\":{\"type\":%s}}]}",
                 code, type);
        node_rig_define(f, "scenario", code, text);
        (void)node_rig_start(f, code);
    }
}

/* Publish the function `name` anew so often, and start all scenarios after each. */
static void publish_again(struct fixture *f, const char *name, int from, int to)
{
    for (int i = from; i < to; i++) {
        char text[100], code[16];

        snprintf(text, sizeof(text),
                 "{\"params\":[{\"name\":\"x\",\"type\":\"number\"}],\"body\":\"x + %d\"}", i);
        node_rig_define(f, "function", name, text);
        for (int k = 0; k < SCENARIOS; k++) {
            name_scenario(code, k);
            (void)node_rig_start(f, code);
        }
    }
}

static const char ends[] = "\"compute.transform\",\"data\":1";
static const char waits[] = "\"wait.signal\",\"signalType\":\"go\"";

static void test_node__a_published_function_that_no_program_reaches_costs_no_memory(void **state)
{
    struct fixture *f = *state;
    size_t before;

    define_scenarios(f, ends);
    publish_again(f, "unrelated", 0, 5);
    before = used_bytes();
    publish_again(f, "unrelated", 5, 30);
    assert_true(used_bytes() < before + ((size_t)2 << 20));
}

static void test_node__a_program_that_another_replaces_goes_with_its_last_execution(void **state)
{
    struct fixture *f = *state;
    size_t before;

    define_scenarios(f, ends);
    publish_again(f, "used", 0, 5);
    before = used_bytes();
    publish_again(f, "used", 5, 40);
    assert_true(used_bytes() < before + ((size_t)1 << 20));
}

/* The executions that hold the programs are idle: they go from memory with them. */
static void test_node__programs_of_functions_that_were_published_again_are_freed(void **state)
{
    struct fixture *f = *state;
    size_t before = used_bytes();

    define_scenarios(f, waits);
    for (int i = 0; i < 60; i++) {
        publish_again(f, "used", i * 10, i * 10 + 1);
        assert_true(used_bytes() < before + ((size_t)60 << 20));
    }
}

static const char listen[] =
    "{\"code\":\"listen\",\"steps\":[{\"code\":\"rounds\",\"loop\":{\"while\":\"true\",\"max\":"
    "10000,"
    "\"steps\":[{\"code\":\"hear\",\"procedure\":{\"type\":\"wait.signal\",\"signalType\":\"go\"}}]"
    "}}]}";

/* So many signals at a time, as several clients send them. */
enum { AT_ONCE = 64 };

static void signal_many(struct fixture *f, struct uuid id, int count)
{
    struct node_request r[AT_ONCE];
    bool done[AT_ONCE];
    struct arena mem[AT_ONCE];

    for (int i = 0; i < AT_ONCE; i++)
        arena_init(&mem[i]);
    for (int sent = 0; sent < count; sent += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            arena_reset(&mem[i]);
            r[i] = (struct node_request){.kind = NODE_EVENT,
                                         .event.kind = EVENT_SIGNAL,
                                         .execution = id,
                                         .event.signal_type = STR("go")};
            r[i].event.signal_payload = value_map_empty();
            r[i].event.by = value_map_empty();
            node_rig_submit(f, &r[i], &mem[i], &done[i]);
        }
        for (int i = 0; i < AT_ONCE; i++) {
            node_rig_pass_until(f, &done[i]);
            if (!r[i].ok)
                fail_msg("%s", r[i].err.message);
        }
    }
    for (int i = 0; i < AT_ONCE; i++)
        arena_fini(&mem[i]);
}

static void test_node__signals_to_an_execution_that_is_waited_for_leave_nothing(void **state)
{
    struct fixture *f = *state;
    struct node_request wait = {.kind = NODE_WAIT, .wait_us = INT64_C(3600) * 1000000};
    struct uuid id;
    size_t before;
    bool done;

    node_rig_define(f, "scenario", "listen", listen);
    id = node_rig_start(f, "listen");
    wait.execution = id;
    node_rig_submit(f, &wait, &f->mem, &done);
    signal_many(f, id, 2000);
    before = used_bytes();
    signal_many(f, id, 6000);
    assert_false(done);
    assert_true(used_bytes() < before + ((size_t)4 << 20));
}

/* 10,000 that are waited for may take 150 MB, their connections included. */
static void test_node__an_execution_that_sleeps_takes_no_more_than_its_state(void **state)
{
    enum { SLEEPING = 500 };
    struct fixture *f = *state;
    struct node_request *starts = ARENA_ARRAY(&f->mem, SLEEPING, struct node_request);
    bool *done = ARENA_ARRAY(&f->mem, SLEEPING, bool);
    struct node_stats stats;

    node_rig_define(f, "scenario", "listen", listen);
    for (int i = 0; i < SLEEPING; i++) {
        starts[i] = (struct node_request){.kind = NODE_START,
                                          .code = STR("listen"),
                                          .event.input = value_map_empty(),
                                          .wait_us = INT64_C(3600) * 1000000};
        node_rig_submit(f, &starts[i], &f->mem, &done[i]);
    }
    do {
        if (!node_pass(f->node))
            usleep(20);
        node_stats(f->node, &stats);
    } while (stats.waiting < SLEEPING);
    assert_int_equal(stats.cached, SLEEPING);
    assert_true(stats.cached_bytes <= (size_t)SLEEPING * 5000);
    for (int i = 0; i < SLEEPING; i++)
        assert_false(done[i]);
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(test_node__##name, set_up, node_rig_close)
    const struct CMUnitTest tests[] = {
        CLAIM(a_published_function_that_no_program_reaches_costs_no_memory),
        CLAIM(a_program_that_another_replaces_goes_with_its_last_execution),
        CLAIM(programs_of_functions_that_were_published_again_are_freed),
        CLAIM(signals_to_an_execution_that_is_waited_for_leave_nothing),
        CLAIM(an_execution_that_sleeps_takes_no_more_than_its_state),
    };

    return cmocka_run_group_tests_name("node_memory", tests, NULL, NULL);
}
