/* read.c - reading executions and their history; see read.h. */
#include "store/read.h"

#include "store/apply.h"
#include "store/reader.h"
#include "store/users.h"

#include <inttypes.h>

enum { HISTORY_LIMIT_NONE = INT32_MAX };

/*
 * Rows are given in order of arrival, and nearly in order of the time in the
 * id: how far a search by time looks beyond its bounds.
 */
enum { TIME_SLACK_ROWS = 10000 };

struct id_text {
    char text[UUID_TEXT_LEN + 1];
};

static struct db_value db_uuid(struct uuid id, struct id_text *room)
{
    uuid_write(id, room->text);
    return db_text(str_from(room->text, UUID_TEXT_LEN));
}

static struct str copy_column(struct reader *r, struct arena *mem, enum sql sql, unsigned column)
{
    struct str text = db_column_text(r->db, sql, column);

    return text.len == 0 ? STR_NONE : str_copy(mem, text);
}

/* The columns of EXECUTION_COLUMNS. */
static bool load_execution(struct reader *r, struct arena *mem, enum sql sql,
                           struct stored_execution *out, struct err *err)
{
    struct db *db = r->db;

    *out = (struct stored_execution){
        .row = db_column_int(db, sql, 0),
        .code = copy_column(r, mem, sql, 2),
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
        .org_id = copy_column(r, mem, sql, 17),
        .key = copy_column(r, mem, sql, 18),
        .user_json = copy_column(r, mem, sql, 19),
        .cursor_json = copy_column(r, mem, sql, 20),
        .waiting_for_json = copy_column(r, mem, sql, 21),
        .error_json = copy_column(r, mem, sql, 22),
        .result_json = copy_column(r, mem, sql, 23),
    };
    if (!uuid_read(db_column_text(db, sql, 1), &out->id) ||
        !status_from_text(db_column_text(db, sql, 4), &out->status))
        return err_set(err, ERR_IO, "execution row %" PRId64 " is damaged", out->row);
    return true;
}

static bool load_history(struct reader *r, struct arena *mem, int64_t row, int64_t after,
                         int64_t limit, struct history *out, struct err *err)
{
    const enum sql sql = SQL_READ_HISTORY;
    struct db *db = r->db;
    enum db_status status =
        db_run(db, sql,
               DB_PARAMS(db_int(history_key(row, after)), db_int(history_key(row, HISTORY_SEQ_MAX)),
                         db_int(limit)));

    for (; status == DB_ROW; status = db_next(db, sql))
        *VEC_ADD(mem, out) = (struct history_row){
            .seq = db_column_int(db, sql, 0) & HISTORY_SEQ_MAX,
            .kind = (enum history_kind)db_column_int(db, sql, 1),
            .visit = db_column_int(db, sql, 2),
            .attempt = db_column_int(db, sql, 3),
            .started_at_us = db_column_int(db, sql, 4),
            .completed_at_us = db_column_int(db, sql, 5),
            .step = copy_column(r, mem, sql, 6),
            .status = copy_column(r, mem, sql, 7),
            .key = copy_column(r, mem, sql, 8),
            .input_json = copy_column(r, mem, sql, 9),
            .output_json = copy_column(r, mem, sql, 10),
            .error_json = copy_column(r, mem, sql, 11),
            .delta_json = copy_column(r, mem, sql, 12),
        };
    db_end(db, sql);
    return status == DB_DONE ? true : db_fail(db, status, err);
}

/* --- one execution --- */

/* Within a transaction. */
static bool load_with_history(struct reader *r, struct arena *mem, struct uuid id,
                              struct stored_execution *out, bool *found, struct err *err)
{
    const enum sql sql = SQL_READ_EXECUTION;
    struct id_text room;
    enum db_status status = db_run(r->db, sql, DB_PARAMS(db_uuid(id, &room)));
    bool ok = true;

