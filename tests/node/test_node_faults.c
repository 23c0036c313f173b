/* test_node_faults.c - the node on a store that fails: claims about what is not lost. */
#include "base/clock.h"
#include "node/node.h"
#include "value/json.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { STORE_WAIT_MS = 120000 };

/* A real store that can be told to fail. */
struct faulty {
    struct store base;
    struct store *real;
    struct mailbox done;
    int failing_reads;   /* how many of the next reads find the queue full */
    int failing_batches; /* how many of the next batches are refused */
};

struct fixture {
    char path[128];
    struct faulty store;
    struct node *node;
    struct arena mem;
    struct clock_manual clock;
};

static bool faulty_submit(struct store *base, struct batch *batch)
{
    struct faulty *s = (struct faulty *)base;

    if (s->failing_batches == 0)
        return store_submit(s->real, batch);
    s->failing_batches--;
    batch->end = BATCH_REFUSED;
    (void)err_set(&batch->err, ERR_IO, "no space left");
    assert_true(mailbox_reserve(&s->done));
    mailbox_put_reserved(&s->done, batch);
    return true;
}

static bool faulty_read(struct store *base, struct store_task *task)
{
    struct faulty *s = (struct faulty *)base;

    if (s->failing_reads == 0)
        return store_read(s->real, task);
    s->failing_reads--;
    return false;
}

static void faulty_close(struct store *base)
{
    (void)base;
}

static void open_all(struct fixture *f)
{
    static const struct store_ops ops = {
        .submit = faulty_submit, .read = faulty_read, .close = faulty_close};
    struct store_options store_options = {.data_path = str_of(f->path), .done = &f->store.done};
    struct node_options options = {.data_path = str_of(f->path),
                                   .clock = &f->clock.clock,
                                   .store = &f->store.base,
                                   .done = &f->store.done,
                                   .cache_bytes = 1};
    struct err err;

    f->store.base.ops = &ops;
    assert_true(mailbox_init(&f->store.done, 1024, &err));
    f->store.real = store_open(&store_options, &err);
    if (f->store.real == NULL)
        fail_msg("%s", err.message);
    f->node = node_open(&options, &err);
    if (f->node == NULL)
        fail_msg("%s", err.message);
}

static void close_all(struct fixture *f)
{
    store_close(f->store.real);
    node_close(f->node);
    mailbox_fini(&f->store.done);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    const char *folder = getenv("TMPDIR");

    (void)snprintf(f->path, sizeof(f->path), "%s/pawl-test-XXXXXX",
                   folder != NULL ? folder : "/tmp");
    assert_non_null(mkdtemp(f->path));
    arena_init(&f->mem);
    clock_manual_init(&f->clock, INT64_C(1700000000000000));
    open_all(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[200];

    close_all(f);
    arena_fini(&f->mem);
    (void)snprintf(command, sizeof(command), "rm -rf %s", f->path);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static void set_done(struct node_request *r)
{
    *(bool *)r->owner = true;
}

/* Whether the store has still to give something back. */
static bool is_busy(struct mailbox *done)
{
    bool busy;

    pthread_mutex_lock(&done->lock);
    busy = done->reserved > 0 || done->count > 0;
    pthread_mutex_unlock(&done->lock);
    return busy;
}

/* Time stands still until the store has done what it was given, however slow the disk is. */
static void pass(struct fixture *f, int64_t us)
{
    struct pollfd ready = {.fd = mailbox_fd(&f->store.done), .events = POLLIN};

    clock_manual_advance(&f->clock, us);
    (void)node_pass(f->node);
    while (is_busy(&f->store.done)) {
        assert_int_equal(poll(&ready, 1, STORE_WAIT_MS), 1);
        (void)node_pass(f->node);
    }
}

/* Submit a request and pass until it is answered; each pass takes `step_us` of its time. */
static void ask_slowly(struct fixture *f, struct node_request *r, int64_t step_us)
{
    bool done = false;
    struct err err;

    r->mem = &f->mem;
    r->done = set_done;
    r->owner = &done;
    r->user = (struct node_user){.id = STR("u1"), .name = STR("Ada"), .role = STR("admin")};
    assert_true(node_submit(f->node, r, &err));
    for (int i = 0; i < 20000 && !done; i++)
        pass(f, step_us);
    assert_true(done);
}

static void publish(struct fixture *f, const char *code, const char *text)
{
    struct node_request r = {.kind = NODE_DEFINITION};

    r.definition = (struct definition_change){.action = DEFINITION_PUBLISH,
                                              .is_process = true,
                                              .kind = STR("scenario"),
                                              .code = str_of(code),
                                              .name = str_of(code),
                                              .text = str_of(text),
                                              .user_id = STR("u1"),
                                              .if_match = -1,
                                              .now_us = clock_wall_us(&f->clock.clock)};
    ask_slowly(f, &r, 0);
    if (!r.ok)
        fail_msg("%s", r.err.message);
}

static const char nap[] =
    "{\"code\":\"nap\",\"steps\":["
    "{\"code\":\"sleep\",\"procedure\":{\"type\":\"wait.timer\",\"duration\":\"90s\"}}]}";

static struct uuid start_nap(struct fixture *f)
{
    struct node_request r = {.kind = NODE_START, .code = STR("nap")};

    publish(f, "nap", nap);
    r.input = value_map_empty();
    ask_slowly(f, &r, 0);
    assert_true(r.ok);
    return r.id;
}

/* Whether an execution ends within `within_us`. */
static bool ends(struct fixture *f, struct uuid id, int64_t within_us)
{
    struct node_request r = {.kind = NODE_WAIT, .execution = id, .wait_us = within_us};

    ask_slowly(f, &r, 10000);
    if (!r.ok)
        fail_msg("%s", r.err.message);
    return r.ended;
}

static void test_node__a_timer_is_not_lost_when_its_execution_cannot_be_read(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);

    for (int i = 0; i < 80; i++)
        pass(f, 1000000);
    /* The heap knows it, its execution is not in memory, and due in 10 s. */
    f->store.failing_reads = 1;
    for (int i = 0; i < 20000 && f->store.failing_reads > 0; i++)
        pass(f, 10000);
    assert_int_equal(f->store.failing_reads, 0);
    assert_true(ends(f, id, 60000000));
}

static void test_node__timers_are_found_when_the_first_look_fails(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);

    close_all(f);
    open_all(f);
    f->store.failing_reads = 3;
    for (int i = 0; i < 20000 && f->store.failing_reads > 0; i++)
        pass(f, 1000);
    assert_int_equal(f->store.failing_reads, 0);
    assert_true(ends(f, id, 100000000));
}

