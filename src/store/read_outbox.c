/* read_outbox.c - messages that wait for their delivery; see read.h. */
#include "store/apply.h"
#include "store/read_row.h"

bool read_outbox_lanes(struct reader *r, struct arena *mem, struct lane_names *out, struct err *err)
{
    const enum sql sql = SQL_OUTBOX_LANES;
    enum db_status status = reader_run(r, sql, DB_NO_PARAMS);

    *out = (struct lane_names){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) = row_text(r, mem, sql, 0);
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

static bool row_due(struct reader *r, struct arena *mem, struct due_message *out)
{
    const enum sql sql = SQL_OUTBOX_DUE;

    *out = (struct due_message){.row = db_column_int(r->db, sql, 0),
                                .execution = db_column_int(r->db, sql, 2),
                                .attempts = db_column_int(r->db, sql, 3),
                                .is_late = db_column_int(r->db, sql, 4) != 0,
                                .name = row_text(r, mem, sql, 6),
                                .body_json = row_text(r, mem, sql, 7),
                                .org_id = row_text(r, mem, sql, 8)};
    return uuid_read(db_column_text(r->db, sql, 1), &out->id) &&
           message_kind_read(db_column_text(r->db, sql, 5), &out->kind);
}

bool read_outbox_due(struct reader *r, struct arena *mem, struct str destination, int64_t now_us,
                     int64_t limit, size_t bytes_max, struct due_messages *out, int64_t *next_at_us,
                     struct err *err)
{
    enum db_status status = reader_stream(
        r, SQL_OUTBOX_DUE, DB_PARAMS(db_text(destination), db_int(now_us), db_int(limit)));
    size_t bytes = 0;

    *out = (struct due_messages){0};
    for (; status == DB_ROW; status = db_next(r->db, SQL_OUTBOX_DUE)) {
        struct due_message *m = VEC_ADD(mem, out);

        if (!row_due(r, mem, m)) {
            status = DB_CORRUPT;
            break;
        }
        bytes += m->body_json.len;
        if (bytes > bytes_max) {
            out->is_cut = true;
            status = DB_DONE;
            break;
        }
    }
    db_end(r->db, SQL_OUTBOX_DUE);
    if (status != DB_DONE)
        return db_fail(r->db, status, err);
    out->is_cut |= (int64_t)out->count == limit;
    *next_at_us = 0;
    status =
        row_int(r, SQL_OUTBOX_NEXT, DB_PARAMS(db_text(destination), db_int(now_us)), next_at_us);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

/* --- for people --- */

static bool row_message(struct reader *r, struct arena *mem, enum sql sql,
                        struct stored_message *out, struct err *err)
{
    struct db *db = r->db;

    *out = (struct stored_message){
        .row = db_column_int(db, sql, 0),
        .destination = row_text(r, mem, sql, 4),
        .name = row_text(r, mem, sql, 5),
        .is_parked = str_eq(db_column_text(db, sql, 6), STR("parked")),
        .attempts = db_column_int(db, sql, 7),
        .next_at_us = db_column_int(db, sql, 8),
        .error_json = row_text(r, mem, sql, 9),
        .org_id = row_text(r, mem, sql, 10),
        .created_at_us = db_column_int(db, sql, 11),
        .is_late = db_column_int(db, sql, 12) != 0,
        .letter = row_text(r, mem, sql, 13),
        .code = row_text(r, mem, sql, 14),
        .version = db_column_int(db, sql, 15),
    };
    return (uuid_read(db_column_text(db, sql, 1), &out->id) &&
            row_maybe_uuid(r, sql, 2, &out->has_execution, &out->execution) &&
            message_kind_read(db_column_text(db, sql, 3), &out->kind)) ||
           db_fail(db, DB_CORRUPT, err);
}

bool read_message(struct reader *r, struct arena *mem, struct uuid id, struct stored_message *out,
                  bool *found, struct err *err)
{
    struct row_id room;
    enum db_status status = reader_run(r, SQL_OUTBOX_GET, DB_PARAMS(row_uuid(id, &room)));
    bool ok = true;

    *found = status == DB_ROW;
    if (*found)
        ok = row_message(r, mem, SQL_OUTBOX_GET, out, err);
    db_end(r->db, SQL_OUTBOX_GET);
    if (!ok)
        return false;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_messages(struct reader *r, struct arena *mem, const struct message_filter *f,
                   struct stored_messages *out, struct str *next, struct err *err)
{
    const enum sql sql = f->has_execution ? SQL_OUTBOX_LIST_BY_EXECUTION : SQL_OUTBOX_LIST;
    int64_t high = INT64_MAX, execution = 0;
    struct row_id room;
    enum db_status status;
    bool ok = true;

    *out = (struct stored_messages){0};
    *next = STR_NONE;
    if (f->cursor.len > 0 && !row_cursor_read(f->cursor, &high))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    if (f->has_execution) {
        status = row_int(r, SQL_READ_ROW, DB_PARAMS(row_uuid(f->execution, &room)), &execution);
        if (status > DB_DONE)
            return db_fail(r->db, status, err);
    }
    {
        const struct db_value params[] = {
            db_int(f->limit + 1),
            db_int(high),
            db_text_or_null(f->kind),
            db_text_or_null(f->destination),
            f->has_status ? db_text(f->is_parked ? STR("parked") : STR("pending")) : db_null(),
            db_text_or_null(f->org_id),
            db_int(0),
            db_int(execution),
        };

        status = reader_run(r, sql, params, f->has_execution ? 8 : 7);
    }
    for (; ok && status == DB_ROW; status = db_next(r->db, sql))
        ok = row_message(r, mem, sql, VEC_ADD(mem, out), err);
    db_end(r->db, sql);
    if (!ok)
        return false;
    if (status != DB_DONE)
        return db_fail(r->db, status, err);
    if ((int64_t)out->count > f->limit) {
        out->count = (size_t)f->limit;
        *next = row_cursor(mem, out->items[out->count - 1].row);
    }
    return true;
}

bool read_outbox_figures(struct reader *r, int64_t *pending, int64_t *oldest_at_us, struct err *err)
{
    enum db_status status =
        row_int(r, SQL_COUNTER, DB_PARAMS(db_text(STR(COUNTER_OUTBOX))), pending);

    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    return read_outbox_oldest(r, STR_NONE, oldest_at_us, err);
}

bool read_outbox_oldest(struct reader *r, struct str org_id, int64_t *at_us, struct err *err)
{
    enum db_status status;

    *at_us = 0;
    status = row_int(r, SQL_OUTBOX_OLDEST, DB_PARAMS(db_text_or_null(org_id)), at_us);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}
