/* sql.c - see sql.h. */
#include "store/db/sql.h"

#include "store/db/db.h"
#include "store/db/sql_parts.h"

static const struct {
    const char *sqlite, *postgres;
    const char *types;
    bool is_exact;
} statements[SQL_COUNT] = {
#define SQL(symbol, text) [SQL_##symbol] = {.sqlite = (text), .postgres = (text)},
#define SQL_SQLITE(symbol, text) [SQL_##symbol].sqlite = (text),
#define SQL_POSTGRES(symbol, text) [SQL_##symbol].postgres = (text),
#define SQL_ROWS(symbol, exact, columns, for_sqlite, for_postgres)                                 \
    [SQL_##symbol] = {.sqlite = (for_sqlite),                                                      \
                      .postgres = (for_postgres),                                                  \
                      .types = (columns),                                                          \
                      .is_exact = (exact)},
#include "store/db/sql.def"
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
#include "store/db/sql.def"
#undef SQL
#undef SQL_SQLITE
#undef SQL_POSTGRES
#undef SQL_ROWS

const char *sql_types(enum sql sql)
{
    ASSERT(sql < SQL_COUNT);
    return statements[sql].types;
}

bool sql_is_exact(enum sql sql)
{
    ASSERT(sql < SQL_COUNT);
    return statements[sql].is_exact;
}

const char *sql_for_sqlite(enum sql sql)
{
    ASSERT(sql < SQL_COUNT && statements[sql].sqlite != NULL);
    return statements[sql].sqlite;
}

const char *sql_for_postgres(enum sql sql)
{
    ASSERT(sql < SQL_COUNT && statements[sql].postgres != NULL);
    return statements[sql].postgres;
}
