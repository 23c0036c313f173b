/* sql.h - the texts of the catalogue, sql.def. */
#ifndef PAWL_STORE_SQL_H
#define PAWL_STORE_SQL_H

#include "store/db.h"

/* The statement as it stands in the catalogue; PostgreSQL's may still have ?1 for $1. */
const char *sql_for_sqlite(enum sql sql);
const char *sql_for_postgres(enum sql sql);

#endif
