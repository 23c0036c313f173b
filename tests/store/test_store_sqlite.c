/* test_store_sqlite.c - the contract on SQLite, and what only a file can suffer. */
#include "engine/commit/commit.h"
#include "store/contract.h"
#include "store/db/db_sqlite.h"
#include "store/db/migrate.h"
#include "store/db/sql.h"
#include "store/read/reader.h"
#include "store/read_executions.h"

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

static struct str no_url(void)
{
    return STR("sqlite");
}

/* --- helpers --- */

static struct str path_of(struct contract *c, const char *name)
{
    return str_printf(&c->mem, "%s/%s", c->folder, name);
}

/* Open a store on a folder and expect that to fail with these words. */
static void assert_open_fails(struct contract *c, struct str folder, const char *words)
{
    struct err err = {0};
    struct store_options options = {.data_path = folder, .done = &c->done};
    struct store *s = store_open(&options, &err);

    assert_null(s);
    assert_int_equal(err.code, ERR_IO);
    if (strstr(err.message, words) == NULL)
        fail_msg("expected \"%s\" in \"%s\"", words, err.message);
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

static void run_sql(struct contract *c, const char *sql)
{
    (void)ask(c, sql);
}

/* --- the file --- */

static void test_sqlite__file_is_made_as_it_should_be(void **state)
{
    struct contract *c = *state;

    assert_str(ask(c, "PRAGMA journal_mode"), "wal");
    assert_str(ask(c, "PRAGMA auto_vacuum"), "2");
    assert_true(str_eq(ask(c, "SELECT max(version) FROM schema_version"),
                       str_printf(&c->mem, "%d", (int)migrate_newest)));
}

static void test_sqlite__file_has_one_node(void **state)
{
    struct contract *c = *state;

    (void)ask(c, "INSERT INTO nodes (node, batch_no, started_at) VALUES ('other', 7, 1)");
    assert_str(ask(c, "SELECT count(*) FROM nodes"), "2");
    contract_reopen(c);
    assert_str(ask(c, "SELECT count(*) FROM nodes"), "1");
    assert_int_equal(contract_commit(c, contract_start(c, STATUS_WAITING, 1)), MEMBER_APPLIED);
}

static void test_sqlite__second_server_on_a_folder_refuses(void **state)
{
    struct contract *c = *state;

    assert_open_fails(c, str_of(c->folder), "used by another server");
}

static void test_sqlite__damaged_file_is_named(void **state)
{
    struct contract *c = *state;
    char noise[8192];
    FILE *f;

    store_close(c->store);
    memset(noise, 'x', sizeof(noise));
    f = fopen(path_of(c, "pawl.db").ptr, "r+");
    assert_non_null(f);
    assert_int_equal(fwrite(noise, 1, sizeof(noise), f), sizeof(noise));
    fclose(f);
    assert_open_fails(c, str_of(c->folder), "damaged");
    assert_int_equal(unlink(path_of(c, "pawl.db").ptr), 0);
    c->store = store_open(&(struct store_options){.data_path = str_of(c->folder), .done = &c->done},
                          &(struct err){0});
    assert_non_null(c->store);
}

static void test_sqlite__file_where_the_folder_should_be_is_named(void **state)
{
    struct contract *c = *state;
    struct str path = path_of(c, "file");

    close(open(path.ptr, O_CREAT | O_WRONLY, 0600));
    assert_open_fails(c, path, "Not a directory");
}

/* Root may write anywhere but on a file system that is read-only. */
static void test_sqlite__read_only_folder_is_named(void **state)
{
    struct contract *c = *state;
    struct str path = path_of(c, "mounted");

    assert_int_equal(mkdir(path.ptr, 0700), 0);
    if (mount("tmpfs", path.ptr, "tmpfs", MS_RDONLY, "size=1m") != 0) {
        assert_int_equal(chmod(path.ptr, 0500), 0);
        if (geteuid() == 0)
            skip();
        assert_open_fails(c, path, "must be writable");
        return;
    }
    assert_open_fails(c, path, "must be writable");
    assert_int_equal(umount(path.ptr), 0);
}

static void test_sqlite__newer_version_is_refused(void **state)
{
    struct contract *c = *state;

    (void)ask(c, "INSERT INTO schema_version (version, applied_at) VALUES (999, 0)");
    store_close(c->store);
    assert_open_fails(c, str_of(c->folder), "start a newer one");
    (void)ask(c, "DELETE FROM schema_version WHERE version = 999");
    c->store = store_open(&(struct store_options){.data_path = str_of(c->folder), .done = &c->done},
                          &(struct err){0});
    assert_non_null(c->store);
}

static void test_sqlite__version_before_the_baseline_is_refused(void **state)
{
    struct contract *c = *state;
    const int shift = (int)(migrate_newest - migrate_baseline) + 1;

    (void)ask(c,
              str_printf(&c->mem, "UPDATE schema_version SET version = version - %d", shift).ptr);
    store_close(c->store);
    assert_open_fails(c, str_of(c->folder), "start the last 0.1.0 on it once");
    (void)ask(c,
              str_printf(&c->mem, "UPDATE schema_version SET version = version + %d", shift).ptr);
    c->store = store_open(&(struct store_options){.data_path = str_of(c->folder), .done = &c->done},
                          &(struct err){0});
    assert_non_null(c->store);
}

static void test_sqlite__migrations_follow_the_baseline(void **state)
{
    struct str path = path_of(*state, "empty.db");
    struct err err;
    struct db *db = db_sqlite_open(path, DB_CREATE, &err);

    assert_non_null(db);
    contract_migrate(db, true);
    db_close(db);
    assert_int_equal(unlink(path.ptr), 0);
}

/* --- the views --- */

static void test_sqlite__tables_of_the_seed_can_be_asked(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 2);
    char id[UUID_TEXT_LEN + 1], sql[256];

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    uuid_write(start->after->id, id);
    (void)snprintf(sql, sizeof(sql), "SELECT current_step FROM scenario_executions WHERE id = '%s'",
                   id);
    assert_str(ask(c, sql), "reserve");
    (void)snprintf(sql, sizeof(sql),
                   "SELECT group_concat(step_code || seq || kind || attempt, ' ') "
                   "FROM scenario_step_history WHERE execution_id = '%s'",
                   id);
    assert_str(ask(c, sql), "reserve1forward1 pay2forward1");
    assert_str(ask(c, "SELECT created_at FROM scenario_executions"), "2023-11-14T22:13:20.000007Z");
    assert_str(ask(c, "SELECT count(DISTINCT id) FROM scenario_step_history"), "2");
    assert_str(ask(c, "SELECT count(*) FROM scenario_versions"), "0");
}

