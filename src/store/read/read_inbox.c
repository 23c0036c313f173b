/* read_inbox.c - see inbox.h. */
#include "store/read_inbox.h"
#include "store/read/read_row.h"
#include "store/write/apply.h"

#include <stdlib.h>

struct wait_rows {
    VEC_OF(int64_t);
};

static bool row_wait(struct rows *rows, struct stored_wait *out)
{
    *out = (struct stored_wait){
        .row = rows_int(rows, 0),
        .code = rows_text(rows, 2),
        .version = rows_int(rows, 3),
        .org_id = rows_text(rows, 4),
        .step = rows_text(rows, 5),
        .visit = rows_int(rows, 6),
        .title = rows_text(rows, 7),
        .form_json = rows_text(rows, 8),
        .types_json = rows_text(rows, 9),
        .assignees_json = rows_text(rows, 10),
        .is_public = rows_int(rows, 11) != 0,
        .since_us = rows_int(rows, 12),
        .until_us = rows_int(rows, 13),
        .key = rows_text(rows, 14),
        .link_scopes_json = rows_text(rows, 15),
        .links_from = rows_int(rows, 16),
        .show_json = rows_text(rows, 17),
        .then_json = rows_text(rows, 18),
        .time_up_json = rows_text(rows, 19),
        .execution_row = rows_int(rows, 20),
        .started_by_json = rows_text(rows, 21),
        .name = rows_text(rows, 22),
    };
    return uuid_read(rows_view(rows, 1), &out->execution);
}

static bool read_one_wait(struct reader *r, struct arena *mem, enum sql sql,
                          const struct db_value *params, unsigned count, struct stored_wait *out,
                          bool *found, struct err *err)
{
    struct rows rows = rows_run(r, mem, sql, params, count);

    *found = rows_has(&rows);
    if (*found && !row_wait(&rows, out))
        rows_damaged(&rows);
    return rows_end(&rows, err);
}

/* The newest `limit` rows before `high` of one key. */
static bool add_rows(struct reader *r, struct arena *mem, struct str org_id, struct str key,
                     int64_t high, int64_t limit, struct wait_rows *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_INBOX_LIST,
                 DB_PARAMS(db_text(org_id), db_text(key), db_int(high), db_int(limit)));

    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = rows_int(&rows, 0);
    return rows_end(&rows, err);
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
    if (!row_cursor_read(cursor, &high, err))
        return false;
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

bool read_inbox_count(struct reader *r, struct arena *mem, struct str org_id, struct value keys,
                      int64_t *out, struct err *err)
{
    struct wait_rows rows = {0};

    for (uint32_t i = 0; i < keys.len; i++)
        if (!add_rows(r, mem, org_id, value_text(keys.items[i]), INT64_MAX, INBOX_COUNTED_MAX,
                      &rows, err))
            return false;
    sort_rows(&rows);
    *out = rows.count < INBOX_COUNTED_MAX ? (int64_t)rows.count : INBOX_COUNTED_MAX;
    return true;
}

bool read_inbox_item(struct reader *r, struct arena *mem, struct uuid execution, struct str step,
                     int64_t visit, struct stored_wait *out, bool *found, struct err *err)
{
    return read_one_wait(r, mem, SQL_INBOX_FIND,
                         DB_PARAMS(db_text(UUID_STR(execution)), db_text(step), db_int(visit)), out,
                         found, err);
}

bool read_linked_waits(struct reader *r, struct arena *mem, struct uuid execution,
                       struct stored_waits *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_LINKED_WAITS,
                                DB_PARAMS(db_text(UUID_STR(execution)), db_int(LINKED_WAITS_MAX)));

    *out = (struct stored_waits){0};
    for (; rows_has(&rows); rows_next(&rows))
        if (!row_wait(&rows, VEC_ADD(mem, out)))
            rows_damaged(&rows);
    return rows_end(&rows, err);
}

/* --- what was answered --- */

static bool row_answered(struct rows *rows, struct wait_answered *out)
{
    *out = (struct wait_answered){
        .row = rows_int(rows, 0),
        .code = rows_text(rows, 2),
        .version = rows_int(rows, 3),
        .name = rows_text(rows, 4),
        .step = rows_text(rows, 5),
        .visit = rows_int(rows, 6),
        .title = rows_text(rows, 7),
        .at_us = rows_int(rows, 8),
        .output_json = rows_text(rows, 9),
    };
    return uuid_read(rows_view(rows, 1), &out->execution);
}

bool read_answered(struct reader *r, struct arena *mem, struct str org_id, struct str user_id,
                   struct str cursor, int64_t limit, struct waits_answered *out, struct str *next,
                   struct err *err)
{
    int64_t high = INT64_MAX;
    struct rows rows;

    *out = (struct waits_answered){0};
    *next = STR_NONE;
    if (!row_cursor_read(cursor, &high, err))
        return false;
    rows = rows_run(r, mem, SQL_INBOX_ANSWERED,
                    DB_PARAMS(db_text(org_id), db_text(user_id), db_int(high), db_int(limit + 1)));
    for (; rows_has(&rows); rows_next(&rows)) {
        struct wait_answered *answer;

        if ((int64_t)out->count == limit) {
            *next = row_cursor(mem, out->items[limit - 1].row);
            continue;
        }
        answer = VEC_ADD(mem, out);
        if (!row_answered(&rows, answer))
            rows_damaged(&rows);
    }
    return rows_end(&rows, err);
}

bool read_answered_before(struct reader *r, struct arena *mem, int64_t execution_row,
                          struct waits_answered *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_ANSWERED_BEFORE,
                                DB_PARAMS(db_int(history_key(execution_row, 0)),
                                          db_int(history_key(execution_row, HISTORY_SEQ_MAX)),
                                          db_int(ANSWERED_BEFORE_MAX)));

    *out = (struct waits_answered){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = (struct wait_answered){.by_json = rows_text(&rows, 0),
                                                    .step = rows_text(&rows, 1),
                                                    .at_us = rows_int(&rows, 2)};
    return rows_end(&rows, err);
}
