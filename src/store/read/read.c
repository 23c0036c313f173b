/* read.c - reading executions and their history; see read.h. */
#include "store/read.h"

#include "store/org.h"
#include "store/read/read_row.h"
#include "store/read_execution.h"
#include "store/read_executions.h"
#include "store/read_find.h"
#include "store/read_record.h"
#include "store/write/apply.h"

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
    struct rows rows =
        rows_then_stream(r, mem, SQL_READ_HISTORY,
                         DB_PARAMS(db_int(history_key(row, after)),
                                   db_int(history_key(row, HISTORY_SEQ_MAX)), db_int(limit)));
    size_t bytes = 0;

    *is_cut = false;
    for (; rows_has(&rows); rows_next(&rows)) {
        if (bytes_max > 0 && bytes > bytes_max) {
            *is_cut = true;
            rows_stop(&rows);
            break;
        }
        *VEC_ADD(mem, out) = (struct history_row){
            .seq = rows_int(&rows, 0) & HISTORY_SEQ_MAX,
            .kind = (enum history_kind)rows_int(&rows, 1),
            .visit = rows_int(&rows, 2),
            .attempt = rows_int(&rows, 3),
            .started_at_us = rows_int(&rows, 4),
            .completed_at_us = rows_int(&rows, 5),
            .step = rows_text(&rows, 6),
            .status = rows_text(&rows, 7),
            .key = rows_text(&rows, 8),
            .input_json = rows_text(&rows, 9),
            .output_json = rows_text(&rows, 10),
            .error_json = rows_text(&rows, 11),
            .delta_json = rows_text(&rows, 12),
        };
        bytes += history_bytes(&out->items[out->count - 1]);
    }
    return rows_end(&rows, err);
}

/* Of the notices of one execution, what they say: the rest is read when these are applied. */
enum { NOTICE_BYTES_MAX = 4 << 20 };

/* The row of SQL_READ_NOTICES and its like. False: it is damaged. */
static bool row_notice(struct rows *rows, struct notice_rows *out)
{
    struct notice_row notice = {
        .n = rows_int(rows, 0), .key = rows_text(rows, 2), .payload_json = rows_text(rows, 3)};

    if (!notice_kind_read(rows_view(rows, 1), &notice.kind))
        return false;
    *VEC_ADD(rows->mem, out) = notice;
    return true;
}

static bool load_notices(struct reader *r, struct arena *mem, int64_t row, struct notice_rows *out,
                         struct err *err)
{
    struct rows rows = rows_then(r, mem, SQL_READ_NOTICES, DB_PARAMS(db_int(row)));
    size_t bytes = 0;

    *out = (struct notice_rows){0};
    for (; rows_has(&rows) && !out->is_cut; rows_next(&rows)) {
        if (!row_notice(&rows, out))
            rows_damaged(&rows);
        bytes += rows_view(&rows, 3).len;
        out->is_cut = bytes > NOTICE_BYTES_MAX;
    }
    if (out->is_cut)
        rows_stop(&rows);
    return rows_end(&rows, err);
}

bool read_notices(struct reader *r, struct arena *mem, struct uuid id, struct notice_rows *out,
                  struct err *err)
{
    int64_t row;
    enum db_status status = row_int(r, SQL_READ_ROW, DB_PARAMS(db_text(UUID_STR(id))), &row);

    *out = (struct notice_rows){0};
    if (status == DB_ROW)
        return load_notices(r, mem, row, out, err);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_noticed_executions(struct reader *r, struct arena *mem, int64_t after, int64_t limit,
                             struct noticed_executions *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_NOTICED_EXECUTIONS, DB_PARAMS(db_int(after), db_int(limit)));

    *out = (struct noticed_executions){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = (struct noticed_execution){.id = rows_uuid(&rows, 0),
                                                        .row = rows_int(&rows, 1),
                                                        .is_due = rows_int(&rows, 2) == 1,
                                                        .is_gone = rows_int(&rows, 2) == 2};
    return rows_end(&rows, err);
}

bool read_row_versions(struct reader *r, struct arena *mem, struct str ids_json,
                       struct execution_versions *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_ROW_VERSIONS, DB_PARAMS(db_text(ids_json)));

    *out = (struct execution_versions){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = (struct execution_version){.id = rows_uuid(&rows, 0),
                                                        .row_version = rows_int(&rows, 1)};
    return rows_end(&rows, err);
}

bool read_ends(struct reader *r, struct arena *mem, struct str ids_json, struct execution_ends *out,
               struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_ENDS, DB_PARAMS(db_text(ids_json)));

    *out = (struct execution_ends){0};
    for (; rows_has(&rows); rows_next(&rows)) {
        struct execution_end end = {.id = rows_uuid(&rows, 0),
                                    .result_json = rows_text(&rows, 2),
                                    .error_json = rows_text(&rows, 3),
                                    .crash_count = rows_int(&rows, 4)};

        if (status_read(rows_view(&rows, 1), &end.status) &&
            rows_maybe_uuid(&rows, 5, &end.has_parent, &end.parent_id) &&
            waiting_kind_read(rows_view(&rows, 6), &end.waiting_kind))
            *VEC_ADD(mem, out) = end;
        else
            rows_damaged(&rows);
    }
    return rows_end(&rows, err);
}

