/* read_node.c - who shares the store, who has which key, what has ended; see read.h. */
#include "store/read_row.h"

bool read_nodes(struct reader *r, struct arena *mem, struct stored_nodes *out, struct err *err)
{
    const enum sql sql = SQL_READ_NODES;
    enum db_status status = reader_run(r, sql, DB_NO_PARAMS);

    *out = (struct stored_nodes){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) =
            (struct stored_node){.name = row_text(r, mem, sql, 0),
                                 .started_at_us = db_column_int(r->db, sql, 1),
                                 .batches = db_column_int(r->db, sql, 2),
                                 .is_connected = db_column_int(r->db, sql, 3) != 0};
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_ended(struct reader *r, struct arena *mem, int64_t after_row, int64_t limit,
                struct ended_executions *out, struct err *err)
{
    const enum sql sql = SQL_READ_ENDED;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_int(after_row), db_int(limit)));
    bool ok = true;

    *out = (struct ended_executions){0};
    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct ended_execution x = {.row = db_column_int(r->db, sql, 0),
                                    .completed_at_us = db_column_int(r->db, sql, 2),
                                    .created_at_us = db_column_int(r->db, sql, 3)};

        ok = uuid_read(db_column_text(r->db, sql, 1), &x.id);
        *VEC_ADD(mem, out) = x;
    }
    db_end(r->db, sql);
    if (!ok)
        status = DB_CORRUPT;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

/* --- snapshots --- */

bool read_old_snapshots(struct reader *r, struct arena *mem, int64_t before_us,
                        struct str after_hash, int64_t limit, struct snapshot_hashes *out,
                        struct err *err)
{
    const enum sql sql = SQL_READ_OLD_SNAPSHOTS;
    enum db_status status =
        reader_run(r, sql, DB_PARAMS(db_int(before_us), db_text(after_hash), db_int(limit)));

    *out = (struct snapshot_hashes){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) = str_copy(mem, db_column_text(r->db, sql, 0));
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_pinned(struct reader *r, struct arena *mem, int64_t after_row, int64_t limit,
                 struct pinned_snapshots *out, struct err *err)
{
    const enum sql sql = SQL_READ_PINNED;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_int(after_row), db_int(limit)));

    *out = (struct pinned_snapshots){.last_row = after_row};
    for (; status == DB_ROW; status = db_next(r->db, sql)) {
        int64_t row = db_column_int(r->db, sql, 1);

        *VEC_ADD(mem, &out->hashes) = str_copy(mem, db_column_text(r->db, sql, 0));
        out->last_row = row > out->last_row ? row : out->last_row;
        out->seen += db_column_int(r->db, sql, 2);
    }
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

/* --- by key --- */

bool read_live_by_key(struct reader *r, struct arena *mem, struct str key, struct str code,
                      struct str org_id, struct dues *out, struct err *err)
{
    const enum sql sql = SQL_READ_LIVE_BY_KEY;
    enum db_status status =
        reader_run(r, sql, DB_PARAMS(db_text(key), db_text_or_null(code), db_text_or_null(org_id)));
    bool ok = true;

    *out = (struct dues){0};
    for (; ok && status == DB_ROW; status = db_next(r->db, sql))
        ok = uuid_read(db_column_text(r->db, sql, 0), &VEC_ADD(mem, out)->id);
    db_end(r->db, sql);
    if (!ok)
        status = DB_CORRUPT;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_receiver(struct reader *r, struct str key, struct str code, struct str org_id,
                   struct str signal_id, struct uuid *out, bool *found, struct err *err)
{
    const enum sql sql = SQL_READ_RECEIVER;
    enum db_status status = reader_run(r, sql,
                                       DB_PARAMS(db_text(key), db_text_or_null(code),
                                                 db_text_or_null(org_id), db_text(signal_id)));

    *found = status == DB_ROW;
    if (*found && !uuid_read(db_column_text(r->db, sql, 0), out))
        status = DB_CORRUPT;
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}
