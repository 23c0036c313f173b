/* test_strands.c - claims about executions that do very much at once: limits, and what it costs. */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* The rig checks everything after each event, which takes its time: here only the engine runs. */
static struct arena turn_mem;

struct cost {
    size_t written_bytes; /* to the store */
    unsigned commits;
    uint32_t strands; /* the most at a time */
};

static void begin(const char *scenario)
{
    rig_define(&rig, scenario);
    arena_init(&turn_mem);
}

static void end(void)
{
    arena_fini(&turn_mem);
}

static void apply_one(struct execution **x, struct event ev, struct cost *cost, struct commit *c)
{
    ev.config = value_map_empty();
    assert_true(engine_advance(&turn_mem, *x, &ev, rig.now_us, c, &rig.err));
    assert_int_equal(c->result, ADVANCE_COMMIT);
    cost->commits++;
    cost->written_bytes +=
        c->cursor_json.len + c->context_json.len + c->after->waiting_for_json.len;
    for (size_t i = 0; i < c->history.count; i++)
        cost->written_bytes += (size_t)state_row_bytes(&c->history.items[i]);
    if (execution_strands(c->after) > cost->strands)
        cost->strands = execution_strands(c->after);
    *x = state_copy(&rig.mem, c->after);
    arena_reset(&turn_mem);
}

/* Run a loop of that many rounds, so many at once, one signal for each of them. */
static struct cost run_rounds(unsigned rounds, unsigned at_once)
{
    struct cost cost = {0};
    struct execution *x;
    struct commit c;
    char scenario[300];

    snprintf(scenario, sizeof(scenario),
             "{'code': 'a', 'steps': [{'code': 'l', 'loop': {'for': '=lists.range(%u)',"
             "  'concurrency': %u, 'steps': [{'code': 'w',"
             "    'procedure': {'type': 'wait.signal', 'signalType': 'go'}}]}}]}",
             rounds, at_once);
    begin(scenario);
    assert_true(execution_new(
        &rig.mem, rig.program,
        &(struct execution_new){.input = value_map_empty(), .now_us = rig.now_us}, &x, &rig.err));
    apply_one(&x, (struct event){.kind = EVENT_START}, &cost, &c);
    for (unsigned i = 0; i < rounds; i++) {
        char id[20];

        while (x->status == STATUS_RUNNING)
            apply_one(&x, (struct event){.kind = EVENT_WAKE}, &cost, &c);
        snprintf(id, sizeof(id), "s%u", i);
        apply_one(&x,
                  (struct event){.kind = EVENT_SIGNAL,
                                 .signal_id = str_of(id),
                                 .signal_type = STR("go"),
                                 .signal_payload = value_int(i),
                                 .by = value_map_empty()},
                  &cost, &c);
    }
    while (x->status == STATUS_RUNNING)
        apply_one(&x, (struct event){.kind = EVENT_WAKE}, &cost, &c);
    assert_int_equal(x->status, STATUS_COMPLETED);
    end();
    return cost;
}

static void test_strands__the_cost_of_rounds_at_once_is_linear(void **state)
{
    struct cost half, whole;

    (void)state;
    half = run_rounds(500, 50);
    whole = run_rounds(1000, 50);
    print_message("500 rounds: %zu bytes, 1000 rounds: %zu bytes written\n", half.written_bytes,
                  whole.written_bytes);
    assert_int_equal(whole.strands, 50);
    assert_true(whole.written_bytes < half.written_bytes * 23 / 10);
}

static void test_strands__the_1001st_fails_its_step(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'outer',"
                     "  'loop': {'for': '=lists.range(30)', 'concurrency': 30,"
                     "    'steps': [{'code': 'inner', 'loop': {'for': '=lists.range(40)',"
                     "      'concurrency': 40, 'steps': [{'code': 't',"
                     "        'procedure': {'type': 'wait.timer', 'duration': '1s'}}]}}]}}]}");
    rig_start(&rig, "{}");
    assert_int_equal(execution_strands(rig.x), 30 + 24 * 39);
    while (rig.x->status == STATUS_RUNNING)
        assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->waiting_kind, WAITING_INCIDENT);
    assert_true(str_find(rig.x->waiting_for_json, STR("limit_strands"), 0) >= 0);
    assert_true(str_find(rig.x->waiting_for_json, STR("\"branchCount\":966"), 0) >= 0);
    assert_true(rig.x->waiting_for_json.len < 50000);
}

static void test_strands__exactly_1000_are_not_too_many(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'onError': 'fail_fast', 'steps': [{'code': 'outer',"
                     "  'loop': {'for': '=lists.range(10)', 'concurrency': 10,"
                     "    'steps': [{'code': 'inner', 'loop': {'for': '=lists.range(100)',"
                     "      'concurrency': 100, 'steps': [{'code': 't',"
                     "        'procedure': {'type': 'wait.timer', 'duration': '1s'}}]}}]}}]}");
    rig_start(&rig, "{}");
    while (rig.x->status == STATUS_RUNNING)
        assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(execution_strands(rig.x), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_strands__the_cost_of_rounds_at_once_is_linear),
        CLAIM(test_strands__the_1001st_fails_its_step),
        CLAIM(test_strands__exactly_1000_are_not_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