/* --- one execution --- */

/* The row of SQL_READ_EXECUTION and its like. */
static bool row_whole(struct rows *rows, struct stored_execution *out, struct err *err)
{
    bool ok = row_execution(rows, out, err);

    out->input_json = rows_text(rows, 33);
    out->context_json = rows_text(rows, 34);
    out->snapshot = rows_text(rows, 35);
    out->webhook_json = rows_text(rows, 36);
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
    struct rows rows = rows_then(r, mem, SQL_READ_EXECUTION, DB_PARAMS(db_text(UUID_STR(id))));
    bool ok = true;

    *found = rows_has(&rows);
    if (*found)
        ok = row_whole(&rows, out, err);
    ok = rows_end(&rows, err) && ok;
    if (!ok || !*found)
        return ok;
    return load_after_checkpoint(r, mem, out, err) &&
           load_notices(r, mem, out->row, &out->notices, err);
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
    struct rows rows;
    struct buf ids;
    bool ok = true;

    buf_init_arena(&ids, mem);
    for (size_t i = 0; i < all->count; i++) {
        buf_printf(&ids, "%s\"%s\"", i == 0 ? "[" : ",", UUID_STR(all->items[i].id).ptr);
        all->items[i].found = false;
    }
    buf_char(&ids, ']');
    rows = rows_then_stream(r, mem, SQL_READ_SEVERAL, DB_PARAMS(db_text(buf_view(&ids))));
    for (; ok && rows_has(&rows); rows_next(&rows)) {
        struct execution_read *read = find_by_id(all, rows_view(&rows, 1));

        if (read == NULL) {
            rows_damaged(&rows);
            break;
        }
        if (all->begins != NULL)
            all->begins(all->context, read->id);
        rows.mem = read->mem;
        ok = row_whole(&rows, &read->stored, err);
        read->found = true;
    }
    return rows_end(&rows, err) && ok;
}

static bool load_notices_each(struct reader *r, struct arena *mem,
                              const struct execution_reads *all, struct err *err)
{
    struct rows rows;
    struct buf found;

    buf_init_arena(&found, mem);
    buf_text(&found, "[0"); /* which no execution has */
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].found)
            buf_printf(&found, ",%lld", (long long)all->items[i].stored.row);
    buf_char(&found, ']');
    rows = rows_then(r, mem, SQL_READ_NOTICES_SEVERAL, DB_PARAMS(db_text(buf_view(&found))));
    for (; rows_has(&rows); rows_next(&rows)) {
        struct execution_read *read = find_by_row(all, rows_int(&rows, 4));

        rows.mem = read == NULL ? NULL : read->mem;
        if (read == NULL || !row_notice(&rows, &read->stored.notices))
            rows_damaged(&rows);
    }
    return rows_end(&rows, err);
}

bool read_several(struct reader *r, struct arena *mem, struct execution_reads *all, struct err *err)
{
    bool ok;

    if (!reader_begin(r, err))
        return false;
    ok = load_each(r, mem, all, err) && load_notices_each(r, mem, all, err);
    for (size_t i = 0; ok && i < all->count; i++)
        if (all->items[i].found)
            ok = load_after_checkpoint(r, all->items[i].mem, &all->items[i].stored, err);
    reader_end(r);
    return ok;
}

bool read_owner(struct reader *r, struct arena *mem, struct uuid id, struct execution_owner *out,
                bool *found, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_OWNER, DB_PARAMS(db_text(UUID_STR(id))));

    *found = rows_has(&rows);
    if (*found)
        *out = (struct execution_owner){
            .org_id = rows_text(&rows, 0),
            .code = rows_text(&rows, 1),
            .version = rows_int(&rows, 2),
        };
    return rows_end(&rows, err);
}

bool read_history_page(struct reader *r, struct arena *mem, struct uuid id, int64_t after,
                       int64_t limit, size_t bytes_max, struct history *out, bool *is_cut,
                       bool *found, struct err *err)
{
    int64_t row;
    enum db_status status = row_int(r, SQL_READ_ROW, DB_PARAMS(db_text(UUID_STR(id))), &row);

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
    struct rows rows = rows_then(r, mem, SQL_READ_PROGRESS, DB_PARAMS(db_text(UUID_STR(id))));

    *found = rows_has(&rows);
    if (*found) {
        *row = rows_int(&rows, 0);
        out->code = rows_text(&rows, 1);
        out->org_id = rows_text(&rows, 2);
        if (!status_read(rows_view(&rows, 3), &out->status))
            rows_damaged(&rows);
        out->current_step = rows_text(&rows, 4);
        out->waiting_for_json = rows_text(&rows, 5);
        out->row_version = rows_int(&rows, 6);
        out->seq = rows_int(&rows, 7);
        out->updated_at_us = rows_int(&rows, 8);
    }
    return rows_end(&rows, err);
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
    int64_t row;
    enum db_status status = row_int(r, SQL_READ_ROW, DB_PARAMS(db_text(UUID_STR(execution))), &row);

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
    return row_int_or_0(r, SQL_RECORD_LAST,
                        DB_PARAMS(db_text(record_org(org_id)), db_text(object), db_text(id)),
                        version, err);
}

