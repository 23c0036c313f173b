/* test_snapshot_retention.c - snapshots that no execution has go, through the real node. */
#include "node/node_rig.h"
#include "store/change_retention.h"
#include "store/read_definition.h"
#include "store/read_execution.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR_US INT64_C(3600000000)
#define DAY_US (24 * HOUR_US)

static int set_up(void **state)
{
    return node_rig_open(state, (struct node_options){.keep_snapshots_us = 7 * DAY_US});
}

/* --- asking the node --- */

/* An execution with this body of the function `rate`: its snapshot names that version. */
static struct uuid start_with(struct fixture *f, const char *body)
{
    struct node_request r = {.kind = NODE_START, .code = STR("job")};

    node_rig_define(
        f, "function", "rate",
        str_printf(&f->mem, "{\"params\":[{\"name\":\"x\",\"type\":\"number\"}],\"body\":\"%s\"}",
                   body)
            .ptr);
    node_rig_define(f, "scenario", "job",
                    "{\"code\":\"job\",\"steps\":[{\"code\":\"a\",\"procedure\":{\"type\":"
                    "\"compute.transform\",\"data\":{\"n\":\"=fn.rate(1)\"}}}]}");
    r.event.input = value_map_empty();
    node_rig_ask(f, &r, &f->mem);
    return r.id;
}

static void delete_execution(struct fixture *f, struct uuid id)
{
    struct execution_purge purge = {
        .change = {.apply = execution_purge_apply, .now_us = clock_wall_us(&f->clock.clock)},
        .ids = &id,
        .count = 1,
        .before_us = INT64_MAX};
    struct node_request r = {.kind = NODE_CHANGE, .change = &purge.change};

    node_rig_ask(f, &r, &f->mem);
    assert_int_equal(purge.deleted, 1);
}

/* --- reading --- */

struct question {
    struct fixture *fixture;
    struct uuid id;  /* of an execution, or ... */
    struct str hash; /* ... of a snapshot */
    bool found, done;
};

static void run_question(struct node_read *read, struct reader *reader)
{
    struct question *q = read->owner;
    struct stored_execution stored;
    struct str pins;
    struct err err;

    if (q->hash.len > 0) {
        assert_true(read_snapshot(reader, &q->fixture->mem, q->hash, &pins, &q->found, &err));
        return;
    }
    assert_true(read_execution(reader, &q->fixture->mem, q->id, &stored, &q->found, &err));
    q->hash = stored.snapshot;
}

static void end_question(struct node_read *read)
{
    ((struct question *)read->owner)->done = true;
}

static void ask_store(struct fixture *f, struct question *q)
{
    struct node_read read = {.run = run_question, .done = end_question, .owner = q};
    struct err err;

    q->fixture = f;
    assert_true(node_read(f->node, &read, &err));
    node_rig_pass_until(f, &q->done);
}

static struct str snapshot_of(struct fixture *f, struct uuid id)
{
    struct question q = {.id = id};

    ask_store(f, &q);
    assert_true(q.found && q.hash.len > 0);
    return q.hash;
}

static bool is_kept(struct fixture *f, struct str hash)
{
    struct question q = {.hash = hash};

    ask_store(f, &q);
    return q.found;
}

/* Let a day pass, and the node do what is due then. */
static void pass_day(struct fixture *f)
{
    for (int i = 0; i < 48; i++) {
        node_rig_advance(f, HOUR_US / 2);
        for (int k = 0; k < 5; k++) {
            (void)node_pass(f->node);
            usleep(200);
        }
    }
}

/* --- claims --- */

static void test_snapshots__that_no_execution_has_go_after_a_week(void **state)
{
    struct fixture *f = *state;
    struct uuid kept = start_with(f, "x + 1"), gone = start_with(f, "x + 2");
    struct str used = snapshot_of(f, kept), unused = snapshot_of(f, gone);
    int days = 0;

    assert_false(str_eq(used, unused));
    delete_execution(f, gone);
    for (; days < 6; days++)
        pass_day(f);
    assert_true(is_kept(f, unused));
    for (; days < 30 && is_kept(f, unused); days++)
        pass_day(f);
    assert_false(is_kept(f, unused));
    assert_true(is_kept(f, used));
    /* The last version that was published: a start brings its snapshot back. */
    gone = start_with(f, "x + 2");
    assert_true(is_kept(f, snapshot_of(f, gone)));
}

/* Executions begin with it and are deleted every day: nobody has it whenever a sweep comes by. */
static void test_snapshots__that_are_in_use_stay_though_no_execution_stays(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_with(f, "x + 1");
    struct str used = snapshot_of(f, id);

    delete_execution(f, id);
    for (int days = 0; days < 20; days++) {
        struct node_request r = {.kind = NODE_START, .code = STR("job")};

        pass_day(f);
        assert_true(is_kept(f, used));
        r.event.input = value_map_empty();
        node_rig_ask(f, &r, &f->mem);
        delete_execution(f, r.id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_snapshots__that_no_execution_has_go_after_a_week,
                                        set_up, node_rig_close),
        cmocka_unit_test_setup_teardown(
            test_snapshots__that_are_in_use_stay_though_no_execution_stays, set_up, node_rig_close),
    };

    return cmocka_run_group_tests_name("snapshot_retention", tests, NULL, NULL);
}
