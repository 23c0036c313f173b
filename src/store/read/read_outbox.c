/* read_outbox.c - messages that wait for their delivery; see read.h. */
#include "store/read_outbox.h"
#include "store/read/read_row.h"
#include "store/write/apply.h"

bool read_outbox_lanes(struct reader *r, struct arena *mem, struct lane_names *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_OUTBOX_LANES, DB_NO_PARAMS);

    *out = (struct lane_names){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = rows_text(&rows, 0);
    return rows_end(&rows, err);
}

static bool row_due(const struct rows *rows, struct due_message *out)
{
    *out = (struct due_message){.row = rows_int(rows, 0),
                                .execution = rows_int(rows, 2),
                                .attempts = rows_int(rows, 3),
                                .is_late = rows_int(rows, 4) != 0,
                                .name = rows_text(rows, 6),
                                .body_json = rows_text(rows, 7),
                                .org_id = rows_text(rows, 8)};
    return uuid_read(rows_view(rows, 1), &out->id) &&
           message_kind_read(rows_view(rows, 5), &out->kind);
}

bool read_outbox_due(struct reader *r, struct arena *mem, struct str destination, struct str node,
                     int64_t now_us, int64_t limit, size_t bytes_max, struct due_messages *out,
                     int64_t *next_at_us, struct err *err)
{
    struct rows rows = rows_stream(
        r, mem, SQL_OUTBOX_DUE,
        DB_PARAMS(db_text(destination), db_int(now_us), db_int(limit), db_text_or_null(node)));
    size_t bytes = 0;

    *out = (struct due_messages){0};
    for (; rows_has(&rows); rows_next(&rows)) {
        struct due_message *m = VEC_ADD(mem, out);

        if (!row_due(&rows, m))
            rows_damaged(&rows);
        bytes += m->body_json.len;
        if (bytes > bytes_max) {
            out->is_cut = true;
            rows_stop(&rows);
        }
    }
    out->is_cut |= (int64_t)out->count == limit;
    return rows_end(&rows, err) &&
           row_int_or_0(r, SQL_OUTBOX_NEXT, DB_PARAMS(db_text(destination), db_int(now_us)),
                        next_at_us, err);
}

/* --- for people --- */

/* False: the row is damaged. */
static bool row_message(struct rows *rows, struct stored_message *out)
{
    *out = (struct stored_message){
        .row = rows_int(rows, 0),
        .destination = rows_text(rows, 4),
        .name = rows_text(rows, 5),
        .is_parked = str_eq(rows_view(rows, 6), STR("parked")),
        .attempts = rows_int(rows, 7),
        .next_at_us = rows_int(rows, 8),
        .error_json = rows_text(rows, 9),
        .org_id = rows_text(rows, 10),
        .created_at_us = rows_int(rows, 11),
        .is_late = rows_int(rows, 12) != 0,
        .is_behind = rows_int(rows, 16) != 0,
        .letter = rows_text(rows, 13),
        .code = rows_text(rows, 14),
        .version = rows_int(rows, 15),
    };
    return uuid_read(rows_view(rows, 1), &out->id) &&
           rows_maybe_uuid(rows, 2, &out->has_execution, &out->execution) &&
           message_kind_read(rows_view(rows, 3), &out->kind);
}

bool read_message(struct reader *r, struct arena *mem, struct uuid id, struct stored_message *out,
                  bool *found, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_OUTBOX_GET, DB_PARAMS(db_text(UUID_STR(id))));

    *found = rows_has(&rows);
    if (*found && !row_message(&rows, out))
        rows_damaged(&rows);
    else if (*found)
        out->body_json = rows_text(&rows, 17);
    return rows_end(&rows, err);
}

bool read_messages(struct reader *r, struct arena *mem, const struct message_filter *f,
                   struct stored_messages *out, struct str *next, struct err *err)
{
    int64_t high = INT64_MAX, execution = 0;
    struct rows rows;

    *out = (struct stored_messages){0};
    *next = STR_NONE;
    if (!row_cursor_read(f->cursor, &high, err))
        return false;
    if (f->has_execution &&
        !row_int_or_0(r, SQL_READ_ROW, DB_PARAMS(db_text(UUID_STR(f->execution))), &execution, err))
        return false;
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

        rows = f->has_execution ? rows_run(r, mem, SQL_OUTBOX_LIST_BY_EXECUTION, params, 8)
                                : rows_run(r, mem, SQL_OUTBOX_LIST, params, 7);
    }
    for (; rows_has(&rows); rows_next(&rows))
        if (!row_message(&rows, VEC_ADD(mem, out)))
            rows_damaged(&rows);
    if (!rows_end(&rows, err))
        return false;
    if ((int64_t)out->count > f->limit) {
        out->count = (size_t)f->limit;
        *next = row_cursor(mem, out->items[out->count - 1].row);
    }
    return true;
}

bool read_outbox_figures(struct reader *r, int64_t *pending, int64_t *oldest_at_us, struct err *err)
{
    return row_int_or_0(r, SQL_COUNTER, DB_PARAMS(db_text(STR(COUNTER_OUTBOX))), pending, err) &&
           read_outbox_oldest(r, STR_NONE, oldest_at_us, err);
}

bool read_outbox_oldest(struct reader *r, struct str org_id, int64_t *at_us, struct err *err)
{
    return row_int_or_0(r, SQL_OUTBOX_OLDEST, DB_PARAMS(db_text_or_null(org_id)), at_us, err);
}