/* --- due, by key, by suffix --- */

/* Rows of (id, wake_at). */
static bool load_dues(struct rows *rows, struct dues *out, struct err *err)
{
    *out = (struct dues){0};
    for (; rows_has(rows); rows_next(rows))
        *VEC_ADD(rows->mem, out) = (struct due){
            .id = rows_uuid(rows, 0),
            .wake_at_us = rows_int(rows, 1),
            .waits_for_call = rows->sql == SQL_READ_DUE && rows_int(rows, 2) != 0,
        };
    return rows_end(rows, err);
}

/* As an array of PostgreSQL. */
static struct str shards_text(struct arena *mem, const struct shard_set *shards)
{
    struct buf out;

    buf_init_arena(&out, mem);
    buf_char(&out, '{');
    for (unsigned i = 0; i < SHARD_COUNT; i++)
        if (shard_set_has(shards, i))
            buf_printf(&out, "%s%u", out.len > 1 ? "," : "", i);
    buf_char(&out, '}');
    return buf_view(&out);
}

/*
 * Of each shard at most `each` were read. They are in order: up to where the first shard has
 * given all it may, nothing of any shard is missing.
 */
static void dues_cut(struct dues *dues, int64_t each, int64_t limit)
{
    int64_t counts[SHARD_COUNT] = {0};

    for (size_t i = 0; i < dues->count; i++) {
        bool is_last = ++counts[shard_of(dues->items[i].id)] == each || (int64_t)i + 1 == limit;

        if (!is_last)
            continue;
        dues->count = i + 1;
        dues->is_cut = true;
        return;
    }
}

static bool read_dues(struct reader *r, struct arena *mem, enum sql sql,
                      const struct shard_set *shards, int64_t after_us, struct uuid after_id,
                      int64_t until_us, int64_t limit, struct dues *out, struct err *err)
{
    enum { EACH_MIN = 8 };
    unsigned count = shard_set_count(shards);
    int64_t each = count > 0 ? 2 * limit / count : limit;
    struct rows rows;

    *out = (struct dues){0};
    if (count == 0)
        return true;
    each = !r->db->has_sets || each > limit ? limit : each < EACH_MIN ? EACH_MIN : each;
    rows = rows_run(r, mem, sql,
                    DB_PARAMS(db_int(after_us), db_text(UUID_STR(after_id)), db_int(until_us),
                              db_int(each), db_text(shards_text(mem, shards))));
    if (!load_dues(&rows, out, err))
        return false;
    if (r->db->has_sets)
        dues_cut(out, each, limit);
    else
        out->is_cut = (int64_t)out->count == limit;
    return true;
}

bool read_due(struct reader *r, struct arena *mem, const struct shard_set *shards, int64_t after_us,
              struct uuid after_id, int64_t until_us, int64_t limit, struct dues *out,
              struct err *err)
{
    return read_dues(r, mem, SQL_READ_DUE, shards, after_us, after_id, until_us, limit, out, err);
}

bool read_calls_due(struct reader *r, struct arena *mem, const struct shard_set *shards,
                    int64_t after_us, struct uuid after_id, int64_t until_us, int64_t limit,
                    struct dues *out, struct err *err)
{
    return read_dues(r, mem, SQL_READ_CALLS_DUE, shards, after_us, after_id, until_us, limit, out,
                     err);
}

bool read_by_key(struct reader *r, struct str org_id, struct str code, struct str key,
                 struct uuid *out, bool *found, struct err *err)
{
    struct rows rows = rows_run(r, NULL, SQL_LIVE_KEY_FIND,
                                DB_PARAMS(db_text(key), db_text(code), db_text_or_null(org_id)));

    *found = rows_has(&rows);
    if (*found && !uuid_read(rows_view(&rows, 1), out))
        rows_damaged(&rows);
    return rows_end(&rows, err);
}

bool read_by_suffix(struct reader *r, struct arena *mem, struct str suffix, int64_t limit,
                    struct dues *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_BY_SUFFIX, DB_PARAMS(db_text(suffix), db_int(limit)));

    return load_dues(&rows, out, err);
}

bool read_counts(struct reader *r, int64_t out[STATUS_COUNT], struct err *err)
{
    struct rows rows = rows_run(r, NULL, SQL_COUNTS, DB_NO_PARAMS);

    for (unsigned i = 0; i < STATUS_COUNT; i++)
        out[i] = 0;
    for (; rows_has(&rows); rows_next(&rows)) {
        enum execution_status which;

        if (status_read(rows_view(&rows, 0), &which))
            out[which] = rows_int(&rows, 1);
    }
    return rows_end(&rows, err);
}
