/* test_sqlite_disk.c - the SQLite file and the disk it is on: its log, no space, I/O errors, backups. */
#include "engine/commit/commit.h"
#include "engine/status.h"
#include "engine/stored_execution.h"
#include "store/backup.h"
#include "store/contract.h"
#include "store/db/migrate.h"
#include "store/db/sql.h"
#include "store/read/reader.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int disk_setup(void **state)
{
    static struct contract contract;

    contract_open(&contract, STR("sqlite"));
    *state = &contract;
    return 0;
}

static struct str path_of(struct contract *c, const char *name)
{
    return str_printf(&c->mem, "%s/%s", c->folder, name);
}

/* Run one statement on a connection of our own; the first value, as text. */
static struct str ask(struct contract *c, const char *sql)
{
    sqlite3 *handle;
    sqlite3_stmt *statement;
    struct str answer = STR_NONE;

    assert_int_equal(sqlite3_open(path_of(c, "pawl.db").ptr, &handle), SQLITE_OK);
    if (sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(handle));
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL)
        answer = str_copy(&c->mem, str_of((const char *)sqlite3_column_text(statement, 0)));
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return answer;
}

/* --- log and checkpoints --- */

static void test_sqlite__log_is_begun_anew_and_does_not_grow(void **state)
{
    struct contract *c = *state;
    struct stat log;
    size_t len = 1 << 20;
    char *text = arena_alloc(&c->mem, len);

    memset(text, 'x', len);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + len - 2, "\"}", 2);
    /* 300 MB go through a log that may hold 64,000 pages of 4 KiB. */
    for (int i = 0; i < 600; i++) {
        struct commit *start = contract_start(c, STATUS_COMPLETED, 1);

        start->context_json = str_from(text, len / 2);
        text[len / 2 - 2] = '"';
        text[len / 2 - 1] = '}';
        assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    }
    assert_int_equal(stat(path_of(c, "pawl.db-wal").ptr, &log), 0);
    assert_true(log.st_size < INT64_C(80000) * 4096);
    assert_str(ask(c, "SELECT count(*) FROM execution"), "600");
}

/* --- disk full, and I/O errors --- */

/* A small file system of our own; false when we may not make one. */
static bool mount_small(struct str path)
{
    return mkdir(path.ptr, 0700) == 0 && mount("tmpfs", path.ptr, "tmpfs", 0, "size=16m") == 0;
}

static void fill(struct str path, bool full)
{
    if (!full) {
        assert_int_equal(unlink(path.ptr), 0);
        return;
    }
    int fd = open(path.ptr, O_CREAT | O_WRONLY, 0600);
    char page[4096] = {0};

    assert_true(fd >= 0);
    while (write(fd, page, sizeof(page)) > 0)
        ;
    close(fd);
}

static void test_sqlite__full_disk_refuses_and_loses_nothing(void **state)
{
    enum { ROWS = 30000 }; /* more than fit into what the log has of the disk already */
    struct contract *outer = *state;
    struct str path = path_of(outer, "small");
    struct contract inner = {.url = STR_NONE};
    struct contract *c = &inner;
    struct commit *kept = NULL, *refused;
    struct batch *b;
    struct err err;

    if (!mount_small(path)) {
        (void)rmdir(path.ptr);
        skip();
    }
    arena_init(&c->mem);
    uuid_gen_init(&c->ids, NULL, NULL);
    assert_true(mailbox_init(&c->done, 64, &err));
    (void)snprintf(c->folder, sizeof(c->folder), "%s", path.ptr);
    c->store = store_open(&(struct store_options){.data_path = path, .done = &c->done}, &err);
    assert_non_null(c->store);
    kept = contract_start(c, STATUS_WAITING, 1);
    assert_int_equal(contract_commit(c, kept), MEMBER_APPLIED);

    fill(path_of(c, "ballast"), true);
    refused = contract_start(c, STATUS_WAITING, ROWS);
    b = contract_batch(c, contract_member(c, refused), NULL);
    contract_write(c, b);
    assert_int_equal(b->end, BATCH_REFUSED);
    assert_non_null(strstr(b->err.message, "no space left"));
    assert_non_null(contract_load(c, kept->after->id));
    assert_null(contract_load(c, refused->after->id));

    fill(path_of(c, "ballast"), false);
    assert_int_equal(contract_commit(c, refused), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, contract_advance(c, kept, STATUS_COMPLETED, 1)),
                     MEMBER_APPLIED);
    contract_reopen(c);
    assert_int_equal(contract_load(c, kept->after->id)->status, STATUS_COMPLETED);
    assert_int_equal(contract_load(c, refused->after->id)->seq, ROWS);
    store_close(c->store);
    mailbox_fini(&c->done);
    arena_fini(&c->mem);
    assert_int_equal(umount(path.ptr), 0);
}

