/* db_sqlite.h - the connection behind a struct db, for the other files that speak to SQLite. */
#ifndef PAWL_STORE_DB_DB_SQLITE_H
#define PAWL_STORE_DB_DB_SQLITE_H

#include "store/db/db.h"

struct sqlite3;

struct sqlite3 *db_sqlite_handle(struct db *db);

/* What a code of SQLite means; the words of a failure are kept in db->message. */
enum db_status db_sqlite_status(struct db *db, int code);

/* A statement that table_sqlite.c is writing rows with, or NULL. */
struct sqlite3_stmt **db_sqlite_writing(struct db *db);

#endif
