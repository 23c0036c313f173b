/*
 * private_postgres.h - a PostgreSQL server of a test's own, in a temporary
 * folder, on a free port of the loopback interface; or a database of its own on
 * the server that a run of scripts/run-tests shares.
 *
 * PostgreSQL refuses to run as root: then it runs as the user postgres.
 */
#ifndef PAWL_TESTS_STORE_PRIVATE_POSTGRES_H
#define PAWL_TESTS_STORE_PRIVATE_POSTGRES_H

#include "base/str.h"

/* Make and start the server. False, with a line on standard error, when that fails. */
bool private_postgres_start(void);

/*
 * A database of the server at PAWL_TEST_POSTGRES, for tests that never stop it;
 * without that variable the same as private_postgres_start().
 */
bool private_postgres_share(void);

/* Stop it at once, as in a crash, and start it again. */
bool private_postgres_restart(void);

/* Only one half of it. */
bool private_postgres_stop(void);
bool private_postgres_resume(void);

int private_postgres_port(void);

/* Drop everything in the database; its address. */
struct str private_postgres_fresh(void);

/* Run one statement and answer the first value of its first row, in a static buffer. */
const char *private_postgres_ask(const char *sql);

/* Stop it and remove its folder; what is shared stays. */
void private_postgres_end(void);

#endif
