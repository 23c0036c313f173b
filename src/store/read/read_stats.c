/* read_stats.c - figures of minutes, and what executions wait for; see read.h. */
#include "store/read_stats.h"
#include "store/read/read_row.h"
#include "store/read_executions.h"
#include "store/read_letter.h"
#include "store/write/apply.h"

bool read_stats(struct reader *r, struct arena *mem, int64_t from_us, int64_t to_us,
                struct str org_id, stats_take_fn *take, void *context, struct err *err)
{
    struct rows rows =
        rows_stream(r, mem, SQL_STATS_READ,
                    (const struct db_value[]){db_int(from_us), db_int(to_us), db_text(org_id)}, 3);
    bool ok = true;

    for (; ok && rows_has(&rows); rows_next(&rows)) {
        struct arena_mark mark = arena_mark(mem);

        ok = take(context, mem, rows_int(&rows, 0), rows_int(&rows, 1) != 0, rows_text(&rows, 2));
        arena_release(mem, mark);
    }
    if (!rows_end(&rows, err))
        return false;
    return ok || err_set(err, ERR_IO, "a row of stats is damaged");
}

bool read_waiting_counts(struct reader *r, struct str org_id, int64_t out[WAITING_COUNT],
                         struct err *err)
{
    enum sql sql = org_id.len > 0 ? SQL_WAITING_OF_ORG : SQL_WAITING_OF_ALL;

    out[WAITING_NONE] = 0;
    for (unsigned i = 1; i < WAITING_COUNT; i++) {
        struct db_value kind = db_text(str_of(waiting_kind_name((enum waiting_kind)i)));
        enum db_status status =
            org_id.len > 0
                ? row_int(r, sql, DB_PARAMS(kind, db_int(WAITING_COUNTED_MAX), db_text(org_id)),
                          &out[i])
                : row_int(r, sql, DB_PARAMS(kind, db_int(WAITING_COUNTED_MAX)), &out[i]);

        if (status != DB_ROW)
            return db_fail(r->db, status, err);
    }
    return true;
}

/* --- how much there is to do --- */

static const enum execution_status moving_statuses[] = {STATUS_PENDING, STATUS_RUNNING,
                                                        STATUS_COMPENSATING};

/* From counters. */
static bool count_of_all(struct reader *r, struct org_counts *out, struct err *err)
{
    int64_t statuses[STATUS_COUNT];

    if (!read_counts(r, statuses, err) || !read_open_letters(r, &out->open_letters, err) ||
        !row_int_or_0(r, SQL_COUNTER, DB_PARAMS(db_text(STR(COUNTER_OUTBOX))),
                      &out->pending_messages, err))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(moving_statuses); i++)
        out->statuses[moving_statuses[i]] = statuses[moving_statuses[i]];
    return true;
}

static bool count_of_org(struct reader *r, struct str org_id, struct org_counts *out,
                         struct err *err)
{
    const struct db_value most = db_int(ORG_COUNTED_MAX), org = db_text(org_id);

    if (!row_int_or_0(r, SQL_LETTERS_OPEN_OF_ORG, DB_PARAMS(most, org), &out->open_letters, err) ||
        !row_int_or_0(r, SQL_OUTBOX_PENDING_OF_ORG, DB_PARAMS(most, org), &out->pending_messages,
                      err))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(moving_statuses); i++)
        if (!row_int_or_0(r, SQL_STATUS_OF_ORG,
                          DB_PARAMS(most, org, db_text(str_of(status_name(moving_statuses[i])))),
                          &out->statuses[moving_statuses[i]], err))
            return false;
    return true;
}

bool read_org_counts(struct reader *r, struct str org_id, struct org_counts *out, struct err *err)
{
    *out = (struct org_counts){0};
    return (org_id.len == 0 ? count_of_all(r, out, err) : count_of_org(r, org_id, out, err)) &&
           read_waiting_counts(r, org_id, out->waiting, err);
}
