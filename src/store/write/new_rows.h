/*
 * new_rows.h - keys for executions that begin.
 *
 * A file says its highest one. A database that is a round trip away gives them
 * from a sequence, and some more with each commit, so that a batch which only
 * starts executions has nothing to ask before it writes. Those that were not
 * used within a moment are left: lists go by these keys, newest first.
 */
#ifndef PAWL_STORE_WRITE_NEW_ROWS_H
#define PAWL_STORE_WRITE_NEW_ROWS_H

#include "store/db/db.h"

enum { ROWS_AHEAD_MAX = 1024 };

struct new_rows {
    int64_t ahead[ROWS_AHEAD_MAX]; /* taken and not used: the first `count`, the largest first */
    size_t count;
    int64_t since_us; /* by the monotonic clock: when the oldest of them was taken */
};

/* Whether the database must be asked before `starts` executions can begin; then it is queued. */
bool new_rows_ask(struct new_rows *n, struct db *db, size_t starts, enum db_status *status);

/* Keys for `starts` executions into out; after the flush when the database was asked. */
enum db_status new_rows_take(struct new_rows *n, struct db *db, size_t starts, int64_t *out);

/* Queue a question for the next batch, and after the commit take what it was answered. */
enum db_status new_rows_ask_ahead(struct new_rows *n, struct db *db, size_t starts);
enum db_status new_rows_take_ahead(struct new_rows *n, struct db *db);

#endif
