/* read_record_changes.c - see record_changes.h. */
#include "store/record_changes.h"

#include "store/apply.h"
#include "store/read_row.h"

static bool row_change(struct reader *r, struct arena *mem, struct record_change_row *out)
{
    const enum sql sql = SQL_READ_RECORD_CHANGES;
    struct db *db = r->db;

    *out = (struct record_change_row){
        .version = db_column_int(db, sql, 0),
        .action = row_text(r, mem, sql, 1),
        .kind = row_text(r, mem, sql, 3),
        .code = row_text(r, mem, sql, 4),
        .code_version = db_column_int(db, sql, 5),
        .status = row_text(r, mem, sql, 6),
        .key = row_text(r, mem, sql, 7),
        .waiting = row_text(r, mem, sql, 8),
        .org_id = row_text(r, mem, sql, 9),
        .step_kind = (enum history_kind)db_column_int(db, sql, 10),
        .step = row_text(r, mem, sql, 11),
        .visit = db_column_int(db, sql, 12),
        .attempt = db_column_int(db, sql, 13),
        .at_us = db_column_int(db, sql, 14),
    };
    return uuid_read(db_column_text(db, sql, 2), &out->execution);
}

bool read_record_changes(struct reader *r, struct arena *mem, const struct record_change_filter *f,
                         struct record_change_rows *out, struct str *next, struct err *err)
{
    const enum sql sql = SQL_READ_RECORD_CHANGES;
    int64_t below = INT64_MAX;
    enum db_status status;
    bool ok = true;

    *out = (struct record_change_rows){0};
    *next = STR_NONE;
    if (f->cursor.len > 0 && !row_cursor_read(f->cursor, &below))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    status = reader_run(r, sql,
                        DB_PARAMS(db_text(record_org(f->org_id)), db_text(f->object),
                                  db_text(f->id), db_int(below), db_int(f->limit + 1)));
    for (; ok && status == DB_ROW; status = db_next(r->db, sql))
        ok = row_change(r, mem, VEC_ADD(mem, out));
    db_end(r->db, sql);
    if (!ok || status != DB_DONE)
        return db_fail(r->db, ok ? status : DB_CORRUPT, err);
    if ((int64_t)out->count > f->limit) {
        out->count = (size_t)f->limit;
        *next = row_cursor(mem, out->items[out->count - 1].version);
    }
    return true;
}
