/*
 * contract.h - what every store must do, as one table of claims, and the
 * helpers to make commits by hand.
 *
 * A backend gives each test a fresh, empty store and says how to open it; the
 * tests know nothing else of it.
 */
#ifndef PAWL_TESTS_STORE_CONTRACT_H
#define PAWL_TESTS_STORE_CONTRACT_H

#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "engine/status.h"
#include "store/audit.h"
#include "store/change_definition.h"
#include "store/idempotency.h"
#include "store/read.h"
#include "store/store.h"

struct contract;

/* How a backend opens its stores. */
struct contract_backend {
    struct str (*fresh_url)(void); /* an empty database; the same until called again */
    bool is_sqlite;
    void (*run_sql)(struct contract *c, const char *sql); /* behind the back of the store */
};

/* An open store with a folder of its own. */
struct contract {
    struct arena mem;
    struct mailbox done;
    struct store *store;
    struct str url;
    char folder[64];
    struct uuid_gen ids;
    int64_t batches;
    int64_t seen; /* the last one that came back */
};

/* Run every claim on the backend; answers how many failed. */
int contract_run(const struct contract_backend *backend, const char *name);

/* The claims about reading, and about definitions; parts of contract_run(). */
int contract_run_reads(const char *name);
int contract_run_drafts(const char *name);
int contract_run_definitions(const char *name);
int contract_run_snapshots(const char *name);

/* The claims about records that executions write; the same. */
int contract_run_records(const char *name);

/* The claims about records that are edited and executions that are deleted; the same. */
int contract_run_changes(const char *name);

/* The claims about dead letters; the same. */
int contract_run_letters(const char *name);

/* The claims about jobs and leases; the same. */
int contract_run_jobs(const char *name);

/* The claims about what executions are told, and about members that only assert; the same. */
int contract_run_events(const char *name);

/* The claims about waits and signals that a correlation joins; the same. */
int contract_run_signals(const char *name);

/* A signal to be kept for a correlation, and the start of an execution that waits for it. */
struct member *contract_keep(struct contract *c, struct str correlation);
struct member *contract_wait(struct contract *c, struct str correlation);

/* An empty database gets the baseline, and what comes after it one migration at a time. */
struct db;
void contract_migrate(struct db *db, bool is_sqlite);

/* The same about users, tokens and the audit log. */
int contract_run_users(const char *name);

/* Before and after each claim: *state is a struct contract. */
int contract_setup(void **state);
int contract_teardown(void **state);

#define assert_str(actual, expected)                                                               \
    do {                                                                                           \
        struct str actual_ = (actual);                                                             \
        assert_int_equal(actual_.len, sizeof(expected) - 1);                                       \
        assert_memory_equal(actual_.ptr, expected, sizeof(expected) - 1);                          \
    } while (0)

/* --- for other tests of stores --- */

void contract_open(struct contract *c, struct str url);
void contract_reopen(struct contract *c);
void contract_close(struct contract *c);

/* A new id of that millisecond. */
struct uuid contract_id(struct contract *c, int64_t ms);

/* A start with `steps` rows of history, `status` after it. */
struct commit *contract_start(struct contract *c, enum execution_status status, int steps);

/* The next commit of the execution of `before`, with `steps` more rows. */
struct commit *contract_advance(struct contract *c, const struct commit *before,
                                enum execution_status status, int steps);

struct member *contract_member(struct contract *c, const struct commit *commit);

/* Make a batch of members, ended by NULL. */
struct batch *contract_batch(struct contract *c, struct member *first, ...);

/* Run a statement behind the back of the store. */
void contract_run_sql(struct contract *c, const char *sql);

/* Submit a batch and wait for it. */
void contract_write(struct contract *c, struct batch *b);

/* The next item that comes back, waiting for it. */
void *contract_take(struct contract *c);

/* Write one commit; answers its result. */
enum member_result contract_commit(struct contract *c, const struct commit *commit);

/* Run `read` on a reader thread and wait for it. */
typedef void contract_read_fn(struct contract *c, struct reader *r, void *context);
void contract_read(struct contract *c, contract_read_fn *read, void *context);

/* The stored execution; NULL when there is none. */
struct stored_execution *contract_load(struct contract *c, struct uuid id);

#endif
