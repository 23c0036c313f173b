/* dialect_sqlite.c - the words of migrations/ in SQLite. */
#include "store/db/tables.h"

#define SQLITE(...) __VA_ARGS__
#define POSTGRES(...)

#define INT INTEGER
#define SMALL_INT INTEGER
#define MEDIUM_INT INTEGER
#define TEXT_C TEXT
#define UUID TEXT
#define JSON TEXT
#define ROWID_KEY INTEGER PRIMARY KEY
#define COUNTED_KEY INTEGER PRIMARY KEY AUTOINCREMENT
#define THEN_ROW /* each index ends with the rowid */
#define NOW_US strftime('%s', 'now') * 1000000
#define TIME_OF(us)                                                                                \
    strftime('%Y-%m-%dT%H:%M:%S', us / 1000000, 'unixepoch') || printf('.%06dZ', us % 1000000)
#define JSONB_AS(column, name) column
#define SMALL(number) number

const struct migration tables_sqlite[] = {
#include "store/db/migrations/tables.def"
#include "store/db/migrations/views.def"
    {0},
};
