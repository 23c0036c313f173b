/* test_store_postgres.c - the contract on PostgreSQL, and what only a server can suffer. */
#include "base/log.h"
#include "engine/commit/commit.h"
#include "engine/status.h"
#include "engine/stored_execution.h"
#include "store/contract.h"
#include "store/db/db.h"
#include "store/db/migrate.h"
#include "store/private_postgres.h"
#include "store/proxy.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* --- connections that break --- */

/* A store that reaches its server through a proxy. */
struct wired {
    struct contract contract;
    struct proxy *proxy;
    char url[128];
};

static void wired_open(struct wired *w)
{
    (void)private_postgres_fresh();
    w->proxy = proxy_open(private_postgres_port());
    (void)snprintf(w->url, sizeof(w->url), "postgres://pawl@127.0.0.1:%d/postgres",
                   proxy_port(w->proxy));
    contract_open(&w->contract, str_of(w->url));
}

static void wired_close(struct wired *w)
{
    contract_close(&w->contract);
    proxy_close(w->proxy);
}

/* Write a start while the wire is cut, and expect that it is there once. */
static void write_through_cut(struct str bytes, bool from_server)
{
    struct wired w;
    struct contract *c = &w.contract;
    struct commit *first, *start;

    wired_open(&w);
    first = contract_start(c, STATUS_WAITING, 1);
    assert_int_equal(contract_commit(c, first), MEMBER_APPLIED);
    start = contract_start(c, STATUS_WAITING, 3);
    proxy_cut_at(w.proxy, bytes, from_server);
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(proxy_cuts(w.proxy), 1);
    assert_int_equal(contract_load(c, start->after->id)->seq, 3);
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM execution"), "2");
    assert_string_equal(private_postgres_ask("SELECT sum(n) FROM execution_counts"), "2");
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM history"), "4");
    assert_int_equal(contract_commit(c, contract_advance(c, start, STATUS_COMPLETED, 1)),
                     MEMBER_APPLIED);
    wired_close(&w);
}

/* The server's word for a commit that is done. */
static void test_postgres__commit_whose_answer_is_lost_happens_once(void **state)
{
    (void)state;
    write_through_cut(STR("COMMIT\0"), true);
}

/* The name of the statement, as it is sent to be executed. */
static void test_postgres__commit_that_never_arrives_is_repeated(void **state)
{
    char name[16];

    (void)state;
    (void)snprintf(name, sizeof(name), "s%u", (unsigned)SQL_COMMIT);
    write_through_cut(str_from(name, strlen(name) + 1), false);
}

static void test_postgres__batch_cut_in_the_middle_is_repeated(void **state)
{
    (void)state;
    write_through_cut(STR("key-2"), false);
}

static void test_postgres__read_begins_anew_on_a_new_connection(void **state)
{
    struct wired w;
    struct contract *c = &w.contract;
    struct commit *start;

    (void)state;
    wired_open(&w);
    start = contract_start(c, STATUS_WAITING, 1);
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    (void)private_postgres_ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                               "WHERE application_name = 'pawl reader'");
    for (int i = 0; i < 4; i++)
        assert_non_null(contract_load(c, start->after->id));
    wired_close(&w);
}

/* Another node has taken this one for dead: it says that it does not know, and goes on. */
static void test_postgres__batch_of_a_node_without_a_row_is_unknown(void **state)
{
    struct wired w;
    struct contract *c = &w.contract;
    struct batch *b;

    (void)state;
    wired_open(&w);
    b = contract_batch(c, contract_member(c, contract_start(c, STATUS_WAITING, 1)), NULL);
    (void)private_postgres_ask("DELETE FROM nodes");
    proxy_cut_at(w.proxy, STR("COMMIT\0"), true);
    contract_write(c, b);
    assert_int_equal(b->end, BATCH_UNKNOWN);
    assert_int_equal(b->err.code, ERR_OUTCOME_UNKNOWN);
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM nodes"), "1");
    proxy_cut_at(w.proxy, STR("COMMIT\0"), true);
    assert_int_equal(contract_commit(c, contract_start(c, STATUS_WAITING, 1)), MEMBER_APPLIED);
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM execution"), "2");
    wired_close(&w);
}

