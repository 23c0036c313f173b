/* sql.h - the texts of the catalogue, sql.def. */
#ifndef PAWL_STORE_DB_SQL_H
#define PAWL_STORE_DB_SQL_H

#include "store/db/db.h"

/* The statement as it stands in the catalogue; PostgreSQL's may still have ?1 for $1. */
const char *sql_for_sqlite(enum sql sql);
const char *sql_for_postgres(enum sql sql);

/* Of a SQL_ROWS statement: the types of its columns, one letter each; NULL of any other. */
const char *sql_types(enum sql sql);

/* Whether a row that it did not write is a conflict. */
bool sql_is_exact(enum sql sql);

#endif