/* --- how statements are run --- */

/* Lists and searches go by an index, however many executions there are. */
static void test_sqlite__no_read_scans_a_table(void **state)
{
    static const struct {
        enum sql sql;
        const char *index;
    } cases[] = {
        {SQL_READ_EXECUTION, "execution_by_id"},
        {SQL_READ_SENSITIVE, "execution_by_id"},
        {SQL_READ_SENSITIVE, "sqlite_autoindex_definition_1"},
        {SQL_READ_HISTORY, "PRIMARY KEY"},
        {SQL_READ_DUE, "execution_by_wake_at"},
        {SQL_LIST_ALL, "PRIMARY KEY"},
        {SQL_LIST_ALL_OLDEST, "PRIMARY KEY"},
        {SQL_LIST_BY_CODE, "execution_by_code"},
        {SQL_LIST_BY_CODE_OLDEST, "execution_by_code"},
        {SQL_LIST_BY_STATUS, "execution_by_status"},
        {SQL_LIST_BY_STATUS_OLDEST, "execution_by_status"},
        {SQL_LIST_BY_KEY, "execution_by_key"},
        {SQL_LIST_BY_KEY_OLDEST, "execution_by_key"},
        {SQL_LIST_BY_ID, "execution_by_id"},
        {SQL_LIST_BY_ID_OLDEST, "execution_by_id"},
        {SQL_LIST_BY_STEP, "execution_by_step"},
        {SQL_LIST_BY_STEP_OLDEST, "execution_by_step"},
        {SQL_LIST_BY_PARENT, "execution_by_parent"},
        {SQL_LIST_BY_PARENT_OLDEST, "execution_by_parent"},
        {SQL_LIST_BY_WAITING, "execution_by_waiting_kind"},
        {SQL_LIST_BY_WAITING_OLDEST, "execution_by_waiting_kind"},
        {SQL_LIST_BY_ERROR, "execution_by_error"},
        {SQL_LIST_BY_ERROR_OLDEST, "execution_by_error"},
        {SQL_LIST_WITH_BRANCHES, "execution_with_branches"},
        {SQL_LIST_WITH_BRANCHES_OLDEST, "execution_with_branches"},
        {SQL_WINDOW_ALL, "PRIMARY KEY"},
        {SQL_WINDOW_ALL_OLDEST, "PRIMARY KEY"},
        {SQL_WINDOW_BY_CODE, "COVERING INDEX execution_by_code"},
        {SQL_WINDOW_BY_CODE_OLDEST, "COVERING INDEX execution_by_code"},
        {SQL_WINDOW_BY_STATUS, "COVERING INDEX execution_by_status"},
        {SQL_WINDOW_BY_STATUS_OLDEST, "COVERING INDEX execution_by_status"},
        {SQL_WINDOW_BY_KEY, "COVERING INDEX execution_by_key"},
        {SQL_WINDOW_BY_KEY_OLDEST, "COVERING INDEX execution_by_key"},
        {SQL_WINDOW_BY_ID, "execution_by_id"},
        {SQL_WINDOW_BY_ID_OLDEST, "execution_by_id"},
        {SQL_WINDOW_BY_STEP, "COVERING INDEX execution_by_step"},
        {SQL_WINDOW_BY_STEP_OLDEST, "COVERING INDEX execution_by_step"},
        {SQL_WINDOW_BY_PARENT, "COVERING INDEX execution_by_parent"},
        {SQL_WINDOW_BY_PARENT_OLDEST, "COVERING INDEX execution_by_parent"},
        {SQL_WINDOW_BY_WAITING, "COVERING INDEX execution_by_waiting_kind"},
        {SQL_WINDOW_BY_WAITING_OLDEST, "COVERING INDEX execution_by_waiting_kind"},
        {SQL_WINDOW_BY_ERROR, "execution_by_error"},
        {SQL_WINDOW_BY_ERROR_OLDEST, "execution_by_error"},
        {SQL_WINDOW_WITH_BRANCHES, "execution_with_branches"},
        {SQL_WINDOW_WITH_BRANCHES_OLDEST, "execution_with_branches"},
        {SQL_SUMMARY_LIVE, "COVERING INDEX execution_lives"},
        {SQL_SUMMARY_ENDED_EDGE, "PRIMARY KEY"},
        {SQL_SUMMARY_FAILED_EDGE, "execution_by_status"},
        {SQL_READ_ENDED, "PRIMARY KEY"},
        {SQL_EXECUTION_END, "execution_by_id"},
        {SQL_HISTORY_DELETE_SOME, "PRIMARY KEY"},
        {SQL_READ_NOTICES, "execution_events_by_execution"},
        {SQL_READ_TYPES_OF, "INDEX jobs_ready (org_id=? AND type>? AND type<?)"},
        {SQL_READ_NOTICED_EXECUTIONS, "COVERING INDEX execution_events_by_execution"},
        {SQL_SIGNALS_DELETE_SOME, "sqlite_autoindex_signals_1"},
        {SQL_ANSWERS_BLANK, "http_idempotency_by_execution"},
        {SQL_LETTERS, "PRIMARY KEY"},
        {SQL_LETTERS_OPEN, "dead_letters_open"},
        {SQL_LETTERS_BY_CODE, "dead_letters_by_code"},
        {SQL_LETTERS_BY_EXECUTION, "dead_letters_by_execution"},
        {SQL_LETTERS_WINDOW, "PRIMARY KEY"},
        {SQL_LETTERS_WINDOW_OPEN, "dead_letters_open"},
        {SQL_LETTERS_WINDOW_BY_CODE, "dead_letters_by_code"},
        {SQL_LETTERS_WINDOW_BY_EXECUTION, "dead_letters_by_execution"},
        {SQL_READ_LETTER, "dead_letters_by_id"},
        {SQL_LETTER_FIND, "dead_letters_by_id"},
        {SQL_INCIDENT_CLOSE, "dead_letters_by_execution"},
        {SQL_NOTICE_ADD, "execution_by_id"},
        {SQL_LETTERS_DELETE_OPEN, "dead_letters_by_execution"},
        {SQL_LETTERS_DELETE_SOME, "dead_letters_by_execution"},
        {SQL_COUNTER, "sqlite_autoindex_counters_1"},
        {SQL_LIVE_KEY_FIND, "execution_by_live_key"},
        {SQL_READ_LIVE_BY_KEY, "execution_by_live_key"},
        {SQL_READ_RECEIVER, "execution_by_key"},
        {SQL_READ_RECEIVER, "sqlite_autoindex_signals_1"},
        {SQL_EXECUTION_STATE, "PRIMARY KEY"},
        {SQL_SIGNAL_FIND, "sqlite_autoindex_signals_1"},
        {SQL_WAIT_FIND, "waits_by_correlation"},
        {SQL_WAIT_DELETE, "waits_by_execution"},
        {SQL_WAITS_DELETE, "waits_by_execution"},
        {SQL_WAIT_ASSIGN, "waits_by_execution"},
        {SQL_WAIT_UNASSIGN, "wait_assignees_by_wait"},
        {SQL_WAITS_UNASSIGN, "wait_assignees_by_wait"},
        {SQL_INBOX_LIST, "PRIMARY KEY"},
        {SQL_INBOX_ITEM, "INTEGER PRIMARY KEY"},
        {SQL_INBOX_FIND, "waits_by_execution"},
        {SQL_LINKED_WAITS, "waits_by_execution"},
        {SQL_INBOX_ANSWERED, "wait_answers_by_user"},
        {SQL_ANSWERED_BEFORE, "wait_answers_by_key"},
        {SQL_WAIT_ANSWERS_DELETE_SOME, "wait_answers_by_key"},
        {SQL_CORRELATED_FIND, "correlated_signals_by_id"},
        {SQL_KEPT_AFTER, "correlated_signals_kept"},
        {SQL_KEPT_MEASURE, "correlated_signals_kept"},
        {SQL_READ_KEPT, "correlated_signals_kept"},
        {SQL_READ_KEPT, "sqlite_autoindex_signals_1"},
        {SQL_READ_EXPIRED, "correlated_signals_by_expiry"},
        {SQL_DELIVERED_PURGE, "correlated_signals_by_expiry"},
        {SQL_KEPT_PURGE, "correlated_signals_by_expiry"},
        {SQL_IDEMPOTENCY_FIND, "http_idempotency_by_key"},
        {SQL_IDEMPOTENCY_PURGE, "http_idempotency_asked"},
        {SQL_RECEIVED_PURGE, "http_idempotency_received"},
        {SQL_READ_RECORD, "records_by_id"},
        {SQL_READ_SNAPSHOT, "sqlite_autoindex_snapshot_1"},
        {SQL_READ_RECORD_ROW, "records_by_id"},
        {SQL_READ_RECORDS_AFTER, "records_by_object"},
        {SQL_RECORD_LOAD, "records_by_id"},
        {SQL_READ_RECORD_CHANGES, "PRIMARY KEY"},
        {SQL_RECORD_CHANGES_DELETE_SOME, "record_changes_by_key"},
        {SQL_RECORD_CHANGES_DELETE_SOME, "PRIMARY KEY"},
        {SQL_READ_PUBLISHED, "definition_published"},
        {SQL_LIST_BY_ORG, "execution_by_org"},
        {SQL_READ_ACCESS, "sqlite_autoindex_definition_1"},
        {SQL_READ_AUDIT, "audit_log_by_at"},
        {SQL_READ_AUDIT_BY_USER, "audit_log_by_user"},
        {SQL_READ_AUDIT_BY_ACTION, "audit_log_by_action"},
        {SQL_READ_AUDIT_BY_TARGET, "audit_log_by_target"},
        {SQL_READ_AUDIT_BY_ORG, "audit_log_by_org"},
        {SQL_USER_BY_EMAIL, "users_by_email"},
        {SQL_READ_TOKENS, "tokens_by_user"},
        {SQL_READ_ALL_PUBLISHED, "definition_published"},
        {SQL_READ_DEFINITIONS, "sqlite_autoindex_definition_1"},
        {SQL_PROCESS_NAMESAKE, "sqlite_autoindex_definition_1"},
    };
    struct contract *c = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct str sql = str_printf(&c->mem, "EXPLAIN QUERY PLAN %s", sql_for_sqlite(cases[i].sql));
        bool found = false;
        sqlite3 *handle;
        sqlite3_stmt *statement;

        assert_int_equal(sqlite3_open(path_of(c, "pawl.db").ptr, &handle), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(handle, sql.ptr, -1, &statement, NULL), SQLITE_OK);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *detail = (const char *)sqlite3_column_text(statement, 3);

            if ((strncmp(detail, "SCAN execution", 14) == 0 &&
                 strstr(detail, "COVERING") == NULL) ||
                strstr(detail, "SCAN history"))
                fail_msg("%s: %s", sql_for_sqlite(cases[i].sql), detail);
            if (strstr(detail, "TEMP B-TREE") != NULL)
                fail_msg("%s: %s", sql_for_sqlite(cases[i].sql), detail);
            found |= strstr(detail, cases[i].index) != NULL;
        }
        if (!found)
            fail_msg("%s does not use %s", sql_for_sqlite(cases[i].sql), cases[i].index);
        sqlite3_finalize(statement);
        sqlite3_close(handle);
    }
}