static void test_postgres__rows_of_dead_nodes_go_at_the_next_start(void **state)
{
    struct contract *c = *state, other;

    /* The first began long ago and has a session; the others have none. */
    (void)private_postgres_ask("UPDATE nodes SET started_at = 0");
    (void)private_postgres_ask(
        "INSERT INTO nodes (node, batch_no, started_at) VALUES ('dead', 7, 0), "
        "('young', 7, extract(epoch FROM now())::bigint * 1000000)");
    contract_open(&other, c->url);
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM nodes WHERE node = 'dead'"),
                        "0");
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM nodes WHERE node = 'young'"),
                        "1");
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM nodes WHERE started_at = 0"),
                        "1");
    contract_close(&other);
}

static void run_sql(struct contract *c, const char *sql)
{
    (void)c;
    (void)private_postgres_ask(sql);
}

/* --- a server that crashes --- */

static _Atomic bool restarting;

static void *restart_often(void *context)
{
    for (int i = 0; i < 5; i++)
        if (!private_postgres_restart())
            *(bool *)context = false;
    restarting = false;
    return NULL;
}

enum { BATCH = 16, CHAIN = 3 };

/* Chains of commits, written batch after batch until the restarts are over. */
static void test_postgres__server_that_restarts_under_load_loses_nothing(void **state)
{
    struct contract *c = *state;
    bool restarted = true;
    pthread_t thread;
    int written = 0;
    char expected[32];

    /* The schemas of all tests before this one are not to be made again by each restart. */
    (void)private_postgres_ask("CHECKPOINT");
    restarting = true;
    assert_int_equal(pthread_create(&thread, NULL, restart_often, &restarted), 0);
    while (restarting) {
        struct commit *commits[BATCH];

        for (int k = 0; k < CHAIN; k++) {
            struct batch *b = contract_batch(c, NULL);

            for (int i = 0; i < BATCH; i++) {
                commits[i] =
                    k == 0
                        ? contract_start(c, STATUS_WAITING, 2)
                        : contract_advance(c, commits[i],
                                           k == CHAIN - 1 ? STATUS_COMPLETED : STATUS_WAITING, 2);
                *VEC_ADD(&c->mem, &b->members) = contract_member(c, commits[i]);
            }
            contract_write(c, b);
            assert_int_equal(b->end, BATCH_COMMITTED);
            for (int i = 0; i < BATCH; i++)
                assert_int_equal(b->members.items[i]->result, MEMBER_APPLIED);
        }
        written += BATCH;
    }
    pthread_join(thread, NULL);
    assert_true(restarted);
    (void)snprintf(expected, sizeof(expected), "%d", written);
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM execution WHERE status = "
                                             "'completed' AND row_version = 3 AND seq = 6"),
                        expected);
    assert_string_equal(
        private_postgres_ask("SELECT n FROM execution_counts WHERE status = 'completed'"),
        expected);
    (void)snprintf(expected, sizeof(expected), "%d", written * CHAIN * 2);
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM history"), expected);
}

static void test_postgres__store_closes_while_the_server_is_away(void **state)
{
    struct contract *c = *state;
    struct batch *b;

    b = contract_batch(c, contract_member(c, contract_start(c, STATUS_WAITING, 1)), NULL);
    assert_true(private_postgres_stop());
    assert_true(store_submit(c->store, b));
    store_close(c->store);
    assert_ptr_equal(contract_take(c), b);
    assert_int_equal(b->end, BATCH_REFUSED); /* it had not begun to commit */
    arena_fini(&b->mem);
    assert_true(private_postgres_resume());
    c->store = store_open(
        &(struct store_options){.url = c->url, .data_path = str_of(c->folder), .done = &c->done},
        &(struct err){0});
    assert_non_null(c->store);
}

static void test_postgres__server_that_is_away_is_named(void **state)
{
    struct contract *c = *state;
    struct err err = {0};

    store_close(c->store);
    assert_null(
        store_open(&(struct store_options){.url = STR("postgres://pawl@127.0.0.1:1/postgres"),
                                           .done = &c->done},
                   &err));
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.message, "cannot be reached"));
    c->store = store_open(
        &(struct store_options){.url = c->url, .data_path = str_of(c->folder), .done = &c->done},
        &err);
    assert_non_null(c->store);
}

