/* read.c - reading executions and their history; see read.h. */
#include "store/read.h"

#include "store/apply.h"
#include "store/read_row.h"

enum { HISTORY_LIMIT_NONE = INT32_MAX };

/* The texts of a row of history. */
static size_t history_bytes(const struct history_row *row)
{
    return row->input_json.len + row->output_json.len + row->error_json.len + row->delta_json.len;
}

/* Rows until `bytes_max` (0 = any) are exceeded, then *is_cut; but one at least. */
static bool load_history(struct reader *r, struct arena *mem, int64_t row, int64_t after,
                         int64_t limit, size_t bytes_max, struct history *out, bool *is_cut,
                         struct err *err)
{
    size_t bytes = 0;

    const enum sql sql = SQL_READ_HISTORY;
    struct db *db = r->db;
    enum db_status status =
        db_stream(db, sql,
                  DB_PARAMS(db_int(history_key(row, after)),
                            db_int(history_key(row, HISTORY_SEQ_MAX)), db_int(limit)));

    *is_cut = false;
    for (; status == DB_ROW; status = db_next(db, sql)) {
        if (bytes_max > 0 && bytes > bytes_max) {
            *is_cut = true;
            status = DB_DONE;
            break;
        }
        *VEC_ADD(mem, out) = (struct history_row){
            .seq = db_column_int(db, sql, 0) & HISTORY_SEQ_MAX,
            .kind = (enum history_kind)db_column_int(db, sql, 1),
            .visit = db_column_int(db, sql, 2),
            .attempt = db_column_int(db, sql, 3),
            .started_at_us = db_column_int(db, sql, 4),
            .completed_at_us = db_column_int(db, sql, 5),
            .step = row_text(r, mem, sql, 6),
            .status = row_text(r, mem, sql, 7),
            .key = row_text(r, mem, sql, 8),
            .input_json = row_text(r, mem, sql, 9),
            .output_json = row_text(r, mem, sql, 10),
            .error_json = row_text(r, mem, sql, 11),
            .delta_json = row_text(r, mem, sql, 12),
        };
        bytes += history_bytes(&out->items[out->count - 1]);
    }
    db_end(db, sql);
    return status == DB_DONE ? true : db_fail(db, status, err);
}

/* The row of SQL_READ_TOLD and its like. False: it is damaged. */
static bool row_told(struct reader *r, struct arena *mem, enum sql sql, struct tolds *out)
{
    struct told told = {.n = db_column_int(r->db, sql, 0),
                        .key = row_text(r, mem, sql, 2),
                        .payload_json = row_text(r, mem, sql, 3)};

    if (!tell_kind_read(db_column_text(r->db, sql, 1), &told.kind))
        return false;
    *VEC_ADD(mem, out) = told;
    return true;
}

static bool load_told(struct reader *r, struct arena *mem, int64_t row, struct tolds *out,
                      struct err *err)
{
    const enum sql sql = SQL_READ_TOLD;
    enum db_status status = db_run(r->db, sql, DB_PARAMS(db_int(row)));

    *out = (struct tolds){0};
    while (status == DB_ROW)
        status = row_told(r, mem, sql, out) ? db_next(r->db, sql) : DB_CORRUPT;
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_told(struct reader *r, struct arena *mem, struct uuid id, struct tolds *out,
               struct err *err)
{
    struct row_id room;
    int64_t row;
    enum db_status status = row_int(r, SQL_READ_ROW, DB_PARAMS(row_uuid(id, &room)), &row);

    *out = (struct tolds){0};
    if (status == DB_ROW)
        return load_told(r, mem, row, out, err);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_told_executions(struct reader *r, struct arena *mem, int64_t after, int64_t limit,
                          struct told_executions *out, struct err *err)
{
    const enum sql sql = SQL_READ_TOLD_EXECUTIONS;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_int(after), db_int(limit)));
    bool ok = true;

    *out = (struct told_executions){0};
    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct told_execution told = {.n = db_column_int(r->db, sql, 1)};

        ok = uuid_read(db_column_text(r->db, sql, 0), &told.id);
        *VEC_ADD(mem, out) = told;
    }
    db_end(r->db, sql);
    if (!ok)
        status = DB_CORRUPT;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_row_versions(struct reader *r, struct arena *mem, struct str ids_json,
                       struct execution_versions *out, struct err *err)
{
    const enum sql sql = SQL_READ_ROW_VERSIONS;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_text(ids_json)));
    bool ok = true;

    *out = (struct execution_versions){0};
    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct execution_version is = {.row_version = db_column_int(r->db, sql, 1)};

        ok = uuid_read(db_column_text(r->db, sql, 0), &is.id);
        *VEC_ADD(mem, out) = is;
    }
    db_end(r->db, sql);
    if (!ok)
        status = DB_CORRUPT;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

