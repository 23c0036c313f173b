/* test_snapshot_retention.c - snapshots that no execution has go, through the real node. */
#include "base/clock.h"
#include "node/node.h"
#include "store/change_execution.h"
#include "store/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR_US INT64_C(3600000000)
#define DAY_US (24 * HOUR_US)

struct fixture {
    char path[128];
    struct node *node;
    struct arena mem;
    struct clock_manual clock;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct node_options options = {.clock = &f->clock.clock, .keep_snapshots_us = 7 * DAY_US};
    const char *folder = getenv("TMPDIR");
    struct err err;

    (void)snprintf(f->path, sizeof(f->path), "%s/pawl-test-XXXXXX",
                   folder != NULL ? folder : "/tmp");
    assert_non_null(mkdtemp(f->path));
    arena_init(&f->mem);
    clock_manual_init(&f->clock, INT64_C(1700000000000000));
    options.data_path = str_of(f->path);
    f->node = node_open(&options, &err);
    if (f->node == NULL)
        fail_msg("%s", err.message);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[160];

    node_close(f->node);
    arena_fini(&f->mem);
    (void)snprintf(command, sizeof(command), "rm -rf %s", f->path);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

/* --- asking the node --- */

static void pass_until(struct fixture *f, const bool *done)
{
    int64_t until_us = clock_mono_us(&clock_system) + INT64_C(120) * 1000000;

    while (!*done && clock_mono_us(&clock_system) < until_us) {
        (void)node_pass(f->node);
        usleep(100);
    }
    assert_true(*done);
}

static void set_done(struct node_request *r)
{
    *(bool *)r->owner = true;
}

static void ask(struct fixture *f, struct node_request *r)
{
    bool done = false;
    struct err err;

    r->mem = &f->mem;
    r->done = set_done;
    r->owner = &done;
    r->user = (struct node_user){.id = STR("u1"), .name = STR("Ada"), .role = STR("admin")};
    assert_true(node_submit(f->node, r, &err));
    pass_until(f, &done);
    if (!r->ok)
        fail_msg("%s", r->err.message);
}

static void define(struct fixture *f, const char *kind, const char *code, const char *text)
{
    struct node_request r = {.kind = NODE_DEFINITION};
    bool is_process = strcmp(kind, "scenario") == 0;

    r.definition = (struct definition_change){
        .action = is_process ? DEFINITION_PUBLISH : DEFINITION_PUT,
        .is_process = is_process,
        .kind = str_of(kind),
        .code = str_of(code),
        .name = str_of(code),
        .text = str_of(text),
        .user_id = STR("u1"),
        .if_match = -1,
        .now_us = clock_wall_us(&f->clock.clock),
    };
    ask(f, &r);
}

/* An execution with this body of the function `rate`: its snapshot names that version. */
static struct uuid start_with(struct fixture *f, const char *body)
{
    struct node_request r = {.kind = NODE_START, .code = STR("job")};

    define(f, "function", "rate",
           str_printf(&f->mem,
                      "{\"params\":[{\"name\":\"x\",\"type\":\"number\"}],\"body\":\"%s\"}", body)
               .ptr);
    define(f, "scenario", "job",
           "{\"code\":\"job\",\"steps\":[{\"code\":\"a\",\"procedure\":{\"type\":"
           "\"compute.transform\",\"data\":{\"n\":\"=fn.rate(1)\"}}}]}");
    r.input = value_map_empty();
    ask(f, &r);
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

    ask(f, &r);
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
    pass_until(f, &q->done);
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
        clock_manual_advance(&f->clock, HOUR_US / 2);
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
        r.input = value_map_empty();
        ask(f, &r);
        delete_execution(f, r.id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_snapshots__that_no_execution_has_go_after_a_week,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_snapshots__that_are_in_use_stay_though_no_execution_stays, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("snapshot_retention", tests, NULL, NULL);
}
