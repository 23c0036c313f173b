/*
 * move.h - move a whole installation from one database to another: from the SQLite file of a data
 * folder to PostgreSQL, or back.
 *
 *     source, stopped --table by table--> target --all there--> source is marked as moved
 *
 * Each table is copied, read back, compared and committed by itself; a move that was interrupted
 * goes on where it stopped. Until it is whole no server starts on the target, and afterwards none
 * on the source.
 *
 * why: decision 0377
 */
#ifndef PAWL_STORE_MOVE_H
#define PAWL_STORE_MOVE_H

#include "base/err.h"

/* "postgres://..." or "postgresql://...", or a data folder, with or without "sqlite:" before it. */
struct move_request {
    struct str from, to;

    /* How far it has come: rows that were copied and compared. */
    void (*progress)(void *context, struct str table, int64_t done, int64_t total);
    void *context;
};

struct move_result {
    int64_t tables, rows;
    int64_t tables_before; /* of these, copied by an earlier move that was interrupted */
};

/*
 * Move it. ERR_CONFLICT: a server runs on either, the target holds an installation, or was begun
 * from another source; ERR_NOT_FOUND: there is nothing to move.
 */
bool store_move(const struct move_request *m, struct move_result *out, struct err *err) MUST_USE;

/* The folder of a place that is a data folder; STR_NONE of one that is a server. */
struct str move_folder(struct str place);

#endif
