/* test_dump.c - claims about comparing states, on which the rig and the simulator rest. */
#include "engine/rig.h"
#include "engine/signals_at.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* In a loop, with results, an error, variables and signals. */
static void make_state(void)
{
    rig_define(&rig, "{'code':'a','steps':["
                     "{'code':'e','onError':'continue','procedure':{'type':'compute.fail',"
                     "'code':'no','message':'no'}},"
                     "{'code':'v','procedure':{'type':'compute.set','values':{'n':1}}},"
                     "{'code':'l','loop':{'for':[1,2],'collect':'=$.loop.item',"
                     "'steps':[{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}]}}"
                     "]}");
    rig_start(&rig, "{'k':[1,{'z':2}]}");
    assert_true(rig_signal(&rig, "1", "y", "{'p':1}"));
    assert_true(rig_signal(&rig, "2", "x", "{'p':1}"));
    assert_non_null(rig.x->loops);
    assert_int_equal(rig.x->loops->collected.list.count, 1);
    assert_true(rig.x->frame_count > 0);
    assert_int_equal(rig.x->status, STATUS_WAITING);
}

/* Whether a state differs from that of the rig, which the text must say, too. */
static bool differs(const struct execution *x)
{
    bool is_same = dump_is_same(rig.x, x);

    assert_int_equal(is_same, dump_is_same(x, rig.x));
    assert_int_equal(is_same, str_eq(dump_execution(&rig.mem, rig.x), dump_execution(&rig.mem, x)));
    return !is_same;
}

#define SEES(change)                                                                               \
    do {                                                                                           \
        struct execution *x = state_copy(&rig.mem, rig.x);                                         \
        assert_false(differs(x));                                                                  \
        change;                                                                                    \
        if (!differs(x))                                                                           \
            fail_msg("not seen: %s", #change);                                                     \
    } while (0)

static struct frame *own_frames(struct execution *x)
{
    struct frame *frames = ARENA_ARRAY(&rig.mem, x->frame_count, struct frame);

    memcpy(frames, x->frames, x->frame_count * sizeof(*frames));
    x->frames = frames;
    return frames;
}

static struct loop_data *own_loop(struct execution *x)
{
    struct loop_data *l = ARENA_NEW(&rig.mem, struct loop_data);

    *l = *x->loops;
    x->loops = l;
    return l;
}

static struct signal *own_signal(struct execution *x)
{
    struct signal *s = ARENA_NEW(&rig.mem, struct signal);

    *s = *signals_at(&x->signals, 0);
    x->signals = (struct signals){0};
    (void)signals_add(&rig.mem, &x->signals, x, s);
    return s;
}

static void test_dump__a_change_of_a_column_is_seen(void **state)
{
    (void)state;
    make_state();
    SEES(x->row_version++);
    SEES(x->seq++);
    SEES(x->checkpoint_seq++);
    SEES(x->log_bytes++);
    SEES(x->deadline_at_us++);
    SEES(x->wake_at_us++);
    SEES(x->stop_requested = true);
    SEES(x->crash_count++);
    SEES(x->context_bytes++);
    SEES(x->status = STATUS_RUNNING);
    SEES(x->key = STR("k"));
    SEES(x->org_id = STR("o"));
    SEES(x->user_json = STR("{}"));
    SEES(x->input_json = STR("{}"));
    SEES(x->error_json = STR("{}"));
    SEES(x->result_json = STR("{}"));
    SEES(x->waiting_for_json = STR("{}"));
    SEES(x->waiting_kind = WAITING_CHILD);
}

static void test_dump__a_change_of_where_it_stands_is_seen(void **state)
{
    static const struct rollback rollback = {.end = STATUS_FAILED};
    static const struct pause pause = {.since_us = 1};

    (void)state;
    make_state();
    SEES(x->cursor.step--);
    SEES(x->cursor.phase = PHASE_HELD);
    SEES(x->cursor.visit++);
    SEES(x->cursor.attempt++);
    SEES(x->cursor.wake_at_us++);
    SEES(x->cursor.timeout_at_us++);
    SEES(x->cursor.types_json = STR("[]"));
    SEES(x->cursor.tries++);
    SEES(own_frames(x)[0].index++);
    SEES(own_frames(x)[0].visit++);
    SEES(x->frame_count = 0);
    SEES(x->jumps++);
    SEES(x->rollback = &rollback);
    SEES(x->pause = &pause);
    SEES(x->cursor.deferred_seq++);
    SEES(x->cursor.deferred_answer_json = STR("{}"));
}

static void test_dump__a_change_of_what_it_holds_is_seen(void **state)
{
    static const struct past_visit past = {.visit = 1};

    (void)state;
    make_state();
    SEES(state_drop_step(x, 0));
    SEES(x->steps[0].visit++);
    SEES(x->steps[0].error = value_null());
    SEES(x->steps[0].error_json = STR("null"));
    SEES(x->steps[1].output = value_null());
    SEES(x->variables = value_map_empty());
    SEES(x->variables_json = STR("{}"));
    SEES(x->last_done++);
    SEES(x->past_visits = &past);
    SEES(x->has_new_input = true);
    SEES(state_add_compensated(&rig.mem, x, STR("v"), true));
    SEES(state_add_compensated(&rig.mem, x, STR("v"), false));
    SEES(x->loops = NULL);
    SEES(own_loop(x)->list = value_absent());
    SEES(own_loop(x)->collected = (struct items){0});
    SEES(*(struct value *)(void *)own_loop(x)->collected.list.chunks[0]->items = value_int(7));
    SEES(own_loop(x)->errors = x->loops->collected);
    SEES(x->signals = (struct signals){0});
    SEES(own_signal(x)->is_taken ^= true);
    SEES(own_signal(x)->received_at_us++);
    SEES(own_signal(x)->view = value_null());
    SEES(own_signal(x)->json = STR("{}"));
}

/* What a value is, not only what it equals. */
static void test_dump__a_change_of_a_kind_of_value_is_seen(void **state)
{
    (void)state;
    make_state();
    SEES(x->input = rig_value(&rig, "{'k':[1.0,{'z':2}]}"));
    SEES(x->input = rig_value(&rig, "{'k':[1,{'z':'2'}]}"));
    SEES(x->input = rig_value(&rig, "{'k':[1,{'y':2}]}"));
    SEES(x->input = rig_value(&rig, "{'k':[1,{'z':2}],'l':null}"));
    SEES(x->input = rig_value(&rig, "{'k':[1]}"));
    SEES(x->input = value_list(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_dump__a_change_of_a_column_is_seen),
        CLAIM(test_dump__a_change_of_where_it_stands_is_seen),
        CLAIM(test_dump__a_change_of_what_it_holds_is_seen),
        CLAIM(test_dump__a_change_of_a_kind_of_value_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