static void break_store(struct contract *c)
{
    struct commit *commit = contract_start(c, STATUS_WAITING, 1);
    struct rlimit limit = {.rlim_cur = 8192, .rlim_max = 8192};

    /* A write beyond the limit fails with EFBIG, which is no lack of space. */
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(9);
    (void)store_submit(c->store, contract_batch(c, contract_member(c, commit), NULL));
    (void)contract_take(c);
    _exit(8);
}

static void test_sqlite__io_error_ends_the_process(void **state)
{
    char base[] = "/tmp/"
                  "pawl-io-XXXXXX",
         command[64];
    pid_t child;
    int status;

    (void)state;
    assert_non_null(mkdtemp(base));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct contract c;

        close(STDERR_FILENO);
        (void)setenv("TMPDIR", base, 1);
        contract_open(&c, STR("sqlite"));
        (void)contract_commit(&c, contract_start(&c, STATUS_WAITING, 1));
        break_store(&c);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), DB_EXIT);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", base);
    assert_int_equal(system(command), 0);
}

/* --- backup --- */

static void test_sqlite__backup_is_restored_into_an_empty_folder(void **state)
{
    struct contract *c = *state;
    struct commit *kept = contract_start(c, STATUS_WAITING, 2);
    struct commit *later = contract_start(c, STATUS_WAITING, 2);
    struct str backup = path_of(c, "backup"), folder = path_of(c, "restored");
    struct store *original = c->store;
    struct err err;

    assert_int_equal(contract_commit(c, kept), MEMBER_APPLIED);
    assert_true(store_backup_folder(str_of(c->folder), backup, &err));
    assert_false(store_backup_folder(str_of(c->folder), backup, &err));
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_int_equal(contract_commit(c, later), MEMBER_APPLIED);
    assert_true(store_restore(backup, folder, &err));
    assert_false(store_restore(backup, folder, &err));
    assert_int_equal(err.code, ERR_CONFLICT);
    c->store = store_open(&(struct store_options){.data_path = folder, .done = &c->done}, &err);
    assert_non_null(c->store);
    assert_non_null(contract_load(c, kept->after->id));
    assert_null(contract_load(c, later->after->id));
    store_close(c->store);
    c->store = original;
}

static void test_sqlite__damaged_backup_is_not_restored(void **state)
{
    struct contract *c = *state;
    struct str backup = path_of(c, "backup"), folder = path_of(c, "restored");
    struct err err;
    FILE *f = fopen(backup.ptr, "w");

    assert_non_null(f);
    fputs("not a database at all, only some words", f);
    fclose(f);
    assert_false(store_restore(backup, folder, &err));
    assert_false(store_restore(path_of(c, "nothing"), folder, &err));
    assert_int_equal(access(str_printf(&c->mem, "%.*s/pawl.db", STR_ARG(folder)).ptr, F_OK), -1);
}

/*
 * The time is looked at every thousand steps of SQLite's machine, counted over all runs of a
 * statement: now and then a BEGIN is cut right after it has begun. A reader that stayed in that
 * snapshot would answer what is outdated from then on, and no checkpoint would get past it.
 */
#define CLAIM(test) cmocka_unit_test_setup_teardown(test, disk_setup, contract_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CLAIM(test_sqlite__log_is_begun_anew_and_does_not_grow),
        CLAIM(test_sqlite__full_disk_refuses_and_loses_nothing),
        cmocka_unit_test(test_sqlite__io_error_ends_the_process),
        CLAIM(test_sqlite__backup_is_restored_into_an_empty_folder),
        CLAIM(test_sqlite__damaged_backup_is_not_restored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
