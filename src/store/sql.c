/* sql.c - see sql.h. */
#include "store/sql.h"

#include "store/db.h"
#include "store/sql_parts.h"

static const char *const sqlite_texts[] = {
#define SQL(symbol, text) [SQL_##symbol] = (text),
#define SQL_SQLITE(symbol, text) [SQL_##symbol] = (text),
#define SQL_POSTGRES(symbol, text)
#define SQL_ROWS(symbol, exact, types, sqlite, postgres) [SQL_##symbol] = (sqlite),
#include "store/sql.def"
#undef SQL
#undef SQL_SQLITE
#undef SQL_POSTGRES
#undef SQL_ROWS
};

static const char *const postgres_texts[] = {
#define SQL(symbol, text) [SQL_##symbol] = (text),
#define SQL_SQLITE(symbol, text)
#define SQL_POSTGRES(symbol, text) [SQL_##symbol] = (text),
#define SQL_ROWS(symbol, exact, types, sqlite, postgres) [SQL_##symbol] = (postgres),
#include "store/sql.def"
#undef SQL
#undef SQL_SQLITE
#undef SQL_POSTGRES
#undef SQL_ROWS
};

/* Drivers have room for so many columns, and no more. */
#define SQL(symbol, text)
#define SQL_SQLITE(symbol, text)
#define SQL_POSTGRES(symbol, text)
#define SQL_ROWS(symbol, exact, types, sqlite, postgres)                                           \
    _Static_assert(sizeof(types) - 1 <= DB_PARAMS_MAX, #symbol " has more than DB_PARAMS_MAX");
#include "store/sql.def"
#undef SQL
#undef SQL_SQLITE
#undef SQL_POSTGRES
#undef SQL_ROWS

static const struct {
    const char *types;
    bool is_exact;
} rows[SQL_COUNT] = {
#define SQL(symbol, text)
#define SQL_SQLITE(symbol, text)
#define SQL_POSTGRES(symbol, text)
#define SQL_ROWS(symbol, exact, columns, sqlite, postgres)                                         \
    [SQL_##symbol] = {.types = (columns), .is_exact = (exact)},
#include "store/sql.def"
#undef SQL
#undef SQL_SQLITE
#undef SQL_POSTGRES
#undef SQL_ROWS
};

const char *sql_types(enum sql sql)
{
    ASSERT(sql < SQL_COUNT);
    return rows[sql].types;
}

bool sql_is_exact(enum sql sql)
{
    ASSERT(sql < SQL_COUNT);
    return rows[sql].is_exact;
}

const char *sql_for_sqlite(enum sql sql)
{
    ASSERT(sql < SQL_COUNT && sqlite_texts[sql] != NULL);
    return sqlite_texts[sql];
}

const char *sql_for_postgres(enum sql sql)
{
    ASSERT(sql < SQL_COUNT && postgres_texts[sql] != NULL);
    return postgres_texts[sql];
}