/* --- one execution --- */

/* The row of SQL_READ_EXECUTION and its like. */
static bool row_whole(struct reader *r, struct arena *mem, enum sql sql,
                      struct stored_execution *out, struct err *err)
{
    bool ok = row_execution(r, mem, sql, out, err);

    out->input_json = row_text(r, mem, sql, 32);
    out->context_json = row_text(r, mem, sql, 33);
    out->snapshot = row_text(r, mem, sql, 34);
    out->webhook_json = row_text(r, mem, sql, 35);
    return ok;
}

/* The rows after the checkpoint: most executions have none. */
static bool load_after_checkpoint(struct reader *r, struct arena *mem, struct stored_execution *x,
                                  struct err *err)
{
    bool is_cut;

    return x->seq <= x->checkpoint_seq ||
           load_history(r, mem, x->row, x->checkpoint_seq, HISTORY_LIMIT_NONE, 0, &x->history,
                        &is_cut, err);
}

/* Within a transaction. */
static bool load_with_history(struct reader *r, struct arena *mem, struct uuid id,
                              struct stored_execution *out, bool *found, struct err *err)
{
    const enum sql sql = SQL_READ_EXECUTION;
    struct row_id room;
    enum db_status status = db_run(r->db, sql, DB_PARAMS(row_uuid(id, &room)));
    bool ok = true;

    *found = status == DB_ROW;
    if (*found)
        ok = row_whole(r, mem, sql, out, err);
    else if (status != DB_DONE)
        ok = db_fail(r->db, status, err);
    db_end(r->db, sql);
    if (!ok || !*found)
        return ok;
    return load_after_checkpoint(r, mem, out, err) && load_told(r, mem, out->row, &out->tolds, err);
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

/* --- several --- */

static struct execution_read *find_by_id(const struct execution_reads *all, struct str text)
{
    struct uuid id;

    for (size_t i = 0; uuid_read(text, &id) && i < all->count; i++)
        if (uuid_cmp(all->items[i].id, id) == 0)
            return &all->items[i];
    return NULL;
}

static struct execution_read *find_by_row(const struct execution_reads *all, int64_t row)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].found && all->items[i].stored.row == row)
            return &all->items[i];
    return NULL;
}

static bool load_each(struct reader *r, struct arena *mem, struct execution_reads *all,
                      struct err *err)
{
    const enum sql sql = SQL_READ_SEVERAL;
    enum db_status status;
    struct buf ids;
    bool ok = true;

    buf_init_arena(&ids, mem);
    for (size_t i = 0; i < all->count; i++) {
        char text[UUID_TEXT_LEN + 1];

        uuid_write(all->items[i].id, text);
        buf_printf(&ids, "%s\"%s\"", i == 0 ? "[" : ",", text);
        all->items[i].found = false;
    }
    buf_char(&ids, ']');
    status = db_stream(r->db, sql, DB_PARAMS(db_text(buf_view(&ids))));
    while (status == DB_ROW && ok) {
        struct execution_read *read = find_by_id(all, db_column_text(r->db, sql, 1));

        if (read == NULL) {
            status = DB_CORRUPT;
            break;
        }
        if (all->begins != NULL)
            all->begins(all->context, read->id);
        ok = row_whole(r, read->mem, sql, &read->stored, err);
        read->found = true;
        status = db_next(r->db, sql);
    }
    db_end(r->db, sql);
    return ok && (status == DB_DONE ? true : db_fail(r->db, status, err));
}

static bool load_told_each(struct reader *r, struct arena *mem, const struct execution_reads *all,
                           struct err *err)
{
    const enum sql sql = SQL_READ_TOLD_SEVERAL;
    enum db_status status;
    struct buf rows;

    buf_init_arena(&rows, mem);
    buf_text(&rows, "[0"); /* which no execution has */
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].found)
            buf_printf(&rows, ",%lld", (long long)all->items[i].stored.row);
    buf_char(&rows, ']');
    status = db_run(r->db, sql, DB_PARAMS(db_text(buf_view(&rows))));
    while (status == DB_ROW) {
        struct execution_read *read = find_by_row(all, db_column_int(r->db, sql, 4));

        status = read != NULL && row_told(r, read->mem, sql, &read->stored.tolds)
                     ? db_next(r->db, sql)
                     : DB_CORRUPT;
    }
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_several(struct reader *r, struct arena *mem, struct execution_reads *all, struct err *err)
{
    bool ok;

    if (!reader_begin(r, err))
        return false;
    ok = load_each(r, mem, all, err) && load_told_each(r, mem, all, err);
    for (size_t i = 0; ok && i < all->count; i++)
        if (all->items[i].found)
            ok = load_after_checkpoint(r, all->items[i].mem, &all->items[i].stored, err);
    reader_end(r);
    return ok;
}

