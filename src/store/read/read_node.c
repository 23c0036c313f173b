/* read_node.c - who shares the store, who has which key, what has ended; see read.h. */
#include "store/read_node.h"
#include "store/installation.h"
#include "store/read/read_row.h"
#include "store/read_find.h"
#include "store/read_retention.h"

bool read_nodes(struct reader *r, struct arena *mem, struct stored_nodes *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_NODES, DB_NO_PARAMS);

    *out = (struct stored_nodes){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = (struct stored_node){.name = rows_text(&rows, 0),
                                                  .started_at_us = rows_int(&rows, 1),
                                                  .batches = rows_int(&rows, 2),
                                                  .is_connected = rows_int(&rows, 3) != 0,
                                                  .epoch = rows_int(&rows, 4),
                                                  .version = rows_text(&rows, 5),
                                                  .beat_at_us = rows_int(&rows, 6),
                                                  .is_draining = rows_int(&rows, 7) != 0,
                                                  .shards = rows_int(&rows, 8),
                                                  .executions = rows_int(&rows, 9),
                                                  .calls = rows_int(&rows, 10),
                                                  .lag_ms = rows_int(&rows, 11),
                                                  .skew_ms = rows_int(&rows, 12),
                                                  .cpu_percent = rows_int(&rows, 13),
                                                  .rss_bytes = rows_int(&rows, 14)};
    return rows_end(&rows, err);
}

bool read_installation(struct reader *r, struct arena *mem, struct str name, struct str *out,
                       struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_INSTALLATION_GET, DB_PARAMS(db_text(name)));

    *out = rows_has(&rows) ? rows_text(&rows, 0) : STR_NONE;
    return rows_end(&rows, err);
}

bool read_store_bytes(struct reader *r, int64_t *out, struct err *err)
{
    return row_int_or_0(r, SQL_STORE_BYTES, DB_NO_PARAMS, out, err);
}

bool read_ended(struct reader *r, struct arena *mem, int64_t after_row, int64_t limit,
                struct ended_executions *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_ENDED, DB_PARAMS(db_int(after_row), db_int(limit)));

    *out = (struct ended_executions){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = (struct ended_execution){.row = rows_int(&rows, 0),
                                                      .id = rows_uuid(&rows, 1),
                                                      .completed_at_us = rows_int(&rows, 2),
                                                      .created_at_us = rows_int(&rows, 3)};
    return rows_end(&rows, err);
}

/* --- snapshots --- */

bool read_old_snapshots(struct reader *r, struct arena *mem, int64_t before_us,
                        struct str after_hash, int64_t limit, struct snapshot_hashes *out,
                        struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_OLD_SNAPSHOTS,
                                DB_PARAMS(db_int(before_us), db_text(after_hash), db_int(limit)));

    *out = (struct snapshot_hashes){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = rows_text(&rows, 0);
    return rows_end(&rows, err);
}

/* Those of programs that an execution had before, with a blank between two. */
static void add_former(struct arena *mem, struct str all, struct snapshot_hashes *out)
{
    size_t from = 0;

    while (from < all.len) {
        int64_t blank = str_find(all, STR(" "), from);
        size_t end = blank < 0 ? all.len : (size_t)blank;

        *VEC_ADD(mem, out) = str_slice(all, from, end);
        from = end + 1;
    }
}

bool read_pinned(struct reader *r, struct arena *mem, int64_t after_row, int64_t limit,
                 struct pinned_snapshots *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_PINNED, DB_PARAMS(db_int(after_row), db_int(limit)));

    *out = (struct pinned_snapshots){.last_row = after_row};
    for (; rows_has(&rows); rows_next(&rows)) {
        int64_t row = rows_int(&rows, 1);

        *VEC_ADD(mem, &out->hashes) = rows_text(&rows, 0);
        add_former(mem, rows_text(&rows, 3), &out->hashes);
        out->last_row = row > out->last_row ? row : out->last_row;
        out->seen += rows_int(&rows, 2);
    }
    return rows_end(&rows, err);
}

/* --- by key --- */

bool read_live_by_key(struct reader *r, struct arena *mem, struct str key, struct str code,
                      struct str org_id, struct dues *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_LIVE_BY_KEY,
                 DB_PARAMS(db_text(key), db_text_or_null(code), db_text_or_null(org_id)));

    *out = (struct dues){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = (struct due){.id = rows_uuid(&rows, 0)};
    return rows_end(&rows, err);
}

bool read_receiver(struct reader *r, struct str key, struct str code, struct str org_id,
                   struct str signal_id, struct uuid *out, bool *found, struct err *err)
{
    struct rows rows = rows_run(r, NULL, SQL_READ_RECEIVER,
                                DB_PARAMS(db_text(key), db_text_or_null(code),
                                          db_text_or_null(org_id), db_text(signal_id)));

    *found = rows_has(&rows);
    if (*found && !uuid_read(rows_view(&rows, 0), out))
        rows_damaged(&rows);
    return rows_end(&rows, err);
}