/* Conditions of indexes and constraints: IN (...) makes a table for every row that is written, instr() reads a text. */
static void test_sqlite__writing_a_commit_makes_no_table_and_searches_no_text(void **state)
{
    static const enum sql written[] = {SQL_EXECUTION_INSERT,
                                       SQL_EXECUTION_MOVE,
                                       SQL_HISTORY_INSERT,
                                       SQL_ADVANCE,
                                       SQL_ADVANCE_CONTEXT,
                                       SQL_ADVANCE_WAKE,
                                       SQL_ADVANCE_CONTEXT_WAKE_STEP,
                                       SQL_ADVANCE_CONTEXT_ALL,
                                       SQL_LIVE_KEY_DROP,
                                       SQL_OUTBOX_INSERT,
                                       SQL_JOB_INSERT,
                                       SQL_JOB_END,
                                       SQL_TASK_INSERT,
                                       SQL_TASK_MOVE,
                                       SQL_TASK_PATCH,
                                       SQL_TASK_ATTENTION,
                                       SQL_TASK_DELETE,
                                       SQL_TASK_LOG,
                                       SQL_TASK_EVENT_PUT};
    struct contract *c = *state;
    sqlite3 *handle;

    assert_int_equal(sqlite3_open(path_of(c, "pawl.db").ptr, &handle), SQLITE_OK);
    for (size_t i = 0; i < ARRAY_SIZE(written); i++) {
        struct str sql = str_printf(&c->mem, "EXPLAIN %s", sql_for_sqlite(written[i]));
        sqlite3_stmt *statement;

        assert_int_equal(sqlite3_prepare_v2(handle, sql.ptr, -1, &statement, NULL), SQLITE_OK);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(statement, 1);
            const char *detail = (const char *)sqlite3_column_text(statement, 5);

            if (strcmp(name, "OpenEphemeral") == 0)
                fail_msg("%s makes a temporary table", sql_for_sqlite(written[i]));
            if (detail != NULL && strncmp(detail, "instr(", 6) == 0)
                fail_msg("%s searches a text", sql_for_sqlite(written[i]));
        }
        sqlite3_finalize(statement);
    }
    sqlite3_close(handle);
}

