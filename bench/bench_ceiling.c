/*
 * bench_ceiling.c - what PostgreSQL takes of the rows that Pawl writes, with
 * nothing around them: the ceiling for a server on it.
 *
 * Batches of 256 executions that have ended, each one row of execution with all
 * its indexes and four rows of history, as arrays through unnest, in one
 * pipeline with its commit: one round trip. No fence, no answers, no counters.
 * The tables are those of a store that was opened on this database before.
 */
#include "base/time/clock.h"
#include "base/uuid.h"
#include "store/write/apply.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 4, BATCH = 256 };

#define INPUT "{\"orderId\":\"A-1042\",\"amount\":129.9}"
#define OUTPUT "{\"reservation\":\"R-77\",\"total\":129.9,\"currency\":\"EUR\"}"
#define CONTEXT "{\"steps\":{\"a\":" OUTPUT ",\"b\":" OUTPUT ",\"c\":" OUTPUT ",\"d\":" OUTPUT "}}"

static struct db_value text(const char *s)
{
    return db_text(str_of(s));
}

static enum db_status put_execution(struct db *db, struct uuid_gen *ids, int64_t row, int64_t at)
{
    char id[UUID_TEXT_LEN + 1];
    enum db_status status;

    uuid_write(uuid_gen_next(ids, at / 1000), id);
    status = db_put(db, SQL_EXECUTION_INSERT,
                    DB_PARAMS(db_int(row), text(id), text("pawl_ceiling"), db_int(1),
                              text("completed"), db_int(1), db_int(STEPS), db_int(STEPS), db_null(),
                              db_null(), db_int(at), db_int(at), db_int(at), db_int(at), db_int(0),
                              db_int(0), db_int(2), text("00000000-0000-7000-8000-000000000001"),
                              db_null(), db_null(), db_null(),
                              text("{\"id\":\"admin\",\"name\":\"admin\",\"role\":\"admin\"}"),
                              db_null(), db_null(), db_null(), text(OUTPUT), text(INPUT),
                              text(CONTEXT), db_null(), db_null(), db_null(), text("scenario"),
                              db_null(), db_null(), db_null(), db_null(), db_null(), db_int(0)));
    for (int64_t seq = 1; seq <= STEPS && status == DB_DONE; seq++)
        status = db_put(db, SQL_HISTORY_INSERT,
                        DB_PARAMS(db_int(history_key(row, seq)), db_int(0), db_int(1), db_int(1),
                                  db_int(at), db_int(at), text("reserve"), text("completed"),
                                  db_null(), text(INPUT), text(OUTPUT), db_null(), db_null()));
    return status;
}

static enum db_status write_batch(struct db *db, struct uuid_gen *ids, struct new_rows *rows)
{
    int64_t at = clock_wall_us(&clock_system), keys[BATCH];
    enum db_status status = db_queue(db, SQL_BEGIN_WRITE, DB_NO_PARAMS);

    if (status == DB_DONE && new_rows_ask(rows, db, BATCH, &status))
        status = db_flush(db); /* only before the first */
    if (status == DB_DONE)
        status = new_rows_take(rows, db, BATCH, keys);
    for (size_t i = 0; i < BATCH && status == DB_DONE; i++)
        status = put_execution(db, ids, keys[i], at);
    if (status == DB_DONE)
        status = new_rows_ask_ahead(rows, db, BATCH);
    if (status == DB_DONE)
        status = db_commit(db);
    return status == DB_DONE ? new_rows_take_ahead(rows, db) : status;
}

int main(int argc, char **argv)
{
    int64_t for_us = argc > 2 ? atoll(argv[2]) * 1000 : 5000000, began, written = 0;
    static struct new_rows rows;
    struct uuid_gen ids;
    struct err err;
    struct db *db;

    if (argc < 2) {
        (void)fprintf(stderr, "usage: bench_ceiling postgres://... [milliseconds]\n");
        return 1;
    }
    db = db_postgres_open(str_of(argv[1]), DB_WRITE, STR("ceiling"), NULL, &err);
    if (db == NULL) {
        (void)fprintf(stderr, "bench_ceiling: %s\n", err.message);
        return 1;
    }
    uuid_gen_init(&ids, NULL, NULL);
    began = clock_mono_us(&clock_system);
    while (clock_mono_us(&clock_system) - began < for_us) {
        if (write_batch(db, &ids, &rows) != DB_DONE) {
            (void)fprintf(stderr, "bench_ceiling: %s\n", db->message);
            return 1;
        }
        written += BATCH;
    }
    printf("%.0f\n", (double)written * 1e6 / (double)(clock_mono_us(&clock_system) - began));
    db_close(db);
    return 0;
}
