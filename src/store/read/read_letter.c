/*
 * read_letter.c - dead letters, newest first; see read.h.
 *
 * A list walks one index from the newest row down, through LOOKED_AT_MAX rows
 * at most: what a filter leaves over of more goes on with a cursor.
 */
#include "store/read_letter.h"

#include <inttypes.h>

#include "base/buf.h"
#include "store/read/read_row.h"
#include "store/write/apply.h"

#ifdef PAWL_SLOW_CHECKS
enum { LOOKED_AT_MAX = 12 };
#else
enum { LOOKED_AT_MAX = 20000 };
#endif

/* One index to walk, and what is looked for in it. */
struct letter_source {
    enum sql list, window;
    bool has_value;
    struct db_value value;
};

/* False: the row is damaged. */
static bool row_letter(struct rows *rows, struct stored_letter *out)
{
    *out = (struct stored_letter){
        .row = rows_int(rows, 0),
        .kind = rows_text(rows, 3),
        .code = rows_text(rows, 4),
        .org_id = rows_text(rows, 5),
        .step = rows_text(rows, 6),
        .attempts = rows_int(rows, 8),
        .cause_json = rows_text(rows, 9),
        .payload_json = rows_text(rows, 10),
        .note = rows_text(rows, 11),
        .resolved_by = rows_text(rows, 12),
        .created_at_us = rows_int(rows, 13),
        .resolved_at_us = rows_int(rows, 14),
        .version = rows_int(rows, 15),
        .key = rows_text(rows, 16),
        .sent_as = rows_text(rows, 17),
        .sent_key = rows_text(rows, 18),
        .sent_json = rows_text(rows, 19),
    };
    return uuid_read(rows_view(rows, 1), &out->id) &&
           rows_maybe_uuid(rows, 2, &out->has_execution, &out->execution) &&
           letter_status_read(rows_view(rows, 7), &out->status);
}

/* Add what the index has between two rows, one more than the page holds at most. */
static bool walk_letters(struct reader *r, struct arena *mem, const struct letter_filter *f,
                         const struct letter_source *source, int64_t low, int64_t high,
                         struct stored_letters *out, bool *is_cut, struct err *err)
{
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
    struct rows rows = rows_stream(r, mem, source->list, params, source->has_value ? 10 : 9);
    size_t bytes = 0;

    for (; rows_has(&rows); rows_next(&rows)) {
        struct stored_letter *letter = VEC_ADD(mem, out);

        if (!row_letter(&rows, letter))
            rows_damaged(&rows);
        bytes += letter->cause_json.len + letter->payload_json.len + letter->note.len +
                 letter->sent_json.len;
        if (bytes > READ_BYTES_MAX) {
            *is_cut = true;
            rows_stop(&rows);
        }
    }
    return rows_end(&rows, err);
}

/* *found: false when the execution that is asked for does not exist. */
static bool choose_source(struct reader *r, const struct letter_filter *f,
                          struct letter_source *out, bool *found, struct err *err)
{
    int64_t row;

    *found = true;
    *out = (struct letter_source){
        .list = SQL_LETTERS, .window = SQL_LETTERS_WINDOW, .value = db_null()};
    if (f->has_execution) {
        if (!row_int_or_0(r, SQL_READ_ROW, DB_PARAMS(db_text(UUID_STR(f->execution))), &row, err))
            return false;
        *found = row != 0;
        *out = (struct letter_source){.list = SQL_LETTERS_BY_EXECUTION,
                                      .window = SQL_LETTERS_WINDOW_BY_EXECUTION,
                                      .has_value = true,
                                      .value = db_int(row)};
    } else if (f->has_status && f->status == LETTER_OPEN) {
        out->list = SQL_LETTERS_OPEN;
        out->window = SQL_LETTERS_WINDOW_OPEN;
    } else if (f->code.len > 0) {
        *out = (struct letter_source){.list = SQL_LETTERS_BY_CODE,
                                      .window = SQL_LETTERS_WINDOW_BY_CODE,
                                      .has_value = true,
                                      .value = db_text(f->code)};
    }
    return true;
}

/* The row below which the next page begins; 0 when this one is the last. */
static bool lay_floor(struct reader *r, const struct letter_source *source, int64_t high,
                      int64_t *out, struct err *err)
{
    const struct db_value params[] = {db_int(high), db_int(0), db_int(LOOKED_AT_MAX),
                                      source->value};

    return row_int_or_0(r, source->window, params, source->has_value ? 4 : 3, out, err);
}

bool read_letters(struct reader *r, struct arena *mem, const struct letter_filter *filter,
                  struct stored_letters *out, struct str *next, struct err *err)
{
    int64_t high = INT64_MAX, low = 0;
    struct letter_source source;
    bool found, is_cut = false;

    *out = (struct stored_letters){0};
    *next = STR_NONE;
    if (!row_cursor_read(filter->cursor, &high, err))
        return false;
    if (!choose_source(r, filter, &source, &found, err))
        return false;
    if (!found)
        return true;
    if (!lay_floor(r, &source, high, &low, err) ||
        !walk_letters(r, mem, filter, &source, low, high, out, &is_cut, err))
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
    struct rows rows = rows_run(r, mem, SQL_READ_LETTER, DB_PARAMS(db_text(UUID_STR(id))));

    *found = rows_has(&rows);
    if (*found && !row_letter(&rows, out))
        rows_damaged(&rows);
    return rows_end(&rows, err);
}

bool read_letter_owners(struct reader *r, struct arena *mem, const int64_t *rows, size_t count,
                        bool **has, struct err *err)
{
    struct buf list;
    struct rows found;

    *has = arena_zalloc(mem, count + 1);
    buf_init_arena(&list, mem);
    for (size_t i = 0; i < count; i++)
        buf_printf(&list, "%c%" PRId64, i > 0 ? ',' : '[', rows[i]);
    buf_text(&list, count > 0 ? "]" : "[]");
    for (found = rows_run(r, mem, SQL_LETTER_OWNERS, DB_PARAMS(db_text(buf_view(&list))));
         rows_has(&found); rows_next(&found))
        for (size_t i = 0; i < count; i++)
            (*has)[i] |= rows[i] == rows_int(&found, 0);
    return rows_end(&found, err);
}

bool read_open_letters(struct reader *r, int64_t *out, struct err *err)
{
    return row_int_or_0(r, SQL_COUNTER, DB_PARAMS(db_text(STR(COUNTER_OPEN_LETTERS))), out, err);
}