/* How the database answers a task that is written behind the back of the store. */
static int put_task(sqlite3 *handle, const char *id, const char *status, const char *owner)
{
    char *sql = sqlite3_mprintf(
        "INSERT INTO tasks (id, org_id, title, min_skill, priority, status, row_version, "
        "assigned_to, self_checked, had_owner, needs_attention, created_at, updated_at) "
        "VALUES (%Q, 'o', 't', 0, 0, %Q, 1, %Q, 0, 0, 0, 1, 1)",
        id, status, owner);
    int code = sqlite3_exec(handle, sql, NULL, NULL, NULL);

    sqlite3_free(sql);
    return code;
}

static void test_sqlite__tasks_that_cannot_be_are_refused(void **state)
{
    static const struct {
        const char *status, *owner;
        bool can_be;
    } cases[] = {
        {"blocked", NULL, true},    {"available", NULL, true}, {"assigned", "a", true},
        {"in_progress", "b", true}, {"submitted", "c", true},  {"done", NULL, true},
        {"done", "a", true},        {"canceled", NULL, true},  {"lost", NULL, false},
        {"lost", "d", false},       {"blocked", "d", false},   {"available", "d", false},
        {"canceled", "d", false},   {"assigned", NULL, false}, {"in_progress", NULL, false},
        {"submitted", NULL, false}, {"assigned", "a", false},  {"submitted", "b", false},
        {"in_progress", "c", false}};
    struct contract *c = *state;
    sqlite3 *handle;

    assert_int_equal(sqlite3_open(path_of(c, "pawl.db").ptr, &handle), SQLITE_OK);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct str id = str_printf(&c->mem, "can-be-%zu", i);
        int code = put_task(handle, id.ptr, cases[i].status, cases[i].owner);

        if (code != (cases[i].can_be ? SQLITE_OK : SQLITE_CONSTRAINT))
            fail_msg("%s of %s: %d", cases[i].status,
                     cases[i].owner != NULL ? cases[i].owner : "nobody", code);
    }
    assert_int_equal(sqlite3_exec(handle, "DELETE FROM tasks", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(handle);
}

/* A column that is named has its indexes written, whether its value changes or not. */
static void test_sqlite__advance_writes_the_indexes_of_what_changes_alone(void **state)
{
    static const struct {
        enum sql sql;
        int indexes;
    } cases[] = {{SQL_ADVANCE, 0},
                 {SQL_ADVANCE_CONTEXT, 0},
                 {SQL_ADVANCE_WAKE, 1}, /* execution_by_wake_at */
                 {SQL_ADVANCE_STEP, 2}, /* execution_by_step, execution_lives */
                 {SQL_ADVANCE_CONTEXT_WAKE_STEP, 3}};
    struct contract *c = *state;
    sqlite3 *handle;

    assert_int_equal(sqlite3_open(path_of(c, "pawl.db").ptr, &handle), SQLITE_OK);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct str sql = str_printf(&c->mem, "EXPLAIN %s", sql_for_sqlite(cases[i].sql));
        sqlite3_stmt *statement;
        int indexes = 0;

        assert_int_equal(sqlite3_prepare_v2(handle, sql.ptr, -1, &statement, NULL), SQLITE_OK);
        while (sqlite3_step(statement) == SQLITE_ROW)
            indexes += strcmp((const char *)sqlite3_column_text(statement, 1), "IdxInsert") == 0;
        if (indexes != cases[i].indexes)
            fail_msg("%s writes %d indexes", sql_for_sqlite(cases[i].sql), indexes);
        sqlite3_finalize(statement);
    }
    sqlite3_close(handle);
}