/* --- several nodes --- */

static void test_postgres__two_nodes_race_and_every_fence_holds(void **state)
{
    struct contract *a = *state;
    struct contract b;
    struct commit *start = contract_start(a, STATUS_WAITING, 1);
    struct commit *ours = contract_advance(a, start, STATUS_COMPLETED, 1);
    struct commit *theirs = contract_advance(a, start, STATUS_CANCELLED, 1);
    struct batch *first, *second;
    int applied;

    contract_open(&b, a->url);
    assert_int_equal(contract_commit(a, start), MEMBER_APPLIED);
    first = contract_batch(a, contract_member(a, ours), NULL);
    second = contract_batch(&b, contract_member(&b, theirs), NULL);
    assert_true(store_submit(a->store, first));
    assert_true(store_submit(b.store, second));
    assert_ptr_equal(contract_take(a), first);
    assert_ptr_equal(contract_take(&b), second);
    applied = (first->members.items[0]->result == MEMBER_APPLIED) +
              (second->members.items[0]->result == MEMBER_APPLIED);
    assert_int_equal(applied, 1);
    arena_fini(&first->mem);
    arena_fini(&second->mem);
    contract_close(&b);
}

static void test_postgres__signal_and_wait_of_two_nodes_do_not_pass_each_other(void **state)
{
    struct contract *a = *state;
    struct contract b;

    contract_open(&b, a->url);
    for (int i = 0; i < 40; i++) {
        struct str one = str_printf(&a->mem, "one-%d", i), two = str_printf(&a->mem, "two-%d", i);
        struct batch *first = contract_batch(a, contract_keep(a, one), contract_wait(a, two), NULL);
        struct batch *second =
            contract_batch(&b, contract_keep(&b, two), contract_wait(&b, one), NULL);

        assert_true(store_submit(a->store, first));
        assert_true(store_submit(b.store, second));
        assert_ptr_equal(contract_take(a), first);
        assert_ptr_equal(contract_take(&b), second);
        assert_int_equal(first->end, BATCH_COMMITTED);
        assert_int_equal(second->end, BATCH_COMMITTED);
        /* Whoever comes second sees the first and is refused. */
        for (int k = 0; k < 2; k++)
            assert_int_equal((first->members.items[k]->result == MEMBER_APPLIED) +
                                 (second->members.items[1 - k]->result == MEMBER_APPLIED),
                             1);
        arena_fini(&first->mem);
        arena_fini(&second->mem);
    }
    contract_close(&b);
}

static void test_postgres__deadlock_is_resolved_by_repeating(void **state)
{
    struct contract *a = *state;
    struct contract b;
    struct commit *one = contract_start(a, STATUS_WAITING, 1);
    struct commit *two = contract_start(a, STATUS_WAITING, 1);

    contract_open(&b, a->url);
    assert_int_equal(contract_commit(a, one), MEMBER_APPLIED);
    assert_int_equal(contract_commit(a, two), MEMBER_APPLIED);
    for (int i = 0; i < 20; i++) {
        struct commit *one_next = contract_advance(a, one, STATUS_WAITING, 1);
        struct commit *two_next = contract_advance(a, two, STATUS_WAITING, 1);
        struct batch *first =
            contract_batch(a, contract_member(a, one_next), contract_member(a, two_next), NULL);
        struct batch *second =
            contract_batch(&b, contract_member(&b, two_next), contract_member(&b, one_next), NULL);

        assert_true(store_submit(a->store, first));
        assert_true(store_submit(b.store, second));
        assert_ptr_equal(contract_take(a), first);
        assert_ptr_equal(contract_take(&b), second);
        assert_int_equal(first->end, BATCH_COMMITTED);
        assert_int_equal(second->end, BATCH_COMMITTED);
        /* Each execution moved on once, whoever did it. */
        for (int k = 0; k < 2; k++)
            assert_int_equal((first->members.items[k]->result == MEMBER_APPLIED) +
                                 (second->members.items[1 - k]->result == MEMBER_APPLIED),
                             1);
        one = one_next;
        two = two_next;
        arena_fini(&first->mem);
        arena_fini(&second->mem);
    }
    contract_close(&b);
}