bool read_owner(struct reader *r, struct arena *mem, struct uuid id, struct execution_owner *out,
                bool *found, struct err *err)
{
    struct row_id room;
    enum db_status status = reader_run(r, SQL_READ_OWNER, DB_PARAMS(row_uuid(id, &room)));

    *found = status == DB_ROW;
    if (*found)
        *out = (struct execution_owner){
            .org_id = row_text(r, mem, SQL_READ_OWNER, 0),
            .code = row_text(r, mem, SQL_READ_OWNER, 1),
            .version = db_column_int(r->db, SQL_READ_OWNER, 2),
        };
    db_end(r->db, SQL_READ_OWNER);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_history_page(struct reader *r, struct arena *mem, struct uuid id, int64_t after,
                       int64_t limit, size_t bytes_max, struct history *out, bool *is_cut,
                       bool *found, struct err *err)
{
    struct row_id room;
    int64_t row;
    enum db_status status = row_int(r, SQL_READ_ROW, DB_PARAMS(row_uuid(id, &room)), &row);

    /* No transaction: rows of history are never changed. */
    *out = (struct history){0};
    *is_cut = false;
    *found = status == DB_ROW;
    if (status == DB_ROW)
        return load_history(r, mem, row, after < 0 ? 0 : after, limit, bytes_max, out, is_cut, err);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_history(struct reader *r, struct arena *mem, struct uuid id, int64_t after, int64_t limit,
                  struct history *out, bool *found, struct err *err)
{
    bool is_cut;

    return read_history_page(r, mem, id, after, limit, 0, out, &is_cut, found, err);
}

/* Within a transaction. */
static bool load_progress(struct reader *r, struct arena *mem, struct uuid id, struct progress *out,
                          int64_t *row, bool *found, struct err *err)
{
    const enum sql sql = SQL_READ_PROGRESS;
    struct row_id room;
    enum db_status status = db_run(r->db, sql, DB_PARAMS(row_uuid(id, &room)));

    *found = status == DB_ROW;
    if (*found) {
        *row = db_column_int(r->db, sql, 0);
        out->code = row_text(r, mem, sql, 1);
        out->org_id = row_text(r, mem, sql, 2);
        if (!status_read(db_column_text(r->db, sql, 3), &out->status))
            status = DB_CORRUPT;
        out->current_step = row_text(r, mem, sql, 4);
        out->waiting_for_json = row_text(r, mem, sql, 5);
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
        ok = load_history(r, mem, row, after < 0 ? 0 : after, limit, READ_BYTES_MAX, &out->history,
                          &out->is_cut, err);
    reader_end(r);
    return ok;
}

bool read_signal(struct reader *r, struct uuid execution, struct str signal_id, int64_t *seq,
                 bool *found, struct err *err)
{
    struct row_id room;
    int64_t row;
    enum db_status status = row_int(r, SQL_READ_ROW, DB_PARAMS(row_uuid(execution, &room)), &row);

    if (status == DB_ROW) {
        status = db_run(r->db, SQL_SIGNAL_FIND, DB_PARAMS(db_int(row), db_text(signal_id)));
        if (status == DB_ROW)
            *seq = db_column_int(r->db, SQL_SIGNAL_FIND, 2);
        db_end(r->db, SQL_SIGNAL_FIND);
    }
    *found = status == DB_ROW;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_record_last(struct reader *r, struct str org_id, struct str object, struct str id,
                      int64_t *version, struct err *err)
{
    enum db_status status = reader_run(
        r, SQL_RECORD_LAST, DB_PARAMS(db_text(record_org(org_id)), db_text(object), db_text(id)));

    *version = status == DB_ROW ? db_column_int(r->db, SQL_RECORD_LAST, 0) : 0;
    db_end(r->db, SQL_RECORD_LAST);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
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

        due.waits_for_call = sql == SQL_READ_DUE && db_column_int(r->db, sql, 2) != 0;
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
    struct row_id room;
    enum db_status status = reader_run(
        r, SQL_READ_DUE,
        DB_PARAMS(db_int(after_us), row_uuid(after_id, &room), db_int(until_us), db_int(limit)));

    return load_dues(r, mem, SQL_READ_DUE, status, out, err);
}

bool read_by_key(struct reader *r, struct str org_id, struct str code, struct str key,
                 struct uuid *out, bool *found, struct err *err)
{
    enum db_status status = reader_run(
        r, SQL_LIVE_KEY_FIND, DB_PARAMS(db_text(key), db_text(code), db_text_or_null(org_id)));

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

        if (status_read(db_column_text(r->db, SQL_COUNTS, 0), &which))
            out[which] = db_column_int(r->db, SQL_COUNTS, 1);
    }
    db_end(r->db, SQL_COUNTS);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}