static int schema_bytes(struct db *db)
{
    int now = 0, most = 0;

    assert_int_equal(
        sqlite3_db_status(db_sqlite_handle(db), SQLITE_DBSTATUS_SCHEMA_USED, &now, &most, 0),
        SQLITE_OK);
    return now;
}

/* A server that is idle has connections that nobody has asked yet. */
static void test_sqlite__connection_for_later_takes_no_memory_until_it_is_used(void **state)
{
    struct contract *c = *state;
    struct err err;
    struct db *db = db_sqlite_open(path_of(c, "pawl.db"), DB_READ_LATER, &err);

    assert_non_null(db);
    assert_int_equal(schema_bytes(db), 0);
    assert_true(db_run(db, SQL_EXECUTION_STATE, DB_PARAMS(db_int(1))) <= DB_DONE);
    db_end(db, SQL_EXECUTION_STATE);
    assert_true(schema_bytes(db) > 0);
    assert_int_equal(db_exec(db, SQL_LIVE_KEY_DROP, DB_PARAMS(db_int(1))), DB_READ_ONLY);
    db_close(db);
}

struct slow {
    bool ok;
    struct err err;
};

static void be_slow(struct contract *c, struct reader *r, void *context)
{
    struct slow *slow = context;
    struct stored_executions found;
    struct str next;

    db_allow_us(r->db, 1);
    slow->ok = read_executions(r, &c->mem, &(struct execution_filter){.limit = 500}, &found, &next,
                               &slow->err);
}

