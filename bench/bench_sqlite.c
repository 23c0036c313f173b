/*
 * bench_sqlite.c - the ceiling: the rows of an execution written to SQLite,
 * with nothing of Pawl around.
 *
 * Takes the file of a server that has run, and writes its newest execution over
 * and over, row by row as it stands there, into a new file with the same tables
 * and indexes. One transaction holds as many executions as asked, every one is
 * synced, one thread does all of it. Prints executions per second.
 *
 *     bench_sqlite FILE FOLDER BATCH MILLISECONDS
 */
#include "base/time/clock.h"
#include "base/uuid.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MAX = 100, ROWS_MAX = 16, HISTORY_SEQ_BITS = 24, CHECKPOINT_PAGES = 64000 };

/* A row as it stands in the other file, and the statement that writes it again. */
struct copy {
    sqlite3_stmt *insert;
    sqlite3_value *values[COLUMNS_MAX];
    int count, row_column, id_column;
};

static sqlite3 *to;

static void check(int code, const char *what)
{
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
        return;
    (void)fprintf(stderr, "bench_sqlite: %s: %s\n", what, sqlite3_errmsg(to));
    exit(1);
}

static void script(const char *text)
{
    check(sqlite3_exec(to, text, NULL, NULL, NULL), text);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement;

    check(sqlite3_prepare_v2(db, text, -1, &statement, NULL), text);
    return statement;
}

static void copy_schema(sqlite3 *from)
{
    sqlite3_stmt *s =
        prepare(from, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE "
                      "'sqlite_%' ORDER BY type = 'index'");

    while (sqlite3_step(s) == SQLITE_ROW)
        script((const char *)sqlite3_column_text(s, 0));
    check(sqlite3_finalize(s), "schema");
}

/* Remember the row that `s` stands on. */
static void remember(struct copy *c, sqlite3_stmt *s, const char *table, const char *row_column)
{
    char text[2048];
    size_t len = (size_t)snprintf(text, sizeof(text), "INSERT INTO %s (", table);

    *c = (struct copy){.count = sqlite3_column_count(s), .row_column = -1, .id_column = -1};
    if (c->count > COLUMNS_MAX) {
        (void)fprintf(stderr, "bench_sqlite: %s has %d columns, room is for %d\n", table, c->count,
                      COLUMNS_MAX);
        exit(1);
    }
    for (int i = 0; i < c->count; i++) {
        const char *name = sqlite3_column_name(s, i);

        c->values[i] = sqlite3_value_dup(sqlite3_column_value(s, i));
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i > 0 ? ", " : "", name);
        if (strcmp(name, row_column) == 0)
            c->row_column = i;
        if (strcmp(name, "id") == 0)
            c->id_column = i;
    }
    len += (size_t)snprintf(text + len, sizeof(text) - len, ") VALUES (?1");
    for (int i = 1; i < c->count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, ", ?%d", i + 1);
    (void)snprintf(text + len, sizeof(text) - len, ")");
    c->insert = prepare(to, text);
}

static void write_copy(struct copy *c, int64_t row, const char *id)
{
    for (int i = 0; i < c->count; i++)
        if (i == c->row_column)
            check(sqlite3_bind_int64(c->insert, i + 1, row), "bind");
        else if (i == c->id_column)
            check(sqlite3_bind_text(c->insert, i + 1, id, UUID_TEXT_LEN, SQLITE_STATIC), "bind");
        else
            check(sqlite3_bind_value(c->insert, i + 1, c->values[i]), "bind");
    check(sqlite3_step(c->insert), "insert");
    check(sqlite3_reset(c->insert), "insert");
}

static int on_log(void *context, sqlite3 *db, const char *name, int pages)
{
    (void)context;
    return pages >= CHECKPOINT_PAGES
               ? sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL)
               : SQLITE_OK;
}

static double run(struct copy *rows, int count, int batch, int64_t for_us)
{
    int64_t began_us = clock_mono_us(&clock_system), written = 0, now_us;
    struct uuid_gen ids;
    char id[UUID_TEXT_LEN + 1];

    uuid_gen_init(&ids, NULL, NULL);
    do {
        script("BEGIN IMMEDIATE");
        for (int i = 0; i < batch; i++) {
            written++;
            uuid_write(uuid_gen_next(&ids, clock_wall_us(&clock_system) / 1000), id);
            for (int k = 0; k < count; k++)
                write_copy(&rows[k], k == 0 ? written : written << HISTORY_SEQ_BITS | k, id);
        }
        script("UPDATE nodes SET batch_no = batch_no + 1");
        script("COMMIT");
        now_us = clock_mono_us(&clock_system);
    } while (now_us - began_us < for_us);
    return (double)written * 1e6 / (double)(now_us - began_us);
}

int main(int argc, char **argv)
{
    struct copy rows[ROWS_MAX];
    int count = 1;
    char path[4096];
    sqlite3 *from;
    sqlite3_stmt *s;

    if (argc != 5) {
        (void)fprintf(stderr, "bench_sqlite FILE FOLDER BATCH MILLISECONDS\n");
        return 2;
    }
    (void)snprintf(path, sizeof(path), "%s/ceiling.db", argv[2]);
    check(sqlite3_open_v2(argv[1], &from, SQLITE_OPEN_READONLY, NULL), argv[1]);
    check(sqlite3_open(path, &to), path);
    script("PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL;"
           "PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768");
    copy_schema(from);
    script("INSERT INTO nodes (node, batch_no, started_at) VALUES ('ceiling', 0, 0)");
    (void)sqlite3_wal_hook(to, on_log, NULL);

    s = prepare(from, "SELECT * FROM execution WHERE status = 'completed' "
                      "ORDER BY row DESC LIMIT 1");
    check(sqlite3_step(s), "execution");
    remember(&rows[0], s, "execution", "row");
    check(sqlite3_finalize(s), "execution");
    s = prepare(from, "SELECT h.* FROM history h, (SELECT max(row) AS row FROM execution "
                      "WHERE status = 'completed') e "
                      "WHERE h.key > e.row << 24 AND h.key < (e.row + 1) << 24 ORDER BY h.key");
    for (; count < ROWS_MAX && sqlite3_step(s) == SQLITE_ROW; count++)
        remember(&rows[count], s, "history", "key");
    check(sqlite3_finalize(s), "history");
    printf("%.1f\n", run(rows, count, (int)strtol(argv[3], NULL, 10), atoll(argv[4]) * 1000));

    for (int i = 0; i < count; i++) {
        check(sqlite3_finalize(rows[i].insert), "end");
        for (int k = 0; k < rows[i].count; k++)
            sqlite3_value_free(rows[i].values[k]);
    }
    (void)sqlite3_close(from);
    (void)sqlite3_close(to);
    return unlink(path) == 0 ? 0 : 1;
}
