/* dialect_postgres.c - the words of migrations/ in PostgreSQL. */
#include "store/db/tables.h"

#define SQLITE(...)
#define POSTGRES(...) __VA_ARGS__

#define INT bigint
#define SMALL_INT smallint
#define MEDIUM_INT integer
#define TEXT_C text COLLATE "C"
#define UUID uuid
#define JSON json
#define ROWID_KEY bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY
#define COUNTED_KEY ROWID_KEY
#define THEN_ROW , row
#define NOW_US (extract(epoch FROM now()) * 1000000)::bigint
#define TIME_OF(us) 'epoch' ::timestamptz + us *interval '1 microsecond'
#define JSONB_AS(column, name) column::jsonb AS name
#define SMALL(number) (number)::smallint

const struct migration tables_postgres[] = {
#include "store/db/migrations/tables.def"
#include "store/db/migrations/views.def"
    {0},
};