static void test_sqlite__slow_read_is_cut(void **state)
{
    struct contract *c = *state;
    struct batch *b = contract_batch(c, NULL);
    struct slow slow = {.ok = true};

    for (int i = 0; i < 500; i++)
        *VEC_ADD(&c->mem, &b->members) = contract_member(c, contract_start(c, STATUS_COMPLETED, 1));
    contract_write(c, b);
    contract_read(c, be_slow, &slow);
    assert_false(slow.ok);
    assert_int_equal(slow.err.code, ERR_OVERLOADED);
    /* The next task has its own time. */
    assert_non_null(contract_load(c, b->members.items[0]->commit->after->id));
}

static void test_sqlite__a_part_that_is_connected_says_nothing_of_another(void **state)
{
    struct store s = {0};
    int64_t since_us;

    (void)state;
    assert_int_equal(store_lost_since_us(&s), 0);
    db_note_lost(&s.lost_since_us[STORE_WAITING_WRITER]);
    assert_int_equal(store_lost_since_us(&s), 0); /* nothing but what waits for a lock needs it */
    db_note_lost(&s.lost_since_us[STORE_WRITER]);
    since_us = store_lost_since_us(&s);
    assert_int_not_equal(since_us, 0);
    db_note_connected(&s.lost_since_us[STORE_WAITING_WRITER]);
    db_note_connected(&s.lost_since_us[STORE_READERS]);
    assert_int_equal(store_lost_since_us(&s), since_us);
    db_note_lost(&s.lost_since_us[STORE_READERS]);
    assert_int_equal(store_lost_since_us(&s), since_us);
    db_note_connected(&s.lost_since_us[STORE_WRITER]);
    assert_int_not_equal(store_lost_since_us(&s), 0);
    db_note_connected(&s.lost_since_us[STORE_READERS]);
    assert_int_equal(store_lost_since_us(&s), 0);
}

