/* migrate.h - bring the tables to the version that this program knows. */
#ifndef PAWL_STORE_MIGRATE_H
#define PAWL_STORE_MIGRATE_H

#include "store/db.h"

/* The number of the newest migration. */
extern const int64_t migrate_newest;

/*
 * Run the migrations that are missing, each in a transaction of its own under
 * a lock, so that servers that start together do it once. ERR_IO when one
 * fails, or when the tables were made by a newer program.
 */
bool migrate(struct db *db, bool is_sqlite, int64_t now_us, struct err *err) MUST_USE;

/* The same up to `last` and no further: for tests of the migrations after it. */
bool migrate_to(struct db *db, bool is_sqlite, int64_t last, int64_t now_us,
                struct err *err) MUST_USE;

/* Within a transaction: give every stored version its facts. */
enum db_status migrate_facts(struct db *db) MUST_USE;

/* The version of the tables; 0 when there are none. */
bool migrate_version(struct db *db, int64_t *out, struct err *err) MUST_USE;

#endif
