/* test_node_faults.c - the node on a store that fails: claims about what is not lost. */
#include "base/folder.h"
#include "base/time/clock.h"
#include "node/node.h"
#include "node/request.h"
#include "store/change_definition.h"
#include "store/store.h"
#include "value/json.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sqlite3.h>
#include <cmocka.h>

enum { STORE_WAIT_MS = 120000, MANY = 100000 };

/* A real store that can be told to fail. */
struct faulty {
    struct store base;
    struct store *real;
    struct mailbox done;
    int failing_reads;   /* how many of the next reads find the queue full */
    int failing_batches; /* how many of the next batches are refused */
    bool is_silent;      /* the next batch is kept back */
    struct batch *kept_back;
};

struct fixture {
    char path[FOLDER_PATH_MAX];
    struct faulty store;
    struct node *node;
    struct arena mem;
    struct clock_manual clock;
    bool has_nap; /* it is published */
};

static bool faulty_submit(struct store *base, struct batch *batch)
{
    struct faulty *s = (struct faulty *)base;

    if (s->is_silent && s->kept_back == NULL) {
        s->kept_back = batch;
        return true;
    }
    if (s->failing_batches == 0)
        return store_submit(s->real, batch);
    s->failing_batches--;
    batch->end = BATCH_REFUSED;
    (void)err_set(&batch->err, ERR_IO, "no space left");
    assert_true(mailbox_reserve(&s->done));
    mailbox_put_reserved(&s->done, batch);
    return true;
}

static bool faulty_read(struct store *base, struct store_read *task)
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

    folder_make(f->path);
    arena_init(&f->mem);
    clock_manual_init(&f->clock, INT64_C(1700000000000000));
    open_all(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    close_all(f);
    arena_fini(&f->mem);
    folder_drop(f->path);
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

    r.definitions = &(struct definition_change){.action = DEFINITION_PUBLISH,
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

    if (!f->has_nap)
        publish(f, "nap", nap);
    f->has_nap = true;
    r.event.input = value_map_empty();
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
    struct node_request cancel = {.kind = NODE_EVENT, .event.kind = EVENT_CANCEL, .execution = id};
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
    f->store.failing_batches = 0;
    for (int i = 0; i < 20000 && !done; i++)
        pass(f, 10000);
    assert_true(done);
    assert_true(wait.ok);
    assert_false(wait.ended);
}

/* Submit a request that is waited for; *done when it is answered. */
static void begin(struct fixture *f, struct node_request *r, bool *done)
{
    struct err err;

    r->mem = &f->mem;
    r->done = set_done;
    r->owner = done;
    r->user = (struct node_user){.id = STR("u1"), .name = STR("Ada"), .role = STR("admin")};
    *done = false;
    assert_true(node_submit(f->node, r, &err));
}

static void test_node__a_wait_ends_in_time_though_the_store_takes_nothing(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);
    struct node_request start = {.kind = NODE_START, .code = STR("nap"), .wait_us = 1000000};
    struct node_request wait = {.kind = NODE_WAIT, .execution = id, .wait_us = 1000000};
    bool has_started, has_waited;

    start.event.input = value_map_empty();
    begin(f, &start, &has_started);
    begin(f, &wait, &has_waited);
    for (int i = 0; i < 20; i++)
        pass(f, 1000);
    f->store.failing_batches = MANY;
    for (int i = 0; i < 800; i++)
        pass(f, 10000);
    f->store.failing_batches = 0;
    /* That it has begun is durable, and was shown; how the other one stands, nobody can say. */
    assert_true(has_started);
    assert_true(start.ok);
    assert_true(start.is_unconfirmed);
    assert_false(start.ended);
    assert_true(start.execution_json.len > 0);
    assert_true(has_waited);
    assert_false(wait.ok);
    assert_int_equal(wait.err.code, ERR_OVERLOADED);
    assert_true(ends(f, id, 100000000));
    assert_true(ends(f, start.id, 100000000));
}

