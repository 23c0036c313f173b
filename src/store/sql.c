/* sql.c - see sql.h. */
#include "store/sql.h"

#include "store/sql_parts.h"

static const char *const sqlite_texts[] = {
#define SQL(symbol, text) [SQL_##symbol] = (text),
#define SQL_SQLITE(symbol, text) [SQL_##symbol] = (text),
#define SQL_POSTGRES(symbol, text)
#include "store/sql.def"
#undef SQL
#undef SQL_SQLITE
#undef SQL_POSTGRES
};

static const char *const postgres_texts[] = {
#define SQL(symbol, text) [SQL_##symbol] = (text),
#define SQL_SQLITE(symbol, text)
#define SQL_POSTGRES(symbol, text) [SQL_##symbol] = (text),
#include "store/sql.def"
#undef SQL
#undef SQL_SQLITE
#undef SQL_POSTGRES
};

const char *sql_for_sqlite(enum sql sql)
{
    ASSERT(sql < SQL_COUNT);
    return sqlite_texts[sql];
}

const char *sql_for_postgres(enum sql sql)
{
    ASSERT(sql < SQL_COUNT && postgres_texts[sql] != NULL);
    return postgres_texts[sql];
}