    *found = status == DB_ROW;
    if (*found) {
        ok = load_execution(r, mem, sql, out, err);
        out->input_json = copy_column(r, mem, sql, 24);
        out->context_json = copy_column(r, mem, sql, 25);
    } else if (status != DB_DONE) {
        ok = db_fail(r->db, status, err);
    }
    db_end(r->db, sql);
    if (!ok || !*found)
        return ok;
    return load_history(r, mem, out->row, out->checkpoint_seq, HISTORY_LIMIT_NONE, &out->history,
                        err);
}

bool read_execution(struct reader *r, struct arena *mem, struct uuid id,
                    struct stored_execution *out, bool *found, struct err *err)
{
    bool ok;

    if (!reader_begin(r, err))
        return false;
    ok = load_with_history(r, mem, id, out, found, err);
    reader_end(r);
    return ok;
}

bool read_owner(struct reader *r, struct arena *mem, struct uuid id, struct execution_owner *out,
                bool *found, struct err *err)
{
    struct id_text room;
    enum db_status status = reader_run(r, SQL_READ_OWNER, DB_PARAMS(db_uuid(id, &room)));

    *found = status == DB_ROW;
    if (*found)
        *out = (struct execution_owner){
            .org_id = copy_column(r, mem, SQL_READ_OWNER, 0),
            .code = copy_column(r, mem, SQL_READ_OWNER, 1),
            .version = db_column_int(r->db, SQL_READ_OWNER, 2),
        };
    db_end(r->db, SQL_READ_OWNER);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

/* A statement that answers one number. DB_ROW: *out is it. */
static enum db_status read_int(struct reader *r, enum sql sql, struct db_value param, int64_t *out)
{
    enum db_status status = reader_run(r, sql, &param, 1);

    if (status == DB_ROW)
        *out = db_column_int(r->db, sql, 0);
    db_end(r->db, sql);
    return status;
}

bool read_history(struct reader *r, struct arena *mem, struct uuid id, int64_t after, int64_t limit,
                  struct history *out, bool *found, struct err *err)
{
    struct id_text room;
    int64_t row;
    enum db_status status = read_int(r, SQL_READ_ROW, db_uuid(id, &room), &row);

    /* No transaction: rows of history are never changed. */
    *out = (struct history){0};
    *found = status == DB_ROW;
    if (status == DB_ROW)
        return load_history(r, mem, row, after < 0 ? 0 : after, limit, out, err);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

/* Within a transaction. */
static bool load_progress(struct reader *r, struct arena *mem, struct uuid id, struct progress *out,
                          int64_t *row, bool *found, struct err *err)
{
    const enum sql sql = SQL_READ_PROGRESS;
    struct id_text room;
    enum db_status status = db_run(r->db, sql, DB_PARAMS(db_uuid(id, &room)));

    *found = status == DB_ROW;
    if (*found) {
        *row = db_column_int(r->db, sql, 0);
        out->code = copy_column(r, mem, sql, 1);
        out->org_id = copy_column(r, mem, sql, 2);
        if (!status_from_text(db_column_text(r->db, sql, 3), &out->status))
            status = DB_CORRUPT;
        out->current_step = copy_column(r, mem, sql, 4);
        out->waiting_for_json = copy_column(r, mem, sql, 5);
        out->row_version = db_column_int(r->db, sql, 6);
        out->seq = db_column_int(r->db, sql, 7);
        out->updated_at_us = db_column_int(r->db, sql, 8);
    }
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_progress(struct reader *r, struct arena *mem, struct uuid id, int64_t after,
                   int64_t limit, struct progress *out, bool *found, struct err *err)
{
    int64_t row = 0;
    bool ok;

    *out = (struct progress){0};
    if (!reader_begin(r, err))
        return false;
    ok = load_progress(r, mem, id, out, &row, found, err);
    if (ok && *found && after < out->seq)
        ok = load_history(r, mem, row, after < 0 ? 0 : after, limit, &out->history, err);
    reader_end(r);
    return ok;
}

bool read_signal(struct reader *r, struct uuid execution, struct str signal_id, int64_t *seq,
                 bool *found, struct err *err)
{
    struct id_text room;
    int64_t row;
    enum db_status status = read_int(r, SQL_READ_ROW, db_uuid(execution, &room), &row);

    if (status == DB_ROW) {
        status = db_run(r->db, SQL_SIGNAL_FIND, DB_PARAMS(db_int(row), db_text(signal_id)));
        if (status == DB_ROW)
            *seq = db_column_int(r->db, SQL_SIGNAL_FIND, 2);
        db_end(r->db, SQL_SIGNAL_FIND);
    }
    *found = status == DB_ROW;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_record_last(struct reader *r, struct str object, struct str id, int64_t *version,
                      struct err *err)
{
    enum db_status status = reader_run(r, SQL_RECORD_LAST, DB_PARAMS(db_text(object), db_text(id)));

    *version = status == DB_ROW ? db_column_int(r->db, SQL_RECORD_LAST, 0) : 0;
    db_end(r->db, SQL_RECORD_LAST);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

/* --- lists --- */

/* The least id of a millisecond; times that no id can have are moved to the nearest. */
static struct uuid least_id(int64_t ms)
{
    static const uint8_t zeros[UUID_RANDOM_LEN];
    const int64_t last = (INT64_C(1) << 48) - 1;

    return uuid_v7(ms < last ? ms : last, zeros);
}

/* The rows between which the executions of that time lie. *empty: there are none. */
static bool row_bounds(struct reader *r, const struct execution_filter *f, int64_t *low,
                       int64_t *high, bool *empty, struct err *err)
{
    struct id_text room;
    enum db_status status = DB_ROW;
    int64_t row;

    *empty = false;
    if (f->from_us > 0) {
        status =
            read_int(r, SQL_READ_FIRST_ROW_FROM, db_uuid(least_id(f->from_us / 1000), &room), &row);
        if (status == DB_ROW)
            *low = row - TIME_SLACK_ROWS;
    }
    if (status == DB_ROW && f->to_us > 0) {
        status = read_int(r, SQL_READ_LAST_ROW_BEFORE,
                          db_uuid(least_id(f->to_us / 1000 + 1), &room), &row);
        if (status == DB_ROW && row + TIME_SLACK_ROWS + 1 < *high)
            *high = row + TIME_SLACK_ROWS + 1;
    }
    *empty = status == DB_DONE;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

/* The most selective index there is. */
static enum sql choose_list(const struct execution_filter *f, struct uuid *id)
{
    if (f->q.len > 0)
        return uuid_read(f->q, id) ? SQL_LIST_BY_ID : SQL_LIST_BY_TEXT;
    if (f->key.len > 0)
        return SQL_LIST_BY_KEY;
    if (f->org_id.len > 0 && !str_eq(f->org_id, ORG_DEFAULT))
        return SQL_LIST_BY_ORG;
    if (f->status.len > 0 && !str_eq(f->status, STR("completed")))
        return SQL_LIST_BY_STATUS;
    return f->code.len > 0 ? SQL_LIST_BY_CODE : SQL_LIST;
}

static bool run_list(struct reader *r, struct arena *mem, const struct execution_filter *f,
                     int64_t low, int64_t high, struct stored_executions *out, struct err *err)
{
    struct uuid id;
    struct id_text room;
    enum sql sql = choose_list(f, &id);
    struct db_value params[] = {
        db_int(f->limit + 1),
        db_int(high),
        db_int(low),
        db_int(f->from_us),
        db_int(f->to_us > 0 ? f->to_us : INT64_MAX),
        db_some_text(f->code),
        db_some_text(f->status),
        db_some_text(f->key),
        db_some_text(f->kind),
        db_some_text(f->step),
        db_some_text(f->org_id),
        sql == SQL_LIST_BY_ID ? db_uuid(id, &room) : db_text(f->q),
    };
    unsigned count = f->q.len > 0 ? 12 : 11;
    enum db_status status = reader_run(r, sql, params, count);
    bool ok = true;

    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct stored_execution e;

        ok = load_execution(r, mem, sql, &e, err);
        *VEC_ADD(mem, out) = e;
    }
    db_end(r->db, sql);
    if (!ok)
        return false;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

/* Cursors are "r" and the row in hexadecimal, and nobody's business. */
static bool read_cursor(struct str cursor, int64_t *row)
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

bool read_executions(struct reader *r, struct arena *mem, const struct execution_filter *filter,
                     struct stored_executions *out, struct str *next, struct err *err)
{
    int64_t low = 0, high = INT64_MAX;
    bool empty;

    *out = (struct stored_executions){0};
    *next = STR_NONE;
    if (filter->cursor.len > 0 && !read_cursor(filter->cursor, &high))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    if (!row_bounds(r, filter, &low, &high, &empty, err))
        return false;
    if (empty)
        return true;
    if (!run_list(r, mem, filter, low, high, out, err))
        return false;
    if ((int64_t)out->count > filter->limit) {
        out->count--;
        *next = str_printf(mem, "r%" PRIx64, (uint64_t)out->items[out->count - 1].row);
    }
    return true;
}

/* --- due, by key, by suffix --- */

/* Rows of (id, wake_at). */
static bool load_dues(struct reader *r, struct arena *mem, enum sql sql, enum db_status status,
                      struct dues *out, struct err *err)
{
    bool ok = true;

    *out = (struct dues){0};
    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct due due = {.wake_at_us = db_column_int(r->db, sql, 1)};

        ok = uuid_read(db_column_text(r->db, sql, 0), &due.id);
        *VEC_ADD(mem, out) = due;
    }
    db_end(r->db, sql);
    if (!ok)
        status = DB_CORRUPT;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_due(struct reader *r, struct arena *mem, int64_t after_us, struct uuid after_id,
              int64_t until_us, int64_t limit, struct dues *out, struct err *err)
{
    struct id_text room;
    enum db_status status = reader_run(
        r, SQL_READ_DUE,
        DB_PARAMS(db_int(after_us), db_uuid(after_id, &room), db_int(until_us), db_int(limit)));

    return load_dues(r, mem, SQL_READ_DUE, status, out, err);
}

bool read_by_key(struct reader *r, struct str org_id, struct str code, struct str key,
                 struct uuid *out, bool *found, struct err *err)
{
    enum db_status status = reader_run(
        r, SQL_LIVE_KEY_FIND, DB_PARAMS(db_text(key), db_text(code), db_some_text(org_id)));

    *found = status == DB_ROW;
    if (*found && !uuid_read(db_column_text(r->db, SQL_LIVE_KEY_FIND, 1), out))
        status = DB_CORRUPT;
    db_end(r->db, SQL_LIVE_KEY_FIND);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_by_suffix(struct reader *r, struct arena *mem, struct str suffix, int64_t limit,
                    struct dues *out, struct err *err)
{
    enum db_status status =
        reader_run(r, SQL_READ_BY_SUFFIX, DB_PARAMS(db_text(suffix), db_int(limit)));

    return load_dues(r, mem, SQL_READ_BY_SUFFIX, status, out, err);
}

bool read_counts(struct reader *r, int64_t out[STATUS_COUNT], struct err *err)
{
    enum db_status status = reader_run(r, SQL_COUNTS, DB_NO_PARAMS);

    for (unsigned i = 0; i < STATUS_COUNT; i++)
        out[i] = 0;
    for (; status == DB_ROW; status = db_next(r->db, SQL_COUNTS)) {
        enum execution_status which;

        if (status_from_text(db_column_text(r->db, SQL_COUNTS, 0), &which))
            out[which] = db_column_int(r->db, SQL_COUNTS, 1);
    }
    db_end(r->db, SQL_COUNTS);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}
