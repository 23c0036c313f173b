/* db_postgres.c - the driver for PostgreSQL. */
#include "store/sql.h"

struct db *db_postgres_open(struct str url, enum db_mode mode, struct str name, struct err *err)
{
    (void)url;
    (void)mode;
    (void)name;
    (void)err_set(err, ERR_IO, "PostgreSQL is not supported yet");
    return NULL;
}
