/* test_minutes.c - minutes of figures: counted, stored, there after a restart; quantiles. */
#include "node/chore/minutes.h"
#include "node/meter.h"
#include "node/node_rig.h"
#include "store/change_retention.h"
#include "store/read_stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define ORG "00000000-0000-0000-0000-0000000000aa"
#define START_US (INT64_C(1700000040) * 1000000)

static struct meters meters;

static int set_up(void **state)
{
    struct fixture *f;

    meters_init(&meters);
    (void)node_rig_open(state, (struct node_options){.meters = &meters});
    f = *state;
    f->user.org_id = STR(ORG);
    clock_manual_advance(&f->clock, START_US - clock_wall_us(&f->clock.clock));
    return 0;
}

static int tear_down(void **state)
{
    (void)node_rig_close(state);
    meters_fini(&meters);
    return 0;
}

/* What is stored of the first minute. */
struct stored {
    struct node_read read;
    struct arena *mem;
    struct minute minute;
    struct minute_waiting waiting;
    int rows, rows_of_all;
    bool is_done;
};

static bool take_row(void *context, struct arena *mem, int64_t at_us, bool is_of_all,
                     struct str data_json)
{
    struct stored *s = context;

    assert_int_equal(at_us % MINUTE_US, 0);
    s->rows++;
    s->rows_of_all += is_of_all;
    return is_of_all ? minute_read_waiting(mem, data_json, &s->waiting)
                     : minute_read(mem, data_json, &s->minute);
}

static void run_read(struct node_read *read, struct reader *reader)
{
    struct stored *s = read->owner;
    struct err err;

    if (!read_stats(reader, s->mem, START_US, START_US + MINUTE_US, STR(ORG), take_row, s, &err))
        fail_msg("%s", err.message);
}

static void done_read(struct node_read *read)
{
    ((struct stored *)read->owner)->is_done = true;
}

static void read_once(struct fixture *f, struct stored *s)
{
    struct err err;

    *s = (struct stored){.mem = &f->mem};
    s->read =
        (struct node_read){.lane = LANE_CLIENT, .run = run_read, .done = done_read, .owner = s};
    assert_true(node_read(f->node, &s->read, &err));
    while (!s->is_done) {
        (void)node_pass(f->node);
        usleep(100);
    }
}

/* Ask the store until it has the rows: writing them takes a read and a batch. */
static void read_minute(struct fixture *f, struct stored *s)
{
    for (int tries = 0; tries < 10000; tries++) {
        read_once(f, s);
        if (s->rows > 0)
            return;
    }
    fail_msg("nothing was stored");
}

static void test_minutes__what_began_and_ended_is_stored_when_the_minute_is_over(void **state)
{
    struct fixture *f = *state;
    const struct stats_rows none = {0};
    struct stats_change purge;
    struct minute now = {0};
    struct stored s;
    int64_t at_us;

    node_rig_define(f, "scenario", "well",
                    "{\"code\":\"well\",\"steps\":[{\"code\":\"a\",\"procedure\":{\"type\":"
                    "\"compute.transform\",\"data\":{\"n\":1}}}]}");
    node_rig_define(f, "scenario", "ill",
                    "{\"code\":\"ill\",\"steps\":[{\"code\":\"a\",\"procedure\":{\"type\":"
                    "\"compute.fail\",\"code\":\"no\",\"message\":\"no\"}}]}");
    node_rig_define(f, "scenario", "waits",
                    "{\"code\":\"waits\",\"steps\":[{\"code\":\"a\",\"procedure\":{\"type\":"
                    "\"wait.signal\",\"signalType\":\"go\"}}]}");
    (void)node_rig_start(f, "well");
    (void)node_rig_start(f, "well");
    (void)node_rig_start(f, "ill");
    (void)node_rig_start(f, "waits");
    minutes_now(f->node, STR(ORG), &at_us, &now);
    assert_int_equal(at_us, START_US);
    assert_int_equal(now.started, 4);
    clock_manual_advance(&f->clock, MINUTE_US);
    read_minute(f, &s);
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.rows_of_all, 1);
    assert_int_equal(s.minute.started, 4);
    assert_int_equal(s.minute.completed, 2);
    assert_int_equal(s.minute.failed, 1);
    assert_int_equal(s.minute.cancelled, 0);
    assert_int_equal(s.minute.latency[0], 3);
    assert_int_equal(s.waiting.executions[WAITING_SIGNAL], 1);
    now = (struct minute){0};
    minutes_now(f->node, STR(ORG), &at_us, &now);
    assert_int_equal(at_us, START_US + MINUTE_US);
    assert_int_equal(now.started, 0);

    /* Another process finds it. */
    node_rig_reopen(f);
    read_minute(f, &s);
    assert_int_equal(s.minute.started, 4);

    /* It is forgotten in the end. */
    purge = (struct stats_change){
        .change = {.apply = stats_change_apply}, .rows = &none, .before_us = START_US + MINUTE_US};
    node_rig_ask(f, &(struct node_request){.kind = NODE_CHANGE, .change = &purge.change}, &f->mem);
    read_once(f, &s);
    assert_int_equal(s.rows, 0);
}

static void test_minutes__a_quantile_is_right_to_a_tenth(void **state)
{
    struct arena mem;

    (void)state;
    arena_init(&mem);
    for (int64_t us = 1; us < INT64_C(30000000000000); us = us * 3 / 2 + 1) {
        struct minute m = {0};
        struct str json;
        int64_t found;

        for (int bucket = 0; bucket < LATENCY_BUCKETS; bucket++) {
            json = str_printf(&mem, "{\"latency\":{\"%d\":1}}", bucket);
            m = (struct minute){0};
            assert_true(minute_read(&mem, json, &m));
            found = minute_quantile(&m, 50);
            if (found >= us - us / 8 - 1 && found <= us + us / 8 + 1)
                break;
            found = -1;
        }
        if (found < 0)
            fail_msg("no bucket is near %lld", (long long)us);
    }
    arena_fini(&mem);
}

static void test_minutes__quantiles_of_nothing_and_of_many(void **state)
{
    struct minute m = {0};

    (void)state;
    assert_int_equal(minute_quantile(&m, 50), -1);
    m.latency[1] = 98;
    m.latency[2] = 1;
    m.latency[3] = 1;
    assert_int_equal(minute_quantile(&m, 50), 1);
    assert_int_equal(minute_quantile(&m, 95), 1);
    assert_int_equal(minute_quantile(&m, 99), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_minutes__what_began_and_ended_is_stored_when_the_minute_is_over, set_up,
            tear_down),
        cmocka_unit_test(test_minutes__a_quantile_is_right_to_a_tenth),
        cmocka_unit_test(test_minutes__quantiles_of_nothing_and_of_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
