/*
 * read_letter.c - dead letters, newest first; see read.h.
 *
 * A list walks one index from the newest row down, through LOOKED_AT_MAX rows
 * at most: what a filter leaves over of more goes on with a cursor.
 */
#include "store/apply.h"
#include "store/read_row.h"

#ifdef PAWL_SLOW_CHECKS
enum { LOOKED_AT_MAX = 12 };
#else
enum { LOOKED_AT_MAX = 20000 };
#endif

/* One index to walk, and what is looked for in it. */
struct source {
    enum sql list, window;
    bool has_value;
    struct db_value value;
};

static bool row_letter(struct reader *r, struct arena *mem, enum sql sql, struct stored_letter *out,
                       struct err *err)
{
    struct db *db = r->db;

    *out = (struct stored_letter){
        .row = db_column_int(db, sql, 0),
        .kind = row_text(r, mem, sql, 3),
        .code = row_text(r, mem, sql, 4),
        .org_id = row_text(r, mem, sql, 5),
        .step = row_text(r, mem, sql, 6),
        .attempts = db_column_int(db, sql, 8),
        .cause_json = row_text(r, mem, sql, 9),
        .payload_json = row_text(r, mem, sql, 10),
        .note = row_text(r, mem, sql, 11),
        .resolved_by = row_text(r, mem, sql, 12),
        .created_at_us = db_column_int(db, sql, 13),
        .resolved_at_us = db_column_int(db, sql, 14),
        .version = db_column_int(db, sql, 15),
        .key = row_text(r, mem, sql, 16),
    };
    return (uuid_read(db_column_text(db, sql, 1), &out->id) &&
            row_maybe_uuid(r, sql, 2, &out->has_execution, &out->execution) &&
            letter_status_read(db_column_text(db, sql, 7), &out->status)) ||
           db_fail(db, DB_CORRUPT, err);
}

/* Add what the index has between two rows, one more than the page holds at most. */
static bool walk(struct reader *r, struct arena *mem, const struct letter_filter *f,
                 const struct source *source, int64_t low, int64_t high, struct stored_letters *out,
                 bool *is_cut, struct err *err)
{
    const enum sql sql = source->list;
    const struct db_value params[] = {
        db_int(f->limit + 1),
        db_int(high),
        db_int(low),
        db_int(f->from_us),
        db_int(f->to_us > 0 ? f->to_us : INT64_MAX),
        db_text_or_null(f->kind),
        f->has_status ? db_text(str_of(letter_status_name(f->status))) : db_null(),
        db_text_or_null(f->code),
        db_text_or_null(f->org_id),
        source->value,
    };
    enum db_status status = reader_stream(r, sql, params, source->has_value ? 10 : 9);
    size_t bytes = 0;
    bool ok = true;

    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct stored_letter letter;

        ok = row_letter(r, mem, sql, &letter, err);
        *VEC_ADD(mem, out) = letter;
        bytes += letter.cause_json.len + letter.payload_json.len + letter.note.len;
        if (ok && bytes > READ_BYTES_MAX) {
            *is_cut = true;
            status = DB_DONE;
            break;
        }
    }
    db_end(r->db, sql);
    if (!ok)
        return false;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

/* *found: false when the execution that is asked for does not exist. */
static bool choose_source(struct reader *r, const struct letter_filter *f, struct source *out,
                          bool *found, struct err *err)
{
    struct row_id room;
    int64_t row;

    *found = true;
    *out = (struct source){.list = SQL_LETTERS, .window = SQL_LETTERS_WINDOW, .value = db_null()};
    if (f->has_execution) {
        enum db_status status =
            row_int(r, SQL_READ_ROW, DB_PARAMS(row_uuid(f->execution, &room)), &row);

        if (status > DB_DONE)
            return db_fail(r->db, status, err);
        *found = status == DB_ROW;
        *out = (struct source){.list = SQL_LETTERS_BY_EXECUTION,
                               .window = SQL_LETTERS_WINDOW_BY_EXECUTION,
                               .has_value = true,
                               .value = db_int(*found ? row : 0)};
    } else if (f->has_status && f->status == LETTER_OPEN) {
        out->list = SQL_LETTERS_OPEN;
        out->window = SQL_LETTERS_WINDOW_OPEN;
    } else if (f->code.len > 0) {
        *out = (struct source){.list = SQL_LETTERS_BY_CODE,
                               .window = SQL_LETTERS_WINDOW_BY_CODE,
                               .has_value = true,
                               .value = db_text(f->code)};
    }
    return true;
}

/* The row below which the next page begins; 0 when this one is the last. */
static bool lay_floor(struct reader *r, const struct source *source, int64_t high, int64_t *out,
                      struct err *err)
{
    const struct db_value params[] = {db_int(high), db_int(0), db_int(LOOKED_AT_MAX),
                                      source->value};
    enum db_status status = row_int(r, source->window, params, source->has_value ? 4 : 3, out);

    if (status == DB_DONE)
        *out = 0;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_letters(struct reader *r, struct arena *mem, const struct letter_filter *filter,
                  struct stored_letters *out, struct str *next, struct err *err)
{
    int64_t high = INT64_MAX, low = 0;
    struct source source;
    bool found, is_cut = false;

    *out = (struct stored_letters){0};
    *next = STR_NONE;
    if (filter->cursor.len > 0 && !row_cursor_read(filter->cursor, &high))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    if (!choose_source(r, filter, &source, &found, err))
        return false;
    if (!found)
        return true;
    if (!lay_floor(r, &source, high, &low, err) ||
        !walk(r, mem, filter, &source, low, high, out, &is_cut, err))
        return false;
    if ((int64_t)out->count > filter->limit) {
        out->count = (size_t)filter->limit;
        *next = row_cursor(mem, out->items[out->count - 1].row);
    } else if (is_cut) {
        *next = row_cursor(mem, out->items[out->count - 1].row);
    } else if (low > 0) {
        *next = row_cursor(mem, low);
    }
    return true;
}

bool read_letter(struct reader *r, struct arena *mem, struct uuid id, struct stored_letter *out,
                 bool *found, struct err *err)
{
    struct row_id room;
    enum db_status status = reader_run(r, SQL_READ_LETTER, DB_PARAMS(row_uuid(id, &room)));
    bool ok = true;

    *found = status == DB_ROW;
    if (*found)
        ok = row_letter(r, mem, SQL_READ_LETTER, out, err);
    db_end(r->db, SQL_READ_LETTER);
    if (!ok)
        return false;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_open_letters(struct reader *r, int64_t *out, struct err *err)
{
    enum db_status status =
        row_int(r, SQL_COUNTER, DB_PARAMS(db_text(STR(COUNTER_OPEN_LETTERS))), out);

    return status == DB_ROW ? true : db_fail(r->db, status, err);
}
