/* read_signal.c - signals and waits that a correlation joins; see read.h. */
#include "store/apply.h"
#include "store/read_row.h"
#include "value/json.h"

bool read_wait(struct reader *r, struct arena *mem, struct str org_id, struct str correlation,
               struct str type, int64_t after, struct open_wait *out, bool *found, struct err *err)
{
    const enum sql sql = SQL_WAIT_FIND;
    enum db_status status;
    struct buf quoted;

    buf_init_arena(&quoted, mem);
    json_write_string(&quoted, type);
    status = reader_run(r, sql,
                        DB_PARAMS(db_text(org_id), db_text(correlation), db_int(after),
                                  db_text(buf_view(&quoted))));
    *found = status == DB_ROW;
    if (*found) {
        out->row = db_column_int(r->db, sql, 0);
        if (!uuid_read(db_column_text(r->db, sql, 1), &out->execution))
            status = DB_CORRUPT;
    }
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_correlated(struct reader *r, struct arena *mem, struct str org_id, struct str id,
                     int64_t now_us, struct known_signal *out, bool *found, struct err *err)
{
    const enum sql sql = SQL_READ_CORRELATED;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_text(org_id), db_text(id)));

    *found = status == DB_ROW && db_column_int(r->db, sql, 3) > now_us;
    if (*found) {
        out->digest = row_text(r, mem, sql, 1);
        out->is_delivered = db_column_text(r->db, sql, 2).len > 0;
        if (out->is_delivered && !uuid_read(db_column_text(r->db, sql, 2), &out->execution))
            status = DB_CORRUPT;
    }
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

/* A column of JSON; null where there is nothing. */
static bool read_value(struct reader *r, struct arena *mem, unsigned column, struct value *out,
                       struct err *err)
{
    struct str text = row_text(r, mem, SQL_READ_KEPT, column);

    *out = value_null();
    return text.len == 0 || json_read(mem, text, out, err);
}

static bool add_kept(struct reader *r, struct arena *mem, struct stored_kepts *out, struct err *err)
{
    const enum sql sql = SQL_READ_KEPT;
    struct kept_signal kept = {
        .row = db_column_int(r->db, sql, 0),
        .signal = {.id = row_text(r, mem, sql, 1),
                   .type = row_text(r, mem, sql, 2),
                   .received_at_us = db_column_int(r->db, sql, 6)},
    };
    struct value sender;

    if (!read_value(r, mem, 3, &kept.signal.payload, err) ||
        !read_value(r, mem, 4, &kept.signal.by, err) || !read_value(r, mem, 5, &sender, err))
        return false;
    *VEC_ADD(mem, out) = (struct stored_kept){.kept = kept, .sender = sender};
    return true;
}

bool read_kept(struct reader *r, struct arena *mem, struct str org_id, struct str correlation,
               int64_t execution, int64_t now_us, struct stored_kepts *out, int64_t *last_row,
               struct err *err)
{
    const enum sql sql = SQL_READ_KEPT;
    enum db_status status =
        reader_run(r, sql, DB_PARAMS(db_text(org_id), db_text(correlation), db_int(execution)));
    bool ok = true;

    *out = (struct stored_kepts){0};
    *last_row = 0;
    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        bool has_expired = db_column_int(r->db, sql, 7) <= now_us;
        bool is_received = db_column_int(r->db, sql, 8) != 0;

        *last_row = db_column_int(r->db, sql, 0);
        if (!has_expired && !is_received)
            ok = add_kept(r, mem, out, err);
    }
    db_end(r->db, sql);
    if (!ok)
        return false;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_expired(struct reader *r, int64_t now_us, bool *found, struct err *err)
{
    int64_t one;
    enum db_status status = row_int(r, SQL_READ_EXPIRED, DB_PARAMS(db_int(now_us)), &one);

    *found = status == DB_ROW;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_kept_count(struct reader *r, int64_t *out, struct err *err)
{
    enum db_status status =
        row_int(r, SQL_COUNTER, DB_PARAMS(db_text(STR(COUNTER_KEPT_SIGNALS))), out);

    return status == DB_ROW ? true : db_fail(r->db, status, err);
}