static void test_node__a_timer_fires_in_time_after_the_clock_was_set_back(void **state)
{
    struct fixture *f = *state;
    struct uuid id;

    for (int i = 0; i < 100; i++)
        pass(f, 1000);
    clock_manual_set_wall(&f->clock, clock_wall_us(&f->clock.clock) - INT64_C(86400) * 1000000);
    id = start_nap(f);
    assert_true(ends(f, id, 100000000));
}

static void test_node__a_read_that_finds_the_queue_full_is_sent_again(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);
    struct node_request r = {.kind = NODE_WAIT, .execution = id, .wait_us = 1000000};

    f->store.failing_reads = 3;
    ask_slowly(f, &r, 10000);
    assert_int_equal(f->store.failing_reads, 0);
    assert_true(r.ok);
    assert_false(r.ended);
}

static void test_node__a_wait_ends_in_time_though_a_commit_was_refused(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);
    struct node_request wait = {.kind = NODE_WAIT, .execution = id, .wait_us = 30000000};
    struct node_request cancel = {.kind = NODE_CANCEL, .execution = id};
    struct err err;
    bool done = false;

    wait.mem = &f->mem;
    wait.done = set_done;
    wait.owner = &done;
    assert_true(node_submit(f->node, &wait, &err));
    for (int i = 0; i < 100; i++)
        pass(f, 1000);
    f->store.failing_batches = 100;
    ask_slowly(f, &cancel, 10000);
    assert_false(cancel.ok);
    assert_false(done);
    for (int i = 0; i < 20000 && !done; i++)
        pass(f, 10000);
    assert_true(done);
    assert_true(wait.ok);
    assert_false(wait.ended);
}

/* As a process does that dies while it advances an execution. */
static void leave_poison(struct fixture *f, struct uuid id)
{
    char path[200];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/poison", f->path);
    file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fwrite(id.bytes, sizeof(id.bytes), 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void test_node__a_crash_is_counted_once(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);

    close_all(f);
    leave_poison(f, id);
    for (int i = 0; i < 6; i++) {
        open_all(f);
        for (int k = 0; k < 200; k++)
            pass(f, 0);
        close_all(f);
    }
    open_all(f);
    assert_true(ends(f, id, 100000000));
}

static void test_node__a_store_that_refuses_the_count_of_a_crash_stops_nothing(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);

    close_all(f);
    leave_poison(f, id);
    f->store.failing_batches = 1;
    open_all(f);
    assert_true(ends(f, id, 100000000));
    assert_int_equal(f->store.failing_batches, 0);
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(test_node__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CLAIM(a_timer_is_not_lost_when_its_execution_cannot_be_read),
        CLAIM(timers_are_found_when_the_first_look_fails),
        CLAIM(a_timer_fires_in_time_after_the_clock_was_set_back),
        CLAIM(a_read_that_finds_the_queue_full_is_sent_again),
        CLAIM(a_wait_ends_in_time_though_a_commit_was_refused),
        CLAIM(a_crash_is_counted_once),
        CLAIM(a_store_that_refuses_the_count_of_a_crash_stops_nothing),
    };

    return cmocka_run_group_tests_name("node_faults", tests, NULL, NULL);
}