static void test_node__a_store_that_is_silent_is_said_and_nothing_more_is_taken(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);
    struct node_request cancel = {.kind = NODE_EVENT, .event.kind = EVENT_CANCEL, .execution = id};
    struct node_request wait = {.kind = NODE_WAIT, .execution = id, .wait_us = 1000000};
    bool done = false, is_waiting_done = false;
    struct err err;

    assert_int_equal(node_readiness(f->node), NODE_READY);
    cancel.mem = wait.mem = &f->mem;
    cancel.done = wait.done = set_done;
    cancel.owner = &done;
    wait.owner = &is_waiting_done;
    cancel.user.role = STR("admin");
    f->store.is_silent = true;
    assert_true(node_submit(f->node, &cancel, &err));
    for (int i = 0; i < 100 && f->store.kept_back == NULL; i++)
        pass(f, 0);
    assert_non_null(f->store.kept_back);

    pass(f, STORE_LATE_US - 1);
    assert_int_equal(node_readiness(f->node), NODE_READY);
    pass(f, 1);
    assert_int_equal(node_readiness(f->node), NODE_STORE_AWAY);
    pass(f, STORE_AWAY_US - STORE_LATE_US - 1);
    assert_false(node_store_is_away(f->node));
    pass(f, 1);
    assert_true(node_store_is_away(f->node));
    assert_false(node_submit(f->node, &wait, &err));
    assert_int_equal(err.code, ERR_STORE_AWAY);
    assert_false(done);

    /* It answers: all goes on, and what was taken happens. */
    f->store.is_silent = false;
    assert_true(store_submit(f->store.real, f->store.kept_back));
    for (int i = 0; i < 100 && !done; i++)
        pass(f, 0);
    assert_true(done);
    assert_true(cancel.ok);
    assert_int_equal(node_readiness(f->node), NODE_READY);
    assert_true(node_submit(f->node, &wait, &err));
    for (int i = 0; i < 200 && !is_waiting_done; i++)
        pass(f, 10000);
    assert_true(is_waiting_done);
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

/* What the node does by itself is tried again after a pause, however it came into the batch. */
static void
test_node__a_store_that_refuses_the_count_of_a_crash_is_not_asked_at_full_speed(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);

    close_all(f);
    leave_poison(f, id);
    f->store.failing_batches = MANY;
    open_all(f);
    for (int i = 0; i < 1000; i++)
        pass(f, 10000);
    assert_in_range(MANY - f->store.failing_batches, 5, 50); /* in ten seconds */
    f->store.failing_batches = 0;
    assert_true(ends(f, id, 100000000));
}

/* Run SQL on the file of a store that is closed; the first column of the last row, or -1. */
static int64_t run_sql(const struct fixture *f, const char *text)
{
    char path[200];
    sqlite3 *db;
    sqlite3_stmt *statement;
    int64_t answer = -1;

    (void)snprintf(path, sizeof(path), "%s/pawl.db", f->path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    while (sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return answer;
}

/* --- what executions were notified of, and did not come to hear --- */

static void test_node__thousands_that_were_notified_before_a_crash_are_woken_at_once(void **state)
{
    enum { COUNT = 3000 };
    struct fixture *f = *state;
    int64_t left;

    for (int i = 0; i < COUNT; i++)
        (void)start_nap(f);
    close_all(f);
    (void)run_sql(f, "INSERT INTO execution_events (execution, kind, key) "
                     "SELECT row, 'child', 'child:x' FROM execution");
    open_all(f);
    for (int i = 0; i < 900; i++)
        pass(f, 10000);
    close_all(f);
    left = run_sql(f, "SELECT count(*) FROM execution_events");
    open_all(f);
    assert_int_equal(left, 0);
}

/* --- what cannot go on --- */

#define OPEN_LETTERS                                                                               \
    "SELECT count(*) FROM dead_letters WHERE kind = 'execution' AND status = 'open'"

/* The store is closed, changed, and opened; then an hour passes. */
static void damage_and_wait(struct fixture *f, const char *sql)
{
    close_all(f);
    (void)run_sql(f, sql);
    open_all(f);
    for (int i = 0; i < 360; i++)
        pass(f, 10000000);
}

/* The id of the only letter, from the file of a store that is closed. */
static struct str only_letter(struct fixture *f)
{
    char path[200];
    sqlite3 *db;
    sqlite3_stmt *statement;
    struct str id;

    (void)snprintf(path, sizeof(path), "%s/pawl.db", f->path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT id FROM dead_letters", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    id = str_copy(&f->mem, str_of((const char *)sqlite3_column_text(statement, 0)));
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return id;
}

/* It is left alone, has one letter, and goes on once it is mended and tried again. */
static void assert_parked_until_tried_again(struct fixture *f, struct uuid id, const char *mend)
{
    struct node_request retry = {.kind = NODE_UNPARK, .execution = id};
    struct node_request again = {.kind = NODE_UNPARK, .execution = id};
    struct node_stats before, after;

    node_stats(f->node, &before);
    for (int i = 0; i < 360; i++)
        pass(f, 10000000);
    node_stats(f->node, &after);
    assert_int_equal(after.batches, before.batches);
    close_all(f);
    assert_int_equal(run_sql(f, OPEN_LETTERS), 1);
    (void)run_sql(f, mend);
    retry.event.letter = again.event.letter = only_letter(f);
    open_all(f);
    for (int i = 0; i < 360; i++)
        pass(f, 10000000);
    ask_slowly(f, &retry, 0);
    if (!retry.ok)
        fail_msg("%s", retry.err.message);
    assert_true(ends(f, id, 100000000));
    ask_slowly(f, &again, 0);
    assert_false(again.ok);
    assert_int_equal(again.err.code, ERR_CONFLICT);
    close_all(f);
    assert_int_equal(run_sql(f, OPEN_LETTERS), 0);
    assert_int_equal(run_sql(f, "SELECT sum(n) FROM counters WHERE name = 'dead_letters'"), 0);
    open_all(f);
}

static void test_node__what_does_not_compile_any_more_is_a_dead_letter(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);

    damage_and_wait(f, "UPDATE definition SET definition = replace(definition, 'wait.timer', "
                       "'wait.nonsense')");
    assert_parked_until_tried_again(f, id,
                                    "UPDATE definition SET definition = replace(definition, "
                                    "'wait.nonsense', 'wait.timer')");
}

static void test_node__what_cannot_be_restored_is_a_dead_letter(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);

    damage_and_wait(f, "UPDATE execution SET cursor = '!' || cursor");
    assert_parked_until_tried_again(f, id, "UPDATE execution SET cursor = substr(cursor, 2)");
}

static void test_node__what_the_database_refuses_to_write_is_a_dead_letter(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);

    damage_and_wait(f, "CREATE TRIGGER no BEFORE INSERT ON history "
                       "BEGIN SELECT raise(ABORT, 'not this one'); END");
    assert_parked_until_tried_again(f, id, "DROP TRIGGER no");
}

