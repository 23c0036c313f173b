/* new_rows.c - see new_rows.h. */
#include "store/write/new_rows.h"

#include "base/time/clock.h"

#define AHEAD_FOR_US INT64_C(1000000)

static void forget_old(struct new_rows *n)
{
    if (n->count > 0 && clock_mono_us(&clock_system) - n->since_us > AHEAD_FOR_US)
        n->count = 0;
}

bool new_rows_ask(struct new_rows *n, struct db *db, size_t starts, enum db_status *status)
{
    *status = DB_DONE;
    forget_old(n);
    if (starts <= n->count)
        return false;
    *status = db_queue(db, SQL_NEW_ROWS, DB_PARAMS(db_int((int64_t)(starts - n->count))));
    return true;
}

enum db_status new_rows_take(struct new_rows *n, struct db *db, size_t starts, int64_t *out)
{
    size_t i = 0;
    enum db_status status = DB_DONE;

    while (i < starts && n->count > 0)
        out[i++] = n->ahead[--n->count];
    if (i == starts)
        return DB_DONE;
    status = db_first(db, SQL_NEW_ROWS);
    for (; i < starts && status == DB_ROW; status = db_next(db, SQL_NEW_ROWS))
        out[i++] = db_column_int(db, SQL_NEW_ROWS, 0);
    db_end(db, SQL_NEW_ROWS);
    return i == starts || status > DB_DONE ? status : DB_CORRUPT;
}

enum db_status new_rows_ask_ahead(struct new_rows *n, struct db *db, size_t starts)
{
    size_t wanted = 2 * starts < ROWS_AHEAD_MAX ? 2 * starts : ROWS_AHEAD_MAX;

    if (wanted <= n->count)
        return DB_DONE;
    return db_queue(db, SQL_NEW_ROWS, DB_PARAMS(db_int((int64_t)(wanted - n->count))));
}

enum db_status new_rows_take_ahead(struct new_rows *n, struct db *db)
{
    int64_t fresh[ROWS_AHEAD_MAX];
    size_t count = 0;
    enum db_status status = db_first(db, SQL_NEW_ROWS);

    for (; status == DB_ROW && n->count + count < ROWS_AHEAD_MAX;
         status = db_next(db, SQL_NEW_ROWS))
        fresh[count++] = db_column_int(db, SQL_NEW_ROWS, 0);
    db_end(db, SQL_NEW_ROWS);
    if (count == 0)
        return status;
    if (n->count == 0)
        n->since_us = clock_mono_us(&clock_system);
    /* Older ones are smaller and are used first, from the end. */
    memmove(n->ahead + count, n->ahead, n->count * sizeof(*n->ahead));
    for (size_t i = 0; i < count; i++)
        n->ahead[i] = fresh[count - 1 - i];
    n->count += count;
    return status;
}