static void test_postgres__row_that_is_locked_refuses_its_own_member_alone(void **state)
{
    struct contract *c = *state;
    struct commit *one = contract_start(c, STATUS_WAITING, 1);
    struct commit *two = contract_start(c, STATUS_WAITING, 1);
    struct member *locked, *free_one;
    struct db *other;
    struct err err;

    assert_int_equal(contract_commit(c, one), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, two), MEMBER_APPLIED);
    other = db_postgres_open(c->url, DB_WRITE, STR("other"), NULL, &err);
    assert_non_null(other);
    assert_int_equal(
        db_script(other, "BEGIN; SELECT 1 FROM execution ORDER BY row LIMIT 1 FOR UPDATE"),
        DB_DONE);
    locked = contract_member(c, contract_advance(c, one, STATUS_WAITING, 1));
    free_one = contract_member(c, contract_advance(c, two, STATUS_WAITING, 1));
    contract_write(c, contract_batch(c, locked, free_one, NULL));
    assert_int_equal(locked->result, MEMBER_LOCKED);
    assert_int_equal(free_one->result, MEMBER_APPLIED);
    assert_int_equal(db_script(other, "ROLLBACK"), DB_DONE);
    assert_int_equal(contract_commit(c, contract_advance(c, one, STATUS_WAITING, 1)),
                     MEMBER_APPLIED);
    db_close(other);
}

/* Another session that has the first execution. */
static struct db *hold_first(const struct contract *c)
{
    struct err err;
    struct db *other = db_postgres_open(c->url, DB_WRITE, STR("other"), NULL, &err);

    assert_non_null(other);
    assert_int_equal(
        db_script(other, "BEGIN; SELECT 1 FROM execution ORDER BY row LIMIT 1 FOR UPDATE"),
        DB_DONE);
    return other;
}

/* The batch that waits goes beside the others: they end while it waits for its row. */
static void test_postgres__batch_that_waits_gets_its_row_and_holds_nobody_up(void **state)
{
    struct contract *c = *state;
    struct commit *one = contract_start(c, STATUS_WAITING, 1);
    struct commit *two = contract_start(c, STATUS_WAITING, 1);
    struct member *waits = contract_member(c, contract_advance(c, one, STATUS_COMPLETED, 1));
    struct batch *waiting, *beside;
    struct db *other;

    assert_int_equal(contract_commit(c, one), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, two), MEMBER_APPLIED);
    other = hold_first(c);
    waiting = contract_batch(c, waits, NULL);
    waiting->waits = true;
    waiting->number = 1;
    assert_true(store_submit(c->store, waiting));
    beside =
        contract_batch(c, contract_member(c, contract_advance(c, two, STATUS_COMPLETED, 1)), NULL);
    beside->number = --c->batches;
    assert_true(store_submit(c->store, beside));
    assert_ptr_equal(contract_take(c), beside);
    assert_int_equal(beside->members.items[0]->result, MEMBER_APPLIED);
    assert_int_equal(db_script(other, "ROLLBACK"), DB_DONE);
    assert_ptr_equal(contract_take(c), waiting);
    assert_int_equal(waiting->end, BATCH_COMMITTED);
    assert_int_equal(waits->result, MEMBER_APPLIED);
    assert_string_equal(private_postgres_ask("SELECT sum(n) FROM execution_counts WHERE status = "
                                             "'completed'"),
                        "2");
    arena_fini(&beside->mem);
    arena_fini(&waiting->mem);
    db_close(other);
}

static void test_postgres__batch_that_waits_in_vain_says_so(void **state)
{
    struct contract *c = *state;
    struct commit *one = contract_start(c, STATUS_WAITING, 1);
    struct batch *waiting;
    struct db *other;

    assert_int_equal(contract_commit(c, one), MEMBER_APPLIED);
    other = hold_first(c);
    waiting =
        contract_batch(c, contract_member(c, contract_advance(c, one, STATUS_COMPLETED, 1)), NULL);
    waiting->waits = true;
    waiting->number = 1;
    assert_true(store_submit(c->store, waiting));
    assert_ptr_equal(contract_take(c), waiting);
    assert_int_equal(waiting->end, BATCH_COMMITTED);
    assert_int_equal(waiting->members.items[0]->result, MEMBER_LOCKED);
    assert_int_equal(db_script(other, "ROLLBACK"), DB_DONE);
    arena_fini(&waiting->mem);
    db_close(other);
}