/* However many there are: none is tried without end because others fail too. */
static void test_node__hundreds_that_cannot_be_written_are_dead_letters_each(void **state)
{
    enum { COUNT = 300 };
    struct fixture *f = *state;
    int64_t letters;

    for (int i = 0; i < COUNT; i++)
        (void)start_nap(f);
    damage_and_wait(f, "CREATE TRIGGER no BEFORE INSERT ON history "
                       "BEGIN SELECT raise(ABORT, 'not this one'); END");
    close_all(f);
    letters = run_sql(f, OPEN_LETTERS);
    open_all(f);
    assert_int_equal(letters, COUNT);
}

static void test_node__what_crashes_the_server_five_times_is_a_dead_letter(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f);

    for (int i = 0; i < 5; i++) {
        close_all(f);
        leave_poison(f, id);
        open_all(f);
        for (int k = 0; k < 20; k++)
            pass(f, 0);
    }
    for (int i = 0; i < 360; i++)
        pass(f, 10000000);
    assert_parked_until_tried_again(f, id, "SELECT 1");
}

static void test_node__a_crash_is_blamed_on_what_a_reader_worked_on(void **state)
{
    struct fixture *f = *state;
    struct uuid id = start_nap(f), other = start_nap(f);
    char path[200];
    FILE *file;

    close_all(f);
    (void)snprintf(path, sizeof(path), "%s/poison", f->path);
    file = fopen(path, "r+b");
    assert_non_null(file);
    /* The loop and a reader, each with one of them; and both with the first. */
    assert_int_equal(fwrite(id.bytes, sizeof(id.bytes), 1, file), 1);
    assert_int_equal(fwrite(other.bytes, sizeof(other.bytes), 1, file), 1);
    assert_int_equal(fwrite(id.bytes, sizeof(id.bytes), 1, file), 1);
    assert_int_equal(fclose(file), 0);
    open_all(f);
    for (int k = 0; k < 20; k++)
        pass(f, 0);
    close_all(f);
    assert_int_equal(run_sql(f, "SELECT count(*) FROM execution WHERE crash_count = 1"), 2);
    open_all(f);
    for (int k = 0; k < 20; k++)
        pass(f, 0);
    close_all(f);
    assert_int_equal(run_sql(f, "SELECT count(*) FROM execution WHERE crash_count = 1"), 2);
    open_all(f);
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
        CLAIM(a_wait_ends_in_time_though_the_store_takes_nothing),
        CLAIM(a_store_that_is_silent_is_said_and_nothing_more_is_taken),
        CLAIM(a_crash_is_counted_once),
        CLAIM(a_store_that_refuses_the_count_of_a_crash_stops_nothing),
        CLAIM(a_store_that_refuses_the_count_of_a_crash_is_not_asked_at_full_speed),
        CLAIM(thousands_that_were_notified_before_a_crash_are_woken_at_once),
        CLAIM(what_does_not_compile_any_more_is_a_dead_letter),
        CLAIM(what_cannot_be_restored_is_a_dead_letter),
        CLAIM(what_the_database_refuses_to_write_is_a_dead_letter),
        CLAIM(hundreds_that_cannot_be_written_are_dead_letters_each),
        CLAIM(what_crashes_the_server_five_times_is_a_dead_letter),
        CLAIM(a_crash_is_blamed_on_what_a_reader_worked_on),
    };

    return cmocka_run_group_tests_name("node_faults", tests, NULL, NULL);
}
