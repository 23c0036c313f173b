/* test_node_several.c - two nodes on one PostgreSQL: what one answers of what the other has changed. */
#include "base/folder.h"
#include "base/log.h"
#include "base/time/clock.h"
#include "node/node.h"
#include "node/request.h"
#include "store/change_definition.h"
#include "store/db/db.h"
#include "store/private_postgres.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char paths[2][FOLDER_PATH_MAX];
    struct str url;
    struct node *nodes[2];
    struct arena mem;
    struct clock_manual clock;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct node_options options = {.clock = &f->clock.clock, .store_url = private_postgres_fresh()};
    struct err err;

    f->url = options.store_url;
    arena_init(&f->mem);
    clock_manual_init(&f->clock, INT64_C(1700000000000000));
    for (unsigned i = 0; i < 2; i++) {
        folder_make(f->paths[i]);
        options.data_path = str_of(f->paths[i]);
        f->nodes[i] = node_open(&options, &err);
        if (f->nodes[i] == NULL)
            fail_msg("%s", err.message);
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 2; i++) {
        node_close(f->nodes[i]);
        folder_drop(f->paths[i]);
    }
    arena_fini(&f->mem);
    free(f);
    return 0;
}

static void set_done(struct node_request *r)
{
    *(bool *)r->owner = true;
}

static void submit(struct fixture *f, unsigned node, struct node_request *r, bool *done)
{
    struct err err;

    *done = false;
    r->mem = &f->mem;
    r->done = set_done;
    r->owner = done;
    r->user = (struct node_user){.id = STR("u1"), .name = STR("Ada"), .role = STR("admin")};
    r->event.by = value_map_empty();
    assert_true(node_submit(f->nodes[node], r, &err));
}

/* Let a node work until a request is answered. */
static void pass_until(struct fixture *f, unsigned node, const bool *done)
{
    int64_t until_us = clock_mono_us(&clock_system) + INT64_C(120) * 1000000;

    while (!*done && clock_mono_us(&clock_system) < until_us) {
        (void)node_pass(f->nodes[node]);
        usleep(100);
    }
    assert_true(*done);
}

static void ask(struct fixture *f, unsigned node, struct node_request *r)
{
    bool done;

    submit(f, node, r, &done);
    pass_until(f, node, &done);
}

/* An execution that waits for a signal, and that the first node has in memory. */
static struct uuid start_waiting(struct fixture *f)
{
    struct node_request publish = {.kind = NODE_DEFINITION},
                        start = {.kind = NODE_START, .code = STR("w")};

    publish.definitions = &(struct definition_change){
        .action = DEFINITION_PUBLISH,
        .is_process = true,
        .kind = STR("scenario"),
        .code = STR("w"),
        .name = STR("w"),
        .text = STR("{\"code\":\"w\",\"steps\":[{\"code\":\"s\",\"procedure\":"
                    "{\"type\":\"wait.signal\",\"signalType\":\"go\"}}]}"),
        .user_id = STR("u1"),
        .if_match = MATCH_WHATEVER,
        .now_us = clock_wall_us(&f->clock.clock),
    };
    start.event.input = value_map_empty();
    ask(f, 0, &publish);
    assert_true(publish.ok);
    ask(f, 0, &start);
    assert_true(start.ok);
    return start.id;
}

static struct uuid start_again(struct fixture *f)
{
    struct node_request start = {.kind = NODE_START, .code = STR("w")};

    start.event.input = value_map_empty();
    ask(f, 0, &start);
    assert_true(start.ok);
    return start.id;
}

static void test_nodes__refusal_rests_on_what_another_node_has_made(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_waiting(f);
    struct node_request pause = {.kind = NODE_EVENT, .event.kind = EVENT_PAUSE, .execution = id},
                        resume = {.kind = NODE_EVENT, .event.kind = EVENT_RESUME, .execution = id},
                        again = resume;

    ask(f, 1, &pause);
    assert_true(pause.ok);
    /* In the memory of this node it is not paused. */
    ask(f, 0, &resume);
    assert_true(resume.ok);
    ask(f, 1, &again);
    assert_false(again.ok);
    assert_int_equal(again.err.code, ERR_CONFLICT);
}