/* --- migrations, views --- */

static void test_postgres__migrations_follow_the_baseline(void **state)
{
    struct err err;
    struct db *db =
        db_postgres_open(private_postgres_fresh(), DB_CREATE, STR("migrate"), NULL, &err);

    (void)state;
    assert_non_null(db);
    contract_migrate(db, false);
    db_close(db);
}

static void *open_at_once(void *context)
{
    struct err err = {0};
    struct db *db = db_postgres_open(*(struct str *)context, DB_CREATE, STR("migrate"), NULL, &err);
    bool ok = db != NULL && migrate(db, false, 0, &err);

    if (!ok)
        (void)fprintf(stderr, "%s\n", err.message);
    if (db != NULL)
        db_close(db);
    return ok ? context : NULL;
}

static void test_postgres__servers_that_start_together_migrate_once(void **state)
{
    struct str url = private_postgres_fresh();
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_at_once, &url), 0);
    for (int i = 0; i < 4; i++) {
        void *ok;

        pthread_join(threads[i], &ok);
        assert_non_null(ok);
    }
    assert_string_equal(
        private_postgres_ask("SELECT count(*) - (max(version) - min(version) + 1) FROM "
                             "schema_version"),
        "0");
}

/* The start of an execution that writes two records and opens a wait for two people. */
static struct commit *busy_start(struct contract *c, unsigned n)
{
    struct commit *start = contract_start(c, STATUS_WAITING, 1);

    for (unsigned i = 0; i < 2; i++)
        *VEC_ADD(&c->mem, &start->records) =
            (struct record_write){.object = STR("invoice"),
                                  .id = str_printf(&c->mem, "%u-%u", n, i),
                                  .version = 1,
                                  .data_json = STR("{\"n\":1}")};
    *VEC_ADD(&c->mem, &start->opened) = (struct listed_wait){
        .step = STR("pay"),
        .visit = 1,
        .since_us = 1,
        .types_json = STR("[\"paid\"]"),
        .assignees_json = STR("[\"user:a\",\"user:b\"]"),
    };
    return start;
}

/* Its next commit: the wait is over, one record has changed and the other is gone. */
static struct commit *busy_end(struct contract *c, const struct commit *start)
{
    struct commit *end = contract_advance(c, start, STATUS_COMPLETED, 1);

    for (size_t i = 0; i < 2; i++) {
        struct record_write *w = VEC_ADD(&c->mem, &end->records);

        *w = start->records.items[i];
        w->read_version = 1;
        w->version = 2;
        w->is_delete = i == 1;
    }
    *VEC_ADD(&c->mem, &end->closed) = start->opened.items[0];
    return end;
}

static unsigned trips_of(struct wired *w, struct commit *const *commits, unsigned count)
{
    struct batch *b = contract_batch(&w->contract, NULL);
    unsigned before = proxy_trips(w->proxy);

    for (unsigned i = 0; i < count; i++)
        *VEC_ADD(&w->contract.mem, &b->members) = contract_member(&w->contract, commits[i]);
    contract_write(&w->contract, b);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(b->members.items[i]->result, MEMBER_APPLIED);
    return proxy_trips(w->proxy) - before;
}

/* Records and waits of a batch are read and written together, however many there are. */
static void test_postgres__round_trips_do_not_grow_with_records_and_waits(void **state)
{
    enum { MANY = 20 };
    struct commit *starts[MANY + 2], *ends[MANY + 2];
    unsigned few, many;
    struct wired w;

    (void)state;
    wired_open(&w);
    for (unsigned i = 0; i < MANY + 2; i++)
        starts[i] = busy_start(&w.contract, i);
    (void)trips_of(&w, starts, 1); /* prepares the statements */
    few = trips_of(&w, starts + 1, 1);
    many = trips_of(&w, starts + 2, MANY);
    assert_int_equal(many, few);
    for (unsigned i = 0; i < MANY + 2; i++)
        ends[i] = busy_end(&w.contract, starts[i]);
    (void)trips_of(&w, ends, 1);
    few = trips_of(&w, ends + 1, 1);
    many = trips_of(&w, ends + 2, MANY);
    assert_int_equal(many, few);
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM records WHERE version = 2"),
                        "22");
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM records"), "22");
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM waits"), "0");
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM wait_assignees"), "0");
    wired_close(&w);
}

