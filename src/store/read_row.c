/* read_row.c - see read_row.h. */
#include "store/read_row.h"

#include "store/apply.h"

#include <inttypes.h>

struct db_value row_uuid(struct uuid id, struct row_id *room)
{
    uuid_write(id, room->text);
    return db_text(str_from(room->text, UUID_TEXT_LEN));
}

struct str row_text(struct reader *r, struct arena *mem, enum sql sql, unsigned column)
{
    struct str text = db_column_text(r->db, sql, column);

    return text.len == 0 ? STR_NONE : str_copy(mem, text);
}

bool row_execution(struct reader *r, struct arena *mem, enum sql sql, struct stored_execution *out,
                   struct err *err)
{
    struct db *db = r->db;
    struct str parent, again_of;

    *out = (struct stored_execution){
        .row = db_column_int(db, sql, 0),
        .code = row_text(r, mem, sql, 2),
        .version = db_column_int(db, sql, 3),
        .row_version = db_column_int(db, sql, 5),
        .seq = db_column_int(db, sql, 6),
        .checkpoint_seq = db_column_int(db, sql, 7),
        .wake_at_us = db_column_int(db, sql, 8),
        .deadline_at_us = db_column_int(db, sql, 9),
        .created_at_us = db_column_int(db, sql, 10),
        .started_at_us = db_column_int(db, sql, 11),
        .completed_at_us = db_column_int(db, sql, 12),
        .updated_at_us = db_column_int(db, sql, 13),
        .stop_requested = db_column_int(db, sql, 14) != 0,
        .crash_count = (int32_t)db_column_int(db, sql, 15),
        .format = (int32_t)db_column_int(db, sql, 16),
        .org_id = row_text(r, mem, sql, 17),
        .key = row_text(r, mem, sql, 18),
        .user_json = row_text(r, mem, sql, 19),
        .cursor_json = row_text(r, mem, sql, 20),
        .waiting_for_json = row_text(r, mem, sql, 21),
        .error_json = row_text(r, mem, sql, 22),
        .result_json = row_text(r, mem, sql, 23),
        .current_step = row_text(r, mem, sql, 25),
        .kind = row_text(r, mem, sql, 28),
        .trace = row_text(r, mem, sql, 29),
        .record = row_text(r, mem, sql, 30),
        .chain = row_text(r, mem, sql, 31),
    };
    parent = db_column_text(db, sql, 24);
    out->has_parent = parent.len > 0;
    again_of = db_column_text(db, sql, 27);
    out->has_again_of = again_of.len > 0;
    if ((out->has_again_of && !uuid_read(again_of, &out->again_of)) ||
        (out->has_parent && !uuid_read(parent, &out->parent_id)) ||
        !uuid_read(db_column_text(db, sql, 1), &out->id) ||
        !status_read(db_column_text(db, sql, 4), &out->status))
        return err_set(err, ERR_IO, "execution row %" PRId64 " is damaged", out->row);
    if (!state_restore_facts(mem, out, err))
        return false;
    return waiting_kind_read(db_column_text(db, sql, 26), &out->waiting_kind) ||
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

struct str row_cursor(struct arena *mem, int64_t row)
{
    return str_printf(mem, "r%" PRIx64, (uint64_t)row);
}

bool row_cursor_read(struct str cursor, int64_t *row)
{
    uint64_t n = 0;

    if (cursor.len < 2 || cursor.len > 17 || cursor.ptr[0] != 'r')
        return false;
    for (size_t i = 1; i < cursor.len; i++) {
        char c = cursor.ptr[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        n = n << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *row = (int64_t)(n & INT64_MAX);
    return true;
}

bool row_maybe_uuid(struct reader *r, enum sql sql, unsigned column, bool *has, struct uuid *out)
{
    struct str text = db_column_text(r->db, sql, column);

    *has = text.len > 0;
    return !*has || uuid_read(text, out);
}
