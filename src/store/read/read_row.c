/* read_row.c - see read_row.h. */
#include "store/read/read_row.h"

#include "base/text/hex.h"
#include "engine/state.h"
#include "engine/status.h"
#include "engine/stored_execution.h"

#include <inttypes.h>

#define ROWS(name, run, on)                                                                        \
    struct rows name(struct reader *r, struct arena *mem, enum sql sql,                            \
                     const struct db_value *params, unsigned count)                                \
    {                                                                                              \
        return (struct rows){                                                                      \
            .db = r->db, .mem = mem, .sql = sql, .status = run(on, sql, params, count)};           \
    }
ROWS(rows_run, reader_run, r)
ROWS(rows_stream, reader_stream, r)
ROWS(rows_then, db_run, r->db)
ROWS(rows_then_stream, db_stream, r->db)
#undef ROWS

struct uuid rows_uuid(struct rows *rows, unsigned column)
{
    struct uuid id = {0};

    if (!uuid_read(rows_view(rows, column), &id))
        rows_damaged(rows);
    return id;
}

bool rows_maybe_uuid(const struct rows *rows, unsigned column, bool *has, struct uuid *out)
{
    struct str text = rows_view(rows, column);

    *has = text.len > 0;
    return !*has || uuid_read(text, out);
}

void rows_next(struct rows *rows)
{
    if (rows->status == DB_ROW)
        rows->status = db_next(rows->db, rows->sql);
}

void rows_damaged(struct rows *rows)
{
    rows->status = DB_CORRUPT;
}

void rows_stop(struct rows *rows)
{
    if (rows->status == DB_ROW)
        rows->status = DB_DONE;
}

bool rows_end(struct rows *rows, struct err *err)
{
    db_end(rows->db, rows->sql);
    return rows->status <= DB_DONE ? true : db_fail(rows->db, rows->status, err);
}

bool row_execution(struct rows *rows, struct stored_execution *out, struct err *err)
{
    *out = (struct stored_execution){
        .row = rows_int(rows, 0),
        .code = rows_text(rows, 2),
        .version = rows_int(rows, 3),
        .row_version = rows_int(rows, 5),
        .seq = rows_int(rows, 6),
        .checkpoint_seq = rows_int(rows, 7),
        .wake_at_us = rows_int(rows, 8),
        .deadline_at_us = rows_int(rows, 9),
        .created_at_us = rows_int(rows, 10),
        .started_at_us = rows_int(rows, 11),
        .completed_at_us = rows_int(rows, 12),
        .updated_at_us = rows_int(rows, 13),
        .stop_requested = rows_int(rows, 14) != 0,
        .crash_count = (int32_t)rows_int(rows, 15),
        .format = (int32_t)rows_int(rows, 16),
        .org_id = rows_text(rows, 17),
        .key = rows_text(rows, 18),
        .user_json = rows_text(rows, 19),
        .cursor_json = rows_text(rows, 20),
        .waiting_for_json = rows_text(rows, 21),
        .error_json = rows_text(rows, 22),
        .result_json = rows_text(rows, 23),
        .current_step = rows_text(rows, 25),
        .kind = rows_text(rows, 28),
        .trace = rows_text(rows, 29),
        .record = rows_text(rows, 30),
        .chain = rows_text(rows, 31),
        .is_debugged = rows_view(rows, 32).len > 0,
    };
    if (!rows_maybe_uuid(rows, 27, &out->has_again_of, &out->again_of) ||
        !rows_maybe_uuid(rows, 24, &out->has_parent, &out->parent_id) ||
        !uuid_read(rows_view(rows, 1), &out->id) || !status_read(rows_view(rows, 4), &out->status))
        return err_set(err, ERR_IO, "execution row %" PRId64 " is damaged", out->row);
    if (!state_restore_facts(rows->mem, out, err))
        return false;
    return waiting_kind_read(rows_view(rows, 26), &out->waiting_kind) ||
           err_set(err, ERR_IO, "execution row %" PRId64 " waits for nothing known", out->row);
}

enum db_status row_int(struct reader *r, enum sql sql, const struct db_value *params,
                       unsigned count, int64_t *out)
{
    enum db_status status = reader_run(r, sql, params, count);

    if (status == DB_ROW)
        *out = db_column_int(r->db, sql, 0);
    db_end(r->db, sql);
    return status;
}

bool row_int_or_0(struct reader *r, enum sql sql, const struct db_value *params, unsigned count,
                  int64_t *out, struct err *err)
{
    enum db_status status = row_int(r, sql, params, count, out);

    if (status == DB_DONE)
        *out = 0;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

struct str row_cursor(struct arena *mem, int64_t row)
{
    return str_printf(mem, "r%" PRIx64, (uint64_t)row);
}

bool row_cursor_read(struct str cursor, int64_t *row, struct err *err)
{
    uint64_t n;

    if (cursor.len == 0)
        return true;
    if (cursor.len < 2 || cursor.ptr[0] != 'r' ||
        !hex_read_uint64(str_slice(cursor, 1, cursor.len), &n))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    *row = (int64_t)(n & INT64_MAX);
    return true;
}