/* What a wait is, when it begins and ends within one batch, is nothing. */
static void test_postgres__wait_that_begins_and_ends_in_a_batch_is_over(void **state)
{
    struct commit *commits[3];
    struct wired w;

    (void)state;
    wired_open(&w);
    commits[0] = busy_start(&w.contract, 0);
    commits[1] = busy_end(&w.contract, commits[0]);
    (void)trips_of(&w, commits, 2);
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM waits"), "0");
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM wait_assignees"), "0");
    assert_string_equal(private_postgres_ask("SELECT count(*) FROM records WHERE version = 2"),
                        "1");
    assert_string_equal(private_postgres_ask("SELECT max(version) FROM record_versions"), "2");
    wired_close(&w);
}

static void test_postgres__tables_of_the_seed_can_be_asked(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 2);
    char id[UUID_TEXT_LEN + 1], sql[256];

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    uuid_write(start->after->id, id);
    (void)snprintf(sql, sizeof(sql), "SELECT current_step FROM scenario_executions WHERE id = '%s'",
                   id);
    assert_string_equal(private_postgres_ask(sql), "reserve");
    (void)snprintf(sql, sizeof(sql),
                   "SELECT string_agg(step_code || seq || kind || attempt, ' ' ORDER BY seq) "
                   "FROM scenario_step_history WHERE execution_id = '%s'",
                   id);
    assert_string_equal(private_postgres_ask(sql), "reserve1forward1 pay2forward1");
    assert_string_equal(
        private_postgres_ask("SELECT created_at AT TIME ZONE 'UTC' FROM scenario_executions"),
        "2023-11-14 22:13:20.000007");
    assert_string_equal(
        private_postgres_ask("SELECT count(DISTINCT id) FROM scenario_step_history"), "2");
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

int main(void)
{
    static const struct contract_backend backend = {.fresh_url = private_postgres_fresh,
                                                    .run_sql = run_sql};
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_postgres__commit_whose_answer_is_lost_happens_once),
        cmocka_unit_test(test_postgres__commit_that_never_arrives_is_repeated),
        cmocka_unit_test(test_postgres__batch_cut_in_the_middle_is_repeated),
        cmocka_unit_test(test_postgres__read_begins_anew_on_a_new_connection),
        cmocka_unit_test(test_postgres__batch_of_a_node_without_a_row_is_unknown),
        cmocka_unit_test(test_postgres__round_trips_do_not_grow_with_records_and_waits),
        cmocka_unit_test(test_postgres__wait_that_begins_and_ends_in_a_batch_is_over),
        CLAIM(test_postgres__rows_of_dead_nodes_go_at_the_next_start),
        CLAIM(test_postgres__server_that_restarts_under_load_loses_nothing),
        CLAIM(test_postgres__store_closes_while_the_server_is_away),
        CLAIM(test_postgres__server_that_is_away_is_named),
        CLAIM(test_postgres__two_nodes_race_and_every_fence_holds),
        CLAIM(test_postgres__signal_and_wait_of_two_nodes_do_not_pass_each_other),
        CLAIM(test_postgres__deadlock_is_resolved_by_repeating),
        CLAIM(test_postgres__row_that_is_locked_refuses_its_own_member_alone),
        CLAIM(test_postgres__batch_that_waits_gets_its_row_and_holds_nobody_up),
        CLAIM(test_postgres__batch_that_waits_in_vain_says_so),
        cmocka_unit_test(test_postgres__migrations_follow_the_baseline),
        cmocka_unit_test(test_postgres__servers_that_start_together_migrate_once),
        CLAIM(test_postgres__tables_of_the_seed_can_be_asked),
    };
    int failed;

    /* Lost connections are what these tests are about. */
    log_to(STDERR_FILENO, LOG_ERROR, &clock_system);
    if (!private_postgres_start())
        return 1;
    failed = contract_run(&backend, "postgres");
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    private_postgres_end();
    return failed;
}
