/* read_signal.c - signals and waits that a correlation joins; see read.h. */
#include "store/read_signal.h"
#include "store/read/read_row.h"
#include "store/write/apply.h"
#include "value/json.h"

bool read_wait(struct reader *r, struct arena *mem, struct str org_id, struct str correlation,
               struct str type, int64_t after, struct open_wait *out, bool *found, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_WAIT_FIND,
                 DB_PARAMS(db_text(org_id), db_text(correlation), db_int(after), db_text(type)));

    *found = rows_has(&rows);
    if (*found)
        *out = (struct open_wait){.row = rows_int(&rows, 0), .execution = rows_uuid(&rows, 1)};
    return rows_end(&rows, err);
}

bool read_correlated(struct reader *r, struct arena *mem, struct str org_id, struct str id,
                     int64_t now_us, struct known_signal *out, bool *found, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_CORRELATED, DB_PARAMS(db_text(org_id), db_text(id)));

    *found = rows_has(&rows) && rows_int(&rows, 3) > now_us;
    if (*found) {
        out->digest = rows_text(&rows, 1);
        out->is_delivered = rows_view(&rows, 2).len > 0;
        if (out->is_delivered && !uuid_read(rows_view(&rows, 2), &out->execution))
            rows_damaged(&rows);
    }
    return rows_end(&rows, err);
}

/* A column of JSON; null where there is nothing. */
static bool rows_json(const struct rows *rows, unsigned column, struct value *out, struct err *err)
{
    struct str text = rows_text(rows, column);

    *out = value_null();
    return text.len == 0 || json_read(rows->mem, text, out, err);
}

static bool add_buffered(const struct rows *rows, struct stored_buffered_signals *out,
                         struct err *err)
{
    struct buffered_signal kept = {
        .row = rows_int(rows, 0),
        .signal = {.id = rows_text(rows, 1),
                   .type = rows_text(rows, 2),
                   .received_at_us = rows_int(rows, 6)},
    };
    struct value sender;

    if (!rows_json(rows, 3, &kept.signal.payload, err) ||
        !rows_json(rows, 4, &kept.signal.by, err) || !rows_json(rows, 5, &sender, err))
        return false;
    *VEC_ADD(rows->mem, out) = (struct stored_buffered_signal){.buffered = kept, .sender = sender};
    return true;
}

bool read_buffered_signals(struct reader *r, struct arena *mem, struct str org_id,
                           struct str correlation, int64_t execution, int64_t now_us,
                           struct stored_buffered_signals *out, int64_t *last_row, struct err *err)
{
    struct rows rows = rows_run(
        r, mem, SQL_READ_KEPT, DB_PARAMS(db_text(org_id), db_text(correlation), db_int(execution)));
    bool ok = true;

    *out = (struct stored_buffered_signals){0};
    *last_row = 0;
    for (; ok && rows_has(&rows); rows_next(&rows)) {
        bool has_expired = rows_int(&rows, 7) <= now_us;
        bool is_received = rows_int(&rows, 8) != 0;

        *last_row = rows_int(&rows, 0);
        if (!has_expired && !is_received)
            ok = add_buffered(&rows, out, err);
    }
    return rows_end(&rows, err) && ok;
}

bool read_expired(struct reader *r, int64_t now_us, bool *found, struct err *err)
{
    int64_t one;
    enum db_status status = row_int(r, SQL_READ_EXPIRED, DB_PARAMS(db_int(now_us)), &one);

    *found = status == DB_ROW;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_buffered_count(struct reader *r, int64_t *out, struct err *err)
{
    return row_int_or_0(r, SQL_COUNTER, DB_PARAMS(db_text(STR(COUNTER_BUFFERED_SIGNALS))), out,
                        err);
}