static void test_sqlite__begin_that_is_cut_leaves_no_snapshot_open(void **state)
{
    enum { BEGINS = 5000 };
    struct contract *c = *state;
    _Atomic int64_t lost_since_us = 0;
    struct readers all = {.lost_since_us = &lost_since_us};
    struct err err;
    struct db *db = db_sqlite_open(path_of(c, "pawl.db"), DB_READ, &err);
    struct reader r = {.db = db, .all = &all};
    unsigned cuts = 0;

    assert_non_null(db);
    for (unsigned i = 0; i < BEGINS; i++) {
        db_allow_us(db, -1); /* it is over */
        if (reader_begin(&r, &err)) {
            reader_end(&r);
            continue;
        }
        cuts++;
        /* Within a transaction another one cannot begin. */
        db_allow_us(db, 0);
        assert_int_equal(db_exec(db, SQL_BEGIN_READ, DB_NO_PARAMS), DB_DONE);
        assert_int_equal(db_exec(db, SQL_ROLLBACK, DB_NO_PARAMS), DB_DONE);
    }
    assert_true(cuts > 0);
    db_close(db);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

int main(void)
{
    static const struct contract_backend backend = {
        .fresh_url = no_url, .is_sqlite = true, .run_sql = run_sql};
    static const struct CMUnitTest tests[] = {
        CLAIM(test_sqlite__file_is_made_as_it_should_be),
        CLAIM(test_sqlite__file_has_one_node),
        CLAIM(test_sqlite__second_server_on_a_folder_refuses),
        CLAIM(test_sqlite__damaged_file_is_named),
        CLAIM(test_sqlite__file_where_the_folder_should_be_is_named),
        CLAIM(test_sqlite__read_only_folder_is_named),
        CLAIM(test_sqlite__newer_version_is_refused),
        CLAIM(test_sqlite__version_before_the_baseline_is_refused),
        CLAIM(test_sqlite__migrations_follow_the_baseline),
        CLAIM(test_sqlite__tables_of_the_seed_can_be_asked),
        CLAIM(test_sqlite__no_read_scans_a_table),
        CLAIM(test_sqlite__writing_a_commit_makes_no_table_and_searches_no_text),
        CLAIM(test_sqlite__tasks_that_cannot_be_are_refused),
        CLAIM(test_sqlite__advance_writes_the_indexes_of_what_changes_alone),
        CLAIM(test_sqlite__connection_for_later_takes_no_memory_until_it_is_used),
        CLAIM(test_sqlite__slow_read_is_cut),
        CLAIM(test_sqlite__a_part_that_is_connected_says_nothing_of_another),
        CLAIM(test_sqlite__begin_that_is_cut_leaves_no_snapshot_open),
    };
    int failed = contract_run(&backend, "sqlite");

    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