static void test_nodes__wait_is_answered_with_what_another_node_has_made(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_waiting(f);
    struct node_request wait = {.kind = NODE_WAIT, .execution = id, .wait_us = 1000000},
                        cancel = {.kind = NODE_EVENT, .event.kind = EVENT_CANCEL, .execution = id};
    bool done;

    submit(f, 0, &wait, &done);
    for (unsigned i = 0; i < 3; i++)
        (void)node_pass(f->nodes[0]);
    ask(f, 1, &cancel);
    assert_true(cancel.ok);
    assert_false(done);
    clock_manual_advance(&f->clock, 2000000);
    pass_until(f, 0, &done);
    assert_true(wait.ok && wait.ended);
}

/* Long before its time is up: what is waited for is looked at every second. */
static void test_nodes__wait_is_told_within_a_second_of_the_end_that_another_node_made(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_waiting(f), other = start_again(f);
    struct node_request wait = {.kind = NODE_WAIT, .execution = id, .wait_us = 60000000},
                        longer = {.kind = NODE_WAIT, .execution = other, .wait_us = 60000000},
                        cancel = {.kind = NODE_EVENT, .event.kind = EVENT_CANCEL, .execution = id};
    bool done, longer_done;

    submit(f, 0, &wait, &done);
    submit(f, 0, &longer, &longer_done);
    for (unsigned i = 0; i < 3; i++)
        (void)node_pass(f->nodes[0]);
    ask(f, 1, &cancel);
    assert_true(cancel.ok);
    assert_false(done);
    clock_manual_advance(&f->clock, 1100000);
    pass_until(f, 0, &done);
    assert_true(wait.ok && wait.ended);
    assert_false(longer_done);
    cancel.execution = other;
    ask(f, 1, &cancel);
    clock_manual_advance(&f->clock, 1100000);
    pass_until(f, 0, &longer_done);
    assert_true(longer.ok && longer.ended);
}

/* Another node writes a row only for a moment: that is no reason to send a client away. */
static void test_nodes__row_that_another_session_writes_is_tried_again(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_waiting(f);
    struct node_request signal = {.kind = NODE_EVENT,
                                  .event.kind = EVENT_SIGNAL,
                                  .execution = id,
                                  .event.signal_type = STR("go")};
    struct node_stats stats = {0};
    struct db *other;
    struct err err;
    bool done;

    other = db_postgres_open(f->url, DB_WRITE, STR("other"), NULL, &err);
    assert_non_null(other);
    assert_int_equal(db_script(other, "BEGIN; SELECT 1 FROM execution FOR UPDATE"), DB_DONE);
    signal.event.signal_payload = value_null();
    submit(f, 0, &signal, &done);
    while (!done && stats.members_refused == 0) {
        (void)node_pass(f->nodes[0]);
        node_stats(f->nodes[0], &stats);
        usleep(100);
    }
    assert_int_equal(db_script(other, "ROLLBACK"), DB_DONE);
    /* It rests a little by the clock of the node before it comes again. */
    clock_manual_advance(&f->clock, 1000000);
    pass_until(f, 0, &done);
    if (!signal.ok)
        fail_msg("%s", signal.err.message);
    db_close(other);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CLAIM(test_nodes__refusal_rests_on_what_another_node_has_made),
        CLAIM(test_nodes__wait_is_answered_with_what_another_node_has_made),
        CLAIM(test_nodes__wait_is_told_within_a_second_of_the_end_that_another_node_made),
        CLAIM(test_nodes__row_that_another_session_writes_is_tried_again),
    };
    int failed;

    log_to(STDERR_FILENO, LOG_ERROR, &clock_system);
    if (!private_postgres_share())
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    private_postgres_end();
    return failed;
}
