/* read_inbox.c - see inbox.h. */
#include "store/inbox.h"
#include "store/read_row.h"

#include <stdlib.h>

struct wait_rows {
    VEC_OF(int64_t);
};

static bool row_wait(struct reader *r, struct arena *mem, enum sql sql, struct stored_wait *out)
{
    *out = (struct stored_wait){
        .row = db_column_int(r->db, sql, 0),
        .code = row_text(r, mem, sql, 2),
        .version = db_column_int(r->db, sql, 3),
        .org_id = row_text(r, mem, sql, 4),
        .step = row_text(r, mem, sql, 5),
        .visit = db_column_int(r->db, sql, 6),
        .title = row_text(r, mem, sql, 7),
        .form_json = row_text(r, mem, sql, 8),
        .types_json = row_text(r, mem, sql, 9),
        .assignees_json = row_text(r, mem, sql, 10),
        .is_public = db_column_int(r->db, sql, 11) != 0,
        .since_us = db_column_int(r->db, sql, 12),
        .until_us = db_column_int(r->db, sql, 13),
        .key = row_text(r, mem, sql, 14),
        .link_scopes_json = row_text(r, mem, sql, 15),
        .links_from = db_column_int(r->db, sql, 16),
    };
    return uuid_read(db_column_text(r->db, sql, 1), &out->execution);
}

static bool read_one_wait(struct reader *r, struct arena *mem, enum sql sql,
                          const struct db_value *params, unsigned count, struct stored_wait *out,
                          bool *found, struct err *err)
{
    enum db_status status = reader_run(r, sql, params, count);

    *found = status == DB_ROW;
    if (*found && !row_wait(r, mem, sql, out))
        status = DB_CORRUPT;
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

/* The newest `limit` rows before `high` of one key. */
static bool add_rows(struct reader *r, struct arena *mem, struct str org_id, struct str key,
                     int64_t high, int64_t limit, struct wait_rows *out, struct err *err)
{
    const enum sql sql = SQL_INBOX_LIST;
    enum db_status status =
        reader_run(r, sql, DB_PARAMS(db_text(org_id), db_text(key), db_int(high), db_int(limit)));

    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) = db_column_int(r->db, sql, 0);
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

static int compare_newest_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Newest first, each once. */
static void sort_rows(struct wait_rows *rows)
{
    size_t count = 0;

    if (rows->count == 0)
        return;
    qsort(rows->items, rows->count, sizeof(*rows->items), compare_newest_first);
    for (size_t i = 0; i < rows->count; i++)
        if (i == 0 || rows->items[i] != rows->items[i - 1])
            rows->items[count++] = rows->items[i];
    rows->count = count;
}

bool read_inbox(struct reader *r, struct arena *mem, struct str org_id, struct value keys,
                struct str cursor, int64_t limit, struct stored_waits *out, struct str *next,
                struct err *err)
{
    struct wait_rows rows = {0};
    int64_t high = INT64_MAX;

    *out = (struct stored_waits){0};
    *next = STR_NONE;
    if (cursor.len > 0 && !row_cursor_read(cursor, &high))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    for (uint32_t i = 0; i < keys.len; i++)
        if (!add_rows(r, mem, org_id, value_text(keys.items[i]), high, limit + 1, &rows, err))
            return false;
    sort_rows(&rows);
    for (size_t i = 0; i < rows.count && (int64_t)i < limit; i++) {
        struct stored_wait wait;
        bool found;

        if (!read_one_wait(r, mem, SQL_INBOX_ITEM, DB_PARAMS(db_int(rows.items[i])), &wait, &found,
                           err))
            return false;
        if (found)
            *VEC_ADD(mem, out) = wait;
    }
    if ((int64_t)rows.count > limit)
        *next = row_cursor(mem, rows.items[limit - 1]);
    return true;
}

bool read_inbox_item(struct reader *r, struct arena *mem, struct uuid execution, struct str step,
                     int64_t visit, struct stored_wait *out, bool *found, struct err *err)
{
    struct row_id room;

    return read_one_wait(r, mem, SQL_INBOX_FIND,
                         DB_PARAMS(row_uuid(execution, &room), db_text(step), db_int(visit)), out,
                         found, err);
}

bool read_linked_waits(struct reader *r, struct arena *mem, struct uuid execution,
                       struct stored_waits *out, struct err *err)
{
    const enum sql sql = SQL_LINKED_WAITS;
    struct row_id room;
    enum db_status status =
        reader_run(r, sql, DB_PARAMS(row_uuid(execution, &room), db_int(LINKED_WAITS_MAX)));

    *out = (struct stored_waits){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        if (!row_wait(r, mem, sql, VEC_ADD(mem, out))) {
            status = DB_CORRUPT;
            break;
        }
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}
