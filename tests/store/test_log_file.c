/* test_log_file.c - claims about SQLite's log when it is written in large pieces. */
#include "store/db/log_file.h"

#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char folder[256], path[300];
    sqlite3 *writer, *other;
};

static void ask(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    int64_t n;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    n = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return n;
}

static int set_up(void **state)
{
    static const char *vfs;
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    if (vfs == NULL)
        vfs = log_file_register();
    assert_non_null(vfs);
    (void)snprintf(f->folder, sizeof(f->folder), "%s/pawl-log-XXXXXX",
                   getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof(f->path), "%s/db", f->folder);
    assert_int_equal(
        sqlite3_open_v2(f->path, &f->writer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs),
        SQLITE_OK);
    ask(f->writer, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                   "PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n INTEGER PRIMARY KEY, x TEXT)");
    assert_int_equal(sqlite3_open_v2(f->path, &f->other, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[300];

    sqlite3_close(f->other);
    sqlite3_close(f->writer);
    (void)snprintf(command, sizeof(command), "rm -rf %s", f->folder);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static void add_rows(sqlite3 *db, int count)
{
    char sql[256];

    (void)snprintf(sql, sizeof(sql),
                   "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d) "
                   "INSERT INTO t (x) SELECT hex(zeroblob(500)) FROM c",
                   count);
    ask(db, sql);
}

static void test_log_file__commit_is_seen_by_other_connections_at_once(void **state)
{
    struct fixture *f = *state;

    for (int i = 1; i <= 50; i++) {
        add_rows(f->writer, i);
        assert_int_equal(number(f->other, "SELECT count(*) FROM t"), i * (i + 1) / 2);
    }
    assert_int_equal(number(f->other, "SELECT count(*) FROM pragma_integrity_check "
                                      "WHERE integrity_check = 'ok'"),
                     1);
}

/* Pages that do not fit the cache are in the log before the commit, and are read from there. */
static void test_log_file__transaction_larger_than_the_cache_reads_its_own_pages(void **state)
{
    struct fixture *f = *state;

    ask(f->writer, "PRAGMA cache_size = 5; BEGIN");
    add_rows(f->writer, 3000);
    assert_int_equal(number(f->writer, "SELECT sum(length(x)) FROM t"), 3000 * 1000);
    assert_int_equal(number(f->other, "SELECT count(*) FROM t"), 0);
    ask(f->writer, "UPDATE t SET x = 'short' WHERE n % 2 = 0; COMMIT");
    assert_int_equal(number(f->other, "SELECT sum(length(x)) FROM t"), 1500 * 1000 + 1500 * 5);
}

static void test_log_file__rollback_leaves_nothing_and_the_next_commit_holds(void **state)
{
    struct fixture *f = *state;

    ask(f->writer, "PRAGMA cache_size = 5; BEGIN");
    add_rows(f->writer, 2000);
    ask(f->writer, "ROLLBACK; BEGIN");
    add_rows(f->writer, 7);
    ask(f->writer, "COMMIT");
    assert_int_equal(number(f->other, "SELECT count(*) FROM t"), 7);
    ask(f->other, "PRAGMA wal_checkpoint(TRUNCATE)");
    add_rows(f->writer, 1);
    assert_int_equal(number(f->other, "SELECT count(*) FROM t"), 8);
}

static void test_log_file__commit_that_came_back_survives_a_kill(void **state)
{
    struct fixture *f = *state;
    int status, ends[2];
    sqlite3 *db;
    pid_t child;
    char byte;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        (void)sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READWRITE, "pawl");
        (void)sqlite3_exec(db, "PRAGMA synchronous = FULL; INSERT INTO t (x) VALUES ('kept')", NULL,
                           NULL, NULL);
        (void)sqlite3_exec(db, "BEGIN; INSERT INTO t (x) VALUES ('not committed')", NULL, NULL,
                           NULL);
        (void)!write(ends[1], "x", 1);
        (void)pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(number(f->other, "SELECT count(*) FROM t WHERE x = 'kept'"), 1);
    assert_int_equal(number(f->other, "SELECT count(*) FROM t"), 1);
    close(ends[0]);
    close(ends[1]);
}

/* A log that may not grow: the commit says so, nothing of it is seen, and later ones succeed. */
static void test_log_file__log_that_cannot_be_written_fails_the_commit(void **state)
{
    struct fixture *f = *state;
    struct rlimit before, less;

    add_rows(f->writer, 10);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    less = before;
    less.rlim_cur = 200000;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    ask(f->writer, "BEGIN");
    add_rows(f->writer, 500);
    assert_int_not_equal(sqlite3_exec(f->writer, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)sqlite3_exec(f->writer, "ROLLBACK", NULL, NULL, NULL);
    assert_int_equal(number(f->other, "SELECT count(*) FROM t"), 10);
    add_rows(f->writer, 1);
    assert_int_equal(number(f->other, "SELECT count(*) FROM t"), 11);
}

/* How often the thread has stood back while a checkpoint moved the pages of one large commit. */
static long rests_of_checkpoint(struct fixture *f, bool yields, int *pages)
{
    sqlite3_file *log = NULL;
    struct rusage before, after;

    ask(f->writer, "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 1000) "
                   "INSERT INTO t (x) SELECT printf('%4000d', i) FROM s");
    assert_int_equal(sqlite3_file_control(f->writer, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log),
                     SQLITE_OK);
    log_file_yield(log, yields);
    assert_int_equal(getrusage(RUSAGE_THREAD, &before), 0);
    assert_int_equal(
        sqlite3_wal_checkpoint_v2(f->writer, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, pages),
        SQLITE_OK);
    assert_int_equal(getrusage(RUSAGE_THREAD, &after), 0);
    log_file_yield(log, false);
    return after.ru_nvcsw - before.ru_nvcsw;
}

static void test_log_file__checkpoint_that_yields_rests_every_few_pages(void **state)
{
    struct fixture *f = *state;
    int pages;

    assert_true(rests_of_checkpoint(f, true, &pages) >= 1000 / 16 - 1);
    assert_true(pages >= 1000);
    assert_true(rests_of_checkpoint(f, false, &pages) < 1000 / 16 - 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_log_file__commit_is_seen_by_other_connections_at_once),
        CASE(test_log_file__transaction_larger_than_the_cache_reads_its_own_pages),
        CASE(test_log_file__rollback_leaves_nothing_and_the_next_commit_holds),
        CASE(test_log_file__commit_that_came_back_survives_a_kill),
        CASE(test_log_file__log_that_cannot_be_written_fails_the_commit),
        CASE(test_log_file__checkpoint_that_yields_rests_every_few_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
