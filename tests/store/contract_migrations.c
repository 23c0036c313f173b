/* contract_migrations.c - how tables come to be, in both databases; see store/db/migrate.h. */
#include "store/contract.h"

#include "store/db/migrate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void assert_version(struct db *db, int64_t expected)
{
    struct err err;
    int64_t version;

    assert_true(migrate_version(db, &version, &err));
    assert_int_equal(version, expected);
}

void contract_migrate(struct db *db, bool is_sqlite)
{
    const struct migration later[] = {
        {.version = migrate_newest + 1, .text = "CREATE TABLE later (n bigint)"},
        {.version = migrate_newest + 2, .text = "ALTER TABLE later ADD COLUMN name text"},
        {.version = migrate_newest + 1, .text = "INSERT INTO later (n) VALUES (1)"},
        {.version = migrate_newest + 3, .text = "INSERT INTO later (n, name) VALUES (2, 'two')"},
        {.version = migrate_newest + 3, .text = "INSERT INTO nowhere (n) VALUES (3)"},
        {.text = NULL},
    };
    struct err err;

    assert_version(db, 0);
    assert_true(migrate(db, is_sqlite, 0, &err));
    assert_true(migrate(db, is_sqlite, 0, &err)); /* nothing left to do */
    assert_version(db, migrate_newest);

    /* Statements of one number run in their order, whatever stands between them. */
    assert_true(migrate_run(db, later, migrate_newest + 2, 0, &err));
    assert_version(db, migrate_newest + 2);
    assert_int_equal(db_script(db, "UPDATE later SET name = 'one' WHERE n = 1"), DB_DONE);
    assert_int_equal(db_changes(db), 1);

    /* One that fails leaves nothing of itself. */
    assert_false(migrate_run(db, later, migrate_newest + 3, 0, &err));
    assert_version(db, migrate_newest + 2);
    assert_int_equal(db_script(db, "DELETE FROM later"), DB_DONE);
    assert_int_equal(db_changes(db), 1);

    /* A newer program has been here. */
    assert_false(migrate(db, is_sqlite, 0, &err));
    assert_non_null(strstr(err.message, "start a newer one"));
}
