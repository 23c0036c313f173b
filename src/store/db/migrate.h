/*
 * migrate.h - bring the tables to the version that this program knows.
 *
 *     empty --baseline--> 37 --38--> 38 --39--> ... --> newest
 *     1 to 36: refused, the last 0.1.0 brings them to 37      newer: refused
 *
 * why: decisions 0126, 0354, 0456
 */
#ifndef PAWL_STORE_DB_MIGRATE_H
#define PAWL_STORE_DB_MIGRATE_H

#include "store/db/db.h"
#include "store/db/tables.h"

/* The version that an empty database gets in one step, and the newest one. */
extern const int64_t migrate_baseline, migrate_newest;

/*
 * Make the tables, or run the migrations that are missing, each in a transaction
 * of its own under a lock, so that servers that start together do it once.
 * ERR_IO when one fails, or when the tables were made by a newer program, or by
 * one from before the baseline.
 */
bool migrate(struct db *db, bool is_sqlite, int64_t now_us, struct err *err) MUST_USE;

/* The version of the tables; 0 when there are none. */
bool migrate_version(struct db *db, int64_t *out, struct err *err) MUST_USE;

/* Run the migrations of a list that are missing up to `last`, as migrate() does with its own. */
bool migrate_run(struct db *db, const struct migration *list, int64_t last, int64_t now_us,
                 struct err *err) MUST_USE;

#endif
